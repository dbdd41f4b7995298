//! [`CaseTally`]: outcomes counted by family and flag, and the flags that explain the failures.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::families::FAMILIES;
use crate::outcome::{CaseFailureKind, CaseOutcome, CaseVerdict};

/// How many cases have which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CaseCounts {
    /// Those that passed.
    pub passed: u64,
    /// Those that failed, and files that could not be read.
    pub failed: u64,
    /// Those that were skipped.
    pub skipped: u64,
}

impl CaseCounts {
    fn add(&mut self, verdict: &CaseVerdict) {
        match verdict {
            CaseVerdict::Passed => self.passed += 1,
            CaseVerdict::Failed(_) => self.failed += 1,
            CaseVerdict::Skipped(_) => self.skipped += 1,
            CaseVerdict::Unchosen => {}
        }
    }

    /// Returns how many cases there are.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.passed + self.failed + self.skipped
    }
}

/// The outcomes of a run, counted.
#[derive(Debug, Default)]
pub struct CaseTally {
    /// All of them.
    pub counts: CaseCounts,
    families: BTreeMap<&'static str, OfFamily>,
    /// The reasons to skip cases, each with how many.
    pub skips: BTreeMap<String, u64>,
    /// The flags of cases that were not chosen.
    pub unchosen: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct OfFamily {
    counts: CaseCounts,
    flags: BTreeMap<String, CaseCounts>,
    /// Failures that are no differences: by kind, how many there are and what the first one is.
    others: BTreeMap<&'static str, (u64, String)>,
}

/// The counts of a family.
#[derive(Clone, Debug, Serialize)]
pub struct FamilyCounts {
    /// Its name.
    pub family: &'static str,
    /// The outcomes of its cases.
    #[serde(flatten)]
    pub counts: CaseCounts,
}

/// The counts of a flag.
#[derive(Clone, Debug, Serialize)]
pub struct FlagCounts {
    /// The family of the cases.
    pub family: &'static str,
    /// The flag.
    pub flag: String,
    /// The outcomes of its cases.
    #[serde(flatten)]
    pub counts: CaseCounts,
    /// How well the flag tells the cases that fail from those that pass, 0 to 1.
    pub explains: f64,
}

/// How many different reasons are kept, and what the others become.
const MAX_REASONS: usize = 100;
const OTHER_REASONS: &str = "other reasons";
/// Above this, that the failures are of a flag is worth a sentence.
const MIN_SCORE: f64 = 0.5;
/// How many flags of a family a sentence is about, if they explain its failures as well as each other.
const MAX_SENTENCES: usize = 3;

/// Returns how well the flag whose cases these are explains `failures` in all: the F1 score, the harmonic
/// mean of the part of its cases that fail and the part of the failures that are its cases. It is 1 if the cases that fail
/// are those of the flag; a flag that all cases have and one that a single failure has both get little.
fn explains(counts: &CaseCounts, failures: u64) -> f64 {
    let sum = counts.passed + counts.failed + failures;
    if sum == 0 { 0.0 } else { 2.0 * counts.failed as f64 / sum as f64 }
}

impl CaseTally {
    /// Counts an outcome.
    pub fn add(&mut self, outcome: &CaseOutcome) {
        let CaseOutcome { family, about, verdict, .. } = outcome;
        self.counts.add(verdict);
        if let CaseVerdict::Skipped(reason) = verdict {
            let is_kept = self.skips.len() < MAX_REASONS || self.skips.contains_key(reason);
            let reason = if is_kept { reason } else { OTHER_REASONS };
            *self.skips.entry(reason.to_owned()).or_default() += 1;
        }
        let Some(family) = family else { return };
        if matches!(verdict, CaseVerdict::Unchosen) {
            self.unchosen.extend(about.flags.iter().cloned());
            return;
        }
        let family = self.families.entry(family).or_default();
        family.counts.add(verdict);
        if let CaseVerdict::Failed(failure) = verdict
            && failure.kind != CaseFailureKind::Difference
        {
            let first = || failure.differences.first().cloned().unwrap_or_default();
            let others = family.others.entry(failure.kind.name());
            others.or_insert_with(|| (0, first())).0 += 1;
        }
        for (i, flag) in about.flags.iter().enumerate() {
            // A flag that is there twice counts once.
            if about.flags[..i].contains(flag) {
                continue;
            }
            match family.flags.get_mut(flag) {
                Some(counts) => counts.add(verdict),
                None => family.flags.entry(flag.clone()).or_default().add(verdict),
            }
        }
    }

    /// Returns the families in the order of their list.
    #[must_use]
    pub fn families(&self) -> Vec<FamilyCounts> {
        let row = |(family, found): (&'static str, &OfFamily)| FamilyCounts {
            family,
            counts: found.counts,
        };
        self.in_order().map(row).collect()
    }

    fn in_order(&self) -> impl Iterator<Item = (&'static str, &OfFamily)> {
        FAMILIES.iter().filter_map(|family| Some((family.name, self.families.get(family.name)?)))
    }

