//! [`OutputFile`]: a file that appears in its place when it is complete and on the disk, and that never replaces one of
//! the [`InputFiles`].
//!
//! Until then the file has no name, on systems with unnamed files. Elsewhere it has a temporary name, and
//! [`remove_temporary_files`] removes the file before a signal ends the process.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile, TempPath};

/// The most symbolic links that are followed to a file, as on Linux.
const MAX_LINKS: usize = 40;

/// Files that no output may replace, under any name.
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

    /// Adds a file that an input refers to, even if it is never opened. A missing file cannot be overwritten, so it is
    /// left out.
    pub fn add_named(&self, path: &Path) {
        if let Ok(metadata) = fs::metadata(path) {
            self.add(path, &metadata);
        }
    }

    fn contains(&self, path: &Path, metadata: &Metadata) -> bool {
        system::identity(path, metadata).is_some_and(|file| self.files().contains(&file))
    }
}

/// Why an output is not written. Its message begins with the path as the user gave it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
#[non_exhaustive]
pub struct OutputError {
    /// The output.
    pub path: PathBuf,
    /// The problem.
    pub problem: OutputProblem,
    /// The I/O error, if the system caused the problem.
    pub source: Option<io::Error>,
}

/// The problem with an output.
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
    /// The system failed to write it.
    #[error("cannot be written")]
    Write,
}

impl OutputError {
    fn new(path: &Path, problem: OutputProblem) -> Self {
        Self { path: path.to_owned(), problem, source: None }
    }

    /// Creates the error of a failed write.
    #[must_use]
    pub fn write(path: &Path, source: io::Error) -> Self {
        Self { source: Some(source), ..Self::new(path, OutputProblem::Write) }
    }
}

/// The place of an output. Errors name it as the user gave it.
#[derive(Debug)]
pub struct OutputTarget<'i> {
    asked: PathBuf,
    place: Place,
    inputs: &'i InputFiles,
    /// The metadata of the regular file that was there initially, because its mode is kept even if it is removed in the
    /// meantime.
    existing: Option<Metadata>,
}

#[derive(Debug)]
enum Place {
    /// A regular file, existing or not; the path is not a symbolic link.
    File(PathBuf),
    /// A device, a pipe, or an open file (`/dev/stdout`), written in place.
    Stream,
}

impl<'i> OutputTarget<'i> {
    /// Checks that a file can be written. It need not exist.
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

    /// Returns the path as the user gave it.
    #[must_use]
    pub fn asked(&self) -> &Path {
        &self.asked
    }

    /// Returns the path of the file to write, after following links.
    fn path(&self) -> &Path {
        match &self.place {
            Place::File(path) => path,
            Place::Stream => &self.asked,
        }
    }

    /// Returns the error of a failed write.
    #[must_use]
    pub fn write_error(&self, source: io::Error) -> OutputError {
        OutputError::write(&self.asked, source)
    }

    /// Returns whether both targets are the same file, so that one would overwrite the other: by path, and by identity if
    /// both exist. A terminal and `/dev/null` are never the same, because nothing is lost there.
    #[must_use]
    pub fn is_same_file(&self, other: &Self) -> bool {
        let identity = |target: &Self| {
            let metadata = fs::metadata(target.path()).ok()?;
            system::identity(target.path(), &metadata)
        };
        if identity(self).is_some_and(|file| Some(file) == identity(other)) {
            return true;
        }
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

    /// Returns the metadata of the existing regular file. Checks again that it is not an input, because inputs may have
    /// been added.
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
        // Opened to find out, because permissions alone do not determine who may write.
        let opened = OpenOptions::new().write(true).open(path);
        opened.map_err(|error| self.write_error(error))?;
        Ok(Some(metadata))
    }

    /// Creates an empty file, to be put into this place by [`OutputFile::persist`].
    ///
    /// # Errors
    /// Returns [`OutputError`] if the system fails to create it.
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

    /// Like [`create`](Self::create) on systems without unnamed files.
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

/// A file that is being written. It vanishes unless it is persisted.
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

