//! `ptx run`: launches a kernel with its grid, dumps its buffers, and reports faults and memory costs.

mod faults;
mod printing;
mod watch;

use std::borrow::Cow;
use std::fmt;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde::Serialize;
use warpload::memory::{AddressMap, Memory, Space};
use warpload_ptx::launch::{
    AllocationUse, CheckedRaces, Checks, DeviceMemory, Fill, Kernel, KernelError, KernelLaunch,
    KernelResult, LaunchCounts, LaunchOptions, LaunchTrace, SkippedInstruction, UnknownBytes,
    UnknownCause,
};
use warpload_ptx::module::{Declaration, DeclarationId};
use warpload_ptx::run::Launch;
use warpload_replay::{LaunchCounter, Summary};
use warpload_report::{ReportPage, TableOrder, TableRows, access_table, html};
use warpload_trace::import_source;
use warpload_trace::output::OutputError;

use self::faults::{FaultJson, FaultTotalsJson};
use self::printing::Printing;
pub(crate) use self::watch::watched;
use super::file::File;
use super::setup::{Pair, Setup, VALUES, failed, pair};
use crate::destination::{self, HTML, OutputFile, TRACE};
use crate::diagnostic;
use crate::io::{self, Output};
use crate::name::plural;
use crate::options::{Format, Progress, number, positive};
use crate::process::Status;

/// The most instructions in the table of text. Kernels that compilers write have fewer.
const MAX_ROWS: usize = 200;

/// Launch a kernel without a GPU: all of its blocks, warps and instructions
///
/// Prints counts, faults with line, block and thread, and the sectors and bank conflicts of each memory instruction,
/// after the text that the kernel prints with `printf`. Exit status 1 if a lane faulted, an instruction was not executed,
/// bytes of a buffer are unknown, or the limit of steps was reached; 2 if `ptx check` refuses the module, or a GPU
/// refuses the launch. `ptx loads` executes loads one by one, without the other instructions.
#[derive(clap::Args)]
#[command(after_help = [VALUES, "\
Buffers by a rule have a type, a number of elements, and random ones a seed, by default the
parameter's number: random:f32:1024:7, iota:u32:1024 (0, 1, 2…), ones:f16:1024. Without a type,
zeros:4096 and random:4096 are bytes, uninit:4096 as many unknown ones. Random floats are from -1 up to 1.

Examples:
  warpload ptx run kernel.ptx --grid 4 --block 256 --arg 1000 --arg 2.0 \\
      --arg @x.bin --arg @y.bin --dump 3=out.bin
  warpload ptx run kernel.ptx --block 128 --arg random:f32:1024 --check
  warpload ptx run kernel.ptx --grid 64 --block 256 --arg iota:u32:16384 \\
      --html kernel.html --trace kernel.wlt"].concat())]
pub(crate) struct Arguments {
    #[command(flatten)]
    setup: Setup,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    kernel: KernelArguments,
}

pub(crate) fn execute(
    arguments: &Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { setup, format, kernel } = arguments;
    let outputs = kernel.outputs();
    // Each launch would write them, and the last one would win.
    let single = |modules: usize| match outputs.first() {
        Some((option, _)) if modules > 1 => {
            bail!("{option}: {modules} modules would write one output; expected one module")
        }
        _ => Ok(()),
    };
    single(setup.files.len())?;
    destination::check_apart(outputs.clone())?;
    kernel.html.as_deref().map_or(Ok(()), |page| destination::check_name(page, HTML))?;
    kernel.trace.as_deref().map_or(Ok(()), |trace| destination::check_name(trace, TRACE))?;
    setup.each(progress, output, single, |file, launch, machine, output| {
        let image = machine.as_ref().map(|machine| &machine.memory);
        kernel.run(launch, image, file, *format, progress, output)
    })
}

/// What `--check` without a list is.
const ALL_CHECKS: &str = "races,sync,uninitialized,scoreboard";

/// How a kernel is launched.
#[derive(clap::Args)]
#[command(next_help_heading = "Kernels")]
struct KernelArguments {
    #[command(flatten)]
    launch: GridArguments,

