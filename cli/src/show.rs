//! `show`: the contents of a trace, a summary or a memory image.

use std::collections::BTreeSet;
use std::path::PathBuf;

use warpload::memory::{Allocation, ConstantBank};
use warpload_binary::file_kind::FileKind;
use warpload_replay::Summary;
use warpload_report::{TableRows, replay_text};
use warpload_suite::image::ImageLayout;
use warpload_trace::{BinaryTrace, KernelOverview, OpcodeOverview, OperationKind};

use super::compare;
use super::io::Output;
use super::name::{cell, visible};
use super::options::{Format, Progress};
use super::terminal::Escapes;
use super::trace::{self, Input};
use crate::process::Status;

/// Show the contents of a trace, the summary of a replay or a memory image
///
/// Reads only the index and the contents of a binary trace, or the manifest of an image. A text trace is read whole. A
/// binary trace is mapped: it must not change or become shorter while it is read. A summary is shown as `replay` shows
/// it, also that of a shard.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload show app.wlt
  warpload show kernelslist.g
  warpload show summary.json
  warpload show memory.json")]
pub(crate) struct Arguments {
    /// A trace of any kind, the JSON summary of a replay, or the manifest of an image
    file: PathBuf,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Names of instructions other than loads.
const OTHER_KINDS: [(OperationKind, &str); 5] = [
    (OperationKind::Store, "stores"),
    (OperationKind::Atomic, "atomics"),
    (OperationKind::Copy, "copies"),
    (OperationKind::Transfer, "transfers"),
    (OperationKind::Other, "others"),
];

#[derive(serde::Serialize)]
struct ImageJson {
    kind: &'static str,
    address_bits: u32,
    bytes: u64,
    global: Vec<AllocationJson>,
    shared: usize,
    local_low_per_lane: usize,
    local_high_per_lane: usize,
    constant: Vec<BankJson>,
}

#[derive(serde::Serialize)]
struct AllocationJson {
    base: String,
    bytes: u64,
}

#[derive(serde::Serialize)]
struct BankJson {
    bank: u8,
    bytes: usize,
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let path = &arguments.file;
    let input = Input::new(path)?;
    match input.kind() {
        Some(FileKind::Summary | FileKind::ShardSummary) => {
            return show_summary(&compare::parse(&input.text()?, path)?, arguments.format, output);
        }
        Some(FileKind::Manifest) => {
            return show_image(&input.manifest()?.layout()?, arguments.format, output);
        }
        // A trace, or a file that opening it as a trace refuses by its kind.
        _ => {}
    }
    let kind = if input.is_binary() { "binary trace by" } else { "text trace, read by" };
    let trace = input.open(progress, trace::threads(None))?;
    show_trace(&trace, kind, arguments.format, output)
}

fn show_summary(summary: &Summary, format: Format, output: &mut Output) -> anyhow::Result<Status> {
    if let Some(shard) = &summary.shard {
        output.note(format_args!("the summary of {shard}; `warpload merge` adds the others"))?;
    }
    match format {
        Format::Text => {
            let text = replay_text(&summary.by_kernel(), TableRows::default(), "");
            output.bytes(text.as_bytes(), Escapes::Text)?;
        }
        Format::Json => output.json(summary)?,
    }
    Ok(Status::Done)
}

/// The opcodes, and the number of SPA 5.0 ones.
fn opcode_lines(opcodes: &BTreeSet<OpcodeOverview<'_>>) -> String {
    let texts: BTreeSet<&str> = opcodes.iter().map(|opcode| opcode.opcode).collect();
    let texts: Vec<String> = texts.into_iter().map(cell).collect();
    let exact = opcodes.iter().filter(|opcode| opcode.word.is_some()).count();
    match exact {
        _ if texts.is_empty() => "none".to_owned(),
        0 => texts.join(", "),
        _ => format!("{} ({exact} with the SPA 5.0 word of the opcode)", texts.join(", ")),
    }
}

/// `2 x 3 x 4`; zeros if the trace does not say.
fn dimensions(dimensions: [u32; 3]) -> String {
    match dimensions {
        [0, 0, 0] => "unknown".to_owned(),
        [x, y, z] => format!("{x} x {y} x {z}"),
    }
}

fn show_trace(
    trace: &BinaryTrace,
    kind: &str,
    format: Format,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let overview = trace.overview();
    if format == Format::Json {
        output.json(&overview)?;
        return Ok(Status::Done);
    }
    output.line(format_args!("{kind} {}", visible(overview.source)))?;
    if !overview.tools.is_empty() {
        let tools: Vec<_> = overview.tools.iter().map(|tool| visible(tool)).collect();
        output.line(format_args!("made by {}", tools.join(", ")))?;
    }
    for note in overview.notes {
        output.line(format_args!("note: {}", visible(note)))?;
    }
    output.line(format_args!(
        "instructions {}, loads {}, storage blocks {}, allocations {}",
        overview.instructions, overview.loads, overview.blocks, overview.allocations
    ))?;
    output.line(format_args!("content hash {}", overview.content_hash))?;
    output.line(format_args!("opcodes {}", opcode_lines(&overview.opcodes)))?;
    for (kind, name) in OTHER_KINDS {
        let opcodes = overview.others.iter().filter(|other| other.kind == kind);
        let opcodes: Vec<String> = opcodes.map(|other| cell(other.opcode)).collect();
        if !opcodes.is_empty() {
            output.line(format_args!("{name} {}", opcodes.join(", ")))?;
        }
    }
    for kernel in &overview.kernels {
        let KernelOverview { name, grid, block, instructions, loads, .. } = *kernel;
        let name = if name.is_empty() { "without a name".to_owned() } else { cell(name) };
        output.line(format_args!(
            "kernel {name}: grid {}, block {}, instructions {instructions}, loads {loads}",
            dimensions(grid),
            dimensions(block)
        ))?;
    }
    Ok(Status::Done)
}

fn show_image(layout: &ImageLayout, format: Format, output: &mut Output) -> anyhow::Result<Status> {
    let allocation = |known: &Allocation| AllocationJson {
        base: format!("{:#x}", known.base),
        bytes: known.size,
    };
    let bank = |known: &ConstantBank| BankJson { bank: known.bank, bytes: known.bytes.len() };
    let regions = &layout.regions;
    let image = ImageJson {
        kind: "image",
        address_bits: layout.map.address_bits(),
        bytes: layout.bytes,
        global: regions.global.iter().map(allocation).collect(),
        shared: regions.shared.len(),
        local_low_per_lane: regions.local_low.bytes_per_lane,
        local_high_per_lane: regions.local_high.bytes_per_lane,
        constant: regions.constant.iter().map(bank).collect(),
    };
    if format == Format::Json {
        output.json(&image)?;
        return Ok(Status::Done);
    }
    output.line(format_args!(
        "memory image: {} bytes, addresses of {} bits",
        image.bytes, image.address_bits
    ))?;
    for AllocationJson { base, bytes } in &image.global {
        output.line(format_args!("global  {base}  {bytes} bytes"))?;
    }
    output.line(format_args!("shared  {} bytes", image.shared))?;
    output.line(format_args!(
        "local   {} + {} bytes a lane",
        image.local_low_per_lane, image.local_high_per_lane
    ))?;
    for BankJson { bank, bytes } in &image.constant {
        output.line(format_args!("constant bank {bank:#x}  {bytes} bytes"))?;
    }
    Ok(Status::Done)
}
