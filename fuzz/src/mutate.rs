//! Simple mutants of an input: changed bits, bytes and numbers, parts cut off, repeated or taken from another input,
//! and changes of texts, above all JSON, that keep them almost valid. The same numbers produce the same mutant.

use std::ops::Range;

pub use warpload_suite::random::Random;

use super::seeds::Seed;

/// The limit on a mutant's length, unless its seed is longer.
pub const MAX_BYTES: usize = 1 << 17;

/// The longest part that is moved.
const MAX_PART: usize = 1 << 12;

/// Returns a number below `bound`, or 0 if `bound` is 0.
pub fn below(random: &mut Random, bound: usize) -> usize {
    random.below(bound as u64) as usize
}

/// A random range of at most `most` indices below `length`.
fn range(random: &mut Random, length: usize, most: usize) -> Range<usize> {
    let start = below(random, length);
    start..start + below(random, (length - start).min(most) + 1)
}

/// Returns a mutant of `seeds[which]` with one to four changes.
pub fn mutant(seeds: &[Seed], which: usize, random: &mut Random) -> Vec<u8> {
    let changes = 1 + below(random, 4);
    changed(seeds, which, changes, random)
}

/// Returns `seeds[which]` with `changes` changes.
pub fn changed(seeds: &[Seed], which: usize, changes: usize, random: &mut Random) -> Vec<u8> {
    let Some(seed) = seeds.get(which) else { return Vec::new() };
    let mut bytes = seed.bytes.clone();
    for _ in 0..changes {
        if bytes.is_empty() {
            bytes.push(random.next() as u8);
        }
        let at = below(random, bytes.len());
        match below(random, 10) {
            0 => bytes[at] ^= 1 << below(random, 8),
            1 => bytes[at] = random.next() as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(range(random, bytes.len(), MAX_PART))),
            4 => {
                let part = bytes[range(random, bytes.len(), MAX_PART)].to_vec();
                insert(&mut bytes, at, &part);
            }
            5 => {
                let part = &bytes[range(random, bytes.len(), 64)];
                let times = (MAX_BYTES / 8 / part.len().max(1)).min(1 << below(random, 12));
                let part = part.repeat(times);
                insert(&mut bytes, at, &part);
            }
            6 => {
                let other = &seeds[below(random, seeds.len())].bytes;
                let part = &other[range(random, other.len(), MAX_PART)];
                insert(&mut bytes, at, part);
            }
            7 => {
                let other = &seeds[below(random, seeds.len())].bytes;
                bytes.truncate(at);
                bytes.extend_from_slice(&other[below(random, other.len())..]);
            }
            8 => set_number(&mut bytes, at, random),
            _ => set_written_number(&mut bytes, at, random),
        }
    }
    bytes.truncate(MAX_BYTES.max(seed.bytes.len()));
    bytes
}

fn insert(bytes: &mut Vec<u8>, at: usize, part: &[u8]) {
    drop(bytes.splice(at..at, part.iter().copied()));
}

/// A number at or next to a limit of an integer type.
fn boundary(random: &mut Random) -> u64 {
    let power = [0, 3, 4, 5, 7, 8, 12, 15, 16, 20, 24, 31, 32, 33, 40, 48, 63, 64];
    let power = power[below(random, power.len())];
    let number = if power == 64 { 0 } else { 1u64 << power };
    number.wrapping_add(below(random, 3) as u64).wrapping_sub(1)
}

/// Writes such a number in little-endian bytes.
fn set_number(bytes: &mut [u8], at: usize, random: &mut Random) {
    let number = boundary(random).to_le_bytes();
    let width = 1 << below(random, 4);
    for (byte, new) in bytes[at..].iter_mut().zip(&number[..width]) {
        *byte = *new;
    }
}

/// Replaces the next digits by such a number, in one of several notations.
fn set_written_number(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let Some(start) = bytes[at..].iter().position(is_digit).map(|start| at + start) else { return };
    let length = bytes[start..].iter().position(|byte| !byte.is_ascii_hexdigit());
    let end = length.map_or(bytes.len(), |length| start + length);
    drop(bytes.splice(start..end, written_number(random)));
}

/// Such a number in one of several notations.
fn written_number(random: &mut Random) -> Vec<u8> {
    let number = boundary(random);
    let written = match below(random, 6) {
        0 => format!("0x{number:x}"),
        1 => format!("{number:x}"),
        2 => format!("-{number}"),
        3 => format!("{number}e9"),
        4 => format!("{number}0000000000000000000"),
        _ => number.to_string(),
    };
    written.into_bytes()
}

/// The words of a text: runs of characters that are not separators in any of the formats.
fn words(text: &[u8]) -> Vec<Range<usize>> {
    let separates = |byte: &u8| byte.is_ascii_whitespace() || b"\"{}[]():;,=+<>|".contains(byte);
    let mut end = 0;
    let word = |word: &[u8]| {
        let start = end;
        end += word.len() + 1;
        start..start + word.len()
    };
    text.split(separates).map(word).filter(|word| !word.is_empty()).collect()
}

