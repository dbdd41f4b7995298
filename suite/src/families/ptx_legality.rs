//! `ptx-legality`: the legality of a module's loads.

use std::borrow::Cow;

use serde::Deserialize;
use warpload::json::{self, JsonError};
use warpload_ptx::rules::Unit;
use warpload_ptx::{check_as, read};

use super::family::{Answerer, CaseAnswer, CaseExpectation, Uncomparable};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdict {
    accept: bool,
}

pub(super) fn compare(
    expected: &CaseExpectation<'_>,
    answer: &str,
) -> Result<Vec<String>, Uncomparable> {
    let CaseExpectation { case, answer: accepted } = *expected;
    let expected: Verdict = json::from_str(accepted).map_err(Uncomparable::Expected)?;
    let got: Verdict = json::from_str(answer).map_err(Uncomparable::Answer)?;
    let word = |verdict: &Verdict| if verdict.accept { "accepted" } else { "refused" };
    Ok(match expected.accept == got.accept {
        true => Vec::new(),
        false => {
            let difference = format!("expected {}, got {}", word(&expected), word(&got));
            std::iter::once(difference).chain(judged_loads(case)).collect()
        }
    })
}

/// The loads of the case's module, each with the first rule that it breaks.
fn judged_loads(case: &str) -> Vec<String> {
    let Ok(ModuleQuestion { module }) = json::from_str(case) else { return Vec::new() };
    let Ok(module) = read(&module) else { return Vec::new() };
    let judged = check_as(&module, Unit::Program).map(|verdict| {
        let words: Vec<&str> = module.text(verdict.span).split_whitespace().collect();
        let load = words.join(" ");
        match verdict.violations.first() {
            Some(violation) => format!("{load}: {violation}"),
            None => load,
        }
    });
    judged.take(MAX_LOADS).collect()
}

/// The number of loads of a module that are shown.
const MAX_LOADS: usize = 4;

#[derive(Deserialize)]
struct ModuleQuestion<'q> {
    #[serde(borrow)]
    module: Cow<'q, str>,
}

pub(super) fn answer(question: &str, _: &mut Answerer) -> Result<CaseAnswer, JsonError> {
    let ModuleQuestion { module } = json::from_str(question)?;
    let accept = read(&module)
        .is_ok_and(|module| check_as(&module, Unit::Program).all(|verdict| verdict.is_legal()));
    Ok(CaseAnswer::new(&serde_json::json!({ "accept": accept })))
}
