//! Reads CUTracer's NDJSON in batches of lines. Each line is an object that describes a kernel or a memory access.

use std::path::Path;
use std::sync::Arc;

use memchr::memmem;

use super::json::{Json, Wrong};
use super::line::{AccessRecord, Fields, Line, Opcode, Type, keeps_nothing, opcode, words};
use super::metadata::{Invalid, Metadata};
use crate::binary::{NO_END_MARK, NewRecord, WarpPosition};
use crate::import::error::ImportError;
use crate::import::formats::{Format, FormatReader, Sign, first_line};
use crate::import::interner::{InternedOperation, Refused};
use crate::import::lines::{End, LineBatch};
use crate::import::logs::{Begun, Launches, UNMASKED_NOTE, Unmasked};
use crate::import::sink::Sink;
use crate::import::text::Text;
use crate::operation::{MemoryOperation, OperationKind};
use crate::ordered::{self, Chunk};
use warpload::lane::LANES;
use warpload_binary::lines::{LineError, Lines};

/// The maximum length of a line in bytes. A kernel's line has the texts of all its instructions.
const MAX_LINE_BYTES: usize = 8 << 20;

pub(in crate::import) const FORMAT: Format =
    Format { name: "CUTracer's NDJSON", recognize, reader: FormatReader::Trace(read) };

/// The first object has a type. For a kernel `instructions` suffices, because the type may lie beyond the inspected
/// start.
fn recognize(start: &[u8]) -> Option<Sign> {
    let line = first_line(start);
    let has = |key: &str| memmem::find(line, key.as_bytes()).is_some();
    // Only a key is followed by a colon; other JSON may have the same text as a value.
    let mut types = memmem::find_iter(line, "\"type\"").map(|at| line[at..].split_at(6).1);
    let has_type = types.any(|rest| rest.trim_ascii_start().starts_with(b":"));
    let is_one = line.starts_with(b"{")
        && (has_type || has("\"instructions\":{"))
        && !line.starts_with(b"{\"trace\":");
    is_one.then_some(Sign::Certain)
}

fn read(
    input: &mut Text<'_>,
    file: &Path,
    threads: usize,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    sink.tool(TOOL.to_owned())?;
    let mut reader = Reader::new(sink);
    let mut lines = Lines::with_limit(input, MAX_LINE_BYTES);
    let at = |line, column, message| {
        Err(ImportError::Line { file: file.to_owned(), line, column, message })
    };
    let take = |batch: &mut Batch| {
        reader.take(batch).or_else(|(line, stop)| match stop {
            Stop::Line(Wrong { at: before, message }) => at(line, before + 1, message.into_owned()),
            Stop::Refused(Refused::Name(error)) => at(line, 1, error.to_string()),
            Stop::Refused(Refused::Import(error)) => Err(error),
        })
    };
    let mut fields: Vec<Fields> = (0..threads).map(|_| Fields::default()).collect();
    let fill = |batch: &mut Batch| batch.lines.fill_with_whole(&mut lines);
    let read = |fields: &mut Fields, batch: &mut Batch| batch.read(fields);
    let end = ordered::map(&mut fields, fill, read, take)?;
    match end.unwrap_or(End::Whole) {
        End::Whole => reader.end(),
        End::Cut(line) => Err(ImportError::cut_off(file, line, 1)),
        End::Unreadable(LineError::TooLong { line, .. }) => {
            at(line, 1, format!("a line of more than {MAX_LINE_BYTES} bytes"))
        }
        End::Unreadable(error) => Err(ImportError::in_lines(file, error)),
    }
}

/// The reason why reading stops.
enum Stop {
    Line(Wrong),
    Refused(Refused),
}

impl From<Wrong> for Stop {
    fn from(wrong: Wrong) -> Self {
        Self::Line(wrong)
    }
}

impl From<Refused> for Stop {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl From<Invalid> for Stop {
    fn from(invalid: Invalid) -> Self {
        match invalid {
            Invalid::Line(wrong) => Self::Line(wrong),
            Invalid::Name(error) => Self::Refused(error.into()),
        }
    }
}

struct Reader<'r, 's> {
    sink: &'r mut Sink<'s>,
    launches: Launches,
    /// The kernel described last.
    kernel: Option<Metadata>,
    lanes: Unmasked,
    values: Vec<u32>,
    records: u64,
    /// Lines of unknown types.
    unknown: u64,
    /// Records with a memory space that differs from their opcode's.
    elsewhere: u64,
}

impl<'r, 's> Reader<'r, 's> {
    fn new(sink: &'r mut Sink<'s>) -> Self {
        Self {
            sink,
            launches: Launches::default(),
            kernel: None,
            lanes: Unmasked::default(),
            values: Vec::new(),
            records: 0,
            unknown: 0,
            elsewhere: 0,
        }
    }

