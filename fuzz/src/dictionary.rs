//! The dictionary of a target: the words that its seeds share, which a mutation can insert whole.

use std::collections::{BTreeMap, BTreeSet};

use crate::seeds::Seed;

/// The most words: those on most lines.
const MAX_WORDS: usize = 300;

/// Longer runs of letters are names, not words.
const MAX_LENGTH: usize = 32;

/// Returns the words on at least two lines of seeds, in the form that libFuzzer reads, one a line: a run of
/// letters, with a dot, a dash or a percent sign before it, and between quotes if it is a key of JSON.
#[must_use]
pub fn words(seeds: &[Seed]) -> String {
    let mut counts = BTreeMap::<&str, usize>::new();
    for text in seeds.iter().filter_map(|seed| str::from_utf8(&seed.bytes).ok()) {
        for line in text.lines() {
            let words: BTreeSet<&str> = of_line(line).collect();
            words.into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
        }
    }
    let mut counts: Vec<_> = counts.into_iter().filter(|(_, count)| *count > 1).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let words = counts.into_iter().take(MAX_WORDS);
    words.map(|(word, _)| format!("\"{}\"\n", word.replace('"', "\\x22"))).collect()
}

fn of_line(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut at = 0;
    line.split(move |c| !is_part(c)).filter_map(move |word| {
        let (start, end) = (at, at + word.len());
        let next = line[end..].chars().next();
        at = end + next.map_or(0, char::len_utf8);
        let is_word = word.starts_with(|c: char| c.is_ascii_alphabetic());
        if !is_word || !(2..=MAX_LENGTH).contains(&word.len()) {
            return None;
        }
        let is_key = line[..start].ends_with('"') && line[end..].starts_with("\":");
        let has_sign = line[..start].ends_with(['.', '-', '%']);
        let from = start - usize::from(is_key || has_sign);
        Some(&line[from..end + 2 * usize::from(is_key)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::TARGETS;

    #[test]
    fn words_come_from_seeds() {
        for (name, word) in [
            ("wide_parse_does_not_panic", "LDG"),
            ("ptx_does_not_panic", ".entry"),
            ("vector_does_not_panic", "\\x22instruction\\x22:"),
            ("accelsim_does_not_panic", "-kernel"),
            ("summaries_merge_in_any_order", "\\x22by_opcode\\x22:"),
        ] {
            let target = TARGETS.iter().find(|target| target.name == name).unwrap();
            let words = words(&target.seeds().unwrap());
            assert!(
                words.lines().any(|line| line == format!("\"{word}\"")),
                "{name}: {word}\n{words}"
            );
        }
    }
}
