//! [`Summary::merge`]: from the summaries of all shards to that of the whole replay, and
//! [`Summary::merge_partial`]: from those of neighbouring shards to one that merges further.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::RangeInclusive;

use roaring::RoaringTreemap;

use super::check::{check_consistent, is_known};
use super::partial::{Checksum, PartialReuse, Set, other_version};
use super::rows::Rows;
use super::{Digest, FootprintCounts, KernelSummary, PartialSummary, ReuseCounts, Summary};
use crate::reuse::{Distances, Touches};
use crate::statistics::KEPT;

/// Why summaries cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There are no summaries.
    #[error("no summaries")]
    Nothing,
    /// A summary that is not a shard's.
    #[error("summary {index} is {}", self.reason())]
    NotPartial {
        /// The summary's index.
        index: usize,
    },
    /// Shards are missing, or are there twice.
    #[error("these are shards {} of {of}; expected each from 0 to {last} once", listed(given))]
    Incomplete {
        /// The numbers of the given shards, ascending.
        given: Vec<RangeInclusive<u64>>,
        /// The number of shards.
        of: u64,
        /// The number of the last shard.
        last: u64,
    },
    /// Shards that are to become one partial summary, but are no neighbours, or are there twice.
    #[error("these are shards {} of {of}; expected neighbours, each once", listed(given))]
    NotNeighbours {
        /// The numbers of the given shards, ascending.
        given: Vec<RangeInclusive<u64>>,
        /// The number of shards.
        of: u64,
    },
    /// Summaries of different traces.
    #[error("summary {index} is {}", self.reason())]
    OfAnotherTrace {
        /// The summary's index.
        index: usize,
        /// The replay that it is of.
        given: String,
        /// The replay that the first one is of.
        expected: String,
    },
    /// A summary that another version of warpload has made.
    #[error("summary {index} is {}", self.reason())]
    OtherVersion {
        /// The summary's index.
        index: usize,
        /// The version that made it.
        given: String,
    },
    /// A summary whose parts contradict each other.
    #[error("summary {index} is {}", self.reason())]
    Inconsistent {
        /// The summary's index.
        index: usize,
        /// What is wrong.
        message: &'static str,
    },
}

impl MergeError {
    /// Returns the index of the summary at fault, among those that were to be merged; `None` if none is at
    /// fault alone.
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::NotPartial { index }
            | Self::OfAnotherTrace { index, .. }
            | Self::OtherVersion { index, .. }
            | Self::Inconsistent { index, .. } => Some(*index),
            Self::Nothing | Self::Incomplete { .. } | Self::NotNeighbours { .. } => None,
        }
    }

    /// Returns what the summary at fault is, without its index: `inconsistent: …`; the whole error if none
    /// is at fault alone.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::NotPartial { .. } => "not of a shard; expected the key `partial`".to_owned(),
            Self::OfAnotherTrace { given, expected, .. } => format!(
                "of another trace, or of another replay of it: {given}; expected {expected}"
            ),
            Self::OtherVersion { given, .. } => format!(
                "made by warpload {given}; expected {}, since parts merge only with those of their version",
                env!("CARGO_PKG_VERSION")
            ),
            Self::Inconsistent { message, .. } => format!("inconsistent: {message}"),
            Self::Nothing | Self::Incomplete { .. } | Self::NotNeighbours { .. } => {
                self.to_string()
            }
        }
    }
}

/// Returns the numbers of shards as a list, several neighbours with a dash.
fn listed(given: &[RangeInclusive<u64>]) -> String {
    let one = |range: &RangeInclusive<u64>| match range.clone().into_inner() {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    };
    format!("[{}]", given.iter().map(one).collect::<Vec<_>>().join(", "))
}

impl Summary {
    /// Merges the summaries of all shards of a replay, or of ranges of them, in any order, into that of the
    /// whole.
    ///
    /// # Errors
    /// Returns [`MergeError`] if the summaries are not those of all shards of one replay.
    pub fn merge(shards: Vec<Summary>) -> Result<Summary, MergeError> {
        Ok(Summary { partial: None, ..merged(shards, true)? })
    }

    /// Returns the summary of a shard without the kernels of which it has no instructions, for
    /// [`Self::merge`]: `kernels` are those that stay, from
    /// [`kernels_of_shard`](warpload_trace::kernels_of_shard). A summary that is not of a shard stays as it is.
    #[must_use]
    pub fn for_merging(mut self, kernels: &[usize]) -> Summary {
        let Some(partial) = &mut self.partial else { return self };
        let old = std::mem::take(&mut partial.kernels);
        let mut places = vec![None; old.len()];
        let kept = kernels.iter().filter(|kernel| **kernel < old.len());
        for (new, kernel) in kept.enumerate() {
            places[*kernel] = Some(new);
        }
        let is_kept = |kernel: usize| places[kernel].is_some();
        partial.kernels = keep(old, is_kept);
        partial.pages = keep(std::mem::take(&mut partial.pages), is_kept);
        partial.lines = keep(std::mem::take(&mut partial.lines), is_kept);
        partial.reuse = keep(std::mem::take(&mut partial.reuse), is_kept);
        self.kernels = keep(self.kernels, is_kept);
        // Kernels without instructions have no rows.
        for (kernel, ..) in partial.per_pc.iter_mut().chain(&mut partial.per_pc_stores) {
            *kernel = places.get(*kernel).copied().flatten().unwrap_or_default();
        }
        self
    }

