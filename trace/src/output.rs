//! [`OutputFile`]: a file that appears in its place when it is whole and on the disk, and never in place of one of the
//! [`InputFiles`].
//!
//! Until then it has no name if the system has such files. Elsewhere it has a temporary name, which
//! [`remove_temporary_files`] removes before a signal ends the process.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile, TempPath};

/// The number of symbolic links that may lead to a file, as on Linux.
const MAX_LINKS: usize = 40;

/// Files that no output may replace, under these names or others.
#[derive(Debug, Default)]
pub struct InputFiles(Mutex<BTreeSet<system::Identity>>);

impl InputFiles {
    /// Creates a set without files.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeSet::new()))
    }

    fn files(&self) -> MutexGuard<'_, BTreeSet<system::Identity>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a file that was opened.
    pub fn add(&self, path: &Path, metadata: &Metadata) {
        self.files().extend(system::identity(path, metadata));
    }

    /// Adds a file that another one names, read or not. A missing file cannot be lost, so it is left out.
    pub fn add_named(&self, path: &Path) {
        if let Ok(metadata) = fs::metadata(path) {
            self.add(path, &metadata);
        }
    }

    fn contains(&self, path: &Path, metadata: &Metadata) -> bool {
        system::identity(path, metadata).is_some_and(|file| self.files().contains(&file))
    }
}

/// Why an output is not written. Its message begins with the output, as it was asked for.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
#[non_exhaustive]
pub struct OutputError {
    /// The output.
    pub path: PathBuf,
    /// The problem.
    pub problem: OutputProblem,
    /// The I/O error, if the system refuses it.
    pub source: Option<io::Error>,
}

/// What is wrong with an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputProblem {
    /// It is a folder.
    #[error("is a folder; expected the name of the file to write")]
    Folder,
    /// It is one of the [`InputFiles`].
    #[error("is one of the inputs; expected another file to write")]
    Input,
    /// Its owner may not write it.
    #[error("cannot be written: is read-only")]
    ReadOnly,
    /// The system does not write it.
    #[error("cannot be written")]
    Write,
    /// The system does not remove it.
    #[error("cannot be removed")]
    Remove,
}

impl OutputError {
    fn new(path: &Path, problem: OutputProblem) -> Self {
        Self { path: path.to_owned(), problem, source: None }
    }

    /// Creates the error of an output that the system does not write.
    #[must_use]
    pub fn write(path: &Path, source: io::Error) -> Self {
        Self { source: Some(source), ..Self::new(path, OutputProblem::Write) }
    }
}

/// Where an output goes. Errors name it as it was asked for.
#[derive(Debug)]
pub struct OutputTarget<'i> {
    asked: PathBuf,
    place: Place,
    inputs: &'i InputFiles,
    /// The metadata of the regular file that was there at first: its mode is kept even if it is removed meanwhile.
    existing: Option<Metadata>,
}

#[derive(Debug)]
enum Place {
    /// A regular file, existing or not; the path is not a symbolic link.
    File(PathBuf),
    /// A device, a pipe, or a file that is open already (`/dev/stdout`): it is written in place.
    Stream,
}

impl<'i> OutputTarget<'i> {
    /// Checks that a file can be written. A name that leads to a file that is not there is one, too.
    ///
    /// # Errors
    /// Returns [`OutputError`] if it is a folder, read-only, or one of the inputs.
    pub fn new(path: &Path, inputs: &'i InputFiles) -> Result<Self, OutputError> {
        if path.is_dir() {
            return Err(OutputError::new(path, OutputProblem::Folder));
        }
        let place = follow(path).map_err(|error| OutputError::write(path, error))?;
        let target = Self { asked: path.to_owned(), place, inputs, existing: None };
        Ok(Self { existing: target.check()?, ..target })
    }

    /// Returns the path that was asked for.
    #[must_use]
    pub fn asked(&self) -> &Path {
        &self.asked
    }

    /// Returns the file that is written, which a link may have led to.
    #[must_use]
    pub fn path(&self) -> &Path {
        match &self.place {
            Place::File(path) => path,
            Place::Stream => &self.asked,
        }
    }

