//! `tensor-memory`: loads from Tensor Memory. Their JSON is in [`tensor_case`](crate::tensor_case).

use crate::json::JsonError;

use super::family::{Answerer, CaseAnswer, CaseExpectation, Uncomparable};
use crate::tensor_case::{ExpectedTensorLoad, TensorCase};

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
    Ok(CaseAnswer::new(&case.answer(&answerer.memories, &mut answerer.registers)))
}
