//! [`BinaryTrace`]: reading a binary trace, and the instructions of its blocks.

mod block;
mod container;

use std::io::Read;
use std::path::Path;

use super::contents::Contents;
use super::error::TraceError;
use super::format::{Header, OLDEST_VERSION, RawBlock, SectionKind};
use crate::memory::Arena;
use crate::regular_file;

pub use block::{Block, MemoryRecord, Places};

/// A binary trace whose header, sections and index have been checked. Blocks are checked when
/// they are read.
#[derive(Debug)]
pub struct BinaryTrace {
    bytes: Arena,
    header: Header,
    contents: Contents,
    blocks: Vec<RawBlock>,
}

impl BinaryTrace {
    /// Reads a trace from a regular file. To map the file instead, pass
    /// [`Arena::map_read_only`] to [`Self::new`].
    ///
    /// # Errors
    /// Returns [`TraceError`] if it cannot be read or does not fit into memory, is not a trace, or is
    /// damaged.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let read = || {
            let (mut file, size) = regular_file::open(path)?;
            let mut bytes = Arena::zeroed(size)?;
            file.read_exact(bytes.bytes_mut().unwrap_or_default())?;
            Ok(bytes)
        };
        Self::new(read().map_err(|source| TraceError::Io { path: path.to_owned(), source })?)
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
        Ok(Self { bytes, header, contents, blocks })
    }

    /// Returns whether the trace has records of loads only, as version 1 of the format has; stores and
    /// atomics are then counted, and nothing else is known of them.
    #[must_use]
    pub fn has_loads_only(&self) -> bool {
        self.header.version == OLDEST_VERSION
    }

    /// Returns the number of instructions in the trace, those without a memory operand included.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.header.records
    }

    /// Returns the number of memory instructions that have a record: all of the trace's, or its loads
    /// if it [has records of loads only](Self::has_loads_only).
    #[must_use]
    pub fn memory_records(&self) -> u64 {
        if self.has_loads_only() { self.header.loads } else { self.header.memory_records }
    }

    /// Returns the number of loads in the trace.
    #[must_use]
    pub fn loads(&self) -> u64 {
        self.header.loads
    }

    /// Returns the checksum of the trace: the CRC-32 of the checksums of all its parts.
    #[must_use]
    pub fn checksum(&self) -> u32 {
        self.header.sections_crc
    }

    /// Returns the kernels, operations and allocations.
    #[must_use]
    pub fn contents(&self) -> &Contents {
        &self.contents
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
    pub fn block(&self, block: &RawBlock) -> Result<Block<'_>, TraceError> {
        let (start, length) = (block.offset as usize, block.length as usize);
        let bytes = self.bytes.bytes().get(start..).and_then(|rest| rest.get(..length));
        // Only a row of another index can lie outside.
        let outside = TraceError::Damaged { part: "block", offset: block.offset };
        Block::new(*block, bytes.ok_or(outside)?, &self.contents, self.has_loads_only())
    }
}
