//! Signals from outside.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, Once, PoisonError, mpsc};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Called before a signal ends the process. Calling `end` ends it.
type Handler = fn(end: &dyn Fn());

static HANDLERS: Mutex<Vec<Handler>> = Mutex::new(Vec::new());

/// Calls `handle` before a signal ends the process. Each caller registers once.
pub(crate) fn before_signals_end(handle: Handler) {
    HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let (to, from) = mpsc::channel::<Signals>();
        let thread = thread::Builder::new().spawn(move || {
            let Ok(mut signals) = from.recv() else { return };
            for signal in signals.forever() {
                // A copy, because a handler may wait for a thread that registers another.
                let handlers = HANDLERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
                end_after(&handlers, &|| {
                    let _ = emulate_default_handler(signal);
                });
            }
        });
        // Without a thread for them, signals end the process at once.
        if thread.is_ok()
            && let Ok(signals) = Signals::new(ending())
        {
            let _ = to.send(signals);
        }
    });
}

/// Calls each handler inside the previous one, so that their locks are held to the end.
fn end_after(handlers: &[Handler], end: &dyn Fn()) {
    match handlers {
        [first, others @ ..] => first(&|| end_after(others, end)),
        [] => end(),
    }
}

/// The signals to handle: all that end the process from outside, except ignored ones, as under `nohup`.
pub(crate) fn ending() -> Vec<i32> {
    let mut signals = vec![SIGHUP, SIGINT, SIGQUIT, SIGTERM];
    signals.retain(|signal| !is_ignored(*signal));
    signals
}

#[allow(unsafe_code)]
fn is_ignored(signal: i32) -> bool {
    // SAFETY: an action of zeros is valid. Without a new action the call changes nothing, and writes the present one to
    // `action`, which lives as long.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let result = libc::sigaction(signal, std::ptr::null(), &mut action);
        result == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Makes writing beyond the file size limit fail instead of ending the process.
pub(crate) fn report_file_size_limit() {
    // Any handler does; the flag is never read.
    static CALLED: AtomicBool = AtomicBool::new(false);
    let _ = signal_hook::flag::register(SIGXFSZ, &CALLED);
}
