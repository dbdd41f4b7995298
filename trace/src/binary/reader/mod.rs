//! [`BinaryTrace`]: reading a binary trace, and the instructions of its blocks.

mod block;
mod container;
mod join;
mod part;

use std::path::Path;

use self::part::TraceFile;
use super::contents::TraceContents;
use super::error::TraceError;
use super::format::{OLDEST_VERSION, RawBlock, RawInput, SectionKind};
use warpload::memory::Arena;
use warpload_binary::regular_file;

pub use block::{MemoryRecord, TraceBlock, WarpPositions};
pub(crate) use join::Join;

/// A binary trace whose header, sections and index have been checked. Blocks are checked when
/// they are read.
///
/// It can consist of several files, [parts of a set](crate::TraceSet), which are one trace
/// together. If only some parts are there, it has their blocks and kernels, and the totals and
/// operations of all.
#[derive(Debug)]
pub struct BinaryTrace {
    /// In order; only those that have kernels can have blocks.
    parts: Vec<TraceFile>,
    contents: TraceContents,
    blocks: Vec<RawBlock>,
    totals: Totals,
    checksum: u32,
    first_kernel: usize,
    inputs: Vec<RawInput>,
}

/// How much a trace has, whether or not all of it is there, or what precedes a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) records: u64,
    pub(crate) memory_records: u64,
    pub(crate) loads: u64,
    pub(crate) kernels: u64,
}

impl Totals {
    /// Returns the sums; `None` if one exceeds 64 bits.
    pub(crate) fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self {
            records: self.records.checked_add(other.records)?,
            memory_records: self.memory_records.checked_add(other.memory_records)?,
            loads: self.loads.checked_add(other.loads)?,
            kernels: self.kernels.checked_add(other.kernels)?,
        })
    }
}

impl BinaryTrace {
    /// Reads a trace from a regular file. To map the file instead, pass
    /// [`Arena::map_read_only`] to [`Self::new`].
    ///
    /// # Errors
    /// Returns [`TraceError`] if it cannot be read or does not fit into memory, is not a trace, or is
    /// damaged.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let read = regular_file::open(path).and_then(|(file, _)| Arena::read(&file));
        Self::new(read.map_err(|source| TraceError::Read { path: path.to_owned(), source })?)
    }

    /// Reads a trace from its bytes. Those of blocks are checked by [`Self::block`].
    ///
    /// # Errors
    /// Returns [`TraceError`] if they are not a trace, or are damaged.
    pub fn new(bytes: Arena) -> Result<Self, TraceError> {
        let header = container::read_header(bytes.bytes())?;
        let sections = container::read_sections(bytes.bytes(), &header)?;
        let contents = container::find(&sections, &header, SectionKind::Contents)?;
        let contents = container::read_contents(bytes.bytes(), &contents)?;
        let is_oldest = header.version == OLDEST_VERSION;
        let index = if is_oldest { SectionKind::LoadIndex } else { SectionKind::BlockIndex };
        let index = container::find(&sections, &header, index)?;
        let blocks = container::read_index(bytes.bytes(), &index, &header, &contents)?;
        let inputs = container::read_inputs(bytes.bytes(), &sections)?;
        let totals = Totals {
            records: header.records,
            memory_records: if is_oldest { header.loads } else { header.memory_records },
            loads: header.loads,
            kernels: contents.kernels.len() as u64,
        };
        let checksum = header.sections_crc;
        let parts = vec![TraceFile::new(bytes, is_oldest, contents.operations.len())];
        Ok(Self { parts, contents, blocks, totals, checksum, first_kernel: 0, inputs })
    }

    /// Returns whether the trace has records of loads only, as version 1 of the format has; stores and
    /// atomics are then counted, and nothing else is known of them.
    #[must_use]
    pub fn has_loads_only(&self) -> bool {
        self.parts.first().is_some_and(TraceFile::has_loads_only)
    }

    /// Returns the number of instructions in the trace, those without a memory operand included.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.totals.records
    }

    /// Returns the number of memory instructions that have a record: all of the trace's, or its loads
    /// if it [has records of loads only](Self::has_loads_only).
    #[must_use]
    pub fn memory_records(&self) -> u64 {
        self.totals.memory_records
    }

    /// Returns the number of loads in the trace.
    #[must_use]
    pub fn loads(&self) -> u64 {
        self.totals.loads
    }

    /// Returns the checksum of the trace: the CRC-32 of its section table, which has those of contents and
    /// index; of a set, [that of the set](crate::TraceSet::checksum).
    #[must_use]
    pub fn checksum(&self) -> u32 {
        self.checksum
    }

    /// Returns the number of kernels of the whole trace: those of [`Self::contents`], unless the trace is
    /// some parts of a set.
    #[must_use]
    pub fn kernels(&self) -> usize {
        // At most `MAX_KERNELS`.
        self.totals.kernels as usize
    }

    /// Returns how many kernels of the whole trace come before those of [`Self::contents`]: 0 unless the
    /// trace is some parts of a set.
    #[must_use]
    pub fn first_kernel(&self) -> usize {
        self.first_kernel
    }

    /// Returns the kernels, operations and allocations.
    #[must_use]
    pub fn contents(&self) -> &TraceContents {
        &self.contents
    }

    /// Returns the files that the trace was imported from: the text trace, or the list of traces and those of
    /// its files that were taken; none unless
    /// [they were kept](super::TraceWriter::keep_inputs), and of a set.
    #[must_use]
    pub fn inputs(&self) -> &[RawInput] {
        &self.inputs
    }

    /// Returns the block index.
    #[must_use]
    pub fn blocks(&self) -> &[RawBlock] {
        &self.blocks
    }

    /// Reads a block of this trace's index, and checks its bytes.
    ///
    /// # Errors
    /// Returns [`TraceError`] with the block's offset if its bytes do not match their checksum or
    /// its records do not ascend.
    pub fn block(&self, block: &RawBlock) -> Result<TraceBlock<'_>, TraceError> {
        let end = self.parts.partition_point(|part| part.first_kernel <= block.kernel);
        let part = end.checked_sub(1).and_then(|last| self.parts.get(last));
        // Only a row of another index belongs to none.
        let of_none = TraceError::Damaged { part: "block", offset: block.offset };
        TraceBlock::new(*block, &self.contents, part.ok_or(of_none)?)
    }
}
