//! `LDTM`: ptxas 13.5's code for every legal `tcgen05.ld` (`ldtm.tsv`).

use std::collections::BTreeSet;

use warpload::encoding::{Decoded, Instruction, Sm};
use warpload_ptx::tensor::{Half, SassTensorError, SassTensorLoad};

/// A row: the SM, the word, its text, and the load of PTX with its half offset.
struct Row {
    load: Instruction,
    text: &'static str,
    ptx: &'static str,
    split: Option<u32>,
}

fn rows() -> impl Iterator<Item = Row> {
    include_str!("../../tensor_memory/ldtm.tsv").lines().map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [sm, word, text, ptx] = fields[..] else { panic!("{line}") };
        let sm: Sm = sm.parse().unwrap();
        let word = u128::from_str_radix(word.strip_prefix("0x").unwrap(), 16).unwrap();
        let Decoded::Load(load) = Instruction::decode(word, sm) else { panic!("{line}") };
        let (ptx, split) =
            ptx.split_once(',').map_or((ptx, None), |(ptx, split)| (ptx, Some(split)));
        Row { load, text, ptx, split: split.map(|split| split.parse().unwrap()) }
    })
}

#[test]
fn words_are_the_loads_that_they_were_compiled_from() {
    for Row { load, text, ptx, split } in rows() {
        assert_eq!(load.text().as_str(), text);
        let tensor = SassTensorLoad::new(&load).unwrap();
        assert_eq!(tensor.load.to_string(), ptx, "{text}");
        assert_eq!(tensor.half.is_some(), split.is_some(), "{text}");
        // ptxas adds the half offset to the address of the second half.
        let offset = if tensor.half == Some(Half::Second) { split.unwrap() } else { 0 };
        assert_eq!(tensor.address_offset, offset, "{text}");
        assert_eq!(tensor.address.to_string(), "UR4");
        assert_eq!(tensor.reduced.is_some(), text.contains("STAT"));
        // The load's registers and the register of a reduction must not overlap.
        let first = usize::from(tensor.destination.number());
        if let Some(reduced) = tensor.reduced {
            assert!(usize::from(reduced.number()) >= first + tensor.load.registers(), "{text}");
        }
    }
}

/// Every text that the fields can express is in the list, or refused by the judge of PTX's loads.
#[test]
fn the_list_has_every_plain_load() {
    let sm: Sm = "100".parse().unwrap();
    let known: BTreeSet<String> = rows().map(|row| row.load.opcode().as_str().to_owned()).collect();
    let mut counts = (0, 0);
    for shape in
        ["", ".16dp64bit", ".16dp128bit", ".16dp256bit", ".16dp32bit_t0_t15", ".16dp32bit_t16_t31"]
    {
        for repeat in ["", ".x2", ".x4", ".x8", ".x16", ".x32", ".x64", ".x128"] {
            for pack in ["", ".PACK16BIT"] {
                let opcode = format!("LDTM{shape}{repeat}{pack}");
                let load = Instruction::parse(&format!("{opcode} R0, tmem[UR4]"), sm).unwrap();
                match SassTensorLoad::new(&load) {
                    Ok(_) => {
                        assert!(known.contains(&opcode), "{opcode}");
                        counts.0 += 1;
                    }
                    Err(SassTensorError::Illegal(illegal)) => {
                        assert!(!known.contains(&opcode), "{opcode}");
                        assert_eq!(illegal.code(), "num", "{opcode}");
                        counts.1 += 1;
                    }
                    Err(error) => panic!("{opcode}: {error}"),
                }
            }
        }
    }
    // Refused are x128 of .16x128b and x64 and x128 of .16x256b, packed and unpacked.
    assert_eq!(counts, (90, 6));
}

#[test]
fn what_ptx_does_not_have_is_refused() {
    let error = |sm: &str, text: &str| {
        let load = Instruction::parse(text, sm.parse().unwrap()).unwrap();
        SassTensorLoad::new(&load).map(|_| ()).unwrap_err().to_string()
    };
    let no_load = "not a legal `tcgen05.ld`: ";
    for (text, expected) in [
        (
            "LDTM.16dp256bit.x64 R0, tmem[UR4]",
            ".16x256b does not support .x64; expected a power of two from .x1 to .x32",
        ),
        (
            "LDTM.STAT.x2.MAXABS R4, R0, tmem[UR4]",
            ".abs and .NaN are only valid with .f32, not with .u32",
        ),
        (
            "LDTM.STAT.x2.MIN.S32.NAN R4, R0, tmem[UR4]",
            ".abs and .NaN are only valid with .f32, not with .s32",
        ),
    ] {
        assert_eq!(error("103", text), format!("{no_load}{expected}"));
    }
    let other = error("90", "LDG.E R0, desc[UR4][R2.64]");
    assert_eq!(other, "LDG does not load Tensor Memory; `LDTM` does");
    // Meaningless values can be decoded, but not written.
    let sm: Sm = "103".parse().unwrap();
    let word = Instruction::parse("LDTM.STAT.x2.MAX R4, R0, tmem[UR4]", sm).unwrap().bits();
    for (word, name) in [
        (word | 3 << 64, "INVALID3"),
        (word & !(7 << 83), "INVALID0"),
        (word | 1 << 87 | 3 << 81, "INVALID7"),
        (word & !(3 << 81), "INVALID0"),
    ] {
        let Decoded::Load(load) = Instruction::decode(word, sm) else { panic!("{word:#x}") };
        let error = SassTensorLoad::new(&load).unwrap_err();
        assert_eq!(error.to_string(), format!(".{name} is invalid"));
    }
}
