//! [`Sink`]: collects the instructions that readers of text traces find and passes them on in blocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::error::ImportError;
use super::interner::{InternedOperation, Interner, NameError, Refused};
use super::text::FoundCount;
use crate::binary::{
    BlockBuilder, BlockRecords, Kernel, MAX_BLOCK_INSTRUCTIONS, NewRecord, WarpPosition,
};

/// The limit for bytes in open blocks, checked when the current kernel changes.
const OPEN_BYTES: usize = 32 << 20;

/// An item that a reader finds, in order.
pub(super) enum ImportItem {
    /// A kernel. The kernels of a file are numbered from 0.
    Kernel(Kernel),
    /// A block of the kernel with that number. Its operations have the interner's numbers.
    Block(u32, BlockRecords),
    /// Before line `line`: `count` instructions without a line of their own, after `before` instructions that have one.
    Unlisted { count: u64, line: u64, before: u64 },
    /// The source lines of program counters of the kernel with that number.
    SourceLines(u32, Vec<(u32, u32)>),
    /// The tool that made the file, with its version if known.
    Tool(String),
    /// A note for readers of results.
    Note(String),
    /// The file may be cut off: the note with the reason, unless another note has it.
    EndUnknown(Option<&'static str>),
    /// Device memory allocations in the file: base and size in bytes.
    Allocations(Vec<(u64, u64)>),
}

/// Collects instructions into blocks.
pub(super) struct Sink<'s> {
    interner: &'s Interner,
    /// The current kernel's block.
    block: BlockBuilder,
    current: u32,
    /// The number of instructions before the current block.
    before: u64,
    /// The number of instructions so far.
    count: u64,
    /// Blocks of other kernels, which may continue, by the number of instructions before them.
    open: BTreeMap<u64, (u32, BlockBuilder)>,
    /// The key of each of these kernels in `open`.
    open_kernels: FxHashMap<u32, u64>,
    open_bytes: usize,
    kernels: u32,
    /// A cache, so that threads rarely wait for the interner.
    opcodes: FxHashMap<Arc<str>, Arc<InternedOperation>>,
    /// The instructions found in the text; the limit for its length depends on them.
    found: FoundCount,
    /// The current kernel's program counters with a known source line.
    has_lines: FxHashSet<u32>,
    /// Whether the kernel's code is for SM 5.x or 6.x.
    is_spa5: bool,
    emit: &'s mut dyn FnMut(ImportItem) -> Result<(), ImportError>,
}

impl<'s> Sink<'s> {
    pub(super) fn new(
        interner: &'s Interner,
        found: FoundCount,
        emit: &'s mut dyn FnMut(ImportItem) -> Result<(), ImportError>,
    ) -> Self {
        Self {
            interner,
            block: BlockBuilder::default(),
            current: 0,
            before: 0,
            count: 0,
            open: BTreeMap::new(),
            open_kernels: FxHashMap::default(),
            open_bytes: 0,
            kernels: 0,
            opcodes: FxHashMap::default(),
            found,
            has_lines: FxHashSet::default(),
            is_spa5: false,
            emit,
        }
    }

    /// The shared copy of a name.
    pub(super) fn name(&self, name: &str) -> Result<Arc<str>, NameError> {
        self.interner.name(name)
    }

