//! Compares texts and words with nvdisasm, for both widths: [`Report`] counts, [`run`] compares words of 64 bits.

use std::fmt;

use anyhow::Result;
use warpload_encoding::{Decoded, Instruction, MachineWord, Sm};

use crate::nvdisasm::{Answer, Nvdisasm};
use crate::words::{Random, fresh};

/// The number of differences that a [`Report`] keeps.
const SHOWN_DIFFERENCES: usize = 20;

/// The number of words in one run of nvdisasm: 3,000 bundles.
const BATCH: usize = 9_000;

/// The result of a comparison. Displays as the differences, then `100000 words, 0 differences`.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of words compared.
    pub words: usize,
    /// The number of words that both sides decode as a load.
    pub loads: usize,
    /// The number of words that both sides refuse.
    pub refused: usize,
    /// The number of words that differed.
    pub differences: usize,
    /// The first differences, for display.
    first: Vec<String>,
}

impl Report {
    /// Counts the word `name`. `theirs` is nvdisasm's answer; `problem` describes our difference from it.
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

/// Compares `words` fresh words of 64 bits generated from `seed`.
///
/// # Errors
/// Returns an error if nvdisasm cannot be run or its output cannot be parsed. A difference is not an
/// error.
pub fn run(nvdisasm: &Nvdisasm, words: usize, seed: u64) -> Result<Report> {
    let mut random = Random::new(seed);
    let forms: Vec<Instruction> = Instruction::forms(Sm::SPA5).collect();
    let draw =
        |count| (0..count).map(|n| fresh(&forms[n % forms.len()], &mut random) as u64).collect();
    compare(Sm::SPA5, words, BATCH, draw, |batch| nvdisasm.disassemble(batch))
}

/// Compares `words` words of an SM in batches. `draw` generates words, and `ask` passes them to nvdisasm.
pub(crate) fn compare<W: Copy + Into<MachineWord>>(
    sm: Sm,
    words: usize,
    batch: usize,
    mut draw: impl FnMut(usize) -> Vec<W>,
    ask: impl Fn(&[W]) -> Result<Vec<Answer>>,
) -> Result<Report> {
    let mut report = Report::default();
    while report.words < words {
        let batch = draw(batch.min(words - report.words));
        for (word, answer) in batch.iter().zip(ask(&batch)?) {
            let word: MachineWord = (*word).into();
            let ours = Instruction::decode(word, sm);
            match ours {
                Decoded::Load(_) => report.loads += 1,
                Decoded::Illegal(_) => report.refused += 1,
                Decoded::Other => {}
            }
            let problem = check(word, sm, ours, &answer);
            report.add(format!("SM {sm} {word}"), &format!("{answer:?}"), problem);
        }
    }
    Ok(report)
}

/// The difference between the answers for one word, if there is one.
fn check(word: MachineWord, sm: Sm, ours: Decoded, answer: &Answer) -> Option<String> {
    match (ours, answer) {
        (Decoded::Load(load), Answer::Text(text)) => {
            if load.word() != word {
                return Some(format!("encoded again as {}", load.word()));
            }
            if load.text().as_str() != text {
                return Some(load.text().to_string());
            }
            // nvdisasm has no name for these modifiers, and the assembler refuses them.
            let is_invalid = text.contains("INVALID") || text.contains("???");
            // The text of a 128-bit word omits its scheduling, so only texts can be compared.
            let is_same = |parsed: &Instruction| match word {
                MachineWord::Bits64(_) => {
                    parsed.word().bits() == word.bits() & !load.reserved_bits()
                }
                MachineWord::Bits128(_) => parsed.text().as_str() == text,
            };
            match Instruction::parse(text, sm) {
                Ok(parsed) if is_invalid => Some(format!("accepted as {parsed:?}")),
                Ok(parsed) if is_same(&parsed) => None,
                Ok(parsed) => Some(format!("assembled as {parsed:?}")),
                Err(_) if is_invalid => None,
                Err(error) => Some(format!("this text is refused: {error}")),
            }
        }
        (Decoded::Illegal(_), Answer::Illegal) => None,
        // An instruction that is not a load, or not an instruction.
        (Decoded::Other, Answer::Illegal | Answer::Nothing) => None,
        (Decoded::Other, Answer::Text(text)) if !is_load(text, sm) => None,
        (Decoded::Other, _) => Some("no load".to_owned()),
        (Decoded::Illegal(reason), _) => Some(format!("illegal: {reason}")),
        // nvdisasm 13.5 prints no line for this load.
        (Decoded::Load(load), Answer::Nothing) if load.text().contains(".U4TO8.") => None,
        (Decoded::Load(load), _) => Some(load.text().to_string()),
    }
}

/// Whether the text is a load's.
fn is_load(text: &str, sm: Sm) -> bool {
    let text = text.strip_prefix('@').map_or(text, |t| t.split_once(' ').map_or("", |(_, t)| t));
    let mnemonic = text.split(['.', ' ']).next().unwrap_or_default();
    Instruction::mnemonics(sm).any(|known| known == mnemonic)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: u64 = 0x8090000000070404;

    #[test]
    fn each_kind_of_difference_is_seen() {
        let ld = |word: u64, text: &str| {
            let ours = Instruction::decode(word, Sm::SPA5);
            check(word.into(), Sm::SPA5, ours, &Answer::Text(text.to_owned()))
        };
        assert_eq!(ld(WORD, "LD.E R4, [R4], P0"), None);
        assert_eq!(ld(WORD, "LD.E R4, [R5], P0").as_deref(), Some("LD.E R4, [R4], P0"));
        assert_eq!(ld(0, "@!P0 LD.E R4, [R4], P0").as_deref(), Some("no load"));
        assert_eq!(ld(0, "NOP"), None);
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
