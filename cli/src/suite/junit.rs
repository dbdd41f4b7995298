//! [`Junit`]: results as JUnit XML, as Jenkins, GitLab and GitHub's actions read it: a test suite for each
//! file of cases, without times, so that the same results are the same file. All of it is in memory, because counts come
//! before the cases; whoever reads it holds it too.

use std::sync::Arc;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use warpload_suite::case::{CaseFile, CaseLine};
use warpload_suite::outcome::{CaseOutcome, CaseVerdict};

use crate::name::visible;

pub(super) struct Junit {
    report: Report,
    /// The file whose cases these are.
    suite: Option<(Arc<CaseFile>, TestSuite)>,
}

impl Junit {
    pub(super) fn new() -> Self {
        Self { report: Report::new("warpload conform"), suite: None }
    }

    pub(super) fn add(&mut self, line: &CaseLine, outcome: &CaseOutcome) {
        let status = match &outcome.verdict {
            CaseVerdict::Unchosen => return,
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
            }
            _ => self.start_suite(&line.file, case),
        }
    }

    /// Adds a file that could not be read, a suite with one failure.
    pub(super) fn add_unreadable(&mut self, name: &str, error: &str) {
        let case = case(name, None, name, failed("unreadable", error, &text(error)));
        self.start_suite(&Arc::new(CaseFile::new(name, None)), case);
    }

    fn start_suite(&mut self, file: &Arc<CaseFile>, first: TestCase) {
        let mut suite = TestSuite::new(text(&file.name));
        suite.add_test_case(first);
        if let Some((_, ended)) = self.suite.replace((Arc::clone(file), suite)) {
            self.report.add_test_suite(ended);
        }
    }

    /// Returns all of it.
    pub(super) fn finish(mut self) -> anyhow::Result<String> {
        if let Some((_, ended)) = self.suite {
            self.report.add_test_suite(ended);
        }
        Ok(self.report.to_string()?)
    }
}

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

/// Returns a text with its characters escaped that would not appear, which quick-junit would leave out, and those
/// that XML cannot hold, which it would write.
fn text(text: &str) -> String {
    visible(text).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        let mut junit = Junit::new();
        junit.add_unreadable("a.jsonl", "<a & \"b\" 'c'>\u{0}\u{1b}[31m\n\u{ffff}\u{202e}é]]>");
        let xml = junit.finish().unwrap_or_default();
        let message = "&lt;a &amp; &quot;b&quot; &apos;c&apos;&gt;\\u{0}\\u{1b}[31m\\n\\u{ffff}\\u{202e}é]]&gt;";
        assert!(xml.contains(&format!("message=\"{message}\"")), "{xml}");
        assert!(xml.contains(r#"tests="1" skipped="0" failures="1" errors="0""#), "{xml}");
    }
}
