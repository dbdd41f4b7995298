//! Prints every load of a cubin or of a listing, with its function and offset.
//!
//! `cargo run --example decode_a_cubin [FILE]`
#![allow(clippy::print_stdout, reason = "an example")]

use std::fs::File;
use std::io::BufReader;

use warpload_binary::sass::{self, Format};
use warpload_encoding::{Instruction, Sm};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or("traces/gather.sm_50.cubin".to_owned());
    let mut loads = 0;
    for instruction in sass::read(BufReader::new(File::open(path)?), Format::Detect)? {
        let instruction = instruction?;
        // Other instructions are read too, but not decoded.
        let sm = instruction.sm.unwrap_or(Sm::SPA5);
        if let Some(load) = instruction.word.and_then(|word| Instruction::decode(word, sm).load()) {
            let function = instruction.function.as_deref().unwrap_or("-");
            let offset = instruction.offset.unwrap_or_default();
            println!("{function} {offset:#06x} {} {load}", load.word());
            loads += 1;
        }
    }
    println!("{loads} loads");
    Ok(())
}
