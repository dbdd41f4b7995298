//! [`Summary::merge`]: from the summaries of all shards to that of the whole replay.

use std::collections::BTreeMap;

use super::rows::Rows;
use super::{
    Counts, Digest, FootprintCounts, LdgstsCounts, Partial, PartialReuse, ReuseCounts, Summary,
    TmaCounts, TrafficCounts, add,
};
use crate::trace::replay::reuse::Reuse;
use crate::trace::replay::statistics::KEPT;

/// Why summaries cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There are no summaries.
    #[error("no summaries")]
    Nothing,
    /// A summary that is not a shard's.
    #[error("summary {index} is not that of a shard; expected the key `partial`")]
    NotPartial {
        /// The summary's index.
        index: usize,
    },
    /// Shards are missing, or are there twice.
    #[error("these are shards {given:?} of {of}; expected each from 0 to {last} once")]
    Incomplete {
        /// The numbers of the given shards.
        given: Vec<u64>,
        /// The number of shards.
        of: u64,
        /// The number of the last shard.
        last: u64,
    },
    /// Summaries of different traces.
    #[error(
        "summary {index} is of another trace, or of another replay of it: {given}; expected {expected}"
    )]
    OfAnotherTrace {
        /// The summary's index.
        index: usize,
        /// The replay that it is of.
        given: String,
        /// The replay that the first one is of.
        expected: String,
    },
    /// A summary whose parts contradict each other.
    #[error("summary {index} is inconsistent: {message}")]
    Inconsistent {
        /// The summary's index.
        index: usize,
        /// What is wrong.
        message: &'static str,
    },
}

impl Summary {
    /// Merges the summaries of all shards of a replay, in any order, into that of the whole.
    ///
    /// # Errors
    /// Returns [`MergeError`] if the summaries are not those of all shards of one replay.
    pub fn merge(shards: Vec<Summary>) -> Result<Summary, MergeError> {
        let mut parts = Vec::new();
        for (index, mut summary) in shards.into_iter().enumerate() {
            let partial = summary.partial.take().ok_or(MergeError::NotPartial { index })?;
            check_consistent(&summary, &partial)
                .map_err(|message| MergeError::Inconsistent { index, message })?;
            parts.push((index, summary, partial));
        }
        check_together(&parts)?;
        parts.sort_by_key(|(_, _, partial)| partial.shard);
        let mut parts = parts.into_iter();
        let Some((_, mut whole, mut partial)) = parts.next() else {
            return Err(MergeError::Nothing);
        };
        let mut rows = Rows::default();
        rows.add(&mut whole, &partial);
        let mut reuse = reuse_of(&whole, &partial);
        for (_, mut summary, other) in parts {
            rows.add(&mut summary, &other);
            for (to, from) in reuse.iter_mut().zip(reuse_of(&summary, &other)) {
                to.add(&from);
            }
            whole.counts.add(&summary.counts);
            for (kernel, other) in whole.kernels.iter_mut().zip(&summary.kernels) {
                kernel.counts.add(&other.counts);
            }
            for (to, from) in [(&mut partial.pages, other.pages), (&mut partial.lines, other.lines)]
            {
                for (to, from) in to.iter_mut().zip(from) {
                    to.extend(from);
                }
            }
            whole.first_faults.extend(summary.first_faults);
            whole.first_mismatches.extend(summary.first_mismatches);
            whole.digest = add_digests(whole.digest, summary.digest);
        }
        whole.first_faults.truncate(KEPT);
        whole.first_mismatches.truncate(KEPT);
        rows.finish(&mut whole);
        set_footprints(&mut whole, &partial);
        set_reuse(&mut whole, &reuse);
        Ok(whole)
    }
}

/// Returns the touches of lines of each kernel of a shard; none if they are not counted.
fn reuse_of(summary: &Summary, partial: &Partial) -> Vec<Reuse> {
    let counts = summary.kernels.iter().map(|kernel| kernel.counts.reuse.as_ref());
    let of = |(partial, counts): (&PartialReuse, Option<&ReuseCounts>)| {
        Reuse::of(partial, counts.unwrap_or(&ReuseCounts::default()))
    };
    partial.reuse.iter().zip(counts).map(of).collect()
}

fn set_reuse(whole: &mut Summary, reuse: &[Reuse]) {
    let Some(sum) = &mut whole.counts.reuse else { return };
    *sum = ReuseCounts::default();
    for (kernel, reuse) in whole.kernels.iter_mut().zip(reuse) {
        let counts = reuse.counts();
        sum.add(&counts);
        kernel.counts.reuse = Some(counts);
    }
}

/// Returns how many distinct numbers runs hold, which may overlap. Sorts them.
fn distinct(ranges: &mut [(u64, u64)]) -> u64 {
    ranges.sort_unstable();
    let (mut count, mut next) = (0u64, 0);
    for &(first, last) in ranges.iter() {
        let first = first.max(next);
        if first <= last {
            count = count.saturating_add(last - first).saturating_add(1);
            next = last.saturating_add(1);
        }
    }
    count
}

