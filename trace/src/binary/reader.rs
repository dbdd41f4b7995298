//! [`BinaryTrace`]: reads a binary trace from one [`TraceFile`], or from several that a [`Join`] puts together.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::contents::{ContentHash, Kernel, TraceContents};
use super::error::{Producer, TraceError};
use super::file::{Footer, Header, RawBlock, Totals, TraceInput};
use super::trace_block::{BlockBuffers, TraceBlock};
use crate::operation::MemoryOperation;
use warpload::memory::Arena;
use warpload_binary::regular_file;

/// A binary trace with checked header and footer. Blocks are checked when they are read.
///
/// It can consist of several files, the [parts of a set](crate::TraceSet). If only some parts are present, it has their
/// blocks and kernels, but the totals and operations of the whole set.
#[derive(Debug)]
pub struct BinaryTrace {
    /// In order. Only parts with kernels can have blocks.
    parts: Vec<TraceFile>,
    contents: TraceContents,
    blocks: Vec<RawBlock>,
    totals: Totals,
    content_hash: ContentHash,
    first_kernel: usize,
    inputs: Vec<TraceInput>,
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
        let Footer { contents, blocks, inputs } = footer;
        let content_hash = header.content_hash;
        let parts = vec![TraceFile::new(bytes, header.producer, contents.operations.len())];
        Ok(Self { parts, contents, blocks, totals, content_hash, first_kernel: 0, inputs })
    }

    /// Returns the number of instructions in the trace, with and without memory operands.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.totals.records
    }

    /// Returns the number of memory instructions.
    #[must_use]
    pub fn memory_records(&self) -> u64 {
        self.totals.memory_records
    }

    /// Returns the number of loads in the trace.
    #[must_use]
    pub fn loads(&self) -> u64 {
        self.totals.loads
    }

    /// Returns the identity of the trace: a hash of its instructions, kernels, operations and allocations. Compression
    /// and the names of sources do not change it. For a set it is [the set's hash](crate::TraceSet::content_hash).
    #[must_use]
    pub fn content_hash(&self) -> ContentHash {
        self.content_hash
    }

    /// Returns the number of kernels of the whole trace. [`Self::contents`] has fewer if only some parts of a set are
    /// present.
    #[must_use]
    pub fn kernels(&self) -> usize {
        // At most `MAX_KERNELS`.
        self.totals.kernels as usize
    }

    /// Returns the number of kernels of the whole trace before the first one in [`Self::contents`]: 0 unless the trace
    /// is some parts of a set.
    #[must_use]
    pub fn first_kernel(&self) -> usize {
        self.first_kernel
    }

    /// Returns the kernels, operations and allocations.
    #[must_use]
    pub fn contents(&self) -> &TraceContents {
        &self.contents
    }

    /// Returns the files that the trace was imported from: the text trace, or the list of traces and the listed files
    /// that were imported. Empty for a set, and unless [`TraceWriter::keep_inputs`](super::TraceWriter::keep_inputs)
    /// was called.
    #[must_use]
    pub fn inputs(&self) -> &[TraceInput] {
        &self.inputs
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
        let end = self.parts.partition_point(|part| part.first_kernel <= block.kernel);
        let part = end.checked_sub(1).and_then(|last| self.parts.get(last));
        // Reached only with a row of another trace's index.
        let of_none = TraceError::Damaged { part: "block", offset: block.offset };
        let part = part.ok_or(of_none)?;
        TraceBlock::read(*block, &self.contents, part, buffers).map_err(|error| part.error(error))
    }
}

/// A file of a trace, with the mapping of its numbers to the trace's.
#[derive(Debug)]
pub(super) struct TraceFile {
    bytes: Arena,
    pub(super) producer: Producer,
    /// The number of the trace's kernels before this file's.
    first_kernel: u32,
    operations: Operations,
    /// The file's name, if the trace has several.
    file: Option<Box<Path>>,
}

/// Maps operation numbers of a part to the trace's.
#[derive(Clone, Debug)]
enum Operations {
    /// The identity, for this many operations.
    Same(usize),
    Others(Box<[u16]>),
}

impl TraceFile {
    /// Creates the only part of a trace with `operations` operations.
    fn new(bytes: Arena, producer: Producer, operations: usize) -> Self {
        let operations = Operations::Same(operations);
        Self { bytes, producer, first_kernel: 0, operations, file: None }
    }

    /// Makes the file a part of a trace of several files.
    fn join(self, file: &Path, first_kernel: u32, operations: Operations) -> Self {
        Self { first_kernel, operations, file: Some(file.into()), ..self }
    }

    /// The bytes of a block; `None` if they lie outside the file.
    pub(super) fn block(&self, block: &RawBlock) -> Option<&[u8]> {
        let (start, length) = (usize::try_from(block.offset).ok()?, block.length as usize);
        self.bytes.bytes().get(start..)?.get(..length)
    }

