//! `tmem run`: executes one load.

use std::ops::Range;

use warpload::encoding::{Instruction, Sm};
use warpload::lane::{LANES, LaneValues};
use warpload_ptx::read_load;
use warpload_ptx::syntax::{LineIndex, Span};
use warpload_ptx::tensor::{
    Issue, Rules, SassTensorLoad, TensorAddress, TensorFault, TensorLoad, TensorRegisters,
    WrittenTensorLoad, execute as load,
};
use warpload_suite::tensor_case::digest;

use super::memory::{Contents, LaneModeName, read_contents};
use super::{sass, table};
use crate::diagnostic::{self, Labelled};
use crate::io::Output;
use crate::options::{Format, read_number};
use crate::process::Status;

/// Execute one load from Tensor Memory and show the registers of the 32 threads
///
/// A load that breaks a rule, of the assembler or of addresses, is exit status 1.
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
    /// The instruction as PTX writes it; with --sm, the word or text of an LDTM
    instruction: String,

    /// Whose word or text is given, such as 100 or 103a
    #[arg(long, value_name = "SM")]
    sm: Option<Sm>,

    /// The warp's number in its thread block; its value modulo 4 says which lanes it may read
    #[arg(long, value_name = "W")]
    warp: u32,

    /// What the address register holds, decimal or 0x: lane << 16 | column
    #[arg(long, value_name = "A", value_parser = read_address)]
    taddr: TensorAddress,

    /// What Tensor Memory holds: a file, or pattern:NAME
    #[arg(
        long,
        value_name = "FILE",
        value_parser = read_contents,
        default_value = "pattern:lane*65536+col"
    )]
    memory: Contents,

    /// What the lane of an address means
    #[arg(long, value_enum, default_value_t)]
    lane_mode: LaneModeName,

    /// Also refuse odd columns if the hardware is known, or assumed, to require even ones
    #[arg(long)]
    hardware_alignment: bool,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

fn read_address(text: &str) -> Result<TensorAddress, String> {
    let value = read_number(text).and_then(|value| u32::try_from(value).ok());
    value.map(TensorAddress).ok_or_else(|| "expected 32 bits, decimal or 0x hexadecimal".to_owned())
}

/// The registers, in the words of test cases.
#[derive(serde::Serialize)]
struct LoadedJson<'l> {
    instruction: String,
    n: usize,
    /// `None` for a thread that does not load.
    regs: Vec<Option<Vec<u32>>>,
    redval: Option<Reduced<'l>>,
    /// Of all threads; none if only half of them load.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// The results of a reduction, of all threads or of some.
#[derive(serde::Serialize)]
#[serde(untagged)]
enum Reduced<'l> {
    All(&'l LaneValues),
    Some(Vec<Option<u32>>),
}

/// Why there are none, in the words of test cases.
#[derive(serde::Serialize)]
struct RefusedJson {
    error: &'static str,
    code: &'static str,
    message: String,
}

/// The load as it was given.
struct Given {
    /// The text that it is shown by.
    shown: String,
    load: TensorLoad,
    registers: Vec<String>,
    reduced: Option<String>,
    address_offset: u32,
    threads: Range<usize>,
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let text = &arguments.instruction;
    let given = match arguments.sm {
        None => written(text).map(|written| Given::of_ptx(text, &written)),
        Some(sm) => match sass::read(text, sm) {
            Some((instruction, tensor)) => Given::of_sass(&instruction, &tensor),
            None => return Ok(output.raise(Status::Failed)),
        },
    };
    let given = match given {
        Ok(given) => given,
        Err(error) => return illegal(text, &error, arguments.format, output),
    };
    let memory = arguments.memory.memory()?;
    let address = arguments.taddr.plus(given.address_offset);
    let issue = Issue::new(arguments.warp, address);
    let rules = Rules::default()
        .lane_mode(arguments.lane_mode.mode())
        .hardware_alignment(arguments.hardware_alignment);
    let mut registers = TensorRegisters::new();
    if let Err(fault) = load(&given.load, issue, &memory, &rules, &mut registers) {
        return refuse(fault, arguments.format, output);
    }
    match arguments.format {
        Format::Text => output.text(&given.table(issue, &registers))?,
        Format::Json => output.json(&given.json(&registers))?,
    }
    Ok(Status::Done)
}

