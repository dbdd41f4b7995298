//! Launches a kernel with its grid, dumps its buffers, and reports faults and memory costs.

use std::collections::HashMap;
use std::io::{BufWriter, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde::Serialize;
use warpload::memory::{AddressMap, Memory};
use warpload_binary::names::Demangled;
use warpload_ptx::machine::{
    AllocationSide, AllocationUse, DeviceMemory, Fill, Kernel, KernelError, KernelFault, KernelLaunch,
    KernelResult, LaunchCounts, LaunchTrace,
};
use warpload_ptx::module::StatementId;
use warpload_ptx::run::Launch;
use warpload_replay::{ReplayData, ReplayOptions, Summary, replay};
use warpload_report::{ReportPage, TableRows, html, memory_tables, survey};
use warpload_trace::output::OutputError;
use warpload_trace::{BinaryTrace, import_source};

use crate::destination::{self, OutputFile};
use crate::io::{self, Output};
use crate::mapped;
use crate::options::{Format, number};
use crate::process::Status;
use crate::ptx::file::File;
use crate::ptx::run::failed;

/// How a kernel is launched; with none of these options the loads of a function are executed one by one.
#[derive(clap::Args)]
#[command(next_help_heading = "Kernels")]
pub(super) struct KernelArguments {
    /// The blocks of the grid along x, y and z
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = dimensions)]
    grid: Option<[u32; 3]>,

    /// The threads of a block along x, y and z [default: 32]
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = dimensions)]
    block: Option<[u32; 3]>,

    /// Bytes of dynamic shared memory of a block
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = number::<u64>(0..=u64::MAX))]
    shared_bytes: u64,

    /// The kernel's next parameter: @FILE, zeros:BYTES, or random:, iota: or ones:TYPE:COUNT for a buffer in global
    /// memory, hex:BYTES, or a constant expression of its type
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    arg: Vec<String>,

    /// Write the buffer of an argument, counted from 0, after the launch
    #[arg(long, value_name = "INDEX=FILE", value_parser = dump)]
    dump: Vec<(usize, PathBuf)>,

    /// Write the memory instructions of the launch as a binary trace, with the loaded and the stored values
    #[arg(long, value_name = "OUT.wlt")]
    trace: Option<PathBuf>,

    /// Write a page for a browser, with the coalescing and the bank conflicts of each line: one file
    #[arg(long, value_name = "PAGE")]
    html: Option<PathBuf>,

    /// End a launch after that many warp instructions [default: 4294967296]
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..=u64::MAX))]
    steps: Option<u64>,

    /// Report loads of uninitialized shared or local memory
    #[arg(long)]
    check_uninitialized: bool,

    /// Report data races in shared memory: two threads access the same bytes, one writes, and no barrier or fence orders
    /// them
    #[arg(long)]
    check_races: bool,
}

fn dimensions(text: &str) -> Result<[u32; 3], String> {
    let mut sizes = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > 3 {
        return Err("expected one to three numbers with commas between".to_owned());
    }
    for (size, part) in sizes.iter_mut().zip(parts) {
        *size = number::<u32>(1..=u32::MAX.into())(part.trim())?;
    }
    Ok(sizes)
}

fn dump(text: &str) -> Result<(usize, PathBuf), String> {
    let (index, file) = text.split_once('=').ok_or("expected a number, `=` and a file")?;
    Ok((number::<usize>(0..=u64::MAX)(index)?, file.into()))
}

/// A parameter: a buffer, which is passed by address, or the bytes of a value.
enum Value {
    Buffer(Vec<u8>),
    Bytes(Vec<u8>),
}

impl KernelArguments {
    /// Whether any option asks for a launch.
    pub(super) fn is_given(&self) -> bool {
        self.grid.is_some()
            || self.block.is_some()
            || !self.arg.is_empty()
            || !self.dump.is_empty()
            || self.steps.is_some()
            || self.shared_bytes > 0
            || self.trace.is_some()
            || self.html.is_some()
            || self.check_uninitialized
            || self.check_races
    }

