//! `decode --check`: whether a listing's text and its words agree, and what no text shows.

use std::fmt;

use warpload::encoding::{Decoded, Instruction, Slot, Sm};
use warpload_binary::sass::{SassInstruction, without_relocations};

use crate::diagnostic;
use crate::name::plural;
use warpload_binary::sass::{is_later_load, names_a_load, sm_of};

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
    /// Loads that the listing gives as words alone, which are not among `loads`.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) without_text: u64,
    /// Loads whose descriptor the text hides, and `encode` would choose another.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) hidden: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { loads, differences, relocated, unread, without_text, hidden } = self;
        write!(f, "{} checked, {}", plural(*loads, "load"), plural(*differences, "difference"))?;
        if *relocated > 0 {
            write!(f, "; {relocated} relocated, not compared")?;
        }
        if *without_text > 0 {
            write!(f, "; {without_text} without text, not compared")?;
        }
        if *unread > 0 {
            write!(f, "; {unread} with bits that the disassembler does not read")?;
        }
        if *hidden > 0 {
            write!(f, "; {hidden} with a descriptor that the text hides")?;
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
    /// A descriptor of the word that the text hides.
    Hidden(String),
}

impl Checked {
    /// Compares one instruction; returns what is to be said of it. Instructions that are not loads
    /// by text or by word are not compared, nor are those without a word.
    pub(super) fn instruction(&mut self, instruction: &SassInstruction) -> Option<Remark> {
        if let Some(difference) = self.difference(instruction) {
            return Some(Remark::Difference(difference));
        }
        let hidden = self.hidden(instruction).map(Remark::Hidden);
        self.unread(instruction).map(Remark::Unread).or(hidden)
    }

    /// The descriptor that a text hides, if that is not the one that its assembled text has. Only the
    /// first is described: on SM 8.x nearly every load of global memory has one.
    fn hidden(&mut self, instruction: &SassInstruction) -> Option<String> {
        let (text, word) = (instruction.text.as_deref()?, instruction.word?);
        let sm = sm_of(instruction)?;
        let load = Instruction::decode(word, sm).load()?;
        let hidden = load.hidden_descriptor()?;
        let relocated = without_relocations(text);
        let parsed = Instruction::parse(relocated.as_deref().unwrap_or(text), sm).ok()?;
        if parsed.hidden_descriptor() == Some(hidden) {
            return None;
        }
        self.hidden += 1;
        (self.hidden == 1).then(|| {
            format!(
                "the word {word} has `{}`, which the text hides; `encode` needs it, or `--like {word}`",
                hidden.to_string().trim_start()
            )
        })
    }

    /// The bits of a load that has a text, and that the text does not show.
    fn unread(&mut self, instruction: &SassInstruction) -> Option<String> {
        instruction.text.as_ref()?;
        let word = instruction.word?;
        let load = Instruction::decode(word, sm_of(instruction)?).load()?;
        let unread = load.reserved_bits() & word.bits();
        if unread == 0 {
            return None;
        }
        self.unread += 1;
        let bits = (0..word.width()).rev().filter(|bit| unread >> bit & 1 != 0);
        let bits: Vec<String> = bits.map(|bit| bit.to_string()).collect();
        let bits = match &bits[..] {
            [bit] => format!("bit {bit}"),
            bits => format!("bits {}", bits.join(", ")),
        };
        Some(format!("the word {word} sets {bits}, which the disassembler does not read"))
    }

