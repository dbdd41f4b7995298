//! `ptx-execute`: executes the loads of a function, or [launches](super::ptx_launch) a kernel.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use warpload::json::{self, JsonError};
use warpload::lane::LaneMask;
use warpload::machine::Machine;
use warpload_ptx::read;
use warpload_ptx::run::{Launch, LoadReport, WarpTensorMemory};
use warpload_ptx::syntax::{LineIndex, integer};
use warpload_ptx::tensor::{LaneMode, Pattern, Rules, TensorMemory};

use super::family::{Answerer, CaseAnswer, CaseExpectation, Uncomparable};
use super::object::{JsonObject, differences};
use super::ptx_launch;
use crate::image::machine_from_json;
use crate::text::with_causes;

/// A function and its input. Other keys are ignored.
#[derive(Deserialize)]
struct Question<'q> {
    #[serde(borrow)]
    module: Cow<'q, str>,
    #[serde(default)]
    function: Option<String>,
    /// A memory image manifest with all bytes inline.
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
    /// The name of a pattern.
    #[serde(default)]
    tensor_memory: Option<String>,
    #[serde(default)]
    warp: u32,
    #[serde(default)]
    lane_mode: Option<String>,
}

/// A single value, or one for each lane or element.
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

/// The keys of a load that are not compared. `line` already identifies its place, and the rounded lanes follow from the
/// addresses.
const UNCOMPARED_KEYS: [&str; 3] = ["column", "rounded", "text"];

/// Whether a case or a question launches a kernel, rather than executing single loads.
fn is_launch(text: &str) -> Result<bool, JsonError> {
    Ok(JsonObject::from_json(text)?.get("grid").is_some())
}

pub(super) fn compare(
    expected: &CaseExpectation<'_>,
    answer: &str,
) -> Result<Vec<String>, Uncomparable> {
    if is_launch(expected.case).map_err(Uncomparable::Case)? {
        return ptx_launch::compare(expected, answer);
    }
    let expected: Value = json::from_str(expected.answer).map_err(Uncomparable::Expected)?;
    let got: Value = json::from_str(answer).map_err(Uncomparable::Answer)?;
    Ok(differences(&expected, &got, |key| UNCOMPARED_KEYS.contains(&key)))
}

pub(super) fn answer(question: &str, _: &mut Answerer) -> Result<CaseAnswer, JsonError> {
    if is_launch(question)? {
        return ptx_launch::answer(question);
    }
    let mut loads = run(json::from_str(question)?)?;
    for load in loads.iter_mut().filter_map(Value::as_object_mut) {
        load.retain(|key, _| !UNCOMPARED_KEYS.contains(&&**key));
        // Only the presence of an error is compared, because emulators word their messages differently.
        if let Some(error) = load.get_mut("error") {
            *error = Value::Bool(true);
        }
        if let Some(fault) = load.get_mut("tensor_fault").and_then(Value::as_object_mut) {
            fault.retain(|key, _| key != "message");
        }
    }
    Ok(CaseAnswer::new(&serde_json::json!({ "loads": loads })))
}

/// Executes the loads of a function. The results are the objects of `ptx loads --format json`, one for each load.
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
    let tensor = question.tensor()?;
    let mut launch = Launch::default();
    launch.function = question.function;
    launch.registers = pairs(question.registers);
    launch.parameters = pairs(question.parameters);
    launch.places = pairs(question.places);
    if let Some(text) = &question.active {
        let mask = integer(text).and_then(|mask| u32::try_from(mask).ok());
        let wrong = || JsonError::at("active", "expected a mask of 32 bits");
        launch.active = mask.map(LaneMask::from_bits).ok_or_else(wrong)?;
    }
    launch.tensor = tensor;
    let failed = |message: String| JsonError { key: None, position: None, message };
    let module = read(&question.module).map_err(|error| failed(error.kind.to_string()))?;
    let lines = LineIndex::new(&question.module);
    let mut run = launch.prepare(&module, machine).map_err(|error| failed(with_causes(&error)))?;
    let mut loads = Vec::new();
    let each = run.each(|step| {
        let report = LoadReport::new(&module, &lines, step);
        loads.extend(report.map(serde_json::to_value).transpose()?);
        Ok::<_, serde_json::Error>(())
    });
    each.map_err(|error| failed(error.to_string()))?;
    Ok(loads)
}

impl Question<'_> {
    /// The Tensor Memory of the question, if it has any.
    fn tensor(&self) -> Result<Option<WarpTensorMemory>, JsonError> {
        let lane_mode: Option<LaneMode> = self
            .lane_mode
            .as_deref()
            .map(str::parse)
            .transpose()
            .map_err(|_| JsonError::at("lane_mode", "expected `strict` or `wrap`"))?;
        let Some(name) = &self.tensor_memory else { return Ok(None) };
        let pattern: Pattern = name.parse().map_err(|_| {
            let names = Pattern::ALL.map(Pattern::name).join(", ");
            JsonError::at("tensor_memory", format!("unknown pattern; expected one of {names}"))
        })?;
        let rules = Rules::default().lane_mode(lane_mode.unwrap_or_default());
        let memory = TensorMemory::filled(pattern);
        Ok(Some(WarpTensorMemory::new(memory, self.warp).rules(rules)))
    }
}
