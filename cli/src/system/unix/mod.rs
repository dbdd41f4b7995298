//! Unix: what a file is beside its name, standard output that is closed, forks and signals.

mod lost;
mod signals;

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, fchown};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use self::lost::report as report_lost;
#[cfg(test)]
pub(crate) use self::signals::ending as ending_signals;
pub(crate) use self::signals::{before_signals_end, report_file_size_limit};

/// What two names of one file have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Returns `None` for what cannot be lost by writing to it: a terminal, `/dev/null`.
    pub(crate) fn new(_: &Path, metadata: &Metadata) -> Option<Self> {
        let is_device = metadata.file_type().is_char_device();
        (!is_device).then(|| Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// Returns a file of its own for an open descriptor.
fn file_of(descriptor: &impl AsFd) -> io::Result<File> {
    Ok(File::from(descriptor.as_fd().try_clone_to_owned()?))
}

/// Returns the metadata of standard input, which can be a file too.
pub(crate) fn stdin_metadata() -> Option<Metadata> {
    file_of(&io::stdin()).and_then(|file| file.metadata()).ok()
}

/// Whether writing to a path goes to standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    if check_stdout().is_err() {
        // In its place is what others may write to as well.
        let names = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
        return names.iter().any(|name| path == Path::new(name));
    }
    let stdout = file_of(&io::stdout()).and_then(|file| file.metadata());
    let (Ok(stdout), Ok(target)) = (stdout, fs::metadata(path)) else { return false };
    (stdout.dev(), stdout.ino()) == (target.dev(), target.ino())
}

/// Returns standard output as a file. Opened again, it would be written from its beginning.
pub(crate) fn unbuffered_stdout() -> io::Result<File> {
    check_stdout()?;
    file_of(&io::stdout())
}

/// Whether the owner must not write a file; the superuser can, but was not meant to.
pub(crate) fn is_read_only(metadata: &Metadata) -> bool {
    metadata.permissions().mode() & 0o200 == 0
}

/// Lets a file have the mode of the one that it replaces, and its owner if the system allows it.
pub(crate) fn keep_permissions(file: &File, existing: &Metadata) -> io::Result<()> {
    let (owner, group) = (existing.uid(), existing.gid());
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (owner, group) && fchown(file, Some(owner), Some(group)).is_err() {
        // Only the superuser gives files away; to a group of theirs, others may.
        let _ = fchown(file, None, Some(group));
    }
    file.set_permissions(fs::Permissions::from_mode(existing.permissions().mode() & 0o777))
}

/// Whether a path leads to a pipe that has a name: opening it could wait for ever. The pipes of a
/// shell (`<(…)`, `/dev/stdin`) have none.
pub(crate) fn is_named_pipe(path: &Path) -> bool {
    let is_pipe = path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo());
    is_pipe && path.canonicalize().is_ok_and(|path| !path.starts_with("/dev"))
}

/// Whether standard output was closed when the program began, or only open for reading. The standard library opens
/// `/dev/null` in place of the one and ignores the error of the other, so that results would go nowhere.
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