fn set_footprints(whole: &mut Summary, partial: &Partial) {
    let all = |kernels: &[Vec<(u64, u64)>]| distinct(&mut kernels.concat());
    whole.counts.footprint =
        FootprintCounts { pages: all(&partial.pages), lines: all(&partial.lines) };
    let sets = partial.pages.iter().zip(&partial.lines);
    for (kernel, (pages, lines)) in whole.kernels.iter_mut().zip(sets) {
        kernel.counts.footprint = FootprintCounts {
            pages: distinct(&mut pages.clone()),
            lines: distinct(&mut lines.clone()),
        };
    }
}

/// Checks that the parts are all shards of one replay, each once.
fn check_together(parts: &[(usize, Summary, Partial)]) -> Result<(), MergeError> {
    let (_, first, partial) = parts.first().ok_or(MergeError::Nothing)?;
    for (index, summary, other) in parts {
        let is_same = other.replay == partial.replay
            && summary.kernels.len() == first.kernels.len()
            && (summary.complete, &summary.notes) == (first.complete, &first.notes)
            && summary.digest.is_some() == first.digest.is_some()
            && summary.selected == first.selected;
        if !is_same {
            return Err(MergeError::OfAnotherTrace {
                index: *index,
                given: other.replay.clone(),
                expected: partial.replay.clone(),
            });
        }
        if other.of != partial.of {
            let message = "its number of shards differs from that of the first";
            return Err(MergeError::Inconsistent { index: *index, message });
        }
    }
    let of = partial.of;
    let mut given: Vec<u64> = parts.iter().map(|(_, _, partial)| partial.shard).collect();
    given.sort_unstable();
    if !given.iter().copied().eq(0..of) {
        return Err(MergeError::Incomplete { given, of, last: of.saturating_sub(1) });
    }
    Ok(())
}

fn check_consistent(summary: &Summary, partial: &Partial) -> Result<(), &'static str> {
    let kernels = summary.kernels.len();
    let is_as_long = partial.per_pc.len() == summary.per_pc.len()
        && partial.per_pc_stores.len() == summary.per_pc_stores.len()
        && partial.wavefronts.len() == partial.per_pc.len() + partial.per_pc_stores.len();
    if !is_as_long {
        return Err("`per_pc` and `partial` differ in length");
    }
    let counts_reuse = summary.counts.reuse.is_some();
    if partial.reuse.len() != if counts_reuse { kernels } else { 0 }
        || summary.kernels.iter().any(|kernel| kernel.counts.reuse.is_some() != counts_reuse)
    {
        return Err("`reuse` is of some kernels only");
    }
    if partial.pages.len() != kernels || partial.lines.len() != kernels {
        return Err("`kernels` and `partial` differ in length");
    }
    check_sums(summary, partial)
}

/// Checks that the counts of the whole are the sums of its kernels', and a kernel's those of its
/// rows.
fn check_sums(summary: &Summary, partial: &Partial) -> Result<(), &'static str> {
    let whole = &summary.counts;
    let mut sum = Counts { footprint: whole.footprint, ..Counts::default() };
    // What is not replayed must be known of all or of none.
    let is_known = |counts: &Counts| {
        let Counts { skipped, ldgsts, tma, stores, atomics, .. } = counts;
        let others = (skipped.not_replayed.is_some(), ldgsts.is_some(), tma.is_some());
        (others, stores.is_some(), atomics.is_some())
    };
    if summary.kernels.iter().any(|kernel| is_known(&kernel.counts) != is_known(whole)) {
        return Err("the instructions that are not replayed are known of a part only");
    }
    sum.skipped.not_replayed = whole.skipped.not_replayed.as_ref().map(|_| BTreeMap::new());
    sum.ldgsts = whole.ldgsts.map(|_| LdgstsCounts::default());
    sum.tma = whole.tma.map(|_| TmaCounts::default());
    sum.stores = whole.stores.map(|_| TrafficCounts::default());
    sum.atomics = whole.atomics.map(|_| TrafficCounts::default());
    sum.reuse = whole.reuse.as_ref().map(|_| ReuseCounts::default());
    for kernel in &summary.kernels {
        sum.add(&kernel.counts);
        if let (Some(sum), Some(reuse)) = (&mut sum.reuse, &kernel.counts.reuse) {
            sum.add(reuse);
        }
    }
    if sum != *whole {
        return Err("the counts of the whole are not the sums of its kernels'");
    }
    let mut rows = vec![[0u64; 4]; summary.kernels.len()];
    for (row, &(kernel, _, sectors)) in summary.per_pc.iter().zip(&partial.per_pc) {
        let sums = rows
            .get_mut(kernel)
            .ok_or("a row of `per_pc` has a kernel that is not in `kernels`")?;
        for (to, from) in sums.iter_mut().zip([row.loads, row.lanes, row.ideal_sectors, sectors]) {
            add(to, from);
        }
    }
    for (kernel, sums) in summary.kernels.iter().zip(rows) {
        let Counts { loads, lanes, ideal_sectors, sectors, .. } = kernel.counts;
        if sums != [loads, lanes, ideal_sectors, sectors] {
            return Err("the counts of a kernel are not the sums of its rows of `per_pc`");
        }
    }
    Ok(())
}

fn add_digests(one: Option<Digest>, other: Option<Digest>) -> Option<Digest> {
    Some(Digest(one?.0.wrapping_add(other?.0)))
}
