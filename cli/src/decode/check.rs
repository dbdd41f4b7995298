//! `decode --check`: whether a listing's text and its words agree.

use warpload::encoding::{Instruction, Ld, Ldg, Ldl, Lds, parse_line};
use warpload::sass::{SassInstruction, without_relocations};

use super::find::{is_later_load, names_a_load};

/// What was compared so far.
#[derive(Default)]
pub(super) struct Checked {
    pub(super) loads: u64,
    pub(super) differences: u64,
    /// Loads whose displacement the linker fills in, which are not among `loads`.
    pub(super) relocated: u64,
}

impl Checked {
    /// Compares one instruction; returns how its text and its word differ. Instructions that are
    /// not loads by text or by word are not compared, nor are those without a word.
    pub(super) fn instruction(&mut self, instruction: &SassInstruction) -> Option<String> {
        let word = instruction.word?;
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
        let hint = if is_later_load(instruction) {
            parse_line(text).err().and_then(|error| error.hint_in(text))
        } else {
            None
        };
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
            (instruction.text, instruction.word) = (Some(text.to_owned()), Some(word));
            let difference = checked.instruction(&instruction);
            assert_eq!(difference.is_none(), is_equal, "{text} {word:#x}");
            let counts = (checked.loads, checked.differences, checked.relocated);
            assert_eq!(counts, if is_equal { (0, 0, 1) } else { (1, 1, 0) }, "{text} {word:#x}");
        }
    }
}
