//! [`FileList`]: the files that a list names.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use super::error::ImportError;
use super::limits::MAX_KERNELS;
use crate::binary::TraceWriter;
use warpload_binary::regular_file;

/// The most bytes of the names of all files of a list together.
const MAX_NAMES_BYTES: usize = 64 << 20;

/// The most lines of a list that name device memory.
const MAX_ALLOCATIONS: usize = 1 << 20;

/// The most names of rows that are counted apart, and the most characters of one.
const MAX_PASSED_OVER: usize = 16;
const MAX_NAME: usize = 64;

/// The note of a trace that is made from a list.
const NO_END_MARK: &str = "whether the list is whole is unknown: a kernelslist.g has no end mark";

/// Files with traces, and what their list says besides.
#[derive(Debug)]
pub(super) struct FileList {
    path: PathBuf,
    /// In launch order, each with the number of its line.
    files: Vec<(Box<str>, u64)>,
    names_bytes: usize,
    allocations: Vec<(u64, u64)>,
    /// How many rows of each name were passed over.
    passed_over: BTreeMap<Box<str>, u64>,
}

impl FileList {
    /// Creates the empty list of the file `path`.
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            files: Vec::new(),
            names_bytes: 0,
            allocations: Vec::new(),
            passed_over: BTreeMap::new(),
        }
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

    /// Counts a row of that name, which says nothing of traces and of memory that they read.
    pub(super) fn passed_over(&mut self, name: &str) {
        let is_room = self.passed_over.len() < MAX_PASSED_OVER && name.len() <= MAX_NAME;
        let is_known = self.passed_over.contains_key(name);
        let name = if is_known || is_room { name } else { "others" };
        *self.passed_over.entry(name.into()).or_default() += 1;
    }

    /// Writes what the list says of all its traces.
    pub(super) fn describe<W: Write + Seek>(&self, writer: &mut TraceWriter<W>) {
        writer.allocations(self.allocations.iter().copied());
        writer.may_be_cut_off(NO_END_MARK);
        if !self.passed_over.is_empty() {
            let mut note = "rows of the list were passed over:".to_owned();
            for (i, (name, count)) in self.passed_over.iter().enumerate() {
                let comma = if i == 0 { "" } else { "," };
                // Writing to a text cannot fail.
                let _ = write!(note, "{comma} {count} of `{name}`");
            }
            writer.note(&note);
        }
    }

    /// Returns the files, found relative to the list, with the numbers of their lines.
    pub(super) fn files(&self) -> impl ExactSizeIterator<Item = (PathBuf, u64)> {
        self.files.iter().map(|file| self.place(file))
    }

    /// Returns how many bytes the files have together, as far as they are there.
    pub(super) fn bytes(&self) -> u64 {
        let sizes = self.files().filter_map(|(file, _)| regular_file::size(&file).ok());
        sizes.fold(0, u64::saturating_add)
    }

    /// Returns file `number`, from 0, with the number of its line; `None` if there are fewer.
    pub(super) fn nth(&self, number: usize) -> Option<(PathBuf, u64)> {
        self.files.get(number).map(|file| self.place(file))
    }

    fn place(&self, (name, line): &(Box<str>, u64)) -> (PathBuf, u64) {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        (folder.join(&**name), *line)
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
