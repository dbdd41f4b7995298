//! `run`: executes one vector and shows the outcome of every lane.

mod kernel;
pub(super) mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Serialize;
use warpload::load::{Executor, LoadOp, Outcome};
use warpload::warp::Warp;
use warpload_binary::lines::Lines;
use warpload_suite::vector::{Final, Vector};

use super::diagnostic;
use super::io::{self, Output};
use super::options::{ExecutorName, Format, Progress, number};
use super::ptx::run::GridArguments;
use crate::process::Status;

/// The largest vector, in bytes.
const MAX_VECTOR_BYTES: usize = 64 << 20;

/// Launch a kernel of machine code, or execute one load
///
/// A cubin of SM 5.0 to 6.2, or a fat binary, library or program with one: launches a kernel without a GPU, as `ptx run`
/// does, and reports its faults with the offset and the text of the instruction.
///
/// A test vector: executes one load and shows the outcome of every lane.
///
/// Reads the instruction and the state before it from a test vector (the key `initial`) and shows the state after it as
/// a table of lanes, or as JSON in the form of the key `final`.
///
/// Misaligned addresses are rounded down to the access size, and marked. This is not a fault unless `initial` has
/// `"misaligned": "report"`; `replay` always reports it as one.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload run kernel.cubin --function saxpy --grid 4 --block 256 --arg 1000 --arg 2.0 \\
      --arg random:f32:1024 --arg zeros:4096 --check
  warpload run vector.json
  warpload run tests/data/ld-vectors.jsonl --line 7 --format json
  warpload run tests/data/ld-vectors.jsonl --all --format json")]
pub(crate) struct Arguments {
    /// Machine code; or a file with one vector, or several, one a line
    file: PathBuf,

    /// Vector on this line of the file, from 1
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..=u64::MAX))]
    line: Option<u64>,

    /// Execute every vector of the file, one a line
    ///
    /// JSON then also has the keys `name` and `line`. A line that cannot be executed has `line` and `error`. The exit
    /// status is 1, or 2 if a line is no vector.
    #[arg(long, conflicts_with = "line")]
    all: bool,

    /// Executor of the load; both have the same results
    #[arg(long, value_enum, default_value_t)]
    executor: ExecutorName,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// The image, if a fat binary, library or program has several with the kernel; `warpload images` lists them
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..=u64::MAX), help_heading = "Kernels")]
    image: Option<u64>,

    /// The kernel, if there are several
    #[arg(long, value_name = "NAME", help_heading = "Kernels")]
    function: Option<String>,

    // Last, because its heading holds for all options after it.
    #[command(flatten)]
    kernel: GridArguments,
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let function = arguments.function.as_deref();
    if let Some(program) = kernel::read(&arguments.file, arguments.image, function)? {
        if arguments.line.is_some() || arguments.all {
            let name = program.name;
            bail!("{name}: `--line` and `--all` choose test vectors; this is machine code");
        }
        return kernel::launch(
            program,
            function,
            &arguments.kernel,
            arguments.format,
            progress,
            output,
        );
    }
    if function.is_some() || arguments.image.is_some() || arguments.kernel.ask_for_a_launch() {
        let name = io::name(&arguments.file);
        bail!(
            "{name}: the options of kernels are for machine code; this is a test vector, or PTX for `ptx run`"
        );
    }
    if arguments.all {
        return execute_all(&arguments, output);
    }
    let name = io::name(&arguments.file);
    let text = read(&arguments.file, arguments.line)?;
    let asked = arguments.line.map_or(String::new(), |line| format!(":{line}"));
    let vector = Vector::from_json(&text).map_err(|error| {
        let place = match error.position {
            Some((line, column)) if asked.is_empty() => format!(":{line}:{column}"),
            Some((_, column)) => format!("{asked}:{column}"),
            None => asked.clone(),
        };
        anyhow::anyhow!("{name}{place}: {error}")
    })?;
    let executed = match Executed::new(vector, arguments.executor.into()) {
        Ok(executed) => executed,
        Err(error) => {
            diagnostic::error(format_args!("{name}{asked}: {error}"));
            return Ok(Status::Failed);
        }
    };
    match arguments.format {
        Format::Json => output.json(&executed.observed())?,
        Format::Text => output.text(&executed.table())?,
    }
    Ok(Status::Done)
}

