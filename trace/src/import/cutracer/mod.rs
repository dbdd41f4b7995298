//! Reads CUTracer's lines of JSON (docs/trace-inputs.md).

mod json;
mod line;
mod metadata;
mod ndjson;

pub(super) use self::ndjson::FORMAT;
