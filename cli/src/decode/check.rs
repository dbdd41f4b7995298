//! `decode --check`: whether a listing's text and its words agree, and what no text shows.

use std::fmt;

use warpload::encoding::{Instruction, Ld, Ldg, Ldl, Lds, parse_line};
use warpload::sass::{SassInstruction, without_relocations};

use super::find::{is_later_load, names_a_load};
use crate::name::plural;

/// What was compared so far.
#[derive(Default, serde::Serialize)]
pub(super) struct Checked {
    pub(super) loads: u64,
    pub(super) differences: u64,
    /// Loads whose displacement the linker fills in, which are not among `loads`.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) relocated: u64,
    /// Loads whose words have bits set that no text shows.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) unread: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { loads, differences, relocated, unread } = self;
        write!(f, "{} checked, {}", plural(*loads, "load"), plural(*differences, "difference"))?;
        if *relocated > 0 {
            write!(f, "; {relocated} relocated, not compared")?;
        }
        if *unread > 0 {
            write!(f, "; {unread} with bits that the disassembler does not read")?;
        }
        Ok(())
    }
}

/// What is said of one instruction.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// How its text and its word differ.
    Difference(String),
    /// What is in its word and not in any text.
    Unread(String),
}

impl Checked {
    /// Compares one instruction; returns what is to be said of it. Instructions that are not loads
    /// by text or by word are not compared, nor are those without a word.
    pub(super) fn instruction(&mut self, instruction: &SassInstruction) -> Option<Remark> {
        let difference = self.difference(instruction).map(Remark::Difference);
        difference.or_else(|| self.unread(instruction).map(Remark::Unread))
    }

    /// The bits of a load that has a text, and that the text does not show.
    fn unread(&mut self, instruction: &SassInstruction) -> Option<String> {
        instruction.text.as_ref()?;
        let word = instruction.word?.narrow()?;
        let unread = Instruction::decode(word)?.unread_bits() & word;
        if unread == 0 {
            return None;
        }
        self.unread += 1;
        let bits: Vec<String> =
            (0..64).rev().filter(|bit| unread >> bit & 1 != 0).map(|bit| bit.to_string()).collect();
        let bits = match &bits[..] {
            [bit] => format!("bit {bit}"),
            bits => format!("bits {}", bits.join(", ")),
        };
        Some(format!("the word {word:#018x} sets {bits}, which the disassembler does not read"))
    }

    fn difference(&mut self, instruction: &SassInstruction) -> Option<String> {
        let word = instruction.word?.narrow()?;
        let text = instruction.text.as_deref()?;
        let decoded = Instruction::decode(word);
        if decoded.is_none() && !names_a_load(text) {
            return None;
        }
        if let (Some(load), Some(relocated)) = (decoded, without_relocations(text))
            && parse_line(&relocated)
                .is_ok_and(|parsed| is_equal_elsewhere(text, parsed.instruction, load))
        {
            self.relocated += 1;
            return None;
        }
        self.loads += 1;
        let is_equal = decoded.is_some_and(|load| {
            // The same word in another accepted spelling is not a difference.
            load.text().as_str() == text
                || parse_line(text).is_ok_and(|parsed| parsed.instruction == load)
        });
        if is_equal {
            return None;
        }
        self.differences += 1;
        let meant = decoded.map_or("no load".to_owned(), |load| format!("`{load}`"));
        let error = parse_line(text).err().filter(|_| is_later_load(instruction));
        let hint = error.and_then(|error| error.hint_in(text));
        let hint = hint.map_or(String::new(), |hint| format!("; {hint}"));
        Some(format!("the text says `{text}`, its word {word:#018x} is {meant}{hint}"))
    }
}

