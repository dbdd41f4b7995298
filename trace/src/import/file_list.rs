//! [`FileList`]: the traces in a list, such as `kernelslist.g` of Accel-Sim.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use super::MAX_KERNELS;
use super::compressed;
use super::error::ImportError;
use super::formats::{Format, FormatReader, Sign, first_line};
use super::text::Text;
use crate::binary::TraceWriter;
use warpload::text::{parse_decimal, parse_hexadecimal};
use warpload_binary::lines::Lines;
use warpload_binary::regular_file;

/// The maximum total length of file names in a list, in bytes.
const MAX_NAMES_BYTES: usize = 64 << 20;

/// The maximum number of lines in a list that name device memory.
const MAX_ALLOCATIONS: usize = 1 << 20;

/// The maximum number of names that are counted separately, and the maximum length of one.
const MAX_PASSED_OVER: usize = 16;
const MAX_NAME: usize = 64;

/// The note of a trace that was imported from a list.
const NO_END_MARK: &str = "whether the list is whole is unknown: a kernelslist.g has no end mark";

/// Files with traces, and further facts from their list.
#[derive(Debug)]
pub(super) struct FileList {
    path: PathBuf,
    /// In launch order, each with its line number.
    files: Vec<(Box<str>, u64)>,
    names_bytes: usize,
    allocations: Vec<(u64, u64)>,
    /// The number of skipped rows by name.
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

    /// Adds the file named on line `number`.
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

    /// Adds device memory that the program copies to: a base and a size in bytes.
    fn allocation(&mut self, allocation: (u64, u64)) -> Result<(), String> {
        if self.allocations.len() == MAX_ALLOCATIONS {
            return Err(format!("more than {MAX_ALLOCATIONS} copies to device memory"));
        }
        self.allocations.push(allocation);
        Ok(())
    }

    /// Counts a skipped row, which concerns neither traces nor the memory that they read.
    fn passed_over(&mut self, name: &str) {
        let is_room = self.passed_over.len() < MAX_PASSED_OVER && name.len() <= MAX_NAME;
        let is_known = self.passed_over.contains_key(name);
        let name = if is_known || is_room { name } else { "others" };
        *self.passed_over.entry(name.into()).or_default() += 1;
    }

    /// Writes the facts that apply to all traces of the list.
    pub(super) fn describe<W: Write + Seek>(&self, writer: &mut TraceWriter<W>) {
        writer.allocations(self.allocations.iter().copied());
        writer.may_be_cut_off(NO_END_MARK);
        if !self.passed_over.is_empty() {
            let mut note = "skipped rows of the list:".to_owned();
            for (i, (name, count)) in self.passed_over.iter().enumerate() {
                let comma = if i == 0 { "" } else { "," };
                // Writing to a text cannot fail.
                let _ = write!(note, "{comma} {count} of `{name}`");
            }
            writer.note(&note);
        }
    }

    /// The files, found relative to the list, with their line numbers.
    pub(super) fn files(&self) -> impl ExactSizeIterator<Item = (PathBuf, u64)> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        self.files.iter().map(|(name, line)| (folder.join(&**name), *line))
    }

    /// The total size of the files, in bytes. Missing files do not count.
    pub(super) fn bytes(&self) -> u64 {
        let sizes = self.files().filter_map(|(file, _)| regular_file::size(&file).ok());
        sizes.fold(0, u64::saturating_add)
    }

    /// An error at a line of the list.
    pub(super) fn error(&self, line: u64, message: String) -> ImportError {
        ImportError::Line { file: self.path.clone(), line, column: 1, message }
    }
}

pub(super) const FORMAT: Format =
    Format { name: "a kernelslist.g of Accel-Sim", recognize, reader: FormatReader::List(read) };

/// The extensions of trace files. A compression's extension also marks a trace.
const TRACES: [&[u8]; 4] = [b".trace", b".traceg", b".tracez", b".ndjson"];

/// Whether a file in a folder is a trace, by its name.
pub(crate) fn names_a_trace_file(name: &str) -> bool {
    let inner =
        [".xz", ".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    // CUTracer's own files beside the traces: its log, and its events.
    let is_trace = |end: &&[u8]| inner.as_bytes().ends_with(end);
    TRACES.iter().any(is_trace) && !name.starts_with("cutracer_")
}

fn recognize(start: &[u8]) -> Option<Sign> {
    let line = first_line(start);
    (command(line).is_some() || names_a_trace(line)).then_some(Sign::Likely)
}

fn names_a_trace(line: &[u8]) -> bool {
    TRACES.iter().any(|end| line.ends_with(end)) || compressed::by_name(line).is_some()
}

/// The CUDA function in a row.
fn command(line: &[u8]) -> Option<&[u8]> {
    let name = line.get(..memchr::memchr(b',', line)?)?;
    let is_one = [&b"Memcpy"[..], b"cuda"].iter().any(|start| name.starts_with(start));
    (is_one && name.iter().all(u8::is_ascii_alphanumeric)).then_some(name)
}

fn read(input: &mut Text<'_>, path: &Path) -> Result<FileList, ImportError> {
    let mut list = FileList::new(path);
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next_line() {
        let line = line.map_err(|error| ImportError::in_lines(path, error))?;
        read_line(line.text.trim(), line.number, &mut list)
            .map_err(|message| list.error(line.number, message))?;
    }
    Ok(list)
}

/// The rows that name device memory: copies to it and, in lists of early tracers, its allocations.
const ALLOCATIONS: [&str; 2] = ["MemcpyHtoD", "cudaMalloc"];

fn read_line(text: &str, number: u64, list: &mut FileList) -> Result<(), String> {
    let Some((name, rest)) = text.split_once(',') else {
        return if text.is_empty() { Ok(()) } else { list.file(text, number) };
    };
    if ALLOCATIONS.contains(&name) {
        let wrong = || format!("expected `{name},0xADDRESS,BYTES`");
        return list.allocation(allocation(rest).ok_or_else(wrong)?);
    }
    // File names can contain commas.
    if names_a_trace(text.as_bytes()) {
        return list.file(text, number);
    }
    if command(text.as_bytes()).is_none() {
        return Err(EXPECTED.to_owned());
    }
    // Other rows name no memory that loads read first.
    list.passed_over(name);
    Ok(())
}

const EXPECTED: &str = "a row with a comma; expected the name of a trace, such as `kernel-1.traceg`, or \
    `MemcpyHtoD,0xADDRESS,BYTES`";

/// Reads the rest of a row after its name: a base and a size.
fn allocation(text: &str) -> Option<(u64, u64)> {
    let (base, size) = text.split_once(',')?;
    let base = parse_hexadecimal(base.trim().strip_prefix("0x")?)?;
    Some((base, parse_decimal(size.trim())?))
}
