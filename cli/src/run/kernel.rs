//! `run kernel.cubin`: launches a kernel of machine code.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use warpload_binary::container::GpuCodeKind;
use warpload_ptx::launch::{DeviceMemory, KernelResult};
use warpload_sass::{SassError, SassLaunch, SassProgram};

use crate::binary::{self, Opened};
use crate::destination;
use crate::io::{self, Output};
use crate::name::plural;
use crate::options::{Format, Progress};
use crate::process::Status;
use crate::ptx::run::{Dumped, GridArguments, Value, show, untyped_value, watched, write_json};

/// Launches a kernel of machine code.
pub(super) fn launch(
    named: Named,
    function: Option<&str>,
    arguments: &GridArguments,
    format: Format,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Named { name, mut program } = named;
    let name = name.as_str();
    let failed = |error: SassError| anyhow!("{name}: {error}");
    let mut memory = DeviceMemory::new();
    program.load(&mut memory).map_err(failed)?;
    let kernel = program.kernel(function).map_err(|error| match error {
        SassError::SeveralKernels { kernels } => {
            let kernels = kernels.join(", ");
            anyhow!("{name}: several kernels; choose one with `--function`: {kernels}")
        }
        error => failed(error),
    })?;
    let mut launch = SassLaunch::new([1; 3], [32, 1, 1]);
    arguments.apply(&mut launch.options);
    if arguments.arg.len() != kernel.parameters.len() {
        let given = arguments.arg.len();
        let sizes: Vec<String> =
            kernel.parameters.iter().map(|of| plural(of.size, "byte")).collect();
        let known = plural(kernel.parameters.len() as u64, "parameter");
        let given = match given {
            0 => "none is".to_owned(),
            1 => "1 is".to_owned(),
            _ => format!("{given} are"),
        };
        bail!("{name}: the kernel has {known} ({}), {given} given by `--arg`", sizes.join(", "));
    }
    let mut buffers = Vec::new();
    for (number, (text, parameter)) in arguments.arg.iter().zip(&kernel.parameters).enumerate() {
        let option = || format!("--arg {text} (parameter {number})");
        let value = match untyped_value(&memory, number, text).with_context(option)? {
            Some(value) => value,
            None => Value::Bytes(number_of(text, parameter.size).with_context(option)?),
        };
        let (bytes, buffer) =
            value.place(number, parameter.size, &mut memory).with_context(option)?;
        if bytes.len() as u64 != parameter.size {
            let (given, size) = (bytes.len(), plural(parameter.size, "byte"));
            bail!("{name}: {}: {given} bytes, the parameter has {size}", option());
        }
        buffers.push(buffer);
        launch.parameters.push(bytes);
    }
    let mut dumps = Vec::new();
    for (dumped, path) in &arguments.dump {
        let option = format!("--dump {dumped}={}", path.display());
        let address = match dumped {
            Dumped::Argument(number) => buffers.get(*number).copied().flatten(),
            Dumped::Variable(_) => bail!("{option}: variables of machine code have no names here"),
        };
        let address = address.ok_or_else(|| anyhow!("{option}: it is no buffer"))?;
        dumps.push((option, address, destination::target(path)?));
    }
    let blocks = launch.options.block_count();
    let ran = watched(progress, name, blocks, |watch| {
        program.launch(kernel, &launch, &mut memory, None, Some(watch))
    });
    let (result, limit) = match ran {
        Ok(result) => (result, None),
        Err(error) => {
            let message = error.to_string();
            let SassError::Steps { result, .. } = error else { bail!("{name}: {message}") };
            (*result, Some(message))
        }
    };
    let mut refusals = Vec::new();
    // A launch that was given up has no results.
    for (option, address, target) in dumps.into_iter().filter(|_| limit.is_none()) {
        if memory.is_known(address) || arguments.dump_unknown {
            target.write(memory.bytes(address).unwrap_or_default())?;
        } else {
            refusals.push(format!(
                "{option}: not written: it has unknown bytes; `--dump-unknown` writes what memory holds there"
            ));
        }
    }
    shown(name, &result, &launch, &memory, format, output)?;
    if let Some(message) = limit {
        return Ok(output.fail(Status::Failed, format_args!("{name}: {message}"))?);
    }
    for refusal in &refusals {
        output.fail(Status::Failed, format_args!("{name}: {refusal}"))?;
    }
    Ok(match result.is_clean() && refusals.is_empty() {
        true => Status::Done,
        false => output.raise(Status::Failed),
    })
}

