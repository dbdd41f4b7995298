//! [`Outcome`]: what became of a case, a [`Line`] of a file.

use std::path::PathBuf;
use std::sync::Arc;

use super::case::About;
use crate::name::Name;

/// A line of a file of cases.
pub(super) struct Line {
    pub(super) file: Arc<File>,
    pub(super) number: u64,
    /// `Err` is why there is no text.
    pub(super) text: Result<String, String>,
}

/// A file of cases.
pub(super) struct File {
    pub(super) name: Name,
    pub(super) folder: PathBuf,
}

/// What became of a case.
pub(super) struct Outcome {
    /// `None` if the line is not a case.
    pub(super) family: Option<&'static str>,
    pub(super) about: About,
    pub(super) verdict: Verdict,
    /// Whether the program was asked, and has answered.
    pub(super) answered: Option<bool>,
}

impl Outcome {
    /// Returns what the case is called: its id, its name, or both.
    pub(super) fn title(&self) -> String {
        let name = self.about.name.as_deref().filter(|name| !name.is_empty());
        match (self.about.id.as_deref(), name, self.family) {
            (Some(id), Some(name), _) => format!("{id}: {name}"),
            (Some(title), None, _) | (None, Some(title), _) => title.to_owned(),
            (None, None, Some(_)) => "a case without a name".to_owned(),
            (None, None, None) => "not a case".to_owned(),
        }
    }
}

pub(super) enum Verdict {
    Passed,
    Failed(Failure),
    /// With the reason.
    Skipped(String),
    /// It is not one of those that are chosen.
    Unchosen,
}

impl Verdict {
    pub(super) fn is_timeout(&self) -> bool {
        matches!(self, Self::Failed(failure) if failure.kind == FailureKind::Timeout)
    }
}

/// Why a case failed.
pub(super) struct Failure {
    pub(super) kind: FailureKind,
    pub(super) differences: Vec<String>,
    /// The last lines of the program's standard error, if it ended or did not answer in time.
    pub(super) stderr: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureKind {
    Difference,
    Timeout,
    Crash,
    WrongLine,
    /// The program says that it cannot read the question.
    Error,
    /// The line is not a case.
    NotACase,
}

impl FailureKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Difference => "difference",
            Self::Timeout => "timeout",
            Self::Crash => "crash",
            Self::WrongLine => "wrong-line",
            Self::Error => "error",
            Self::NotACase => "not-a-case",
        }
    }
}

impl Failure {
    pub(super) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, differences: vec![message.into()], stderr: Vec::new() }
    }

    pub(super) fn wrong_line(message: impl Into<String>) -> Self {
        Self::new(FailureKind::WrongLine, message)
    }

    /// Returns the differences, and what the program wrote to its standard error.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = self.differences.clone();
        if !self.stderr.is_empty() {
            lines.push("the end of its standard error:".to_owned());
            lines.extend(self.stderr.iter().map(|line| format!("| {line}")));
        }
        lines
    }
}
