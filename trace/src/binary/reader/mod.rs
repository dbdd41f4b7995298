//! [`BinaryTrace`]: reading a binary trace, and the instructions of its blocks. It consists of one [`TraceFile`], or
//! of several, which a [`Join`] puts together.

mod block;
mod container;

use std::path::Path;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::contents::{Kernel, TraceContents};
use super::error::TraceError;
use super::format::{OLDEST_VERSION, RawBlock, RawInput, SectionKind};
use crate::operation::MemoryOperation;
use warpload::memory::Arena;
use warpload_binary::regular_file;

pub use self::block::{MemoryRecord, TraceBlock, WarpPositions};

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

/// A file of a trace, with what its records' numbers mean in the trace.
#[derive(Debug)]
struct TraceFile {
    bytes: Arena,
    has_loads_only: bool,
    /// The number of the trace's kernels before its own.
    first_kernel: u32,
    operations: Operations,
    /// Its name, if the trace has several files.
    file: Option<Box<Path>>,
}

/// The trace's number of each operation of a part.
#[derive(Clone, Debug)]
enum Operations {
    /// The same, of so many.
    Same(usize),
    Others(Box<[u16]>),
}

impl TraceFile {
    /// Creates the only part of a trace, with so many operations.
    fn new(bytes: Arena, has_loads_only: bool, operations: usize) -> Self {
        let operations = Operations::Same(operations);
        Self { bytes, has_loads_only, first_kernel: 0, operations, file: None }
    }

    /// Makes it a part of a trace of several files.
    fn join(self, file: &Path, first_kernel: u32, operations: Operations) -> Self {
        Self { first_kernel, operations, file: Some(file.into()), ..self }
    }

    /// Returns whether blocks have records of loads only.
    fn has_loads_only(&self) -> bool {
        self.has_loads_only
    }

    /// Returns the bytes of a block; `None` if they lie outside the file.
    fn block(&self, block: &RawBlock) -> Option<&[u8]> {
        let (start, length) = (usize::try_from(block.offset).ok()?, block.length as usize);
        self.bytes.bytes().get(start..)?.get(..length)
    }

    /// Returns the trace's number of an operation of the part; `None` if there is no such operation.
    #[inline]
    fn operation(&self, number: u16) -> Option<u16> {
        match &self.operations {
            Operations::Same(count) => (usize::from(number) < *count).then_some(number),
            Operations::Others(numbers) => numbers.get(usize::from(number)).copied(),
        }
    }

    /// Returns an error of the part, with its name if the trace has several files.
    fn error(&self, error: TraceError) -> TraceError {
        match &self.file {
            Some(file) => error.of_part(file),
            None => error,
        }
    }
}

/// A trace to which parts are added.
pub(crate) struct Join {
    trace: BinaryTrace,
    /// The number of each operation.
    operations: FxHashMap<MemoryOperation, u16>,
    /// The texts of kernels, each once.
    names: FxHashSet<Arc<str>>,
    /// What precedes the next part.
    before: Totals,
}

impl Join {
    /// Creates the whole, of `totals` and `contents`, without parts; the kernels of `contents` are left out.
    /// `before` is what precedes the first part added.
    pub(crate) fn new(
        totals: Totals,
        checksum: u32,
        contents: &TraceContents,
        before: Totals,
    ) -> Self {
        let mut operations = FxHashMap::default();
        for (number, operation) in (0..=u16::MAX).zip(&contents.operations) {
            operations.entry(operation.clone()).or_insert(number);
        }
        let contents = TraceContents { kernels: Vec::new(), ..contents.clone() };
        let (parts, blocks) = (Vec::new(), Vec::new());
        let first_kernel = before.kernels as usize;
        let inputs = Vec::new();
        let trace = BinaryTrace { parts, contents, blocks, totals, checksum, first_kernel, inputs };
        Self { trace, operations, names: FxHashSet::default(), before }
    }

    /// Adds the next part, a trace of one file.
    ///
    /// # Errors
    /// Returns [`TraceError`] if the trace cannot be a part, or has an operation that the whole does not
    /// have.
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

    /// Returns the whole's number of each operation of a part.
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

    /// Returns the trace of all parts that were added.
    pub(crate) fn finish(self) -> BinaryTrace {
        self.trace
    }
}

impl BinaryTrace {
    /// Checks that the trace is one file whose numbers can be those of a part.
    ///
    /// # Errors
    /// Returns [`TraceError::NoPart`] if it is not.
    pub(crate) fn check_is_part(&self) -> Result<(), TraceError> {
        let message = if self.parts.len() != 1 || self.parts.iter().any(|part| part.file.is_some())
        {
            "it is a trace set itself; expected a binary trace"
        } else if self.has_loads_only() {
            "a binary trace of version 1, of which only loads are known; expected version 2"
        } else {
            return Ok(());
        };
        Err(TraceError::NoPart { message })
    }

    /// Returns the size of a trace of one file.
    pub(crate) fn size(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes.bytes().len() as u64).sum()
    }
}
