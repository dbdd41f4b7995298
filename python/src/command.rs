//! The command, with the streams of the process.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command in this process, with its streams, and returns the exit status, and whether the system refused
/// something, which it may not the next time. The
/// process does nothing else: its signals are the command's. `stdout_is_closed` says that its standard output was closed,
/// and is something else by now.
#[pyfunction]
#[pyo3(signature = (arguments, *, stdout_is_closed = false))]
pub(crate) fn run(py: Python<'_>, arguments: Vec<OsString>, stdout_is_closed: bool) -> (u8, bool) {
    py.detach(|| {
        if stdout_is_closed {
            warpload_cli::stdout_is_closed();
        }
        let ended = warpload_cli::run_to_end(named(arguments));
        (ended.status, ended.is_system_error)
    })
}

/// Makes what is made on first use otherwise, by one thread while others wait for it: a child of this process that was
/// forked meanwhile would wait forever.
#[pyfunction]
pub(crate) fn survive_forks() {
    // What threads share work by.
    let _ = crossbeam_epoch::default_collector();
    warpload::initialize();
    warpload_ptx::initialize();
}

/// The name of the command comes first.
fn named(arguments: Vec<OsString>) -> impl Iterator<Item = OsString> {
    std::iter::once(OsString::from("warpload")).chain(arguments)
}
