//! Loaded registers as a table.

use std::fmt::Write;
use std::ops::Range;

use warpload::lane::{LANES, LaneValues};
use warpload_ptx::tensor::{Issue, TensorLoad};

use crate::name::{cell, plural};

/// How many registers are side by side.
const REGISTERS_A_ROW: usize = 8;

/// What a load reads, in one line.
pub(crate) fn heading(load: &TensorLoad, issue: Issue) -> String {
    let Issue { warp, address, .. } = issue;
    let columns = plural(load.columns(), "column");
    let lanes = load.shape().lanes();
    let mut heading = format!("warp {warp} reads {columns} of {lanes} lanes from {address}");
    if let Some(split) = load.split() {
        heading += &format!(", for threads 16 to 31 from {split} further");
    }
    heading
}

/// The same of one half, whose address is its own.
pub(super) fn half_heading(load: &TensorLoad, issue: Issue, threads: &Range<usize>) -> String {
    let Issue { warp, address, .. } = issue;
    let columns = plural(load.columns(), "column");
    let (lanes, first, last) = (load.shape().lanes(), threads.start, threads.end - 1);
    format!(
        "warp {warp} reads {columns} of {lanes} lanes from {address}, threads {first} to {last}"
    )
}

/// Registers by name with the values of the threads, eight registers at a time.
pub(crate) fn of_threads(columns: &[(&str, &LaneValues)]) -> String {
    of_some_threads(columns, 0..LANES)
}

/// The same of the threads that load.
pub(super) fn of_some_threads(columns: &[(&str, &LaneValues)], threads: Range<usize>) -> String {
    let mut table = String::new();
    for columns in columns.chunks(REGISTERS_A_ROW) {
        let columns: Vec<(String, &LaneValues)> =
            columns.iter().map(|(name, values)| (cell(name), *values)).collect();
        let width = |name: &str| name.chars().count().max(10);
        let mut heading = String::from("\nthread");
        for (name, _) in &columns {
            let _ = write!(heading, "  {name:<0$}", width(name));
        }
        table += heading.trim_end();
        table.push('\n');
        for thread in threads.clone() {
            let mut row = format!("{thread:>6}");
            for (name, values) in &columns {
                let _ = write!(row, "  {:<1$}", format!("{:#010x}", values[thread]), width(name));
            }
            table += row.trim_end();
            table.push('\n');
        }
    }
    table
}
