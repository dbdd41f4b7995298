//! Draws which thread gets which cell of Tensor Memory: one line for each lane that a
//! `tcgen05.ld` reads, one `thread:register` for each column. With an instruction as its argument
//! it draws that one.
//!
//! ```text
//! cargo run -p warpload-ptx --example draw_tensor_memory -- \
//!     'tcgen05.ld.sync.aligned.16x64b.x2.b32 {r0, r1}, [taddr];'
//! ```

#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;

use warpload_ptx::read_load;
use warpload_ptx::tensor::{
    CellOffset, Issue, Pattern, Rules, TensorAddress, TensorMemory, TensorRegisters, execute,
};

const LOAD: &str = "tcgen05.ld.sync.aligned.16x128b.x1.b32 {r0, r1}, [taddr];";

fn main() -> Result<(), Box<dyn Error>> {
    let text = std::env::args().nth(1).unwrap_or_else(|| LOAD.to_owned());
    let load = read_load(&text)?.tensor_load(&text)?.load;
    println!("{load}");
    let shape = load.shape();
    // A packed register holds two columns.
    let width = if load.is_packed() { 2 } else { 1 };
    for second_half in [false, true].into_iter().take(shape.halves()) {
        for lane in 0..shape.lanes() {
            let owners: Vec<String> = (0..load.columns() / width)
                .map(|column| {
                    let (thread, register) = shape.owner(CellOffset { second_half, lane, column });
                    format!("{thread:2}:r{register}")
                })
                .collect();
            println!("lane {lane:2}  {}", owners.join(" "));
        }
    }

    // The picture is what execution does: each cell of this pattern holds its lane and column.
    if !load.is_packed() && load.split().is_none() {
        let memory = TensorMemory::filled(Pattern::LaneColumn);
        let issue = Issue::new(0, TensorAddress::new(0, 0));
        let mut registers = TensorRegisters::new();
        execute(&load, issue, &memory, &Rules::default(), &mut registers)?;
        for (register, row) in registers.data().iter().enumerate() {
            for (thread, value) in row.iter().enumerate() {
                let cell = shape.cell(thread, register);
                assert_eq!(*value, TensorAddress::new(cell.lane as u16, cell.column as u16).0);
            }
        }
    }
    Ok(())
}
