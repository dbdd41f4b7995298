//! `tmem run`: executes one load.

use warpload::encoding::Sm;
use warpload::lane::{LANES, LaneValues};
use warpload_ptx::syntax::LineIndex;
use warpload_ptx::tensor::{
    Rules, TensorAddress, TensorFault, TensorInstruction, TensorInstructionError, TensorRegisters,
    TensorRun,
};
use warpload_report::draw_tensor_load;
use warpload_suite::tensor_case::digest;

use super::memory::{Contents, LaneModeName, read_contents};
use super::sass;
use crate::diagnostic::{self, Labelled};
use crate::io::Output;
use crate::options::{Format, number};
use crate::process::Status;

/// Execute one load from Tensor Memory and show the registers of the 32 threads
///
/// Exit status 1 if the load breaks a rule, of the assembler or of addresses.
#[derive(clap::Args)]
#[command(after_help = "\
Memory:
  FILE is 262144 bytes: the 32-bit cells of Tensor Memory, each with its low byte first, lane after
  lane, the 512 columns of a lane side by side. `-` is standard input.
  pattern:lane*65536+col   each cell holds its own address (the default)
  pattern:packid           low halves that all differ, their complements above them
  pattern:hash             well-mixed bits
  pattern:f32rand          ordinary numbers as binary32
  pattern:f32special       NaNs, infinities, zeroes and subnormal numbers, by lane

Examples:
  warpload tmem run 'tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [taddr];' --warp 0 --taddr 0
  warpload tmem run 'tcgen05.ld.red.sync.aligned.16x32bx2.x2.max.f32 {a, b}, m, [t], 16;' \\
      --warp 5 --taddr 0x00200040 --memory pattern:f32rand
  warpload tmem run --sm 100 'LDTM.x2 R4, tmem[UR4]' --warp 0 --taddr 0")]
pub(crate) struct Arguments {
    /// Instruction in PTX syntax; with --sm, the word or text of an LDTM
    instruction: String,

    /// SM of the word or text, such as 100 or 103a
    #[arg(long, value_name = "SM")]
    sm: Option<Sm>,

    /// Number of the warp in its thread block; its value modulo 4 decides the lanes that it may read
    #[arg(long, value_name = "W", value_parser = number::<u32>(0..=u32::MAX.into()))]
    warp: u32,

    /// Value of the address register, decimal or 0x: lane << 16 | column
    #[arg(long, value_name = "A", value_parser = read_address)]
    taddr: TensorAddress,

    /// Contents of Tensor Memory: a file, or pattern:NAME
    #[arg(
        long,
        value_name = "FILE",
        value_parser = read_contents,
        default_value = "pattern:lane*65536+col"
    )]
    memory: Contents,

    /// Meaning of the lane in an address
    #[arg(long, value_enum, default_value_t)]
    lane_mode: LaneModeName,

    /// Also refuse odd columns if the hardware is known, or assumed, to require even ones
    #[arg(long)]
    hardware_alignment: bool,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn read_address(text: &str) -> Result<TensorAddress, String> {
    number(0..=u32::MAX.into())(text).map(TensorAddress)
}

/// The registers, with the keys of test cases.
#[derive(serde::Serialize)]
struct LoadedJson {
    instruction: String,
    n: usize,
    /// `None` for a thread that does not load.
    regs: Vec<Option<Vec<u32>>>,
    redval: Option<Vec<Option<u32>>>,
    /// The digest of all threads' registers; absent if only half of them load.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// The reason for a refusal, with the keys of test cases.
#[derive(serde::Serialize)]
struct RefusedJson {
    error: &'static str,
    code: &'static str,
    message: String,
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let text = &arguments.instruction;
    let given = match arguments.sm {
        None => TensorInstruction::parse(text),
        Some(sm) => match sass::read(text, sm, output)? {
            Ok((instruction, tensor)) => TensorInstruction::of_sass(&instruction, &tensor),
            Err(status) => return Ok(status),
        },
    };
    let given = match given {
        Ok(given) => given,
        Err(error) => return illegal(text, &error, arguments.format, output),
    };
    let run = TensorRun {
        warp: arguments.warp,
        address: arguments.taddr,
        rules: Rules::default()
            .lane_mode(arguments.lane_mode.mode())
            .hardware_alignment(arguments.hardware_alignment),
    };
    let (issue, registers) = match run.execute(&given, &arguments.memory.memory()?) {
        Ok(executed) => executed,
        Err(fault) => return refuse(fault, arguments.format, output),
    };
    match arguments.format {
        Format::Text => output.text(&draw_tensor_load(&given, issue, &registers))?,
        Format::Json => output.json(&json(&given, &registers))?,
    }
    Ok(Status::Done)
}

fn json(given: &TensorInstruction, registers: &TensorRegisters) -> LoadedJson {
    let loading = |thread| Some(thread).filter(|thread| given.threads.contains(thread));
    let values = |thread| registers.data().iter().map(|row| row[thread]).collect();
    let reduced = |row: &LaneValues| {
        (0..LANES).map(|thread| loading(thread).map(|thread| row[thread])).collect()
    };
    LoadedJson {
        instruction: given.text.clone(),
        n: registers.data().len(),
        regs: (0..LANES).map(|thread| loading(thread).map(values)).collect(),
        redval: registers.reduced().map(reduced),
        sha256: given.is_whole().then(|| digest(registers)),
    }
}

/// Draws why an instruction is not legal. Returns the status, which is raised.
pub(super) fn illegal(
    text: &str,
    illegal: &TensorInstructionError,
    format: Format,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let &TensorInstructionError { code, ref message, span, .. } = illegal;
    let rule = Some(code).filter(|code| *code != "syntax");
    let status = output.raise(if rule.is_none() { Status::Unreadable } else { Status::Failed });
    let label = Labelled { title: message, rule, help: None, span };
    diagnostic::in_source("<argument>", text, &LineIndex::new(text), label);
    if format == Format::Json {
        output.json(&RefusedJson { error: "assemble", code, message: message.clone() })?;
    }
    Ok(status)
}

fn refuse(fault: TensorFault, format: Format, output: &mut Output) -> anyhow::Result<Status> {
    let status = output.fail(Status::Failed, format_args!("{}: {fault}", fault.code()))?;
    if let TensorFault::LaneSlab { .. } = fault {
        diagnostic::note("the option is `--lane-mode wrap`");
    }
    if format == Format::Json {
        let (code, message) = (fault.code(), fault.to_string());
        output.json(&RefusedJson { error: "undefined", code, message })?;
    }
    Ok(status)
}
