//! Assembles instructions, changes a field, and marks the place of an error.
//!
//! `cargo run --example assemble`
#![allow(clippy::print_stdout, reason = "an example")]

use warpload::encoding::{Instruction, Slot, Sm, parse_line};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let load = Instruction::parse("@P0 LD.E.64 R4, [R2+0x10]", Sm::SPA5)?;
    println!("{}  {load}", load.word());
    assert_eq!(Instruction::decode(load.word(), Sm::SPA5).load(), Some(load));

    // Each field can be set separately, to any number that fits.
    let changed = load.with(Slot::Destination, 8).ok_or("R8 fits")?;
    println!("{}  {changed}", changed.word());
    assert_eq!(changed.to_string(), "@P0 LD.E.64 R8, [R2+0x10]");
    assert_eq!(load.with(Slot::Destination, 256), None);

    // An error knows its place in the text, and often a correction.
    let text = "LD.E.64 R4, [R2 - -4]";
    if let Err(error) = parse_line(text, Sm::SPA5) {
        println!("\n{text}\n{:1$}^ {error}", "", error.span.start);
        if let Some(hint) = error.hint_in(text, Sm::SPA5) {
            println!("{hint}");
        }
    }
    Ok(())
}