/// Whether the load `parsed`, whose relocated operands in `text` were read as 0, and the decoded
/// one differ in nothing but what a relocation replaces: the displacement, the constant bank, or
/// both.
fn is_equal_elsewhere(text: &str, parsed: Instruction, decoded: Instruction) -> bool {
    let is_bank_relocated = text.contains("c[`");
    // `` c[`(symbol)] `` names bank and displacement at once.
    let is_displacement_relocated =
        text.split_once("][").is_none_or(|(_, address)| address.contains('`'));
    macro_rules! displaced {
        ($type:ident, $parsed:ident, $decoded:ident) => {
            $type { immediate: $parsed.fields().immediate, ..$decoded.fields() }.into()
        };
    }
    use Instruction as I;
    let replaced: Instruction = match (parsed, decoded) {
        (I::Ld(parsed), I::Ld(decoded)) => displaced!(Ld, parsed, decoded),
        (I::Ldg(parsed), I::Ldg(decoded)) => displaced!(Ldg, parsed, decoded),
        (I::Ldl(parsed), I::Ldl(decoded)) => displaced!(Ldl, parsed, decoded),
        (I::Lds(parsed), I::Lds(decoded)) => displaced!(Lds, parsed, decoded),
        (I::Ldc(parsed), I::Ldc(decoded)) => {
            let (parsed, mut fields) = (parsed.fields(), decoded.fields());
            if is_bank_relocated {
                fields.bank = parsed.bank;
            }
            if is_displacement_relocated {
                fields.immediate = parsed.immediate;
            }
            fields.into()
        }
        _ => return false,
    };
    // Not the words: bits that no text shows are no difference elsewhere either.
    replaced.text().as_str() == parsed.text().as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relocation_hides_nothing_else() {
        for (text, word, is_equal) in [
            ("LD.E R0, [R2+`(x)], P1", "LD.E R0, [R2], P1", true),
            ("LD.E R0, [R2+`(x)], P1", "LD.E R0, [R2+0x40], P1", true),
            ("LD.E R0, [R2+`(x)], P1", "LD.E R0, [R2], P0", false),
            ("LD.E R0, [R2+`(x)], P1", "LD.E R0, [R4], P1", false),
            ("LD.E R0, [R2+`(x)], P1", "LD.E R1, [R2], P1", false),
            ("LD.E R0, [R2+`(x)], P1", "@P0 LD.E R0, [R2], P1", false),
            ("LD.E R0, [R2+`(x)], P1", "LD.E.CG R0, [R2], P1", false),
            ("LDG.E R0, [R2+`(x)]", "LDG.E R0, [R2+0x10]", true),
            ("LDL R0, [`(x)]", "LDL R0, [0x10]", true),
            ("LDS.U.32 R0, [`((x + 0x8))]", "LDS.U.32 R0, [0x10]", true),
            ("LDS.U.32 R0, [`(x)]", "LDS.32 R0, [0x10]", false),
            ("LDS R0, [`(x)]", "LDL R0, [0x10]", false),
            ("LDC R0, c[0x3][R2+`(x)]", "LDC R0, c[0x3][R2+0x8]", true),
            ("LDC R0, c[0x3][R2+`(x)]", "LDC R0, c[0x2][R2+0x8]", false),
            ("LDC R0, c[`(x)]", "LDC R0, c[0x2][0x8]", true),
            ("LDC R0, c[`(x)]", "LDC R0, c[0x2][R2+0x8]", false),
            ("LDC R0, c[`(x)][R2+0x8]", "LDC R0, c[0x2][R2+0x8]", true),
            ("LDC R0, c[`(x)][R2+0x8]", "LDC R0, c[0x2][R2+0x4]", false),
        ] {
            let word = parse_line(word).expect("a load").instruction.encode();
            let mut checked = Checked::default();
            let mut instruction = SassInstruction::default();
            (instruction.text, instruction.word) = (Some(text.to_owned()), Some(word.into()));
            let difference = checked.difference(&instruction);
            assert_eq!(difference.is_none(), is_equal, "{text} {word:#x}");
            let counts = (checked.loads, checked.differences, checked.relocated);
            assert_eq!(counts, if is_equal { (0, 0, 1) } else { (1, 1, 0) }, "{text} {word:#x}");
        }
    }

    #[test]
    fn bits_that_no_text_shows() {
        let word = |text: &str| parse_line(text).expect("a load").instruction.encode();
        let checked = |text: &str, word: u64| {
            let mut checked = Checked::default();
            let mut instruction = SassInstruction::default();
            (instruction.text, instruction.word) = (Some(text.to_owned()), Some(word.into()));
            (checked.instruction(&instruction), checked.unread)
        };
        for (text, bits, shown) in [
            ("LDG.E R0, [R2]", 1_u64 << 44, "bit 44"),
            ("LDL R0, [R2]", 3 << 46, "bits 47, 46"),
            ("LDS.U.32 R0, [R2]", 5 << 45, "bits 47, 45"),
            ("LDC R0, c[0x3][R2]", 1 << 47 | 1 << 41, "bits 47, 41"),
            ("LDG.E R0, [R2+`(x)]", 1 << 44, "bit 44"),
        ] {
            let linked = text.replace("+`(x)", "");
            let set = word(&linked) | bits;
            let expected =
                format!("the word {set:#018x} sets {shown}, which the disassembler does not read");
            assert_eq!(checked(text, set), (Some(Remark::Unread(expected)), 1));
            assert_eq!(checked(text, set & !bits), (None, 0), "{text}");
            // A difference is what matters more.
            let (remark, unread) = checked("LDG R9, [R9]", set);
            assert!(matches!(remark, Some(Remark::Difference(_))) && unread == 0, "{text}");
        }
        // Every bit of an LD is shown.
        assert_eq!(checked("LD.E R0, [R2], P1", word("LD.E R0, [R2], P1")), (None, 0));
    }
}
