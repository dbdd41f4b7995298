//! Reads CUTracer's traces: lines of JSON, and its text log (docs/trace-inputs.md).

mod json;
mod line;
mod metadata;
mod ndjson;
mod text;

use super::error::ImportError;
use super::logs::UNMASKED_NOTE;
use super::sink::Sink;
use crate::binary::NO_END_MARK;

pub(super) use self::ndjson::FORMAT as NDJSON_FORMAT;
pub(super) use self::text::FORMAT as TEXT_FORMAT;

const TOOL: &str = "CUTracer";

const NO_RECORD: &str = "no memory access in the source: nothing was imported";

/// Adds the notes of a trace with that many memory accesses.
fn add_notes(sink: &mut Sink<'_>, records: u64) -> Result<(), ImportError> {
    sink.note(if records > 0 { UNMASKED_NOTE } else { NO_RECORD }.to_owned())?;
    sink.end_is_unknown(NO_END_MARK)
}
