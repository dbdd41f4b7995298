//! The command, on the standard streams of this process.

use std::ffi::OsString;

use pyo3::prelude::*;
use warpload_cli::EndCause;

use crate::error::ErrorKind;

/// Runs the command in this process, on its standard streams. Returns the exit status, and the kind of the error
/// behind status 2: `system` if the next try may succeed, `selection` or `input`.
///
/// The process should do nothing else, because the command installs its own signal handlers. `stdout_is_closed` tells
/// the command that standard output was closed and its descriptor is something else by now.
#[pyfunction]
#[pyo3(signature = (arguments, *, stdout_is_closed = false))]
pub(crate) fn run(
    py: Python<'_>,
    arguments: Vec<OsString>,
    stdout_is_closed: bool,
) -> (u8, Option<&'static str>) {
    py.detach(|| {
        if stdout_is_closed {
            warpload_cli::stdout_is_closed();
        }
        let ended = warpload_cli::run_to_end(named(arguments));
        let kind = |cause| match cause {
            EndCause::System => ErrorKind::System,
            EndCause::Selection => ErrorKind::Selection,
            EndCause::Input => ErrorKind::Input,
        };
        (ended.status, ended.cause.map(|cause| kind(cause).name()))
    })
}

/// Initializes everything that is otherwise initialized on first use. One thread would do that while others wait for
/// it, and a child process forked in the meantime would wait forever.
#[pyfunction]
pub(crate) fn survive_forks() {
    // What threads share work by.
    let _ = crossbeam_epoch::default_collector();
    warpload::initialize();
    warpload_ptx::initialize();
}

/// Puts the command's name in front, as in `argv`.
fn named(arguments: Vec<OsString>) -> impl Iterator<Item = OsString> {
    std::iter::once(OsString::from("warpload")).chain(arguments)
}
