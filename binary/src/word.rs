//! Single instructions as people type and paste them: words, halves of words as nvdisasm prints them, texts, and texts
//! with their words beside them. [`read_load`] reads one, [`words`] splits a paste.

use std::fmt;

use warpload_encoding::{
    Alias, Control, Decoded, HiddenDescriptor, Illegal, Instruction, MachineWord, ParseError, Sm,
    parse_control_prefix, parse_line, parse_line_like,
};

use crate::sass::names_a_load;

/// A load that was read from a word or a text.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadLoad {
    /// The load.
    pub instruction: Instruction,
    /// The scheduling in a text of SM 5.x or 6.x.
    pub control: Option<Control>,
    /// A modifier of the text that was written under another name.
    pub alias: Option<Alias>,
    /// The descriptor that was chosen because the text does not name it.
    pub chosen: Option<HiddenDescriptor>,
    /// A remark on a text that does not agree with the word beside it. The word decides.
    pub disagreement: Option<String>,
}

/// Why a word or a text is not a load.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotALoad {
    /// It is meant as a word, but is none of this SM's.
    NotAWord {
        /// The text.
        text: String,
        /// The most digits of a word.
        digits: usize,
    },
    /// A word of 128 bits without an SM.
    NoSm {
        /// The text.
        text: String,
    },
    /// A word with the opcode of a load that is illegal.
    Refused {
        /// The word.
        word: MachineWord,
        /// The reason.
        refusal: Illegal,
    },
    /// A word with another opcode.
    Other {
        /// The word.
        word: MachineWord,
        /// Its SM.
        sm: Sm,
    },
    /// A word of 64 bits for an SM with words of 128.
    Narrow {
        /// The word as it was given.
        text: String,
        /// The SM.
        sm: Sm,
    },
    /// An instruction of PTX.
    Ptx {
        /// Its opcode.
        opcode: String,
    },
    /// A text that is no load of this SM.
    Text(ParseError),
}

impl NotALoad {
    /// Returns whether the input is malformed. Otherwise it is an instruction, but not a load.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        !matches!(self, Self::Refused { .. } | Self::Other { .. } | Self::Narrow { .. })
    }
}

impl fmt::Display for NotALoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAWord { text, digits } => write!(
                f,
                "{text:?} is not a word; expected 0x and up to {digits} hexadecimal digits"
            ),
            Self::NoSm { text } => write!(
                f,
                "{text:?} has more than 64 bits, as words of SM 7.0 and later do; give its SM"
            ),
            Self::Refused { word, refusal } => {
                write!(f, "{word} is refused, as by nvdisasm: {refusal}")
            }
            Self::Other { word, sm } => {
                let known: Vec<&str> = Instruction::mnemonics(*sm).collect();
                let known = known.join(", ");
                write!(f, "{word} is not a load of SM {sm}; expected an opcode of {known}")
            }
            Self::Narrow { text, sm } => write!(
                f,
                "{text} is not a load of SM {sm}: it has 64 bits, words of SM {sm} have 128; it may be \
                 half of a word, and the other half is on the line before or after it"
            ),
            Self::Ptx { opcode } if opcode.starts_with("tcgen05") => write!(
                f,
                "`{opcode}` is PTX, not SASS: `warpload tmem run` executes a load of Tensor Memory, and \
                 `warpload tmem map` draws it"
            ),
            Self::Ptx { opcode } => write!(
                f,
                "`{opcode}` is PTX, not SASS: `warpload ptx check FILE` checks the loads of a module, and \
                 `warpload ptx lower FILE` shows their SASS"
            ),
            Self::Text(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NotALoad {}

impl From<ParseError> for NotALoad {
    fn from(error: ParseError) -> Self {
        Self::Text(error)
    }
}

/// The hexadecimal digits of a word, with or without `0x`.
fn digits(text: &str) -> &str {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text)
}

/// Parses a hexadecimal word, with or without `0x`: of at most 64 bits, or of at most 128 for SM 7.0 or later. Without
/// an SM it is of SM 5.x or 6.x.
///
/// # Errors
/// Returns [`NotALoad::NotAWord`], or [`NotALoad::NoSm`] for a word of 128 bits without an SM.
pub fn read_word(text: &str, sm: Option<Sm>) -> Result<MachineWord, NotALoad> {
    let text = text.trim();
    let digits = digits(text);
    let most = if sm.is_some_and(Sm::has_wide_words) { 32 } else { 16 };
    // A sign is no digit, although `from_str_radix` accepts one.
    let bits = u128::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
    match bits {
        Some(bits) if digits.len() <= most && most == 32 => Ok(MachineWord::Bits128(bits)),
        Some(bits) if digits.len() <= most => Ok(MachineWord::Bits64(bits as u64)),
        Some(_) if digits.len() <= 32 && sm.is_none() => {
            Err(NotALoad::NoSm { text: text.to_owned() })
        }
        _ => Err(NotALoad::NotAWord { text: text.to_owned(), digits: most }),
    }
}

