//! Reads JSON that people write: errors name the key and the place, in JSON's terms rather than Rust's. Vectors, memory
//! images and sets of traces are read with it. Also writes objects, one a line.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::text::is_invisible;

/// A mistake in a JSON text, with its key and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{message}", key.as_deref().unwrap_or_default(), if key.is_some() { ": " } else { "" })]
pub struct JsonError {
    /// The key at fault, as a path: `initial.registers.R3[4]`; `None` if the whole text is at fault.
    pub key: Option<String>,
    /// Line and column of the mistake, from 1; `None` if the broken rule is checked after reading.
    pub position: Option<(usize, usize)>,
    /// The mistake, and the expected value.
    pub message: String,
}

impl JsonError {
    /// Creates the error of a broken rule at a key.
    pub fn at(key: impl Into<String>, message: impl ToString) -> Self {
        Self { key: Some(key.into()), position: None, message: message.to_string() }
    }

    /// Returns the error after its place: `line 2, column 7: parts[0].file: missing key`.
    #[must_use]
    pub fn with_place(&self) -> String {
        match self.position {
            Some((line, column)) => format!("line {line}, column {column}: {self}"),
            None => self.to_string(),
        }
    }
}

/// Writes one object on one line, as the command does: also for readers that take U+2028 and U+2029 as ends of lines,
/// and without characters that a terminal acts on.
///
/// # Errors
/// Returns that of the stream, as it is: a closed pipe stays one.
pub fn write_line(mut to: impl Write, object: &impl Serialize) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut to, OneLine);
    object.serialize(&mut serializer).map_err(io::Error::from)?;
    writeln!(to)
}

struct OneLine;

impl serde_json::ser::Formatter for OneLine {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        output: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // Nearly all are such, and are found so several times faster.
        if fragment.is_ascii() && !fragment.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return output.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        // None of them is beyond U+FFFF.
        while let Some((at, found)) = rest.char_indices().find(|(_, c)| is_invisible(*c)) {
            write!(output, "{}\\u{:04x}", &rest[..at], u32::from(found))?;
            rest = &rest[at + found.len_utf8()..];
        }
        output.write_all(rest.as_bytes())
    }
}

/// Reads a value from a whole JSON text.
///
/// # Errors
/// Returns [`JsonError`] with the key and the place if the text is not JSON or not such a value.
pub fn from_str<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, JsonError> {
    from_slice(text.as_bytes())
}

/// Reads a value from a whole JSON text in UTF-8.
///
/// # Errors
/// As [`from_str`].
pub fn from_slice<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, JsonError> {
    // Read again only after an error, because keeping track of the path takes time.
    serde_json::from_slice(bytes).map_err(|error| {
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let Err(at) = serde_path_to_error::deserialize::<_, T>(&mut json) else {
            return JsonError::from(&error);
        };
        let key = at.path().to_string();
        // `.` is the whole text; `?` is a key that the end of the text cut off.
        let key = (![".", "?"].contains(&&*key)).then(|| shortened(key));
        JsonError { key, ..JsonError::from(at.inner()) }
    })
}

impl From<&serde_json::Error> for JsonError {
    fn from(error: &serde_json::Error) -> Self {
        let whole = error.to_string();
        // serde_json appends the position, which is a separate field here.
        let tail = format!(" at line {} column {}", error.line(), error.column());
        let message = shortened(plain_words(whole.strip_suffix(&tail).unwrap_or(&whole)));
        // serde_json counts 0 as the column before the first byte.
        Self { key: None, position: Some((error.line(), error.column().max(1))), message }
    }
}

/// Beginnings and ends of serde's messages that name types of Rust or serde, and the terms of JSON for them.
const BEGINNINGS: [(&str, &str); 6] = [
    ("EOF while parsing", "the text ends while reading"),
    ("invalid type: map", "invalid type: object"),
    ("invalid type: sequence", "invalid type: array"),
    ("missing field", "missing key"),
    ("unknown field", "unknown key"),
    ("duplicate field", "duplicate key"),
];
const ENDS: [(&str, &str); 5] = [
    ("expected a sequence", "expected an array"),
    ("expected ident", "expected null, true or false"),
    ("expected u32", "expected a whole number"),
    ("expected u64", "expected a whole number"),
    ("expected usize", "expected a whole number"),
];

fn plain_words(message: &str) -> String {
    let begun = BEGINNINGS
        .iter()
        .find_map(|(theirs, ours)| Some(format!("{ours}{}", message.strip_prefix(theirs)?)))
        .unwrap_or_else(|| message.to_owned());
    if let Some((wrong, _)) = begun.split_once(", expected struct ") {
        return format!("{wrong}, expected an object");
    }
    ENDS.iter()
        .find_map(|(theirs, ours)| Some(format!("{}{ours}", begun.strip_suffix(theirs)?)))
        .unwrap_or(begun)
}

/// The most characters of a text or a key that an error quotes.
const MAX_QUOTED: usize = 400;

/// Cuts the middle out of a long text, because errors quote texts and keys of a file.
fn shortened(text: String) -> String {
    let half = |mut chars: Box<dyn Iterator<Item = (usize, char)> + '_>| chars.nth(MAX_QUOTED / 2);
    let start = half(Box::new(text.char_indices()));
    let end = half(Box::new(text.char_indices().rev()));
    match (start, end) {
        (Some((start, _)), Some((end, _))) if start < end => {
            format!("{} … {}", &text[..start], &text[end..])
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its errors matter")]
    struct Rows {
        rows: Vec<Row>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its errors matter")]
    struct Row {
        name: String,
        count: u32,
    }

    fn error(text: &str) -> String {
        from_str::<Rows>(text).unwrap_err().with_place()
    }

    #[test]
    fn errors_name_the_key_and_the_place_in_words_of_json() {
        let whole = "expected a whole number";
        assert_eq!(
            error("{\"rows\":[\n {\"name\":\"\",\"count\":-1}]}"),
            format!("line 2, column 22: rows[0].count: invalid value: integer `-1`, {whole}")
        );
        assert_eq!(
            error(r#"{"rows":[["a"]]}"#),
            "line 1, column 14: rows[0]: invalid length 1, expected an object"
        );
        assert_eq!(error(r#"{"rows":[]} x"#), "line 1, column 13: trailing characters");
    }

    #[test]
    fn errors_quote_little_of_a_long_text() {
        for long in ["k".repeat(100_000), "é\u{1f600}".repeat(50_000)] {
            for text in [
                format!(r#"{{"{long}":1}}"#),
                format!(r#"{{"rows":[{{"name":"","count":"{long}"}}]}}"#),
                format!(r#"{{"rows":"{long}"}}"#),
            ] {
                assert!(error(&text).chars().count() < 3 * MAX_QUOTED, "{}", error(&text));
            }
        }
    }
}
