//! Classifies single lines of a SASS listing, whichever tool wrote it. `listing` combines them into
//! instructions.

mod comment;
mod head;
mod instruction;
mod shape;

use warpload_encoding::parse_control_prefix;

use self::comment::{comment, ends_line, is_hexadecimal, is_word, offset, skip_space, word};
use self::head::{block, directive, maxas_header, titled};
use self::instruction::{instruction, opcode};
use self::shape::{Fault, Read, fault};
pub(super) use self::shape::{InstructionLine, NamedSm, Shape};
use super::code::CodeUnit;
use super::error::ListingErrorKind as Kind;

/// Classifies the line `text` of a listing of code of that kind, if it is known.
pub(super) fn classify(text: &str, unit: Option<CodeUnit>) -> Read<Shape<'_>> {
    // A byte order mark may precede the first line.
    let rest = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let start = text.len() - rest.len();
    let rest = rest.trim_end();
    match rest.as_bytes() {
        [] => Ok(Shape::Blank),
        [b'/', b'*', ..] => commented(text, start, unit),
        [b'.', ..] => Ok(directive(rest)),
        [b'#', ..] => Ok(maxas_header(rest)),
        [b'<', ..] => Ok(block(rest)),
        [b'[', b'B' | b'b', ..] if rest.contains(':') => noted(text, start, unit),
        [b'P', b'A', b'S', b'S', b' ', ..] | [b'F', b'A', b'I', b'L', b' ', ..] => {
            opcode(text, start + "PASS ".len())
        }
        _ if is_maxas_notation(rest) => noted(text, start, unit),
        _ => Ok(titled(rest)),
    }
}

/// Returns whether a block of maxas ends on this line.
pub(super) fn ends_block(text: &str, name: &str) -> bool {
    let rest = text.trim_start().strip_prefix("</").and_then(|rest| rest.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with('>'))
}

/// Classifies a line that begins with a comment: an offset and an instruction, a word alone, or only a
/// comment.
fn commented(text: &str, start: usize, unit: Option<CodeUnit>) -> Read<Shape<'_>> {
    let (content, end) = comment(text, start);
    if is_word(content) {
        let word = word(text, start, content, end)?;
        return match end.map(|end| skip_space(text, end)) {
            Some(end) if !ends_line(&text[end..]) => fault(end, Kind::TrailingText),
            _ => Ok(Shape::Word(word)),
        };
    }
    // Other comments are words and sentences; an offset is padded with zeroes to four digits.
    let like_offset = content.starts_with(|c: char| c.is_ascii_digit()) && !content.contains(' ')
        || content.len() >= 4 && is_hexadecimal(content);
    let Some(end) = end else {
        let cut = like_offset || content.is_empty();
        return if cut { fault(start, Kind::UnclosedComment) } else { Ok(Shape::Other) };
    };
    if !like_offset {
        return Ok(Shape::Other);
    }
    let offset = offset(text, start, content)?;
    instruction(text, end, Some((offset, unit)), None)
}

/// Classifies a line that begins with the notation of maxas or CuAssembler; an offset may follow the
/// latter.
fn noted(text: &str, start: usize, unit: Option<CodeUnit>) -> Read<Shape<'_>> {
    let (control, length) = parse_control_prefix(&text[start..])
        .map_err(|error| Fault { at: start + error.span.start, kind: Kind::Control(error) })?;
    let at = skip_space(text, start + length);
    if !text[at..].starts_with("/*") {
        return instruction(text, at, None, control);
    }
    let (content, end) = comment(text, at);
    let Some(end) = end else { return fault(at, Kind::UnclosedComment) };
    let offset = offset(text, at, content)?;
    instruction(text, end, Some((offset, unit)), control)
}

/// Returns whether the line begins with `--:-:-:-:1` or a mistyped one: two digits or dashes, and more
/// than one colon.
fn is_maxas_notation(line: &str) -> bool {
    let first = line.split_ascii_whitespace().next().unwrap_or_default();
    let digit = |byte: u8| byte == b'-' || byte.is_ascii_hexdigit();
    let [high, low, b':', rest @ ..] = first.as_bytes() else { return false };
    digit(*high) && digit(*low) && rest.contains(&b':')
}
