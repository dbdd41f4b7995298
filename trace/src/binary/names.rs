//! The names in a trace (kernels, header lines, opcodes): each is held once, and all together are
//! bounded, so that a small compressed trace cannot fill memory with them.

use std::sync::Arc;

use rustc_hash::FxHashSet;

/// The most bytes of a name.
pub const MAX_NAME_BYTES: usize = 64 << 10;

/// The most bytes of all different names of a trace together.
pub const MAX_ALL_NAMES_BYTES: usize = 64 << 20;

/// What a name takes besides its bytes: its allocation and its entry in the set.
const OVERHEAD: usize = 64;

/// Why a name was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NameError {
    #[error("a name of {bytes} bytes; expected at most {MAX_NAME_BYTES}")]
    TooLong { bytes: usize },
    #[error("the different names of this trace take more than {MAX_ALL_NAMES_BYTES} bytes")]
    TooMany,
}

/// The different names of a trace.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: FxHashSet<Arc<str>>,
    bytes: usize,
}

impl Names {
    /// Returns the shared name that equals `name`.
    pub(crate) fn hold(&mut self, name: &str) -> Result<Arc<str>, NameError> {
        self.hold_or_make(name, || name.into())
    }

    /// Returns the shared name that equals `name`, which becomes it if there is none.
    pub(crate) fn share(&mut self, name: &Arc<str>) -> Result<Arc<str>, NameError> {
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
