use warpload::memory::{Arena, Fill};
use warpload_replay::{ReplayData, ReplayOptions, Summary, replay};
use warpload_trace::{BinaryTrace, Shard};

use crate::made_trace::{CONTENTS, made_trace};

/// Any bytes are refused, or are a binary trace that gives the same result replayed in shards and as a whole. Checksums
/// are made to match.
pub fn trace_does_not_panic(input: &[u8]) {
    let bytes = made_trace(CONTENTS, input);
    let Ok(trace) = BinaryTrace::new(Arena::from(bytes)) else { return };
    let options = ReplayOptions::new(ReplayData::Fill(Fill::Address));
    let Ok(found) = replay(&trace, &options) else { return };
    let whole = found.summary();
    let shards = (0..3).map(|part| {
        let found = replay(&trace, &options.shard(Shard::new(part, 3)));
        let found = found.unwrap_or_else(|error| panic!("the whole could be replayed: {error}"));
        found.partial()
    });
    let Some(shards) = shards.collect() else { panic!("a shard was asked for") };
    assert_eq!(Summary::merge(shards), Ok(whole));
}
