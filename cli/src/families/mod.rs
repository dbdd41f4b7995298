//! The families of the conformance suite (docs/conformance.md): [`FAMILIES`] is the list. A family says how
//! its questions are answered and how an answer is compared with what a case expects.

mod coalescing;
mod execute;
mod family;
mod object;
mod ptx;
mod tensor_memory;
mod traces;
mod value;
mod word;

use std::borrow::Cow;

use warpload::json::JsonError;

pub(crate) use self::family::{Answer, Answerer, Expected, Family, Uncomparable};
pub(crate) use self::object::{Object, quoted};

/// The families. Another one is a row of this table and a file beside this one.
pub(crate) const FAMILIES: [Family; 8] = [
    Family::new("execute", execute::compare, execute::answer).expecting("final"),
    Family::new("decode", word::compare_text, word::decode),
    Family::new("encode", word::compare_word, word::encode),
    Family::new("ptx-legality", ptx::compare_legality, ptx::check),
    Family::new("ptx-execute", ptx::compare_loads, ptx::execute),
    Family::new("tensor-memory", tensor_memory::compare, tensor_memory::answer),
    Family::new("coalescing", coalescing::compare, coalescing::answer),
    Family::new("traces", traces::compare, traces::answer).with_file("file"),
];

/// Returns the family of a case or a question: that of `execute` is a vector, which names none.
pub(crate) fn family_of(object: &Object<'_>) -> Result<&'static Family, JsonError> {
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
pub(crate) fn answer(question: &str, answerer: &mut Answerer) -> Answer {
    let answer = Object::from_json(question)
        .and_then(|object| family_of(&object))
        .and_then(|family| (family.answer)(question, answerer));
    answer.unwrap_or_else(|error| Answer::Error(error.to_string()))
}