    /// Takes the contents of a batch.
    ///
    /// # Errors
    /// Returns the number of the first invalid line.
    fn take(&mut self, batch: &mut Batch) -> Result<(), (u64, Stop)> {
        let mut kernels = batch.kernels.iter().copied().peekable();
        for found in &batch.accesses {
            while let Some(line) = kernels.next_if(|line| *line < found.line) {
                self.kernel(batch, line)?;
            }
            let text = batch.line(found.line);
            let values = batch.values.get(found.values..).unwrap_or_default();
            let taken = self.access(text, &found.access, &found.addresses, values);
            taken.map_err(|stop| (batch.number(found.line), stop))?;
        }
        for line in kernels {
            self.kernel(batch, line)?;
        }
        self.unknown += batch.unknown;
        match batch.error.take() {
            Some((line, wrong)) => Err((batch.number(line), wrong.into())),
            None => Ok(()),
        }
    }

    fn kernel(&mut self, batch: &Batch, line: usize) -> Result<(), (u64, Stop)> {
        // Frees the previous table first, so that only one is in memory.
        self.kernel = None;
        let read = Metadata::read(Json::new(batch.line(line)), self.sink);
        self.kernel = Some(read.map_err(|invalid| (batch.number(line), invalid.into()))?);
        Ok(())
    }

    /// Takes an access from a line. `values` begin with the access's own.
    fn access(
        &mut self,
        line: &str,
        access: &AccessRecord,
        addresses: &[u64; LANES],
        values: &[u32],
    ) -> Result<(), Stop> {
        let named = self.kernel.as_ref().map(|metadata| &metadata.kernel);
        let launch = self.launches.select(self.sink, access.launch, named)?;
        let (interned, keeps_nothing) = self.operation(line, access.opcode)?;
        let operation = &interned.operation;
        let place = WarpPosition {
            cta: Some(access.cta),
            warp: warp_in_block(&launch, access.cta, access.warp),
            ..WarpPosition::default()
        };
        self.sink.place(place);
        if let Some(named) = access.memory_space {
            let is_elsewhere = memory_space(operation).is_some_and(|own| own != named);
            self.elsewhere += u64::from(is_elsewhere);
        }
        let (mask, addresses) = self.lanes.active(addresses);
        let mut record = NewRecord::new(access.pc, mask, interned.number, addresses);
        if let Some(size) = access.size {
            record.is_valued = true;
            record.width_disagrees = operation.matrices.is_none()
                && operation.bytes().is_some_and(|bytes| bytes != size);
            let (registers, words) = (operation.registers() as usize, words(size));
            let are_in_memory = operation.space_name() == "shared";
            let says_them = match operation.kind {
                // The tool reads memory at the row's address rather than the values that the lane received.
                OperationKind::Load if operation.matrices.is_some() => false,
                // A load to `RZ` is written with zeros.
                OperationKind::Load => are_in_memory || !keeps_nothing,
                OperationKind::Store => true,
                _ => false,
            };
            if says_them && registers == words {
                self.values.clear();
                for register in 0..registers {
                    let of_lane = |lane| values.get(lane * words + register).copied();
                    self.values.extend(mask.lanes().filter_map(of_lane));
                }
                if are_in_memory {
                    self.values.iter_mut().for_each(|value| *value = loaded(*value, operation));
                }
                record.values = Some(&self.values);
            }
        }
        self.records += 1;
        Ok(self.sink.record(&record).map_err(Refused::from)?)
    }

    /// The operation of an instruction, and whether its first register is `RZ`.
    #[inline]
    fn operation(
        &mut self,
        line: &str,
        instruction: Opcode,
    ) -> Result<(Arc<InternedOperation>, bool), Stop> {
        match instruction {
            Opcode::Sass(at) => {
                let from = Json::at(line, at);
                let mut json = from;
                let sass = json.text()?;
                let Some(opcode) = opcode(&sass) else { return Ok(from.wrong("no opcode")?) };
                Ok((Arc::clone(self.sink.operation(opcode)?), keeps_nothing(&sass)))
            }
            Opcode::Number(id, at) => {
                let json = Json::at(line, at);
                let Some(kernel) = &mut self.kernel else { return Ok(json.wrong(NO_TABLE)?) };
                let Some((instruction, opcode)) = kernel.instruction(id) else {
                    let message = format!("no instruction {id} in the kernel's `instructions`");
                    return Ok(json.wrong(message)?);
                };
                let operation = match &mut instruction.operation {
                    Some(operation) => operation,
                    none => none.insert(Arc::clone(self.sink.operation(opcode)?)),
                };
                Ok((Arc::clone(operation), instruction.keeps_nothing))
            }
        }
    }