/// Replacements for values of JSON. Some are not valid JSON.
const VALUES: &str = r#"null true -1 -0 0.5 1e999 1E-400 01 0x10 "" "0x" "-" "\u0000" "\ud800" [] {} [[]] {"":0} ".." NaN"#;

/// Characters that a terminal interprets, that forge lines, or that change the direction of text.
const CONTROL_CHARACTERS: [&str; 3] = [
    "\x1b[31m\x07\x7f\u{9b}31m\u{202e}\u{2066}",
    "a\r\0b\u{85}\u{2028}",
    "\\u001b[2J\\u0007\\u202e\\n",
];

/// Changes a text at one of its words. Replaces it by another word, a number at a limit, a value of JSON or a very long
/// word; or repeats or removes its line, nests it deeply, or adds control characters.
pub fn change(text: &mut Vec<u8>, random: &mut Random) {
    let words = words(text);
    if words.is_empty() {
        return;
    }
    let word = words[below(random, words.len())].clone();
    let is_string = word.start > 0 && text[word.start - 1] == b'"';
    // The word with its quotes.
    let value = if is_string && word.end < text.len() {
        word.start - 1..word.end + 1
    } else {
        word.clone()
    };
    let (place, new) = match below(random, 10) {
        0 => (word, text[words[below(random, words.len())].clone()].to_vec()),
        1 | 2 => (word, written_number(random)),
        3 => {
            let values: Vec<&str> = VALUES.split(' ').collect();
            (value, random.pick(&values).unwrap_or_default().into())
        }
        4 => (word, Vec::new()),
        5 => {
            let depth = 1 << below(random, 14);
            let nested = ["[".repeat(depth).as_bytes(), b"]".repeat(depth).as_slice()].concat();
            (value, nested)
        }
        6 => (line(text, word.start), Vec::new()),
        // The longest line accepted has a mebibyte.
        7 => (word, vec![b"A9f"[below(random, 3)]; (1 << (16 + 2 * below(random, 3))) - 1]),
        8 => (word.end..word.end, random.pick(&CONTROL_CHARACTERS).unwrap_or_default().into()),
        _ => {
            let line = line(text, word.start);
            (line.start..line.start, text[line].to_vec())
        }
    };
    drop(text.splice(place, new));
}

/// The line around an offset, including its newline.
fn line(text: &[u8], at: usize) -> Range<usize> {
    let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let end = text[at..].iter().position(|byte| *byte == b'\n');
    start..end.map_or(text.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds() -> Vec<Seed> {
        let seed = |bytes: &[u8]| Seed { name: String::new(), bytes: bytes.to_vec() };
        vec![seed(b"LD.E R0, [R2+0x1234];"), seed(b""), seed(&[0xff; 300])]
    }

    #[test]
    fn the_same_number_makes_the_same_mutant() {
        let seeds = seeds();
        let made = |number| mutant(&seeds, 0, &mut Random::new(1, &[number]));
        let mutants: Vec<_> = (0..100).map(made).collect();
        assert_eq!(mutants, (0..100).map(made).collect::<Vec<_>>());
        let mut distinct = mutants.clone();
        distinct.sort();
        distinct.dedup();
        assert!(distinct.len() > 90, "{} of 100 mutants are distinct", distinct.len());
        assert!(mutants.iter().filter(|mutant| **mutant == seeds[0].bytes).count() < 5);
    }

    #[test]
    fn mutants_are_bounded() {
        let seeds = seeds();
        for number in 0..20_000 {
            let which = number as usize % 4;
            let mutant = mutant(&seeds, which, &mut Random::new(2, &[number]));
            assert!(mutant.len() <= MAX_BYTES);
        }
    }

    fn words_of(text: &str) -> Vec<&str> {
        words(text.as_bytes()).into_iter().map(|word| &text[word]).collect()
    }

    #[test]
    fn words_of_texts() {
        assert_eq!(
            words_of("-grid dim = (2,1)\nLD.E R0"),
            ["-grid", "dim", "2", "1", "LD.E", "R0"]
        );
        assert_eq!(words_of(r#"{"a b": [1, "c"]}"#), ["a", "b", "1", "c"]);
        assert!(words_of("").is_empty() && words_of(" ,\n").is_empty());
    }

    #[test]
    fn changes_are_the_same_for_the_same_numbers() {
        let text = br#"{"name": "a", "lanes": [1, 2]}"#;
        let changed = |seed| {
            let mut text = text.to_vec();
            change(&mut text, &mut Random::new(seed, &[]));
            text
        };
        let all: Vec<_> = (0..200).map(changed).collect();
        assert_eq!(all, (0..200).map(changed).collect::<Vec<_>>());
        let valid =
            all.iter().filter(|text| serde_json::from_slice::<serde_json::Value>(text).is_ok());
        assert!(valid.count() > 40);
        assert!(all.iter().filter(|changed| **changed == text).count() < 40);
    }
}
