//! [`Report`]: the results as text, JSON or JUnit XML.

use clap::ValueEnum;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use warpload_suite::case::CaseLine;
use warpload_suite::outcome::{CaseFailure, CaseFailureKind, CaseOutcome, CaseVerdict};
use warpload_suite::tally::{CaseSummary, CaseTally, FamilyCounts, FlagCounts};

use super::junit::Junit;
use super::progress::Asked;
use crate::destination::Pieces;
use crate::io::{self, Output};
use crate::name::visible;
use crate::process::Status;
use crate::table::{self, Column, Value};
use crate::terminal::Escapes;

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The first failures, a table by flag, and the counts
    #[default]
    Text,
    /// One object a failure, and the summary
    Json,
    /// JUnit XML, which CI systems read: every case
    Junit,
}

impl Format {
    /// The escapes of the format.
    pub(crate) fn escapes(self) -> Escapes {
        match self {
            Self::Json => Escapes::Json,
            Self::Text | Self::Junit => Escapes::Text,
        }
    }
}

/// The most differences of one case to show as text; JSON has all that are kept.
const SHOWN: usize = 8;

/// The results, written in the order of the cases.
pub(crate) struct Report<'o> {
    format: Format,
    /// The most failures to show as text.
    most: u64,
    to: Pieces,
    output: &'o mut Output,
    pub(super) asked: &'o Asked,
    junit: Junit,
    pub(crate) tally: CaseTally,
}

struct FailureJson<'f> {
    line: &'f CaseLine,
    outcome: &'f CaseOutcome,
    failure: &'f CaseFailure,
}

impl Serialize for FailureJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { line, outcome: CaseOutcome { about, family, .. }, failure } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("file", &line.file.name)?;
        map.serialize_entry("line", &line.number)?;
        map.serialize_entry("id", &about.id)?;
        map.serialize_entry("name", &about.name)?;
        map.serialize_entry("family", family)?;
        map.serialize_entry("flags", &about.flags)?;
        map.serialize_entry("kind", failure.kind.name())?;
        map.serialize_entry("differences", &failure.differences)?;
        if !failure.stderr.is_empty() {
            map.serialize_entry("stderr", &failure.stderr)?;
        }
        map.end()
    }
}

impl<'o> Report<'o> {
    pub(crate) fn new(
        format: Format,
        most: u64,
        to: Pieces,
        output: &'o mut Output,
        asked: &'o Asked,
    ) -> Self {
        let (junit, tally) = (Junit::default(), CaseTally::default());
        Self { format, most, to, output, asked, junit, tally }
    }

    /// Adds outcomes and writes them at once, because the next ones may take a while.
    pub(super) fn add(&mut self, judged: &[(CaseLine, CaseOutcome)]) -> anyhow::Result<()> {
        let mut text = Vec::new();
        for (line, outcome) in judged {
            self.tally.add(outcome);
            match (self.format, &outcome.verdict) {
                (Format::Junit, _) => self.junit.add(line, outcome)?,
                (Format::Json, CaseVerdict::Failed(failure)) => {
                    let failure = FailureJson { line, outcome, failure };
                    io::write_json(&mut text, &failure)?;
                }
                (Format::Text, CaseVerdict::Failed(failure))
                    if self.tally.counts.failed <= self.most =>
                {
                    text.extend(drawn(line, outcome, failure).into_bytes());
                }
                _ => {}
            }
        }
        if self.tally.counts.failed > 0 {
            self.output.raise(Status::Failed);
        }
        let is_no_case = |(_, outcome): &(CaseLine, CaseOutcome)| match &outcome.verdict {
            CaseVerdict::Failed(failure) => failure.kind == CaseFailureKind::NotACase,
            _ => false,
        };
        if judged.iter().any(is_no_case) {
            self.output.raise(Status::Unreadable);
        }
        // Checked here, because the files of these cases are remembered as inputs only when they are read.
        self.to.check()?;
        self.asked.hidden(|| {
            self.to.add(&text, self.output)?;
            Ok(self.output.flush()?)
        })
    }

