//! [`Junit`]: results as JUnit XML, for Jenkins, GitLab and GitHub Actions. A file of cases is a test suite. Times are
//! left out, so that the same results are the same file. The counts of a suite come before its cases, so cases wait in
//! a temporary file: 37,000 failures would take 230 MB of memory.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::sync::Arc;

use anyhow::Context;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use warpload_suite::case::{CaseFile, CaseLine};
use warpload_suite::outcome::{CaseOutcome, CaseVerdict};

use crate::name::visible;

pub(super) struct Junit {
    /// The suites, without their cases.
    report: Report,
    /// The current file of cases, and its latest cases.
    suite: Option<(Arc<CaseFile>, TestSuite)>,
    /// The XML of all other cases.
    cases: Option<BufWriter<File>>,
    /// The end of each suite's cases in `cases`.
    ends: Vec<u64>,
}

/// The most cases in memory.
const CASES: usize = 1024;
/// The beginnings of suites and cases, and the end of cases. The XML is split at these.
const SUITE: &str = "    <testsuite ";
const CASE: &str = "        <testcase ";
const END: &str = "    </testsuite>\n";

impl Junit {
    pub(super) fn new() -> Self {
        let report = Report::new("warpload conform");
        Self { report, suite: None, cases: None, ends: Vec::new() }
    }

    pub(super) fn add(&mut self, line: &CaseLine, outcome: &CaseOutcome) -> anyhow::Result<()> {
        let status = match &outcome.verdict {
            CaseVerdict::Unchosen => return Ok(()),
            CaseVerdict::Passed => TestCaseStatus::success(),
            CaseVerdict::Skipped(reason) => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(text(reason));
                status
            }
            CaseVerdict::Failed(failure) => {
                let flags = outcome.about.flags.join(", ");
                let flags = (!flags.is_empty()).then(|| format!("flags: {flags}"));
                let lines = failure.lines();
                let first = lines.first().map_or("", String::as_str);
                let all: Vec<String> = flags.iter().chain(&lines).map(|line| text(line)).collect();
                failed(failure.kind.name(), first, &all.join("\n"))
            }
        };
        let mut case = case(&outcome.title("case"), outcome.family, &line.file.name, status);
        case.extra.insert("line".into(), line.number.to_string().into());
        match &mut self.suite {
            Some((file, suite)) if Arc::ptr_eq(file, &line.file) => {
                suite.add_test_case(case);
                if suite.test_cases.len() < CASES { Ok(()) } else { self.write_cases() }
            }
            _ => self.start_suite(&line.file, case),
        }
    }

    /// Adds an unreadable file as a suite with one failure.
    pub(super) fn add_unreadable(&mut self, name: &str, error: &str) -> anyhow::Result<()> {
        let case = case(name, None, name, failed("unreadable", error, &text(error)));
        self.start_suite(&Arc::new(CaseFile::new(name, None)), case)
    }

    fn start_suite(&mut self, file: &Arc<CaseFile>, first: TestCase) -> anyhow::Result<()> {
        self.end_suite()?;
        let mut suite = TestSuite::new(text(&file.name));
        suite.add_test_case(first);
        self.suite = Some((Arc::clone(file), suite));
        Ok(())
    }

    fn end_suite(&mut self) -> anyhow::Result<()> {
        self.write_cases()?;
        if let (Some((_, ended)), Some(cases)) = (self.suite.take(), &mut self.cases) {
            self.report.add_test_suite(ended);
            self.ends.push(cases.stream_position().context(FAILED)?);
        }
        Ok(())
    }

    /// Moves the cases in memory to the temporary file.
    fn write_cases(&mut self) -> anyhow::Result<()> {
        let Some((_, suite)) = &mut self.suite else { return Ok(()) };
        let mut part = TestSuite::new("");
        part.add_test_cases(suite.test_cases.drain(..));
        let xml = Report::unnamed().add_test_suite(part).to_string()?;
        let cases = xml.find(CASE).zip(xml.rfind(END)).and_then(|(from, to)| xml.get(from..to));
        let file = match &mut self.cases {
            Some(file) => file,
            none => none.insert(BufWriter::new(tempfile::tempfile().context(FAILED)?)),
        };
        file.write_all(cases.unwrap_or_default().as_bytes()).context(FAILED)
    }

    /// Writes everything, piece by piece.
    pub(super) fn finish(
        mut self,
        mut write: impl FnMut(&[u8]) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.end_suite()?;
        let mut cases = self.cases.map(BufWriter::into_inner).transpose()?;
        cases.iter_mut().try_for_each(File::rewind).context(FAILED)?;
        let (mut ends, mut at) = (self.ends.into_iter(), 0);
        let mut piece = vec![0; 1 << 16];
        for line in self.report.to_string()?.split_inclusive('\n') {
            let suite = line.strip_suffix("/>\n").filter(|line| line.starts_with(SUITE));
            let (Some(suite), Some(cases)) = (suite, &mut cases) else {
                write(line.as_bytes())?;
                continue;
            };
            let end = ends.next().unwrap_or(at);
            write(format!("{suite}>\n").as_bytes())?;
            while at < end {
                let most = piece.len().min((end - at) as usize);
                let read = &mut piece[..most];
                cases.read_exact(read).context(FAILED)?;
                write(read)?;
                at += most as u64;
            }
            write(END.as_bytes())?;
        }
        Ok(())
    }
}

const FAILED: &str = "the cases of the report cannot be kept in a temporary file";

fn case(name: &str, family: Option<&str>, file: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(text(name), status);
    case.set_classname(family.unwrap_or("-"));
    case.extra.insert("file".into(), text(file).into());
    case
}

fn failed(kind: &str, message: &str, description: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(kind).set_message(text(message)).set_description(description);
    status
}

/// Escapes invisible characters, which quick-junit would leave out, and characters that XML cannot contain, which it
/// would write.
fn text(text: &str) -> String {
    visible(text).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() -> anyhow::Result<()> {
        let mut junit = Junit::new();
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