    /// Launches the named kernel of a module, or its only one.
    pub(super) fn run(
        &self,
        options: &Launch,
        image: Option<&Memory>,
        file: &File<'_>,
        format: Format,
        output: &mut Output,
    ) -> anyhow::Result<Status> {
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
        let mut launch =
            KernelLaunch::new(self.grid.unwrap_or([1; 3]), self.block.unwrap_or([32, 1, 1]));
        launch.shared_bytes = self.shared_bytes;
        launch.steps = self.steps.unwrap_or(launch.steps);
        launch.checks_uninitialized = self.check_uninitialized;
        launch.checks_races = self.check_races;
        let sizes = kernel.parameter_bytes();
        let mut named =
            options.set_up(&kernel, &mut launch).map_err(|error| failed(error, file))?;
        let mut buffers = vec![None; sizes.len()];
        let unnamed = (0..).filter(|number| !named.contains_key(number)).take(self.arg.len());
        let unnamed: Vec<usize> = unnamed.collect();
        for (number, text) in unnamed.into_iter().zip(&self.arg) {
            let value = value(&kernel, &memory, number, text)
                .with_context(|| format!("--arg {text} (parameter {number})"))?;
            let bytes = match value {
                Value::Bytes(bytes) => bytes,
                Value::Buffer(bytes) => {
                    let address = memory.allocate(bytes, AllocationUse::Argument(number))?;
                    if let Some(buffer) = buffers.get_mut(number) {
                        *buffer = Some(address);
                    }
                    let size = sizes.get(number).copied().unwrap_or(8);
                    address.to_le_bytes()[..size.min(8) as usize].to_vec()
                }
            };
            named.insert(number, bytes);
        }
        launch.parameters.extend(named.into_values());
        let mut dumps = Vec::new();
        for (index, path) in &self.dump {
            let address = buffers.get(*index).copied().flatten();
            let address = address.ok_or_else(|| {
                anyhow!("--dump {index}={}: argument {index} is no buffer", path.display())
            })?;
            dumps.push((address, destination::target(path)?));
        }
        let page = self.html.as_deref().map(destination::target).transpose()?;
        let kept = match &self.trace {
            Some(path) => Some(destination::target(path)?.create()?),
            None => None,
        };
        // Always traced, even if the trace is not kept, because the replay counts the accesses. A second way of
        // counting could disagree.
        let unnamed = kept.is_none().then(tempfile::tempfile).transpose();
        let unnamed = unnamed.context("no temporary file for the trace")?;
        let traced = kept.as_ref().map(OutputFile::file).or(unnamed.as_ref());
        let traced = traced.context("no file for the trace")?;
        let source = import_source(Path::new(file.name));
        let begun =
            LaunchTrace::new(&kernel, &launch, kept.is_some(), source, BufWriter::new(traced));
        let mut trace = begun.map_err(write_error(&self.trace))?;
        let result = match kernel.run(&launch, &mut memory, Some(&mut trace)) {
            Ok(result) => result,
            Err(error @ KernelError::Steps { .. }) => {
                return Ok(output.fail(Status::Failed, format_args!("{}: {error}", file.name))?);
            }
            Err(error) => bail!("{}: {error}", file.name),
        };
        trace.finish().map_err(write_error(&self.trace))?;
        let trace = BinaryTrace::new(mapped::map(Path::new("the trace"), traced)?)?;
        for (address, target) in dumps {
            target.write(memory.bytes(address).unwrap_or_default())?;
        }
        let options = ReplayOptions::new(ReplayData::Absent).demangled_names(true);
        let (replayed, survey) = match &page {
            Some(_) => {
                let (replayed, survey) = survey(&trace, &options)?;
                (replayed, Some(survey))
            }
            None => (replay(&trace, &options)?, None),
        };
        let summary = replayed.summary();
        if let (Some(target), Some(survey)) = (page, survey) {
            let title = Path::new(file.name).file_name().unwrap_or_default().to_string_lossy();
            let page = ReportPage::new(&replayed, &summary, &survey);
            let page = page.title(&title).data("the arguments of the launch");
            target.write(html(&page).as_bytes())?;
        }
        if format == Format::Json {
            let LaunchCounts { warp_instructions, .. } = result.counts;
            let launch = LaunchJson { counts: result.counts, steps: warp_instructions };
            output.json(&KernelJson {
                file: file.name,
                launch,
                faults: &result,
                summary: &summary,
            })?;
        } else {
            show(&result, file, output)?;
            let names = Demangled::default();
            output.text(&memory_tables(&replayed, &names, TableRows::default()))?;
        }
        if let Some(kept) = kept {
            kept.persist()?;
        }
        let has_failed = result.fault_count > 0;
        Ok(if has_failed { output.raise(Status::Failed) } else { Status::Done })
    }
}

