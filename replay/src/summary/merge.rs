//! [`Summary::merge`] merges the summaries of all shards into the whole one, and [`PartialSummary::merge`] those of
//! neighbouring shards into a larger partial one. Kernels of shards add up like kernels of threads.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::RangeInclusive;

use super::counts::{About, RowTable, Sums, pc_summary};
use super::partial::PartialKernel;
use super::{Digest, PartialSummary, Summary};
use crate::statistics::KEPT;

/// Why summaries cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There are no summaries.
    #[error("no summaries")]
    Nothing,
    /// Shards are missing or duplicate.
    #[error("these are shards {} of {of}; expected each from 0 to {last} once", listed(given))]
    Incomplete {
        /// The numbers of the given shards, ascending.
        given: Vec<RangeInclusive<u64>>,
        /// The number of shards.
        of: u64,
        /// The number of the last shard.
        last: u64,
    },
    /// The shards for a partial summary are not neighbours, or duplicate.
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
        /// The summary's replay.
        given: String,
        /// The first summary's replay.
        expected: String,
    },
    /// A summary that contradicts another one.
    #[error("summary {index} is {}", self.reason())]
    Inconsistent {
        /// The summary's index.
        index: usize,
        /// The contradiction.
        message: &'static str,
    },
}

impl MergeError {
    /// Returns the index of the summary at fault, among the summaries to merge; `None` if no single one is at fault.
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::OfAnotherTrace { index, .. } | Self::Inconsistent { index, .. } => Some(*index),
            Self::Nothing | Self::Incomplete { .. } | Self::NotNeighbours { .. } => None,
        }
    }

    /// Returns the reason without the index: `inconsistent: …`. The whole error if no single summary is at fault.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::OfAnotherTrace { given, expected, .. } => format!(
                "of another trace, or of another replay of it: {given}; expected {expected}"
            ),
            Self::Inconsistent { message, .. } => format!("inconsistent: {message}"),
            Self::Nothing | Self::Incomplete { .. } | Self::NotNeighbours { .. } => {
                self.to_string()
            }
        }
    }
}

/// Lists shard numbers, neighbours as a range with a dash.
fn listed(given: &[RangeInclusive<u64>]) -> String {
    let one = |range: &RangeInclusive<u64>| match range.clone().into_inner() {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    };
    format!("[{}]", given.iter().map(one).collect::<Vec<_>>().join(", "))
}

impl Summary {
    /// Merges the summaries of all shards of a replay, or of ranges of them, in any order, into the whole summary.
    ///
    /// # Errors
    /// Returns [`MergeError`] unless the summaries cover all shards of one replay.
    pub fn merge(shards: Vec<PartialSummary>) -> Result<Summary, MergeError> {
        Ok(merged(shards, true)?.into_summary())
    }
}

impl PartialSummary {
    /// Merges the summaries of neighbouring shards of a replay, or of ranges of them, in any order, into a larger
    /// partial summary. Merging is associative.
    ///
    /// # Errors
    /// Returns [`MergeError`] unless the summaries cover neighbouring shards of one replay.
    pub fn merge(shards: Vec<PartialSummary>) -> Result<PartialSummary, MergeError> {
        merged(shards, false)
    }

    /// Adds the next range of shards.
    fn add(&mut self, later: Self) -> Result<(), &'static str> {
        self.last = later.last;
        self.about.digest = add_digests(self.about.digest, later.about.digest);
        self.first_faults.extend(later.first_faults);
        self.first_faults.truncate(KEPT);
        self.first_mismatches.extend(later.first_mismatches);
        self.first_mismatches.truncate(KEPT);
        for (number, operation) in later.operations {
            put(&mut self.operations, number, operation)
                .ok_or("an operation contradicts another shard")?;
        }
        for (number, kernel) in later.kernels {
            match self.kernels.entry(number) {
                Entry::Vacant(place) => drop(place.insert(kernel)),
                Entry::Occupied(mut known) => known.get_mut().add(kernel)?,
            }
        }
        Ok(())
    }

    /// Converts the counts to the form of a whole summary, with only the kernels that the shards touched.
    #[must_use]
    pub fn into_summary(self) -> Summary {
        let Self { about, first_faults, first_mismatches, operations, kernels, .. } = self;
        let mut sums = Sums::new(about);
        let (mut loads, mut stores, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        for PartialKernel { name, demangled, counts, mut code } in kernels.into_values() {
            for &((pc, number), ref row) in &counts.per_pc {
                // Each operation exists, because it has been checked.
                let Some(operation) = operations.get(&number) else { continue };
                let code = code.remove(&(pc, number)).unwrap_or_default();
                let rows = match RowTable::of(operation.kind) {
                    RowTable::Loads => &mut loads,
                    RowTable::Stores => &mut stores,
                    RowTable::Copies => &mut copies,
                };
                rows.push(pc_summary(&name, pc, operation, row, code));
            }
            sums.add(name, demangled, &counts, |number| operations.get(&number));
        }
        let whole = sums.finish(first_faults, first_mismatches);
        Summary { per_pc: loads, per_pc_stores: stores, per_pc_copies: copies, ..whole }
    }
}

