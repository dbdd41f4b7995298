//! Long work without the interpreter's lock, which Ctrl-C and a progress callback can stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
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
/// Returns what a signal's handler or `progress` raises. The work has ended then too.
pub(crate) fn wait<T: Send>(
    py: Python<'_>,
    shared: &Shared,
    progress: Option<(&Bound<'_, PyAny>, u64)>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let progress = progress.map(|(callback, total)| (callback.clone().unbind(), total));
    py.detach(|| {
        thread::scope(|scope| {
            let (sender, finished) = mpsc::channel();
            let worker = scope.spawn(move || {
                let result = work();
                // The receiver is there until the thread is joined.
                let _ = sender.send(());
                result
            });
            let mut last = None;
            let mut raised = Ok(());
            loop {
                let waits = finished.recv_timeout(PERIOD) == Err(mpsc::RecvTimeoutError::Timeout);
                let done = shared.done.load(Ordering::Relaxed);
                if raised.is_ok() {
                    raised = Python::attach(|py| {
                        py.check_signals()?;
                        match &progress {
                            Some((callback, total)) if last.replace(done) != Some(done) => {
                                callback.call1(py, (done, *total)).map(drop)
                            }
                            _ => Ok(()),
                        }
                    });
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
            result.map_err(|_| {
                PyRuntimeError::new_err("the work panicked: this is a bug of warpload")
            })
        })
    })
}
