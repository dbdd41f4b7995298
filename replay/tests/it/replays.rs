//! Replays of the traces of `samples.rs`, and their JSON.

use serde::Serialize;
use warpload::memory::Fill;
use warpload_replay::{ReplayData, ReplayError, ReplayOptions, Selection, Summary, replay};
use warpload_trace::{BinaryTrace, OperationKind, Shard};

use crate::random::Random;

pub(crate) fn options(shard: Option<Shard>) -> ReplayOptions<'static> {
    ReplayOptions { shard, ..ReplayOptions::new(ReplayData::Fill(Fill::Address)) }
}

/// The summary of a replay with `--fill address`, of a shard or of the whole.
pub(crate) fn summary(trace: &BinaryTrace, shard: Option<Shard>) -> Result<Summary, ReplayError> {
    replay(trace, &options(shard))
}

/// The summaries of all shards of that replay.
pub(crate) fn shards(trace: &BinaryTrace, count: u64) -> Vec<Summary> {
    (0..count).map(|i| summary(trace, Shard::new(i, count)).unwrap()).collect()
}

/// The summary of a replay that selects loads.
pub(crate) fn loads_alone(trace: &BinaryTrace, data: ReplayData<'_>) -> Summary {
    let operations = trace.contents().operations.iter();
    let is_load = operations.map(|operation| operation.kind == OperationKind::Load);
    let selection = Selection { operations: Some(is_load.collect()), ..Selection::default() };
    replay(trace, &ReplayOptions { selection: Some(&selection), ..ReplayOptions::new(data) })
        .unwrap()
}

pub(crate) fn json(summary: &impl Serialize) -> String {
    serde_json::to_string(summary).unwrap()
}

/// Returns a text of JSON with up to four bytes changed, so that many are still JSON.
pub(crate) fn changed(json: &str, random: &mut Random) -> Vec<u8> {
    let mut bytes = json.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        bytes[at] = if bytes[at].is_ascii_digit() && !random.is_one_in(4) {
            b'0' + random.below(10) as u8
        } else {
            random.one_of(b"0123456789\",:{}[]-.enull/\\ ")
        };
    }
    bytes
}
