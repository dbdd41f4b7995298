//! Files that the command maps instead of reading: the one place that promises that they do not
//! change meanwhile, and what happens if they do.

use std::fs::File;
use std::io;
use std::path::Path;

use warpload::memory::Arena;

#[cfg(unix)]
use super::process;

/// Maps a whole file. If it becomes shorter than it is now, the process ends, with a message and exit
/// status 2 if it is the command's.
#[allow(unsafe_code)]
pub(crate) fn map(name: &Path, file: &File) -> io::Result<Arena> {
    // SAFETY: the help of each subcommand that maps files asks that they do not change while it
    // runs. Temporary files have no name by which another process could change them. Reading a part
    // that was cut off does not return: `lost` ends the process.
    let arena = unsafe { Arena::map_read_only(file) }?;
    #[cfg(unix)]
    if process::is_owned() {
        lost::report(name, arena.bytes())?;
    }
    // Other systems do not let a mapped file become shorter.
    #[cfg(not(unix))]
    let _ = name;
    Ok(arena)
}

/// The signal for reading a part of a mapped file that is not there any more.
#[cfg(unix)]
mod lost {
    use std::fs::File;
    use std::io::{self, Write};
    use std::ops::Range;
    use std::os::fd::AsFd;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, OnceLock, PoisonError};

    use crate::diagnostic;

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

    /// Adds a file to those that are reported by name.
    pub(super) fn report(name: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none() {
            let stderr = File::from(io::stderr().as_fd().try_clone_to_owned()?);
            STDERR.get_or_init(|| stderr);
            install();
        }
        let message = format!(
            "{}: became shorter, or could not be read, while the command was reading it",
            name.display()
        );
        let bytes = bytes.as_ptr_range();
        let added: &'static Mapped = Box::leak(Box::new(Mapped {
            addresses: bytes.start as usize..bytes.end as usize,
            message: diagnostic::plain_error(&message),
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
        for mapped in mapped().filter(|mapped| read.is_none_or(|read| std::ptr::eq(*mapped, read)))
        {
            if let Some(mut stderr) = STDERR.get() {
                let _ = stderr.write_all(mapped.message.as_bytes());
            }
        }
        // No output has a temporary name while a mapped file is read.
        signal_hook::low_level::exit(2);
    }
}
