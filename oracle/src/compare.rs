//! [`run`]: compares the texts and words of both sides, of 64 bits; and the [`Report`] of any comparison.

use std::fmt;

use anyhow::Result;
use warpload_encoding::{Instruction, parse_line};

use crate::nvdisasm::Nvdisasm;
use crate::words::{self, Target};

/// How many differences a [`Report`] keeps.
const SHOWN_DIFFERENCES: usize = 20;

/// The number of words in one run of nvdisasm: 3,000 bundles.
const BATCH: usize = 9_000;

/// What nvdisasm prints in a modifier for which it has no name; the assembler refuses it.
const INVALID: &str = "INVALID";

/// The result of a comparison. Displays as the differences, then `100000 words, 0 differences`.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of words compared.
    pub words: usize,
    /// How many of them both call a load.
    pub loads: usize,
    /// How many of them both refuse.
    pub refused: usize,
    /// The number of words that differed.
    pub differences: usize,
    /// The first of them.
    first: Vec<String>,
}

impl Report {
    /// Counts a word, called `name`, for which nvdisasm prints `theirs`; `problem` is how ours differs.
    pub(crate) fn add(&mut self, name: impl fmt::Display, theirs: &str, problem: Option<String>) {
        self.words += 1;
        let Some(problem) = problem else { return };
        self.differences += 1;
        if self.first.len() < SHOWN_DIFFERENCES {
            self.first.push(format!("{name}\n  nvdisasm: {theirs}\n  here:     {problem}"));
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { words, loads, refused, differences, first } = self;
        first.iter().try_for_each(|difference| writeln!(f, "{difference}"))?;
        if first.len() < *differences {
            writeln!(f, "... and {} more", differences - first.len())?;
        }
        write!(f, "{words} words ({loads} loads, {refused} refused), {differences} differences")
    }
}

/// Compares `words` fresh words generated from `seed`.
///
/// # Errors
/// Returns an error if nvdisasm cannot be run or its output cannot be parsed. A difference is not an
/// error.
pub fn run(nvdisasm: &Nvdisasm, words: usize, seed: u64) -> Result<Report> {
    let mut report = Report::default();
    let mut fresh = words::words(seed);
    while report.words < words {
        let batch: Vec<_> = fresh.by_ref().take(BATCH.min(words - report.words)).collect();
        let bare: Vec<u64> = batch.iter().map(|(_, word)| *word).collect();
        for ((target, word), text) in batch.iter().zip(nvdisasm.disassemble(&bare)?) {
            report.loads += 1;
            let name = format!("{} {word:#018x}", target.name);
            report.add(name, &text, check(target, *word, &text));
        }
    }
    Ok(report)
}

/// Compares one word with the line that nvdisasm prints for it.
fn check(target: &Target, word: u64, line: &str) -> Option<String> {
    let Some(instruction) = Instruction::decode(word) else {
        return Some("not decoded".to_owned());
    };
    if instruction.encode() != word {
        return Some(format!("encoded again as {:#018x}", instruction.encode()));
    }
    let text = instruction.text();
    if line.strip_suffix(';').unwrap_or(line).trim_end() != text.as_str() {
        return Some(text.as_str().to_owned());
    }
    let invalid = line.contains(INVALID);
    match parse_line(line).map(|parsed| parsed.instruction.encode()) {
        Ok(assembled) if invalid => Some(format!("this text is accepted as {assembled:#018x}")),
        Ok(assembled) if (assembled ^ word) & target.shown() == 0 => None,
        Ok(assembled) => Some(format!("this text assembles to {assembled:#018x}")),
        Err(_) if invalid => None,
        Err(error) => Some(format!("this text is refused: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::TARGETS;

    const WORD: u64 = 0x8090000000070404;

    #[test]
    fn each_kind_of_difference_is_seen() {
        let ld = |word, line| check(&TARGETS[0], word, line);
        assert_eq!(ld(WORD, "LD.E R4, [R4], P0 ;"), None);
        assert_eq!(ld(WORD, "LD.E R4, [R5], P0 ;").as_deref(), Some("LD.E R4, [R4], P0"));
        assert_eq!(ld(0, "NOP ;").as_deref(), Some("not decoded"));
    }

    #[test]
    fn report_counts_what_it_does_not_show() {
        let mut report = Report::default();
        (0..21).for_each(|_| report.add("LD 0x1", "LD ;", Some("not decoded".to_owned())));
        let text = report.to_string();
        assert!(text.starts_with("LD 0x1\n  nvdisasm: LD ;\n  here:     not decoded\n"), "{text}");
        assert!(text.ends_with("\n... and 1 more\n21 words (0 loads, 0 refused), 21 differences"));
    }
}
