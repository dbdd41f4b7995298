//! Lines with an instruction.

use memchr::memmem;
use warpload_encoding::Control;

use super::comment::{comment, ends_line, is_word, parse_word, skip_space, word};
use super::shape::{Fault, InstructionLine, Read, Shape, fault};
use crate::sass::code::CodeUnit;
use crate::sass::error::ListingErrorKind as Kind;

/// Reads `PASS 0xWORD 0 0xDIFFERENCE 0 PREDICATE INSTRUCTION; CAPTURES`; `at` is after the first column.
pub(super) fn opcode(text: &str, at: usize) -> Read<Shape<'_>> {
    let at = skip_space(text, at);
    let column = |at: usize| text[at..].find(char::is_whitespace).map_or(text.len(), |l| at + l);
    if !is_word(&text[at..]) {
        return Ok(Shape::Other);
    }
    let word = parse_word(&text[at..column(at)]).ok_or(Fault { at, kind: Kind::BadWord })?;
    let mut start = at;
    for _ in 0..4 {
        start = skip_space(text, column(start));
    }
    let Some(length) = memchr::memchr(b';', &text.as_bytes()[start..]) else {
        return fault(text.trim_end().len(), Kind::MissingEnd);
    };
    let end = start + length + 1;
    let text = text[start..start + length].trim();
    if text.is_empty() {
        return fault(start, Kind::MissingInstruction);
    }
    Ok(Shape::Instruction(InstructionLine {
        offset: None,
        text,
        start,
        word: Some(word),
        control: None,
        closes_pair: false,
        end,
    }))
}

/// Reads `[{] INSTRUCTION ; [}] [/* 0xWORD */] [comment]`, or `INSTRUCTION }` at the end of a pair.
/// Checks the offset before it by what the code consists of, if that is known.
pub(super) fn instruction(
    text: &str,
    at: usize,
    offset: Option<(u64, Option<CodeUnit>)>,
    control: Option<Control>,
) -> Read<Shape<'_>> {
    let mut start = skip_space(text, at);
    if text[start..].starts_with('{') {
        start = skip_space(text, start + 1);
    }
    // nvdisasm gives offsets to data as well: `/*0004*/ .word 0x10`.
    if text[start..].starts_with('.') {
        return Ok(Shape::Other);
    }
    if let Some((offset, unit)) = offset {
        let is_valid = match unit {
            Some(unit) => unit.has_instruction_at(offset),
            None => offset.is_multiple_of(8),
        };
        if !is_valid {
            let at = text.find("/*").map_or(0, |at| at + 2);
            let unit = unit.unwrap_or(CodeUnit::Bundle);
            return fault(at, Kind::NoInstructionOffset { offset, unit });
        }
    }
    let has_pairs = offset.is_none_or(|(_, unit)| unit != Some(CodeUnit::Word));
    let stop = instruction_end(text, start);
    let mut body = text[start..stop].trim_end();
    let mut end = start + body.len();
    let ended = text[stop..].starts_with(';');
    let mut closes_pair = false;
    if ended {
        end = stop + 1;
    } else if let Some(inner) = body.strip_suffix('}').filter(|_| has_pairs) {
        (body, closes_pair) = (inner.trim_end(), true);
    } else if !body.is_empty() {
        return fault(end, Kind::MissingEnd);
    }
    body = without_slot(without_annotations(without_slot(body)));
    if body.is_empty() {
        return fault(start, Kind::MissingInstruction);
    }
    let Tail { word, has_brace } = tail(text, end, has_pairs && ended && !closes_pair)?;
    closes_pair |= has_brace;
    Ok(Shape::Instruction(InstructionLine {
        offset: offset.map(|(offset, _)| offset),
        text: body,
        start,
        word,
        control,
        closes_pair,
        end,
    }))
}

/// Removes `SLOT 0` or `SLOT 1` from the end, with which nvdisasm marks the halves of a dual-issued
/// pair.
fn without_slot(body: &str) -> &str {
    let rest = body.strip_suffix(" SLOT 0").or_else(|| body.strip_suffix(" SLOT 1"));
    rest.map_or(body, str::trim_end)
}

/// Removes annotations such as `(*"SpillRefill"*)` and `(*"BRANCH_TARGETS .L_x_1"*)` from the end:
/// nvdisasm's findings about the instruction, which are no part of its text. Version 13.5 marks spills by
/// default, so that loads have them too.
fn without_annotations(body: &str) -> &str {
    let is_annotated = body.ends_with(ANNOTATION_END);
    let start =
        is_annotated.then(|| memmem::find(body.as_bytes(), ANNOTATION.as_bytes())).flatten();
    start.map_or(body, |start| body[..start].trim_end())
}

const ANNOTATION: &str = "(*\"";
const ANNOTATION_END: &str = "\"*)";

/// What follows an instruction.
struct Tail {
    word: Option<u64>,
    has_brace: bool,
}

/// Reads `[}] [/* 0xWORD */] [comment]` in any order; the brace only if a pair may end.
fn tail(text: &str, end: usize, may_close: bool) -> Read<Tail> {
    let mut found = Tail { word: None, has_brace: false };
    let mut rest = skip_space(text, end);
    while !ends_line(&text[rest..]) {
        if text[rest..].starts_with("/*") {
            let (content, comment_end) = comment(text, rest);
            if is_word(content) {
                let value = word(text, rest, content, comment_end)?;
                if found.word.replace(value).is_some() {
                    return fault(rest, Kind::TrailingText);
                }
            }
            let Some(comment_end) = comment_end else {
                return fault(rest, Kind::UnclosedComment);
            };
            rest = skip_space(text, comment_end);
        } else if text[rest..].starts_with('}') && may_close && !found.has_brace {
            found.has_brace = true;
            rest = skip_space(text, rest + 1);
        } else {
            return fault(rest, Kind::TrailingText);
        }
    }
    Ok(found)
}

/// Returns where the instruction that begins at `start` ends: at `;`, at a comment, or with the line.
/// Inside an annotation none of these ends it.
fn instruction_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(length) =
        bytes.get(at..).and_then(|rest| memchr::memchr3(b';', b'/', b'(', rest))
    {
        at += length;
        at += match bytes[at] {
            b'(' => annotation_length(&bytes[at..]).unwrap_or(1),
            b'/' if !matches!(bytes.get(at + 1), Some(b'*' | b'/')) => 1,
            _ => return at,
        };
    }
    bytes.len()
}

/// Returns the length of the annotation that `bytes` begins with.
fn annotation_length(bytes: &[u8]) -> Option<usize> {
    let content = bytes.strip_prefix(ANNOTATION.as_bytes())?;
    let length = memmem::find(content, ANNOTATION_END.as_bytes())?;
    Some(ANNOTATION.len() + length + ANNOTATION_END.len())
}
