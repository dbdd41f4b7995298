//! Reads the JSON lines that warpload exports (docs/trace-jsonl.md).

mod lines;

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use self::lines::{About, Hex, KernelLine, ListLine, RecordLine, Skipped, TraceLine, Wrong};
use super::error::ImportError;
use super::formats::{Format, FormatReader, Sign};
use super::interner::InternedOperation;
use super::lines::for_each_line;
use super::sink::Sink;
use super::text::Text;
use super::{MAX_HEADER_LINES, MAX_SOURCE_LINES, too_many};
use crate::binary::{Kernel, NewRecord, RecordAddresses, WarpPosition};
use crate::export::{VERSION, kind_name};
use crate::operation::OperationKind;
use warpload::lane::LaneMask;

pub(super) const FORMAT: Format =
    Format { name: "an export of warpload", recognize, reader: FormatReader::Trace(read) };

fn recognize(start: &[u8]) -> Option<Sign> {
    start.starts_with(b"{\"trace\":").then_some(Sign::Certain)
}

fn read(
    input: &mut Text<'_>,
    file: &Path,
    threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let mut reader = None;
    let mut number = 1;
    let is_cut = for_each_line(input, file, threads, |line, text| {
        number = line;
        let read = match &mut reader {
            None => Reader::begin(sink, text).map(|begun| reader = Some(begun)),
            Some(reader) => {
                reader.number = number;
                reader.line(sink, text)
            }
        };
        read.map_err(|wrong| wrong.at(file, number))
    })?;
    if is_cut {
        return Err(ImportError::cut_off(file, number, 1));
    }
    let Some(reader) = reader else { return Ok(()) };
    reader.end(sink).map_err(|wrong| wrong.at(file, number))
}

/// Reads all lines after the first.
struct Reader {
    /// The number of the current line.
    number: u64,
    /// The number of instructions in the trace, and of instructions read or skipped so far.
    records: u64,
    next: u64,
    /// Each kernel's counts of other instructions than loads: as stated in its line, and so far.
    kernels: Vec<(Skipped, Skipped)>,
    current: usize,
    /// The header and the source lines of the next kernel, as far as they have lines of their own.
    header: Vec<(Arc<str>, Arc<str>)>,
    source_lines: FxHashMap<u32, u32>,
    /// A cache of the last operation, because consecutive lines often have the same opcode.
    operation: Option<Arc<InternedOperation>>,
    addresses: Vec<u64>,
    values: Vec<u32>,
}

impl Reader {
    fn begin(sink: &mut Sink<'_>, text: &str) -> Result<Self, Wrong> {
        let TraceLine { trace } = serde_json::from_str(text)?;
        let About { version, tools, allocations, records, complete, notes } = trace;
        if version != VERSION {
            return Err(format!("version {version} of the export; expected {VERSION}").into());
        }
        if complete != Some(true) {
            sink.end_is_unknown(None)?;
        }
        let mut reader = Self {
            number: 1,
            records,
            next: 0,
            kernels: Vec::new(),
            current: 0,
            header: Vec::new(),
            source_lines: FxHashMap::default(),
            operation: None,
            addresses: Vec::new(),
            values: Vec::new(),
        };
        for list in
            [ListLine::Tools(tools), ListLine::Notes(notes), ListLine::Allocations(allocations)]
        {
            reader.list(sink, list)?;
        }
        Ok(reader)
    }

    fn line(&mut self, sink: &mut Sink<'_>, text: &str) -> Result<(), Wrong> {
        if text.starts_with("{\"record\":") {
            self.record(sink, serde_json::from_str(text)?)
        } else if text.starts_with("{\"kernel\":") {
            self.kernel(sink, serde_json::from_str(text)?)
        } else if LISTS.iter().any(|list| text.starts_with(list)) {
            self.list(sink, serde_json::from_str(text)?)
        } else {
            Err("expected a line that begins with `{\"record\":` or `{\"kernel\":`".into())
        }
    }

