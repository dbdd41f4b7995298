//! `--resume`: whether an output is what would be written.

use warpload_replay::Summary;
use warpload_trace::{BinaryTrace, Shard, kernels_of_shard};

use super::demangled::Demangled;

/// Returns whether a summary is that of a shard of a replay of a trace, whose kernels have these names.
pub(crate) fn is_shard(
    done: &Summary,
    shard: Option<Shard>,
    identity: &str,
    trace: &BinaryTrace,
    demangled: &Demangled,
) -> bool {
    let (Some(partial), Some(shard)) = (&done.partial, shard) else { return false };
    let names = done.kernels.iter().map(|kernel| (&kernel.name, kernel.demangled.as_ref()));
    let numbers = kernels_of_shard(trace, shard);
    let kernels = numbers.iter().filter_map(|number| trace.contents().kernels.get(*number));
    let kernels = kernels.map(|kernel| (&kernel.name, demangled.get(&kernel.name)));
    let numbers = numbers.iter().map(|number| trace.first_kernel() + number);
    partial.replay() == identity
        && numbers.eq(partial.kernels().iter().copied())
        && partial.of() == shard.count()
        && partial.shards() == (shard.index()..=shard.index())
        && names.eq(kernels)
        && is_consistent(done)
}

/// Returns whether a partial summary is as it was written, and its parts agree.
pub(crate) fn is_consistent(partial: &Summary) -> bool {
    Summary::merge_partial(vec![partial.clone()]).is_ok()
}
