//! `--resume`: whether an output is what would be written.

use std::sync::Arc;

use warpload::trace::{Shard, Summary};

/// Returns whether a summary is that of a shard of a replay, with these kernels and their demangled names.
pub(crate) fn is_shard<'n>(
    done: &'n Summary,
    shard: Option<Shard>,
    identity: &str,
    kernels: impl Iterator<Item = (&'n Arc<str>, Option<&'n Arc<str>>)>,
) -> bool {
    let (Some(partial), Some(shard)) = (&done.partial, shard) else { return false };
    let names = done.kernels.iter().map(|kernel| (&kernel.name, kernel.demangled.as_ref()));
    partial.replay() == identity
        && partial.of() == shard.count()
        && partial.shards() == (shard.index()..=shard.index())
        && names.eq(kernels)
        && is_consistent(done)
}

/// Returns whether a partial summary is as it was written, and its parts agree.
pub(crate) fn is_consistent(partial: &Summary) -> bool {
    Summary::merge_partial(vec![partial.clone()]).is_ok()
}
