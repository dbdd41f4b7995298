//! **The list** of text formats, each a [`Format`] that its reader's file describes.

use std::fs::File;
use std::path::Path;

use super::error::ImportError;
use super::file_list::FileList;
use super::sink::Sink;
use super::text::Text;
use super::{accelsim, cutracer, file_list, jsonl, nvbit};

/// A text format that can be imported.
pub(super) struct Format {
    /// Its name with an article, for messages.
    pub(super) name: &'static str,
    /// How likely a text with this start has the format; `None` if it does not. The start comes without a byte-order
    /// mark and leading white space.
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

/// The reader of a format.
#[derive(Clone, Copy)]
pub(super) enum FormatReader {
    /// Reads a trace from one file on up to the given number of threads. Errors name the file.
    Trace(TraceReader),
    /// Reads a trace with an index at its end, in place if it is a file that is not compressed.
    Indexed(IndexedReader),
    /// Reads the names of files with traces.
    List(ListReader),
}

pub(super) type TraceReader =
    fn(&mut Text<'_>, &Path, usize, &mut Sink<'_>) -> Result<(), ImportError>;
pub(super) type IndexedReader =
    fn(&mut Text<'_>, Option<File>, &Path, usize, &mut Sink<'_>) -> Result<(), ImportError>;
pub(super) type ListReader = fn(&mut Text<'_>, &Path) -> Result<FileList, ImportError>;

/// The first line of a text, for [`Format::recognize`].
pub(super) fn first_line(start: &[u8]) -> &[u8] {
    start.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end()
}

/// The formats, each described in its reader's file.
const FORMATS: &[Format] = &[
    accelsim::TRACEZ_FORMAT,
    accelsim::FORMAT,
    nvbit::FORMAT,
    cutracer::FORMAT,
    jsonl::FORMAT,
    file_list::FORMAT,
    #[cfg(test)]
    super::made_up::FORMAT,
];

/// The reader for a text that begins with `start`; `None` if its format is unknown.
pub(super) fn reader(start: &[u8]) -> Option<FormatReader> {
    likeliest(start).map(|(_, reader)| reader)
}

/// Whether a text that begins with `start` has words that only one format has.
pub(super) fn is_certain(start: &[u8]) -> bool {
    likeliest(start).is_some_and(|(sign, _)| sign == Sign::Certain)
}

fn likeliest(start: &[u8]) -> Option<(Sign, FormatReader)> {
    let mut best: Option<(Sign, FormatReader)> = None;
    for format in FORMATS {
        if let Some(sign) = (format.recognize)(start)
            && best.is_none_or(|(best, _)| best < sign)
        {
            best = Some((sign, format.reader));
        }
    }
    best
}

/// The names of all formats, for messages.
pub(super) fn expected() -> String {
    let mut names: Vec<_> = FORMATS.iter().map(|format| format.name).collect();
    let last = names.pop().unwrap_or_default();
    format!("{} or {last}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of the recognized format.
    fn format(start: &str) -> Option<&'static str> {
        let reads = |format: &&Format| match (format.reader, reader(start.as_bytes())) {
            (FormatReader::Trace(one), Some(FormatReader::Trace(other))) => {
                std::ptr::fn_addr_eq(one, other)
            }
            (FormatReader::Indexed(_), Some(FormatReader::Indexed(_)))
            | (FormatReader::List(_), Some(FormatReader::List(_))) => true,
            _ => false,
        };
        FORMATS.iter().find(reads).map(|format| format.name)
    }

    #[test]
    fn the_likeliest_format_is_read() {
        let (accelsim, tracez) = (accelsim::FORMAT.name, accelsim::TRACEZ_FORMAT.name);
        let (log, ndjson) = (nvbit::FORMAT.name, cutracer::FORMAT.name);
        let (export, list) = (jsonl::FORMAT.name, file_list::FORMAT.name);
        for (start, name) in [
            ("-kernel name = k\nMEMTRACE: CTX 0x1", accelsim),
            ("-grid dim = (1,1,1)\n", accelsim),
            ("-grid dim = (1,1,1)\nMEMTRACE: CTX 0x1", log),
            ("#traces format = x\n", accelsim),
            ("-kernel name = k\n\0", tracez),
            ("[1, 2]\nMEMTRACE: ", log),
            ("{\"trace\":", export),
            ("{}.xz\n", list),
            ("{\"addrs\":[1],\"type\":\"mem_trace\"}\n", ndjson),
            ("{ \"type\" : 5 }\n", ndjson),
            ("{\"block\":[1,1,1],\"instructions\":{\"0\":", ndjson),
            ("{\"type\":5}\nMEMTRACE: CTX 0x1", log),
            ("CTX 0x5a - kernel_launch_id 0 - CTA\nMEMTRACE: CTX 0x1", log),
            ("MemcpyHtoD,0x1,2\n", list),
            ("cudaMalloc,0x1,2\n", list),
            ("kernel-1.tracez\n", list),
            ("kernel-1.tracez.xz\n", list),
            ("-kernel.traceg\n", list),
            ("-kernel = a.traceg\n", accelsim),
            ("kernel-1.trace.xz\n", list),
        ] {
            assert_eq!(format(start), Some(name), "{start}");
        }
        assert_eq!(format("-"), None);
        assert_eq!(format("-gpgpu_ptx_sim_mode 1\n-gpgpu_x a = b"), None);
        assert_eq!(format("[\n"), None);
        assert_eq!(format("{}"), None);
        assert_eq!(format("{\n\"type\":5}\n"), None);
        assert_eq!(format("CTX 0x5a - kernel_launch_id 0 - CTA 0,0,0\n"), None);
        assert_eq!(format("kernel-1\n"), None);
        assert_eq!(format(""), None);
    }
}
