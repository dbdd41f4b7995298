//! The end of a process that gets no more memory from the system.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the system has refused memory.
static IS_REFUSED: AtomicBool = AtomicBool::new(false);

/// The system's allocator. It remembers a failure, so that the command ends with exit status 2 and a message, as after
/// every other error, where the standard library would abort. Code that asks whether memory can be reserved gets its
/// answer as before. The hook of the standard library for this is unstable.
#[derive(Debug)]
pub struct Allocator;

/// Remembers a failure. Adds one comparison to an allocation.
#[inline(always)]
fn checked(memory: *mut u8) -> *mut u8 {
    if memory.is_null() {
        refused();
    }
    memory
}

#[cold]
fn refused() {
    IS_REFUSED.store(true, Ordering::Relaxed);
    // The standard library holds a lock while it prints a panic, and would wait for the same lock to print that memory was
    // refused.
    #[cfg(unix)]
    if std::thread::panicking() {
        end();
    }
}

/// Ends the process with a message, once if several threads get here. Does only async-signal-safe work.
#[cfg(unix)]
#[allow(unsafe_code)]
fn end() -> ! {
    const MESSAGE: &[u8] = b"error: there is no more memory; see `ulimit -v`\n";
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    while IS_ENDING.swap(true, Ordering::Relaxed) {
        // SAFETY: the call only waits.
        unsafe { libc::pause() };
    }
    // SAFETY: the message lives as long as the process.
    unsafe { libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len()) };
    signal_hook::low_level::exit(2)
}

#[allow(unsafe_code)]
// SAFETY: every call is the system allocator's, with the caller's arguments and its result.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        checked(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        checked(unsafe { System.realloc(memory, layout, size) })
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Makes an abort after a failed allocation end the process with exit status 2. Any other abort, such as after a stack
/// overflow, stays one.
#[cfg(unix)]
#[allow(unsafe_code)]
pub(crate) fn report_lack() {
    extern "C" fn handle(_: libc::c_int) {
        // Returning lets `abort` go on.
        if IS_REFUSED.load(Ordering::Relaxed) {
            end();
        }
    }
    // SAFETY: `handle` does only async-signal-safe work. signal-hook refuses SIGABRT's handlers to return, and would
    // allocate. An action of zeros is valid, with an empty mask.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as libc::sighandler_t;
        libc::sigaction(libc::SIGABRT, &action, std::ptr::null_mut());
    }
    // If memory ends after a thread got its stack, the standard library panics in the thread, and aborts the process.
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>();
        if text.is_some_and(|text| text.starts_with("failed to allocate an alternative stack")) {
            end();
        }
        default(panic);
    }));
}
