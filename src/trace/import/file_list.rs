//! [`FileList`]: the files that a list names.

use std::path::{Path, PathBuf};

use super::error::ImportError;
use super::limits::MAX_KERNELS;

/// The most bytes of the names of all files of a list together.
const MAX_NAMES_BYTES: usize = 64 << 20;

/// The most lines of a list that name device memory.
const MAX_ALLOCATIONS: usize = 1 << 20;

/// Files with traces, and what their list says besides.
pub(super) struct FileList<'p> {
    path: &'p Path,
    /// In launch order, each with the number of its line.
    files: Vec<(Box<str>, u64)>,
    names_bytes: usize,
    allocations: Vec<(u64, u64)>,
}

impl<'p> FileList<'p> {
    /// Creates the empty list of the file `path`.
    pub(super) fn new(path: &'p Path) -> Self {
        Self { path, files: Vec::new(), names_bytes: 0, allocations: Vec::new() }
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
        let folder = self.path.parent().unwrap_or(Path::new(""));
        self.files.iter().map(move |(name, line)| (folder.join(&**name), *line))
    }

    /// Returns the device memory that is copied to: bases and sizes in bytes.
    pub(super) fn allocations(&self) -> &[(u64, u64)] {
        &self.allocations
    }

    /// Returns an error at a line of the list.
    pub(super) fn error(&self, line: u64, message: String) -> ImportError {
        ImportError::Line { file: self.path.to_owned(), line, column: 1, message }
    }
}
