//! [`CaseFamily`]: the functions of a family, which answer its questions and compare answers with expectations; and the
//! types of their arguments and results.

use std::path::Path;

use super::object::JsonObject;
use crate::explain::CaseSubject;
use crate::json::JsonError;
use crate::outcome::CaseFailure;
use serde::Serialize;
use warpload::load::Executor;
use warpload_ptx::tensor::TensorRegisters;
use warpload_trace::BinaryTrace;

use crate::tensor_case::PatternMemories;

/// A family of cases.
pub struct CaseFamily {
    /// The value of `family` in a case.
    pub name: &'static str,
    /// The key of a case with the expected answer. It is not part of the question.
    pub expectation: &'static str,
    /// The key of a question that names a file, relative to the case's own.
    pub(crate) file: Option<&'static str>,
    /// Returns the instruction and the SM of a case; `None` if the family's cases have no instruction.
    pub(crate) subject: Option<SubjectOf>,
    /// The flags of cases without anything special. They are never given as the explanation of failures.
    pub(crate) plain: &'static [&'static str],
    /// Returns the differences of an answer from the expectation of a case, one line each.
    pub(crate) compare: fn(&CaseExpectation<'_>, answer: &str) -> Result<Vec<String>, Uncomparable>,
    /// Answers a question.
    pub(super) answer: AnswerQuestion,
}

type SubjectOf = fn(&JsonObject<'_>) -> Option<CaseSubject>;
type AnswerQuestion = fn(question: &str, &mut Answerer) -> Result<CaseAnswer, JsonError>;

impl CaseFamily {
    /// Creates a family with the expectation `expect` and without files.
    pub(super) const fn new(
        name: &'static str,
        compare: fn(&CaseExpectation<'_>, &str) -> Result<Vec<String>, Uncomparable>,
        answer: AnswerQuestion,
    ) -> Self {
        let (file, subject) = (None, None);
        Self { name, expectation: "expect", file, subject, plain: &[], compare, answer }
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
}

/// The expectation of a case.
#[derive(Clone, Copy)]
pub(crate) struct CaseExpectation<'c> {
    /// The whole case.
    pub(crate) case: &'c str,
    /// The expected answer, as written in the case.
    pub(crate) answer: &'c str,
}

/// The reason why an answer could not be compared.
#[derive(Debug)]
pub(crate) enum Uncomparable {
    /// The case is malformed.
    Case(JsonError),
    /// The case's expected answer is malformed.
    Expected(JsonError),
    /// The answer is malformed.
    Answer(JsonError),
}

/// Opens the trace in a file.
pub type OpenTrace = fn(&Path) -> Result<BinaryTrace, UnopenedTrace>;

/// The reason why a trace cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnopenedTrace {
    /// The file is not a trace, or is damaged.
    Refused,
    /// Another failure, for example an unreadable file.
    Failed(String),
}

/// Our own executors, which answer questions.
pub struct Answerer {
    pub(crate) executor: Executor,
    pub(crate) memories: PatternMemories,
    pub(crate) registers: TensorRegisters,
    pub(crate) open: Option<OpenTrace>,
}

impl Answerer {
    /// Creates an answerer that executes vectors with this executor.
    #[must_use]
    pub fn new(executor: Executor) -> Self {
        let (memories, registers) = (PatternMemories::default(), TensorRegisters::new());
        Self { executor, memories, registers, open: None }
    }

    /// Sets the function that opens traces. Without it, `traces` is skipped: opening a text trace imports it into a
    /// file, and only the caller knows a place for that.
    #[must_use]
    pub fn opening(self, open: OpenTrace) -> Self {
        Self { open: Some(open), ..self }
    }
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseAnswer {
    /// JSON on one line.
    Known(String),
    /// The question is not answered, for this reason.
    Skip(String),
    /// The question is malformed.
    Error(String),
}

impl CaseAnswer {
    /// Creates an answer from its value.
    #[must_use]
    pub fn new(answer: &impl Serialize) -> Self {
        serde_json::to_string(answer)
            .map_or_else(|error| Self::Error(error.to_string()), Self::Known)
    }

    /// Reads an answer from its line.
    ///
    /// # Errors
    /// Returns the failure of the case if the line is not a JSON object, or its `skip` or `error` is not a text.
    pub fn from_line(line: &[u8]) -> Result<CaseAnswer, CaseFailure> {
        let answer = std::str::from_utf8(line).map_err(|error| {
            let column = error.valid_up_to() + 1;
            CaseFailure::wrong_line(format!("answer: column {column}: not UTF-8"))
        })?;
        let object = JsonObject::from_json(answer)
            .map_err(|error| CaseFailure::unreadable_answer(&error))?;
        if let Some(reason) = object.only("skip") {
            let reason = serde_json::from_str(reason);
            let wrong = "answer: skip: expected the reason, a text";
            return reason.map(CaseAnswer::Skip).map_err(|_| CaseFailure::wrong_line(wrong));
        }
        if let Some(message) = object.only("error") {
            let message = serde_json::from_str(message);
            let wrong = "answer: error: expected the message, a text";
            return message.map(CaseAnswer::Error).map_err(|_| CaseFailure::wrong_line(wrong));
        }
        Ok(CaseAnswer::Known(answer.to_owned()))
    }

    /// Returns the answer as one line of JSON, without a line end.
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
