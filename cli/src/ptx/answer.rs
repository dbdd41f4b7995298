//! Answers the questions of the family `ptx-execute`, as `ptx run` executes loads.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use warpload::json::{self, JsonError};
use warpload::machine::Machine;
use warpload_suite::families::{CaseAnswer, UNCOMPARED_KEYS};
use warpload_suite::image::machine_from_json;

use super::file::with_source;
use super::run::{self, Given};
use crate::diagnostic;
use crate::io::Output;
use crate::process::Status;

/// A function and what it is executed on. Other keys change nothing.
#[derive(Deserialize)]
struct Question<'q> {
    #[serde(borrow)]
    module: Cow<'q, str>,
    #[serde(default)]
    function: Option<String>,
    /// A memory image manifest that holds all bytes.
    #[serde(borrow, default)]
    initial: Option<&'q RawValue>,
    #[serde(default)]
    registers: BTreeMap<String, Values>,
    #[serde(default)]
    parameters: BTreeMap<String, Values>,
    /// Addresses of variables.
    #[serde(default)]
    places: BTreeMap<String, Values>,
    #[serde(default)]
    active: Option<String>,
    /// A pattern's name.
    #[serde(default)]
    tensor_memory: Option<String>,
    #[serde(default)]
    warp: u32,
    #[serde(default)]
    lane_mode: Option<String>,
}

/// One value, or one for each lane or element.
#[derive(Deserialize)]
#[serde(untagged)]
enum Values {
    One(String),
    Each(Vec<String>),
}

impl Values {
    fn into_text(self) -> String {
        match self {
            Self::One(value) => value,
            Self::Each(values) => values.join(","),
        }
    }
}

/// Answers a question.
pub(crate) fn answer(question: &str) -> Result<CaseAnswer, JsonError> {
    let mut loads = run(json::from_str(question)?)?;
    for load in loads.iter_mut().filter_map(Value::as_object_mut) {
        load.retain(|key, _| !UNCOMPARED_KEYS.contains(&&**key));
        // The wording of messages is not part of an answer.
        if let Some(error) = load.get_mut("error") {
            *error = Value::Bool(true);
        }
        if let Some(fault) = load.get_mut("tensor_fault").and_then(Value::as_object_mut) {
            fault.retain(|key, _| key != "message");
        }
    }
    Ok(CaseAnswer::new(&serde_json::json!({ "loads": loads })))
}

/// Executes the loads of a function; returns the objects of `ptx run --format json`, one for each.
fn run(question: Question<'_>) -> Result<Vec<Value>, JsonError> {
    let machine = question.initial.map_or_else(
        || Ok(Machine::default()),
        |manifest| {
            machine_from_json(manifest.get()).map_err(|error| {
                let key = error.key.map_or("initial".to_owned(), |key| format!("initial.{key}"));
                JsonError { key: Some(key), ..error }
            })
        },
    )?;
    let pairs = |values: BTreeMap<String, Values>| {
        values.into_iter().map(|(name, values)| (name, values.into_text())).collect()
    };
    let arguments = run::arguments(Given {
        function: question.function,
        set: pairs(question.registers),
        parameter: pairs(question.parameters),
        place: pairs(question.places),
        active: question.active.as_deref(),
        pattern: question.tensor_memory.as_deref(),
        warp: question.warp,
        lane_mode: question.lane_mode.as_deref(),
    });
    let arguments = arguments.map_err(|(key, message)| JsonError::at(key, message))?;
    let mut output = Output::captured();
    let (ran, messages) = diagnostic::collect(|| {
        with_source("module", &question.module, &mut output, |file, output| {
            run::run_file(&arguments, machine, file, output)
        })
    });
    let failed = |message: String| JsonError { key: None, position: None, message };
    let status = ran.map_err(|error| failed(format!("{error:#}")))?;
    let found: Option<Found> = serde_json::from_slice(&output.into_captured()).ok();
    match found {
        Some(Found { loads }) if status != Status::Unreadable => Ok(loads),
        _ => {
            Err(failed(messages.into_iter().next().map_or("no loads".into(), |first| first.title)))
        }
    }
}

#[derive(Deserialize)]
struct Found {
    loads: Vec<Value>,
}
