//! `execute`: vectors, with `final` as the answer; and checking vectors with both executors at once.

use std::borrow::Cow;

use crate::explain::CaseSubject;
use crate::json::JsonError;
use crate::vector::{Final, Vector};
use serde_json::value::RawValue;
use warpload::encoding::Sm;
use warpload::load::{ExecuteError, Executor};

use super::family::{Answerer, CaseAnswer, CaseExpectation, Uncomparable};
use super::object::JsonObject;
use super::word;

pub(super) fn compare(
    expected: &CaseExpectation<'_>,
    answer: &str,
) -> Result<Vec<String>, Uncomparable> {
    let vector = Vector::from_json(expected.case).map_err(Uncomparable::Case)?;
    let got = Final::from_json(answer).map_err(Uncomparable::Answer)?;
    Ok(vector.compare(&got))
}

/// The instruction of a vector and its SM.
pub(super) fn subject(case: &JsonObject<'_>) -> Option<CaseSubject> {
    let text: Cow<'_, str> = case.read("instruction").ok()??;
    let initial = case.read::<JsonObject<'_>>("initial").ok()?;
    let sm = initial.and_then(|initial| initial.read::<Cow<'_, str>>("sm").ok()?);
    let sm = sm.map_or(Ok(Sm::SPA5), |sm| word::read_sm(&sm)).ok()?;
    word::subject_of(&text, sm)
}

pub(super) fn answer(question: &str, answerer: &mut Answerer) -> Result<CaseAnswer, JsonError> {
    let vector = Vector::from_json(question)?;
    Ok(match vector.run(answerer.executor) {
        Ok((after, outcome)) => CaseAnswer::new(&vector.observed(&after, &outcome)),
        Err(error) => CaseAnswer::Skip(error.to_string()),
    })
}

/// Executes a vector with each of these executors. They must meet its expectation and agree with each other. Returns the
/// differences, one line each.
///
/// # Errors
/// Returns [`JsonError`] if the line is not a vector.
pub fn check(line: &str, executors: &[Executor]) -> Result<Vec<String>, JsonError> {
    Ok(differences(executors, &Vector::from_json(line)?))
}

/// Executes a vector with both executors, and returns its line with the result of the literal one as `final`. The rest
/// of the line is unchanged.
///
/// # Errors
/// Returns [`JsonError`] if the line is not a vector, or cannot be executed.
pub fn fill_in(line: &str) -> Result<String, JsonError> {
    let vector = Vector::from_json(line)?;
    filled_in(line, &vector).map_err(|message| JsonError { key: None, position: None, message })
}

/// The key that filling in replaces.
#[derive(serde::Deserialize)]
struct Replaced<'l> {
    #[serde(borrow, rename = "final")]
    expected: Option<&'l RawValue>,
}

/// The error is a message.
fn filled_in(line: &str, vector: &Vector) -> Result<String, String> {
    let run = |executor| vector.run(executor).map_err(|error| error.to_string());
    let (after, outcome) = run(Executor::Reference)?;
    if run(Executor::Fast)? != (after.clone(), outcome.clone()) {
        return Err(EXECUTORS_DIFFER.to_owned());
    }
    let observed = serde_json::to_string(&vector.observed(&after, &outcome));
    let observed = observed.map_err(|error| error.to_string())?;
    let replaced: Replaced<'_> = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let filled = match replaced.expected.map(RawValue::get) {
        // The old value borrows from the line, so its address gives its place.
        Some(old) => old.as_ptr().addr().checked_sub(line.as_ptr().addr()).and_then(|start| {
            let (before, after) = (line.get(..start)?, line.get(start + old.len()..)?);
            Some(format!("{before}{observed}{after}"))
        }),
        // The object is not empty, because `instruction` is always there, so a comma is needed.
        None => line
            .trim_end()
            .strip_suffix('}')
            .map(|open| format!("{}, \"final\": {observed}}}", open.trim_end())),
    };
    filled.ok_or_else(|| "expected one JSON object on the line".to_owned())
}

const EXECUTORS_DIFFER: &str = "the executors differ";

/// The differences of the outcomes from the expected one, and whether two executors disagree.
fn differences(executors: &[Executor], vector: &Vector) -> Vec<String> {
    if vector.expected.is_none() {
        return vec!["final: missing key; expected the state after".to_owned()];
    }
    let named = |executor: &Executor| Ok((executor.name(), vector.check(*executor)?));
    let found: Result<Vec<(&str, Vec<String>)>, ExecuteError> =
        executors.iter().map(named).collect();
    let mut found = match found {
        Ok(found) => found,
        Err(error) => return vec![error.to_string()],
    };
    // A difference of both is reported once.
    if let [(_, first), (_, second)] = &mut found[..]
        && first == second
    {
        found = vec![("both", std::mem::take(first))];
    }
    let mut differences: Vec<String> = found
        .iter()
        .flat_map(|(name, found)| found.iter().map(move |found| format!("{name}: {found}")))
        .collect();
    if let [first, second] = executors
        && vector.run(*first) != vector.run(*second)
    {
        // Inserted first, because only the first differences are shown.
        differences.insert(0, EXECUTORS_DIFFER.to_owned());
    }
    differences
}
