//! The signal for reading a part of a mapped file that is not there any more.

use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A mapped file, with all that the handler of the signal needs. It may neither take a lock
/// nor allocate. Of a trace set there are thousands, so that none keeps a file open.
struct Mapped {
    addresses: Range<usize>,
    message: String,
    /// The file that was mapped after this one.
    next: OnceLock<&'static Self>,
}

static FIRST: OnceLock<&'static Mapped> = OnceLock::new();
/// The file that was mapped last, after which the next one is added.
static LAST: Mutex<Option<&'static Mapped>> = Mutex::new(None);
static STDERR: OnceLock<File> = OnceLock::new();

fn mapped() -> impl Iterator<Item = &'static Mapped> {
    std::iter::successors(FIRST.get(), |mapped| mapped.next.get()).copied()
}

/// From now on ends the process with `message` and exit status 2 if a part of these mapped bytes is not
/// there any more when it is read.
pub(crate) fn report(bytes: &[u8], message: String) -> io::Result<()> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.is_none() {
        let stderr = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        STDERR.get_or_init(|| stderr);
        install();
    }
    let bytes = bytes.as_ptr_range();
    let added: &'static Mapped = Box::leak(Box::new(Mapped {
        addresses: bytes.start as usize..bytes.end as usize,
        message,
        next: OnceLock::new(),
    }));
    let end = last.map_or(&FIRST, |last| &last.next);
    end.get_or_init(|| added);
    *last = Some(added);
    Ok(())
}

#[allow(unsafe_code)]
fn install() {
    // SAFETY: `handle` does only what a handler may: it reads atomics and calls write,
    // sched_yield and _exit. Not by way of signal-hook, which first calls the handler before:
    // that of the standard library restores the default action, which would end the process
    // as soon as a second thread reads. An action of zeros is valid, with an empty mask.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO;
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
    }
}

/// Names the file that could not be read; all if it is unknown.
#[allow(unsafe_code)]
extern "C" fn handle(_: libc::c_int, info: *const libc::siginfo_t, _: *const libc::c_void) {
    static CALLED: AtomicBool = AtomicBool::new(false);
    while CALLED.swap(true, Ordering::Relaxed) {
        // Another thread was first, and ends the process.
        std::thread::yield_now();
    }
    // SAFETY: the system passes a valid pointer to a handler with `SA_SIGINFO`.
    let address = unsafe { (*info).si_addr() } as usize;
    // What was mapped there before is not any more.
    let read = mapped().filter(|mapped| mapped.addresses.contains(&address)).last();
    for mapped in mapped().filter(|mapped| read.is_none_or(|read| std::ptr::eq(*mapped, read))) {
        if let Some(mut stderr) = STDERR.get() {
            let _ = stderr.write_all(mapped.message.as_bytes());
        }
    }
    // No output has a temporary name while a mapped file is read.
    signal_hook::low_level::exit(2);
}
