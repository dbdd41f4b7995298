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
    #[cfg(unix)]
    if process::is_owned() {
        lost::report(name, file)?;
    }
    // Other systems do not let a mapped file become shorter.
    #[cfg(not(unix))]
    let _ = name;
    // SAFETY: the help of each subcommand that maps files asks that they do not change while it
    // runs. Temporary files have no name by which another process could change them. Reading a part
    // that was cut off does not return: `lost` ends the process.
    unsafe { Arena::map_read_only(file) }
}

/// The signal for reading a part of a mapped file that is not there any more.
#[cfg(unix)]
mod lost {
    use std::fs::File;
    use std::io::{self, Seek, SeekFrom, Write};
    use std::os::fd::AsFd;
    use std::path::Path;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    use crate::diagnostic;

    /// A mapped file, with all that the handler of the signal needs. It may neither take a lock
    /// nor allocate.
    struct Mapped {
        file: File,
        size: u64,
        stderr: File,
        message: String,
        /// The file that was mapped after this one.
        next: OnceLock<Box<Self>>,
    }

    static FIRST: OnceLock<Box<Mapped>> = OnceLock::new();

    fn mapped() -> impl Iterator<Item = &'static Mapped> {
        std::iter::successors(FIRST.get(), |mapped| mapped.next.get()).map(|mapped| &**mapped)
    }

    /// Adds a file to those that are reported by name.
    pub(super) fn report(name: &Path, file: &File) -> io::Result<()> {
        let message = format!(
            "{}: became shorter, or could not be read, while the command was reading it",
            name.display()
        );
        let mut added = Box::new(Mapped {
            file: file.try_clone()?,
            size: file.metadata()?.len(),
            stderr: io::stderr().as_fd().try_clone_to_owned()?.into(),
            message: diagnostic::plain_error(&message),
            next: OnceLock::new(),
        });
        let mut end = &FIRST;
        while let Err(again) = end.set(added) {
            added = again;
            let Some(mapped) = end.get() else { return Ok(()) };
            end = &mapped.next;
        }
        install();
        Ok(())
    }

    #[allow(unsafe_code)]
    fn install() {
        // SAFETY: `handle` does only what a handler may: it reads atomics and calls lseek, write,
        // sched_yield and _exit. Not by way of signal-hook, which first calls the handler before:
        // that of the standard library restores the default action, which would end the process
        // as soon as a second thread reads.
        unsafe { libc::signal(libc::SIGBUS, handle as *const () as libc::sighandler_t) };
    }

    /// Names the files that are shorter than they were; all if none is, as after an error of a disk.
    extern "C" fn handle(_: libc::c_int) {
        static CALLED: AtomicBool = AtomicBool::new(false);
        while CALLED.swap(true, Ordering::Relaxed) {
            // Another thread was first, and ends the process.
            std::thread::yield_now();
        }
        let is_shorter = |mapped: &Mapped| {
            (&mapped.file).seek(SeekFrom::End(0)).is_ok_and(|size| size < mapped.size)
        };
        let is_known = mapped().any(is_shorter);
        for mapped in mapped().filter(|mapped| !is_known || is_shorter(mapped)) {
            let _ = (&mapped.stderr).write_all(mapped.message.as_bytes());
        }
        // No output has a temporary name while a mapped file is read.
        signal_hook::low_level::exit(2);
    }
}
