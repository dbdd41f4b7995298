//! The process that the command runs in: whether it is the command's own, so that it may handle signals, and how it
//! ends.

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

/// How a command ended that did its work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Done,
    /// What was asked about is wrong or is not there.
    Failed,
    /// Wrong use, or an input or output that fails; already reported.
    Unreadable,
}
