//! Where readers of text traces put what they find: by the block, with names and operations numbered
//! by file.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::error::ImportError;
use super::{NOT_REPLAYED, next_number};
use crate::lane::LaneMask;
use crate::trace::binary::{BlockBuilder, ClosedBlock, Kernel, NameError, Names, NewLoad};
use crate::trace::operation::{Class, Operation, Skipped};

/// How many different opcodes are remembered of one file; more are read anew each time.
const KNOWN_OPCODES: usize = 1 << 16;

/// How many bytes the open blocks of launches that are not the current one may take.
const OPEN_BYTES: usize = 32 << 20;

/// What a reader of a text trace finds, in order.
pub(super) enum Found {
    /// Numbered in the order in which they are found, from 0, file by file.
    Kernel(Kernel),
    /// Numbered in the order in which they are found, from 0, file by file.
    Operation(Operation),
    /// The name of instructions that are not replayed; numbered likewise.
    NotReplayed(String),
    /// A block of the kernel with that number.
    Block(u32, ClosedBlock),
    /// What a reader of results should know.
    Note(String),
    /// The file may have been cut off where it ends: the note that says so.
    EndUnknown(&'static str),
}

/// What an opcode with a memory operand was found to be.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// The operation's number in the file, and its access size in bytes.
    Load {
        operation: u16,
        bytes: u32,
    },
    Skipped(Skipped),
    /// Not replayed, but counted by name: the name's number in the file.
    NotReplayed(u16),
}

/// Why a name that a reader found was refused.
pub(super) enum Refused {
    /// The name itself; the reader knows its place.
    Name(NameError),
    /// The rest of the import.
    Import(ImportError),
}

impl From<NameError> for Refused {
    fn from(error: NameError) -> Self {
        Self::Name(error)
    }
}

impl From<ImportError> for Refused {
    fn from(error: ImportError) -> Self {
        Self::Import(error)
    }
}

impl Refused {
    /// The error, at a place if it is the name's.
    pub(super) fn at(self, place: impl FnOnce(String) -> ImportError) -> ImportError {
        match self {
            Self::Name(error) => place(error.to_string()),
            Self::Import(error) => error,
        }
    }
}

/// Takes what a reader finds and hands it on by the block.
pub(super) struct Sink<'s> {
    names: Names,
    /// The current kernel's block.
    block: BlockBuilder,
    current: u32,
    /// The blocks of other kernels, whose launches may go on.
    open: BTreeMap<u32, BlockBuilder>,
    open_bytes: usize,
    kernels: u32,
    opcodes: FxHashMap<Arc<str>, Known>,
    /// How many operations were numbered.
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

    /// Returns a name as it is held for the whole file.
    pub(super) fn name(&mut self, name: &str) -> Result<Arc<str>, NameError> {
        self.names.hold(name)
    }

    /// Begins the next kernel, which becomes the current one, and returns its number.
    pub(super) fn kernel(&mut self, kernel: Kernel) -> Result<u32, ImportError> {
        if kernel.is_spa5() != self.is_spa5 {
            // The same opcode now says something else.
            self.opcodes.clear();
            self.is_spa5 = kernel.is_spa5();
        }
        let number = self.kernels;
        self.kernels += 1;
        (self.emit)(Found::Kernel(kernel))?;
        self.select(number)?;
        Ok(number)
    }

    /// Makes a kernel the current one, to which what is found next belongs.
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

    /// What an opcode with a memory operand is.
    ///
    /// # Errors
    /// Returns [`Refused`] if the opcode is too long, or there are too many different ones.
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
                let bytes = operation.width.bytes();
                let opcode = Arc::clone(&name);
                (self.emit)(Found::Operation(Operation { opcode, ..operation }))?;
                let number = next_number(self.operations, "different loads")?;
                self.operations += 1;
                Known::Load { operation: number, bytes }
            }
        };
        // A load always finds its number again; other opcodes need no memory without bound.
        if matches!(known, Known::Load { .. }) || self.opcodes.len() < KNOWN_OPCODES {
            self.opcodes.insert(name, known);
        }
        Ok(known)
    }

    /// The number of a name, which opcodes with different modifiers share.
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

    /// Says that the file may have been cut off where it ends, with the note that explains it.
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
