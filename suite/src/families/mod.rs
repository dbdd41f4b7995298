//! The families of the conformance suite (docs/conformance.md). A family answers its questions by our own executors,
//! and compares an answer with the expectation of a case. To add one, add a row to [`FAMILIES`] and a file beside this
//! one.

mod coalescing;
pub mod execute;
mod family;
mod object;
mod ptx_execute;
mod ptx_launch;
mod ptx_legality;
mod tensor_memory;
pub mod traces;
mod word;

use std::borrow::Cow;

use crate::json::JsonError;

pub use self::family::{Answerer, CaseAnswer, CaseFamily, OpenTrace, UnopenedTrace};
pub(crate) use self::family::{CaseExpectation, Uncomparable};
pub(crate) use self::object::{JsonObject, quoted};

/// The families, in the order of reports.
pub const FAMILIES: [CaseFamily; 8] = [
    CaseFamily::new("execute", execute::compare, execute::answer)
        .expecting("final")
        .about(execute::subject)
        .with_plain(&["all-lanes", "distinct-words"]),
    CaseFamily::new("decode", word::compare_text, word::decode)
        .about(|case| word::subject(case, "word")),
    CaseFamily::new("encode", word::compare_word, word::encode)
        .about(|case| word::subject(case, "text")),
    CaseFamily::new("ptx-legality", ptx_legality::compare, ptx_legality::answer),
    CaseFamily::new("ptx-execute", ptx_execute::compare, ptx_execute::answer),
    CaseFamily::new("tensor-memory", tensor_memory::compare, tensor_memory::answer),
    CaseFamily::new("coalescing", coalescing::compare, coalescing::answer),
    CaseFamily::new("traces", traces::compare, traces::answer).with_file("file"),
];

/// The family of a case or a question. Vectors and cases of Tensor Memory need not name theirs: without `family`, an
/// object with an `instruction` is of `execute`, one with a `taddr` of `tensor-memory`.
pub(crate) fn family_of(object: &JsonObject<'_>) -> Result<&'static CaseFamily, JsonError> {
    let Some(name) = object.read::<Cow<'_, str>>("family")? else {
        let unnamed = [("instruction", "execute"), ("taddr", "tensor-memory")];
        let found = unnamed.iter().find(|(key, _)| object.get(key).is_some());
        let family = |(_, name): &(_, &str)| FAMILIES.iter().find(|family| family.name == *name);
        return found.and_then(family).ok_or_else(|| {
            JsonError::at("family", "missing key, and no `instruction` as a vector has")
        });
    };
    FAMILIES.iter().find(|family| family.name == name).ok_or_else(|| {
        let names = FAMILIES.map(|family| family.name).join(", ");
        JsonError::at("family", format!("unknown family {name:?}; expected one of {names}"))
    })
}

/// Answers a question. A text that is not a question is answered with an error.
pub fn answer(question: &str, answerer: &mut Answerer) -> CaseAnswer {
    let answer = JsonObject::from_json(question)
        .and_then(|object| family_of(&object))
        .and_then(|family| (family.answer)(question, answerer));
    answer.unwrap_or_else(|error| CaseAnswer::Error(error.to_string()))
}