    /// The trace's number of a part's operation; `None` if the part has no such operation.
    #[inline]
    pub(super) fn operation(&self, number: u16) -> Option<u16> {
        match &self.operations {
            Operations::Same(count) => (usize::from(number) < *count).then_some(number),
            Operations::Others(numbers) => numbers.get(usize::from(number)).copied(),
        }
    }

    /// Adds the file's name to an error, if the trace has several files.
    fn error(&self, error: TraceError) -> TraceError {
        match &self.file {
            Some(file) => error.of_part(file),
            None => error,
        }
    }
}

/// Joins parts to one trace.
pub(crate) struct Join {
    trace: BinaryTrace,
    /// The number of each operation.
    operations: FxHashMap<MemoryOperation, u16>,
    /// The distinct texts of kernels, which launches share.
    names: FxHashSet<Arc<str>>,
    /// The totals of everything before the next part.
    before: Totals,
}

impl Join {
    /// Starts the whole without parts. Leaves out the kernels of `contents`, because the parts bring their own.
    /// `before` has the totals of everything before the first part added.
    pub(crate) fn new(
        totals: Totals,
        content_hash: ContentHash,
        contents: &TraceContents,
        before: Totals,
    ) -> Self {
        let mut operations = FxHashMap::default();
        for (number, operation) in (0..=u16::MAX).zip(&contents.operations) {
            operations.entry(operation.clone()).or_insert(number);
        }
        let contents = TraceContents { kernels: Vec::new(), ..contents.clone() };
        let (parts, blocks, inputs) = (Vec::new(), Vec::new(), Vec::new());
        let first_kernel = before.kernels as usize;
        let trace =
            BinaryTrace { parts, contents, blocks, totals, content_hash, first_kernel, inputs };
        Self { trace, operations, names: FxHashSet::default(), before }
    }

    /// Adds the next part, a trace of one file.
    ///
    /// # Errors
    /// [`TraceError`] if the trace cannot be a part, or has an operation that is missing from the whole.
    pub(crate) fn add(&mut self, file: &Path, part: BinaryTrace) -> Result<(), TraceError> {
        part.check_is_part().map_err(|error| error.of_part(file))?;
        let BinaryTrace { parts, contents, blocks, totals, .. } = part;
        let operations = self.operations(&contents).map_err(|error| error.of_part(file))?;
        let first_kernel = self.trace.contents.kernels.len() as u32;
        let join = |part: TraceFile| part.join(file, first_kernel, operations.clone());
        self.trace.parts.extend(parts.into_iter().map(join));
        for kernel in contents.kernels {
            let kernel = self.share(kernel);
            self.trace.contents.kernels.push(kernel);
        }
        self.trace.blocks.extend(blocks.into_iter().map(|block| RawBlock {
            first_record: block.first_record + self.before.records,
            first_memory_record: block.first_memory_record + self.before.memory_records,
            kernel: block.kernel + first_kernel,
            ..block
        }));
        self.before.records += totals.records;
        self.before.memory_records += totals.memory_records;
        Ok(())
    }

    fn operations(&self, part: &TraceContents) -> Result<Operations, TraceError> {
        let number = |operation: &MemoryOperation| {
            self.operations.get(operation).copied().ok_or_else(|| TraceError::OtherPart {
                message: format!("the set does not have its operation {:?}", operation.opcode),
            })
        };
        let numbers = part.operations.iter().map(number).collect::<Result<Box<[u16]>, _>>()?;
        let is_same = (0..=u16::MAX).zip(&numbers).all(|(own, number)| own == *number);
        Ok(if is_same { Operations::Same(numbers.len()) } else { Operations::Others(numbers) })
    }

    fn share(&mut self, mut kernel: Kernel) -> Kernel {
        let header = kernel.header.iter_mut().flat_map(|(key, value)| [key, value]);
        for name in header.chain([&mut kernel.name]) {
            match self.names.get(name) {
                Some(known) => *name = Arc::clone(known),
                None => drop(self.names.insert(Arc::clone(name))),
            }
        }
        kernel
    }

    pub(crate) fn finish(self) -> BinaryTrace {
        self.trace
    }
}

impl BinaryTrace {
    /// Checks that the trace is a single file, so that it can become a part.
    pub(crate) fn check_is_part(&self) -> Result<(), TraceError> {
        if self.parts.len() != 1 || self.parts.iter().any(|part| part.file.is_some()) {
            let message = "it is a trace set itself; expected a binary trace";
            return Err(TraceError::NoPart { message });
        }
        Ok(())
    }

    /// The size in bytes of a trace of one file.
    pub(crate) fn size(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes.bytes().len() as u64).sum()
    }
}
