//! [`Junit`]: results as JUnit XML, as Jenkins, GitLab and GitHub's actions read it: a test suite for each
//! file of cases, without times, so that the same results are the same file.

use std::io::{BufWriter, IntoInnerError, Read, Seek, Write};
use std::sync::Arc;

use anyhow::Context;
use tempfile::SpooledTempFile;

use warpload_suite::case::{CaseFile, CaseLine};
use warpload_suite::outcome::{CaseOutcome, CaseVerdict};

use crate::name::visible;

pub(super) struct Junit {
    /// The suites that are complete; their cases are in the spool.
    suites: Vec<Suite>,
    total: Counts,
    /// The file whose cases these are.
    file: Option<Arc<CaseFile>>,
    counts: Counts,
    /// How many bytes the cases of that file are.
    bytes: u64,
    /// The cases, which come after counts that are known at the end. Many are in a temporary file without a name.
    spool: BufWriter<SpooledTempFile>,
}

/// How many bytes of cases are held in memory, and how many are copied at once.
const IN_MEMORY: usize = 1 << 20;
const PIECE: u64 = 1 << 16;

struct Suite {
    file: Arc<CaseFile>,
    counts: Counts,
    bytes: u64,
}

#[derive(Default)]
struct Counts {
    tests: u64,
    failures: u64,
    skipped: u64,
}

impl Counts {
    fn attributes(&self) -> String {
        let Self { tests, failures, skipped } = self;
        format!(r#"tests="{tests}" failures="{failures}" errors="0" skipped="{skipped}""#)
    }
}

impl Junit {
    pub(super) fn new() -> Self {
        Self {
            suites: Vec::new(),
            total: Counts::default(),
            file: None,
            counts: Counts::default(),
            bytes: 0,
            spool: BufWriter::new(tempfile::spooled_tempfile(IN_MEMORY)),
        }
    }

    pub(super) fn add(&mut self, line: &CaseLine, outcome: &CaseOutcome) -> anyhow::Result<()> {
        if matches!(outcome.verdict, CaseVerdict::Unchosen) {
            return Ok(());
        }
        if !self.file.as_ref().is_some_and(|file| Arc::ptr_eq(file, &line.file)) {
            self.end_suite();
            self.file = Some(Arc::clone(&line.file));
        }
        self.counts.tests += 1;
        let inside = match &outcome.verdict {
            CaseVerdict::Failed(failure) => {
                self.counts.failures += 1;
                let flags = outcome.about.flags.join(", ");
                let flags = (!flags.is_empty()).then(|| format!("flags: {flags}"));
                let lines = failure.lines();
                let message = escaped(lines.first().map_or("", String::as_str));
                let text: Vec<&str> = flags.iter().chain(&lines).map(String::as_str).collect();
                let text: Vec<String> = text.into_iter().map(escaped).collect();
                let (kind, text) = (failure.kind.name(), text.join("\n"));
                format!(r#"<failure type="{kind}" message="{message}">{text}</failure>"#)
            }
            CaseVerdict::Skipped(reason) => {
                self.counts.skipped += 1;
                format!(r#"<skipped message="{}"/>"#, escaped(reason))
            }
            CaseVerdict::Passed | CaseVerdict::Unchosen => String::new(),
        };
        let (class, name) = (outcome.family.unwrap_or("-"), escaped(&outcome.title("case")));
        let (file, number) = (escaped(&line.file.name), line.number);
        let case =
            format!(r#"<testcase classname="{class}" name="{name}" file="{file}" line="{number}""#);
        self.spool(&match inside.is_empty() {
            true => format!("    {case}/>\n"),
            false => format!("    {case}>{inside}</testcase>\n"),
        })
    }

    fn spool(&mut self, case: &str) -> anyhow::Result<()> {
        self.bytes += case.len() as u64;
        self.spool.write_all(case.as_bytes()).context(NO_SPOOL)
    }

    /// Adds a file that could not be read, a suite with one failure.
    pub(super) fn add_unreadable(&mut self, name: &str, error: &str) -> anyhow::Result<()> {
        self.end_suite();
        self.file = Some(Arc::new(CaseFile::new(name, None)));
        self.counts = Counts { tests: 1, failures: 1, skipped: 0 };
        let (file, message) = (escaped(name), escaped(error));
        let failure =
            format!(r#"<failure type="unreadable" message="{message}">{message}</failure>"#);
        let case =
            format!(r#"<testcase classname="-" name="{file}" file="{file}">{failure}</testcase>"#);
        self.spool(&format!("    {case}\n"))?;
        self.end_suite();
        Ok(())
    }

    /// Writes all, in pieces.
    pub(super) fn finish(
        mut self,
        mut write: impl FnMut(&[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.end_suite();
        let counts = self.total.attributes();
        let head = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites name=\"warpload conform\" {counts}>\n"
        );
        write(head.as_bytes())?;
        let spool = self.spool.into_inner().map_err(IntoInnerError::into_error);
        let mut spool = spool.context(NO_SPOOL)?;
        spool.rewind().context(NO_SPOOL)?;
        let mut piece = Vec::new();
        for Suite { file, counts, bytes } in &self.suites {
            let (name, counts) = (escaped(&file.name), counts.attributes());
            write(format!("  <testsuite name=\"{name}\" {counts}>\n").as_bytes())?;
            let mut cases = (&mut spool).take(*bytes);
            loop {
                piece.clear();
                let read = cases.by_ref().take(PIECE).read_to_end(&mut piece);
                if read.context(NO_SPOOL)? == 0 {
                    break;
                }
                write(&piece)?;
            }
            write(b"  </testsuite>\n")?;
        }
        write(b"</testsuites>\n")
    }

    fn end_suite(&mut self) {
        let (counts, bytes) = (std::mem::take(&mut self.counts), std::mem::take(&mut self.bytes));
        let Some(file) = self.file.take() else { return };
        self.total.tests += counts.tests;
        self.total.failures += counts.failures;
        self.total.skipped += counts.skipped;
        self.suites.push(Suite { file, counts, bytes });
    }
}

const NO_SPOOL: &str = "a temporary file for the report";

/// Returns a text as the content of an element or an attribute. Characters that XML cannot hold are
/// written as `\u{…}`, as are those that would not appear.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&apos;",
            '\u{fffe}' | '\u{ffff}' => escaped.extend(character.escape_unicode()),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        assert_eq!(
            escaped("<a & \"b\" 'c'>\u{0}\u{1b}\n\u{ffff}\u{202e}é]]>"),
            "&lt;a &amp; &quot;b&quot; &apos;c&apos;&gt;\\u{0}\\u{1b}\\n\\u{ffff}\\u{202e}é]]&gt;"
        );
    }
}
