//! [`Sink`]: takes what readers of text traces find and passes it on block by block, with names
//! and operations numbered by file.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::error::ImportError;
use super::limits::{NOT_REPLAYED, next_number};
use crate::lane::LaneMask;
use crate::trace::binary::{BlockBuilder, ClosedBlock, Kernel, NameError, Names, NewLoad, Segment};
use crate::trace::operation::{Class, Operation, Skipped};

/// How many different opcodes of one file are remembered; others are classified each time.
const KNOWN_OPCODES: usize = 1 << 16;

/// The most bytes of the open blocks of kernels other than the current one.
const OPEN_BYTES: usize = 32 << 20;

/// What a reader finds, in order.
pub(super) enum Found {
    /// A kernel. The kernels of a file are numbered from 0, as are its operations and names.
    Kernel(Kernel),
    /// An operation.
    Operation(Operation),
    /// The name of instructions that are not replayed.
    NotReplayed(String),
    /// A block of the kernel with that number.
    Block(u32, ClosedBlock),
    /// A note for readers of results.
    Note(String),
    /// The file may be cut off: the note that says so.
    EndUnknown(&'static str),
}

/// The class of an opcode with a memory operand.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// A load: its operation's number in the file.
    Load(u16),
    Skipped(Skipped),
    /// An instruction that is counted by name: the name's number in the file.
    NotReplayed(u16),
}

/// Why a name that a reader found was refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    /// The name is at fault; the reader knows its place.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The import as a whole is.
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl Refused {
    /// Returns the error, at a place if the name is at fault.
    pub(super) fn at(self, place: impl FnOnce(String) -> ImportError) -> ImportError {
        match self {
            Self::Name(error) => place(error.to_string()),
            Self::Import(error) => error,
        }
    }
}

/// Collects what a reader finds into blocks.
pub(super) struct Sink<'s> {
    names: Names,
    /// The current kernel's block.
    block: BlockBuilder,
    current: u32,
    /// The blocks of other kernels, whose launches may continue.
    open: BTreeMap<u32, BlockBuilder>,
    open_bytes: usize,
    kernels: u32,
    opcodes: FxHashMap<Arc<str>, Known>,
    /// The number of operations.
    operations: usize,
    /// The numbers of the names of instructions that are not replayed.
    not_replayed: FxHashMap<String, u16>,
    /// Whether the kernel's code is of SM 5.x or 6.x.
    is_spa5: bool,
    emit: &'s mut dyn FnMut(Found) -> Result<(), ImportError>,
}

impl<'s> Sink<'s> {
    pub(super) fn new(emit: &'s mut dyn FnMut(Found) -> Result<(), ImportError>) -> Self {
        Self {
            names: Names::default(),
            block: BlockBuilder::default(),
            current: 0,
            open: BTreeMap::new(),
            open_bytes: 0,
            kernels: 0,
            opcodes: FxHashMap::default(),
            operations: 0,
            not_replayed: FxHashMap::default(),
            is_spa5: false,
            emit,
        }
    }

    /// Returns the name that the whole file shares.
    pub(super) fn name(&mut self, name: &str) -> Result<Arc<str>, NameError> {
        self.names.hold(name)
    }

    /// Begins the next kernel, which becomes the current one, and returns its number.
    pub(super) fn kernel(&mut self, kernel: Kernel) -> Result<u32, ImportError> {
        if kernel.is_spa5() != self.is_spa5 {
            // The same opcode now has another meaning.
            self.opcodes.clear();
            self.is_spa5 = kernel.is_spa5();
        }
        let number = self.kernels;
        self.kernels += 1;
        (self.emit)(Found::Kernel(kernel))?;
        self.select(number)?;
        Ok(number)
    }

    /// Makes a kernel the current one, to which the following instructions belong.
    pub(super) fn select(&mut self, kernel: u32) -> Result<(), ImportError> {
        if kernel == self.current {
            return Ok(());
        }
        let other = self.open.remove(&kernel).unwrap_or_default();
        self.open_bytes -= other.bytes();
        let block = std::mem::replace(&mut self.block, other);
        if block.bytes() > 0 {
            self.open_bytes += block.bytes();
            self.open.insert(self.current, block);
        }
        self.current = kernel;
        if self.open_bytes > OPEN_BYTES { self.close_others() } else { Ok(()) }
    }