    /// Set a .global or .const variable of the module before the launch: a constant expression, several for an array
    /// with commas between, or @FILE, which may be shorter than the variable
    #[arg(long, value_name = "NAME=VALUE|@FILE", value_parser = pair)]
    global: Vec<Pair>,

    /// Write the memory instructions of the launch as a binary trace, with the loaded and the stored values
    #[arg(long, value_name = "OUT.wlt")]
    trace: Option<PathBuf>,

    /// Write a page for a browser, with the coalescing and the bank conflicts of each line: one file
    #[arg(long, value_name = "PAGE")]
    html: Option<PathBuf>,

    /// Launch a module although `ptx check` refuses it; illegal instructions are not executed
    #[arg(long)]
    allow_illegal: bool,

    #[arg(long, hide = true)]
    check_races: bool,

    #[arg(long, hide = true)]
    check_uninitialized: bool,
}

/// The grid of a launch, its arguments, limits and checks, whatever the kernel is written in.
#[derive(clap::Args)]
#[command(next_help_heading = "Kernels")]
pub(crate) struct GridArguments {
    /// The blocks of the grid along x, y and z
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = dimensions)]
    pub(crate) grid: Option<[u32; 3]>,

    /// The threads of a block along x, y and z [default: 32]
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = dimensions)]
    pub(crate) block: Option<[u32; 3]>,

    /// Bytes of dynamic shared memory of a block
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = number::<u64>(0..=u64::MAX))]
    pub(crate) shared_bytes: u64,

    /// The kernel's next parameter: @FILE, zeros:BYTES, uninit:BYTES, or random:, iota: or ones:TYPE:COUNT for a buffer in global
    /// memory, hex:BYTES, or a constant expression of its type
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) arg: Vec<String>,

    /// Write the buffer of an argument, counted from 0, or a variable of the module, after the launch
    #[arg(long, value_name = "INDEX|NAME=FILE", value_parser = dump)]
    pub(crate) dump: Vec<(Dumped, PathBuf)>,

    /// Let --dump write bytes that are not known, with what memory happens to hold; without it, they are an error
    #[arg(long, requires = "dump")]
    pub(crate) dump_unknown: bool,

    /// Run only the block with this index, to look for a fault in one block of a large grid
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = block_index)]
    pub(crate) blocks: Option<[u32; 3]>,

    /// End a launch after that many warp instructions [default: 1073741824]
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..=u64::MAX))]
    pub(crate) steps: Option<u64>,

    /// The most blocks that have begun and not ended, because they wait for others, as on a GPU that holds so many
    /// [default: 4096]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) resident: Option<usize>,

    /// Threads to run blocks on, which no result depends on [default: one for each core]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) threads: Option<usize>,

    /// Report more than faults of memory: `races` (or `races:shared`), two threads that access the same bytes with nothing
    /// between; `sync`, undefined uses of barriers and shuffles; `uninitialized`, uses of bytes that nothing has written;
    /// `scoreboard`, of machine code, what a schedule does not wait for. A list with commas; without one, all
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true, default_missing_value = ALL_CHECKS)]
    pub(crate) check: Vec<Checks>,
}

impl GridArguments {
    /// Whether one of the options is given that each launch needs or that ask for more of it.
    pub(crate) fn ask_for_a_launch(&self) -> bool {
        self.grid.is_some()
            || self.block.is_some()
            || !self.arg.is_empty()
            || !self.dump.is_empty()
            || !self.check.is_empty()
    }

    /// Sets the options of a launch that do not depend on its kernel.
    pub(crate) fn apply(&self, options: &mut LaunchOptions) {
        options.grid = self.grid.unwrap_or([1; 3]);
        options.block = self.block.unwrap_or([32, 1, 1]);
        options.shared_bytes = self.shared_bytes;
        options.steps = self.steps.unwrap_or(options.steps);
        options.only_block = self.blocks;
        options.resident = self.resident;
        options.threads = self.threads.unwrap_or(0);
        options.checks = self.check.iter().copied().fold(Checks::default(), Checks::with);
    }
}

fn dimensions(text: &str) -> Result<[u32; 3], String> {
    coordinates(text, 1, 1)
}

