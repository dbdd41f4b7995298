//! [`export_jsonl`]: writes a binary trace as lines of JSON for other tools (docs/trace-jsonl.md).

use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::binary::{
    BinaryTrace, BlockBuffers, MemoryRecord, RawBlock, TraceBlock, TraceError, WarpPosition,
};
use super::operation::{MemoryOperation, OperationKind};
use warpload::lane::LANES;
use warpload::memory::Width;

/// The default width of a generic address, as on SM 6.x and later.
pub const DEFAULT_ADDRESS_BITS: u32 = 49;

/// The version of the JSON format.
pub(super) const VERSION: u32 = 1;

/// Why a trace could not be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A block is damaged.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The output cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes a trace as lines of JSON: the trace's metadata, and for each kernel its metadata and a line per memory
/// instruction. Importing the lines yields a trace with the same loads. Calls `progress` after each block with the
/// block's length in bytes.
///
/// Instructions without a memory operand are only counted.
///
/// # Errors
/// Returns [`ExportError`] if a block is damaged or the output cannot be written.
pub fn export_jsonl(
    trace: &BinaryTrace,
    output: &mut impl Write,
    progress: impl Fn(u64),
) -> Result<(), ExportError> {
    let skipped = skipped(trace);
    let mut export = Export { trace, output, skipped, line: Vec::new(), current: None, begun: 0 };
    export.first_line()?;
    let mut buffers = BlockBuffers::default();
    for raw in trace.blocks() {
        export.select(raw)?;
        let block = trace.block_in(raw, buffers)?;
        for i in 0..raw.records as usize {
            let record = block.record(i)?;
            export.record(&block, &record)?;
        }
        progress(raw.length.into());
        buffers = block.into_buffers();
    }
    let kernels = trace.contents().kernels.len();
    export.kernels_up_to(kernels, trace.instructions())
}

struct Export<'t, W> {
    trace: &'t BinaryTrace,
    output: &'t mut W,
    /// The counts of other instructions for each kernel.
    skipped: Vec<Skipped>,
    line: Vec<u8>,
    current: Option<usize>,
    /// The number of kernels that have a line.
    begun: usize,
}

#[derive(Serialize)]
struct FirstLine<'t> {
    trace: AboutTrace<'t>,
}

#[derive(Serialize)]
struct AboutTrace<'t> {
    version: u32,
    source: &'t str,
    tools: &'t [String],
    /// Always `null`, because kernels have windows of their own.
    windows: Option<Windows>,
    address_bits: u32,
    allocations: &'t [(String, u64)],
    records: u64,
    complete: Option<bool>,
    notes: &'t [String],
}

#[derive(Serialize)]
struct KernelLine<'t> {
    kernel: usize,
    record: u64,
    name: &'t str,
    grid: Option<[u32; 3]>,
    block: Option<[u32; 3]>,
    skipped: Skipped,
    windows: Windows,
    header: &'t [(Arc<str>, Arc<str>)],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    source_lines: &'t [(u32, u32)],
}

