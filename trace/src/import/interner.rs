//! [`Interner`]: the names and opcodes of an import, each stored once for all files, pieces and threads.
//!
//! Threads number operations here in no fixed order. The import renumbers them block by block in the order of first
//! use, so that a trace does not depend on the number of threads. All names together are bounded, so that a small
//! compressed text cannot fill memory with them.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::error::ImportError;
use super::{MAX_KERNELS, too_many_operations};
use crate::binary::{MAX_ALL_NAMES_BYTES, MAX_NAME_BYTES, NAME_OVERHEAD};
use crate::operation::MemoryOperation;

/// Shared by all readers of an import. Readers cache frequent lookups.
#[derive(Default)]
pub(super) struct Interner {
    known: Mutex<Interned>,
}

#[derive(Default)]
struct Interned {
    names: FxHashSet<Arc<str>>,
    names_bytes: usize,
    /// Operations by opcode, for later code and for SM 5.x and 6.x, in which the same text has another meaning.
    opcodes: [FxHashMap<Arc<str>, Arc<InternedOperation>>; 2],
    operations: Vec<Arc<InternedOperation>>,
}

/// An operation, and its number in an import.
pub(super) struct InternedOperation {
    pub(super) number: u16,
    pub(super) operation: MemoryOperation,
}

/// Why a name was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NameError {
    #[error("a name of {bytes} bytes; expected at most {MAX_NAME_BYTES}")]
    TooLong { bytes: usize },
    #[error("the different names of this trace take more than {MAX_ALL_NAMES_BYTES} bytes")]
    TooMany,
    #[error("more than {MAX_KERNELS} launches")]
    Launches,
}

/// Why an opcode was refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    /// The name itself is at fault; the reader knows its place.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The import as a whole is at fault.
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl Refused {
    /// Converts to the import's error, with a place if the name is at fault.
    pub(super) fn at(self, place: impl FnOnce(String) -> ImportError) -> ImportError {
        match self {
            Self::Name(error) => place(error.to_string()),
            Self::Import(error) => error,
        }
    }
}

impl Interner {
    /// The shared copy of a name.
    pub(super) fn name(&self, name: &str) -> Result<Arc<str>, NameError> {
        self.lock().name(name)
    }

    /// The operation of an opcode with a memory operand, in code of SM 5.x and 6.x or of later SMs.
    ///
    /// # Errors
    /// Returns [`Refused`] if the opcode is too long or there are too many distinct ones.
    pub(super) fn operation(
        &self,
        opcode: &str,
        is_spa5: bool,
    ) -> Result<Arc<InternedOperation>, Refused> {
        let known = &mut *self.lock();
        if let Some(operation) = known.opcodes[usize::from(is_spa5)].get(opcode) {
            return Ok(Arc::clone(operation));
        }
        let opcode = known.name(opcode)?;
        let number = u16::try_from(known.operations.len()).map_err(|_| too_many_operations())?;
        let read = if is_spa5 { MemoryOperation::of_spa5 } else { MemoryOperation::of_opcode };
        let operation = MemoryOperation { opcode: Arc::clone(&opcode), ..read(&opcode) };
        let new = Arc::new(InternedOperation { number, operation });
        known.operations.push(Arc::clone(&new));
        known.opcodes[usize::from(is_spa5)].insert(opcode, Arc::clone(&new));
        Ok(new)
    }

    /// The operation with a number that [`Self::operation`] has returned.
    pub(super) fn numbered(&self, number: u16) -> Option<Arc<InternedOperation>> {
        self.lock().operations.get(usize::from(number)).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Interned> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Interned {
    fn name(&mut self, name: &str) -> Result<Arc<str>, NameError> {
        if let Some(known) = self.names.get(name) {
            return Ok(Arc::clone(known));
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(NameError::TooLong { bytes: name.len() });
        }
        let bytes = self.names_bytes + name.len() + NAME_OVERHEAD;
        if bytes > MAX_ALL_NAMES_BYTES {
            return Err(NameError::TooMany);
        }
        self.names_bytes = bytes;
        let name = Arc::from(name);
        self.names.insert(Arc::clone(&name));
        Ok(name)
    }
}
