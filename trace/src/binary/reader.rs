//! [`BinaryTrace`]: reads a binary trace.

use std::path::Path;

use super::contents::{ContentHash, TraceContents};
use super::error::{Producer, TraceError};
use super::file::{Footer, Header, RawBlock, Totals};
use super::trace_block::{BlockBuffers, TraceBlock};
use crate::operation::OperationKind;
use warpload::memory::Arena;
use warpload_binary::regular_file;

/// A binary trace with checked header and footer. Blocks are checked when they are read.
#[derive(Debug)]
pub struct BinaryTrace {
    bytes: Arena,
    producer: Producer,
    contents: TraceContents,
    blocks: Vec<RawBlock>,
    totals: Totals,
    content_hash: ContentHash,
}

impl BinaryTrace {
    /// Reads a trace from a regular file. To map the file instead, pass [`Self::new`] the result of
    /// `Arena::map_read_only`, which needs the feature `mmap` of `warpload`.
    ///
    /// # Errors
    /// Returns [`TraceError`] if it cannot be read, does not fit into memory, is not a trace, or is damaged.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let read = regular_file::open(path).and_then(|(file, _)| Arena::read(&file));
        Self::new(read.map_err(|source| TraceError::Read { path: path.to_owned(), source })?)
    }

    /// Reads a trace from its bytes. Checks the header and the footer; [`Self::block`] checks the blocks.
    ///
    /// # Errors
    /// Returns [`TraceError`] if they are not a trace of this version of the format, or are damaged.
    pub fn new(bytes: Arena) -> Result<Self, TraceError> {
        let header = Header::read(bytes.bytes())?;
        let footer = Footer::read(bytes.bytes(), &header)?;
        let totals = footer.totals();
        let Footer { contents, blocks } = footer;
        let Header { producer, content_hash, .. } = header;
        Ok(Self { bytes, producer, contents, blocks, totals, content_hash })
    }

    /// Returns the number of instructions in the trace, with and without memory operands.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.totals.instructions
    }

    /// Returns the number of memory instructions.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.totals.records
    }

    /// Returns the number of loads in the trace.
    #[must_use]
    pub fn loads(&self) -> u64 {
        self.totals.loads
    }

    /// Counts the accesses in the trace: its loads, stores, atomics, reductions and sides of copies. Reads only blocks
    /// that may have both copies and instructions that are no accesses, because the index counts neither.
    ///
    /// # Errors
    /// Returns the errors of [`Self::block`] if such a block is damaged.
    pub fn accesses(&self) -> Result<u64, TraceError> {
        let operations = &self.contents.operations;
        let has_copies = operations.iter().any(|one| one.kind == OperationKind::Copy);
        let has_others = operations
            .iter()
            .any(|one| matches!(one.kind, OperationKind::Transfer | OperationKind::Other));
        let mut buffers = BlockBuffers::default();
        let mut accesses = 0;
        for raw in &self.blocks {
            let known = u64::from(raw.loads) + u64::from(raw.stores) + u64::from(raw.atomics);
            let rest = u64::from(raw.records).saturating_sub(known);
            accesses += known;
            if !has_copies || rest == 0 {
                continue;
            }
            if !has_others {
                accesses += rest;
                continue;
            }
            let block = self.block_in(raw, buffers)?;
            for i in 0..raw.records as usize {
                let is_copy = block.record(i)?.operation().kind == OperationKind::Copy;
                accesses += u64::from(is_copy);
            }
            buffers = block.into_buffers();
        }
        Ok(accesses)
    }

    /// Returns the identity of the trace: a hash of its instructions, kernels, operations and allocations. Compression
    /// and the names of sources do not change it.
    #[must_use]
    pub fn content_hash(&self) -> ContentHash {
        self.content_hash
    }

    /// Returns the kernels, operations and allocations.
    #[must_use]
    pub fn contents(&self) -> &TraceContents {
        &self.contents
    }

    /// Returns the block index.
    #[must_use]
    pub fn blocks(&self) -> &[RawBlock] {
        &self.blocks
    }

    /// Reads and checks a block of this trace's index.
    ///
    /// # Errors
    /// Returns [`TraceError`] with the block's offset if its bytes do not match their checksum, or do not follow the
    /// format.
    pub fn block(&self, block: &RawBlock) -> Result<TraceBlock<'_>, TraceError> {
        self.block_in(block, BlockBuffers::default())
    }

    /// Reads a block as [`Self::block`] does, into the buffers of an earlier one, which [`TraceBlock::into_buffers`]
    /// returns. For small blocks this saves most of the time.
    ///
    /// # Errors
    /// Returns the errors of [`Self::block`].
    pub fn block_in(
        &self,
        block: &RawBlock,
        buffers: BlockBuffers,
    ) -> Result<TraceBlock<'_>, TraceError> {
        TraceBlock::read(*block, self, buffers)
    }

    /// The bytes of a block; `None` if they lie outside the file.
    pub(super) fn block_bytes(&self, block: &RawBlock) -> Option<&[u8]> {
        let (start, length) = (usize::try_from(block.offset).ok()?, block.length as usize);
        self.bytes.bytes().get(start..)?.get(..length)
    }

    /// The version of warpload that wrote the file.
    pub(super) fn producer(&self) -> Producer {
        self.producer
    }
}
