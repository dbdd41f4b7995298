//! [`run`]: compares the texts and words of both sides.

use std::fmt;

use anyhow::Result;
use warpload_encoding::{Instruction, parse_line};

use crate::nvdisasm::Nvdisasm;
use crate::words::{self, Target};

/// How many differences a [`Report`] keeps.
pub const SHOWN_DIFFERENCES: usize = 20;

/// The number of words in one run of nvdisasm: 3,000 bundles.
const BATCH: usize = 9_000;

/// What nvdisasm prints in a modifier for which it has no name; the assembler refuses it.
const INVALID: &str = "INVALID";

/// The result of a comparison. Displays as the differences, then `100000 words, 0 differences`.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of words compared.
    pub words: usize,
    /// The number of words that differed.
    pub differences: usize,
    /// The first of them, up to [`SHOWN_DIFFERENCES`].
    pub first: Vec<Difference>,
}

/// A word that NVIDIA's disassembler and this project treat differently.
#[derive(Debug, PartialEq, Eq)]
pub struct Difference {
    /// The instruction.
    pub name: &'static str,
    /// The word.
    pub word: u64,
    /// What nvdisasm prints for it.
    pub nvdisasm: String,
    /// What this project does with it.
    pub problem: Problem,
}

/// How this project differs.
#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    /// The word is not decoded.
    NotDecoded,
    /// Decoding and encoding again produces another word.
    RoundTrip(u64),
    /// The word has another text.
    Text(String),
    /// nvdisasm's text is refused, with this error.
    Refused(String),
    /// nvdisasm's text assembles to another word.
    Assembled(u64),
    /// nvdisasm's text is invalid, but is assembled.
    Accepted(u64),
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
            report.words += 1;
            if let Some(problem) = check(target, *word, &text) {
                report.differences += 1;
                if report.first.len() < SHOWN_DIFFERENCES {
                    let (name, word) = (target.name, *word);
                    report.first.push(Difference { name, word, nvdisasm: text, problem });
                }
            }
        }
    }
    Ok(report)
}

/// Compares one word with the line that nvdisasm prints for it.
fn check(target: &Target, word: u64, line: &str) -> Option<Problem> {
    let Some(instruction) = Instruction::decode(word) else {
        return Some(Problem::NotDecoded);
    };
    if instruction.encode() != word {
        return Some(Problem::RoundTrip(instruction.encode()));
    }
    let text = instruction.text();
    if line.strip_suffix(';').unwrap_or(line).trim_end() != text.as_str() {
        return Some(Problem::Text(text.as_str().to_owned()));
    }
    let invalid = line.contains(INVALID);
    match parse_line(line).map(|parsed| parsed.instruction.encode()) {
        Ok(assembled) if invalid => Some(Problem::Accepted(assembled)),
        Ok(assembled) if (assembled ^ word) & target.shown() == 0 => None,
        Ok(assembled) => Some(Problem::Assembled(assembled)),
        Err(_) if invalid => None,
        Err(error) => Some(Problem::Refused(error.to_string())),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.first {
            writeln!(f, "{difference}")?;
        }
        if self.first.len() < self.differences {
            writeln!(f, "... and {} more", self.differences - self.first.len())?;
        }
        write!(f, "{} words, {} differences", self.words, self.differences)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, word, nvdisasm, problem } = self;
        write!(f, "{name} {word:#018x}\n  nvdisasm: {nvdisasm}\n  here:     {problem}")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDecoded => f.write_str("not decoded"),
            Self::RoundTrip(word) => write!(f, "encoded again as {word:#018x}"),
            Self::Text(text) => write!(f, "{text}"),
            Self::Refused(error) => write!(f, "this text is refused: {error}"),
            Self::Assembled(word) => write!(f, "this text assembles to {word:#018x}"),
            Self::Accepted(word) => write!(f, "this text is accepted as {word:#018x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::TARGETS;

    const WORD: u64 = 0x8090000000070404;

    fn ld(word: u64, line: &str) -> Option<Problem> {
        check(&TARGETS[0], word, line)
    }

    #[test]
    fn agreement_is_not_a_difference() {
        assert_eq!(ld(WORD, "LD.E R4, [R4], P0 ;"), None);
    }

    #[test]
    fn each_kind_of_difference_is_seen() {
        let text = Problem::Text("LD.E R4, [R4], P0".to_owned());
        assert_eq!(ld(WORD, "LD.E R4, [R5], P0 ;"), Some(text));
        assert_eq!(ld(0, "NOP ;"), Some(Problem::NotDecoded));
    }

    #[test]
    fn report_counts_what_it_does_not_show() {
        let report = Report {
            words: 30,
            differences: 21,
            first: vec![Difference {
                name: "LD",
                word: WORD,
                nvdisasm: "LD ;".to_owned(),
                problem: Problem::Assembled(1),
            }],
        };
        assert_eq!(
            report.to_string(),
            "LD 0x8090000000070404\n  nvdisasm: LD ;\n  here:     this text assembles to \
             0x0000000000000001\n... and 20 more\n30 words, 21 differences"
        );
    }
}
