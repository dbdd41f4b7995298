//! Standard output that is closed when the program begins, or only open for reading. The standard library opens
//! `/dev/null` in place of the one and ignores the error of the other, so that results would go nowhere.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

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
            stdout_is_closed();
        }
    }
    look
};

/// From now on nothing can be written to standard output.
pub(crate) fn stdout_is_closed() {
    IS_CLOSED.store(true, Ordering::Relaxed);
}

/// Returns the error of writing to standard output if it is closed to it.
pub(crate) fn check_stdout() -> std::io::Result<()> {
    if IS_CLOSED.load(Ordering::Relaxed) {
        return Err(std::io::Error::from_raw_os_error(libc::EBADF));
    }
    Ok(())
}