    fn close_others(&mut self) -> Result<(), ImportError> {
        self.open_bytes = 0;
        for (kernel, mut block) in std::mem::take(&mut self.open) {
            self.emit_block(kernel, block.close())?;
        }
        Ok(())
    }

    #[inline]
    fn emit_block(&mut self, kernel: u32, block: Option<ClosedBlock>) -> Result<(), ImportError> {
        block.map_or(Ok(()), |block| (self.emit)(Found::Block(kernel, block)))
    }

    /// Returns whether opcodes are read as those of SM 5.x or 6.x.
    pub(super) fn is_spa5(&self) -> bool {
        self.is_spa5
    }

    /// Returns the class of an opcode with a memory operand.
    ///
    /// # Errors
    /// Returns [`Refused`] if the opcode is too long or there are too many different ones.
    #[inline]
    pub(super) fn known(&mut self, opcode: &str) -> Result<Known, Refused> {
        match self.opcodes.get(opcode) {
            Some(known) => Ok(*known),
            None => self.classify(opcode),
        }
    }

    #[cold]
    fn classify(&mut self, opcode: &str) -> Result<Known, Refused> {
        let name = self.names.hold(opcode)?;
        let class = if self.is_spa5 { Class::of_spa5(opcode) } else { Class::of(opcode) };
        let known = match class {
            Class::Skipped(kind) => Known::Skipped(kind),
            Class::NotReplayed(name) => Known::NotReplayed(self.not_replayed_name(name)?),
            Class::Load(operation) => {
                let opcode = Arc::clone(&name);
                (self.emit)(Found::Operation(Operation { opcode, ..operation }))?;
                let number = next_number(self.operations, "different loads")?;
                self.operations += 1;
                Known::Load(number)
            }
        };
        // Loads must find their number again; other opcodes must not fill memory.
        if matches!(known, Known::Load(_)) || self.opcodes.len() < KNOWN_OPCODES {
            self.opcodes.insert(name, known);
        }
        Ok(known)
    }

    /// Returns the number of a name, which opcodes with different modifiers share.
    fn not_replayed_name(&mut self, name: String) -> Result<u16, ImportError> {
        if let Some(number) = self.not_replayed.get(&name) {
            return Ok(*number);
        }
        (self.emit)(Found::NotReplayed(name.clone()))?;
        let number = next_number(self.not_replayed.len(), NOT_REPLAYED)?;
        self.not_replayed.insert(name, number);
        Ok(number)
    }

    #[inline]
    pub(super) fn not_replayed(&mut self, name: u16, active: LaneMask) -> Result<(), ImportError> {
        let full = self.block.not_replayed(name, active);
        self.emit_block(self.current, full)
    }

    #[inline]
    pub(super) fn skip(&mut self, kind: Skipped) -> Result<(), ImportError> {
        let full = self.block.skip(kind);
        self.emit_block(self.current, full)
    }

    #[inline]
    pub(super) fn load(&mut self, load: &NewLoad<'_>) -> Result<(), ImportError> {
        let full = self.block.load(load);
        self.emit_block(self.current, full)
    }

    /// Adds instructions, whose operations and names are indices of `numbers`.
    pub(super) fn append(&mut self, segment: &Segment, numbers: &[u16]) -> Result<(), ImportError> {
        let mut from = 0;
        while from < segment.count() {
            let (to, full) = self.block.append(segment, from, numbers);
            self.emit_block(self.current, full)?;
            from = to;
        }
        Ok(())
    }

    /// Marks the trace as possibly incomplete, with the note that says why.
    pub(super) fn end_is_unknown(&mut self, note: &'static str) -> Result<(), ImportError> {
        (self.emit)(Found::EndUnknown(note))
    }

    pub(super) fn note(&mut self, note: String) -> Result<(), ImportError> {
        (self.emit)(Found::Note(note))
    }

    pub(super) fn finish(&mut self) -> Result<(), ImportError> {
        let block = std::mem::take(&mut self.block);
        self.open.insert(self.current, block);
        self.close_others()
    }
}