/// Elements of a list that is too long for the line that it belongs to.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ListLine<'t> {
    Tools(&'t [String]),
    Notes(&'t [String]),
    Allocations(&'t [(String, u64)]),
    Header(&'t [(Arc<str>, Arc<str>)]),
    SourceLines(&'t [(u32, u32)]),
}

/// A list of more bytes has lines of its own, because an import limits lines: to eight times as much, and a header line's
/// key and value have up to six times as much.
const LIST_BYTES: usize = 128 << 10;

/// Returns a list as it is if it is short. Otherwise the first part is empty, and the others have up to [`LIST_BYTES`] or
/// one element.
fn divided<T>(list: &[T], bytes: impl Fn(&T) -> usize) -> (&[T], Vec<&[T]>) {
    let (mut parts, mut start, mut sum) = (Vec::new(), 0, 0);
    for (at, one) in list.iter().enumerate() {
        let own = bytes(one);
        if sum + own > LIST_BYTES && at > start {
            parts.push(&list[start..at]);
            (start, sum) = (at, 0);
        }
        sum += own;
    }
    if start == 0 && sum <= LIST_BYTES {
        return (list, parts);
    }
    parts.push(&list[start..]);
    (&[], parts)
}

/// The bytes of a text in JSON, at most.
fn quoted_bytes(text: &str) -> usize {
    let escaped = |byte| if matches!(byte, 0..0x20 | b'"' | b'\\') { 6 } else { 1 };
    text.bytes().map(escaped).sum::<usize>() + 3
}

/// The bytes of a pair of numbers in JSON, at most.
const PAIR_BYTES: usize = 48;

#[derive(Serialize)]
struct Windows {
    shared: Option<String>,
    local: Option<String>,
}

#[derive(Serialize)]
struct ContinuedLine {
    kernel: usize,
    record: u64,
    continued: bool,
}

/// Counts of the instructions that are not loads.
#[derive(Clone, Copy, Default, Serialize)]
struct Skipped {
    store: u64,
    atomic: u64,
    other: u64,
}

fn skipped(trace: &BinaryTrace) -> Vec<Skipped> {
    let mut kernels = vec![Skipped::default(); trace.contents().kernels.len()];
    for raw in trace.blocks() {
        let RawBlock { instructions, loads, stores, atomics, .. } = *raw;
        if let Some(kernel) = kernels.get_mut(raw.kernel as usize) {
            kernel.store += u64::from(stores);
            kernel.atomic += u64::from(atomics);
            kernel.other += u64::from(instructions - loads - stores - atomics);
        }
    }
    kernels
}

impl<W: Write> Export<'_, W> {
    fn first_line(&mut self) -> Result<(), ExportError> {
        let contents = self.trace.contents();
        let allocations = contents.allocations.iter();
        let allocations: Vec<_> = allocations.map(|(base, bytes)| (hex(*base), *bytes)).collect();
        let (tools, more_tools) = divided(&contents.tools, |tool| quoted_bytes(tool));
        let (notes, more_notes) = divided(&contents.notes, |note| quoted_bytes(note));
        let (allocations, more_allocations) = divided(&allocations, |_| PAIR_BYTES);
        let trace = AboutTrace {
            version: VERSION,
            source: &contents.source,
            tools,
            windows: None,
            address_bits: DEFAULT_ADDRESS_BITS,
            allocations,
            records: self.trace.instructions(),
            complete: contents.complete.then_some(true),
            notes,
        };
        self.json(&FirstLine { trace })?;
        let more = more_tools.into_iter().map(ListLine::Tools);
        let more = more.chain(more_notes.into_iter().map(ListLine::Notes));
        let mut more = more.chain(more_allocations.into_iter().map(ListLine::Allocations));
        more.try_for_each(|list| self.json(&list))
    }

    fn json(&mut self, line: &impl Serialize) -> Result<(), ExportError> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line).map_err(io::Error::from)?;
        self.line.push(b'\n');
        self.output.write_all(&self.line)?;
        Ok(())
    }

    /// Writes the lines before a block if its kernel differs from the previous block's.
    fn select(&mut self, raw: &RawBlock) -> Result<(), ExportError> {
        let kernel = raw.kernel as usize;
        if self.current == Some(kernel) {
            return Ok(());
        }
        self.current = Some(kernel);
        if kernel < self.begun {
            let record = raw.first_instruction;
            return self.json(&ContinuedLine { kernel, record, continued: true });
        }
        self.kernels_up_to(kernel + 1, raw.first_instruction)
    }

    /// Writes the missing lines of kernels before number `end`.
    fn kernels_up_to(&mut self, end: usize, record: u64) -> Result<(), ExportError> {
        for number in self.begun..end {
            self.kernel(number, record)?;
        }
        self.begun = self.begun.max(end);
        Ok(())
    }

    fn kernel(&mut self, number: usize, record: u64) -> Result<(), ExportError> {
        let Some(kernel) = self.trace.contents().kernels.get(number) else { return Ok(()) };
        let known = |size: [u32; 3]| (size != [0; 3]).then_some(size);
        let line_bytes =
            |(key, value): &(Arc<str>, Arc<str>)| quoted_bytes(key) + quoted_bytes(value);
        let (header, more_header) = divided(&kernel.header, line_bytes);
        let (source_lines, more_source_lines) = divided(&kernel.source_lines, |_| PAIR_BYTES);
        let more = more_header.into_iter().map(ListLine::Header);
        let mut more = more.chain(more_source_lines.into_iter().map(ListLine::SourceLines));
        more.try_for_each(|list| self.json(&list))?;
        self.json(&KernelLine {
            kernel: number,
            record,
            name: &kernel.name,
            grid: known(kernel.grid),
            block: known(kernel.block),
            skipped: self.skipped.get(number).copied().unwrap_or_default(),
            windows: Windows {
                shared: kernel.shared_base.map(hex),
                local: kernel.local_base.map(hex),
            },
            header,
            source_lines,
        })
    }

    fn record(
        &mut self,
        block: &TraceBlock<'_>,
        record: &MemoryRecord<'_>,
    ) -> Result<(), ExportError> {
        let operation = record.operation();
        let WarpPosition { cta, warp, cluster, index } = block.place(record.index);
        let line = &mut self.line;
        line.clear();
        line.extend_from_slice(b"{\"record\":");
        decimal(line, block.raw().first_instruction + u64::from(record.index));
        line.extend_from_slice(b",\"kind\":\"");
        line.extend_from_slice(kind_name(operation.kind).as_bytes());
        line.extend_from_slice(b"\",\"cta\":");
        triple(line, cta);
        line.extend_from_slice(b",\"warp\":");
        optional(line, warp);
        line.extend_from_slice(b",\"cluster\":");
        triple(line, cluster);
        line.extend_from_slice(b",\"index\":");
        optional(line, index);
        line.extend_from_slice(b",\"pc\":");
        hexadecimal(line, record.pc.into());
        line.extend_from_slice(b",\"opcode\":");
        serde_json::to_writer(&mut *line, &*operation.opcode).map_err(io::Error::from)?;
        line.extend_from_slice(b",\"space\":\"");
        line.extend_from_slice(operation.space_name().as_bytes());
        line.extend_from_slice(b"\",\"bytes\":");
        let transfer = record.transfer();
        match transfer.map(|(_, bytes)| bytes).or(operation.bytes().map(u64::from)) {
            Some(bytes) => decimal(line, bytes),
            None => line.extend_from_slice(NULL),
        }
        for (key, mask) in
            [("active", Some(record.mask)), ("plg", record.plg), ("guard", record.guard)]
        {
            if let Some(mask) = mask {
                line.extend_from_slice(b",\"");
                line.extend_from_slice(key.as_bytes());
                line.extend_from_slice(b"\":");
                hexadecimal(line, mask.bits().into());
            }
        }
        if let Some((count, _)) = transfer {
            line.extend_from_slice(b",\"transfers\":");
            decimal(line, count);
        }
        line.extend_from_slice(b",\"addresses\":");
        addresses(line, record);
        line.extend_from_slice(b",\"values\":");
        let has_values = values(line, record, operation);
        if record.is_valued && !has_values {
            line.extend_from_slice(b",\"valued\":true");
        }
        if record.width_disagrees {
            line.extend_from_slice(b",\"width_disagrees\":true");
        }
        line.extend_from_slice(b"}\n");
        self.output.write_all(line)?;
        Ok(())
    }
}

/// The kind in the export, which distinguishes four kinds.
pub(super) fn kind_name(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Load => "load",
        OperationKind::Store => "store",
        OperationKind::Atomic => "atomic",
        OperationKind::Copy | OperationKind::Transfer | OperationKind::Other => "other",
    }
}

