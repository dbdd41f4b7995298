//! `execute`: vectors, whose `final` is the answer.

use warpload::json::JsonError;
use warpload_suite::vector::{Final, Vector};

use super::family::{Answer, Answerer, Expected, Uncomparable};

pub(super) fn compare(expected: &Expected<'_>, answer: &str) -> Result<Vec<String>, Uncomparable> {
    let vector = Vector::from_json(expected.case).map_err(Uncomparable::Case)?;
    let got = Final::from_json(answer).map_err(Uncomparable::Answer)?;
    Ok(vector.compare(&got).iter().map(ToString::to_string).collect())
}

pub(super) fn answer(question: &str, answerer: &mut Answerer) -> Result<Answer, JsonError> {
    let vector = Vector::from_json(question)?;
    Ok(match vector.run(answerer.executor) {
        Ok((after, outcome)) => Answer::new(&vector.observed(&after, &outcome)),
        Err(error) => Answer::Skip(error.to_string()),
    })
}
