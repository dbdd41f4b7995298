//! Accel-Sim's `kernelslist.g`.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use super::MAX_KERNELS;
use super::accelsim;
use super::error::ImportError;
use crate::lines::Lines;

/// The names of all files of a list together have no more bytes.
const MAX_NAMES_BYTES: usize = 64 << 20;

/// No list has more lines that name device memory.
const MAX_ALLOCATIONS: usize = 1 << 20;

/// What a `kernelslist.g` says.
pub(super) struct KernelsList<'p> {
    path: &'p Path,
    /// In launch order, each with the number of its line.
    files: Vec<(Box<str>, u64)>,
    names_bytes: usize,
    /// Device memory that is copied to: bases and sizes in bytes.
    pub(super) allocations: Vec<(u64, u64)>,
}

impl<'p> KernelsList<'p> {
    /// Reads a list.
    pub(super) fn read(path: &'p Path, input: impl BufRead) -> Result<Self, ImportError> {
        let mut list = Self { path, files: Vec::new(), names_bytes: 0, allocations: Vec::new() };
        let mut lines = Lines::new(input);
        while let Some(line) = lines.next_line() {
            let line = line.map_err(|error| accelsim::line_error(path, error))?;
            list.line(line.text.trim(), line.number)
                .map_err(|message| list.error(line.number, message))?;
        }
        Ok(list)
    }

    fn line(&mut self, text: &str, number: u64) -> Result<(), String> {
        if let Some(copied) = text.strip_prefix("MemcpyHtoD,") {
            let allocation = allocation(copied).ok_or("expected `MemcpyHtoD,0xADDRESS,BYTES`")?;
            if self.allocations.len() == MAX_ALLOCATIONS {
                return Err(format!("more than {MAX_ALLOCATIONS} copies to device memory"));
            }
            self.allocations.push(allocation);
        } else if text.contains(',') {
            // Other commands: MemcpyDtoH and the like name no memory that loads read first.
        } else if !text.is_empty() {
            self.names_bytes += text.len();
            if self.names_bytes > MAX_NAMES_BYTES {
                return Err(format!("the names of files take more than {MAX_NAMES_BYTES} bytes"));
            }
            if self.files.len() == MAX_KERNELS {
                return Err(format!("more than {MAX_KERNELS} files"));
            }
            self.files.push((text.into(), number));
        }
        Ok(())
    }

    /// Returns the files, found relative to the list, with the numbers of their lines.
    pub(super) fn files(&self) -> impl ExactSizeIterator<Item = (PathBuf, u64)> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        self.files.iter().map(move |(name, line)| (folder.join(&**name), *line))
    }

    /// An error at a line of the list.
    pub(super) fn error(&self, line: u64, message: String) -> ImportError {
        ImportError::Line { file: self.path.to_owned(), line, column: 1, message }
    }
}

/// Reads what follows `MemcpyHtoD,`: a base and a size.
fn allocation(text: &str) -> Option<(u64, u64)> {
    let (base, size) = text.split_once(',')?;
    let base = u64::from_str_radix(base.trim().strip_prefix("0x")?, 16).ok()?;
    Some((base, size.trim().parse().ok()?))
}
