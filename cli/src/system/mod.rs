//! Differences between operating systems: standard streams, pipes, signals and mapped files.

#[cfg(unix)]
mod lost;
mod memory;
#[cfg(unix)]
mod signals;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
pub(crate) use self::lost::report as report_lost;
pub use self::memory::Allocator;
#[cfg(unix)]
pub(crate) use self::memory::report_lack as report_lack_of_memory;
#[cfg(all(test, unix))]
pub(crate) use self::signals::ending as ending_signals;
#[cfg(unix)]
pub(crate) use self::signals::{before_signals_end, report_file_size_limit};
#[cfg(unix)]
pub(crate) use self::unix::{is_named_pipe, stdin_metadata};
#[cfg(not(unix))]
pub(crate) use self::windows::{
    before_signals_end, is_named_pipe, report_file_size_limit, report_lack_of_memory, report_lost,
    stdin_metadata,
};

/// Whether standard output was closed, or open only for reading, when the program began. The standard library opens
/// `/dev/null` in place of a closed one and ignores the write errors of the other, so results would be lost.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Makes writing to standard output fail from now on.
pub(crate) fn stdout_is_closed() {
    IS_CLOSED.store(true, Ordering::Relaxed);
}

/// The error of writing to standard output, if it is known to be closed.
pub(crate) fn check_stdout() -> io::Result<()> {
    if !IS_CLOSED.load(Ordering::Relaxed) {
        return Ok(());
    }
    #[cfg(unix)]
    return Err(io::Error::from_raw_os_error(libc::EBADF));
    #[cfg(not(unix))]
    Err(io::Error::other("it is closed"))
}

#[cfg(unix)]
mod unix {
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileTypeExt;
    use std::path::Path;

    /// The metadata of standard input, which can be a file too.
    pub(crate) fn stdin_metadata() -> Option<Metadata> {
        File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata().ok()
    }

    /// Whether a path leads to a named pipe, because opening one could wait for ever. The pipes of a shell (`<(…)`,
    /// `/dev/stdin`) have no names.
    pub(crate) fn is_named_pipe(path: &Path) -> bool {
        let is_pipe = path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo());
        is_pipe && path.canonicalize().is_ok_and(|path| !path.starts_with("/dev"))
    }

    /// Called before the standard library initializes.
    #[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
    #[used]
    #[allow(unsafe_code)]
    #[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    // SAFETY: the section is a list of pointers to functions, which are called once each, before there are other
    // threads.
    static AT_BEGINNING: extern "C" fn() = {
        extern "C" fn look() {
            // SAFETY: the call only asks for the descriptor's flags.
            let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) };
            if flags == -1 || flags & libc::O_ACCMODE == libc::O_RDONLY {
                super::stdout_is_closed();
            }
        }
        look
    };
}

/// Windows has no counterparts: signals from outside cannot be handled, and a mapped file cannot become shorter.
#[cfg(not(unix))]
mod windows {
    use std::fs::Metadata;
    use std::io;
    use std::path::Path;

    pub(crate) fn stdin_metadata() -> Option<Metadata> {
        None
    }

    pub(crate) fn is_named_pipe(_: &Path) -> bool {
        false
    }

    pub(crate) fn report_lost(_: &[u8], _: String) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn before_signals_end(_: fn(end: &dyn Fn())) {}

    pub(crate) fn report_file_size_limit() {}

    pub(crate) fn report_lack_of_memory() {}
}