    /// Returns the error of an output that the system does not write.
    #[must_use]
    pub fn write_error(&self, source: io::Error) -> OutputError {
        OutputError::write(&self.asked, source)
    }

    /// Returns whether both would write one file, the one over the other.
    #[must_use]
    pub fn is_same_file(&self, other: &Self) -> bool {
        let real = |target: &Self| match &target.place {
            Place::File(path) => Some((real_folder(path).ok()?, path.file_name()?.to_owned())),
            Place::Stream => None,
        };
        real(self).is_some_and(|file| Some(file) == real(other))
    }

    /// Returns whether the output goes to the standard output of the process.
    #[must_use]
    pub fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stream) && system::stdout_at(&self.asked).is_some()
    }

    /// Removes what is in this place, if it is a file.
    ///
    /// # Errors
    /// Returns [`OutputError`] if the system does not remove it.
    pub fn remove(&self) -> Result<(), OutputError> {
        let Place::File(path) = &self.place else { return Ok(()) };
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let removed = OutputError::new(&self.asked, OutputProblem::Remove);
                Err(OutputError { source: Some(error), ..removed })
            }
            _ => Ok(()),
        }
    }

    /// Returns the metadata of the regular file that is there. Checks it against the inputs, of which there may be more
    /// by now.
    ///
    /// # Errors
    /// Returns [`OutputError`] if it must not be written.
    pub fn check(&self) -> Result<Option<Metadata>, OutputError> {
        let path = self.path();
        let metadata = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata.map_err(|error| self.write_error(error))?,
        };
        if self.inputs.contains(path, &metadata) {
            return Err(OutputError::new(&self.asked, OutputProblem::Input));
        }
        if let Place::Stream = self.place {
            return Ok(None);
        }
        if system::is_read_only(&metadata) {
            return Err(OutputError::new(&self.asked, OutputProblem::ReadOnly));
        }
        // Only the system knows who else may write it.
        let opened = OpenOptions::new().write(true).open(path);
        opened.map_err(|error| self.write_error(error))?;
        Ok(Some(metadata))
    }

    /// Creates an empty file, which [`OutputFile::persist`] puts into this place.
    ///
    /// # Errors
    /// Returns [`OutputError`] if the system does not create it.
    pub fn create(self) -> Result<OutputFile<'i>, OutputError> {
        let unnamed = match &self.place {
            Place::File(path) => unnamed::create(folder(path)),
            Place::Stream => Some(tempfile::tempfile().map_err(|error| self.write_error(error))?),
        };
        match unnamed {
            Some(file) => Ok(OutputFile { target: self, file, named: None }),
            None => self.create_named(),
        }
    }

    /// Does the same as [`create`](Self::create) where files have names.
    #[doc(hidden)]
    pub fn create_named(self) -> Result<OutputFile<'i>, OutputError> {
        let create =
            |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
        let created = make_beside(self.path(), create).map_err(|error| self.write_error(error))?;
        let (file, named) = created.into_parts();
        Ok(OutputFile { target: self, file, named: Some(named) })
    }

    /// Writes the whole file.
    ///
    /// # Errors
    /// Returns the errors of [`create`](Self::create) and [`OutputFile::persist`].
    pub fn write(self, bytes: &[u8]) -> Result<(), OutputError> {
        let mut output = self.create()?;
        output.write_all(bytes).map_err(|error| output.target.write_error(error))?;
        output.persist()
    }
}

/// A file that is being written. It goes away unless it is persisted.
#[derive(Debug)]
pub struct OutputFile<'i> {
    target: OutputTarget<'i>,
    file: File,
    /// `None` if the file has no name.
    named: Option<TempPath>,
}

