//! Accel-Sim's `kernelslist.g`: the traces of kernels, and what was copied to the device.

use std::path::Path;

use super::compressed::Compression;
use super::error::ImportError;
use super::file_list::FileList;
use super::format::{Format, Reader, Sign, first_line};
use super::text::Text;
use crate::lines::Lines;

pub(super) const FORMAT: Format =
    Format { name: "a kernelslist.g of Accel-Sim", recognize, reader: Reader::List(read) };

/// How the names of traces end that are not compressed as a whole.
const TRACES: [&[u8]; 3] = [b".trace", b".traceg", b".tracez"];

fn recognize(start: &[u8]) -> Option<Sign> {
    let line = first_line(start);
    let names_a_trace = TRACES.iter().any(|end| line.ends_with(end));
    let names_a_trace = names_a_trace || Compression::by_name(line).is_some();
    let is_command =
        [&b"Memcpy"[..], b"cuda"].iter().any(|name| line.starts_with(name)) && line.contains(&b',');
    (is_command || names_a_trace).then_some(Sign::Likely)
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
    // Other rows name no memory that loads read first.
    Ok(())
}

/// Reads what follows the name of a row: a base and a size.
fn allocation(text: &str) -> Option<(u64, u64)> {
    let (base, size) = text.split_once(',')?;
    let base = u64::from_str_radix(base.trim().strip_prefix("0x")?, 16).ok()?;
    Some((base, size.trim().parse().ok()?))
}
