//! [`CaseTally`]: counts of outcomes by family and flag, and the flags that explain the failures.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::case::CaseChoice;
use crate::explain::{Evidence, explains};
use crate::families::FAMILIES;
use crate::outcome::{CaseFailureKind, CaseOutcome, CaseVerdict};
use crate::text::similar;

/// The number of cases by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CaseCounts {
    /// Cases that passed.
    pub passed: u64,
    /// Cases that failed, and files that could not be read.
    pub failed: u64,
    /// Cases that were skipped.
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

    /// Returns the number of cases.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.passed + self.failed + self.skipped
    }
}

/// The outcomes of a run, counted.
#[derive(Debug, Default)]
pub struct CaseTally {
    /// The outcomes of all families.
    pub counts: CaseCounts,
    families: BTreeMap<&'static str, OfFamily>,
    /// The number of skipped cases by reason.
    skips: BTreeMap<String, u64>,
    /// The flags of cases that were not chosen.
    unchosen: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct OfFamily {
    counts: CaseCounts,
    flags: BTreeMap<String, CaseCounts>,
    evidence: Evidence,
    /// Failures other than differences, by kind: their number, and the message of the first one.
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
    /// How well the flag separates failing from passing cases, from 0 to 1.
    pub explains: f64,
}

/// The cases that were skipped for one reason.
#[derive(Clone, Debug, Serialize)]
pub struct SkipCounts {
    /// The reason.
    pub reason: String,
    /// The number of cases.
    pub cases: u64,
}

/// The results of a run.
#[derive(Clone, Debug, Serialize)]
pub struct CaseSummary {
    /// All outcomes.
    #[serde(flatten)]
    pub counts: CaseCounts,
    /// The families in the order of their list.
    pub families: Vec<FamilyCounts>,
    /// The flags, sorted by how well they explain the failures of their family, best first.
    pub flags: Vec<FlagCounts>,
    /// The common properties of the failures, one sentence each.
    pub explanations: Vec<String>,
    /// The reasons for skipped cases, the most frequent first.
    pub skips: Vec<SkipCounts>,
}

/// No case was chosen. The message repeats the choice, and suggests flags with similar names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NothingChosen(String);

/// The number of different reasons that are kept. Others are counted as [`OTHER_REASONS`].
const MAX_REASONS: usize = 100;
const OTHER_REASONS: &str = "other reasons";

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
        let known = FAMILIES.iter().find(|known| known.name == *family);
        let plain = known.map_or(&[][..], |known| known.plain);
        let family = self.families.entry(family).or_default();
        family.counts.add(verdict);
        if let CaseVerdict::Failed(failure) = verdict
            && failure.kind != CaseFailureKind::Difference
        {
            let first = || failure.differences.first().cloned().unwrap_or_default();
            let others = family.others.entry(failure.kind.name());
            others.or_insert_with(|| (0, first())).0 += 1;
        }
        if !matches!(verdict, CaseVerdict::Skipped(_)) {
            let has_passed = matches!(verdict, CaseVerdict::Passed);
            let is_plain = |flag: &&String| plain.contains(&flag.as_str());
            let flags = about.flags.iter().filter(|flag| !is_plain(flag));
            family.evidence.add(flags, about.subject.as_ref(), has_passed);
        }
        for (i, flag) in about.flags.iter().enumerate() {
            // A flag that a case lists twice counts once.
            if about.flags[..i].contains(flag) {
                continue;
            }
            match family.flags.get_mut(flag) {
                Some(counts) => counts.add(verdict),
                None => family.flags.entry(flag.clone()).or_default().add(verdict),
            }
        }
    }

    /// Returns an error if no case was chosen.
    #[must_use]
    pub fn nothing_chosen(&self, choice: &CaseChoice) -> Option<NothingChosen> {
        let any = |names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(" or ")
        };
        let mut message = "no case".to_owned();
        if !choice.families.is_empty() {
            message += &format!(" of the family {}", any(&choice.families));
        }
        if !choice.flags.is_empty() {
            message += &format!(" has the flag {}", any(&choice.flags));
        }
        for flag in choice.flags.iter().filter(|flag| !self.unchosen.contains(*flag)) {
            if let Some(name) = similar(flag, self.unchosen.iter().map(String::as_str)) {
                message += &format!("; did you mean `{name}`?");
            }
        }
        (self.counts.all() == 0).then_some(NothingChosen(message))
    }

    /// Returns the results of the run.
    #[must_use]
    pub fn summary(&self) -> CaseSummary {
        let row = |(family, found): (_, &OfFamily)| FamilyCounts { family, counts: found.counts };
        let skip =
            |(reason, cases): (&String, &u64)| SkipCounts { reason: reason.clone(), cases: *cases };
        let mut skips: Vec<SkipCounts> = self.skips.iter().map(skip).collect();
        skips.sort_by_key(|skip| std::cmp::Reverse(skip.cases));
        CaseSummary {
            counts: self.counts,
            families: self.in_order().map(row).collect(),
            flags: self.flags(),
            explanations: self.sentences(),
            skips,
        }
    }

    fn in_order(&self) -> impl Iterator<Item = (&'static str, &OfFamily)> {
        FAMILIES.iter().filter_map(|family| Some((family.name, self.families.get(family.name)?)))
    }

    fn flags(&self) -> Vec<FlagCounts> {
        let mut rows: Vec<FlagCounts> = self
            .in_order()
            .flat_map(|(family, found)| {
                found.flags.iter().map(move |(flag, counts)| FlagCounts {
                    family,
                    flag: flag.clone(),
                    counts: *counts,
                    explains: explains(counts.passed, counts.failed, found.counts.failed),
                })
            })
            .collect();
        // The sort is stable, so flags with equal scores stay in the order of families and names.
        rows.sort_by(|one, other| other.explains.total_cmp(&one.explains));
        rows
    }

    /// Returns sentences that explain the failures of each family.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
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
            let explained = found.evidence.sentence();
            sentences.extend(explained.map(|sentence| format!("{family}: {sentence}")));
        }
        sentences
    }
}
