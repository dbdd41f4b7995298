//! Classifies single lines of a SASS listing, whichever tool wrote it. `listing` combines them into
//! instructions.

mod comment;
mod head;
mod instruction;

use warpload_encoding::{Control, Sm, parse_control_prefix};

use self::comment::{comment, is_hexadecimal, is_word, offset, word};
use self::head::{block, directive, maxas_header, titled};
use self::instruction::{instruction, opcode};
use super::code::CodeUnit;
use super::error::ListingErrorKind as Kind;

/// What a line is.
#[derive(Debug, PartialEq)]
pub(super) enum Shape<'l> {
    /// Only white space.
    Blank,
    /// Something that is not needed: comments, labels, directives, data.
    Other,
    /// A function begins, or a section that is not one.
    Function(Option<&'l str>),
    /// The registers per thread of the function.
    Registers(u8),
    /// The SM version of the code.
    Sm(NamedSm),
    /// `.headerflags`: the SM version as well, without a letter that may be in other lines.
    Flags(NamedSm),
    /// `.target`: the SM version as well, unless the directive is PTX.
    Target(NamedSm),
    /// PTX begins.
    Ptx,
    /// A block of maxas that holds no instructions begins.
    Block(&'l str),
    /// A word alone: a control word, or the word of the instruction above or a half of it.
    Word(u64),
    /// An instruction.
    Instruction(InstructionLine<'l>),
}

/// An SM version in a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedSm {
    /// Ten times the major number plus the minor number.
    pub(super) number: u32,
    /// `None` if it is unknown.
    pub(super) known: Option<Sm>,
}

/// The parts of a line with an instruction.
#[derive(Debug, PartialEq)]
pub(super) struct InstructionLine<'l> {
    pub(super) offset: Option<u64>,
    pub(super) text: &'l str,
    /// Where the text begins in the line, in bytes.
    pub(super) start: usize,
    /// The word, or the first half of it.
    pub(super) word: Option<u64>,
    pub(super) control: Option<Control>,
    /// A dual-issued pair ends here: the word is in a line of its own.
    pub(super) closes_pair: bool,
    /// The byte of the line after the instruction, at which its word would be.
    pub(super) end: usize,
}

/// What is wrong, and at which byte of the line.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) kind: Kind,
}

type Read<T> = Result<T, Fault>;

fn fault<T>(at: usize, kind: Kind) -> Read<T> {
    Err(Fault { at, kind })
}

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

/// Returns whether only a comment up to the end of the line is left.
fn ends_line(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with("//") || rest.starts_with('#')
}

fn skip_space(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}
