//! Forks of the process.

use std::io;

/// From now on calls `before` before the process is forked, in the thread that does it, then `in_parent` or
/// `in_child`. Programs that are started instead call none of them.
#[allow(unsafe_code)]
pub(crate) fn at_forks(
    before: extern "C" fn(),
    in_parent: extern "C" fn(),
    in_child: extern "C" fn(),
) -> io::Result<()> {
    // SAFETY: the functions are there for as long as this library, which takes them back if it is unloaded.
    let error = unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}