const NULL: &[u8] = b"null";

fn addresses(line: &mut Vec<u8>, record: &MemoryRecord<'_>) {
    if !record.has_addresses() {
        return line.extend_from_slice(NULL);
    }
    let addresses = record.addresses();
    for lane in 0..LANES {
        line.push(if lane == 0 { b'[' } else { b',' });
        if record.mask.contains(lane) {
            hexadecimal(line, addresses.of(lane));
        } else {
            line.extend_from_slice(NULL);
        }
    }
    line.push(b']');
}

/// Writes the registers of each active lane and returns whether they are known.
fn values(line: &mut Vec<u8>, record: &MemoryRecord<'_>, operation: &MemoryOperation) -> bool {
    let mut rows = [[0; LANES]; Width::MAX_REGISTERS];
    let registers = operation.registers() as usize;
    for (register, row) in rows.iter_mut().enumerate().take(registers) {
        let Some(values) = record.values(register) else {
            line.extend_from_slice(NULL);
            return false;
        };
        for (lane, value) in record.mask.lanes().zip(values) {
            row[lane] = value;
        }
    }
    for lane in 0..LANES {
        line.push(if lane == 0 { b'[' } else { b',' });
        if !record.mask.contains(lane) {
            line.extend_from_slice(NULL);
            continue;
        }
        for (register, row) in rows.iter().enumerate().take(registers) {
            line.push(if register == 0 { b'[' } else { b',' });
            hexadecimal(line, row[lane].into());
        }
        line.push(b']');
    }
    line.push(b']');
    true
}

fn hex(value: u64) -> String {
    format!("{value:#x}")
}

/// Writes `"0x…"`.
fn hexadecimal(line: &mut Vec<u8>, value: u64) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    line.extend_from_slice(b"\"0x");
    let digits = (u64::BITS - value.leading_zeros()).div_ceil(4).max(1);
    for i in (0..digits).rev() {
        line.push(DIGITS[(value >> (4 * i) & 15) as usize]);
    }
    line.push(b'"');
}

fn decimal(line: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            return line.extend_from_slice(&digits[start..]);
        }
    }
}

fn optional(line: &mut Vec<u8>, value: Option<u32>) {
    match value {
        Some(value) => decimal(line, value.into()),
        None => line.extend_from_slice(NULL),
    }
}

fn triple(line: &mut Vec<u8>, value: Option<[u32; 3]>) {
    let Some([x, y, z]) = value else { return line.extend_from_slice(NULL) };
    line.push(b'[');
    decimal(line, x.into());
    line.push(b',');
    decimal(line, y.into());
    line.push(b',');
    decimal(line, z.into());
    line.push(b']');
}