fn shown(
    name: &str,
    result: &KernelResult,
    launch: &SassLaunch,
    memory: &DeviceMemory,
    format: Format,
    output: &mut Output,
) -> anyhow::Result<()> {
    let no_names = |_| None;
    match format {
        Format::Json => {
            write_json(name, result, launch.options.only_block, &no_names, None, output)
        }
        Format::Text => show(result, &no_names, memory, output),
    }
}

/// The bytes of a number. Machine code does not say whether a parameter is an integer or a float: a point or an exponent
/// makes it one.
fn number_of(text: &str, size: u64) -> anyhow::Result<Vec<u8>> {
    let expected = || {
        format!(
            "expected a number, a buffer such as `zeros:4096` or `@FILE`, or `hex:` and {}",
            plural(size, "byte")
        )
    };
    let (digits, is_negative) = match text.strip_prefix('-') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let integer = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    };
    let bytes = match (integer, size) {
        (Some(number), 1..=8) => {
            let limit = 1_u128 << (8 * size - u64::from(is_negative));
            let number_is_fitting = u128::from(number) < limit + u128::from(is_negative);
            if !number_is_fitting {
                bail!("it does not fit {}", plural(size, "byte"));
            }
            let number = if is_negative { number.wrapping_neg() } else { number };
            number.to_le_bytes()[..size as usize].to_vec()
        }
        (None, 4) => text.parse::<f32>().ok().with_context(expected)?.to_le_bytes().to_vec(),
        (None, 8) => text.parse::<f64>().ok().with_context(expected)?.to_le_bytes().to_vec(),
        _ => bail!(expected()),
    };
    Ok(bytes)
}

/// A program, and its name for messages.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) program: SassProgram,
}

/// Reads the machine code of SM 5.0 to 6.2 in a file: of a cubin, or of the image of a fat binary, library or program that
/// is chosen or that alone has the function. `None` if the file is not of such a kind.
pub(super) fn read(
    path: &Path,
    image: Option<u64>,
    function: Option<&str>,
) -> anyhow::Result<Option<Named>> {
    // Other files are read once, by who reads vectors.
    if !std::fs::metadata(path).is_ok_and(|of| of.is_file()) {
        return Ok(None);
    }
    let name = io::name(path);
    let opened = binary::open(path, Progress::Never).with_context(|| name.clone())?;
    let Opened::Binary(file) = opened else { return Ok(None) };
    let (mut found, mut refused, mut count) = (Vec::new(), None, 0);
    for (number, code) in binary::numbered(file.bytes()) {
        count = number;
        if image.is_some_and(|image| image != number) {
            continue;
        }
        let numbered = || format!("{name}#{number}");
        let code = match code {
            Ok(code) if code.kind == GpuCodeKind::Cubin => code,
            Ok(_) => continue,
            Err(error) => {
                refused.get_or_insert_with(|| anyhow!("{name}: {error}"));
                continue;
            }
        };
        let name = if code.is_alone() { name.to_string() } else { numbered() };
        let program = code.read().map_err(anyhow::Error::from).and_then(|read| {
            let program = SassProgram::new(read.bytes.to_vec())?;
            if let Some(function) = function {
                program.kernel(Some(function))?;
            }
            Ok(program)
        });
        match program {
            Ok(program) => found.push((number, Named { name, program })),
            Err(error) => {
                refused.get_or_insert_with(|| anyhow!("{name}: {error}"));
            }
        }
    }
    if found.len() > 1 {
        let numbers: Vec<String> =
            found.iter().map(|(number, of)| format!("{number} (sm_{})", of.program.sm())).collect();
        bail!("{name}: several images; choose one with `--image`: {}", numbers.join(", "));
    }
    match (found.pop(), refused, image) {
        (Some((_, named)), ..) => Ok(Some(named)),
        (None, Some(error), _) => Err(error),
        (None, None, Some(image)) if image > count && count > 0 => {
            bail!("{name}: no image {image}; it has {count}")
        }
        // Who reads vectors says what the file is.
        _ if count == 0 => Ok(None),
        _ => bail!("{name}: no machine code of SM 5.0 to 6.2"),
    }
}
