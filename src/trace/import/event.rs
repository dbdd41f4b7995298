//! [`ImportEvent`]: what an import reports while it reads.

use std::fs::File;
use std::path::Path;

/// What an import reports while it reads.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ImportEvent<'f> {
    /// A file that the input names was opened.
    Opened(&'f Path, &'f File),
    /// Another number of bytes was read, of any file.
    Read(u64),
}