impl PartialKernel {
    fn add(&mut self, later: Self) -> Result<(), &'static str> {
        if (&self.name, &self.demangled) != (&later.name, &later.demangled) {
            return Err("a kernel has another name than in another shard");
        }
        for (row, code) in later.code {
            put(&mut self.code, row, code)
                .ok_or("a row of a program counter contradicts another shard")?;
        }
        self.counts.add(later.counts);
        Ok(())
    }
}

/// Inserts a value; `None` if the key has another one.
fn put<Key: Ord, Value: PartialEq>(
    to: &mut BTreeMap<Key, Value>,
    key: Key,
    value: Value,
) -> Option<()> {
    match to.entry(key) {
        Entry::Vacant(place) => drop(place.insert(value)),
        Entry::Occupied(known) if *known.get() == value => {}
        Entry::Occupied(_) => return None,
    }
    Some(())
}

fn merged(shards: Vec<PartialSummary>, is_whole: bool) -> Result<PartialSummary, MergeError> {
    let mut parts: Vec<(usize, PartialSummary)> = shards.into_iter().enumerate().collect();
    check_replay(&parts)?;
    parts.sort_by_key(|(_, part)| part.first);
    check_shards(&parts, is_whole)?;
    let mut rest = parts.into_iter();
    let (mut index, mut sum) = rest.next().ok_or(MergeError::Nothing)?;
    for (next, part) in rest {
        index = next;
        sum.add(part).map_err(|message| MergeError::Inconsistent { index, message })?;
    }
    if is_whole && sum.kernels.len() < sum.of_kernels {
        let message = "kernels of the trace are missing";
        return Err(MergeError::Inconsistent { index, message });
    }
    Ok(sum)
}

/// Checks that the parts belong to one replay with the same number of shards.
fn check_replay(parts: &[(usize, PartialSummary)]) -> Result<(), MergeError> {
    let (_, first) = parts.first().ok_or(MergeError::Nothing)?;
    // Digests of parts differ, so only their presence is compared.
    let about = |part: &PartialSummary| About {
        digest: part.about.digest.map(|_| Digest(0)),
        ..part.about.clone()
    };
    for (index, part) in parts {
        let is_same = part.replay == first.replay
            && part.of_kernels == first.of_kernels
            && about(part) == about(first);
        if !is_same {
            return Err(MergeError::OfAnotherTrace {
                index: *index,
                given: part.replay.clone(),
                expected: first.replay.clone(),
            });
        }
        if part.of != first.of {
            let message = "its number of shards differs from the first summary";
            return Err(MergeError::Inconsistent { index: *index, message });
        }
    }
    Ok(())
}

/// Checks that the ranges of shards, in ascending order, are neighbours, and that the whole has all of them.
fn check_shards(parts: &[(usize, PartialSummary)], is_whole: bool) -> Result<(), MergeError> {
    let (Some((_, first)), Some((_, last))) = (parts.first(), parts.last()) else {
        return Err(MergeError::Nothing);
    };
    let of = first.of;
    let are_neighbours = parts.windows(2).all(|pair| pair[1].1.first == pair[0].1.last + 1);
    let is_all = first.first == 0 && last.last == of - 1;
    if are_neighbours && (is_all || !is_whole) {
        return Ok(());
    }
    let given = parts.iter().map(|(_, part)| part.shards()).collect();
    Err(if is_whole {
        MergeError::Incomplete { given, of, last: of - 1 }
    } else {
        MergeError::NotNeighbours { given, of }
    })
}

fn add_digests(one: Option<Digest>, other: Option<Digest>) -> Option<Digest> {
    Some(Digest(one?.0.wrapping_add(other?.0)))
}