/// Reads the value of an `--arg`.
fn value(
    kernel: &Kernel<'_>,
    memory: &DeviceMemory,
    number: usize,
    text: &str,
) -> anyhow::Result<Value> {
    if let Some(path) = text.strip_prefix('@') {
        let (mut file, _) = io::open_file(Path::new(path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return Ok(Value::Buffer(bytes));
    }
    if let Some(fill) = Fill::parse(text) {
        // Two buffers of random numbers differ, because a mix-up of them could be hidden otherwise.
        return Ok(Value::Buffer(fill?.bytes(memory, number as u64)?));
    }
    if let Some(digits) = text.strip_prefix("hex:") {
        let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let pairs = digits.chunks(2).map(|pair| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2);
            pair.and_then(|pair| u8::from_str_radix(pair, 16).ok())
        });
        let bytes = pairs.collect::<Option<Vec<u8>>>();
        return Ok(Value::Bytes(bytes.context("expected pairs of hexadecimal digits")?));
    }
    Ok(Value::Bytes(kernel.parameter_value(number, text)?))
}

/// Adds the trace's path to an I/O error.
fn write_error(path: &Option<PathBuf>) -> impl Fn(std::io::Error) -> anyhow::Error {
    move |source| match path {
        Some(path) => OutputError::write(path, source).into(),
        None => anyhow::Error::new(source).context("a temporary file for the trace"),
    }
}

#[derive(Serialize)]
struct KernelJson<'f> {
    file: &'f str,
    launch: LaunchJson,
    #[serde(serialize_with = "faults")]
    faults: &'f KernelResult,
    #[serde(flatten)]
    summary: &'f Summary,
}

#[derive(Serialize)]
struct LaunchJson {
    #[serde(flatten)]
    counts: LaunchCounts,
    /// The number that `--steps` limits.
    steps: u64,
}

fn faults<S: serde::Serializer>(result: &&KernelResult, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(result.faults.iter().map(FaultJson::from))
}

#[derive(Serialize)]
struct FaultJson<'f> {
    kind: &'static str,
    line: u32,
    function: &'f str,
    block: [u32; 3],
    thread: [u32; 3],
    lane: u32,
    address: String,
    argument: Option<usize>,
    distance: Option<i64>,
    message: String,
}

impl<'f> From<&'f KernelFault> for FaultJson<'f> {
    fn from(fault: &'f KernelFault) -> Self {
        let argument = fault.nearest.as_ref().and_then(|nearest| match nearest.purpose {
            AllocationUse::Argument(number) => Some(number),
            _ => None,
        });
        // Positive after the end of the buffer, negative before it or inside.
        let distance = fault.nearest.as_ref().map(|nearest| match nearest.side {
            AllocationSide::After => nearest.distance as i64,
            AllocationSide::Before | AllocationSide::Inside => -(nearest.distance as i64),
        });
        Self {
            kind: fault.kind.name(),
            line: fault.line,
            function: &fault.function,
            block: fault.block,
            thread: fault.thread,
            lane: fault.lane,
            address: format!("{:#x}", fault.address),
            argument,
            distance,
            message: fault.to_string(),
        }
    }
}

/// `1 warp`, `2 warps`.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The number of faults of one instruction that are shown in full.
const SHOWN: usize = 4;

fn show(result: &KernelResult, file: &File<'_>, output: &mut Output) -> anyhow::Result<()> {
    let LaunchCounts { blocks, warps, warp_instructions, loads, stores, atomics, .. } =
        result.counts;
    output.line(format_args!(
        "{}, {}: {}, among them {}, {} and {}",
        counted(blocks, "block"),
        counted(warps, "warp"),
        counted(warp_instructions, "warp instruction"),
        counted(loads, "load"),
        counted(stores, "store"),
        counted(atomics, "atomic operation"),
    ))?;
    for skipped in &result.skipped {
        output.line(format_args!(
            "line {}: not executed, {}: {}",
            skipped.line,
            counted(skipped.count, "time"),
            skipped.text
        ))?;
    }
    let mut shown: HashMap<StatementId, usize> = HashMap::new();
    for fault in &result.faults {
        let count = shown.entry(fault.statement).or_default();
        *count += 1;
        if *count > SHOWN {
            continue;
        }
        let statement = file.module.statements().get(fault.statement.index());
        let text =
            statement.map(|statement| file.statement(statement.span).text).unwrap_or_default();
        let [bx, by, bz] = fault.block;
        let [x, y, z] = fault.thread;
        let source =
            fault.source_line.map_or(String::new(), |line| format!(" (source line {line})"));
        output.line(format_args!(
            "line {}{source}: {fault}\n  in `{}` by thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz}): {text}",
            fault.line, fault.function
        ))?;
    }
    if result.fault_count > 0 {
        output.line(counted(result.fault_count, "fault"))?;
    }
    Ok(())
}