/// Reads one to three numbers, each at least `least`. A missing number is `rest`.
fn coordinates(text: &str, least: u64, rest: u32) -> Result<[u32; 3], String> {
    let mut sizes = [rest; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("expected one to three numbers with commas between".to_owned());
    }
    for (size, part) in sizes.iter_mut().zip(parts) {
        *size = number::<u32>(least..=u32::MAX.into())(part.trim())?;
    }
    Ok(sizes)
}

fn block_index(text: &str) -> Result<[u32; 3], String> {
    coordinates(text, 0, 0)
}

/// What `--dump` writes.
#[derive(Clone, Debug)]
pub(crate) enum Dumped {
    /// The buffer of an argument, counted from 0.
    Argument(usize),
    /// A variable of the module.
    Variable(String),
}

impl fmt::Display for Dumped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(number) => write!(f, "{number}"),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

fn dump(text: &str) -> Result<(Dumped, PathBuf), String> {
    let split = text.split_once('=').filter(|(what, _)| !what.is_empty());
    let (what, file) = split.ok_or("expected a number or a variable, `=` and a file")?;
    // No name of PTX begins with a digit.
    let dumped = if what.starts_with(|first: char| first.is_ascii_digit()) {
        Dumped::Argument(number::<usize>(0..=u64::MAX)(what)?)
    } else {
        Dumped::Variable(what.to_owned())
    };
    Ok((dumped, file.into()))
}

/// A parameter: a buffer, which is passed by address, and whether its bytes are known; or the bytes of a value.
pub(crate) enum Value {
    Buffer(Vec<u8>, bool),
    Bytes(Vec<u8>),
}

impl Value {
    /// The bytes of a parameter of a size, and the address of its buffer in memory.
    pub(crate) fn place(
        self,
        number: usize,
        size: u64,
        memory: &mut DeviceMemory,
    ) -> anyhow::Result<(Vec<u8>, Option<u64>)> {
        let (bytes, is_known) = match self {
            Self::Bytes(bytes) => return Ok((bytes, None)),
            Self::Buffer(bytes, is_known) => (bytes, is_known),
        };
        let end = bytes.len() as u64;
        let address = memory.allocate(bytes, AllocationUse::Argument(number))?;
        if !is_known {
            memory.make_unknown(Space::Global, address..address + end);
        }
        Ok((address.to_le_bytes()[..size.min(8) as usize].to_vec(), Some(address)))
    }
}

impl KernelArguments {
    /// The files that a launch writes, each with its option.
    fn outputs(&self) -> Vec<(String, &Path)> {
        let dumps = self.launch.dump.iter();
        let dumps = dumps
            .map(|(dumped, path)| (format!("--dump {dumped}={}", path.display()), path.as_path()));
        let trace = self.trace.as_deref().map(|path| ("--trace".to_owned(), path));
        let html = self.html.as_deref().map(|path| ("--html".to_owned(), path));
        dumps.chain(trace).chain(html).collect()
    }

