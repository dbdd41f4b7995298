//! Signals from outside.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, Once, PoisonError, mpsc};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// What to do if a signal is about to end the process; what it is passed ends it.
type Handler = fn(end: &dyn Fn());

static HANDLERS: Mutex<Vec<Handler>> = Mutex::new(Vec::new());

/// From now on calls `handle` if a signal is about to end the process. Each caller does so once.
pub(crate) fn before_signals_end(handle: Handler) {
    HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let (to, from) = mpsc::channel::<Signals>();
        let thread = thread::Builder::new().spawn(move || {
            let Ok(mut signals) = from.recv() else { return };
            for signal in signals.forever() {
                // A copy: a handler may wait for a thread that adds another.
                let handlers = HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
                end_after(&handlers, &|| {
                    let _ = emulate_default_handler(signal);
                });
            }
        });
        // If the system starts no thread, signals end the process at once.
        if thread.is_ok()
            && let Ok(signals) = Signals::new(ending())
        {
            let _ = to.send(signals);
        }
    });
}

/// Calls each handler inside the one before it, so that what they lock stays locked to the end.
fn end_after(handlers: &[Handler], end: &dyn Fn()) {
    match handlers {
        [first, others @ ..] => first(&|| end_after(others, end)),
        [] => end(),
    }
}

/// Returns the signals to handle: those that end the process from outside, except the ones that are
/// ignored, as by `nohup`.
pub(crate) fn ending() -> Vec<i32> {
    let mut signals = vec![SIGHUP, SIGINT, SIGQUIT, SIGTERM];
    signals.retain(|signal| !is_ignored(*signal));
    signals
}

#[allow(unsafe_code)]
fn is_ignored(signal: i32) -> bool {
    // SAFETY: an action of zeros is valid. Without a new action the call changes nothing, and it writes
    // the present one to `action`, which lives as long.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let result = libc::sigaction(signal, std::ptr::null(), &mut action);
        result == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Lets writing beyond the limit of a file's size fail instead of ending the process.
pub(crate) fn report_file_size_limit() {
    // Any handler does; whether it was called is of no interest.
    static CALLED: AtomicBool = AtomicBool::new(false);
    let _ = signal_hook::flag::register(SIGXFSZ, &CALLED);
}
