//! The dictionary of a target: words that a mutation can insert whole. Those of SASS and PTX are made
//! from the library's tables; the others, such as keys of JSON, are words that the seeds share.

use std::collections::{BTreeMap, BTreeSet};

use warpload::encoding::{Decoded128, Instruction, Instruction128, Sm, describe};
use warpload_ptx::syntax::StateSpace;
use warpload_ptx::syntax::load::{Opcode, QualifierKind};
use warpload_ptx::tensor::{Operation, Pattern, ReductionType, Shape};

use crate::seeds::Seed;
use crate::targets::{Language, Target};

/// The most words that are taken from seeds: those in most of them.
const MAX_SHARED: usize = 300;

/// Longer runs of letters are names, not words.
const MAX_LENGTH: usize = 32;

/// Returns the words of a target, sorted.
#[must_use]
pub fn words(target: &Target, seeds: &[Seed]) -> BTreeSet<String> {
    let mut words = match target.language {
        Language::Sass => sass(),
        Language::Ptx => ptx(),
        Language::Other => BTreeSet::new(),
    };
    words.extend(shared(seeds));
    words
}

/// Returns words in the form that libFuzzer reads, one a line.
#[must_use]
pub fn text(words: &BTreeSet<String>) -> String {
    // Words have neither quotes nor backslashes, except for the quotes around keys.
    words.iter().map(|word| format!("\"{}\"\n", word.replace('"', "\\x22"))).collect()
}

/// Returns the mnemonics and modifiers of all loads: the words of what the decoders write for each
/// opcode, with each value of each short field.
fn sass() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for opcode in 0..=u64::from(u16::MAX) {
        let word = opcode << 48;
        if let Some(load) = Instruction::decode(word) {
            split(&load.text(), &mut words);
            for reading in describe(word).into_iter().flatten() {
                for value in values(reading.row.field.width()) {
                    let changed = reading.row.field.set(word, value).ok();
                    let load = changed.and_then(Instruction::decode);
                    load.iter().for_each(|load| split(&load.text(), &mut words));
                }
            }
        }
    }
    for sm in Sm::all() {
        for opcode in 0..1 << 12 {
            if let Decoded128::Load(load) = Instruction128::decode(opcode, sm) {
                split(&load.text(), &mut words);
                for reading in load.describe() {
                    reading.value_names().for_each(|name| split(&format!(".{name}"), &mut words));
                }
            }
        }
    }
    words
}

/// Returns the values of a field that is short enough to have names.
fn values(width: u32) -> std::ops::Range<u64> {
    if width <= 4 { 0..1 << width } else { 0..0 }
}

/// Returns the opcodes and qualifiers of loads, state spaces, and words of Tensor Memory.
fn ptx() -> BTreeSet<String> {
    let opcodes = [Opcode::Ld, Opcode::TensorLd, Opcode::TensorLdRed].map(Opcode::name);
    let mut words: BTreeSet<String> = opcodes.map(str::to_owned).into();
    let spaces = StateSpace::ALL.map(StateSpace::name);
    let shapes = Shape::ALL.map(Shape::name);
    let reductions = Operation::ALL.map(Operation::name);
    let types = ReductionType::ALL.map(ReductionType::name);
    let names = QualifierKind::names().chain(spaces).chain(shapes).chain(reductions).chain(types);
    words.extend(names.map(|name| format!(".{name}")));
    words.extend(Pattern::ALL.map(|pattern| pattern.name().to_owned()));
    words
}

/// Adds the words of a text, each with the dot before it, but no registers and numbers.
fn split(text: &str, words: &mut BTreeSet<String>) {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for (at, _) in text.match_indices(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()) {
        let before = &text[..at];
        let is_start = !before.ends_with(is_part);
        let end = text[at..].find(|c| !is_part(c)).map_or(text.len(), |length| at + length);
        let word = &text[at..end];
        let number = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let is_register = number.starts_with(|c: char| c.is_ascii_digit());
        if is_start && before.ends_with('.') {
            words.insert(format!(".{word}"));
        } else if is_start && !is_register {
            words.insert(word.to_owned());
        }
    }
}

/// Returns the words that occur in at least two seeds, or on two lines of one: a run of letters, with a
/// dot, a dash or a percent sign before it, and between quotes if it is a key of JSON.
fn shared(seeds: &[Seed]) -> Vec<String> {
    let mut counts = BTreeMap::<String, usize>::new();
    for text in seeds.iter().filter_map(|seed| str::from_utf8(&seed.bytes).ok()) {
        for line in text.lines() {
            let mut on_line = BTreeSet::new();
            runs(line, |word| _ = on_line.insert(word.to_owned()));
            on_line.into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
        }
    }
    let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 1).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().take(MAX_SHARED).map(|(word, _)| word).collect()
}

fn runs<'l>(line: &'l str, mut found: impl FnMut(&'l str)) {
    let bytes = line.as_bytes();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(u8::is_ascii_alphabetic).map(|n| at + n) {
        let length = bytes[start..].iter().position(|byte| !is_part(byte));
        let end = length.map_or(bytes.len(), |length| start + length);
        let before = start.checked_sub(1).map(|before| bytes[before]);
        let is_inside = before.is_some_and(|byte| is_part(&byte));
        if !is_inside && (2..=MAX_LENGTH).contains(&(end - start)) {
            let is_key = before == Some(b'"') && line[end..].starts_with("\":");
            let has_sign = matches!(before, Some(b'.' | b'-' | b'%'));
            let from = start - usize::from(is_key || has_sign);
            found(&line[from..end + 2 * usize::from(is_key)]);
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::TARGETS;

    fn of(name: &str) -> BTreeSet<String> {
        let target = TARGETS.iter().find(|target| target.name == name).unwrap();
        words(target, &target.seeds().unwrap())
    }

    #[test]
    fn words_come_from_the_tables() {
        let sass = of("wide_parse_does_not_panic");
        for word in ["LDG", "LDSM", "LDC", "ULDC", ".E", ".STRONG", ".GPU", ".U8", ".128"] {
            assert!(sass.contains(word), "{word}: {sass:?}");
        }
        let ptx = of("ptx_does_not_panic");
        for word in ["tcgen05.ld", ".16x32bx2", ".L1::no_allocate", ".f32", ".entry", "%tid"] {
            assert!(ptx.contains(word), "{word}: {ptx:?}");
        }
    }

    #[test]
    fn words_come_from_seeds() {
        for (target, word) in [
            ("vector_does_not_panic", "\"instruction\":"),
            ("accelsim_does_not_panic", "-kernel"),
            ("accelsim_does_not_panic", "warp"),
            ("summaries_merge_in_any_order", "\"by_opcode\":"),
        ] {
            assert!(of(target).contains(word), "{target}: {word}");
        }
        assert_eq!(text(&BTreeSet::from(["\"a\":".to_owned()])), "\"\\x22a\\x22:\"\n");
    }

    #[test]
    fn dictionaries_are_small_and_of_printable_words() {
        for target in TARGETS {
            let words = words(target, &target.seeds().unwrap());
            assert!(words.len() < 1000, "{}: {}", target.name, words.len());
            for word in words {
                let is_printable = word.bytes().all(|byte| byte.is_ascii_graphic());
                assert!(is_printable && !word.contains('\\'), "{word}");
            }
        }
    }
}