impl Given {
    fn of_ptx(text: &str, written: &WrittenTensorLoad) -> Self {
        let name = |span: Span| span.text(text).to_owned();
        Self {
            shown: written.load.to_string(),
            load: written.load,
            registers: written.registers.iter().copied().map(name).collect(),
            reduced: written.reduced.map(name),
            address_offset: written.address_offset,
            threads: 0..LANES,
        }
    }

    fn of_sass(instruction: &Instruction, tensor: &SassTensorLoad) -> Result<Self, Illegal> {
        let whole = Span { start: 0, end: 0 };
        let error = |message| Illegal { code: "syntax", message, span: whole };
        let guard = instruction.parts().guard;
        if !guard.pred.is_true() || guard.negated {
            return Err(error("a guard: run it without one".to_owned()));
        }
        Ok(Self {
            shown: instruction.to_string(),
            load: tensor.load,
            registers: sass::registers(tensor).map_err(error)?,
            reduced: tensor.reduced.map(|register| register.to_string()),
            address_offset: tensor.address_offset,
            threads: tensor.threads(),
        })
    }

    fn is_whole(&self) -> bool {
        self.threads.len() == LANES
    }

    fn table(&self, issue: Issue, registers: &TensorRegisters) -> String {
        let data = self.registers.iter().map(String::as_str).zip(registers.data());
        let reduced = self.reduced.as_deref().zip(registers.reduced());
        let columns: Vec<(&str, &LaneValues)> = data.chain(reduced).collect();
        let threads = self.threads.clone();
        let heading = match self.is_whole() {
            true => table::heading(&self.load, issue),
            false => table::half_heading(&self.load, issue, &threads),
        };
        format!("{}\n{heading}\n{}", self.shown, table::of_some_threads(&columns, threads))
    }

    fn json<'l>(&self, registers: &'l TensorRegisters) -> LoadedJson<'l> {
        let loads = |thread: &usize| self.threads.contains(thread);
        let values = |thread| registers.data().iter().map(|row| row[thread]).collect();
        let each = |thread| Some(thread).filter(loads).map(values);
        LoadedJson {
            instruction: self.shown.clone(),
            n: registers.data().len(),
            regs: (0..LANES).map(each).collect(),
            redval: registers.reduced().map(|reduced| match self.is_whole() {
                true => Reduced::All(reduced),
                false => {
                    let one = |thread| Some(thread).filter(loads).map(|thread| reduced[thread]);
                    Reduced::Some((0..LANES).map(one).collect())
                }
            }),
            sha256: self.is_whole().then(|| digest(registers)),
        }
    }
}

/// Why an instruction is not executed, and where.
struct Illegal {
    code: &'static str,
    message: String,
    span: Span,
}

fn written(text: &str) -> Result<WrittenTensorLoad, Illegal> {
    let syntax = |message, span| Illegal { code: "syntax", message, span };
    let load = read_load(text).map_err(|error| syntax(error.kind.to_string(), error.span))?;
    if let Some(guard) = load.load().and_then(|load| load.guard) {
        let message = "a guard; `ptx run` executes guarded loads".to_owned();
        return Err(syntax(message, guard.register));
    }
    load.tensor_load(text).map_err(|error| Illegal {
        code: error.code(),
        message: error.to_string(),
        span: error.span,
    })
}

fn illegal(
    text: &str,
    illegal: &Illegal,
    format: Format,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let status = output.raise(Status::Failed);
    let &Illegal { code, ref message, span } = illegal;
    let rule = Some(code).filter(|code| *code != "syntax");
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
