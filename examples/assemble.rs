//! Assembles instructions, changes a field of one, and draws the place of an error.
//!
//! `cargo run --example assemble`
#![allow(clippy::print_stdout, reason = "an example")]

use warpload::encoding::{Instruction, Reg, parse_line};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let load = parse_line("@P0 LD.E.64 R4, [R2+0x10]")?.instruction;
    println!("{:#018x}  {load}", load.encode());
    assert_eq!(Instruction::decode(load.encode()), Some(load));

    // The fields of a word are a struct; a changed one is a word again.
    let Instruction::Ld(ld) = load else { return Err("not an LD".into()) };
    let mut fields = ld.fields();
    fields.destination = Reg::new(8);
    let changed = Instruction::from(fields);
    println!("{:#018x}  {changed}", changed.encode());
    assert_eq!(changed.to_string(), "@P0 LD.E.64 R8, [R2+0x10]");

    // An error knows its place in the text, and often what to write instead.
    let text = "LD.E.64 R4, [R2 - -4]";
    if let Err(error) = parse_line(text) {
        println!("\n{text}\n{:1$}^ {error}", "", error.span.start);
        if let Some(hint) = error.hint_in(text) {
            println!("{hint}");
        }
    }
    Ok(())
}