/// Decodes the word in a text.
///
/// # Errors
/// Returns [`NotALoad`] if it is not a word, or its instruction is not a load.
pub fn read_load_word(text: &str, sm: Option<Sm>) -> Result<Instruction, NotALoad> {
    let word = read_word(text, sm)?;
    decode(word, sm.unwrap_or(Sm::SPA5)).map_err(|error| narrow(text, error))
}

/// Decodes a word.
///
/// # Errors
/// Returns [`NotALoad`] if its instruction is not a load.
pub fn decode(word: MachineWord, sm: Sm) -> Result<Instruction, NotALoad> {
    match Instruction::decode(word, sm) {
        Decoded::Load(load) => Ok(load),
        Decoded::Illegal(refusal) => Err(NotALoad::Refused { word, refusal }),
        Decoded::Other => Err(NotALoad::Other { word, sm }),
    }
}

/// The error for a word that was filled with zeros to the width of its SM.
fn narrow(text: &str, error: NotALoad) -> NotALoad {
    let text = text.trim();
    match error {
        NotALoad::Other { word: MachineWord::Bits128(_), sm } if digits(text).len() == 16 => {
            NotALoad::Narrow { text: text.to_owned(), sm }
        }
        error => error,
    }
}

/// Reads a word, the text of an instruction, or a text with its word beside it in comments, as disassemblers print it.
/// Without an SM it is of SM 5.x or 6.x.
///
/// # Errors
/// Returns [`NotALoad`] if it is none of these, or another instruction.
pub fn read_load(text: &str, sm: Option<Sm>) -> Result<ReadLoad, NotALoad> {
    let of_word = |instruction| ReadLoad {
        instruction,
        control: None,
        alias: None,
        chosen: None,
        disagreement: None,
    };
    if is_word(text) {
        return read_load_word(text, sm).map(of_word);
    }
    if let Some(opcode) = ptx_opcode(text) {
        return Err(NotALoad::Ptx { opcode: opcode.to_owned() });
    }
    if let Some((text, word)) = beside(text, sm) {
        let instruction = read_load_word(&word, sm)?;
        let is_same = |parsed: &Instruction| parsed.bits() == instruction.bits();
        let disagreement = match parse_line_like(&text, &instruction) {
            Ok(parsed) if is_same(&parsed.instruction) => None,
            _ => Some(format!("the text beside the word is of another instruction: `{text}`")),
        };
        return Ok(ReadLoad { disagreement, ..of_word(instruction) });
    }
    let parsed = parse_line(text, sm.unwrap_or(Sm::SPA5))?;
    Ok(ReadLoad {
        instruction: parsed.instruction,
        control: parsed.control,
        alias: parsed.alias,
        chosen: parsed.chosen,
        disagreement: None,
    })
}

/// The text of a line without its words in comments, and its only word; `None` if the line has no text or not one word.
fn beside(line: &str, sm: Option<Sm>) -> Option<(String, String)> {
    let (mut text, mut found) = (String::new(), String::new());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("/*") {
        let (comment, after) = after.split_once("*/")?;
        text += before;
        if comment.trim().starts_with("0x") {
            found = found + " " + comment;
        } else {
            text = text + "/*" + comment + "*/";
        }
        rest = after;
    }
    text += rest;
    let text = text.trim().trim_end_matches(';').trim_end();
    match &words(&found, sm)?[..] {
        [word] if !text.is_empty() => Some((text.to_owned(), word.clone())),
        _ => None,
    }
}

