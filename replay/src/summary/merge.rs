//! [`Summary::merge`]: adds the summaries of the shards of a replay to the whole summary, and whole summaries to one of
//! several traces.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::{Digest, LaunchSummary, Summary};
use crate::counters::Counter;
use crate::footprint::Footprint;
use crate::launch_counts::KEPT;
use crate::row::join;
use crate::summary::part::LineSet;

/// Why summaries cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There are no summaries.
    #[error("no summaries")]
    Nothing,
    /// Shards are missing.
    #[error("shard{} {} of {of} {} missing", if missing.len() == 1 { "" } else { "s" }, listed(missing),
        if missing.len() == 1 { "is" } else { "are" })]
    Incomplete {
        /// The numbers of the missing shards, ascending.
        missing: Vec<u64>,
        /// The number of shards.
        of: u64,
    },
    /// A summary that does not fit the others.
    #[error("summary {index} {message}")]
    Unfit {
        /// The summary's index.
        index: usize,
        /// What is wrong: `has other launches than another shard`.
        message: String,
    },
}

impl MergeError {
    /// Returns the index of the summary at fault, among the summaries to merge; `None` if no single one is at fault.
    #[must_use]
    pub fn index(&self) -> Option<usize> {
        match self {
            Self::Unfit { index, .. } => Some(*index),
            Self::Nothing | Self::Incomplete { .. } => None,
        }
    }

    /// Returns what is wrong, without the index.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Unfit { message, .. } => message.clone(),
            Self::Nothing | Self::Incomplete { .. } => self.to_string(),
        }
    }
}

/// Lists shard numbers, neighbours as a range: `0, 3 to 5`. A file can claim any number of shards.
fn listed(numbers: &[u64]) -> String {
    const NAMED: usize = 8;
    let runs: Vec<&[u64]> = numbers.chunk_by(|one, next| one + 1 == *next).collect();
    let one = |run: &&[u64]| match **run {
        [first, last] => format!("{first}, {last}"),
        [first, .., last] => format!("{first} to {last}"),
        _ => run.iter().map(u64::to_string).collect(),
    };
    let mut named: Vec<String> = runs.iter().take(NAMED).map(one).collect();
    if runs.len() > NAMED {
        named.push("…".to_owned());
    }
    named.join(", ")
}

impl Summary {
    /// Merges summaries in any order. The shards of a replay add up to its whole summary. Whole summaries, of other
    /// traces, follow each other in the order of the list: their launches are numbered on, and their digests and
    /// footprints are not known together.
    ///
    /// # Errors
    /// Returns [`MergeError`] if shards of a replay are missing or come twice, or if summaries do not fit.
    pub fn merge(summaries: Vec<Self>) -> Result<Self, MergeError> {
        // By the index of its first summary.
        let mut replays: BTreeMap<usize, Vec<(usize, Self)>> = BTreeMap::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for (index, summary) in summaries.into_iter().enumerate() {
            let name = summary.shard.as_ref().map(|part| part.replay.clone());
            let first = name.map_or(index, |name| *known.entry(name).or_insert(index));
            replays.entry(first).or_default().push((index, summary));
        }
        let mut sum: Option<Self> = None;
        let other = known.values().copied().min().zip(known.values().copied().max());
        for (index, shards) in replays {
            let whole = merge_shards(shards).map_err(|error| match (error, other) {
                // More likely one of another replay by mistake than two that lack shards.
                (MergeError::Incomplete { .. }, Some((first, other))) if first < other => {
                    unfit(other, "is of a shard of another replay")
                }
                (error, _) => error,
            })?;
            match &mut sum {
                None => sum = Some(whole),
                Some(sum) => sum.append(whole).map_err(|message| unfit(index, message))?,
            }
        }
        sum.ok_or(MergeError::Nothing)
    }

