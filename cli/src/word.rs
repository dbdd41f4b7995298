//! Single instructions, on the command line or one a line: words, or words and texts.

use std::path::Path;

use warpload::encoding::{Decoded, Instruction, MachineWord, Sm, parse_line};
use warpload_binary::lines::LineError;

use super::diagnostic::{self, Origin};
use super::io;
use super::options::Progress;

/// Written in place of a word or of a load.
pub(crate) const ERROR: &str = "error";

/// Parses a hexadecimal word, with or without `0x`: of at most 64 bits, or of at most 128 for SM 7.0 or later. Without
/// an SM it is of SM 5.x or 6.x.
pub(crate) fn read_word(text: &str, sm: Option<Sm>) -> Result<MachineWord, String> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let most = if sm.is_some_and(Sm::has_wide_words) { 32 } else { 16 };
    let is_hexadecimal = !digits.is_empty() && digits.bytes().all(|d| d.is_ascii_hexdigit());
    match u128::from_str_radix(digits, 16) {
        Ok(word) if is_hexadecimal && digits.len() <= most => Ok(match most {
            32 => MachineWord::Bits128(word),
            _ => MachineWord::Bits64(word as u64),
        }),
        Ok(_) if is_hexadecimal && digits.len() <= 32 && sm.is_none() => Err(format!(
            "{text:?} has more than 64 bits, as words of SM 7.0 and later do; give its SM, \
             for example `--sm 80`"
        )),
        _ => {
            Err(format!("{text:?} is not a word; expected 0x and up to {most} hexadecimal digits"))
        }
    }
}

/// Passes on each argument with its origin; without arguments, or for `-`, each line of standard input.
pub(crate) fn each_given(
    given: &[String],
    mut each: impl FnMut(Origin<'_>, Result<&str, LineError>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if given.is_empty() || given == ["-"] {
        let stdin = Path::new("-");
        let file = io::name(stdin);
        return io::each_line(stdin, Progress::Never, |line, text| {
            each(Origin { file: &file, line: line as usize, column: 1 }, text)
        });
    }
    (1..).zip(given).try_for_each(|(number, text)| {
        let file = match given.len() {
            1 => ORIGIN.file.to_owned(),
            _ => format!("<argument {number}>"),
        };
        each(Origin { file: &file, ..ORIGIN }, Ok(text))
    })
}

/// The origin of an argument.
pub(crate) const ORIGIN: Origin<'_> = Origin { file: "<argument>", line: 1, column: 1 };

pub(crate) fn is_argument(origin: Origin<'_>) -> bool {
    origin.file.starts_with("<argument")
}

/// The origin of a word as the beginning of a message; empty for an argument.
pub(crate) fn place(origin: Origin<'_>) -> String {
    let Origin { file, line, .. } = origin;
    if is_argument(origin) { String::new() } else { format!("{file}: line {line}: ") }
}

/// Reads a word or a text, or reports why it is neither.
pub(crate) fn read_load(origin: Origin<'_>, text: &str, sm: Option<Sm>) -> Option<Instruction> {
    let read = if is_word(text, sm) { of_word } else { of_text };
    read(origin, text, sm)
}

/// Decodes a word, or reports why it is not a load.
fn of_word(origin: Origin<'_>, text: &str, sm: Option<Sm>) -> Option<Instruction> {
    let place = place(origin);
    let word = read_word(text, sm).map_err(|error| format!("{place}{error}"));
    let word = word.map_err(diagnostic::error).ok()?;
    let sm = sm.unwrap_or(Sm::SPA5);
    match Instruction::decode(word, sm) {
        Decoded::Load(load) => return Some(load),
        Decoded::Illegal(refusal) => {
            diagnostic::error(format_args!("{place}{word} is refused, as by nvdisasm: {refusal}"))
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

/// Parses a text, or reports why it is not a load.
fn of_text(origin: Origin<'_>, text: &str, sm: Option<Sm>) -> Option<Instruction> {
    let sm = sm.unwrap_or(Sm::SPA5);
    let parsed = parse_line(text, sm);
    let parsed = parsed.map_err(|error| diagnostic::parse_error(origin, text, &error, sm)).ok()?;
    if let Some(alias) = parsed.alias {
        diagnostic::alias_note(origin, text, &alias);
    }
    Some(parsed.instruction)
}

/// Whether a word is meant, even if it is misspelt. Digits at the beginning are not enough, because a control notation
/// before an instruction can begin with one.
pub(crate) fn is_word(text: &str, sm: Option<Sm>) -> bool {
    let text = text.trim();
    let digit_first = text.starts_with(|first: char| first.is_ascii_digit());
    read_word(text, sm).is_ok()
        || text.starts_with("0x")
        || text.starts_with("0X")
        || digit_first && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
