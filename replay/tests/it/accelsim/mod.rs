//! Accel-Sim's traces: the samples of `tests/data/traces2`, and the rules that no sample has.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test")]

mod addresses;
mod lines;
mod samples;
mod tracez;

use std::path::Path;

use crate::model::{add_footprints, of_model};
use crate::replays::loads_alone;
use serde_json::Value;
use warpload::memory::Fill;
use warpload_replay::{ReplayData, ReplayOptions, replay};
use warpload_trace::{BinaryTrace, ImportError, TraceSource};

use crate::samples::imported as import_from_source;

fn imported(
    source: Result<TraceSource<'_>, ImportError>,
    threads: usize,
) -> Result<BinaryTrace, String> {
    let bytes = source.and_then(|source| import_from_source(source, threads));
    Ok(BinaryTrace::new(bytes.map_err(|error| error.to_string())?.into()).unwrap())
}

pub(crate) fn file(path: &Path, threads: usize) -> Result<BinaryTrace, String> {
    imported(TraceSource::open(path, &()), threads)
}

/// Imports what comes from a pipe named `text`.
pub(crate) fn bytes(bytes: &[u8], threads: usize) -> Result<BinaryTrace, String> {
    imported(TraceSource::from_stream(bytes, Path::new("text")), threads)
}

/// Returns the counts of a replay with a fill, under the keys of the models.
pub(crate) fn counts(trace: &BinaryTrace) -> Value {
    let data = ReplayData::Fill(Fill::Address);
    let mut counts = of_model(&replay(trace, &ReplayOptions::new(data)).unwrap());
    add_footprints(&mut counts, &loads_alone(trace, data));
    counts
}

/// Returns a header of a grid of 4 x 2 thread blocks of 48 threads.
pub(crate) fn header(version: &str) -> String {
    format!(
        "-kernel name = k\n-grid dim = (4,2,1)\n-block dim = (48,1,1)\n\
         -accelsim tracer version = {version}\n-enable lineinfo = 0\n\n#traces format = …\n\n"
    )
}

/// Returns a grouped trace of one instruction of a warp.
pub(crate) fn grouped(version: &str, warp: u32, line: &str) -> String {
    let ids = if version == "1.2" { format!("1 1 0 {warp} ") } else { String::new() };
    format!(
        "{}#BEGIN_TB\nthread block = 1,1,0\nwarp = {warp}\ninsts = 1\n{ids}{line}\n#END_TB\n",
        header(version)
    )
}

pub(crate) fn read(text: &str) -> Result<Value, String> {
    bytes(text.as_bytes(), 2).map(|trace| counts(&trace))
}

pub(crate) fn integer(value: &Value) -> u64 {
    value.as_u64().unwrap()
}
