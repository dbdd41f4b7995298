//! The registers that a Tensor Memory load has filled, as a table.

use std::ops::Range;

use warpload::lane::{LANES, LaneValues};
use warpload_ptx::tensor::{Issue, TensorInstruction, TensorLoad, TensorRegisters};

use super::text_table::{self, Value, cell};
use warpload::text::plural;

/// Registers side by side.
const REGISTERS_A_ROW: usize = 8;

/// Returns the text of an executed load: the instruction, the cells that it read, and the registers of the threads.
#[must_use]
pub fn draw_tensor_load(
    given: &TensorInstruction,
    issue: Issue,
    registers: &TensorRegisters,
) -> String {
    let data = given.registers.iter().map(String::as_str).zip(registers.data());
    let reduced = given.reduced.as_deref().zip(registers.reduced());
    let columns: Vec<(&str, &LaneValues)> = data.chain(reduced).collect();
    let threads = given.threads.clone();
    let heading = match given.is_whole() {
        true => tensor_load_heading(&given.load, issue),
        // A half has an address of its own.
        false => {
            let (first, last) = (threads.start, threads.end - 1);
            format!("{}, threads {first} to {last}", cells_read(&given.load, issue))
        }
    };
    format!("{}\n{heading}\n{}", given.text, of_threads(&columns, threads))
}

/// Returns the cells that a load reads, in one line.
#[must_use]
pub fn tensor_load_heading(load: &TensorLoad, issue: Issue) -> String {
    let split = load.split().map(|split| format!(", for threads 16 to 31 from {split} further"));
    cells_read(load, issue) + &split.unwrap_or_default()
}

fn cells_read(load: &TensorLoad, issue: Issue) -> String {
    let Issue { warp, address, .. } = issue;
    let columns = plural(load.columns(), "column");
    format!("warp {warp} reads {columns} of {} lanes from {address}", load.shape().lanes())
}

/// Returns registers by name with the values of all threads, eight registers at a time.
#[must_use]
pub fn tensor_registers_table(columns: &[(&str, &LaneValues)]) -> String {
    of_threads(columns, 0..LANES)
}

fn of_threads(columns: &[(&str, &LaneValues)], threads: Range<usize>) -> String {
    let mut table = String::new();
    for columns in columns.chunks(REGISTERS_A_ROW) {
        let numbers = threads.clone().map(|thread| Value::Count(thread as u64)).collect();
        let registers = columns.iter().map(|(name, values)| {
            let value = |thread| Value::Whole(format!("{:#010x}", values[thread]));
            (cell(name), 0, threads.clone().map(value).collect())
        });
        let numbers = ("thread".to_owned(), 0, numbers);
        table += &format!("\n{}", text_table::grid([numbers].into_iter().chain(registers)));
    }
    table
}