    /// Launches the named kernel of a module, or its only one.
    fn run(
        &self,
        options: &Launch,
        image: Option<&Memory>,
        file: &File<'_>,
        format: Format,
        progress: Progress,
        output: &mut Output,
    ) -> anyhow::Result<Status> {
        if !self.allow_illegal && file.is_refused(output)? {
            let help = "`--allow-illegal` launches it all the same";
            let message =
                format_args!("{}: not launched, because it is not legal; {help}", file.name);
            return Ok(output.fail(Status::Unreadable, message)?);
        }
        let kernel = Kernel::chosen(file.module, options.function.as_deref());
        let kernel = kernel.map_err(|error| match error {
            KernelError::SeveralKernels { kernels } => {
                let kernels = kernels.join(", ");
                anyhow!("{}: several kernels; choose one with `--function`: {kernels}", file.name)
            }
            error => anyhow!("{}: {error}", file.name),
        })?;
        let mut memory = match image {
            Some(image) if *image.map() == AddressMap::default() => DeviceMemory::of_image(image)?,
            Some(_) => {
                bail!("--image: kernels use the default windows; leave them out of the manifest")
            }
            None => DeviceMemory::new(),
        };
        let mut launch = KernelLaunch::new([1; 3], [32, 1, 1]);
        self.launch.apply(&mut launch.options);
        let checks = &mut launch.options.checks;
        checks.uninitialized |= self.check_uninitialized;
        checks.races = checks.races.or(self.check_races.then_some(CheckedRaces::All));
        let sizes = kernel.parameter_bytes();
        let mut named =
            options.set_up(&kernel, &mut launch).map_err(|error| failed(error, file))?;
        let given = named.len() + self.launch.arg.len();
        if given > sizes.len() {
            return refuse_parameters(&kernel, given, &[], file, output);
        }
        let mut buffers = vec![None; sizes.len()];
        let unnamed =
            (0..).filter(|number| !named.contains_key(number)).take(self.launch.arg.len());
        let unnamed: Vec<usize> = unnamed.collect();
        for (number, text) in unnamed.into_iter().zip(&self.launch.arg) {
            let value = value(&kernel, &memory, number, text)
                .with_context(|| format!("--arg {text} (parameter {number})"))?;
            let size = sizes.get(number).copied().unwrap_or(8);
            let (bytes, buffer) = value.place(number, size, &mut memory)?;
            if let Some(known) = buffers.get_mut(number) {
                *known = buffer;
            }
            named.insert(number, bytes);
        }
        let missing = (0..sizes.len()).filter(|number| !named.contains_key(number));
        let missing: Vec<usize> = missing.collect();
        if !missing.is_empty() {
            return refuse_parameters(&kernel, given, &missing, file, output);
        }
        launch.parameters.extend(named.into_values());
        self.set_variables(&kernel, &mut launch)?;
        let mut dumps = Vec::new();
        for (dumped, path) in &self.launch.dump {
            let option = format!("--dump {dumped}={}", path.display());
            let address = match dumped {
                Dumped::Argument(number) => {
                    let address = buffers.get(*number).copied().flatten();
                    let no_buffer = || anyhow!("{option}: argument {number} is no buffer");
                    Some(address.ok_or_else(no_buffer)?)
                }
                Dumped::Variable(name) => {
                    kernel.variable(name).with_context(|| option.clone())?;
                    None
                }
            };
            dumps.push((dumped, address, option, destination::target(path)?));
        }
        let page = self.html.as_deref().map(destination::target).transpose()?;
        let kept = match &self.trace {
            Some(path) => Some(destination::target(path)?.create()?),
            None => None,
        };
        let begin = |output: &OutputFile| {
            let output = BufWriter::new(output.file().try_clone()?);
            LaunchTrace::new(&kernel, &launch, import_source(Path::new(file.name)), output)
        };
        let trace = kept.as_ref().map(begin).transpose().map_err(write_error(&self.trace))?;
        let mut observer = (LaunchCounter::new(&kernel, &launch), trace);
        let shown = (format == Format::Text).then_some(&mut *output);
        let mut printing = Printing::new(&mut observer, shown);
        let ran = watched(progress, file.name, launch.options.block_count(), |watch| {
            kernel.run_watched(&launch, &mut memory, Some(&mut printing), Some(watch))
        });
        printing.finish()?;
        let (result, limit) = match ran {
            Ok(result) => (result, None),
            Err(error) => {
                let message = error.to_string();
                let KernelError::Steps { result, .. } = error else {
                    bail!("{}: {message}", file.name);
                };
                (*result, Some(message))
            }
        };
        let (counter, trace) = observer;
        if let Some(mut trace) = trace {
            if result.fault_count > 0 {
                let verdict = result.verdict();
                let note = format!("the launch had {verdict}; the trace has the lanes without one");
                trace.note(&note);
            }
            let written = trace.finish().and_then(|mut output| output.flush());
            written.map_err(write_error(&self.trace))?;
        }
        let only_block = launch.options.only_block.map(|[x, y, z]| {
            let [nx, ny, nz] = launch.options.grid;
            format!("only block ({x}, {y}, {z}) of {nx} x {ny} x {nz} was run")
        });
        let notes: Vec<String> = only_block.into_iter().collect();
        let names = |number| parameter_name(&kernel, number);
        let mut refusals = Vec::new();
        // A launch that was given up has no results.
        for (dumped, address, option, target) in dumps.into_iter().filter(|_| limit.is_none()) {
            let address = match dumped {
                Dumped::Argument(_) => address,
                Dumped::Variable(name) => memory.variable(name),
            };
            let address = address.unwrap_or_default();
            if memory.is_known(address) || self.launch.dump_unknown {
                target.write(memory.bytes(address).unwrap_or_default())?;
                continue;
            }
            let unknown = result.unknown.iter().find(|unknown| unknown.base == address);
            let unknown = match unknown {
                Some(unknown) => described(&names, unknown, &memory),
                None => "the initial value has bytes without a value here".to_owned(),
            };
            refusals.push(format!(
                "{option}: not written: {unknown}; `--dump-unknown` writes what memory holds there"
            ));
        }
        let summary = counter.summary(&result);
        if let (Some(target), None) = (page, &limit) {
            let title = Path::new(file.name).file_name().unwrap_or_default().to_string_lossy();
            let page = ReportPage::new(&summary).title(&title).data("the arguments of the launch");
            target.write(html(&page.launch(&result, &notes)).as_bytes())?;
        }
        if format == Format::Json {
            let only_block = launch.options.only_block;
            write_json(file.name, &result, only_block, &names, Some(&summary), output)?;
        } else {
            for note in &notes {
                output.line(note)?;
            }
            show(&result, &names, &memory, output)?;
            let rows = TableRows { order: TableOrder::Pc, most: Some(MAX_ROWS) };
            output.text(&access_table(&summary, rows))?;
        }
        if let Some(message) = limit {
            let outputs = [!self.launch.dump.is_empty(), self.trace.is_some(), self.html.is_some()];
            let unwritten = if outputs.contains(&true) { "; no file is written" } else { "" };
            let message = format!("{}: {message}{unwritten}", file.name);
            return Ok(output.fail(Status::Failed, message)?);
        }
        if let Some(kept) = kept {
            kept.persist()?;
        }
        for refusal in &refusals {
            output.fail(Status::Failed, format_args!("{}: {refusal}", file.name))?;
        }
        Ok(if result.is_clean() && refusals.is_empty() {
            Status::Done
        } else {
            output.raise(Status::Failed)
        })
    }

