//! [`Junit`]: results as JUnit XML, for Jenkins, GitLab and GitHub Actions. A file of cases is a test suite. Times are
//! left out, so that the same results are the same file. The counts of a suite come before its cases, so cases wait in
//! a temporary file: 37,000 failures would take 230 MB of memory.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::sync::Arc;

use anyhow::Context;

use warpload_suite::case::{CaseFile, CaseLine};
use warpload_suite::outcome::{CaseOutcome, CaseVerdict};

use crate::name::visible;

#[derive(Default)]
pub(super) struct Junit {
    /// The suites so far, the current one last.
    suites: Vec<Suite>,
    /// The file of the current suite; `None` if the next case begins another one.
    file: Option<Arc<CaseFile>>,
    /// The XML of the cases of all suites.
    cases: Option<BufWriter<File>>,
}

#[derive(Default)]
struct Suite {
    name: String,
    counts: Counts,
    /// The bytes of its cases.
    bytes: u64,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    tests: u64,
    skipped: u64,
    failures: u64,
}

const FAILED: &str = "the cases of the report cannot be kept in a temporary file";

impl Junit {
    pub(super) fn add(&mut self, line: &CaseLine, outcome: &CaseOutcome) -> anyhow::Result<()> {
        if !self.file.as_ref().is_some_and(|file| Arc::ptr_eq(file, &line.file)) {
            self.suites.push(Suite { name: line.file.name.clone(), ..Suite::default() });
            self.file = Some(Arc::clone(&line.file));
        }
        let Some(Suite { counts, .. }) = self.suites.last_mut() else { return Ok(()) };
        let inside = match &outcome.verdict {
            CaseVerdict::Unchosen => return Ok(()),
            CaseVerdict::Passed => String::new(),
            CaseVerdict::Skipped(reason) => {
                counts.skipped += 1;
                format!("<skipped message=\"{}\"/>", escaped(reason))
            }
            CaseVerdict::Failed(failure) => {
                counts.failures += 1;
                let flags = outcome.about.flags.join(", ");
                let flags = (!flags.is_empty()).then(|| format!("flags: {flags}"));
                let lines = failure.lines();
                let all: Vec<String> =
                    flags.iter().chain(&lines).map(|line| escaped(line)).collect();
                let first = lines.first().map_or("", String::as_str);
                failed(failure.kind.name(), first, &all.join("\n"))
            }
        };
        let place = format!(" line=\"{}\"", line.number);
        self.case(&outcome.title(), outcome.family.unwrap_or("-"), &place, &inside)
    }

    /// Adds an unreadable file as a suite with one failure.
    pub(super) fn add_unreadable(&mut self, name: &str, error: &str) -> anyhow::Result<()> {
        let counts = Counts { failures: 1, ..Counts::default() };
        self.suites.push(Suite { name: name.to_owned(), counts, bytes: 0 });
        self.file = None;
        self.case(name, "-", "", &failed("unreadable", error, &escaped(error)))
    }

    /// Adds a case to the current suite.
    fn case(&mut self, name: &str, family: &str, place: &str, inside: &str) -> anyhow::Result<()> {
        let Some(suite) = self.suites.last_mut() else { return Ok(()) };
        suite.counts.tests += 1;
        let (name, file) = (escaped(name), escaped(&suite.name));
        let head = format!(
            "        <testcase name=\"{name}\" classname=\"{family}\" file=\"{file}\"{place}"
        );
        let xml = if inside.is_empty() {
            format!("{head}/>\n")
        } else {
            format!("{head}>\n            {inside}\n        </testcase>\n")
        };
        suite.bytes += xml.len() as u64;
        let cases = match &mut self.cases {
            Some(cases) => cases,
            none => none.insert(BufWriter::new(tempfile::tempfile().context(FAILED)?)),
        };
        cases.write_all(xml.as_bytes()).context(FAILED)
    }

    /// Writes everything, piece by piece.
    pub(super) fn finish(
        self,
        mut write: impl FnMut(&[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        // A file without a chosen case has no suite in the report.
        let suites = self.suites.iter().filter(|suite| suite.counts.tests > 0);
        let all = suites.clone().fold(Counts::default(), |all, Suite { counts, .. }| Counts {
            tests: all.tests + counts.tests,
            skipped: all.skipped + counts.skipped,
            failures: all.failures + counts.failures,
        });
        let named = |tag: &str, name: &str, Counts { tests, skipped, failures }| {
            format!(
                "<{tag} name=\"{name}\" tests=\"{tests}\" skipped=\"{skipped}\" \
                 failures=\"{failures}\" errors=\"0\">\n"
            )
        };
        write(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")?;
        write(named("testsuites", "warpload conform", all).as_bytes())?;
        let mut cases = self.cases.map(BufWriter::into_inner).transpose()?;
        cases.iter_mut().try_for_each(File::rewind).context(FAILED)?;
        let mut piece = vec![0; 1 << 16];
        for suite in suites {
            let head = named("testsuite", &escaped(&suite.name), suite.counts);
            write(format!("    {head}").as_bytes())?;
            let mut left = suite.bytes;
            while let (Some(cases), 1..) = (&mut cases, left) {
                let most = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                let read = &mut piece[..most];
                cases.read_exact(read).context(FAILED)?;
                write(read)?;
                left -= most as u64;
            }
            write(b"    </testsuite>\n")?;
        }
        write(b"</testsuites>\n")
    }
}

/// A failure. Its description is escaped.
fn failed(kind: &str, message: &str, description: &str) -> String {
    format!("<failure message=\"{}\" type=\"{kind}\">{description}</failure>", escaped(message))
}

/// A text for XML: invisible characters, and the two that XML cannot contain, are escaped as in text for people.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '&' => xml += "&amp;",
            '<' => xml += "&lt;",
            '>' => xml += "&gt;",
            '"' => xml += "&quot;",
            '\'' => xml += "&apos;",
            '\u{fffe}' => xml += "\\u{fffe}",
            '\u{ffff}' => xml += "\\u{ffff}",
            other => xml.push(other),
        }
    }
    xml
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() -> anyhow::Result<()> {
        let mut junit = Junit::default();
        let error = "<a & \"b\" 'c'>\u{0}\u{1b}[31m\n\u{ffff}\u{202e}é]]>";
        junit.add_unreadable("a.jsonl", error)?;
        let mut xml = Vec::new();
        junit.finish(|piece| {
            xml.extend_from_slice(piece);
            Ok(())
        })?;
        let xml = String::from_utf8(xml)?;
        let message = "&lt;a &amp; &quot;b&quot; &apos;c&apos;&gt;\\u{0}\\u{1b}[31m\\n\\u{ffff}\\u{202e}é]]&gt;";
        assert!(xml.contains(&format!("message=\"{message}\"")), "{xml}");
        assert!(xml.contains(r#"tests="1" skipped="0" failures="1" errors="0""#), "{xml}");
        Ok(())
    }
}