    /// Reports an unreadable file, which counts as a failure, so that `0 failed` always means success.
    pub(super) fn fail_input(
        &mut self,
        file: &str,
        error: anyhow::Error,
    ) -> anyhow::Result<Status> {
        self.tally.counts.failed += 1;
        if self.format == Format::Junit {
            self.junit.add_unreadable(file, &format!("{error:#}"))?;
        }
        self.asked.hidden(|| self.output.fail_input(error))
    }

    /// Raises the status, and returns the highest so far.
    pub(crate) fn raise(&mut self, status: Status) -> Status {
        self.output.raise(status);
        self.output.status()
    }

    /// Writes the rest.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let Self { format, most, mut to, output, asked, junit, tally } = self;
        let mut text = Vec::new();
        asked.hidden(|| {
            match format {
                Format::Junit => junit.finish(|piece| to.add(piece, output))?,
                Format::Text => text.extend(summary_text(&tally, most).into_bytes()),
                Format::Json => io::write_json(&mut text, &tally.summary())?,
            }
            to.add(&text, output)?;
            to.finish(output)
        })
    }
}

/// Writes a failure as text: its place and title, its flags, and the first differences.
fn drawn(line: &CaseLine, outcome: &CaseOutcome, failure: &CaseFailure) -> String {
    let (file, title) = (&*line.file.name, outcome.title());
    let mut text = format!("FAIL {}:{}: {}\n", visible(file), line.number, visible(&title));
    let flags = &outcome.about.flags;
    let flags = (!flags.is_empty()).then(|| format!("flags: {}", flags.join(", ")));
    let lines = failure.lines();
    let shown = SHOWN.max(failure.stderr.len() + 2);
    for line in flags.iter().chain(lines.iter().take(shown)) {
        text += &format!("  {}\n", visible(line));
    }
    if lines.len() > shown {
        text += &format!("  and {} more\n", lines.len() - shown);
    }
    text
}

fn summary_text(tally: &CaseTally, most: u64) -> String {
    let counts = &tally.counts;
    let mut text = String::new();
    let hidden = counts.failed.saturating_sub(most);
    if hidden > 0 {
        text += &format!("and {hidden} more failures; --failures N shows N of them\n");
    }
    if counts.failed > 0 {
        text.push('\n');
    }
    let CaseSummary { families, flags, explanations, skips, .. } = tally.summary();
    if families.len() > 1 {
        text += &table::text(&FAMILY_COLUMNS, &families);
        text.push('\n');
    }
    let failing: Vec<FlagCounts> =
        flags.into_iter().filter(|flag| flag.counts.failed > 0).collect();
    if !failing.is_empty() {
        text += &table::text(&FLAG_COLUMNS, &failing);
        text.push('\n');
    }
    for sentence in &explanations {
        text += &format!("{}\n", visible(sentence));
    }
    if !explanations.is_empty() {
        text.push('\n');
    }
    for skip in &skips {
        text += &format!("{} skipped: {}\n", skip.cases, visible(&skip.reason));
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

const FAMILY_COLUMNS: [Column<FamilyCounts>; 4] = [
    Column { heading: "family", value: |row| Value::Text(row.family.into()) },
    Column { heading: "passed", value: |row| Value::Count(row.counts.passed) },
    Column { heading: "failed", value: |row| Value::Count(row.counts.failed) },
    Column { heading: "skipped", value: |row| Value::Count(row.counts.skipped) },
];

const FLAG_COLUMNS: [Column<FlagCounts>; 4] = [
    Column { heading: "family", value: |row| Value::Text(row.family.into()) },
    Column { heading: "flag", value: |row| Value::Text(row.flag.as_str().into()) },
    Column { heading: "failed", value: |row| Value::Count(row.counts.failed) },
    Column { heading: "of", value: |row| Value::Count(row.counts.passed + row.counts.failed) },
];