    fn list(&mut self, sink: &mut Sink<'_>, list: ListLine) -> Result<(), Wrong> {
        match list {
            ListLine::Tools(tools) => tools.into_iter().try_for_each(|tool| sink.tool(tool))?,
            ListLine::Notes(notes) => notes.into_iter().try_for_each(|note| sink.note(note))?,
            ListLine::Allocations(list) => {
                sink.allocations(list.into_iter().map(|(base, bytes)| (base.0, bytes)).collect())?;
            }
            ListLine::Header(header) => {
                for (key, value) in &header {
                    self.header.push((sink.name(key)?, sink.name(value)?));
                }
                if self.header.len() > MAX_HEADER_LINES {
                    return Err(too_many(MAX_HEADER_LINES, "header lines").into());
                }
            }
            // The import leaves out those beyond its limit, and says so.
            ListLine::SourceLines(_) if self.source_lines.len() > MAX_SOURCE_LINES => {}
            ListLine::SourceLines(lines) => self.source_lines.extend(lines),
        }
        Ok(())
    }

    /// Skips the instructions before record `to` that have no line.
    fn skip_to(&mut self, sink: &mut Sink<'_>, to: u64) -> Result<(), Wrong> {
        let Some(count) = to.checked_sub(self.next) else {
            return Err(format!(
                "record {to} after record {}; expected ascending records",
                self.next
            )
            .into());
        };
        if to > self.records {
            let all = self.records;
            return Err(format!("record {to}; the first line says that there are {all}").into());
        }
        if count == 0 {
            return Ok(());
        }
        let Some((_, seen)) = self.kernels.get_mut(self.current) else {
            return Err("instructions before the first kernel".into());
        };
        seen.other += count;
        self.next = to;
        Ok(sink.skip(count, self.number)?)
    }

    fn kernel(&mut self, sink: &mut Sink<'_>, line: KernelLine) -> Result<(), Wrong> {
        self.skip_to(sink, line.record)?;
        // Dropped, because the opcode may have another meaning in the next kernel.
        self.operation = None;
        let number = line.kernel;
        let known = self.kernels.len() as u64;
        if line.continued {
            if number >= known {
                return Err(format!("kernel {number} goes on before it begins").into());
            }
            sink.close_block()?;
            sink.select(number as u32)?;
            self.current = number as usize;
            return Ok(());
        }
        if number != known {
            return Err(format!("kernel {number}; expected kernel {known}").into());
        }
        if !self.kernels.is_empty() {
            sink.close_block()?;
        }
        self.list(sink, ListLine::Header(line.header))?;
        self.source_lines.extend(line.source_lines);
        let kernel = Kernel {
            name: sink.name(&line.name)?,
            grid: line.grid.unwrap_or_default(),
            block: line.block.unwrap_or_default(),
            shared_base: line.windows.shared.map(|base| base.0),
            local_base: line.windows.local.map(|base| base.0),
            header: std::mem::take(&mut self.header),
            source_lines: Vec::new(),
        };
        sink.kernel(kernel)?;
        sink.source_lines(&std::mem::take(&mut self.source_lines))?;
        self.current = self.kernels.len();
        self.kernels.push((line.skipped, Skipped::default()));
        Ok(())
    }

