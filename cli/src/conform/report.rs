//! [`Report`]: the results as text, JSON or JUnit XML.

use clap::ValueEnum;
use serde::Serialize;

use super::junit::Junit;
use super::outcome::{Failure, Line, Outcome, Verdict};
use super::tally::{FamilyRow, FlagRow, Tally};
use crate::name::visible;
use crate::table::{self, Column, Value};
use crate::terminal::Escapes;
use crate::{io, suite};

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// The first failures, a table by flag, and the counts
    #[default]
    Text,
    /// One object a failure, and the summary
    Json,
    /// JUnit XML, which CI systems read: every case
    Junit,
}

/// What is written of the results, in the order of the cases.
pub(super) struct Report {
    format: Format,
    /// How many failures are shown as text.
    most: usize,
    pub(super) tally: Tally,
    /// What is written and was not taken yet.
    text: Vec<u8>,
    junit: Junit,
}

/// How many differences of one case are shown as text; JSON has all that are kept.
const SHOWN: usize = 8;

#[derive(Serialize)]
struct FailureJson<'f> {
    file: &'f str,
    line: u64,
    id: Option<&'f str>,
    name: Option<&'f str>,
    family: Option<&'static str>,
    flags: &'f [String],
    kind: &'static str,
    differences: &'f [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stderr: &'f [String],
}

#[derive(Serialize)]
struct SummaryJson {
    passed: u64,
    failed: u64,
    skipped: u64,
    families: Vec<FamilyRow>,
    flags: Vec<FlagRow>,
    explanations: Vec<String>,
    skips: Vec<SkipJson>,
}

#[derive(Serialize)]
struct SkipJson {
    reason: String,
    cases: u64,
}

impl Report {
    pub(super) fn new(format: Format, most: usize) -> Self {
        let (tally, junit) = (Tally::default(), Junit::new());
        Self { format, most, tally, text: Vec::new(), junit }
    }

