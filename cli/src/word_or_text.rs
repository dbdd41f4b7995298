//! A load that is given as its word or as its text.

use warpload::encoding::{Decoded, Instruction, Sm};

use super::diagnostic::{self, Origin};
use super::encode::Parsed;
use super::word::read_word;

/// Reads a word or a text; reports what is wrong if it is neither.
pub(crate) fn read_load(origin: Origin<'_>, text: &str, sm: Option<Sm>) -> Option<Instruction> {
    let read = if is_word(text, sm) { of_word } else { of_text };
    read(origin, text, sm)
}

/// An argument.
pub(crate) const ORIGIN: Origin<'_> = Origin { file: "<argument>", line: 1, column: 1 };

/// Returns the load of a word; reports what is wrong if there is none.
fn of_word(origin: Origin<'_>, text: &str, sm: Option<Sm>) -> Option<Instruction> {
    let place = match origin.file {
        file if file.starts_with("<argument") => String::new(),
        file => format!("{file}: line {}: ", origin.line),
    };
    let word = read_word(text, sm).map_err(|error| format!("{place}{error}"));
    let word = word.map_err(diagnostic::error).ok()?;
    let sm = sm.unwrap_or(Sm::SPA5);
    match Instruction::decode(word, sm) {
        Decoded::Load(load) => return Some(load),
        Decoded::Illegal(refusal) => {
            diagnostic::error(format_args!("{place}{word} is refused, as nvdisasm does: {refusal}"))
        }
        Decoded::Other => {
            let known: Vec<&str> = Instruction::mnemonics(sm).collect();
            diagnostic::error(format_args!(
                "{place}{word} is not a known load; expected an opcode of {}",
                known.join(", ")
            ));
        }
    }
    None
}

/// Returns the load of a text; reports what is wrong if there is none.
fn of_text(origin: Origin<'_>, text: &str, sm: Option<Sm>) -> Option<Instruction> {
    let sm = sm.unwrap_or(Sm::SPA5);
    let parsed = Parsed::new(text, sm, None);
    let parsed = parsed.map_err(|error| diagnostic::parse_error(origin, text, &error, sm)).ok()?;
    if let Some(alias) = parsed.alias {
        diagnostic::alias_note(origin, text, &alias);
    }
    Some(parsed.load)
}

/// Whether a word is meant, a misspelt one included. Digits alone do not tell: a control notation
/// before an instruction can begin with one.
pub(crate) fn is_word(text: &str, sm: Option<Sm>) -> bool {
    let text = text.trim();
    let digit_first = text.starts_with(|first: char| first.is_ascii_digit());
    read_word(text, sm).is_ok()
        || text.starts_with("0x")
        || text.starts_with("0X")
        || digit_first && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