    /// Sets the variables that `--global` names.
    fn set_variables(&self, kernel: &Kernel<'_>, launch: &mut KernelLaunch) -> anyhow::Result<()> {
        let mut known: Vec<DeclarationId> = Vec::new();
        for (name, text) in &self.global {
            let option = || format!("--global {name}={text}");
            let id = kernel.variable(name).with_context(option)?;
            if known.contains(&id) {
                bail!("--global {name} is given twice");
            }
            known.push(id);
            let bytes = match text.strip_prefix('@') {
                Some(path) => read_bytes(path).with_context(option)?,
                None => kernel.variable_value(id, text).with_context(option)?,
            };
            launch.variables.push((id, bytes));
        }
        Ok(())
    }
}

fn read_bytes(path: &str) -> anyhow::Result<Vec<u8>> {
    let (file, metadata) = io::open_file(Path::new(path))?;
    io::read_all(file, metadata.is_file())
}

/// Reports parameters that are missing or too many, and says how they are given.
fn refuse_parameters(
    kernel: &Kernel<'_>,
    given: usize,
    missing: &[usize],
    file: &File<'_>,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let parameters = parameters(kernel);
    let given = match given {
        0 => "none is given".to_owned(),
        1 => "1 is given".to_owned(),
        more => format!("{more} are given"),
    };
    let all = parameters.iter().map(|(name, scalar)| format!("{name}: {scalar}"));
    let all = all.collect::<Vec<_>>().join(", ");
    let listed = if all.is_empty() { all } else { format!(": {all}") };
    let missing = || missing.iter().filter_map(|number| parameters.get(*number));
    let names: Vec<&str> = missing().map(|(name, _)| &**name).collect();
    let without = if names.is_empty() { "" } else { "; missing: " };
    let message = format_args!(
        "{}: the kernel has {}, {given}{listed}{without}{}",
        file.name,
        plural(parameters.len() as u64, "parameter"),
        names.join(", ")
    );
    let status = output.fail(Status::Unreadable, message)?;
    diagnostic::note(
        "`--arg` gives the next parameter: a number; a buffer, `zeros:BYTES`, `@FILE` or \
         `random:f32:COUNT`; or `hex:BYTES`. `--parameter NAME=VALUE` gives one by its name",
    );
    // Triton appends pointers to the program's parameters, and names all of them by their numbers, as other compilers do.
    let is_triton =
        |(name, scalar): &(String, String)| scalar == ".u64" && name.contains("_param_");
    if (1..=2).contains(&names.len()) && missing().all(is_triton) {
        diagnostic::note(
            "a kernel of Triton ends in one or two pointers to scratch memory: `--arg 0` for each",
        );
    }
    Ok(status)
}

