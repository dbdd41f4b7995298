//! [`Family`]: how the questions of a family are answered and how an answer is compared with what a case
//! expects; and what its functions take and return.

use serde::Serialize;
use warpload::json::JsonError;
use warpload::load::Executor;
use warpload_ptx::tensor::Registers;
use warpload_ptx::tensor::cases::PatternMemories;

/// A family of cases.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// The key of a case that is not part of the question: what the answer should be.
    pub(crate) expectation: &'static str,
    /// The key of a question that names a file, relative to that of the case.
    pub(crate) file: Option<&'static str>,
    /// Returns how an answer differs from what a case expects, one line each.
    pub(crate) compare: fn(&Expected<'_>, answer: &str) -> Result<Vec<String>, Uncomparable>,
    /// Answers a question.
    pub(crate) answer: fn(question: &str, &mut Answerer) -> Result<Answer, JsonError>,
}

impl Family {
    /// A family whose cases have the key `expect`, and whose questions name no file.
    pub(super) const fn new(
        name: &'static str,
        compare: fn(&Expected<'_>, &str) -> Result<Vec<String>, Uncomparable>,
        answer: fn(&str, &mut Answerer) -> Result<Answer, JsonError>,
    ) -> Self {
        Self { name, expectation: "expect", file: None, compare, answer }
    }

    pub(super) const fn expecting(self, expectation: &'static str) -> Self {
        Self { expectation, ..self }
    }

    pub(super) const fn with_file(self, key: &'static str) -> Self {
        Self { file: Some(key), ..self }
    }
}

/// What a case expects.
#[derive(Clone, Copy)]
pub(crate) struct Expected<'c> {
    /// The whole case.
    pub(crate) case: &'c str,
    /// What the answer should be, as it is written in the case.
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

/// What questions are answered with.
pub(crate) struct Answerer {
    pub(super) executor: Executor,
    pub(super) memories: PatternMemories,
    pub(super) registers: Registers,
}

impl Answerer {
    pub(crate) fn new(executor: Executor) -> Self {
        let (memories, registers) = (PatternMemories::default(), Registers::new());
        Self { executor, memories, registers }
    }
}

/// An answer, of which there is one to each question.
pub(crate) enum Answer {
    /// JSON on one line.
    Known(String),
    /// The question is not answered, and why.
    Skip(String),
    /// The text is not a question of its family.
    Error(String),
}

impl Answer {
    pub(super) fn new(answer: &impl Serialize) -> Self {
        serde_json::to_string(answer)
            .map_or_else(|error| Self::Error(error.to_string()), Self::Known)
    }

    /// Returns the answer as it is written, one line.
    pub(crate) fn into_json(self) -> String {
        let object = |key: &str, text: String| serde_json::json!({ key: text }).to_string();
        match self {
            Self::Known(json) => json,
            Self::Skip(reason) => object("skip", reason),
            Self::Error(message) => object("error", message),
        }
    }
}