/// A vector after its load was executed.
struct Executed {
    vector: Vector,
    op: LoadOp,
    after: Warp,
    outcome: Outcome,
}

impl Executed {
    /// Executes a vector. An error says why its instruction cannot be executed.
    fn new(vector: Vector, executor: Executor) -> Result<Self, String> {
        let failed = |error| format!("{}: {error}", vector.instruction);
        let op = LoadOp::of(&vector.instruction).map_err(failed)?;
        let (after, outcome) = vector.run(executor).map_err(failed)?;
        Ok(Self { vector, op, after, outcome })
    }

    fn observed(&self) -> Final {
        self.vector.observed(&self.after, &self.outcome)
    }

    fn table(&self) -> String {
        table::table(&self.vector, self.op, &self.after, &self.outcome)
    }
}

/// One vector of `--all`.
#[derive(Serialize)]
struct OneOfAll<'v> {
    name: &'v str,
    line: u64,
    #[serde(flatten)]
    observed: Final,
}

/// The JSON output for a line of `--all` that cannot be executed.
#[derive(Serialize)]
struct BadLine {
    line: u64,
    error: String,
}

fn execute_all(arguments: &Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let name = io::name(&arguments.file);
    let executor = Executor::from(arguments.executor);
    let (mut status, mut vectors) = (Status::Done, 0u64);
    io::each_line(&arguments.file, Progress::Never, |number, text| {
        let executed = match text {
            Ok(text) => execute_line(text, executor),
            Err(error) => Err((Status::Unreadable, None, error.to_string())),
        };
        vectors += 1;
        match (executed, arguments.format) {
            (Ok(executed), Format::Json) => output.json(&OneOfAll {
                name: &executed.vector.name,
                line: number,
                observed: executed.observed(),
            })?,
            (Ok(executed), Format::Text) => {
                if vectors > 1 {
                    output.line("")?;
                }
                output.line(format_args!("line {number}"))?;
                output.text(&executed.table())?;
            }
            (Err((bad, column, error)), Format::Json) => {
                status = status.max(output.raise(bad));
                let column = column.map_or(String::new(), |column| format!("column {column}: "));
                output.json(&BadLine { line: number, error: column + &error })?;
            }
            (Err((bad, column, error)), Format::Text) => {
                let column = column.map_or(String::new(), |column| format!("{column}:"));
                let message = format_args!("{name}:{number}:{column} {error}");
                status = status.max(output.fail(bad, message)?);
            }
        }
        Ok(())
    })?;
    if vectors == 0 {
        bail!("{name}: no vectors; expected one JSON object a line");
    }
    Ok(status)
}

/// Executes the vector on one line. An error in the text has its column.
fn execute_line(
    text: &str,
    executor: Executor,
) -> Result<Executed, (Status, Option<usize>, String)> {
    let vector = Vector::from_json(text).map_err(|error| {
        let column = error.position.map(|(_, column)| column);
        (Status::Unreadable, column, error.to_string())
    })?;
    Executed::new(vector, executor).map_err(|error| (Status::Failed, None, error))
}

/// The text of the wanted vector. Errors name the file.
fn read(path: &Path, wanted: Option<u64>) -> anyhow::Result<String> {
    let name = io::name(path);
    let mut lines = Lines::new(io::open_text(path, Progress::Never, io::CASES)?);
    let (mut text, mut count, mut vectors) = (String::new(), 0, 0);
    while let Some(line) = lines.next_line() {
        let line = line.with_context(|| name.clone())?;
        count = line.number;
        if wanted == Some(line.number) {
            return Ok(line.text.to_owned());
        }
        if wanted.is_none() {
            // A single vector may be spread over lines. Its inner objects are indented, so only a `{` in column 1
            // begins a vector.
            vectors += u64::from(line.text.starts_with('{'));
            if vectors > 1 {
                bail!(
                    "{name}: line {count}: a second vector; `--line N` runs one, `--all` runs all"
                );
            }
            text += line.text;
            text += "\n";
            if text.len() > MAX_VECTOR_BYTES {
                bail!(
                    "{name}: line {count}: longer than {MAX_VECTOR_BYTES} bytes; expected one vector"
                );
            }
        }
    }
    match wanted {
        Some(number) => bail!("{name}: no line {number}; the file has {count}"),
        None => Ok(text),
    }
}
