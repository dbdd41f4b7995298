//! [`TraceWriter`]: writing a binary trace.

use std::io::{self, Seek, SeekFrom, Write};

use rustc_hash::FxHashMap;
use twox_hash::XxHash3_128;

use super::block::{BlockEncoder, BlockRecords};
use super::column::{ChunkWriter, Compression};
use super::contents::{ContentHash, Kernel, PtxPlace, SOURCE_KEY, TraceContents, cut};
use super::error::Producer;
use super::file::{Footer, Header, RawBlock};
use super::format::{HEADER_BYTES, MAX_RECORDS_FOR_BYTE};
use super::record::{BlockBuilder, NewRecord, WarpPosition};
use crate::operation::{MemoryOperation, OperationKind};
use crate::ordered::{self, Chunk};

/// The note of a trace that may be incomplete because the source has no end mark.
pub(crate) const NO_END_MARK: &str =
    "whether the source is whole is unknown: its format has no end mark";

/// The limit for encoding threads. More would only wait for the thread that merges the source.
const MAX_THREADS: usize = 8;

/// Writes a binary trace: kernels and their instructions in order, then [`finish`](Self::finish).
#[derive(Debug)]
pub struct TraceWriter<W> {
    output: W,
    /// Collected here, because it is written at the end.
    footer: Footer,
    /// Each operation's number.
    operations: FxHashMap<MemoryOperation, u16>,
    block: BlockBuilder,
    /// Blocks with their kernels. Once there is one for each writer, they are encoded in parallel.
    pending: Vec<(u32, BlockRecords)>,
    /// At least one.
    writers: Vec<BlockWriter>,
    compression: Compression,
    /// The hash of each block.
    hashes: Vec<u8>,
}

/// Encodes blocks and keeps its buffers.
#[derive(Debug)]
struct BlockWriter {
    encoder: BlockEncoder,
    chunks: ChunkWriter,
}

/// A block as stored in the file.
struct EncodedBlock {
    bytes: Vec<u8>,
    hash: ContentHash,
    /// Its index row, without its position in the trace.
    row: RawBlock,
}

impl BlockWriter {
    fn new(compression: Compression) -> Self {
        Self { encoder: BlockEncoder::default(), chunks: ChunkWriter::new(compression) }
    }

    fn encode(
        &mut self,
        kernel: u32,
        block: &BlockRecords,
        operations: &[MemoryOperation],
    ) -> io::Result<EncodedBlock> {
        let mut row = RawBlock {
            instructions: block.count,
            records: block.rows.len() as u32,
            kernel,
            ..RawBlock::default()
        };
        for record in &block.rows {
            let operation = operations.get(usize::from(record.operation));
            match operation.map(|operation| operation.kind) {
                Some(OperationKind::Load) => row.loads += 1,
                Some(OperationKind::Store) => row.stores += 1,
                Some(OperationKind::Atomic) => row.atomics += 1,
                _ => {}
            }
        }
        self.encoder.write(block, &mut self.chunks)?;
        let numbers = [kernel.into(), row.instructions.into(), row.records.into()];
        let hash = self.chunks.hash_with(&numbers);
        let mut bytes = Vec::new();
        let least = (row.records as usize).div_ceil(MAX_RECORDS_FOR_BYTE);
        self.chunks.finish_with(least, &mut bytes);
        (row.length, row.crc) = (bytes.len() as u32, crc32fast::hash(&bytes));
        Ok(EncodedBlock { bytes, hash, row })
    }
}

/// A block, and its encoded form.
#[derive(Default)]
struct BlockJob<'b> {
    block: Option<&'b (u32, BlockRecords)>,
    encoded: Option<io::Result<EncodedBlock>>,
}

impl Chunk for BlockJob<'_> {}

/// Encodes each block once, on as many threads as there are writers.
fn encode_all(
    writers: &mut [BlockWriter],
    blocks: &[(u32, BlockRecords)],
    operations: &[MemoryOperation],
) -> io::Result<Vec<EncodedBlock>> {
    // Encoding a block without records costs less than starting a thread.
    let with_records = blocks.iter().filter(|(_, block)| !block.rows.is_empty()).count();
    let threads = with_records.clamp(1, writers.len().max(1));
    let (mut blocks, mut encoded) = (blocks.iter(), Vec::new());
    ordered::map(
        writers.get_mut(..threads).unwrap_or_default(),
        |job: &mut BlockJob<'_>| {
            job.block = blocks.next();
            job.block.is_none().then_some(())
        },
        |writer, job| {
            job.encoded =
                job.block.map(|(kernel, block)| writer.encode(*kernel, block, operations));
        },
        |job| {
            encoded.extend(job.encoded.take().transpose()?);
            Ok::<_, io::Error>(())
        },
    )?;
    Ok(encoded)
}

