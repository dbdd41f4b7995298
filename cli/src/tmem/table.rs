//! Loaded registers as a table.

use std::fmt::Write;

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

/// Registers by name with the values of the threads, eight registers at a time.
pub(crate) fn of_threads(columns: &[(&str, &LaneValues)]) -> String {
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
        for thread in 0..LANES {
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
