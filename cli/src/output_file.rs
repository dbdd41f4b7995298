//! Files that the command writes: whole or not at all, and never over one of its inputs.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::temporary::Temporary;
use super::{inputs, system};

/// How many symbolic links lead to a file at most, as on Linux.
const MAX_LINKS: usize = 40;

/// Where an output goes. Errors name it as it was asked for.
pub(crate) struct OutputTarget {
    asked: PathBuf,
    place: Place,
    /// Of the regular file that was there at first: it passes on its mode even if it is removed meanwhile.
    existing: Option<Metadata>,
}

enum Place {
    /// A regular file, existing or not; the path is not a symbolic link.
    File(PathBuf),
    /// A device, a pipe, or a file that is open already (`/dev/stdout`): it is written in place.
    Stream,
}

impl OutputTarget {
    /// Checks that a file can be written: it is not a folder, read-only or one of the inputs.
    pub(crate) fn new(path: &Path) -> anyhow::Result<Self> {
        if path.is_dir() {
            bail!("{}: is a folder; expected the name of the file to write", path.display());
        }
        let place = follow(path).with_context(|| cannot_be_written(path))?;
        let target = Self { asked: path.to_owned(), place, existing: None };
        Ok(Self { existing: target.check()?, ..target })
    }

    /// Writes the whole file.
    pub(crate) fn write(self, bytes: &[u8]) -> anyhow::Result<()> {
        if let Place::Stream = self.place {
            self.check()?;
            return self.write_stream(bytes).with_context(|| cannot_be_written(&self.asked));
        }
        let output = self.create()?;
        (&output.file.file).write_all(bytes).with_context(|| output.target.error_context())?;
        output.persist()
    }

    /// Creates an empty file, which [`OutputFile::persist`] puts into this place.
    pub(crate) fn create(self) -> anyhow::Result<OutputFile> {
        let file = match &self.place {
            Place::File(path) => Temporary::beside(path),
            Place::Stream => Temporary::anywhere(),
        };
        let file = file.with_context(|| self.error_context())?;
        Ok(OutputFile { target: self, file })
    }

    /// Returns its path as it was asked for.
    pub(crate) fn asked(&self) -> &Path {
        &self.asked
    }

    /// Returns its name as it was asked for.
    pub(crate) fn name(&self) -> String {
        self.asked.display().to_string()
    }

    /// Returns the file that is written, which a link may have led to.
    pub(crate) fn path(&self) -> &Path {
        match &self.place {
            Place::File(path) => path,
            Place::Stream => &self.asked,
        }
    }

    /// Whether both would write one file, the one over the other.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        let real = |target: &Self| match &target.place {
            Place::File(path) => Some((real_folder(path).ok()?, path.file_name()?.to_owned())),
            Place::Stream => None,
        };
        real(self).is_some_and(|file| Some(file) == real(other))
    }

    /// Removes what is in this place, if it is a file.
    pub(crate) fn remove(&self) -> anyhow::Result<()> {
        if let Place::File(path) = &self.place
            && let Err(error) = fs::remove_file(path)
            && error.kind() != io::ErrorKind::NotFound
        {
            let context = format!("{}: cannot be removed", self.asked.display());
            return Err(anyhow::Error::new(error).context(context));
        }
        Ok(())
    }

    /// Whether what is written goes to standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stream) && system::is_stdout(&self.asked)
    }

    /// What its errors begin with.
    pub(crate) fn error_context(&self) -> String {
        cannot_be_written(&self.asked)
    }

    /// Refuses what must not be written; returns the metadata of a regular file that exists.
    pub(crate) fn check(&self) -> anyhow::Result<Option<Metadata>> {
        let path = self.path();
        let metadata = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata.with_context(|| self.error_context())?,
        };
        if inputs::contains(path, &metadata) {
            bail!("{}: is one of the inputs; expected another file to write", self.asked.display());
        }
        if let Place::Stream = self.place {
            return Ok(None);
        }
        if system::is_read_only(&metadata) {
            bail!("{}: is read-only", self.error_context());
        }
        // Only the system knows who else may write it.
        OpenOptions::new().write(true).open(path).with_context(|| self.error_context())?;
        Ok(Some(metadata))
    }

    fn write_stream(&self, mut bytes: impl Read) -> io::Result<()> {
        let mut stream = if self.is_stdout() {
            system::unbuffered_stdout()?
        } else {
            OpenOptions::new().write(true).truncate(true).open(&self.asked)?
        };
        io::copy(&mut bytes, &mut stream).map(drop)
    }
}

/// A file that appears in its place when it is whole.
pub(crate) struct OutputFile {
    target: OutputTarget,
    file: Temporary,
}

impl OutputFile {
    pub(crate) fn file(&self) -> &File {
        &self.file.file
    }

    pub(crate) fn target(&self) -> &OutputTarget {
        &self.target
    }

    /// Puts the file, which is whole, into its place. Inputs that were opened since then are
    /// checked too.
    pub(crate) fn persist(self) -> anyhow::Result<()> {
        let Self { target, mut file } = self;
        let existing = target.check()?;
        match &target.place {
            Place::File(path) => existing
                .as_ref()
                .or(target.existing.as_ref())
                .map_or(Ok(()), |existing| system::keep_permissions(&file.file, existing))
                .and_then(|()| file.persist(path)),
            Place::Stream => file.file.rewind().and_then(|()| target.write_stream(&file.file)),
        }
        .with_context(|| target.error_context())
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
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
        if !metadata.is_symlink() || system::is_folder_of_open_files(folder) {
            return Ok(Place::Stream);
        }
        at = folder.join(fs::read_link(&at)?);
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Returns the folder of a file that need not be there, without symbolic links.
pub(crate) fn real_folder(file: &Path) -> io::Result<PathBuf> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    fs::canonicalize(folder.unwrap_or(Path::new(".")))
}

fn cannot_be_written(path: &Path) -> String {
    format!("{}: cannot be written", path.display())
}