    /// Returns the flags, those first that explain the failures of their family best.
    #[must_use]
    pub fn flags(&self) -> Vec<FlagCounts> {
        let mut rows: Vec<FlagCounts> = self
            .in_order()
            .flat_map(|(family, found)| {
                found.flags.iter().map(move |(flag, counts)| FlagCounts {
                    family,
                    flag: flag.clone(),
                    counts: *counts,
                    explains: explains(counts, found.counts.failed),
                })
            })
            .collect();
        // Stable: flags that explain nothing stay in the order of families and names.
        rows.sort_by(|one, other| other.explains.total_cmp(&one.explains));
        rows
    }

    /// Returns a sentence for each flag that explains the failures of a family.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let rows = self.flags();
        let mut sentences = Vec::new();
        for (family, found) in self.in_order() {
            let failures = found.counts.failed;
            for (kind, (count, first)) in found.others.iter().filter(|(_, other)| other.0 > 1) {
                sentences.push(format!(
                    "{family}: {count} of {failures} failures are `{kind}`; the first: {first}"
                ));
            }
            if failures > 1 && found.counts.passed == 0 {
                let answered = if found.counts.skipped > 0 { "answered " } else { "" };
                sentences.push(format!("{family}: all {failures} {answered}cases fail"));
                continue;
            }
            let mut of_family = rows.iter().filter(|row| row.family == family).peekable();
            let best = of_family.peek().map_or(0.0, |row| row.explains);
            if best < MIN_SCORE {
                continue;
            }
            let best = of_family.take_while(|row| row.explains >= best).take(MAX_SENTENCES);
            sentences.extend(
                best.map(|row| format!("{family}: {}", sentence(&row.flag, &row.counts, failures))),
            );
        }
        sentences
    }
}

/// Says which of the failures are cases of the flag, and which of those fail.
fn sentence(flag: &str, counts: &CaseCounts, failures: u64) -> String {
    let (failed, run) = (counts.failed, counts.passed + counts.failed);
    let failures = match (failed == failures, failures) {
        (true, 1) => format!("the only failure is a `{flag}` case"),
        (true, _) => format!("all {failures} failures are `{flag}` cases"),
        (false, _) => format!("{failed} of {failures} failures are `{flag}` cases"),
    };
    let cases = match (failed == run, run) {
        (true, 1) => "it is the only one".to_owned(),
        (true, _) => format!("all `{flag}` cases fail"),
        (false, _) => format!("{failed} of {run} `{flag}` cases fail"),
    };
    format!("{failures}; {cases}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::CaseAbout;
    use crate::outcome::CaseFailure;

    /// Adds cases with these flags, some of which fail.
    fn add(tally: &mut CaseTally, flags: &[&str], passed: u64, failed: u64) {
        for i in 0..passed + failed {
            let differences = vec!["wrong".to_owned()];
            let failure =
                CaseFailure { kind: CaseFailureKind::Difference, differences, stderr: Vec::new() };
            let verdict =
                if i < passed { CaseVerdict::Passed } else { CaseVerdict::Failed(failure) };
            let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
            let about = CaseAbout { flags, ..CaseAbout::default() };
            tally.add(&CaseOutcome {
                family: Some("execute"),
                about,
                verdict,
                answered: Some(true),
            });
        }
    }

    fn ranked(tally: &CaseTally) -> Vec<(String, u64)> {
        let rows = tally.flags().into_iter();
        rows.map(|row| (row.flag, (100.0 * row.explains).round() as u64)).collect()
    }

    fn row(flag: &str, percent: u64) -> (String, u64) {
        (flag.to_owned(), percent)
    }

    #[test]
    fn the_flag_of_the_failures_comes_first() {
        let mut tally = CaseTally::default();
        add(&mut tally, &["all", "misaligned"], 0, 8);
        add(&mut tally, &["all", "misaligned", "rare"], 0, 1);
        add(&mut tally, &["all", "other"], 90, 0);
        assert_eq!(
            ranked(&tally),
            [row("misaligned", 100), row("rare", 20), row("all", 17), row("other", 0)]
        );
        assert_eq!(
            tally.sentences(),
            ["execute: all 9 failures are `misaligned` cases; all `misaligned` cases fail"]
        );
    }

    #[test]
    fn sentences_say_how_far_a_flag_explains() {
        let mut tally = CaseTally::default();
        add(&mut tally, &["quad"], 2, 6);
        add(&mut tally, &["pair"], 20, 2);
        assert_eq!(
            tally.sentences(),
            ["execute: 6 of 8 failures are `quad` cases; 6 of 8 `quad` cases fail"]
        );
        let mut tally = CaseTally::default();
        add(&mut tally, &["quad"], 0, 1);
        add(&mut tally, &["pair"], 20, 0);
        assert_eq!(
            tally.sentences(),
            ["execute: the only failure is a `quad` case; it is the only one"]
        );
    }

    #[test]
    fn flags_explain_neither_everything_nor_nothing() {
        let mut tally = CaseTally::default();
        add(&mut tally, &["quad"], 0, 5);
        add(&mut tally, &["pair"], 0, 5);
        assert_eq!(tally.sentences(), ["execute: all 10 cases fail"]);
        let mut tally = CaseTally::default();
        for flag in ["a", "b", "c", "d", "e"] {
            add(&mut tally, &[flag], 3, 1);
        }
        assert_eq!(tally.sentences(), [""; 0]);
        let mut twice = CaseTally::default();
        add(&mut twice, &["a", "a"], 1, 0);
        assert_eq!(twice.flags()[0].counts.passed, 1);
    }
}
