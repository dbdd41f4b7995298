//! [`Agreement`]: compares the texts of a listing with its words, and finds bits that no text shows.

use std::fmt;

use warpload_encoding::{HiddenDescriptor, Hint, Instruction, MachineWord, Slot, Sm};

use super::code::SassInstruction;
use super::found::{is_later_load, names_a_load, sm_of};
use super::relocation::without_relocations;

/// Compares the texts of a listing with its words, and counts. Displays as one line of counts.
///
/// ```
/// use warpload_binary::sass::{Agreement, Format, read};
///
/// let listing = "        /*0008*/  LD.E.64 R6, [R4], P1 ;  /* 0x80b0000000070406 */\n";
/// let mut agreement = Agreement::default();
/// for instruction in read(listing.as_bytes(), Format::Detect)? {
///     let difference = agreement.compare(&instruction?).map(|found| found.to_string());
///     let expected = "the text says `LD.E.64 R6, [R4], P1`, its word 0x80b0000000070406 is `LD.E.64 R6, [R4], P0`";
///     assert_eq!(difference.as_deref(), Some(expected));
/// }
/// assert_eq!(agreement.to_string(), "1 load checked, 1 difference");
/// # Ok::<(), warpload_binary::sass::SassError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Agreement {
    /// Loads that were compared, by text or by word.
    pub loads: u64,
    /// Loads with a text that differs from their word.
    pub differences: u64,
    /// Loads with a displacement that the linker fills in; not among `loads`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub relocated: u64,
    /// Loads with bits set that no text shows.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub unread: u64,
    /// Loads that the listing gives as words alone, which are not among `loads`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub without_text: u64,
    /// Loads with a hidden descriptor that assembling their text does not reproduce.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_zero"))]
    pub hidden: u64,
}

#[cfg(feature = "serde")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { loads, differences, relocated, unread, without_text, hidden } = *self;
        let plural = |count| if count == 1 { "" } else { "s" };
        write!(f, "{loads} load{} checked, ", plural(loads))?;
        write!(f, "{differences} difference{}", plural(differences))?;
        for (count, what) in [
            (relocated, "relocated, not compared"),
            (without_text, "without text, not compared"),
            (unread, "with bits that the disassembler does not read"),
            (hidden, "with a descriptor that the text hides"),
        ] {
            if count > 0 {
                write!(f, "; {count} {what}")?;
            }
        }
        Ok(())
    }
}

/// A disagreement between the text and the word of an instruction. Displays as a clause.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Disagreement {
    /// The text is another load's, or the word is no load.
    Difference {
        /// The text of the listing.
        text: String,
        /// The word of the listing.
        word: MachineWord,
        /// The load of the word, if it is one.
        load: Option<Instruction>,
        /// A hint if the text has the syntax of SM 7.0 and later; only for words of these SMs.
        hint: Option<Hint>,
    },
    /// The word has bits set that no text shows.
    Unread {
        /// The word.
        word: MachineWord,
        /// The numbers of the bits, descending.
        bits: Vec<u8>,
    },
    /// The word has a descriptor that the text hides. Only the first one is described, because on SM 8.x nearly
    /// every load of global memory has one.
    Hidden {
        /// The word.
        word: MachineWord,
        /// The descriptor.
        descriptor: HiddenDescriptor,
    },
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Difference { text, word, load, .. } => {
                write!(f, "the text says `{text}`, its word {word} is ")?;
                match load {
                    None => f.write_str("no load"),
                    // The annotations are shown too, because they may be the only difference.
                    Some(load) if has_annotations(text) => {
                        write!(f, "`{load}{}`", load.annotations())
                    }
                    Some(load) => write!(f, "`{load}`"),
                }
            }
            Self::Unread { word, bits } => {
                let plural = if bits.len() == 1 { "" } else { "s" };
                let bits: Vec<String> = bits.iter().map(u8::to_string).collect();
                let bits = bits.join(", ");
                write!(
                    f,
                    "the word {word} sets bit{plural} {bits}, which the disassembler does not read"
                )
            }
            Self::Hidden { word, descriptor } => {
                let descriptor = descriptor.to_string();
                write!(f, "the word {word} has `{}`, which the text hides", descriptor.trim_start())
            }
        }
    }
}

