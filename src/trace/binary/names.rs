//! The names in a trace (kernels, header lines, opcodes): each is held once, and all together are
//! bounded, so that a small compressed trace cannot fill memory with them.

use std::sync::Arc;

use rustc_hash::FxHashSet;

/// No name has more bytes.
pub const MAX_NAME_BYTES: usize = 64 << 10;

/// All different names of a trace together have no more bytes.
pub const MAX_ALL_NAMES_BYTES: usize = 64 << 20;

/// What a name costs besides its bytes: where it is held, and that it is known.
const OVERHEAD: usize = 64;

/// Why a name was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::trace) enum NameError {
    #[error("a name of {bytes} bytes; expected at most {MAX_NAME_BYTES}")]
    TooLong { bytes: usize },
    #[error("the different names of this trace take more than {MAX_ALL_NAMES_BYTES} bytes")]
    TooMany,
}

/// The different names of a trace.
#[derive(Debug, Default)]
pub(in crate::trace) struct Names {
    known: FxHashSet<Arc<str>>,
    bytes: usize,
}

impl Names {
    /// Returns the name as it is held, once for all that are equal.
    pub(in crate::trace) fn hold(&mut self, name: &str) -> Result<Arc<str>, NameError> {
        self.hold_or_make(name, || name.into())
    }

    /// [`Self::hold`] of a name that is held elsewhere too: the first of equal ones is shared.
    pub(in crate::trace) fn share(&mut self, name: &Arc<str>) -> Result<Arc<str>, NameError> {
        self.hold_or_make(name, || Arc::clone(name))
    }

    fn hold_or_make(
        &mut self,
        name: &str,
        make: impl FnOnce() -> Arc<str>,
    ) -> Result<Arc<str>, NameError> {
        if let Some(known) = self.known.get(name) {
            return Ok(Arc::clone(known));
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(NameError::TooLong { bytes: name.len() });
        }
        self.bytes += name.len() + OVERHEAD;
        if self.bytes > MAX_ALL_NAMES_BYTES {
            return Err(NameError::TooMany);
        }
        let name = make();
        self.known.insert(Arc::clone(&name));
        Ok(name)
    }
}
