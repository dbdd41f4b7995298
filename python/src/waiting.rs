//! Long work without the interpreter's lock. Ctrl-C and a progress callback can stop it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PySystemExit};
use pyo3::prelude::*;
use pyo3::types::PyCFunction;
use warpload_suite::program::end_programs;

/// The longest time until a signal or progress is handled.
pub(crate) const PERIOD: Duration = Duration::from_millis(50);

/// The state that the work and its observers share.
#[derive(Default)]
pub(crate) struct Shared {
    /// The amount of work done.
    pub(crate) done: AtomicU64,
    /// Whether the work should stop.
    pub(crate) interrupt: Arc<AtomicBool>,
    /// Whether the work starts programs, which an exception ends.
    pub(crate) has_programs: bool,
}

/// Does `work` on a thread of its own, and meanwhile handles signals and reports progress.
///
/// # Errors
/// Exceptions that a signal handler or `progress` raises, once the work has stopped. If one of them forks the process
/// and returns in the child, the child gets an error, because it does not have the working thread.
pub(crate) fn wait<T: Send + 'static>(
    py: Python<'_>,
    shared: &Arc<Shared>,
    progress: Option<(&Bound<'_, PyAny>, u64)>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    // Dropped with the interpreter's lock held. Without it, PyO3 would take a lock of its own, which a forked child
    // could find taken.
    let progress = progress.map(|(callback, total)| (callback.clone().unbind(), total));
    let progress = progress.as_ref();
    let process = std::process::id();
    let (sender, finished) = mpsc::channel();
    // Not a scoped thread, because a forked child would wait for it at the end of the scope.
    let worker = thread::Builder::new().spawn(move || {
        let result = work();
        // The receiver exists until the thread is joined.
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
            // Again each time, because the work can start one before it sees the interrupt.
            if raised.is_err() && shared.has_programs && RUNS.load(Ordering::Relaxed) == 1 {
                end_programs(&|| ());
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

/// How many calls of this process wait for work that starts programs.
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// Calls `wait` with work that starts programs. An exception in it ends them at once, unless another thread has programs,
/// too: then they end with the time limit of the answer that is waited for. On the main thread, SIGTERM is such an
/// exception until they have ended, if it would else end this process without them.
pub(crate) fn ending_programs<T>(
    py: Python<'_>,
    wait: impl FnOnce() -> PyResult<T>,
) -> PyResult<T> {
    let signal = py.import("signal")?;
    let number = signal.getattr("SIGTERM")?;
    let default = signal.getattr("SIG_DFL")?;
    let is_default = signal.call_method1("getsignal", (&number,))?.eq(&default)?;
    let is_ended = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&is_ended);
    let handler = PyCFunction::new_closure(py, None, None, move |_, _| {
        ended.store(true, Ordering::Relaxed);
        Err::<(), _>(PySystemExit::new_err("terminated"))
    })?;
    // Fails on other threads.
    let is_handled = is_default && signal.call_method1("signal", (&number, handler)).is_ok();
    RUNS.fetch_add(1, Ordering::Relaxed);
    let result = wait();
    RUNS.fetch_sub(1, Ordering::Relaxed);
    if is_handled {
        signal.call_method1("signal", (&number, default))?;
    }
    if is_ended.load(Ordering::Relaxed) {
        signal.call_method1("raise_signal", (number,))?;
    }
    result
}
