//! What differs between operating systems: standard streams, pipes, signals and mapped files.

#[cfg(unix)]
mod lost;
#[cfg(unix)]
mod signals;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
pub(crate) use self::lost::report as report_lost;
#[cfg(all(test, unix))]
pub(crate) use self::signals::ending as ending_signals;
#[cfg(unix)]
pub(crate) use self::signals::{before_signals_end, report_file_size_limit};
#[cfg(unix)]
pub(crate) use self::unix::{is_named_pipe, stdin_metadata};
#[cfg(not(unix))]
pub(crate) use self::windows::{
    before_signals_end, is_named_pipe, report_file_size_limit, report_lost, stdin_metadata,
};

/// Whether standard output was closed when the program began, or only open for reading. The standard library opens
/// `/dev/null` in place of the one and ignores the error of the other, so that results would go nowhere.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// From now on nothing can be written to standard output.
pub(crate) fn stdout_is_closed() {
    IS_CLOSED.store(true, Ordering::Relaxed);
}

/// Returns the error of writing to standard output if it is known to be closed.
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

    /// Returns the metadata of standard input, which can be a file too.
    pub(crate) fn stdin_metadata() -> Option<Metadata> {
        File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata().ok()
    }

    /// Returns whether a path leads to a pipe that has a name: opening it could wait for ever. The pipes of a
    /// shell (`<(…)`, `/dev/stdin`) have none.
    pub(crate) fn is_named_pipe(path: &Path) -> bool {
        let is_pipe = path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo());
        is_pipe && path.canonicalize().is_ok_and(|path| !path.starts_with("/dev"))
    }

    /// Is called before the standard library begins.
    #[cfg(any(target_os = "linux", target_os = "macos", target_os = "freebsd"))]
    #[used]
    #[allow(unsafe_code)]
    #[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    // SAFETY: the section consists of pointers to functions, which are called once each, before there are other threads.
    static AT_BEGINNING: extern "C" fn() = {
        extern "C" fn look() {
            // SAFETY: the call only asks how the descriptor is open.
            let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFL) };
            if flags == -1 || flags & libc::O_ACCMODE == libc::O_RDONLY {
                super::stdout_is_closed();
            }
        }
        look
    };
}

/// Windows has none of these: no signal from outside can be handled, and a mapped file cannot become shorter.
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
}