/// The name and the type of each parameter: `.u64`, `.b8[16]`.
fn parameters(kernel: &Kernel<'_>) -> Vec<(String, String)> {
    let module = kernel.module();
    let declared = module.declarations().get(kernel.function().parameters.clone());
    let declared = declared.into_iter().flatten().zip(kernel.parameter_bytes());
    let parameter = |(declared, bytes): (&Declaration, u64)| {
        let one = u64::from(declared.scalar.variable_bytes().unwrap_or(1));
        let count = if bytes > one { format!("[{}]", bytes / one) } else { String::new() };
        (module.text(declared.name).to_owned(), format!(".{}{count}", declared.scalar.name()))
    };
    declared.map(parameter).collect()
}

/// The names of a kernel's parameters, as far as they are known.
pub(crate) type ParameterNames<'n> = dyn Fn(usize) -> Option<&'n str> + 'n;

/// The name of a parameter of the kernel.
fn parameter_name<'m>(kernel: &Kernel<'m>, number: usize) -> Option<&'m str> {
    let module = kernel.module();
    let declared = module.declarations().get(kernel.function().parameters.clone())?.get(number)?;
    Some(module.text(declared.name))
}

/// `argument 1 (out): 128 of 4096 bytes are unknown, the first at offset 0: …`.
fn described(
    names: &ParameterNames<'_>,
    unknown: &UnknownBytes<UnknownCause>,
    memory: &DeviceMemory,
) -> String {
    let UnknownBytes { purpose, base, bytes, first, cause, .. } = unknown;
    let name = match purpose {
        AllocationUse::Argument(number) => names(*number),
        _ => None,
    };
    let name = name.map_or(String::new(), |name| format!(" `{name}`"));
    let all = memory.bytes(*base).map_or(0, <[u8]>::len);
    let verb = if *bytes == 1 { "is" } else { "are" };
    format!(
        "{purpose}{name}: {bytes} of {} {verb} unknown, the first at offset {first}: {cause}",
        plural(all as u64, "byte"),
    )
}

/// Reads the value of an `--arg` that has no type: a buffer, or bytes; `None` for any other.
pub(crate) fn untyped_value(
    memory: &DeviceMemory,
    number: usize,
    text: &str,
) -> anyhow::Result<Option<Value>> {
    if let Some(path) = text.strip_prefix('@') {
        return Ok(Some(Value::Buffer(read_bytes(path)?, true)));
    }
    if let Some(fill) = Fill::parse(text) {
        // Two buffers of random numbers differ, because a mix-up of them could be hidden otherwise.
        let fill = fill?;
        return Ok(Some(Value::Buffer(fill.bytes(memory, number as u64)?, fill.is_known())));
    }
    let Some(digits) = text.strip_prefix("hex:") else { return Ok(None) };
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pairs = digits.chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2);
        pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())
    });
    let bytes = pairs.collect::<Option<Vec<u8>>>();
    Ok(Some(Value::Bytes(bytes.context("expected pairs of hexadecimal digits")?)))
}

/// Reads the value of an `--arg`.
fn value(
    kernel: &Kernel<'_>,
    memory: &DeviceMemory,
    number: usize,
    text: &str,
) -> anyhow::Result<Value> {
    if let Some(value) = untyped_value(memory, number, text)? {
        return Ok(value);
    }
    kernel.parameter_value(number, text).map(Value::Bytes).map_err(|error| {
        match parameters(kernel).get(number) {
            Some((name, scalar)) if matches!(&**scalar, ".u64" | ".b64" | ".s64") => anyhow!(
                "`{name}` is {scalar}, a pointer or an integer: `zeros:BYTES` or `@FILE` makes a buffer ({error})"
            ),
            _ => error.into(),
        }
    })
}

