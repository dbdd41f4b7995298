//! Comparing JSON values.

use serde_json::Value;

use crate::text::shortened;

/// How many characters of a value are shown.
const MAX_SHOWN: usize = 120;

/// Returns how a value differs from what is expected, one line for each place. A key of an object that is not
/// expected is a difference, unless it is `ignored`.
pub(super) fn differences(expected: &Value, got: &Value, ignored: fn(&str) -> bool) -> Vec<String> {
    let mut differences = Vec::new();
    compare(&mut String::new(), expected, got, ignored, &mut differences);
    differences
}

fn compare(
    place: &mut String,
    expected: &Value,
    got: &Value,
    ignored: fn(&str) -> bool,
    differences: &mut Vec<String>,
) {
    let length = place.len();
    match (expected, got) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let others = theirs.keys().filter(|key| !ours.contains_key(*key) && !ignored(key));
            for key in ours.keys().chain(others) {
                if length > 0 {
                    place.push('.');
                }
                *place += key;
                match (ours.get(key), theirs.get(key)) {
                    (Some(ours), Some(theirs)) => {
                        compare(place, ours, theirs, ignored, differences);
                    }
                    (ours, theirs) => differences.push(difference(place, ours, theirs)),
                }
                place.truncate(length);
            }
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            for i in 0..ours.len().max(theirs.len()) {
                *place += &format!("[{i}]");
                match (ours.get(i), theirs.get(i)) {
                    (Some(ours), Some(theirs)) => {
                        compare(place, ours, theirs, ignored, differences);
                    }
                    (ours, theirs) => differences.push(difference(place, ours, theirs)),
                }
                place.truncate(length);
            }
        }
        _ if is_equal(expected, got) => {}
        _ => differences.push(difference(place, Some(expected), Some(got))),
    }
}

/// Whether two values that do not hold others are equal. Numbers in hexadecimal are, however many zeros
/// they begin with.
fn is_equal(expected: &Value, got: &Value) -> bool {
    let number = |value: &Value| hexadecimal(value.as_str()?);
    expected == got || number(expected).is_some_and(|expected| Some(expected) == number(got))
}

/// Returns the number of at most 128 bits that `0x` and hexadecimal digits spell.
pub(super) fn hexadecimal(text: &str) -> Option<u128> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_number.then(|| u128::from_str_radix(digits, 16).ok()).flatten()
}

fn difference(place: &str, expected: Option<&Value>, got: Option<&Value>) -> String {
    let short = |value: &Value| shortened(&value.to_string(), MAX_SHOWN);
    let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), short);
    let place = if place.is_empty() { "answer" } else { place };
    format!("{place}: expected {}, got {}", shown(expected), shown(got))
}
