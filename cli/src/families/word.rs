//! `decode` and `encode`: words and their text.

use serde::Deserialize;
use warpload::encoding::{Decoded, Load, Sm};
use warpload::json::{self, JsonError};

use super::family::{Answer, Answerer, Expected, Uncomparable};
use super::value::hexadecimal;
use crate::encode::Parsed;
use crate::word::read_word;

/// What a word or a text becomes: one of these.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    word: Option<String>,
    #[serde(default)]
    illegal: bool,
}

pub(super) fn compare_text(
    expected: &Expected<'_>,
    answer: &str,
) -> Result<Vec<String>, Uncomparable> {
    compare(expected, answer, |text| match text {
        Outcome { text: Some(text), word: None, illegal: false } => Ok(Some(plain(text))),
        Outcome { text: None, word: None, illegal: true } => Ok(None),
        _ => Err(r#"expected {"text": "…"} or {"illegal": true}"#),
    })
}

pub(super) fn compare_word(
    expected: &Expected<'_>,
    answer: &str,
) -> Result<Vec<String>, Uncomparable> {
    compare(expected, answer, |word| match word {
        Outcome { word: Some(word), text: None, illegal: false } => hexadecimal(word)
            .map(|word| Some(format!("{word:#x}")))
            .ok_or("word: expected 0x and up to 32 hexadecimal digits"),
        Outcome { word: None, text: None, illegal: true } => Ok(None),
        _ => Err(r#"expected {"word": "0x…"} or {"illegal": true}"#),
    })
}

/// Compares what `read` returns of both; `None` is illegal.
fn compare(
    expected: &Expected<'_>,
    answer: &str,
    read: impl Fn(&Outcome) -> Result<Option<String>, &'static str>,
) -> Result<Vec<String>, Uncomparable> {
    let outcome = |text| {
        let wrong =
            |message: &str| JsonError { key: None, position: None, message: message.to_owned() };
        read(&json::from_str(text)?).map_err(wrong)
    };
    let expected = outcome(expected.answer).map_err(Uncomparable::Case)?;
    let got = outcome(answer).map_err(Uncomparable::Answer)?;
    let shown = |side: &Option<String>| {
        side.as_ref().map_or("illegal".to_owned(), |text| format!("`{text}`"))
    };
    Ok(match expected == got {
        true => Vec::new(),
        false => vec![format!("expected {}, got {}", shown(&expected), shown(&got))],
    })
}

/// Returns the text with single spaces and without the semicolon at its end.
fn plain(text: &str) -> String {
    let text = text.trim_end().strip_suffix(';').unwrap_or(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Deserialize)]
struct DecodeQuestion {
    sm: String,
    word: String,
}

pub(super) fn decode(question: &str, _: &mut Answerer) -> Result<Answer, JsonError> {
    let DecodeQuestion { sm, word } = json::from_str(question)?;
    let sm = read_sm(&sm)?;
    let word = read_word(&word, Some(sm)).map_err(|error| JsonError::at("word", error))?;
    Ok(match Load::decode(word, sm) {
        Decoded::Load(load) => Answer::new(&serde_json::json!({ "text": load.text().as_str() })),
        Decoded::Refused(_) => illegal(),
        Decoded::Other => Answer::Skip("not a known load".to_owned()),
    })
}

#[derive(Deserialize)]
struct EncodeQuestion {
    sm: String,
    text: String,
}

pub(super) fn encode(question: &str, _: &mut Answerer) -> Result<Answer, JsonError> {
    let EncodeQuestion { sm, text } = json::from_str(question)?;
    Ok(match Parsed::new(&text, read_sm(&sm)?, None) {
        Ok(parsed) => Answer::new(&serde_json::json!({ "word": parsed.load.word().to_string() })),
        Err(_) => illegal(),
    })
}

fn read_sm(text: &str) -> Result<Sm, JsonError> {
    text.parse()
        .map_err(|_| JsonError::at("sm", format!("unknown SM {text:?}; expected one as 50 or 90a")))
}

fn illegal() -> Answer {
    Answer::new(&serde_json::json!({ "illegal": true }))
}