    fn end(self) -> Result<(), ImportError> {
        let Self { sink, unknown, elsewhere, records, .. } = self;
        if unknown > 0 {
            sink.note(format!("{unknown} lines of unknown types were skipped"))?;
        }
        if elsewhere > 0 {
            sink.note(format!(
                "{elsewhere} records have another `mem_space` than their opcode; the opcode counts"
            ))?;
        }
        sink.note(if records > 0 { UNMASKED_NOTE } else { NO_RECORD }.to_owned())?;
        sink.end_is_unknown(NO_END_MARK)
    }
}

const TOOL: &str = "CUTracer";

const NO_RECORD: &str = "no memory access in the source: nothing was imported";

const NO_TABLE: &str = "no `sass`, and no `kernel_metadata` line before that has the instructions";

/// A warp's number in its thread block, given its number in the grid; `None` if the launch's shape is unknown or does
/// not match.
fn warp_in_block(launch: &Begun, cta: [u32; 3], warp: u32) -> Option<u32> {
    let [width, height, _] = launch.grid.map(u64::from);
    let [x, y, z] = cta.map(u64::from);
    let threads = launch.block.map(u64::from).into_iter().try_fold(1, u64::checked_mul)?;
    let warps = threads.div_ceil(32);
    let block = z.checked_mul(height)?.checked_add(y)?.checked_mul(width)?.checked_add(x)?;
    let warp = u64::from(warp).checked_sub(block.checked_mul(warps)?)?;
    u32::try_from(warp).ok().filter(|_| warp < warps)
}

/// NVBit's number for the memory space of an instruction, if the opcode has one.
fn memory_space(operation: &MemoryOperation) -> Option<u64> {
    match (operation.kind, operation.space_name()) {
        (OperationKind::Copy, _) => Some(6),
        (OperationKind::Load | OperationKind::Store, "local") => Some(1),
        (OperationKind::Load | OperationKind::Store, "generic") => Some(2),
        (OperationKind::Load | OperationKind::Store, "global") => Some(3),
        (OperationKind::Load | OperationKind::Store, "shared") => Some(4),
        (OperationKind::Load | OperationKind::Store, "constant") => Some(5),
        _ => None,
    }
}

/// The register after a load of `value`, four bytes read from memory.
fn loaded(value: u32, operation: &MemoryOperation) -> u32 {
    match (operation.width.bytes(), operation.signed) {
        (1, false) => u32::from(value as u8),
        (1, true) => value as u8 as i8 as u32,
        (2, false) => u32::from(value as u16),
        (2, true) => value as u16 as i16 as u32,
        _ => value,
    }
}

/// Consecutive lines, and their parsed contents.
#[derive(Default)]
struct Batch {
    lines: LineBatch,
    accesses: Vec<BatchAccess>,
    /// The lines with kernels, counted from 0.
    kernels: Vec<usize>,
    /// The values of all accesses, one after another.
    values: Vec<u32>,
    /// Lines of unknown types.
    unknown: u64,
    /// The line at which reading stopped, and the error.
    error: Option<(usize, Wrong)>,
}

/// A memory access.
struct BatchAccess {
    /// Its line in the batch, counted from 0.
    line: usize,
    access: AccessRecord,
    addresses: [u64; LANES],
    /// The position of its first value.
    values: usize,
}

impl Chunk for Batch {
    fn len(&self) -> usize {
        self.lines.len()
    }
}

impl Batch {
    /// The file's number of a line of the batch.
    fn number(&self, line: usize) -> u64 {
        self.lines.number(line)
    }

    fn line(&self, line: usize) -> &str {
        self.lines.line(line)
    }

    /// Parses the lines up to the first invalid one.
    fn read(&mut self, fields: &mut Fields) {
        self.accesses.clear();
        self.kernels.clear();
        self.values.clear();
        (self.unknown, self.error) = (0, None);
        for line in 0..self.lines.count() {
            match fields.read(self.line(line)) {
                Ok(Line::Memory(access)) => {
                    let (addresses, values) = (fields.addresses, self.values.len());
                    if access.size.is_some() {
                        self.values.extend_from_slice(fields.values());
                    }
                    self.accesses.push(BatchAccess { line, access, addresses, values });
                }
                Ok(Line::Kernel) => self.kernels.push(line),
                Ok(Line::Other(name)) => self.unknown += u64::from(name == Type::Unknown),
                Err(wrong) => {
                    self.error = Some((line, wrong));
                    return;
                }
            }
        }
    }
}