impl Agreement {
    /// Compares the text of an instruction with its word. Returns `None` if they agree, if one of them is missing, or
    /// if neither is a load.
    pub fn compare(&mut self, instruction: &SassInstruction) -> Option<Disagreement> {
        let (word, sm) = (instruction.word?, sm_of(instruction)?);
        let load = Instruction::decode(word, sm).load();
        let Some(text) = instruction.text.as_deref() else {
            self.without_text += u64::from(load.is_some());
            return None;
        };
        if load.is_none() && !names_a_load(text, sm) {
            return None;
        }
        let linked = without_relocations(text);
        let differs_where_relocated = || {
            let parsed = Instruction::parse(linked.as_deref()?, sm).ok()?;
            Some(is_equal_elsewhere(text, parsed, load?))
        };
        if differs_where_relocated() == Some(true) {
            self.relocated += 1;
        } else {
            self.loads += 1;
            if !load.is_some_and(|load| says(text, load, sm)) {
                self.differences += 1;
                let error = Instruction::parse(text, sm).err();
                let error = error.filter(|_| is_later_load(instruction));
                let hint = error.and_then(|error| error.hint_in(text, Sm::SPA5));
                return Some(Disagreement::Difference { text: text.to_owned(), word, load, hint });
            }
        }
        let load = load?;
        let hidden = self.hidden(linked.as_deref().unwrap_or(text), &load);
        self.unread(&load).or(hidden)
    }

    /// The descriptor that a text hides, if assembling the text gives another one.
    fn hidden(&mut self, text: &str, load: &Instruction) -> Option<Disagreement> {
        let descriptor = load.hidden_descriptor()?;
        let parsed = Instruction::parse(text, load.sm()).ok()?;
        if parsed.hidden_descriptor() == Some(descriptor) {
            return None;
        }
        self.hidden += 1;
        (self.hidden == 1).then(|| Disagreement::Hidden { word: load.word(), descriptor })
    }

    /// The bits of a load that its text does not show.
    fn unread(&mut self, load: &Instruction) -> Option<Disagreement> {
        let word = load.word();
        let unread = load.reserved_bits() & word.bits();
        if unread == 0 {
            return None;
        }
        self.unread += 1;
        let bits = (0..word.width() as u8).rev().filter(|bit| unread >> bit & 1 != 0).collect();
        Some(Disagreement::Unread { word, bits })
    }
}

fn has_annotations(text: &str) -> bool {
    text.contains(['&', '?'])
}

/// Whether a text means a load, in this spelling or another accepted one.
fn says(text: &str, load: Instruction, sm: Sm) -> bool {
    if load.text().as_str() == text {
        return true;
    }
    // Listings pad with spaces to align their columns.
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    match Instruction::parse(&text, sm) {
        Ok(parsed) => {
            // Texts are compared, not words, because a text does not show all bits. Annotations are optional, so they
            // are compared only if the listing has some.
            let is_annotated = sm.has_wide_words() && has_annotations(&text);
            let has_same = parsed.annotations().to_string() == load.annotations().to_string();
            parsed.text().as_str() == load.text().as_str() && (!is_annotated || has_same)
        }
        // nvdisasm lists invalid modifiers, which cannot be assembled.
        Err(_) => text == load.text().as_str() || text == format!("{load}{}", load.annotations()),
    }
}

/// Whether two loads differ only in the fields that a relocation fills in: displacement, constant bank, or both. There
/// `parsed` has 0, because `text` names a symbol.
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
    use super::*;

    fn listed(text: Option<&str>, word: u64) -> SassInstruction {
        SassInstruction {
            text: text.map(str::to_owned),
            word: Some(word.into()),
            ..SassInstruction::default()
        }
    }

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
            let mut agreement = Agreement::default();
            let difference = agreement.compare(&listed(Some(text), word));
            assert_eq!(difference.is_none(), is_equal, "{text} {word:#x}");
            let counts = (agreement.loads, agreement.differences, agreement.relocated);
            assert_eq!(counts, if is_equal { (0, 0, 1) } else { (1, 1, 0) }, "{text} {word:#x}");
        }
    }

    #[test]
    fn bits_that_no_text_shows() {
        let word = |text: &str| Instruction::parse(text, Sm::SPA5).expect("a load").bits() as u64;
        let checked = |text: &str, word: u64| {
            let mut agreement = Agreement::default();
            let found = agreement.compare(&listed(Some(text), word));
            (found.map(|found| found.to_string()), agreement.unread)
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
            assert_eq!(checked(text, set), (Some(expected), 1));
            assert_eq!(checked(text, set & !bits), (None, 0), "{text}");
            // A difference has priority over unread bits.
            let (found, unread) = checked("LDG R9, [R9]", set);
            assert!(found.is_some_and(|found| found.starts_with("the text says")) && unread == 0);
        }
        // Every bit of an LD is shown.
        assert_eq!(checked("LD.E R0, [R2], P1", word("LD.E R0, [R2], P1")), (None, 0));
    }

    #[test]
    fn words_without_text_are_counted() {
        let word = Instruction::parse("LDG.E R0, [R2]", Sm::SPA5).expect("a load").bits() as u64;
        let mut agreement = Agreement::default();
        assert!(agreement.compare(&listed(None, word)).is_none());
        assert_eq!((agreement.loads, agreement.without_text), (0, 1));
        assert_eq!(
            agreement.to_string(),
            "0 loads checked, 0 differences; 1 without text, not compared"
        );
    }
}
