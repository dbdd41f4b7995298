//! A page to try warpload in. Each tool is a function from the fields of a form to an answer: [`decode`], [`encode`],
//! [`run`], [`banks`], [`tensor`] and [`ptx`], on top of the libraries. `static/` has the HTML and a script that shows
//! the answers. `assemble.rs` combines them with the compiled library.
//!
//! Fields are text, as typed. An error in a field is a [`Problem`] of the answer.

#![forbid(unsafe_code)]

mod banks;
mod decode;
mod encode;
mod exports;
mod instruction;
mod problem;
mod ptx;
mod run;
mod tensor;

pub use self::banks::{Access, BanksFields, Chart, banks};
pub use self::decode::{DecodeFields, Decoded, DecodedLoad, decode};
pub use self::encode::{Choice, EditableField, EncodeFields, Encoded, encode};
pub use self::instruction::{ControlCode, Explained, ExplainedField};
pub use self::problem::Problem;
pub use self::ptx::{PtxFields, PtxVerdicts, Rule, Verdict, ptx};
pub use self::run::{Run, RunFields, run};
pub use self::tensor::{Tensor, TensorFields, tensor};

use serde::Serialize;
use serde::de::DeserializeOwned;
use warpload::encoding::Sm;

/// Returns the SMs, in ascending order.
#[must_use]
pub fn sms() -> Vec<String> {
    Sm::all().map(|sm| sm.to_string()).collect()
}

/// Returns the answer of a tool. Fields and answer are JSON, as in the browser. `None` if there is no such tool, or the
/// fields do not fit its form.
#[must_use]
pub fn answer(tool: &str, fields: &str) -> Option<String> {
    fn of<F: DeserializeOwned, A: Serialize>(tool: fn(&F) -> A, fields: &str) -> Option<String> {
        serde_json::to_string(&tool(&serde_json::from_str(fields).ok()?)).ok()
    }
    match tool {
        "decode" => of(decode, fields),
        "encode" => of(encode, fields),
        "run" => of(run, fields),
        "banks" => of(banks, fields),
        "tensor" => of(tensor, fields),
        "ptx" => of(ptx, fields),
        _ => None,
    }
}
