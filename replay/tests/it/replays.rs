//! Replays of the traces of `samples.rs`, and their JSON.

use serde::Serialize;
use warpload::memory::Fill;
use warpload_replay::{PartialSummary, ReplayData, ReplayError, ReplayOptions, Summary, replay};
use warpload_trace::{BinaryTrace, Shard};

use crate::random::Random;

pub(crate) fn options(shard: Option<Shard>) -> ReplayOptions<'static> {
    ReplayOptions::new(ReplayData::Fill(Fill::Address)).shard(shard)
}

/// The summary of a replay with `--fill address`.
pub(crate) fn summary(trace: &BinaryTrace, shard: Option<Shard>) -> Result<Summary, ReplayError> {
    Ok(replay(trace, &options(shard))?.summary())
}

/// The partial summary of a shard of that replay.
pub(crate) fn partial(trace: &BinaryTrace, shard: Shard) -> Result<PartialSummary, ReplayError> {
    Ok(replay(trace, &options(Some(shard)))?.partial().unwrap())
}

/// The partial summaries of all shards of that replay.
pub(crate) fn partials(trace: &BinaryTrace, count: u64) -> Vec<PartialSummary> {
    (0..count).map(|i| partial(trace, Shard::new(i, count).unwrap()).unwrap()).collect()
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
