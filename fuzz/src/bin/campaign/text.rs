//! Words of texts, and damage to texts that keeps them almost valid: JSON above all.

use std::ops::Range;

use warpload_fuzz::mutate::{Random, below, boundary};

/// Returns the words of a text: runs of characters that separate nothing in any format that is read.
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

/// What a value of JSON is replaced by. Some are no JSON.
const VALUES: &str = r#"null true -1 -0 0.5 1e999 1E-400 01 0x10 "" "0x" "-" "\u0000" "\ud800" [] {} [[]] {"":0} ".." NaN"#;

/// Characters that a terminal acts on, that forge lines, or that turn the direction of writing.
const CONTROL_CHARACTERS: [&str; 3] = [
    "\x1b[31m\x07\x7f\u{9b}31m\u{202e}\u{2066}",
    "a\r\0b\u{85}\u{2028}",
    "\\u001b[2J\\u0007\\u202e\\n",
];

/// Changes one word of a text: to another of its words, a number at a boundary, a value of JSON, or a very long
/// word; or repeats or removes its line, nests it deeply, or adds control characters.
pub(crate) fn change(text: &mut Vec<u8>, random: &mut Random) {
    let words = words(text);
    if words.is_empty() {
        return;
    }
    let word = words[below(random, words.len())].clone();
    let is_string = word.start > 0 && text[word.start - 1] == b'"';
    // With its quotes.
    let value = if is_string && word.end < text.len() {
        word.start - 1..word.end + 1
    } else {
        word.clone()
    };
    let (place, new) = match below(random, 10) {
        0 => (word, text[words[below(random, words.len())].clone()].to_vec()),
        1 => (word, boundary(random).to_string().into_bytes()),
        2 => (word, format!("0x{:x}", boundary(random)).into_bytes()),
        3 => (value, picked(&VALUES.split(' ').collect::<Vec<_>>(), random)),
        4 => (word, Vec::new()),
        5 => {
            let depth = 1 << below(random, 14);
            let nested = ["[".repeat(depth).as_bytes(), b"]".repeat(depth).as_slice()].concat();
            (value, nested)
        }
        6 => (line(text, word.start), Vec::new()),
        // A line has at most a mebibyte.
        7 => (word, vec![b"A9f"[below(random, 3)]; (1 << (16 + 2 * below(random, 3))) - 1]),
        8 => (word.end..word.end, picked(&CONTROL_CHARACTERS, random)),
        _ => {
            let line = line(text, word.start);
            (line.start..line.start, text[line].to_vec())
        }
    };
    drop(text.splice(place, new));
}

fn picked(texts: &[&str], random: &mut Random) -> Vec<u8> {
    texts[below(random, texts.len())].as_bytes().to_vec()
}

/// Returns the line around a place, with its end.
fn line(text: &[u8], at: usize) -> Range<usize> {
    let start = text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let end = text[at..].iter().position(|byte| *byte == b'\n');
    start..end.map_or(text.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

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
