//! The functions that JavaScript calls, and their types for TypeScript.
#![allow(unreachable_pub, reason = "JavaScript reaches them")]

use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

// Declared by hand, because these two functions are all that is needed of js-sys.
#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = JSON, catch)]
    fn parse(text: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(js_namespace = JSON, catch)]
    fn stringify(value: &JsValue) -> Result<Option<String>, JsValue>;
}

/// Calls a tool. Objects are passed as JSON, which is faster than reading and building them field by field across the
/// border.
fn call<F: DeserializeOwned, A: Serialize>(
    tool: fn(&F) -> A,
    fields: &JsValue,
) -> Result<JsValue, JsValue> {
    let wrong = |error: serde_json::Error| JsValue::from(JsError::new(&error.to_string()));
    let fields = stringify(fields)?.unwrap_or_default();
    let fields = serde_json::from_str(&fields).map_err(wrong)?;
    parse(&serde_json::to_string(&tool(&fields)).map_err(wrong)?)
}

/// Decodes words, instructions or a listing, and explains the loads.
#[wasm_bindgen(unchecked_return_type = "Decoded")]
pub fn decode(
    #[wasm_bindgen(unchecked_param_type = "DecodeFields")] fields: &JsValue,
) -> Result<JsValue, JsValue> {
    call(crate::decode, fields)
}

/// Encodes a text or decodes a word, and changes a field of it.
#[wasm_bindgen(unchecked_return_type = "Encoded")]
pub fn encode(
    #[wasm_bindgen(unchecked_param_type = "EncodeFields")] fields: &JsValue,
) -> Result<JsValue, JsValue> {
    call(crate::encode, fields)
}

/// Executes one load on 32 lanes.
#[wasm_bindgen(unchecked_return_type = "Run")]
pub fn run(
    #[wasm_bindgen(unchecked_param_type = "RunFields")] fields: &JsValue,
) -> Result<JsValue, JsValue> {
    call(crate::run, fields)
}

/// Counts the bank conflicts or sectors of an access, and draws it.
#[wasm_bindgen(unchecked_return_type = "Access")]
pub fn banks(
    #[wasm_bindgen(unchecked_param_type = "BanksFields")] fields: &JsValue,
) -> Result<JsValue, JsValue> {
    call(crate::banks, fields)
}

/// Draws which thread gets which cell of a load from Tensor Memory.
#[wasm_bindgen(unchecked_return_type = "Tensor")]
pub fn tensor(
    #[wasm_bindgen(unchecked_param_type = "TensorFields")] fields: &JsValue,
) -> Result<JsValue, JsValue> {
    call(crate::tensor, fields)
}

/// Checks the loads of a PTX module against the rules.
#[wasm_bindgen(unchecked_return_type = "PtxVerdicts")]
pub fn ptx(
    #[wasm_bindgen(unchecked_param_type = "PtxFields")] fields: &JsValue,
) -> Result<JsValue, JsValue> {
    call(crate::ptx, fields)
}

/// Returns the SMs, in ascending order.
#[wasm_bindgen]
#[must_use]
pub fn sms() -> Vec<String> {
    crate::sms()
}
