use warpload::memory::{Arena, Fill};
use warpload_replay::{ReplayData, ReplayOptions, Summary, replay};
use warpload_trace::{BinaryTrace, Shard};

use super::made_trace::{CONTENTS, made_trace};

/// Any bytes are refused, or are a binary trace that gives the same result replayed in shards and as a whole. Checksums
/// are made to match.
pub(super) fn trace_does_not_panic(input: &[u8]) {
    let bytes = made_trace(CONTENTS, input);
    let Ok(trace) = BinaryTrace::new(Arena::from(bytes)) else { return };
    let options = ReplayOptions::new(ReplayData::Fill(Fill::Address));
    let Ok(whole) = replay(&trace, &options) else { return };
    let shards = (0..3).map(|part| {
        let found = replay(&trace, &ReplayOptions { shard: Shard::new(part, 3), ..options });
        found.unwrap_or_else(|error| panic!("the whole could be replayed: {error}"))
    });
    assert_eq!(Summary::merge(shards.collect()), Ok(whole));
}