/// Returns whether a text is meant as a word, even if it is misspelt: it looks like a number, or has 16 hexadecimal
/// digits. A single leading digit does not suffice, because a control notation before an instruction can begin with one.
#[must_use]
pub fn is_word(text: &str) -> bool {
    let text = text.trim();
    let is_number = text.starts_with(|first: char| first.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let has_digits = text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number || has_digits || text.starts_with("0x") || text.starts_with("0X")
}

/// Splits a text that consists only of words and comments of words; `None` for other texts. Two halves become a word of
/// 128 bits: nvdisasm prints one as two comments, the low half first.
#[must_use]
pub fn words(text: &str, sm: Option<Sm>) -> Option<Vec<String>> {
    let text = text.replace("/*", " ").replace("*/", " ");
    let given: Vec<&str> = text.split_whitespace().collect();
    if given.is_empty() || !given.iter().all(|word| is_word(word)) {
        return None;
    }
    let half =
        |word: &str| word.strip_prefix("0x").filter(|half| half.len() == 16).map(str::to_owned);
    let (mut words, mut rest) = (Vec::new(), &given[..]);
    while let [first, others @ ..] = rest {
        let second = others.first().filter(|_| sm.is_some_and(Sm::has_wide_words));
        let halves = half(first).zip(second.and_then(|second| half(second)));
        rest = if halves.is_some() { &others[1..] } else { others };
        words.push(halves.map_or((*first).to_owned(), |(low, high)| format!("0x{high}{low}")));
    }
    Some(words)
}

/// Returns whether a text is a whole instruction: the mnemonic of a load of the SM with operands after it, possibly
/// after a control notation.
#[must_use]
pub fn is_instruction(text: &str, sm: Sm) -> bool {
    let start = parse_control_prefix(text).map_or(0, |(_, start)| start);
    let text = text[start..].trim();
    text.contains(char::is_whitespace) && names_a_load(text, sm)
}

/// Modifiers that are words of PTX and not of SASS, which has others and accepts small letters.
const PTX_MODIFIERS: [&str; 26] = [
    "global", "shared", "local", "const", "param", "volatile", "relaxed", "acquire", "weak", "nc",
    "sync", "aligned", "u32", "u64", "s32", "s64", "f16", "f32", "f64", "b8", "b16", "b32", "b64",
    "b128", "v2", "v4",
];

/// Returns the opcode of an instruction of PTX, after its guard: `ld.global.u32`. `None` for other texts.
#[must_use]
pub fn ptx_opcode(text: &str) -> Option<&str> {
    let mut parts = text.split_whitespace();
    let opcode = parts.by_ref().find(|part| !part.starts_with('@'))?.trim_end_matches(';');
    let is_small = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b':' | b'_')
    };
    let mut modifiers = opcode.split(['.', ':']).skip(1);
    let is_ptx = opcode.starts_with(|first: char| first.is_ascii_lowercase())
        && opcode.bytes().all(is_small)
        && modifiers.any(|modifier| PTX_MODIFIERS.contains(&modifier));
    is_ptx.then_some(opcode)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOW: &str = "/* 0x0000000402047981 */";
    const HIGH: &str = "/* 0x000ea2000c1e1d00 */";

    #[test]
    fn halves_are_joined_for_wide_words_only() {
        let sm80 = "80".parse().ok();
        let both = format!("{LOW} {HIGH}");
        assert_eq!(words(&both, sm80), Some(vec!["0x000ea2000c1e1d000000000402047981".to_owned()]));
        assert_eq!(words(&both, None).map(|words| words.len()), Some(2));
        assert_eq!(words("0x1 2 LD", None), None);
        assert_eq!(words("", None), None);
    }

    #[test]
    fn a_word_decides_over_the_text_beside_it() {
        let sm80 = "80".parse().ok();
        let read = |text: &str| read_load(&format!("{text} {LOW}\n {HIGH}"), sm80);
        let same = read("/*0010*/ LDG.E.128 R4, [R2.64] ;").map(|load| load.disagreement);
        assert_eq!(same, Ok(None));
        let other = read("LDG.E.128 R8, [R2.64] ;").map(|load| load.disagreement);
        assert!(matches!(other, Ok(Some(_))), "{other:?}");
        assert!(read_load(&format!("LDG.E.128 R8, [R2.64] {LOW}"), sm80).is_err());
        assert!(read_load("LD R0, [R2] /* open", None).is_err());
    }

    #[test]
    fn ptx_is_told_from_sass_in_small_letters() {
        for (text, opcode) in [
            ("ld.global.u32 %r1, [%rd1];", Some("ld.global.u32")),
            ("@%p1 ld.shared::cta.u8 a, [b];", Some("ld.shared::cta.u8")),
            (
                "tcgen05.ld.sync.aligned.16x64b.x2.b32 {a, b}, [t];",
                Some("tcgen05.ld.sync.aligned.16x64b.x2.b32"),
            ),
            ("ld.e.cs.64 r4, [r2 - 20]", None),
            ("LD.E.64 R4, [R2]", None),
            ("ld.u8 r4, [r2]", None),
            ("@!p2", None),
            ("", None),
        ] {
            assert_eq!(ptx_opcode(text), opcode, "{text}");
        }
    }
}
