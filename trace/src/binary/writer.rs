//! [`TraceWriter`]: writing a binary trace.

use std::io::{self, Seek, SeekFrom, Write};

use bytemuck::Zeroable;
use rustc_hash::FxHashMap;

use super::contents::{Kernel, TraceContents};
use super::format::{
    BYTE_ORDER, Header, MAGIC, RawBlock, RawInput, RawRecord, RawSection, SectionKind, VERSION,
};
use super::record::{BlockBuilder, ClosedBlock, NewRecord, WarpPosition};
use crate::operation::{MemoryOperation, OperationKind};

/// The note of a trace whose source has no end mark.
pub(crate) const NO_END_MARK: &str =
    "whether the source is whole is unknown: its format has no end mark";

/// Writes a binary trace: kernels and their instructions in order, then [`finish`](Self::finish).
#[derive(Debug)]
pub struct TraceWriter<W> {
    output: W,
    position: u64,
    contents: TraceContents,
    /// Each operation's number.
    operations: FxHashMap<MemoryOperation, u16>,
    index: Vec<RawBlock>,
    /// If they are kept.
    inputs: Option<Vec<RawInput>>,
    records: u64,
    memory_records: u64,
    loads: u64,
    block: BlockBuilder,
}

impl<W: Write + Seek> TraceWriter<W> {
    /// Begins a trace at the start of `output`. `source` says what writes it, and from what.
    ///
    /// # Errors
    /// Returns the errors of `output`.
    pub fn new(mut output: W, source: String) -> io::Result<Self> {
        // The header is written last; until then the file is not a trace.
        output.write_all(&[0; size_of::<Header>()])?;
        Ok(Self {
            output,
            position: size_of::<Header>() as u64,
            contents: TraceContents { source, complete: true, ..TraceContents::default() },
            operations: FxHashMap::default(),
            index: Vec::new(),
            inputs: None,
            records: 0,
            memory_records: 0,
            loads: 0,
            block: BlockBuilder::default(),
        })
    }

    /// Adds a note for readers of results, unless it is there already. After 63 notes further ones
    /// are left out, and a last note says so.
    pub fn note(&mut self, note: &str) {
        self.contents.add_note(note);
    }

    /// Names a tool that made the source, with its version if known, unless it is named already. Tools
    /// beyond the 64th are left out.
    pub fn tool(&mut self, tool: &str) {
        self.contents.add_tool(tool);
    }

    /// Marks the trace as possibly incomplete: the format of its source cannot tell.
    pub fn end_is_unknown(&mut self) {
        self.may_be_cut_off(NO_END_MARK);
    }