    pub(super) fn interner(&self) -> &'s Interner {
        self.interner
    }

    /// Begins the next kernel, makes it the current one and returns its number.
    pub(super) fn kernel(&mut self, kernel: Kernel) -> Result<u32, ImportError> {
        if kernel.is_spa5() != self.is_spa5 {
            // The same opcode now has another meaning.
            self.opcodes.clear();
            self.is_spa5 = kernel.is_spa5();
        }
        let number = self.kernels;
        self.kernels += 1;
        self.has_lines.clear();
        (self.emit)(ImportItem::Kernel(kernel))?;
        self.select(number)?;
        Ok(number)
    }

    /// Makes a kernel the current one, so that the following instructions belong to it.
    pub(super) fn select(&mut self, kernel: u32) -> Result<(), ImportError> {
        if kernel == self.current {
            return Ok(());
        }
        self.set_aside();
        if self.open_bytes > OPEN_BYTES {
            self.close_before(u64::MAX)?;
        }
        let known = self.open_kernels.remove(&kernel);
        let known = known.and_then(|before| Some((before, self.open.remove(&before)?.1)));
        (self.before, self.block) = known.unwrap_or((self.count, BlockBuilder::default()));
        self.open_bytes -= self.block.bytes();
        self.current = kernel;
        Ok(())
    }

    /// Moves the current block to the open ones, unless it is empty.
    fn set_aside(&mut self) {
        let block = std::mem::take(&mut self.block);
        if block.bytes() > 0 {
            self.open_bytes += block.bytes();
            self.open_kernels.insert(self.current, self.before);
            self.open.insert(self.before, (self.current, block));
        }
    }

    /// Closes the blocks of other kernels that began before instruction `limit`, in order of their beginning.
    fn close_before(&mut self, limit: u64) -> Result<(), ImportError> {
        while let Some(first) = self.open.first_entry().filter(|first| *first.key() < limit) {
            let (kernel, mut block) = first.remove();
            self.open_kernels.remove(&kernel);
            self.open_bytes -= block.bytes();
            if let Some(block) = block.close() {
                (self.emit)(ImportItem::Block(kernel, block))?;
            }
        }
        Ok(())
    }

    /// Passes on a full block of the current kernel, after all open blocks that began before it. Blocks are in the
    /// order of their first instructions, so that consecutive launches stay apart.
    #[inline]
    fn emit_block(&mut self, block: Option<BlockRecords>) -> Result<(), ImportError> {
        block.map_or(Ok(()), |block| self.emit_full(block))
    }

    fn emit_full(&mut self, block: BlockRecords) -> Result<(), ImportError> {
        self.close_before(self.before)?;
        self.before = self.count;
        (self.emit)(ImportItem::Block(self.current, block))
    }

    /// Whether opcodes have their meaning on SM 5.x or 6.x.
    pub(super) fn is_spa5(&self) -> bool {
        self.is_spa5
    }

    /// The operation of an opcode with a memory operand.
    ///
    /// # Errors
    /// Returns [`Refused`] if the opcode is too long or there are too many distinct ones.
    #[inline]
    pub(super) fn operation(&mut self, opcode: &str) -> Result<&Arc<InternedOperation>, Refused> {
        // Looked up twice, because the borrow checker keeps the first borrow past the insertion.
        if !self.opcodes.contains_key(opcode) {
            let operation = self.interner.operation(opcode, self.is_spa5)?;
            self.opcodes.insert(Arc::clone(&operation.operation.opcode), operation);
        }
        Ok(&self.opcodes[opcode])
    }

    /// Sets the warp of the following instructions.
    #[inline]
    pub(super) fn place(&mut self, place: WarpPosition) {
        self.block.place(place);
    }

    /// Adds source lines of the current kernel. Keeps the first line of each program counter.
    pub(super) fn source_lines(&mut self, lines: &FxHashMap<u32, u32>) -> Result<(), ImportError> {
        let mut new = Vec::new();
        for (pc, line) in lines {
            if self.has_lines.insert(*pc) {
                new.push((*pc, *line));
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        (self.emit)(ImportItem::SourceLines(self.current, new))
    }

    /// Counts instructions without a memory operand that have no line of their own before line `line`.
    pub(super) fn skip(&mut self, mut count: u64, line: u64) -> Result<(), ImportError> {
        // A smaller number cannot fill a block by itself and needs no limit.
        if count >= u64::from(MAX_BLOCK_INSTRUCTIONS) {
            (self.emit)(ImportItem::Unlisted { count, line, before: self.found.get() })?;
        }
        while count > 0 {
            let (skipped, full) = self.block.skip_up_to(count);
            self.count += skipped;
            self.emit_block(full)?;
            count -= skipped;
        }
        Ok(())
    }

    /// Closes the current kernel's block, so that it precedes all later instructions.
    pub(super) fn close_block(&mut self) -> Result<(), ImportError> {
        let block = self.block.close();
        self.emit_block(block)
    }

    #[inline]
    pub(super) fn record(&mut self, record: &NewRecord<'_>) -> Result<(), ImportError> {
        let full = self.block.record(record);
        self.count += 1;
        self.found.add(1);
        self.emit_block(full)
    }

    pub(super) fn append(&mut self, segment: &BlockRecords) -> Result<(), ImportError> {
        let mut from = 0;
        self.found.add(segment.count().into());
        // A segment without instructions can still set the warp of the following ones.
        loop {
            let (to, full) = self.block.append(segment, from);
            self.count += u64::from(to - from);
            self.emit_block(full)?;
            from = to;
            if from >= segment.count() {
                return Ok(());
            }
        }
    }

    /// Names the tool that produced the file, with its version if known.
    pub(super) fn tool(&mut self, tool: String) -> Result<(), ImportError> {
        (self.emit)(ImportItem::Tool(tool))
    }

    /// Marks the trace as possibly incomplete, with a note of the reason unless another note has it.
    pub(super) fn end_is_unknown(
        &mut self,
        note: impl Into<Option<&'static str>>,
    ) -> Result<(), ImportError> {
        (self.emit)(ImportItem::EndUnknown(note.into()))
    }

    /// Adds device memory allocations in the file: bases and sizes in bytes.
    pub(super) fn allocations(&mut self, list: Vec<(u64, u64)>) -> Result<(), ImportError> {
        (self.emit)(ImportItem::Allocations(list))
    }

    pub(super) fn note(&mut self, note: String) -> Result<(), ImportError> {
        (self.emit)(ImportItem::Note(note))
    }

    pub(super) fn finish(&mut self) -> Result<(), ImportError> {
        self.set_aside();
        self.close_before(u64::MAX)
    }
}
