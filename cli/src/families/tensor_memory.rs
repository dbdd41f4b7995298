//! `tensor-memory`: the cases of `tmem test`, whose `expect` is the answer.

use warpload::json::JsonError;
use warpload_ptx::tensor::cases::{Case, Expected as Outcome};

use super::family::{Answer, Answerer, Expected, Uncomparable};

pub(super) fn compare(expected: &Expected<'_>, answer: &str) -> Result<Vec<String>, Uncomparable> {
    let case = Case::from_json(expected.case).map_err(Uncomparable::Case)?;
    let got = Outcome::from_json(answer).map_err(Uncomparable::Answer)?;
    Ok(case.compare(&got).iter().map(ToString::to_string).collect())
}

pub(super) fn answer(question: &str, answerer: &mut Answerer) -> Result<Answer, JsonError> {
    let case = Case::from_json(question)?;
    Ok(Answer::new(&case.answer(&answerer.memories, &mut answerer.registers)))
}
