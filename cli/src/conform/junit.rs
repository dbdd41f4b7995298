//! [`Junit`]: results as JUnit XML, as Jenkins, GitLab and GitHub's actions read it: a test suite for each
//! file of cases, without times, so that the same results are the same file.

use std::fmt::Write;
use std::sync::Arc;

use super::outcome::{File, Line, Outcome, Verdict};
use crate::name::{Name, visible};

#[derive(Default)]
pub(super) struct Junit {
    /// The suites that are complete.
    suites: String,
    total: Counts,
    /// The file whose cases these are.
    file: Option<Arc<File>>,
    cases: String,
    counts: Counts,
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
    pub(super) fn add(&mut self, line: &Line, outcome: &Outcome) {
        if matches!(outcome.verdict, Verdict::Unchosen) {
            return;
        }
        if !self.file.as_ref().is_some_and(|file| Arc::ptr_eq(file, &line.file)) {
            self.end_suite();
            self.file = Some(Arc::clone(&line.file));
        }
        self.counts.tests += 1;
        let inside = match &outcome.verdict {
            Verdict::Failed(failure) => {
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
            Verdict::Skipped(reason) => {
                self.counts.skipped += 1;
                format!(r#"<skipped message="{}"/>"#, escaped(reason))
            }
            Verdict::Passed | Verdict::Unchosen => String::new(),
        };
        let (class, name) = (outcome.family.unwrap_or("-"), escaped(&outcome.title()));
        let (file, number) = (escaped(&line.file.name), line.number);
        let case =
            format!(r#"<testcase classname="{class}" name="{name}" file="{file}" line="{number}""#);
        // Writing to a text cannot fail.
        let _ = match inside.is_empty() {
            true => writeln!(self.cases, "    {case}/>"),
            false => writeln!(self.cases, "    {case}>{inside}</testcase>"),
        };
    }

    /// Adds a file that could not be read, a suite with one failure.
    pub(super) fn add_unreadable(&mut self, name: &str, error: &str) {
        self.end_suite();
        self.file = Some(Arc::new(File { name: Name::from(name), folder: Default::default() }));
        self.counts = Counts { tests: 1, failures: 1, skipped: 0 };
        let (file, message) = (escaped(name), escaped(error));
        let failure =
            format!(r#"<failure type="unreadable" message="{message}">{message}</failure>"#);
        let case =
            format!(r#"<testcase classname="-" name="{file}" file="{file}">{failure}</testcase>"#);
        let _ = writeln!(self.cases, "    {case}");
        self.end_suite();
    }

    pub(super) fn finish(&mut self) -> String {
        self.end_suite();
        let (counts, suites) = (self.total.attributes(), std::mem::take(&mut self.suites));
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <testsuites name=\"warpload conform\" {counts}>\n{suites}</testsuites>\n"
        )
    }

    fn end_suite(&mut self) {
        let (counts, cases) = (std::mem::take(&mut self.counts), std::mem::take(&mut self.cases));
        let Some(file) = self.file.take() else { return };
        self.total.tests += counts.tests;
        self.total.failures += counts.failures;
        self.total.skipped += counts.skipped;
        let (name, counts) = (escaped(&file.name), counts.attributes());
        let _ =
            write!(self.suites, "  <testsuite name=\"{name}\" {counts}>\n{cases}  </testsuite>\n");
    }
}

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
