//! [`Format`]: a format of text, as its reader's file describes it for the list in `formats.rs`.

use std::path::Path;

use super::error::ImportError;
use super::file_list::FileList;
use super::sink::Sink;
use super::text::Text;

/// A format of text that imports read.
pub(super) struct Format {
    /// Its name with an article, for messages.
    pub(super) name: &'static str,
    /// Returns how likely a text with that start has this format; `None` if it does not. The start
    /// has no byte-order mark and no leading white space.
    pub(super) recognize: fn(&[u8]) -> Option<Sign>,
    pub(super) reader: FormatReader,
}

/// How likely a text has a format. The likeliest format is read; of equals, the first in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    /// The form of its first line suggests it.
    Likely,
    /// It has words of this format only.
    Certain,
}

/// What reads a format.
#[derive(Clone, Copy)]
pub(super) enum FormatReader {
    /// Reads the trace of one file, which errors name, with as many threads at most.
    Trace(TraceReader),
    /// Reads the names of files with traces.
    List(ListReader),
}

pub(super) type TraceReader =
    fn(&mut Text<'_>, &Path, usize, &mut Sink<'_>) -> Result<(), ImportError>;
pub(super) type ListReader = fn(&mut Text<'_>, &Path) -> Result<FileList, ImportError>;

/// Returns the first line of a text, for [`Format::recognize`].
pub(super) fn first_line(start: &[u8]) -> &[u8] {
    start.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end()
}
