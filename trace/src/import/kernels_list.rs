//! Accel-Sim's `kernelslist.g`: the traces of kernels, and what was copied to the device.

use std::path::Path;

use super::compressed::Compression;
use super::error::ImportError;
use super::file_list::FileList;
use super::format::{Format, FormatReader, Sign, first_line};
use super::text::Text;
use warpload_binary::lines::Lines;

pub(super) const FORMAT: Format =
    Format { name: "a kernelslist.g of Accel-Sim", recognize, reader: FormatReader::List(read) };

/// How the names of traces end that are not compressed as a whole.
const TRACES: [&[u8]; 3] = [b".trace", b".traceg", b".tracez"];

fn recognize(start: &[u8]) -> Option<Sign> {
    let line = first_line(start);
    (command(line).is_some() || names_a_trace(line)).then_some(Sign::Likely)
}

fn names_a_trace(line: &[u8]) -> bool {
    TRACES.iter().any(|end| line.ends_with(end)) || Compression::by_name(line).is_some()
}

/// Returns the name of the function of CUDA that a row is of.
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

/// The rows that name device memory: what is copied to it, and, of early tracers, what is allocated.
const ALLOCATIONS: [&str; 2] = ["MemcpyHtoD", "cudaMalloc"];

fn read_line(text: &str, number: u64, list: &mut FileList) -> Result<(), String> {
    let Some((name, rest)) = text.split_once(',') else {
        return if text.is_empty() { Ok(()) } else { list.file(text, number) };
    };
    if ALLOCATIONS.contains(&name) {
        let wrong = || format!("expected `{name},0xADDRESS,BYTES`");
        return list.allocation(allocation(rest).ok_or_else(wrong)?);
    }
    // Names of files can have commas.
    if names_a_trace(text.as_bytes()) {
        return list.file(text, number);
    }
    if command(text.as_bytes()).is_none() {
        return Err(EXPECTED.to_owned());
    }
    // It names no memory that loads read first.
    list.passed_over(name);
    Ok(())
}

const EXPECTED: &str = "a row with a comma; expected the name of a trace, such as `kernel-1.traceg`, or \
    `MemcpyHtoD,0xADDRESS,BYTES`";

/// Reads what follows the name of a row: a base and a size.
fn allocation(text: &str) -> Option<(u64, u64)> {
    let (base, size) = text.split_once(',')?;
    let base = u64::from_str_radix(base.trim().strip_prefix("0x")?, 16).ok()?;
    Some((base, size.trim().parse().ok()?))
}
