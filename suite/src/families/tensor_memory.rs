//! `tensor-memory`: loads from Tensor Memory. Their JSON is in [`tensor_case`](crate::tensor_case).

use crate::json::JsonError;

use super::family::{Answerer, CaseAnswer, CaseExpectation, CheckedCase, Uncomparable};
use crate::tensor_case::{Confidence, ExpectedTensorLoad, TensorCase};

pub(super) fn compare(
    expected: &CaseExpectation<'_>,
    answer: &str,
) -> Result<Vec<String>, Uncomparable> {
    let case = TensorCase::from_json(expected.case).map_err(Uncomparable::Case)?;
    let got = ExpectedTensorLoad::from_json(answer).map_err(Uncomparable::Answer)?;
    Ok(case.compare(&got))
}

pub(super) fn answer(question: &str, answerer: &mut Answerer) -> Result<CaseAnswer, JsonError> {
    let case = TensorCase::from_json(question)?;
    let mut answer = case.answer(&answerer.memories, &mut answerer.registers);
    if let ExpectedTensorLoad::Loaded(registers) = &mut answer {
        // The digest stands for all registers and keeps the answer short.
        registers.all = None;
    }
    Ok(CaseAnswer::new(&answer))
}

/// Executes a case and compares register by register. Returns `None` for an inferred case if `skip_inferred` is set.
///
/// # Errors
/// Returns [`JsonError`] if the line is not a case.
pub fn check(
    line: &str,
    skip_inferred: bool,
    answerer: &mut Answerer,
) -> Result<Option<CheckedCase>, JsonError> {
    let case = TensorCase::from_json(line)?;
    if skip_inferred && case.confidence == Confidence::Inferred {
        return Ok(None);
    }
    let differences = case.check(&answerer.memories, &mut answerer.registers);
    let differences = match &case.expected {
        Some(_) => differences,
        None => vec!["expect: missing key; expected the outcome".to_owned()],
    };
    Ok(Some(CheckedCase { name: case.id, differences }))
}