impl<'i> OutputFile<'i> {
    /// Returns the file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns its place.
    #[must_use]
    pub fn target(&self) -> &OutputTarget<'i> {
        &self.target
    }

    /// Puts the file, which is whole, into its place. It has the mode of the file that it replaces, and its owner if the
    /// system allows that.
    ///
    /// # Errors
    /// Returns [`OutputError`] if the place has become one of the inputs, or the system refuses it. What was there is
    /// unchanged, unless it is a stream.
    pub fn persist(self) -> Result<(), OutputError> {
        let Self { target, mut file, named } = self;
        let existing = target.check()?;
        let existing = existing.as_ref().or(target.existing.as_ref());
        let persisted = match &target.place {
            Place::File(path) => replace(file, named, path, existing),
            Place::Stream => copy(&mut file, &target.asked),
        };
        persisted.map_err(|error| target.write_error(error))
    }
}

impl Write for OutputFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Gives a file the name `path`, in place of the file that has it.
fn replace(
    file: File,
    named: Option<TempPath>,
    path: &Path,
    existing: Option<&Metadata>,
) -> io::Result<()> {
    existing.map_or(Ok(()), |existing| system::keep_permissions(&file, existing))?;
    // The contents must be there after a loss of power if the name is.
    file.sync_all()?;
    let named = match named {
        Some(named) => named,
        None => match unnamed::link(&file, path) {
            // A link replaces no file, but a renamed one does.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                make_beside(path, |path| unnamed::link(&file, path))?.into_temp_path()
            }
            result => return result,
        },
    };
    Ok(named.persist(path)?)
}

/// Writes a file to a stream.
fn copy(file: &mut File, path: &Path) -> io::Result<()> {
    file.rewind()?;
    // Opened again, a file that is standard output would be written from its beginning.
    let mut stream = match system::stdout_at(path) {
        Some(stdout) => stdout,
        None => OpenOptions::new().write(true).truncate(true).open(path)?,
    };
    io::copy(file, &mut stream).map(drop)
}

/// Returns the place that a path leads to.
fn follow(path: &Path) -> io::Result<Place> {
    let mut at = path.to_owned();
    for _ in 0..MAX_LINKS {
        let metadata = match fs::symlink_metadata(&at) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Place::File(at)),
            metadata => metadata?,
        };
        if metadata.is_file() {
            return Ok(Place::File(at));
        }
        let folder = at.parent().unwrap_or(Path::new(""));
        // Links of Linux to files that are open, which need not have a name at all.
        let is_open = || folder.canonicalize().is_ok_and(|folder| folder.starts_with("/proc"));
        if !metadata.is_symlink() || is_open() {
            return Ok(Place::Stream);
        }
        at = folder.join(fs::read_link(&at)?);
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Returns the folder of a file that need not be there, without symbolic links.
///
/// # Errors
/// Returns the I/O error if the folder is not there.
pub fn real_folder(file: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(folder(file))
}

/// The temporary names so far, if they are to be removed before the process ends.
static NAMES: Mutex<Option<Vec<PathBuf>>> = Mutex::new(None);

fn names() -> MutexGuard<'static, Option<Vec<PathBuf>>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes something beside `path` under a temporary name.
fn make_beside<R>(
    path: &Path,
    mut make: impl FnMut(&Path) -> io::Result<R>,
) -> io::Result<NamedTempFile<R>> {
    // Held until there is something of that name, so that it is not made after its removal.
    let mut names = names();
    Builder::new().prefix(".warpload-").make_in(folder(path), |path| {
        names.iter_mut().for_each(|names| names.push(path.to_owned()));
        make(path)
    })
}

/// Remembers temporary names from now on, for [`remove_temporary_files`].
pub fn remember_temporary_files() {
    names().get_or_insert_default();
}

/// Removes the temporary files whose names are remembered. Until the returned value is dropped, no other one is created:
/// the process can end.
#[must_use]
pub fn remove_temporary_files() -> impl Sized {
    let names = names();
    for path in names.iter().flatten() {
        // Most have gone, or have their own names.
        let _ = fs::remove_file(path);
    }
    names
}

