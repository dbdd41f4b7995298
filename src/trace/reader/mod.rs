//! Reading a binary trace: checked parts, and the loads of a block one after the other.

mod block;
mod container;

use std::fs::File;
use std::path::Path;

use super::error::TraceError;
use super::format::{Contents, Header, OLDEST_VERSION, RawBlock, SectionKind};
use crate::memory::Arena;

pub use block::{Block, TracedLoad};

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
    /// Opens a trace; its blocks are mapped, not read. The file must not be changed meanwhile,
    /// see [`Arena::map_read_only`].
    ///
    /// # Errors
    /// [`TraceError`] where it is none, or damaged.
    #[cfg(feature = "mmap")]
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let failed = |source| TraceError::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        Self::new(Arena::map_read_only(&file).map_err(failed)?)
    }

    /// Reads a trace out of its bytes.
    ///
    /// # Errors
    /// [`TraceError`] where they are none, or damaged.
    pub fn new(bytes: Arena) -> Result<Self, TraceError> {
        let header = container::read_header(bytes.bytes())?;
        let sections = container::read_sections(bytes.bytes(), &header)?;
        let contents = container::find(&sections, &header, SectionKind::Contents)?;
        let contents = container::read_contents(bytes.bytes(), &contents)?;
        let index = container::find(&sections, &header, SectionKind::BlockIndex)?;
        let blocks = container::read_index(bytes.bytes(), &index, &header, &contents)?;
        Ok(Self { bytes, header, contents, blocks })
    }

    /// Returns whether the trace names the instructions that read memory but are not replayed. One
    /// of version 1 of the format does not.
    pub fn names_not_replayed(&self) -> bool {
        self.header.version > OLDEST_VERSION
    }

    /// How many instructions the trace has, skipped ones included.
    pub fn records(&self) -> u64 {
        self.header.records
    }

    /// How many loads it has.
    pub fn loads(&self) -> u64 {
        self.header.loads
    }

    /// A number that tells the trace from others: that of the checksums of all its parts.
    pub fn checksum(&self) -> u32 {
        self.header.sections_crc
    }

    /// Kernels, operations, allocations.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The block index.
    pub fn blocks(&self) -> &[RawBlock] {
        &self.blocks
    }

    /// Reads a block of this trace's index, and checks its bytes.
    ///
    /// # Errors
    /// [`TraceError`] with the block's offset, where its bytes do not match their checksum or
    /// its records do not ascend.
    pub fn block(&self, block: &RawBlock) -> Result<Block<'_>, TraceError> {
        let (start, length) = (block.offset as usize, block.length as usize);
        // The index was checked against the file's size.
        let bytes = self.bytes.bytes().get(start..).and_then(|rest| rest.get(..length));
        let bytes = bytes.unwrap_or_default();
        Block::new(*block, bytes, &self.contents)
    }
}
