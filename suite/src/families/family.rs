//! [`CaseFamily`]: how the questions of a family are answered and how an answer is compared with the expectation of
//! a case; and what its functions take and return.

use super::object::JsonObject;
use crate::explain::CaseSubject;
use crate::json::JsonError;
use serde::Serialize;
use warpload::load::Executor;
use warpload_ptx::tensor::TensorRegisters;

use crate::tensor_case::PatternMemories;

/// A family of cases.
pub struct CaseFamily {
    /// The value of `family` in a case.
    pub name: &'static str,
    /// The key of a case that is not part of the question: the answer that is expected.
    pub expectation: &'static str,
    /// The key of a question that names a file, relative to that of the case.
    pub(crate) file: Option<&'static str>,
    /// Returns the instruction and the SM that a case is about; `None` of a family whose cases have none.
    pub(crate) subject: Option<SubjectOf>,
    /// The flags of cases in which nothing special happens. That these fail explains nothing.
    pub(crate) plain: &'static [&'static str],
    /// Returns how an answer differs from the expectation of a case, one line each.
    pub(crate) compare: fn(&CaseExpectation<'_>, answer: &str) -> Result<Vec<String>, Uncomparable>,
    /// Answers a question. `None` if only a caller can, because the answer is that of a command with its files and
    /// options: [`Answerer::answering`].
    answer: Option<AnswerQuestion>,
}

type SubjectOf = fn(&JsonObject<'_>) -> Option<CaseSubject>;
type AnswerQuestion = fn(question: &str, &mut Answerer) -> Result<CaseAnswer, JsonError>;

impl CaseFamily {
    /// A family whose cases have the key `expect`, and whose questions name no file.
    pub(super) const fn new(
        name: &'static str,
        compare: fn(&CaseExpectation<'_>, &str) -> Result<Vec<String>, Uncomparable>,
    ) -> Self {
        Self {
            name,
            expectation: "expect",
            file: None,
            subject: None,
            plain: &[],
            compare,
            answer: None,
        }
    }

    pub(super) const fn answered(self, answer: AnswerQuestion) -> Self {
        Self { answer: Some(answer), ..self }
    }

    pub(super) const fn expecting(self, expectation: &'static str) -> Self {
        Self { expectation, ..self }
    }

    pub(super) const fn about(self, subject: SubjectOf) -> Self {
        Self { subject: Some(subject), ..self }
    }

    pub(super) const fn with_plain(self, flags: &'static [&'static str]) -> Self {
        Self { plain: flags, ..self }
    }

    pub(super) const fn with_file(self, key: &'static str) -> Self {
        Self { file: Some(key), ..self }
    }

    pub(super) fn answer(
        &self,
        question: &str,
        answerer: &mut Answerer,
    ) -> Result<CaseAnswer, JsonError> {
        let outside = answerer.outside.iter().find(|(family, _)| *family == self.name);
        match (outside, self.answer) {
            (Some((_, answer)), _) => answer(question),
            (None, Some(answer)) => answer(question, answerer),
            (None, None) => {
                Ok(CaseAnswer::Skip(format!("no executor for the family {}", self.name)))
            }
        }
    }
}

/// The expectation of a case.
#[derive(Clone, Copy)]
pub(crate) struct CaseExpectation<'c> {
    /// The whole case.
    pub(crate) case: &'c str,
    /// The expected answer as it is written in the case.
    pub(crate) answer: &'c str,
}

/// Why an answer could not be compared.
#[derive(Debug)]
pub(crate) enum Uncomparable {
    /// The case is not one of its family.
    Case(JsonError),
    /// The answer is not one of its family.
    Answer(JsonError),
}

/// Answers a question of a family that this crate has no executor for.
pub type OutsideAnswer = fn(question: &str) -> Result<CaseAnswer, JsonError>;

/// Our own executors, which answer questions.
pub struct Answerer {
    pub(crate) executor: Executor,
    pub(crate) memories: PatternMemories,
    pub(crate) registers: TensorRegisters,
    outside: Vec<(&'static str, OutsideAnswer)>,
}

impl Answerer {
    /// Creates an answerer that executes vectors with that executor.
    #[must_use]
    pub fn new(executor: Executor) -> Self {
        let (memories, registers) = (PatternMemories::default(), TensorRegisters::new());
        Self { executor, memories, registers, outside: Vec::new() }
    }

    /// Answers a family with this function. Without one, `traces` is skipped, whose questions name files.
    #[must_use]
    pub fn answering(mut self, family: &'static str, answer: OutsideAnswer) -> Self {
        self.outside.push((family, answer));
        self
    }
}

/// An answer, of which there is one to each question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseAnswer {
    /// JSON on one line.
    Known(String),
    /// The question is not answered, and why.
    Skip(String),
    /// The text is not a question of its family.
    Error(String),
}

impl CaseAnswer {
    /// Creates an answer from its value.
    #[must_use]
    pub fn new(answer: &impl Serialize) -> Self {
        serde_json::to_string(answer)
            .map_or_else(|error| Self::Error(error.to_string()), Self::Known)
    }

    /// Returns the answer as it is written, one line without its end.
    #[must_use]
    pub fn into_json(self) -> String {
        let object = |key: &str, text: String| serde_json::json!({ key: text }).to_string();
        match self {
            Self::Known(json) => json,
            Self::Skip(reason) => object("skip", reason),
            Self::Error(message) => object("error", message),
        }
    }
}

/// A case that our own executors have run: how the result differs from the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedCase {
    /// Its name; may be empty.
    pub name: String,
    /// The differences, one line each; empty if there are none.
    pub differences: Vec<String>,
}