impl<W: Write + Seek> TraceWriter<W> {
    /// Begins a trace at the start of `output` with the default compression. `source` names the writing program and its
    /// source.
    ///
    /// # Errors
    /// Returns the errors of `output`.
    pub fn new(output: W, source: String) -> io::Result<Self> {
        Self::with_compression(output, source, Compression::default())
    }

    /// Begins a trace like [`Self::new`], with the given compression.
    ///
    /// # Errors
    /// Returns the errors of `output`.
    pub fn with_compression(
        mut output: W,
        source: String,
        compression: Compression,
    ) -> io::Result<Self> {
        // The header is written last, so that an unfinished file is not taken for a trace.
        output.write_all(&[0; HEADER_BYTES])?;
        let source = cut(&source).to_owned();
        let contents = TraceContents { source, complete: true, ..TraceContents::default() };
        Ok(Self {
            output,
            footer: Footer { contents, ..Footer::default() },
            operations: FxHashMap::default(),
            block: BlockBuilder::default(),
            pending: Vec::new(),
            writers: vec![BlockWriter::new(compression)],
            compression,
            hashes: Vec::new(),
        })
    }

    /// Encodes blocks on up to `threads` threads.
    pub(crate) fn use_threads(&mut self, threads: usize) {
        while self.writers.len() < threads.min(MAX_THREADS) {
            self.writers.push(BlockWriter::new(self.compression));
        }
    }

    /// Adds a note for readers of results, unless it is present. After 63 notes, one last note says that further notes
    /// are left out.
    pub fn note(&mut self, note: &str) {
        self.footer.contents.add_note(note);
    }

    /// Adds a tool that produced the source, with its version if known, unless it is present. Ignores tools after the
    /// 64th.
    pub fn tool(&mut self, tool: &str) {
        self.footer.contents.add_tool(tool);
    }

    /// Marks the trace as possibly incomplete, because the source's format has no end mark.
    pub fn end_is_unknown(&mut self) {
        self.may_be_cut_off(NO_END_MARK);
    }

