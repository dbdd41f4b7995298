//! `decode` and `encode`: words and their text.

use std::borrow::Cow;

use crate::json::{self, JsonError};
use serde::Deserialize;
use warpload::encoding::{Decoded, Instruction, MachineWord, Sm};

use super::family::{Answerer, CaseAnswer, CaseExpectation, Uncomparable};
use super::object::JsonObject;
use crate::explain::CaseSubject;
use crate::json::values::hexadecimal;

/// The subject of a case with a word or a text under `key`.
pub(super) fn subject(case: &JsonObject<'_>, key: &str) -> Option<CaseSubject> {
    let sm: Cow<'_, str> = case.read("sm").ok()??;
    let text: Cow<'_, str> = case.read(key).ok()??;
    subject_of(&text, read_sm(&sm).ok()?)
}

/// The subject of a word in hexadecimal, or of a text.
pub(super) fn subject_of(text: &str, sm: Sm) -> Option<CaseSubject> {
    let load = match read_word(text, sm) {
        Ok(word) => Instruction::decode(word, sm).load(),
        Err(_) => Instruction::parse(text, sm).ok(),
    };
    Some(load.map_or_else(|| CaseSubject::of_sm(sm), |load| CaseSubject::new(&load)))
}

/// The result of decoding a word or encoding a text: exactly one of these keys.
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
    expected: &CaseExpectation<'_>,
    answer: &str,
) -> Result<Vec<String>, Uncomparable> {
    compare(expected, answer, |text| match text {
        Outcome { text: Some(text), word: None, illegal: false } => Ok(Some(plain(text))),
        Outcome { text: None, word: None, illegal: true } => Ok(None),
        _ => Err(r#"expected {"text": "…"} or {"illegal": true}"#),
    })
}

pub(super) fn compare_word(
    expected: &CaseExpectation<'_>,
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

/// Compares expectation and answer after `read` has normalized both. It returns `None` for illegal.
fn compare(
    expected: &CaseExpectation<'_>,
    answer: &str,
    read: impl Fn(&Outcome) -> Result<Option<String>, &'static str>,
) -> Result<Vec<String>, Uncomparable> {
    let outcome = |text| {
        let wrong =
            |message: &str| JsonError { key: None, position: None, message: message.to_owned() };
        read(&json::from_str(text)?).map_err(wrong)
    };
    let expected = outcome(expected.answer).map_err(Uncomparable::Expected)?;
    let got = outcome(answer).map_err(Uncomparable::Answer)?;
    let shown = |side: &Option<String>| {
        side.as_ref().map_or("illegal".to_owned(), |text| format!("`{text}`"))
    };
    Ok(match expected == got {
        true => Vec::new(),
        false => vec![format!("expected {}, got {}", shown(&expected), shown(&got))],
    })
}

/// The text with single spaces, without the semicolon at its end.
fn plain(text: &str) -> String {
    let text = text.trim_end().strip_suffix(';').unwrap_or(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Deserialize)]
struct DecodeQuestion {
    sm: String,
    word: String,
}

pub(super) fn decode(question: &str, _: &mut Answerer) -> Result<CaseAnswer, JsonError> {
    let DecodeQuestion { sm, word } = json::from_str(question)?;
    let sm = read_sm(&sm)?;
    let word = read_word(&word, sm)?;
    Ok(match Instruction::decode(word, sm) {
        Decoded::Load(load) => {
            CaseAnswer::new(&serde_json::json!({ "text": load.text().as_str() }))
        }
        Decoded::Illegal(_) => illegal(),
        Decoded::Other => CaseAnswer::Skip("not a known load".to_owned()),
    })
}

#[derive(Deserialize)]
struct EncodeQuestion {
    sm: String,
    text: String,
}

pub(super) fn encode(question: &str, _: &mut Answerer) -> Result<CaseAnswer, JsonError> {
    let EncodeQuestion { sm, text } = json::from_str(question)?;
    let sm = read_sm(&sm)?;
    Ok(Instruction::parse(&text, sm).map_or_else(
        |_| illegal(),
        |load| CaseAnswer::new(&serde_json::json!({ "word": load.word().to_string() })),
    ))
}

/// Reads a word in hexadecimal, with or without `0x`, of at most the width of the SM's words.
fn read_word(text: &str, sm: Sm) -> Result<MachineWord, JsonError> {
    let text = text.trim();
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let most = if sm.has_wide_words() { 32 } else { 16 };
    let word = hexadecimal(&format!("0x{digits}")).filter(|_| digits.len() <= most);
    match word {
        Some(word) if most == 32 => Ok(MachineWord::Bits128(word)),
        Some(word) => Ok(MachineWord::Bits64(word as u64)),
        None => Err(JsonError::at(
            "word",
            format!("{text:?} is not a word; expected 0x and up to {most} hexadecimal digits"),
        )),
    }
}

pub(super) fn read_sm(text: &str) -> Result<Sm, JsonError> {
    text.parse()
        .map_err(|_| JsonError::at("sm", format!("unknown SM {text:?}; expected one as 50 or 90a")))
}

fn illegal() -> CaseAnswer {
    CaseAnswer::new(&serde_json::json!({ "illegal": true }))
}