    /// Merges the summaries of neighbouring shards of a replay, or of ranges of them, in any order, into one
    /// that merges with those of other shards. Whichever are merged first, the result is the same.
    ///
    /// # Errors
    /// Returns [`MergeError`] if the summaries are not those of neighbouring shards of one replay.
    pub fn merge_partial(shards: Vec<Summary>) -> Result<Summary, MergeError> {
        merged(shards, false)
    }
}

/// Returns the items at places that are kept.
fn keep<T>(items: Vec<T>, is_kept: impl Fn(usize) -> bool) -> Vec<T> {
    items.into_iter().enumerate().filter(|(i, _)| is_kept(*i)).map(|(_, item)| item).collect()
}

fn merged(shards: Vec<Summary>, is_whole: bool) -> Result<Summary, MergeError> {
    let mut parts = Vec::with_capacity(shards.len());
    for (index, summary) in shards.into_iter().enumerate() {
        parts.push(Part::new(index, summary)?);
    }
    check_replay(&parts)?;
    parts.sort_by_key(|part| part.partial.first);
    check_shards(&parts, is_whole)?;
    check_kernels(&parts, is_whole)?;
    // Neighbours first: what is added up grows with each step, and has to be copied.
    while parts.len() > 1 {
        let mut sums = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(mut part) = rest.next() {
            rest.next().map(|later| part.add(later)).transpose()?;
            sums.push(part);
        }
        parts = sums;
    }
    Ok(parts.pop().ok_or(MergeError::Nothing)?.finish())
}

/// The summary of a range of shards, taken apart.
struct Part {
    index: usize,
    /// Without kernels and rows.
    summary: Summary,
    /// Without what is of kernels and rows.
    partial: PartialSummary,
    /// By their numbers in the trace.
    kernels: BTreeMap<usize, KernelPart>,
    rows: Rows,
}

struct KernelPart {
    summary: KernelSummary,
    pages: RoaringTreemap,
    lines: RoaringTreemap,
    /// If it is counted.
    reuse: Option<(Touches, Distances)>,
}

impl Part {
    fn new(index: usize, mut summary: Summary) -> Result<Self, MergeError> {
        let mut partial = summary.partial.take().ok_or(MergeError::NotPartial { index })?;
        let inconsistent = |message| MergeError::Inconsistent { index, message };
        // First: what another version has written may have more than is read here, and so another checksum.
        if let Some(given) = other_version(&partial.replay) {
            return Err(MergeError::OtherVersion { index, given: given.to_owned() });
        }
        if !summary.is_as_written(&partial) {
            return Err(inconsistent(
                "its checksum does not match: it has changed since it was written",
            ));
        }
        partial.checksum = Checksum::default();
        check_consistent(&summary, &partial).map_err(inconsistent)?;
        let rows = Rows::take(&mut summary, &mut partial).map_err(inconsistent)?;
        let pages = std::mem::take(&mut partial.pages);
        let lines = std::mem::take(&mut partial.lines);
        let mut reuse = std::mem::take(&mut partial.reuse).into_iter();
        let numbers = std::mem::take(&mut partial.kernels);
        let kernels = std::mem::take(&mut summary.kernels).into_iter().zip(pages).zip(lines);
        let kernels = kernels.map(|((mut summary, pages), lines)| {
            let distances = summary.counts.reuse.take().as_ref().map(Distances::of);
            let reuse = reuse.next().map(|touches| touches.0).zip(distances);
            KernelPart { summary, pages: pages.0, lines: lines.0, reuse }
        });
        let kernels = numbers.into_iter().zip(kernels).collect();
        Ok(Self { index, summary, partial, kernels, rows })
    }

    /// Adds the range of shards that follows.
    fn add(&mut self, later: Self) -> Result<(), MergeError> {
        let Self { index, summary, partial, kernels, rows } = later;
        self.rows.add(rows).map_err(|message| MergeError::Inconsistent { index, message })?;
        for (number, kernel) in kernels {
            match self.kernels.entry(number) {
                Entry::Vacant(place) => drop(place.insert(kernel)),
                Entry::Occupied(mut known) => known.get_mut().add(kernel),
            }
        }
        self.partial.last = partial.last;
        self.summary.counts.add(&summary.counts);
        self.summary.first_faults.extend(summary.first_faults);
        self.summary.first_mismatches.extend(summary.first_mismatches);
        self.summary.digest = add_digests(self.summary.digest, summary.digest);
        Ok(())
    }

