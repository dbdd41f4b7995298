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

fn recognize(start: &[u8]) -> Option<Sign> {
    let line = first_line(start);
    let is_trace = line.ends_with(b".traceg") || line.ends_with(b".trace");
    let names_a_trace = is_trace || Compression::by_name(line).is_some();
    (start.starts_with(b"Memcpy") || names_a_trace).then_some(Sign::Likely)
}

fn read<'p>(input: &mut Text<'_>, path: &'p Path) -> Result<FileList<'p>, ImportError> {
    let mut list = FileList::new(path);
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next_line() {
        let line = line.map_err(|error| ImportError::in_lines(path, error))?;
        read_line(line.text.trim(), line.number, &mut list)
            .map_err(|message| list.error(line.number, message))?;
    }
    Ok(list)
}

fn read_line(text: &str, number: u64, list: &mut FileList<'_>) -> Result<(), String> {
    if let Some(copied) = text.strip_prefix("MemcpyHtoD,") {
        return list.allocation(allocation(copied).ok_or("expected `MemcpyHtoD,0xADDRESS,BYTES`")?);
    }
    // Other commands have commas too: MemcpyDtoH and the like name no memory that loads read first.
    if text.is_empty() || text.contains(',') { Ok(()) } else { list.file(text, number) }
}

/// Reads what follows `MemcpyHtoD,`: a base and a size.
fn allocation(text: &str) -> Option<(u64, u64)> {
    let (base, size) = text.split_once(',')?;
    let base = u64::from_str_radix(base.trim().strip_prefix("0x")?, 16).ok()?;
    Some((base, size.trim().parse().ok()?))
}