    /// Marks the trace as possibly incomplete, with the note that says why, if there is none yet.
    pub(crate) fn may_be_cut_off<'n>(&mut self, why: impl Into<Option<&'n str>>) {
        self.contents.complete = false;
        if let Some(why) = why.into() {
            self.note(why);
        }
    }

    /// Keeps in the trace which files it is [imported](crate::import) from; see
    /// [`BinaryTrace::inputs`](super::BinaryTrace::inputs). Equal traces of different files then differ.
    pub fn keep_inputs(&mut self) {
        self.inputs.get_or_insert_default();
    }

    /// Names a file that the trace is imported from.
    pub(crate) fn input(&mut self, input: RawInput) {
        self.inputs.iter_mut().for_each(|inputs| inputs.push(input));
    }

    /// Adds allocations of device memory: bases and sizes in bytes.
    pub fn allocations(&mut self, allocations: impl IntoIterator<Item = (u64, u64)>) {
        self.contents.allocations.extend(allocations);
    }

    /// Returns the number of an operation, the same for equal ones; `None` if there are more than
    /// 65,536.
    pub fn operation(&mut self, operation: &MemoryOperation) -> Option<u16> {
        self.contents.number(&mut self.operations, operation)
    }

    /// Begins the next kernel, to which the following instructions belong.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn kernel(&mut self, kernel: Kernel) -> io::Result<()> {
        self.close_block()?;
        self.block = BlockBuilder::default();
        if !self.index.is_empty() && self.contents.kernels.is_empty() {
            // The instructions before belong to a kernel without a name.
            self.contents.kernels.push(Kernel::default());
        }
        self.contents.kernels.push(kernel);
        Ok(())
    }

    /// Says whose the following instructions of the kernel are; `None` if the source does not say.
    pub fn place(&mut self, place: Option<WarpPosition>) {
        self.block.place(place);
    }

    /// Counts an instruction without a memory operand.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn skip(&mut self) -> io::Result<()> {
        let full = self.block.skip();
        full.map_or(Ok(()), |block| self.append(self.last_kernel(), &block))
    }

    /// Adds a memory instruction.
    ///
    /// # Errors
    /// Returns the errors of the output, and [`io::ErrorKind::InvalidInput`] if there is no such
    /// operation, or if the mask requires more or fewer addresses or values.
    pub fn record(&mut self, record: &NewRecord<'_>) -> io::Result<()> {
        let operation = self.contents.operations.get(usize::from(record.operation));
        if !operation.is_some_and(|operation| record.fits(operation)) {
            let message = "a record that does not fit its mask, or whose operation has no number";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let full = self.block.record(record);
        full.map_or(Ok(()), |block| self.append(self.last_kernel(), &block))
    }

    fn close_block(&mut self) -> io::Result<()> {
        let rest = self.block.close();
        rest.map_or(Ok(()), |block| self.append(self.last_kernel(), &block))
    }

    /// Returns the number of kernels so far.
    pub(crate) fn kernels(&self) -> usize {
        self.contents.kernels.len()
    }

    /// Adds source lines of a kernel's program counters, which have none so far.
    pub(crate) fn source_lines(&mut self, kernel: u32, lines: Vec<(u32, u32)>) {
        if let Some(kernel) = self.contents.kernels.get_mut(kernel as usize) {
            kernel.source_lines.extend(lines);
        }
    }

    /// Returns the number of the last kernel. A trace in which none was begun has one too.
    fn last_kernel(&self) -> u32 {
        (self.contents.kernels.len().max(1) - 1) as u32
    }

    /// Appends a block of a kernel, with this trace's numbers of operations.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub(crate) fn append(&mut self, kernel: u32, block: &ClosedBlock) -> io::Result<()> {
        let records: &[u8] = bytemuck::cast_slice(&block.records);
        let runs: &[u8] = bytemuck::cast_slice(&block.runs);
        let parts = [records, runs, &block.payload];
        let mut crc = crc32fast::Hasher::new();
        parts.iter().for_each(|part| crc.update(part));
        let kinds = |wanted| {
            let operations = &self.contents.operations;
            let kind =
                |record: &RawRecord| Some(operations.get(usize::from(record.operation))?.kind);
            block.records.iter().filter(|record| kind(record) == Some(wanted)).count() as u32
        };
        let loads = kinds(OperationKind::Load);
        self.index.push(RawBlock {
            offset: self.position,
            first_record: self.records,
            first_memory_record: self.memory_records,
            length: parts.iter().map(|part| part.len()).sum::<usize>() as u32,
            crc: crc.finalize(),
            records: block.count,
            memory_records: block.records.len() as u32,
            kernel,
            loads,
            stores: kinds(OperationKind::Store),
            atomics: kinds(OperationKind::Atomic),
            runs: block.runs.len() as u32,
            reserved: 0,
        });
        self.records += u64::from(block.count);
        self.memory_records += block.records.len() as u64;
        self.loads += u64::from(loads);
        parts.iter().try_for_each(|part| self.write(part))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn section(&mut self, kind: SectionKind, bytes: &[u8]) -> io::Result<RawSection> {
        let section = RawSection {
            kind: kind as u32,
            crc: crc32fast::hash(bytes),
            offset: self.position,
            length: bytes.len() as u64,
        };
        self.write(bytes)?;
        // What follows is aligned to 8 bytes.
        let padding = self.position.next_multiple_of(8) - self.position;
        self.write(&[0; 8][..padding as usize])?;
        Ok(section)
    }

    /// Writes the rest, the header last, and returns the flushed output.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.close_block()?;
        if !self.index.is_empty() && self.contents.kernels.is_empty() {
            self.contents.kernels.push(Kernel::default());
        }
        for kernel in &mut self.contents.kernels {
            kernel.source_lines.sort_unstable();
        }
        let contents = serde_json::to_vec(&self.contents).map_err(io::Error::from)?;
        let index = std::mem::take(&mut self.index);
        let mut sections = vec![
            self.section(SectionKind::Contents, &contents)?,
            self.section(SectionKind::BlockIndex, bytemuck::cast_slice(&index))?,
        ];
        if let Some(inputs) = self.inputs.take() {
            let inputs = self.section(SectionKind::Inputs, bytemuck::cast_slice(&inputs))?;
            sections.push(inputs);
        }
        let mut header = Header {
            magic: MAGIC,
            version: VERSION,
            byte_order: BYTE_ORDER,
            sections_offset: self.position,
            section_count: sections.len() as u32,
            sections_crc: crc32fast::hash(bytemuck::cast_slice(&sections[..])),
            records: self.records,
            loads: self.loads,
            memory_records: self.memory_records,
            ..Header::zeroed()
        };
        header.crc = header_crc(&header);
        self.write(bytemuck::cast_slice(&sections[..]))?;
        self.output.seek(SeekFrom::Start(0))?;
        self.output.write_all(bytemuck::bytes_of(&header))?;
        self.output.flush()?;
        Ok(self.output)
    }
}

/// Returns the CRC-32 of a header's bytes before its `crc`.
pub(super) fn header_crc(header: &Header) -> u32 {
    let bytes = bytemuck::bytes_of(header);
    crc32fast::hash(&bytes[..bytes.len() - size_of::<u32>()])
}
