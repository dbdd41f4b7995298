//! Whether the process is the command's, so that it may handle signals.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_OWNED: AtomicBool = AtomicBool::new(false);

/// Marks the process as the command's.
pub(crate) fn own() {
    IS_OWNED.store(true, Ordering::Relaxed);
}

/// Returns whether the process is the command's.
pub(crate) fn is_owned() -> bool {
    IS_OWNED.load(Ordering::Relaxed)
}
