//! The families of the conformance suite (docs/conformance.md): [`FAMILIES`] is the list. A family says how
//! its questions are answered and how an answer is compared with the expectation of a case. Another family is a
//! row of that list and a file beside this one.

mod coalescing;
pub mod execute;
mod object;
mod ptx;
pub mod tensor_memory;
mod traces;
mod value;
mod word;

use std::borrow::Cow;

use crate::json::JsonError;
use serde::Serialize;
use warpload::load::Executor;
use warpload_ptx::tensor::Registers;

pub(crate) use self::object::{JsonObject, quoted};
pub use self::ptx::UNCOMPARED_KEYS;
use crate::tensor_case::PatternMemories;

/// The families, in the order of reports.
pub const FAMILIES: [CaseFamily; 8] = [
    CaseFamily::new("execute", execute::compare).answered(execute::answer).expecting("final"),
    CaseFamily::new("decode", word::compare_text).answered(word::decode),
    CaseFamily::new("encode", word::compare_word).answered(word::encode),
    CaseFamily::new("ptx-legality", ptx::compare_legality).answered(ptx::check),
    CaseFamily::new("ptx-execute", ptx::compare_loads),
    CaseFamily::new("tensor-memory", tensor_memory::compare).answered(tensor_memory::answer),
    CaseFamily::new("coalescing", coalescing::compare).answered(coalescing::answer),
    CaseFamily::new("traces", traces::compare).with_file("file"),
];

/// A family of cases.
pub struct CaseFamily {
    /// The value of `family` in a case.
    pub name: &'static str,
    /// The key of a case that is not part of the question: the answer that is expected.
    pub expectation: &'static str,
    /// The key of a question that names a file, relative to that of the case.
    pub(crate) file: Option<&'static str>,
    /// Returns how an answer differs from the expectation of a case, one line each.
    pub(crate) compare: fn(&CaseExpectation<'_>, answer: &str) -> Result<Vec<String>, Uncomparable>,
    /// Answers a question. `None` if it takes files or an interpreter that this crate does not have:
    /// [`Answerer::answering`].
    answer: Option<AnswerQuestion>,
}

type AnswerQuestion = fn(question: &str, &mut Answerer) -> Result<CaseAnswer, JsonError>;

impl CaseFamily {
    /// A family whose cases have the key `expect`, and whose questions name no file.
    const fn new(
        name: &'static str,
        compare: fn(&CaseExpectation<'_>, &str) -> Result<Vec<String>, Uncomparable>,
    ) -> Self {
        Self { name, expectation: "expect", file: None, compare, answer: None }
    }

    const fn answered(self, answer: AnswerQuestion) -> Self {
        Self { answer: Some(answer), ..self }
    }

    const fn expecting(self, expectation: &'static str) -> Self {
        Self { expectation, ..self }
    }

    const fn with_file(self, key: &'static str) -> Self {
        Self { file: Some(key), ..self }
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
    pub(crate) registers: Registers,
    outside: Vec<(&'static str, OutsideAnswer)>,
}

impl Answerer {
    /// Creates an answerer that executes vectors with that executor.
    #[must_use]
    pub fn new(executor: Executor) -> Self {
        let (memories, registers) = (PatternMemories::default(), Registers::new());
        Self { executor, memories, registers, outside: Vec::new() }
    }

    /// Answers a family with this function. `ptx-execute` and `traces` are skipped without one.
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

/// Returns the family of a case or a question: that of `execute` is a vector, which names none.
pub(crate) fn family_of(object: &JsonObject<'_>) -> Result<&'static CaseFamily, JsonError> {
    let Some(name) = object.read::<Cow<'_, str>>("family")? else {
        let is_vector = object.get("instruction").is_some();
        return FAMILIES.iter().find(|family| is_vector && family.name == "execute").ok_or_else(
            || JsonError::at("family", "missing key, and no `instruction` as a vector has"),
        );
    };
    FAMILIES.iter().find(|family| family.name == name).ok_or_else(|| {
        let names = FAMILIES.map(|family| family.name).join(", ");
        JsonError::at("family", format!("unknown family {name:?}; expected one of {names}"))
    })
}

/// Answers a question, whatever the text is.
pub fn answer(question: &str, answerer: &mut Answerer) -> CaseAnswer {
    let answer = JsonObject::from_json(question)
        .and_then(|object| family_of(&object))
        .and_then(|family| family.answer(question, answerer));
    answer.unwrap_or_else(|error| CaseAnswer::Error(error.to_string()))
}

impl CaseFamily {
    fn answer(&self, question: &str, answerer: &mut Answerer) -> Result<CaseAnswer, JsonError> {
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
