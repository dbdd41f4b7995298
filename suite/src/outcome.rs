//! [`CaseOutcome`]: the result of a case.

use std::time::Duration;

use crate::case::CaseAbout;
use crate::json::JsonError;
use crate::text::with_column;

/// The result of a case.
#[derive(Clone, Debug)]
pub struct CaseOutcome {
    /// `None` if the line is not a case.
    pub family: Option<&'static str>,
    /// The keys of the case that a report shows.
    pub about: CaseAbout,
    /// Whether it passed.
    pub verdict: CaseVerdict,
    /// Whether the examinee has answered; `None` if it was not asked.
    pub answered: Option<bool>,
}

impl CaseOutcome {
    pub(crate) fn not_a_case(message: String) -> Self {
        let failure = CaseFailure::new(CaseFailureKind::NotACase, message);
        let (about, verdict) = (CaseAbout::default(), CaseVerdict::Failed(failure));
        Self { family: None, about, verdict, answered: None }
    }

    /// Returns the title of the case: its id, its name, or both.
    #[must_use]
    pub fn title(&self) -> String {
        let name = self.about.name.as_deref().filter(|name| !name.is_empty());
        match (self.about.id.as_deref(), name, self.family) {
            (Some(id), Some(name), _) => format!("{id}: {name}"),
            (Some(title), None, _) | (None, Some(title), _) => title.to_owned(),
            (None, None, Some(_)) => "a case without a name".to_owned(),
            (None, None, None) => "not a case".to_owned(),
        }
    }
}

/// Whether a case passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseVerdict {
    /// The answer is the expected one.
    Passed,
    /// The answer is another one, or there is none.
    Failed(CaseFailure),
    /// The case was left out for this reason.
    Skipped(String),
    /// The case was not chosen.
    Unchosen,
}

/// The reason why a case failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFailure {
    /// The kind.
    pub kind: CaseFailureKind,
    /// The differences, one line each, or the message of another failure.
    pub differences: Vec<String>,
    /// The last lines of the program's standard error, if it ended or did not answer in time.
    pub stderr: Vec<String>,
}

/// A kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaseFailureKind {
    /// The answer differs from the expected one.
    Difference,
    /// There was no answer within this time.
    Timeout(Duration),
    /// The program ended, or closed its output, before the answer.
    Crash,
    /// The line is not an answer.
    WrongLine,
    /// The program says that it cannot read the question.
    Error,
    /// The line of the suite is not a case.
    NotACase,
    /// The path of the file that the case names is not UTF-8, so a question cannot name it.
    NotUtf8,
}

impl CaseFailureKind {
    /// Returns its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Difference => "difference",
            Self::Timeout(_) => "timeout",
            Self::Crash => "crash",
            Self::WrongLine => "wrong-line",
            Self::Error => "error",
            Self::NotACase => "not-a-case",
            Self::NotUtf8 => "not-utf-8",
        }
    }
}

impl CaseFailure {
    pub(crate) fn new(kind: CaseFailureKind, message: impl Into<String>) -> Self {
        Self { kind, differences: vec![message.into()], stderr: Vec::new() }
    }

    pub(crate) fn wrong_line(message: impl Into<String>) -> Self {
        Self::new(CaseFailureKind::WrongLine, message)
    }

    pub(crate) fn unreadable_answer(error: &JsonError) -> Self {
        Self::wrong_line(format!("answer: {}", with_column(error)))
    }

    /// Returns the differences, and the end of the program's standard error.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = self.differences.clone();
        if !self.stderr.is_empty() {
            lines.push("the end of its standard error:".to_owned());
            lines.extend(self.stderr.iter().map(|line| format!("| {line}")));
        }
        lines
    }
}
