//! The functions that JavaScript calls, and their types for TypeScript.
#![allow(unreachable_pub, reason = "JavaScript reaches them")]

use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.ts");

// By hand, because they are all that is used of js-sys.
#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = JSON, catch)]
    fn parse(text: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(js_namespace = JSON, catch)]
    fn stringify(value: &JsValue) -> Result<Option<String>, JsValue>;
}

/// Calls a tool. Objects pass as JSON, which both sides read faster than they build objects field by field.
fn call<F: DeserializeOwned, A: Serialize>(
    tool: fn(&F) -> A,
    fields: &JsValue,
) -> Result<JsValue, JsValue> {
    let wrong = |error: serde_json::Error| JsValue::from(JsError::new(&error.to_string()));
    let fields = stringify(fields)?.unwrap_or_default();
    let fields = serde_json::from_str(&fields).map_err(wrong)?;
    parse(&serde_json::to_string(&tool(&fields)).map_err(wrong)?)
}

macro_rules! exports {
    ($($(#[$doc:meta])* $tool:ident($fields:literal) -> $answer:literal;)*) => {
        $(
            $(#[$doc])*
            #[wasm_bindgen(js_name = $tool, unchecked_return_type = $answer)]
            pub fn $tool(
                #[wasm_bindgen(unchecked_param_type = $fields)] fields: &JsValue,
            ) -> Result<JsValue, JsValue> {
                call(crate::$tool, fields)
            }
        )*
    };
}

exports! {
    /// Decodes words, instructions or a listing, and explains the loads.
    decode("DecodeFields") -> "Decoded";
    /// Encodes a text or decodes a word, and changes a field of it.
    encode("EncodeFields") -> "Encoded";
    /// Executes one load on 32 lanes.
    run("RunFields") -> "Run";
    /// Counts the bank conflicts or sectors of an access, and draws it.
    banks("BanksFields") -> "Access";
    /// Draws which thread gets which cell of a load from Tensor Memory.
    tensor("TensorFields") -> "Tensor";
    /// Checks which loads of a PTX module are legal.
    ptx("PtxFields") -> "PtxVerdicts";
}

/// Returns the SMs, in ascending order.
#[wasm_bindgen]
#[must_use]
pub fn sms() -> Vec<String> {
    crate::sms()
}
