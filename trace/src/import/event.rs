//! [`ImportEvent`]: what an import reports while it reads.

use std::fs::File;
use std::path::Path;

/// What an import reports while it reads.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ImportEvent<'f> {
    /// A file that the input names was opened.
    Opened(&'f Path, &'f File),
    /// A list was read; the files that it names have so many bytes together, as far as they are there.
    Listed(u64),
    /// Another number of bytes was read, of any file.
    Read(u64),
}
