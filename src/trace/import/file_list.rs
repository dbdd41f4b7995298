//! [`FileList`]: the files that a list names.

use std::path::{Path, PathBuf};

use super::error::ImportError;
use super::limits::MAX_KERNELS;

/// The most bytes of the names of all files of a list together.
const MAX_NAMES_BYTES: usize = 64 << 20;

/// The most lines of a list that name device memory.
const MAX_ALLOCATIONS: usize = 1 << 20;

/// Files with traces, and what their list says besides.
#[derive(Debug)]
pub(super) struct FileList {
    path: PathBuf,
    /// In launch order, each with the number of its line.
    files: Vec<(Box<str>, u64)>,
    names_bytes: usize,
    allocations: Vec<(u64, u64)>,
}

impl FileList {
    /// Creates the empty list of the file `path`.
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), files: Vec::new(), names_bytes: 0, allocations: Vec::new() }
    }

    /// Adds the file that line `number` names.
    pub(super) fn file(&mut self, name: &str, number: u64) -> Result<(), String> {
        self.names_bytes += name.len();
        if self.names_bytes > MAX_NAMES_BYTES {
            return Err(format!("the names of files take more than {MAX_NAMES_BYTES} bytes"));
        }
        if self.files.len() == MAX_KERNELS {
            return Err(format!("more than {MAX_KERNELS} files"));
        }
        self.files.push((name.into(), number));
        Ok(())
    }

    /// Adds device memory that is copied to: a base and a size in bytes.
    pub(super) fn allocation(&mut self, allocation: (u64, u64)) -> Result<(), String> {
        if self.allocations.len() == MAX_ALLOCATIONS {
            return Err(format!("more than {MAX_ALLOCATIONS} copies to device memory"));
        }
        self.allocations.push(allocation);
        Ok(())
    }

    /// Returns the files, found relative to the list, with the numbers of their lines.
    pub(super) fn files(&self) -> impl ExactSizeIterator<Item = (PathBuf, u64)> {
        self.files.iter().map(|file| self.place(file))
    }

    /// Returns file `number`, from 0, with the number of its line; `None` if there are fewer.
    pub(super) fn nth(&self, number: usize) -> Option<(PathBuf, u64)> {
        self.files.get(number).map(|file| self.place(file))
    }

    fn place(&self, (name, line): &(Box<str>, u64)) -> (PathBuf, u64) {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        (folder.join(&**name), *line)
    }

    /// Returns the device memory that is copied to: bases and sizes in bytes.
    pub(super) fn allocations(&self) -> &[(u64, u64)] {
        &self.allocations
    }

    /// Returns an error of the list as a whole.
    pub(super) fn whole_error(&self, message: String) -> ImportError {
        ImportError::File { file: self.path.clone(), message }
    }

    /// Returns an error at a line of the list.
    pub(super) fn error(&self, line: u64, message: String) -> ImportError {
        ImportError::Line { file: self.path.clone(), line, column: 1, message }
    }
}