    /// Adds the summary of another trace.
    fn append(&mut self, mut later: Self) -> Result<(), &'static str> {
        if self.selected != later.selected {
            return Err("has another selection of accesses than the first");
        }
        let from = self.launches.last().map_or(0, |last| last.launch.saturating_add(1));
        let last = later.rows.iter().map(|row| row.launch);
        let last = last.chain(later.launches.last().map(|launch| launch.launch)).max();
        if from.checked_add(last.unwrap_or(0)).is_none() {
            return Err("has launches with too high numbers");
        }
        later.launches.iter_mut().for_each(|launch| launch.launch += from);
        later.rows.iter_mut().for_each(|row| row.launch += from);
        self.launches.append(&mut later.launches);
        self.rows.append(&mut later.rows);
        self.counts.add(&later.counts);
        self.counts.footprint = None;
        self.digest = None;
        self.complete = self.complete.and(later.complete);
        later.notes.retain(|note| !self.notes.contains(note));
        self.notes.append(&mut later.notes);
        self.extend_firsts(&mut later);
        Ok(())
    }

    fn extend_firsts(&mut self, later: &mut Self) {
        self.first_faults.append(&mut later.first_faults);
        self.first_faults.truncate(KEPT);
        self.first_mismatches.append(&mut later.first_mismatches);
        self.first_mismatches.truncate(KEPT);
    }
}

fn unfit(index: usize, message: impl Into<String>) -> MergeError {
    MergeError::Unfit { index, message: message.into() }
}

/// Merges the shards of one replay; a whole summary is its own result.
fn merge_shards(mut shards: Vec<(usize, Summary)>) -> Result<Summary, MergeError> {
    shards.sort_by_key(|(_, shard)| shard.shard.as_ref().map(|part| part.index));
    let mut missing = Vec::new();
    let mut next = 0;
    let mut of = None;
    for (index, shard) in &shards {
        // A whole summary, which is alone.
        let Some(part) = &shard.shard else { continue };
        if *of.get_or_insert(part.of) != part.of {
            return Err(unfit(
                *index,
                "has another number of shards than another one of its replay",
            ));
        }
        if part.index < next {
            return Err(unfit(*index, format!("is {part}, like another one")));
        }
        // More are not named.
        missing.extend((next..part.index).take(1000));
        next = part.index + 1;
    }
    if let Some(of) = of {
        missing.extend((next..of).take(1000));
        if !missing.is_empty() {
            return Err(MergeError::Incomplete { missing, of });
        }
    }
    let mut rest = shards.into_iter();
    let (_, mut sum) = rest.next().ok_or(MergeError::Nothing)?;
    let Some(part) = sum.shard.take() else { return Ok(sum) };
    sum.checksum = None;
    let mut launches = with_lines(std::mem::take(&mut sum.launches), part.lines);
    let mut rows = vec![std::mem::take(&mut sum.rows)];
    for (index, mut shard) in rest {
        let Some(part) = shard.shard.take() else { continue };
        sum.counts.add(&shard.counts);
        sum.digest =
            sum.digest.zip(shard.digest).map(|(one, other)| Digest(one.0.wrapping_add(other.0)));
        sum.extend_firsts(&mut shard);
        for (number, (launch, lines)) in with_lines(shard.launches, part.lines) {
            match launches.entry(number) {
                Entry::Vacant(place) => drop(place.insert((launch, lines))),
                Entry::Occupied(mut known) => {
                    let (sum, known_lines) = known.get_mut();
                    if sum.kernel != launch.kernel {
                        return Err(unfit(
                            index,
                            "has another kernel than another shard in a launch",
                        ));
                    }
                    sum.counts.add(&launch.counts);
                    known_lines.0 |= lines.0;
                }
            }
        }
        rows.push(shard.rows);
    }
    if (launches.len() as u64) < part.launches {
        return Err(unfit(0, "lacks launches of its trace, like all others"));
    }
    let mut whole = Footprint::default();
    sum.launches = launches
        .into_values()
        .map(|(mut launch, LineSet(lines))| {
            let footprint = Footprint { lines };
            launch.counts.footprint = Some(footprint.counts());
            whole.lines |= footprint.lines;
            launch
        })
        .collect();
    sum.counts.footprint = Some(whole.counts());
    sum.rows = join(rows.concat());
    Ok(sum)
}

/// Launches and their lines, by number.
fn with_lines(
    launches: Vec<LaunchSummary>,
    lines: Vec<LineSet>,
) -> BTreeMap<u64, (LaunchSummary, LineSet)> {
    let pairs = launches.into_iter().zip(lines);
    pairs.map(|(launch, lines)| (launch.launch, (launch, lines))).collect()
}