/// Adds the trace's path to an I/O error.
fn write_error(path: &Option<PathBuf>) -> impl Fn(std::io::Error) -> OutputError {
    move |source| OutputError::write(path.as_deref().unwrap_or(Path::new("")), source)
}

#[derive(Serialize)]
struct KernelJson<'f> {
    file: &'f str,
    launch: LaunchJson<'f>,
    not_executed: Vec<SkippedJson<'f>>,
    unknown_bytes: Vec<UnknownJson<'f>>,
    /// The first MiB of the text of `printf`, and the size of all of it in bytes.
    printed: Cow<'f, str>,
    printed_bytes: u64,
    faults: Vec<FaultJson<'f>>,
    /// The costs of each access, if they are counted.
    #[serde(flatten)]
    summary: Option<&'f Summary>,
}

/// Writes the result of a launch as JSON.
pub(crate) fn write_json<'f>(
    file: &str,
    result: &'f KernelResult,
    only_block: Option<[u32; 3]>,
    names: &ParameterNames<'f>,
    summary: Option<&Summary>,
    output: &mut Output,
) -> anyhow::Result<()> {
    let launch = LaunchJson {
        counts: result.counts,
        steps: result.counts.warp_instructions,
        has_ended: result.has_ended,
        only_block,
        faults: FaultTotalsJson::from(result),
    };
    let unknown = result.unknown.iter();
    output.json(&KernelJson {
        file,
        launch,
        not_executed: result.skipped.iter().map(SkippedJson::from).collect(),
        unknown_bytes: unknown.map(|one| UnknownJson::new(names, one)).collect(),
        printed: String::from_utf8_lossy(&result.printed),
        printed_bytes: result.printed_bytes,
        faults: faults::faults_json(result),
        summary,
    })?;
    Ok(())
}

#[derive(Serialize)]
struct LaunchJson<'f> {
    #[serde(flatten)]
    counts: LaunchCounts,
    /// The number that `--steps` limits.
    steps: u64,
    /// Whether the launch ended before it reached the limit.
    #[serde(rename = "ended")]
    has_ended: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_block: Option<[u32; 3]>,
    #[serde(flatten)]
    faults: FaultTotalsJson<'f>,
}

/// An instruction that was reached and not executed.
#[derive(Serialize)]
struct SkippedJson<'f> {
    instruction: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pc: Option<String>,
    count: u64,
}

impl<'f> From<&'f SkippedInstruction> for SkippedJson<'f> {
    fn from(skipped: &'f SkippedInstruction) -> Self {
        let SkippedInstruction { at, text, count, .. } = skipped;
        Self { instruction: text, line: faults::line(*at), pc: faults::pc(*at), count: *count }
    }
}

/// The unknown bytes of an argument's buffer, or of other memory, which has no number.
#[derive(Serialize)]
struct UnknownJson<'f> {
    argument: Option<usize>,
    name: Option<&'f str>,
    bytes: u64,
    first: u64,
    cause: String,
}

impl<'f> UnknownJson<'f> {
    fn new(names: &ParameterNames<'f>, unknown: &'f UnknownBytes<UnknownCause>) -> Self {
        let (argument, name) = match &unknown.purpose {
            AllocationUse::Argument(number) => (Some(*number), names(*number)),
            AllocationUse::Variable(name) => (None, Some(&**name)),
            _ => (None, None),
        };
        let UnknownBytes { bytes, first, cause, .. } = unknown;
        Self { argument, name, bytes: *bytes, first: *first, cause: cause.to_string() }
    }
}

pub(crate) fn show(
    result: &KernelResult,
    names: &ParameterNames<'_>,
    memory: &DeviceMemory,
    output: &mut Output,
) -> anyhow::Result<()> {
    output.line(result.counts)?;
    for skipped in &result.skipped {
        output.line(skipped)?;
    }
    for unknown in &result.unknown {
        output.line(described(names, unknown, memory))?;
    }
    faults::show(result, output)
}