    /// Puts the complete file into its place. It gets the mode of the file that it replaces, and its owner if the
    /// system allows that.
    ///
    /// # Errors
    /// Returns [`OutputError`] if the place has become one of the inputs, or the system fails. The existing file is
    /// then unchanged, unless it is a stream.
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

/// Gives a file the name `path`, and replaces an existing file of that name.
fn replace(
    file: File,
    named: Option<TempPath>,
    path: &Path,
    existing: Option<&Metadata>,
) -> io::Result<()> {
    existing.map_or(Ok(()), |existing| system::keep_permissions(&file, existing))?;
    // After a loss of power, the contents must exist if the name does.
    file.sync_all()?;
    let named = match named {
        Some(named) => named,
        None => match unnamed::link(&file, path) {
            // Creating a link never replaces a file, but renaming does.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                make_beside(path, |path| unnamed::link(&file, path))?.into_temp_path()
            }
            result => return result,
        },
    };
    Ok(named.persist(path)?)
}

/// Copies a file to a stream.
fn copy(file: &mut File, path: &Path) -> io::Result<()> {
    file.rewind()?;
    // Uses the existing descriptor, because a file that is standard output would be written from its beginning if it
    // were opened again.
    let mut stream = match system::stdout_at(path) {
        Some(stdout) => stdout,
        None => OpenOptions::new().write(true).truncate(true).open(path)?,
    };
    io::copy(file, &mut stream).map(drop)
}

/// The place that a path leads to.
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
        // Linux has links to open files in `/proc`. These files need not have a name at all.
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

/// Returns the folder of a file, without symbolic links. The file need not exist.
fn real_folder(file: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(folder(file))
}

/// The temporary names so far; `None` if they need not be removed before the process ends.
static NAMES: Mutex<Option<Vec<PathBuf>>> = Mutex::new(None);

fn names() -> MutexGuard<'static, Option<Vec<PathBuf>>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a file beside `path` under a temporary name.
fn make_beside<R>(
    path: &Path,
    mut make: impl FnMut(&Path) -> io::Result<R>,
) -> io::Result<NamedTempFile<R>> {
    // The lock is held until the file exists. Otherwise `remove_temporary_files` could run before the file is created,
    // and leave it behind.
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

/// Removes the remembered temporary files. No other one is created until the returned guard is dropped, so that the
/// process can end.
#[must_use]
pub fn remove_temporary_files() -> impl Sized {
    let names = names();
    for path in names.iter().flatten() {
        // Fails for most names, because their files are gone or have been renamed.
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

    /// `None` for files without contents to lose: a terminal, `/dev/null`.
    pub(super) fn identity(_: &Path, metadata: &Metadata) -> Option<Identity> {
        let is_device = metadata.file_type().is_char_device();
        (!is_device).then(|| (metadata.dev(), metadata.ino()))
    }

    /// Standard output, if writing to a path goes there.
    pub(super) fn stdout_at(path: &Path) -> Option<File> {
        let stdout = File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
        let (one, other) = (stdout.metadata().ok()?, metadata(path).ok()?);
        ((one.dev(), one.ino()) == (other.dev(), other.ino())).then_some(stdout)
    }

    /// Whether the owner may not write a file. The superuser could, but a read-only file should stay.
    pub(super) fn is_read_only(metadata: &Metadata) -> bool {
        metadata.permissions().mode() & 0o200 == 0
    }

    pub(super) fn keep_permissions(file: &File, existing: &Metadata) -> io::Result<()> {
        let (owner, group) = (existing.uid(), existing.gid());
        let new = file.metadata()?;
        let is_same = (new.uid(), new.gid()) == (owner, group);
        if !is_same && fchown(file, Some(owner), Some(group)).is_err() {
            // Only the superuser can change the owner. Others can at least set one of their own groups.
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

    /// `None` if the file does not exist.
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

    /// Creates a file without a name, if the file system supports that and the file can get a name later.
    pub(super) fn create(folder: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = File::from(open(folder, flags, Mode::from_raw_mode(0o666)).ok()?);
        descriptor_path(&file).symlink_metadata().is_ok().then_some(file)
    }

    /// Gives an unnamed file a name, which must be unused.
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

    /// Simulates a file system without unnamed files.
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

    /// If a file becomes an input while its output is being written, the output is refused at the end, and the file
    /// stays.
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