    fn record(&mut self, sink: &mut Sink<'_>, line: RecordLine<'_>) -> Result<(), Wrong> {
        if line.record >= self.records {
            let (record, all) = (line.record, self.records);
            return Err(format!("record {record}; the first line says that there are {all}").into());
        }
        self.skip_to(sink, line.record)?;
        let known = match &self.operation {
            Some(known) if known.operation.opcode[..] == *line.opcode => known,
            _ => self.operation.insert(Arc::clone(sink.operation(&line.opcode)?)),
        };
        let (operation, number) = (&known.operation, known.number);
        let (kind, registers) = (operation.kind, operation.registers() as usize);
        let bytes = line.transfers.map_or(operation.bytes().map(u64::from), |_| line.bytes);
        let said = (&*line.kind, &*line.space, line.bytes);
        if said != (kind_name(kind), operation.space_name(), bytes) {
            return Err(
                format!("`kind`, `space` and `bytes` contradict {}", operation.opcode).into()
            );
        }
        let mask = line.active.mask("active")?;
        let addresses = read_addresses(&line, kind, mask, &mut self.addresses)?;
        read_values(&line, registers, mask, &mut self.values)?;
        let RecordLine { cta, warp, cluster, index, .. } = line;
        let place = WarpPosition { cta, warp, cluster, index };
        sink.place(place);
        let mask_of = |mask: Option<Hex>, what| mask.map(|mask| mask.mask(what)).transpose();
        sink.record(&NewRecord {
            pc: line.pc.small("pc")?,
            mask,
            operation: number,
            addresses,
            plg: mask_of(line.plg, "plg")?,
            guard: mask_of(line.guard, "guard")?,
            values: line.values.is_some().then_some(&*self.values),
            is_valued: line.valued,
            width_disagrees: line.width_disagrees,
        })?;
        self.next += 1;
        if let Some((_, seen)) = self.kernels.get_mut(self.current) {
            match kind {
                OperationKind::Load => {}
                OperationKind::Store => seen.store += 1,
                OperationKind::Atomic => seen.atomic += 1,
                _ => seen.other += 1,
            }
        } else {
            return Err("a record before the first kernel".into());
        }
        Ok(())
    }

    /// Checks that the file is complete.
    fn end(mut self, sink: &mut Sink<'_>) -> Result<(), Wrong> {
        self.skip_to(sink, self.records)?;
        for (number, (said, seen)) in self.kernels.iter().enumerate() {
            if said != seen {
                return Err(format!(
                    "kernel {number} has {} stores, {} atomics and {} others; its line says {}, {} and \
                     {}: the file is cut off or incomplete",
                    seen.store, seen.atomic, seen.other, said.store, said.atomic, said.other
                )
                .into());
            }
        }
        Ok(())
    }
}

/// The beginnings of lines that continue a list.
const LISTS: [&str; 5] =
    ["{\"tools\":", "{\"notes\":", "{\"allocations\":", "{\"header\":", "{\"source_lines\":"];

/// Reads the addresses of a line's active lanes into `list`.
fn read_addresses<'l>(
    line: &RecordLine<'_>,
    kind: OperationKind,
    mask: LaneMask,
    list: &'l mut Vec<u64>,
) -> Result<RecordAddresses<'l>, Wrong> {
    let lanes = match (&line.addresses, line.transfers) {
        (None, Some(count)) if kind == OperationKind::Transfer => {
            return Ok(RecordAddresses::Transfer { count, bytes: line.bytes.unwrap_or(0) });
        }
        (_, Some(_)) => return Err("`transfers` of an instruction that has lanes".into()),
        (None, None) => return Ok(RecordAddresses::Unknown),
        (Some(lanes), None) => lanes,
    };
    list.clear();
    for (lane, address) in lanes.iter().enumerate() {
        if address.is_some() != mask.contains(lane) {
            return Err(format!("`addresses` and `active` disagree in lane {lane}").into());
        }
        list.extend(address.map(|address| address.0));
    }
    Ok(RecordAddresses::List(list))
}

/// Sets `values` to the active lanes' values, register by register; empty if the line has none.
fn read_values(
    line: &RecordLine<'_>,
    registers: usize,
    mask: LaneMask,
    values: &mut Vec<u32>,
) -> Result<(), Wrong> {
    values.clear();
    let Some(lanes) = &line.values else { return Ok(()) };
    for register in 0..registers {
        for (lane, own) in lanes.iter().enumerate() {
            if own.as_ref().map(Vec::len) != mask.contains(lane).then_some(registers) {
                let message =
                    format!("`values` of lane {lane}; expected {registers} for each active lane");
                return Err(message.into());
            }
            if let Some(own) = own {
                values.push(own[register].small("values")?);
            }
        }
    }
    Ok(())
}
