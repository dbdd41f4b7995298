//! The command, with the streams of the process.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command in this process, with its streams, and returns the exit status, and whether the system refused
/// something, which it may not the next time. `own_process` says
/// that the process does nothing else, so that signals are the command's; `stdout_is_closed`, that its standard
/// output was closed, and is something else by now.
#[pyfunction]
#[pyo3(signature = (arguments, *, own_process = false, stdout_is_closed = false))]
pub(crate) fn run(
    py: Python<'_>,
    arguments: Vec<OsString>,
    own_process: bool,
    stdout_is_closed: bool,
) -> (u8, bool) {
    py.detach(|| {
        if stdout_is_closed {
            warpload_cli::stdout_is_closed();
        }
        if own_process {
            warpload_cli::own_process();
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
