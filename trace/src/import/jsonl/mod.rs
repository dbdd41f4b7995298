//! Reads the JSON lines that warpload exports (docs/trace-jsonl.md).

mod lines;

use std::path::Path;
use std::sync::Arc;

use self::lines::{About, Hex, KernelLine, RecordLine, Skipped, TraceLine, Wrong};
use super::error::ImportError;
use super::formats::{Format, FormatReader, Sign};
use super::interner::InternedOperation;
use super::sink::Sink;
use super::text::Text;
use crate::binary::{Kernel, NewRecord, RecordAddresses, WarpPosition};
use crate::export::{VERSION, kind_name};
use crate::operation::OperationKind;
use warpload::lane::LaneMask;
use warpload_binary::lines::Lines;

pub(super) const FORMAT: Format =
    Format { name: "an export of warpload", recognize, reader: FormatReader::Trace(read) };

fn recognize(start: &[u8]) -> Option<Sign> {
    start.starts_with(b"{\"trace\":").then_some(Sign::Certain)
}

fn read(
    input: &mut Text<'_>,
    file: &Path,
    _threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let mut lines = Lines::new(input);
    let mut reader = None;
    let mut number = 1;
    while let Some(line) = lines.next_line() {
        let line = line.map_err(|error| ImportError::in_lines(file, error))?;
        number = line.number;
        let read = match &mut reader {
            None => Reader::begin(sink, line.text).map(|begun| reader = Some(begun)),
            Some(reader) => {
                reader.number = number;
                reader.line(sink, line.text)
            }
        };
        read.map_err(|wrong| wrong.at(file, number))?;
    }
    if !lines.line_ended() {
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
        for tool in tools {
            sink.tool(tool)?;
        }
        for note in notes {
            sink.note(note)?;
        }
        if complete != Some(true) {
            sink.end_is_unknown(None)?;
        }
        sink.allocations(allocations.into_iter().map(|(base, bytes)| (base.0, bytes)).collect())?;
        Ok(Self {
            number: 1,
            records,
            next: 0,
            kernels: Vec::new(),
            current: 0,
            operation: None,
            addresses: Vec::new(),
            values: Vec::new(),
        })
    }

    fn line(&mut self, sink: &mut Sink<'_>, text: &str) -> Result<(), Wrong> {
        if text.starts_with("{\"record\":") {
            self.record(sink, serde_json::from_str(text)?)
        } else if text.starts_with("{\"kernel\":") {
            self.kernel(sink, serde_json::from_str(text)?)
        } else {
            Err("expected a line that begins with `{\"record\":` or `{\"kernel\":`".into())
        }
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
        let mut header = Vec::new();
        for (key, value) in &line.header {
            header.push((sink.name(key)?, sink.name(value)?));
        }
        let kernel = Kernel {
            name: sink.name(&line.name)?,
            grid: line.grid.unwrap_or_default(),
            block: line.block.unwrap_or_default(),
            shared_base: line.windows.shared.map(|base| base.0),
            local_base: line.windows.local.map(|base| base.0),
            header,
            source_lines: Vec::new(),
        };
        sink.kernel(kernel)?;
        sink.source_lines(&line.source_lines.into_iter().collect())?;
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
