//! `traces`: replays of files, or their refusal. Replaying takes files and the options of a command, so this
//! crate compares answers and does not give them.

use crate::json;
use serde_json::Value;

use super::family::{CaseExpectation, Uncomparable};
use super::object::differences;

const REFUSED: &str = "refused";

pub(super) fn compare(
    expected: &CaseExpectation<'_>,
    answer: &str,
) -> Result<Vec<String>, Uncomparable> {
    let expected: Value = json::from_str(expected.answer).map_err(Uncomparable::Case)?;
    let got: Value = json::from_str(answer).map_err(Uncomparable::Answer)?;
    let is_refused = |value: &Value| value.get(REFUSED) == Some(&Value::Bool(true));
    let word = |value: &Value| if is_refused(value) { REFUSED } else { "counts" };
    if is_refused(&expected) != is_refused(&got) {
        return Ok(vec![format!("expected {}, got {}", word(&expected), word(&got))]);
    }
    Ok(differences(&expected, &got, |_| true))
}
