//! Loaded registers as a table.

use std::ops::Range;

use warpload::lane::{LANES, LaneValues};
use warpload_ptx::tensor::{Issue, TensorLoad};

use crate::name::{cell, plural};
use crate::table::{self, Value};

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
        let numbers = threads.clone().map(|thread| Value::Count(thread as u64)).collect();
        let registers = columns.iter().map(|(name, values)| {
            let value = |thread| Value::Whole(format!("{:#010x}", values[thread]));
            (cell(name), 0, threads.clone().map(value).collect())
        });
        let numbers = ("thread".to_owned(), 0, numbers);
        table += &format!("\n{}", table::grid([numbers].into_iter().chain(registers)));
    }
    table
}
