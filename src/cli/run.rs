//! `run`: executes one vector and shows what every lane did.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use warpload::encoding::Reg;
use warpload::lane::LANES;
use warpload::lines::Lines;
use warpload::load::{
    Executor, LaneAddresses, LaneFault, LaneFaults, LoadOp, Outcome, UniformPath, WarpError,
};
use warpload::memory::{GenericAddress, LoadMemory};
use warpload::vector::Vector;
use warpload::warp::Warp;

use super::diagnostic;
use super::io::{self, Output};
use super::{Format, Progress, Status};

/// A vector larger than this is refused.
const MAX_VECTOR_BYTES: usize = 64 << 20;

/// Execute one load and show what every lane did
///
/// Reads the instruction and the state before it from a test vector (the key `initial`) and
/// shows the state after as a table of lanes, or as JSON in the form of the key `final`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload run vector.json
  warpload run tests/data/ld-vectors.jsonl --line 7 --format json")]
pub(crate) struct Arguments {
    /// A file with one vector, or several, one a line
    file: PathBuf,

    /// Which of several vectors: the number of its line, from 1
    #[arg(long)]
    line: Option<u64>,

    /// What executes the load; both give the same
    #[arg(long, value_enum, default_value_t)]
    executor: ExecutorName,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum ExecutorName {
    #[default]
    Fast,
    /// The literal one, which follows the specification clause by clause
    Reference,
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let name = io::name(&arguments.file);
    let text = read(&arguments.file, arguments.line)?;
    let vector = Vector::from_json(&text).map_err(|error| {
        let position = match (error.position, arguments.line) {
            (Some((_, column)), Some(line)) => format!(":{line}:{column}"),
            (Some((line, column)), None) => format!(":{line}:{column}"),
            (None, Some(line)) => format!(":{line}"),
            (None, None) => String::new(),
        };
        anyhow::anyhow!("{name}{position}: {error}")
    })?;
    let executor = match arguments.executor {
        ExecutorName::Fast => Executor::Fast,
        ExecutorName::Reference => Executor::Reference,
    };
    let executed = LoadOp::of(&vector.instruction)
        .and_then(|op| vector.run(executor).map(|(after, outcome)| (op, after, outcome)));
    let (op, after, outcome) = match executed {
        Ok(executed) => executed,
        Err(error) => {
            let line = arguments.line.map(|line| format!(":{line}")).unwrap_or_default();
            diagnostic::error(format_args!("{name}{line}: {}: {error}", vector.instruction));
            return Ok(Status::Failed);
        }
    };
    match arguments.format {
        Format::Json => output.json(&vector.observed(&after, &outcome))?,
        Format::Text => output.bytes(table(&vector, op, &after, &outcome).as_bytes())?,
    }
    Ok(Status::Done)
}

/// The text of the one vector that is asked for.
fn read(path: &Path, wanted: Option<u64>) -> anyhow::Result<String> {
    let name = io::name(path);
    let mut lines = Lines::new(io::open_text(path, Progress::Never).with_context(|| name.clone())?);
    let (mut text, mut count, mut vectors) = (String::new(), 0, 0);
    while let Some(line) = lines.next_line() {
        let line = line.with_context(|| name.clone())?;
        count = line.number;
        if wanted == Some(line.number) {
            return Ok(line.text.to_owned());
        }
        if wanted.is_none() {
            // The one vector may be laid out over lines, whose inner objects are indented.
            vectors += u64::from(line.text.starts_with('{'));
            if vectors > 1 {
                bail!("{name}: line {count}: a second vector; `--line N` says which one to run");
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
        Some(number) => bail!("{name}: no line {number}; there are {count}"),
        None => Ok(text),
    }
}

/// The lane table with what is said above and below it.
fn table(vector: &Vector, op: LoadOp, after: &Warp, outcome: &Outcome) -> String {
    let mut text = String::new();
    if !vector.name.is_empty() {
        text += &format!("{}\n", vector.name);
    }
    let instruction = &vector.instruction;
    text += &format!("{:#018x}  {instruction}\n", instruction.encode());
    let lanes = outcome.executing.count();
    text += &format!(
        "{lanes} of {LANES} lanes execute (active {:#010x}){}\n\n",
        vector.warp.active,
        match outcome.uniform {
            Some(UniformPath::Broadcast) => ", one fetch broadcast to all of them",
            Some(UniformPath::Divergent) => ", uniform but divergent: served one by one",
            None => "",
        }
    );
    if let Some(fault) = outcome.warp_fault {
        let error = fault.warp_error();
        text += &format!("The warp faults before any lane loads: {fault}\n{error}\n");
        return text;
    }
    text += &rows(vector, op, after, outcome);
    text += &faults(&outcome.lane_faults);
    text
}

/// The lane faults, under what the hardware calls them.
pub(crate) fn faults(lane_faults: &LaneFaults) -> String {
    let mut groups: Vec<(WarpError, String)> = Vec::new();
    for fault in lane_faults {
        let error = fault.warp_error();
        let line = format!("  {fault}\n");
        match groups.iter_mut().find(|(known, _)| *known == error) {
            Some((_, lines)) => lines.push_str(&line),
            None => groups.push((error, line)),
        }
    }
    let section = |(error, lines): &(WarpError, String)| format!("\n{error}\n{lines}");
    groups.iter().map(section).collect()
}

fn rows(vector: &Vector, op: LoadOp, after: &Warp, outcome: &Outcome) -> String {
    let instruction = &vector.instruction;
    let lanes = LaneAddresses::of(instruction, &vector.machine, &vector.warp);
    let registers: Vec<Reg> = match outcome.destination {
        Some(written) => {
            (0..written.count).map(|i| Reg::new(written.first.number() + i as u8)).collect()
        }
        None => Vec::new(),
    };
    let mut text = String::from("lane  address             space  ");
    for register in &registers {
        text += &format!("  {:<10}", register.to_string());
    }
    text.truncate(text.trim_end().len());
    text += "\n";
    for lane in 0..LANES {
        let mut row = format!("{lane:>4}  ");
        if lanes.executing.contains(lane) {
            let address = GenericAddress(lanes.addresses[lane]);
            let found = vector.machine.memory.region(
                op.space,
                address.align_down(op.bytes),
                lanes.plg.contains(lane),
            );
            let space = found.map_or("-", |(space, _)| space.name());
            row += &format!("{:#018x}  {space:<7}", address.0);
        } else {
            row += &format!("{:<18}  {:<7}", "-", "-");
        }
        for register in &registers {
            row += &format!("  {:#010x}", after.register(*register)[lane]);
        }
        let faults = outcome.lane_faults.iter().filter(|fault| fault.lane == lane);
        let names: Vec<&str> = faults.map(|fault: &LaneFault| fault.kind.name()).collect();
        if !names.is_empty() {
            row += &format!("  <- {}", names.join(", "));
        }
        text += row.trim_end();
        text += "\n";
    }
    text
}
