//! Whether the process is the command's, so that it may handle signals.

use std::sync::atomic::{AtomicBool, Ordering};

use super::temporary;

static IS_OWNED: AtomicBool = AtomicBool::new(false);

/// Says that the process does nothing but run the command, which then handles signals: a mapped file
/// that becomes shorter and a file that becomes too large are reported, and a signal that ends the
/// process removes unfinished files. Without this, [`run`](crate::run) leaves signals alone.
pub fn own_process() {
    IS_OWNED.store(true, Ordering::Relaxed);
    temporary::report_file_size_limit();
}

/// Returns whether the process is the command's.
pub(crate) fn is_owned() -> bool {
    IS_OWNED.load(Ordering::Relaxed)
}