#[cfg(unix)]
mod system {
    use std::fs::{File, Metadata, Permissions, metadata};
    use std::io;
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, fchown};
    use std::path::Path;

    /// The device and the inode.
    pub(super) type Identity = (u64, u64);

    /// Returns `None` for what cannot be lost by writing to it: a terminal, `/dev/null`.
    pub(super) fn identity(_: &Path, metadata: &Metadata) -> Option<Identity> {
        let is_device = metadata.file_type().is_char_device();
        (!is_device).then(|| (metadata.dev(), metadata.ino()))
    }

    /// Returns standard output if writing to a path goes there.
    pub(super) fn stdout_at(path: &Path) -> Option<File> {
        let stdout = File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
        let (one, other) = (stdout.metadata().ok()?, metadata(path).ok()?);
        ((one.dev(), one.ino()) == (other.dev(), other.ino())).then_some(stdout)
    }

    /// Returns whether the owner may not write a file. The superuser can, but is not meant to.
    pub(super) fn is_read_only(metadata: &Metadata) -> bool {
        metadata.permissions().mode() & 0o200 == 0
    }

    pub(super) fn keep_permissions(file: &File, existing: &Metadata) -> io::Result<()> {
        let (owner, group) = (existing.uid(), existing.gid());
        let new = file.metadata()?;
        let is_same = (new.uid(), new.gid()) == (owner, group);
        if !is_same && fchown(file, Some(owner), Some(group)).is_err() {
            // Only the superuser gives files away; to a group of theirs, others may.
            let _ = fchown(file, None, Some(group));
        }
        file.set_permissions(Permissions::from_mode(existing.permissions().mode() & 0o777))
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{File, Metadata};
    use std::io;
    use std::path::{Path, PathBuf};

    pub(super) type Identity = PathBuf;

    /// Returns `None` if the file is not there.
    pub(super) fn identity(path: &Path, _: &Metadata) -> Option<Identity> {
        path.canonicalize().ok()
    }

    pub(super) fn stdout_at(_: &Path) -> Option<File> {
        None
    }

    pub(super) fn is_read_only(metadata: &Metadata) -> bool {
        metadata.permissions().readonly()
    }

    pub(super) fn keep_permissions(_: &File, _: &Metadata) -> io::Result<()> {
        Ok(())
    }
}

/// Files without a name.
#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open};

    /// Creates a file without a name, if the file system can and the file can get one later.
    pub(super) fn create(folder: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
        descriptor_path(&file).symlink_metadata().is_ok().then_some(file)
    }

    /// Gives a file without a name one that is free.
    pub(super) fn link(file: &File, path: &Path) -> io::Result<()> {
        Ok(linkat(CWD, descriptor_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }

    fn descriptor_path(file: &File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }
}

#[cfg(not(target_os = "linux"))]
mod unnamed {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn create(_: &Path) -> Option<File> {
        None
    }

    pub(super) fn link(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As on a file system without files that have no name.
    #[test]
    fn a_named_file_gets_its_name_or_goes() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let (path, inputs) = (folder.path().join("output"), InputFiles::new());
        let target = || OutputTarget::new(&path, &inputs);
        for text in ["first", "second"] {
            let mut output = target()?.create_named()?;
            output.write_all(text.as_bytes())?;
            output.persist()?;
            assert_eq!(fs::read_to_string(&path)?, text);
        }
        drop(target()?.create_named()?);
        assert_eq!(fs::read_dir(folder.path())?.count(), 1);
        Ok(())
    }

    /// A file that becomes an input while its output is written is refused at the end, and stays.
    #[test]
    fn later_inputs_are_not_replaced() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let (path, inputs) = (folder.path().join("file"), InputFiles::new());
        fs::write(&path, "input")?;
        let output = OutputTarget::new(&path, &inputs)?.create()?;
        fs::hard_link(&path, folder.path().join("link"))?;
        inputs.add_named(&folder.path().join("link"));
        inputs.add_named(&folder.path().join("missing"));
        if cfg!(unix) {
            let problem = output.persist().map_err(|error| error.problem);
            assert_eq!(problem, Err(OutputProblem::Input));
        }
        assert_eq!(fs::read_to_string(&path)?, "input");
        let new = OutputTarget::new(&folder.path().join("missing"), &inputs)?;
        new.write(b"new")?;
        assert_eq!(fs::read_to_string(folder.path().join("missing"))?, "new");
        Ok(())
    }
}