    /// Marks the trace as possibly incomplete. Adds a note with the reason, if one is given.
    pub fn may_be_cut_off<'n>(&mut self, why: impl Into<Option<&'n str>>) {
        self.footer.contents.complete = false;
        if let Some(why) = why.into() {
            self.note(why);
        }
    }

    /// Adds allocations of device memory: bases and sizes in bytes. Ignores them after the 1,048,576th, with a note.
    pub fn allocations(&mut self, allocations: impl IntoIterator<Item = (u64, u64)>) {
        self.footer.contents.add_allocations(allocations);
    }

    /// Returns the number of an operation; equal operations share one. `None` beyond 65,536 operations.
    pub fn operation(&mut self, operation: &MemoryOperation) -> Option<u16> {
        self.footer.contents.number(&mut self.operations, operation)
    }

    /// Begins the next kernel; the following instructions belong to it.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn kernel(&mut self, kernel: Kernel) -> io::Result<()> {
        self.close_block()?;
        self.block = BlockBuilder::default();
        if self.has_blocks() && self.footer.contents.kernels.is_empty() {
            // The earlier instructions belong to a kernel without a name.
            self.footer.contents.kernels.push(Kernel::default());
        }
        self.footer.contents.kernels.push(kernel);
        Ok(())
    }

    /// Sets the warp of the following instructions of the kernel; `None` if the source does not have it.
    pub fn place(&mut self, place: Option<WarpPosition>) {
        self.block.place(place.unwrap_or_default());
    }

    /// Counts an instruction without a memory operand.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn skip(&mut self) -> io::Result<()> {
        let full = self.block.skip();
        full.map_or(Ok(()), |block| self.append(self.last_kernel(), block))
    }

    /// Adds a memory instruction.
    ///
    /// # Errors
    /// Returns the errors of the output, and [`io::ErrorKind::InvalidInput`] if the operation's number is unknown or
    /// the counts of addresses and values do not match the mask.
    pub fn record(&mut self, record: &NewRecord<'_>) -> io::Result<()> {
        let operation = self.footer.contents.operations.get(usize::from(record.operation));
        if !operation.is_some_and(|operation| record.fits(operation)) {
            let message = "a record that does not fit its mask, or an operation without a number";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let full = self.block.record(record);
        full.map_or(Ok(()), |block| self.append(self.last_kernel(), block))
    }

    fn close_block(&mut self) -> io::Result<()> {
        let rest = self.block.close();
        rest.map_or(Ok(()), |block| self.append(self.last_kernel(), block))
    }

    /// The number of kernels so far.
    pub(crate) fn kernels(&self) -> usize {
        self.footer.contents.kernels.len()
    }

    /// Adds source lines for a kernel's program counters. None of these may have one yet.
    pub(crate) fn source_lines(&mut self, kernel: u32, lines: Vec<(u32, u32)>) {
        if let Some(kernel) = self.footer.contents.kernels.get_mut(kernel as usize) {
            kernel.source_lines.extend(lines);
        }
    }

    /// Adds an instruction of PTX to the last kernel, with its program counter, and the file and the line of its source as
    /// far as they are known; see [`PtxLines`](super::PtxLines). An instruction is added once, and program counters ascend.
    pub fn ptx_line(
        &mut self,
        pc: u32,
        place: PtxPlace,
        text: &str,
        source: Option<(Option<&str>, u32)>,
    ) {
        let Some(kernel) = self.footer.contents.kernels.last_mut() else { return };
        kernel.header.push((place.key(pc).into(), text.into()));
        let Some((file, line)) = source else { return };
        kernel.source_lines.push((pc, line));
        if let Some(file) = file {
            kernel.header.push((format!("{SOURCE_KEY}{pc}").into(), file.into()));
        }
    }

    /// The number of the last kernel; 0 before the first, because a trace without kernels gets one at the end.
    fn last_kernel(&self) -> u32 {
        (self.footer.contents.kernels.len().max(1) - 1) as u32
    }

    /// Appends a block of a kernel. Its operation numbers must be this trace's.
    ///
    /// # Errors
    /// Returns the errors of the output, of this block or of an earlier one.
    pub(crate) fn append(&mut self, kernel: u32, block: BlockRecords) -> io::Result<()> {
        self.pending.push((kernel, block));
        if self.pending.len() < self.writers.len() { Ok(()) } else { self.write_pending() }
    }

    fn write_pending(&mut self) -> io::Result<()> {
        let operations = &self.footer.contents.operations;
        let encoded = encode_all(&mut self.writers, &self.pending, operations);
        self.pending.clear();
        for EncodedBlock { bytes, hash, mut row } in encoded? {
            row.offset = HEADER_BYTES as u64;
            if let Some(last) = self.footer.blocks.last() {
                row.offset = last.offset + u64::from(last.length);
                row.first_instruction = last.first_instruction + u64::from(last.instructions);
                row.first_record = last.first_record + u64::from(last.records);
            }
            self.hashes.extend(hash.0);
            self.footer.blocks.push(row);
            self.output.write_all(&bytes)?;
        }
        Ok(())
    }

    fn has_blocks(&self) -> bool {
        !self.footer.blocks.is_empty() || !self.pending.is_empty()
    }

    /// Writes everything left, the header last, and returns the flushed output.
    ///
    /// # Errors
    /// Returns the errors of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.close_block()?;
        self.write_pending()?;
        if self.has_blocks() && self.footer.contents.kernels.is_empty() {
            self.footer.contents.kernels.push(Kernel::default());
        }
        for kernel in &mut self.footer.contents.kernels {
            kernel.source_lines.sort_unstable();
        }
        let identity = self.footer.contents.identity();
        let identity = serde_json::to_vec(&identity).map_err(io::Error::from)?;
        self.hashes.extend(identity);
        let content_hash = ContentHash::of_number(XxHash3_128::oneshot(&self.hashes));
        let mut bytes = Vec::new();
        self.footer.write(&mut ChunkWriter::new(self.compression), &mut bytes)?;
        let last = self.footer.blocks.last();
        let header = Header {
            producer: Producer::OWN,
            footer_offset: last
                .map_or(HEADER_BYTES as u64, |row| row.offset + u64::from(row.length)),
            footer_length: u32::try_from(bytes.len())
                .map_err(|_| io::Error::other("contents and index of more than 4 GiB"))?,
            footer_crc: crc32fast::hash(&bytes),
            content_hash,
        };
        self.output.write_all(&bytes)?;
        self.output.seek(SeekFrom::Start(0))?;
        self.output.write_all(&header.to_bytes())?;
        self.output.flush()?;
        Ok(self.output)
    }
}
