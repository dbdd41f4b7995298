//! What only Linux has: files without a name, and `/proc`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

/// Creates a file without a name, if the file system can and the file can get one later.
pub(crate) fn unnamed(folder: &Path) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
    descriptor_path(&file).symlink_metadata().is_ok().then_some(file)
}

/// Gives a name that is free to a file of [`unnamed`].
pub(crate) fn link(file: &File, path: &Path) -> io::Result<()> {
    Ok(linkat(CWD, descriptor_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

fn descriptor_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Whether links in a folder lead to files that are open, which need not have a name at all.
pub(crate) fn is_folder_of_open_files(folder: &Path) -> bool {
    folder.canonicalize().is_ok_and(|folder| folder.starts_with("/proc"))
}
