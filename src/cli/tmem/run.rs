//! `tmem run`: executes one load.

use std::fmt::Write;

use clap::ValueEnum;
use warpload::lane::{LANES, LaneValues};
use warpload::tensor_memory::cases::digest;
use warpload::tensor_memory::{
    Issue, LaneMode, LoadText, Registers, Rules, TensorAddress, TensorFault, execute as load,
};

use super::memory::{Contents, read_contents};
use crate::cli::diagnostic::{self, Origin};
use crate::cli::io::Output;
use crate::cli::{Format, Status};

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
      --warp 5 --taddr 0x00200040 --memory pattern:f32rand")]
pub(crate) struct Arguments {
    /// The instruction as PTX writes it
    instruction: String,

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

    /// Also refuse odd columns where hardware is known, or taken, to want even ones
    #[arg(long)]
    hardware_alignment: bool,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum LaneModeName {
    /// A lane that the warp may read; else the load faults
    #[default]
    Strict,
    /// A lane modulo 32 among those that the warp may read
    Wrap,
}

fn read_address(text: &str) -> Result<TensorAddress, String> {
    let value = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    value.map(TensorAddress).map_err(|_| "expected 32 bits, decimal or 0x hexadecimal".to_owned())
}

/// The registers, in the words of test cases.
#[derive(serde::Serialize)]
struct LoadedJson<'l> {
    instruction: String,
    n: usize,
    regs: Vec<Vec<u32>>,
    redval: Option<&'l LaneValues>,
    sha256: String,
}

/// Why there are none, in the words of test cases.
#[derive(serde::Serialize)]
struct RefusedJson {
    error: &'static str,
    code: &'static str,
    message: String,
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let text = match LoadText::parse(&arguments.instruction) {
        Ok(text) => text,
        Err(error) => {
            let origin = Origin { file: "<argument>", line: 1, column: 1 };
            diagnostic::text_error(origin, &arguments.instruction, error.span, &error.to_string());
            if arguments.format == Format::Json {
                let (code, message) = (error.code(), error.to_string());
                output.json(&RefusedJson { error: "assemble", code, message })?;
            }
            return Ok(Status::Failed);
        }
    };
    let memory = arguments.memory.memory()?;
    let address = arguments.taddr.plus(text.address_offset);
    let issue = Issue { warp: arguments.warp, address };
    let rules = Rules {
        lane_mode: match arguments.lane_mode {
            LaneModeName::Strict => LaneMode::Strict,
            LaneModeName::Wrap => LaneMode::Wrap,
        },
        hardware_alignment: arguments.hardware_alignment,
        ..Rules::default()
    };
    let mut registers = Registers::new();
    if let Err(fault) = load(&text.load, issue, &memory, &rules, &mut registers) {
        return refuse(fault, arguments.format, output);
    }
    match arguments.format {
        Format::Text => output.bytes(table(&text, issue, &registers).as_bytes())?,
        Format::Json => output.json(&LoadedJson {
            instruction: text.load.to_string(),
            n: registers.data().len(),
            regs: (0..LANES)
                .map(|thread| registers.data().iter().map(|row| row[thread]).collect())
                .collect(),
            redval: registers.reduced(),
            sha256: digest(&registers),
        })?,
    }
    Ok(Status::Done)
}

fn refuse(fault: TensorFault, format: Format, output: &mut Output) -> anyhow::Result<Status> {
    output.flush()?;
    diagnostic::error(format_args!("{}: {fault}", fault.code()));
    if let TensorFault::LaneSlab { .. } = fault {
        diagnostic::note("the option is `--lane-mode wrap`");
    }
    if format == Format::Json {
        let (code, message) = (fault.code(), fault.to_string());
        output.json(&RefusedJson { error: "undefined", code, message })?;
    }
    Ok(Status::Failed)
}

/// How many registers stand side by side.
const REGISTERS_A_ROW: usize = 8;

/// What is loaded, and the registers of the threads, eight at a time.
fn table(text: &LoadText<'_>, issue: Issue, registers: &Registers) -> String {
    let load = &text.load;
    let mut table = format!("{load}\n");
    let plural = |count, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let size = format!("{} of {}", plural(load.columns(), "column"), load.shape().lanes());
    let _ = match load.split() {
        Some(split) => writeln!(
            table,
            "warp {} reads {size} lanes from {}, for threads 16 to 31 from {split} further",
            issue.warp, issue.address
        ),
        None => writeln!(table, "warp {} reads {size} lanes from {}", issue.warp, issue.address),
    };
    let reduced = text.reduced.zip(registers.reduced());
    let columns: Vec<(&str, &LaneValues)> =
        text.registers.iter().copied().zip(registers.data()).chain(reduced).collect();
    for columns in columns.chunks(REGISTERS_A_ROW) {
        let width = |name: &str| name.len().max(10);
        let mut heading = String::from("\nthread");
        for (name, _) in columns {
            let _ = write!(heading, "  {name:<0$}", width(name));
        }
        table += heading.trim_end();
        table.push('\n');
        for thread in 0..LANES {
            let mut row = format!("{thread:>6}");
            for (name, values) in columns {
                let _ = write!(row, "  {:<1$}", format!("{:#010x}", values[thread]), width(name));
            }
            table += row.trim_end();
            table.push('\n');
        }
    }
    table
}