    fn finish(self) -> Summary {
        let Self { mut summary, mut partial, kernels, rows, .. } = self;
        summary.first_faults.truncate(KEPT);
        summary.first_mismatches.truncate(KEPT);
        partial.kernels = kernels.keys().copied().collect();
        rows.restore(&mut summary, &mut partial);
        let mut sum = summary.counts.reuse.as_ref().map(|_| ReuseCounts::default());
        let (mut all_pages, mut all_lines) = (RoaringTreemap::new(), RoaringTreemap::new());
        for KernelPart { summary: mut kernel, pages, lines, reuse } in kernels.into_values() {
            kernel.counts.footprint = FootprintCounts { pages: pages.len(), lines: lines.len() };
            if let (Some(sum), Some((touches, distances))) = (&mut sum, reuse) {
                let counts = distances.counts(lines.len());
                sum.add(&counts);
                kernel.counts.reuse = Some(counts);
                partial.reuse.push(PartialReuse(touches));
            }
            all_pages |= &pages;
            all_lines |= &lines;
            partial.pages.push(Set(pages));
            partial.lines.push(Set(lines));
            summary.kernels.push(kernel);
        }
        summary.counts.footprint =
            FootprintCounts { pages: all_pages.len(), lines: all_lines.len() };
        summary.counts.reuse = sum;
        Summary { partial: Some(partial), ..summary }
    }
}

impl KernelPart {
    fn names(&self) -> (&str, Option<&str>) {
        (&self.summary.name, self.summary.demangled.as_deref())
    }

    fn add(&mut self, later: Self) {
        let KernelPart { summary, pages, lines, reuse } = later;
        self.summary.counts.add(&summary.counts);
        if let (Some((touches, distances)), Some((later, more))) = (&mut self.reuse, reuse) {
            distances.add_all(&more);
            *touches = touches.then(&self.lines, &later, &lines, distances);
        }
        self.pages |= pages;
        self.lines |= lines;
    }
}

/// Checks that the parts are of one replay, in as many shards.
fn check_replay(parts: &[Part]) -> Result<(), MergeError> {
    let Part { summary: first, partial, .. } = parts.first().ok_or(MergeError::Nothing)?;
    for Part { index, summary, partial: other, .. } in parts {
        let is_same = other.replay == partial.replay
            && (summary.complete, &summary.notes) == (first.complete, &first.notes)
            && summary.digest.is_some() == first.digest.is_some()
            && summary.counts.reuse.is_some() == first.counts.reuse.is_some()
            && summary.selected == first.selected
            && other.of_kernels == partial.of_kernels
            && is_known(&summary.counts) == is_known(&first.counts);
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
    Ok(())
}

/// Checks that each range of shards, in ascending order, begins after the one before, and of the whole that
/// none is missing.
fn check_shards(parts: &[Part], is_whole: bool) -> Result<(), MergeError> {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return Err(MergeError::Nothing);
    };
    let of = first.partial.of;
    let are_neighbours =
        parts.windows(2).all(|pair| pair[1].partial.first == pair[0].partial.last + 1);
    let is_all = first.partial.first == 0 && last.partial.last == of - 1;
    if are_neighbours && (is_all || !is_whole) {
        return Ok(());
    }
    let given = parts.iter().map(|part| part.partial.shards()).collect();
    Err(if is_whole {
        MergeError::Incomplete { given, of, last: of - 1 }
    } else {
        MergeError::NotNeighbours { given, of }
    })
}

/// Checks that the shards have the same names for a kernel, and of the whole that none is missing.
fn check_kernels(parts: &[Part], is_whole: bool) -> Result<(), MergeError> {
    let mut known: BTreeMap<usize, &KernelPart> = BTreeMap::new();
    for Part { index, kernels, .. } in parts {
        for (number, kernel) in kernels {
            if known.entry(*number).or_insert(kernel).names() != kernel.names() {
                let message = "a kernel has another name than in another shard";
                return Err(MergeError::Inconsistent { index: *index, message });
            }
        }
    }
    match parts.last() {
        // All numbers are below that.
        Some(Part { index, partial, .. }) if is_whole && known.len() < partial.of_kernels => {
            let message = "kernels of the trace are missing";
            Err(MergeError::Inconsistent { index: *index, message })
        }
        _ => Ok(()),
    }
}

fn add_digests(one: Option<Digest>, other: Option<Digest>) -> Option<Digest> {
    Some(Digest(one?.0.wrapping_add(other?.0)))
}
