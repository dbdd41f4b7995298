//! The JSON of answers: [`JsonObject`], an object with unparsed values, and the comparison of values.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use warpload::json::{self, JsonError};

use crate::json::values::hexadecimal;
use crate::text::{self, shortened};

/// A JSON object: its keys in order, each with its value as written.
pub(crate) struct JsonObject<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'t> JsonObject<'t> {
    /// Reads one object. Errors have the column.
    pub(crate) fn from_json(text: &'t str) -> Result<Self, JsonError> {
        json::from_str(text)
    }

    /// The value of a key, as written.
    pub(crate) fn get(&self, key: &str) -> Option<&'t str> {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.get())
    }

    /// The parsed value of a key; `None` if the key is missing.
    pub(crate) fn read<T: Deserialize<'t>>(&self, key: &str) -> Result<Option<T>, JsonError> {
        let value = self.get(key).map(serde_json::from_str).transpose();
        value.map_err(|error| JsonError::at(key, error.to_string()))
    }

    /// The value of a key, if the object has no other key.
    pub(crate) fn only(&self, key: &str) -> Option<&'t str> {
        self.get(key).filter(|_| self.0.len() == 1)
    }

    /// The object on one line, with values replaced by `value`. Keys without a new value are left out.
    pub(crate) fn with<'v>(
        &'v self,
        value: impl Fn(&str, &'v str) -> Option<Cow<'v, str>>,
    ) -> String {
        let mut text = String::from("{");
        for (key, old) in &self.0 {
            let Some(value) = value(key, old.get()) else { continue };
            if text.len() > 1 {
                text.push(',');
            }
            text += &quoted(key);
            text.push(':');
            text += &value;
        }
        text.push('}');
        text
    }
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[derive(Deserialize, PartialEq)]
struct Key<'t>(#[serde(borrow)] Cow<'t, str>);

impl<'de: 't, 't> Deserialize<'de> for JsonObject<'t> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = JsonObject<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
                while let Some(Key(key)) = map.next_key()? {
                    if entries.len() == MAX_KEYS {
                        return Err(A::Error::custom(format_args!("more than {MAX_KEYS} keys")));
                    }
                    if entries.iter().any(|(known, _)| *known == key) {
                        return Err(A::Error::custom(format_args!("duplicate key `{key}`")));
                    }
                    entries.push((key, map.next_value()?));
                }
                Ok(JsonObject(entries))
            }
        }

        from.deserialize_map(Entries)
    }
}

/// Bounds the search for duplicate keys, which compares each key with all before it.
const MAX_KEYS: usize = 1000;

/// The number of characters of a value that are shown.
const MAX_SHOWN: usize = 120;

/// The differences of a value from the expected one, one line for each place. An unexpected key of an object is a
/// difference, unless it is `ignored`.
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

/// Whether two scalar values are equal. Hexadecimal numbers are compared by value, because leading zeros do not matter.
fn is_equal(expected: &Value, got: &Value) -> bool {
    let number = |value: &Value| hexadecimal(value.as_str()?);
    expected == got || number(expected).is_some_and(|expected| Some(expected) == number(got))
}

fn difference(place: &str, expected: Option<&Value>, got: Option<&Value>) -> String {
    let short = |value: &Value| shortened(&value.to_string(), MAX_SHOWN);
    let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), short);
    let place = if place.is_empty() { "answer" } else { place };
    text::difference(&place, &shown(expected), &shown(got))
}
