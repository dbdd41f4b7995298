//! Accel-Sim's `kernelslist.g`.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use super::accelsim;
use super::error::ImportError;
use crate::lines::Lines;

/// What a `kernelslist.g` says.
pub(super) struct KernelsList {
    /// In launch order, each with the number of its line.
    pub(super) files: Vec<(PathBuf, u64)>,
    /// Device memory that is copied to: bases and sizes in bytes.
    pub(super) allocations: Vec<(u64, u64)>,
}

/// Reads a list; the files that it names are found relative to it.
pub(super) fn read(path: &Path, input: impl BufRead) -> Result<KernelsList, ImportError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut list = KernelsList { files: Vec::new(), allocations: Vec::new() };
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next_line() {
        let line = line.map_err(|error| accelsim::line_error(path, error))?;
        let text = line.text.trim();
        if let Some(copied) = text.strip_prefix("MemcpyHtoD,") {
            let row = copied.split_once(',').and_then(|(base, size)| {
                let base = u64::from_str_radix(base.trim().strip_prefix("0x")?, 16).ok()?;
                Some((base, size.trim().parse().ok()?))
            });
            list.allocations.push(row.ok_or_else(|| ImportError::Line {
                file: path.to_owned(),
                line: line.number,
                column: 1,
                message: "expected `MemcpyHtoD,0xADDRESS,BYTES`".to_owned(),
            })?);
        } else if text.contains(',') {
            // Other commands: MemcpyDtoH and the like name no memory that loads read first.
        } else if !text.is_empty() {
            list.files.push((folder.join(text), line.number));
        }
    }
    Ok(list)
}
