//! The JSON of both vectors and memory images (docs/vectors.md): strict values, and the state before a load.

pub(crate) mod initial;
pub(crate) mod sources;
pub(crate) mod values;

pub use self::values::present;
pub use warpload::json::{JsonError, from_slice, from_str};