    fn difference(&mut self, instruction: &SassInstruction) -> Option<String> {
        let word = instruction.word?;
        let sm = sm_of(instruction)?;
        let Some(text) = instruction.text.as_deref() else {
            let is_load = matches!(Instruction::decode(word, sm), Decoded::Load(_));
            self.without_text += u64::from(is_load);
            return None;
        };
        let decoded = match Instruction::decode(word, sm) {
            Decoded::Load(load) => Some(load),
            _ if !names_a_load(text, sm) => return None,
            _ => None,
        };
        if let (Some(load), Some(relocated)) = (decoded, without_relocations(text))
            && Instruction::parse(&relocated, sm)
                .is_ok_and(|parsed| is_equal_elsewhere(text, parsed, load))
        {
            self.relocated += 1;
            return None;
        }
        self.loads += 1;
        if decoded.is_some_and(|load| says(text, load, sm)) {
            return None;
        }
        self.differences += 1;
        let meant = decoded.map_or("no load".to_owned(), |load| match text.contains(['&', '?']) {
            // A text with annotations may differ in these alone.
            true => format!("`{load}{}`", load.annotations()),
            false => format!("`{load}`"),
        });
        let error = Instruction::parse(text, sm).err().filter(|_| is_later_load(instruction));
        let hint = error.and_then(|error| error.hint_in(text, Sm::SPA5));
        let hint = hint.map_or(String::new(), |hint| format!("; {}", diagnostic::sass_help(hint)));
        Some(format!("the text says `{text}`, its word {word} is {meant}{hint}"))
    }
}

/// Whether a text is that of a load, in this spelling or another accepted one.
fn says(text: &str, load: Instruction, sm: Sm) -> bool {
    if load.text().as_str() == text {
        return true;
    }
    // Listings align what follows the operands.
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    match Instruction::parse(&text, sm) {
        Ok(parsed) => {
            // Texts do not show all bits, and need not have annotations; if they do, these count.
            let is_annotated = sm.has_wide_words() && text.contains(['&', '?']);
            let has_same = parsed.annotations().to_string() == load.annotations().to_string();
            parsed.text().as_str() == load.text().as_str() && (!is_annotated || has_same)
        }
        // An invalid modifier can be listed, but not assembled.
        Err(_) => text == load.text().as_str() || text == format!("{load}{}", load.annotations()),
    }
}

/// Whether the load `parsed`, whose relocated operands in `text` were read as 0, and the decoded
/// one differ in nothing but what a relocation replaces: the displacement, the constant bank, or
/// both.
fn is_equal_elsewhere(text: &str, parsed: Instruction, decoded: Instruction) -> bool {
    // `` c[R0+`(symbol)] `` has one bracket for bank and displacement.
    let bank = text.split_once("c[").and_then(|(_, rest)| rest.split(']').next());
    let is_bank_relocated = bank.is_some_and(|bank| bank.contains('`'));
    // `` c[`(symbol)] `` names bank and displacement at once.
    let is_displacement_relocated =
        text.split_once("][").is_none_or(|(_, address)| address.contains('`'));
    let mut replaced = decoded;
    for (slot, is_relocated) in
        [(Slot::Offset, is_displacement_relocated), (Slot::Bank, is_bank_relocated)]
    {
        let number = parsed.field(slot).filter(|_| is_relocated);
        replaced = number.and_then(|number| replaced.with(slot, number)).unwrap_or(replaced);
    }
    replaced.text().as_str() == parsed.text().as_str()
}

#[cfg(test)]
mod tests {
    use warpload::encoding::{Instruction, Sm};

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
            ("LDC R0, c[R2+`((x + -0x8000))]", "LDC R0, c[0x2][R2]", true),
            ("LDC R0, c[R2+`((x + -0x8000))]", "LDC R0, c[0x2][R2+0x8]", true),
            ("LDC R0, c[R2+`((x + -0x8000))]", "LDC R0, c[0x2][R4]", false),
            ("LDC R0, c[R2+`((x + -0x8000))]", "LDC R1, c[0x2][R2]", false),
            ("LDC R0, c[R2+`((x + -0x8000))]", "LDC.U8 R0, c[0x2][R2]", false),
        ] {
            let word = Instruction::parse(word, Sm::SPA5).expect("a load").bits() as u64;
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
        let word = |text: &str| Instruction::parse(text, Sm::SPA5).expect("a load").bits() as u64;
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

    #[test]
    fn words_without_text_are_counted() {
        let word = Instruction::parse("LDG.E R0, [R2]", Sm::SPA5).expect("a load").bits() as u64;
        let mut checked = Checked::default();
        let mut instruction = SassInstruction::default();
        instruction.word = Some(word.into());
        assert_eq!(checked.instruction(&instruction), None);
        assert_eq!((checked.loads, checked.without_text), (0, 1));
        assert_eq!(
            checked.to_string(),
            "0 loads checked, 0 differences; 1 without text, not compared"
        );
    }
}
