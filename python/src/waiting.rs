//! Long work without the interpreter's lock, which Ctrl-C and a progress callback can stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How long a signal or a step of progress waits at most.
const PERIOD: Duration = Duration::from_millis(50);

/// What the work and its observers share.
#[derive(Default)]
pub(crate) struct Shared {
    /// What has been done.
    pub(crate) done: AtomicU64,
    /// Whether the work is to stop.
    pub(crate) interrupt: AtomicBool,
}

/// Does `work` on a thread of its own; meanwhile handles signals and reports progress.
///
/// # Errors
/// Returns what a signal's handler or `progress` raises; the work has ended then too. If one of them forks the
/// process and returns in the child, that has no such thread, which is an error there.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    shared: &Arc<Shared>,
    progress: Option<(&Bound<'_, PyAny>, u64)>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    // Dropped with the interpreter's lock: without it, PyO3 takes another one, which a child could find taken.
    let progress = progress.map(|(callback, total)| (callback.clone().unbind(), total));
    let progress = progress.as_ref();
    let process = std::process::id();
    let (sender, finished) = mpsc::channel();
    // Not a scoped thread: a child would wait for it at the end of the scope.
    let worker = thread::Builder::new().spawn(move || {
        let result = work();
        // The receiver is there until the thread is joined.
        let _ = sender.send(());
        result
    })?;
    py.detach(|| {
        let mut last = None;
        let mut raised = Ok(());
        loop {
            let waits = finished.recv_timeout(PERIOD) == Err(mpsc::RecvTimeoutError::Timeout);
            let done = shared.done.load(Ordering::Relaxed);
            if raised.is_ok() {
                raised = Python::attach(|py| {
                    py.check_signals()?;
                    match progress {
                        Some((callback, total)) if last.replace(done) != Some(done) => {
                            callback.call1(py, (done, *total)).map(drop)
                        }
                        _ => Ok(()),
                    }
                });
                if std::process::id() != process {
                    // Both have locks that the thread may have held.
                    std::mem::forget((worker, finished));
                    raised?;
                    let message = "the process was forked while it waited for work of its parent's";
                    return Err(PyRuntimeError::new_err(message));
                }
                if raised.is_err() {
                    shared.interrupt.store(true, Ordering::Relaxed);
                }
            }
            if !waits {
                break;
            }
        }
        let result = worker.join();
        raised?;
        result.map_err(|_| PyRuntimeError::new_err("the work panicked: this is a bug of warpload"))
    })
}
