//! Executes a test vector on both executors: one load, with the state before and after it.
//!
//! `cargo run --example run_a_vector [FILE]` runs every vector of a file, one JSON object a line.
#![allow(clippy::print_stdout, reason = "an example")]

use warpload::load::Executor;
use warpload_suite::vector::Vector;

/// Lane 0 loads four bytes. Lane 1 points outside the allocation.
const VECTOR: &str = r#"{
    "name": "lane 1 is outside", "instruction": "LD R0, [R2]",
    "initial": {
        "active": "0x3", "predicates": {"P0": "0xffffffff"},
        "memory": {"global": [{"base": "0x0", "hex": "01020304"}]},
        "registers": {"R0": ["0x7", "0x7", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0",
            "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0",
            "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0"],
            "R2": ["0x0", "0x4", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0",
            "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0",
            "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0"]}},
    "final": {
        "registers": {"R0": ["0x4030201", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0",
            "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0",
            "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0", "0x0"]},
        "lane_faults": {"outside_allocation": "0x2"}}
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut failed = 0;
    match std::env::args().nth(1) {
        None => failed += usize::from(!run(VECTOR)?),
        Some(path) => {
            for line in std::fs::read_to_string(path)?.lines() {
                failed += usize::from(!run(line)?);
            }
        }
    }
    if failed > 0 { Err(format!("{failed} vectors failed").into()) } else { Ok(()) }
}

/// Whether both executors meet the expectation of the vector.
fn run(text: &str) -> Result<bool, Box<dyn std::error::Error>> {
    let vector = Vector::from_json(text)?;
    println!("{}: {}", vector.name, vector.instruction);
    let mut is_as_expected = true;
    for executor in [Executor::Fast, Executor::Reference] {
        let (_, outcome) = vector.run(executor)?;
        for fault in outcome.lane_faults.iter() {
            println!("  {}: lane {}: {}", executor.name(), fault.lane, fault.kind().name());
        }
        for difference in vector.check(executor)? {
            println!("  {}: {difference}", executor.name());
            is_as_expected = false;
        }
    }
    Ok(is_as_expected)
}
