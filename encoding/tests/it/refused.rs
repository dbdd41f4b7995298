//! Text that the parser refuses (docs/ld.md section 2): the place, the message, the hint.
//!
//! `data/refused.txt` contains each case as a user sees it: the line, carets below the bytes at fault, the message, and
//! the hint if there is one. A caret after the end of the line marks an empty span. Lines below `# SM 90: ...` are for
//! that SM, others for SM 5.0. `UPDATE_EXPECT=1` rewrites everything but the lines themselves.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::common::{Random, decode, parse};
use proptest::prelude::*;
use warpload_encoding::{
    Expected, Instruction, LineSpan, ParseError, ParseErrorKind, Sm, parse_line, parse_line_like,
};

const CASES: &str = include_str!("../data/refused.txt");

/// Panics if the span is not in `text` or splits a character.
fn at_fault(text: &str, span: LineSpan) -> &str {
    text.get(span.range()).unwrap_or_else(|| panic!("{span:?} of {text:?}"))
}

fn shown(text: &str, error: &ParseError) -> String {
    let indent = " ".repeat(text[..error.span.start].chars().count());
    let carets = "^".repeat(at_fault(text, error.span).chars().count().max(1));
    let mut shown = format!("{text}\n{indent}{carets} {error}\n");
    if let Some(hint) = error.hint() {
        writeln!(shown, "{indent}hint: {hint}").unwrap();
    }
    shown
}

fn is_input(line: &str) -> bool {
    let answer = line.trim_start();
    !line.is_empty()
        && !line.starts_with('#')
        && !answer.starts_with('^')
        && !answer.starts_with("hint: ")
}

#[test]
fn refused() {
    let mut actual = String::new();
    let mut count = 0;
    let (mut sm, mut kinds) = (Sm::SPA5, BTreeSet::new());
    for line in CASES.lines() {
        if line.starts_with('#') {
            let name = line.strip_prefix("# SM ").and_then(|rest| rest.split(':').next());
            sm = name.map_or(Sm::SPA5, |name| name.parse().expect(line));
            if count > 0 {
                actual.push('\n');
            }
            writeln!(actual, "{line}").unwrap();
        } else if is_input(line) {
            count += 1;
            let error = parse_line(line, sm).expect_err(line);
            kinds.insert(name_of(error.kind));
            writeln!(actual, "\n{}", shown(line, &error).trim_end()).unwrap();
        }
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/refused.txt");
        std::fs::write(file, actual).unwrap();
        return;
    }
    assert!(count > 150, "only {count} cases were read");
    for (expected, actual) in CASES.split("\n\n").zip(actual.split("\n\n")) {
        assert_eq!(expected.trim_end(), actual.trim_end());
    }
    assert_eq!(CASES, actual);
    // This error needs a second load.
    let like = Instruction::parse("LDG R0, [R2]", Sm::SPA5).expect("a load");
    let error = parse_line_like("LD R0, [R2]", &like).expect_err("another form");
    assert_eq!(error.to_string(), "the text must have the form of the given word, LDG");
    kinds.insert(name_of(error.kind));
    let source = include_str!("../../src/text/error.rs");
    let (_, declared) = source.split_once("pub enum ParseErrorKind {").expect("the errors");
    let declared = declared.lines().take_while(|line| *line != "}");
    let declared = declared.filter_map(|line| line.strip_prefix("    "));
    let is_name = |line: &&str| line.starts_with(|first: char| first.is_ascii_uppercase());
    let missing: Vec<String> = declared
        .filter(is_name)
        .map(|line| line.chars().take_while(char::is_ascii_alphabetic).collect())
        .filter(|name| !kinds.contains(name))
        .collect();
    assert!(missing.is_empty(), "no case has {missing:?}");
}

/// The name of the variant without its fields.
fn name_of(kind: ParseErrorKind) -> String {
    format!("{kind:?}").chars().take_while(char::is_ascii_alphabetic).collect()
}

/// Lines without a visible character, which the file cannot contain.
#[test]
fn empty_lines() {
    for text in ["", " ", "\t\n", "/**/", "  // x"] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.kind, ParseErrorKind::Expected(Expected::Instruction), "{text:?}");
        assert_eq!(error.span, LineSpan { start: text.len(), end: text.len() }, "{text:?}");
    }
}

/// Holds for every text: no panic, a span that can be shown, and a parsed instruction that survives the round trip.
fn assert_sound(text: &str) {
    match parse(text) {
        Ok(line) => {
            let again = parse(&line.instruction.text()).unwrap();
            assert_eq!(again.instruction, line.instruction, "{text:?}");
            assert_eq!(decode(line.instruction.bits() as u64), Some(line.instruction));
        }
        Err(error) => {
            assert!(!shown(text, &error).is_empty());
            assert!(error.hint().is_none_or(|hint| !hint.to_string().is_empty()), "{text:?}");
        }
    }
}

/// Pieces that occur in lines, and some that do not.
const PIECES: [&str; 56] = [
    "LD",
    "@",
    "!",
    "P0",
    "P7",
    "PT",
    ".",
    "E",
    "CG",
    "CS",
    "U",
    "128",
    "64",
    "R0",
    "R254",
    "R255",
    "RZ",
    ",",
    "[",
    "]",
    "+",
    "-",
    "0x10",
    "4294967295",
    "0x7fffffff",
    "99999999999999999999",
    "&",
    "req",
    "rd",
    "wr3",
    "=",
    "{",
    "}",
    "?",
    "W1G",
    "DUAL",
    ";",
    "//",
    "/*",
    "*/",
    "/",
    " ",
    "\n",
    "--:-:-:-:1",
    "[B------:R-:W-:-:S01]",
    ":",
    "é",
    "𝄞",
    "\u{a0}",
    "\0",
    "$",
    "_",
    "0x",
    "ld.e",
    "[R1+0x4]",
    "&rd",
];

/// Every line of the two corpora, cut before each character: both parts.
#[test]
fn cut_lines() {
    let lines = CASES.lines().chain(include_str!("../data/accepted.txt").lines());
    for line in lines {
        for (at, _) in line.char_indices() {
            assert_sound(&line[..at]);
            assert_sound(&line[at..]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_text(text in any::<String>()) {
        assert_sound(&text);
    }

    #[test]
    fn any_sequence_of_pieces(pieces in prop::collection::vec(0..PIECES.len(), 0..24)) {
        let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        assert_sound(&text);
    }

    #[test]
    fn mutated_lines(seed: u64, changes in 1..4usize) {
        let mut random = Random(seed);
        let instruction = decode(random.word() >> 3 | 1 << 63).unwrap();
        let mut text = format!("{instruction} &req={{0,2}} &rd=1 &wr3 ?W1G ; // é");
        for _ in 0..changes {
            let places: Vec<usize> =
                text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let mut place = || random.word() as usize % places.len();
            let (from, to) = (place(), place());
            let piece = PIECES[random.word() as usize % PIECES.len()];
            match random.word() % 4 {
                0 => text.insert_str(places[from], piece),
                1 => text.truncate(places[from]),
                2 => text.replace_range(places[from.min(to)]..places[from.max(to)], piece),
                _ => {
                    let next = places.get(from + 1).copied().unwrap_or(text.len());
                    text.replace_range(places[from]..next, "");
                }
            }
        }
        assert_sound(&text);
    }
}