    /// Adds what became of a line.
    pub(super) fn add(&mut self, line: &Line, outcome: &Outcome) -> anyhow::Result<()> {
        self.tally.add(outcome);
        match (self.format, &outcome.verdict) {
            (Format::Junit, _) => self.junit.add(line, outcome)?,
            (Format::Json, Verdict::Failed(failure)) => {
                self.failure_json(line, outcome, failure)?
            }
            (Format::Text, Verdict::Failed(failure))
                if self.tally.counts.failed <= self.most as u64 =>
            {
                self.failure_text(line, outcome, failure);
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds a file that could not be read, a failure.
    pub(super) fn add_unreadable(&mut self, name: &str, error: &str) -> anyhow::Result<()> {
        self.tally.counts.failed += 1;
        self.junit.add_unreadable(name, error)
    }

    /// Returns how the results are escaped.
    pub(super) fn escapes(&self) -> Escapes {
        match self.format {
            Format::Json => Escapes::Json,
            Format::Text | Format::Junit => Escapes::Text,
        }
    }

    /// Returns what can be written before the end.
    pub(super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }

    /// Writes the rest, in pieces.
    pub(super) fn finish(
        mut self,
        mut write: impl FnMut(&[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        match self.format {
            Format::Text => self.text.extend(self.summary_text().into_bytes()),
            Format::Json => {
                let summary = self.summary_json();
                io::write_json(&mut self.text, &summary)?;
            }
            Format::Junit => return self.junit.finish(write),
        }
        write(&self.text)
    }

    fn failure_json(
        &mut self,
        line: &Line,
        outcome: &Outcome,
        failure: &Failure,
    ) -> anyhow::Result<()> {
        let Outcome { family, about, .. } = outcome;
        Ok(io::write_json(
            &mut self.text,
            &FailureJson {
                file: &line.file.name,
                line: line.number,
                id: about.id.as_deref(),
                name: about.name.as_deref(),
                family: *family,
                flags: &about.flags,
                kind: failure.kind.name(),
                differences: &failure.differences,
                stderr: &failure.stderr,
            },
        )?)
    }

    fn failure_text(&mut self, line: &Line, outcome: &Outcome, failure: &Failure) {
        let flags = &outcome.about.flags;
        let flags = (!flags.is_empty()).then(|| format!("flags: {}", flags.join(", ")));
        let place = (&*line.file.name, line.number);
        let (title, differences) = (outcome.title(), failure.lines());
        let shown = SHOWN.max(failure.stderr.len() + 2);
        self.text.extend(
            suite::drawn(place, &title, flags.as_deref(), &differences, shown).into_bytes(),
        );
    }

    fn summary_text(&self) -> String {
        let tally = &self.tally;
        let counts = &tally.counts;
        let mut text = String::new();
        let hidden = counts.failed.saturating_sub(self.most as u64);
        if hidden > 0 {
            text += &format!("and {hidden} more failures; --failures N shows N of them\n");
        }
        if counts.failed > 0 {
            text.push('\n');
        }
        let families = tally.families();
        if families.len() > 1 {
            text += &table::text(&FAMILY_COLUMNS, &families);
            text.push('\n');
        }
        let flags = tally.flags();
        if !flags.is_empty() {
            text += &table::text(&FLAG_COLUMNS, &flags);
            text.push('\n');
        }
        let sentences = tally.sentences();
        for sentence in &sentences {
            text += &format!("{}\n", visible(sentence));
        }
        if !sentences.is_empty() {
            text.push('\n');
        }
        for (reason, cases) in self.skips() {
            text += &format!("{cases} skipped: {}\n", visible(reason));
        }
        if counts.skipped > 0 {
            text.push('\n');
        }
        if counts.skipped > 0 && counts.skipped == counts.all() {
            text += "every case was skipped: nothing was checked\n";
        }
        let (passed, failed, skipped) = (counts.passed, counts.failed, counts.skipped);
        text += &format!("{passed} passed, {failed} failed, {skipped} skipped\n");
        text
    }

    /// Returns the reasons of skipped cases, the most frequent ones first.
    fn skips(&self) -> Vec<(&str, u64)> {
        let reasons = self.tally.skips.iter().map(|(reason, cases)| (reason.as_str(), *cases));
        let mut reasons: Vec<(&str, u64)> = reasons.collect();
        reasons.sort_by_key(|(_, cases)| std::cmp::Reverse(*cases));
        reasons
    }

    fn summary_json(&self) -> SummaryJson {
        let tally = &self.tally;
        let skips = self.skips().into_iter();
        SummaryJson {
            passed: tally.counts.passed,
            failed: tally.counts.failed,
            skipped: tally.counts.skipped,
            families: tally.families(),
            flags: tally.flags(),
            explanations: tally.sentences(),
            skips: skips
                .map(|(reason, cases)| SkipJson { reason: reason.to_owned(), cases })
                .collect(),
        }
    }
}

const FAMILY_COLUMNS: [Column<FamilyRow>; 4] = [
    Column { key: "", heading: "family", value: |row| Value::Text(row.family.into()) },
    Column { key: "", heading: "passed", value: |row| Value::Count(row.counts.passed) },
    Column { key: "", heading: "failed", value: |row| Value::Count(row.counts.failed) },
    Column { key: "", heading: "skipped", value: |row| Value::Count(row.counts.skipped) },
];

const FLAG_COLUMNS: [Column<FlagRow>; 6] = [
    Column { key: "", heading: "family", value: |row| Value::Text(row.family.into()) },
    Column { key: "", heading: "flag", value: |row| Value::Text(row.flag.as_str().into()) },
    Column { key: "", heading: "passed", value: |row| Value::Count(row.counts.passed) },
    Column { key: "", heading: "failed", value: |row| Value::Count(row.counts.failed) },
    Column { key: "", heading: "skipped", value: |row| Value::Count(row.counts.skipped) },
    Column {
        key: "",
        heading: "explains",
        value: |row| match row.counts.failed {
            0 => Value::None,
            _ => Value::Shown(format!("{:.0}%", 100.0 * row.explains)),
        },
    },
];
