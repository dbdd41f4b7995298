//! [`Comparison`]: the changes between two replays.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::{Hex, Summary};
use crate::counters::AccessCounts;
use crate::options::Selected;
use crate::row::{AccessKind, Row, RowSpace};

/// Two replays, A and B, instruction by instruction.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The accesses of each kind, as far as either replay has some.
    pub kinds: Vec<ComparedKind>,
    /// The difference of the sectors and wavefronts of all accesses in percent of A's; `None` if A has none and B has
    /// some.
    pub change: Option<f64>,
    /// The instructions by kernel name, program counter, opcode, kind and space; the largest change first.
    pub rows: Vec<ComparedRow>,
}

/// The accesses of one kind in two replays.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ComparedKind {
    /// What they do.
    pub kind: AccessKind,
    /// Their number.
    pub accesses: [u64; 2],
    /// Their sectors of global and local memory.
    pub sectors: [u64; 2],
    /// Their wavefronts of shared memory.
    pub wavefronts: [u64; 2],
}

/// The accesses of one instruction in two replays. Launches of kernels with the same name are added up. A replay without
/// this instruction has `None` as counts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ComparedRow {
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// The kernel's demangled name, if a summary has it.
    #[serde(skip)]
    pub demangled: Option<Arc<str>>,
    /// The program counter.
    pub pc: Hex,
    /// The place of the instruction as it is shown: a program counter, or a line of PTX.
    #[serde(skip)]
    pub place: String,
    /// The opcode with its modifiers.
    pub opcode: Arc<str>,
    /// What it does.
    pub kind: AccessKind,
    /// The address space of its addresses.
    pub space: RowSpace,
    /// The number of its accesses.
    pub accesses: [Option<u64>; 2],
    /// Their sectors of global and local memory.
    pub sectors: [Option<u64>; 2],
    /// Their wavefronts of shared memory.
    pub wavefronts: [Option<u64>; 2],
    /// The difference of sectors and wavefronts together in percent of A's; `None` if A has none and B has some.
    pub change: Option<f64>,
}

/// Why two replays cannot be compared: they counted different accesses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the replays counted different accesses: {} in the first, {} in the second; expected the same selection",
    in_words(&selections[0]),
    in_words(&selections[1])
)]
pub struct DifferentSelections {
    /// The selections; `None` for a replay that counted all accesses.
    pub selections: Box<[Option<Selected>; 2]>,
}

fn in_words(selected: &Option<Selected>) -> String {
    selected.as_ref().map_or_else(|| "all".to_owned(), |selected| format!("those of {selected}"))
}

impl Comparison {
    /// Compares the summaries of two whole replays.
    ///
    /// # Errors
    /// Returns [`DifferentSelections`] if they did not count the same accesses.
    pub fn new(a: &Summary, b: &Summary) -> Result<Self, DifferentSelections> {
        if a.selected != b.selected {
            let selections = Box::new([a, b].map(|summary| summary.selected.clone()));
            return Err(DifferentSelections { selections });
        }
        let both = [a.by_kernel(), b.by_kernel()];
        let mut rows = BTreeMap::new();
        let mut demangled = BTreeMap::new();
        for (side, summary) in both.iter().enumerate() {
            for row in &summary.rows {
                let key = (&row.kernel, row.pc, row.kind, &row.opcode, row.space);
                rows.entry(key).or_insert_with(|| ComparedRow::new(row)).add(side, &row.counts);
            }
            for launch in &summary.launches {
                if let Some(form) = &launch.demangled {
                    demangled.insert(&launch.kernel, form);
                }
            }
        }
        let mut rows: Vec<ComparedRow> = rows.into_values().collect();
        for row in &mut rows {
            row.demangled = demangled.get(&row.kernel).map(|form| Arc::clone(form));
            row.change = percent_change(row.amounts());
        }
        rows.sort_by(|one, other| {
            let percent = |row: &ComparedRow| row.change.unwrap_or(f64::INFINITY);
            let by_change = percent(other).total_cmp(&percent(one));
            by_change.then_with(|| other.growth().cmp(&one.growth()))
        });
        let kinds = AccessKind::ALL.into_iter().map(|kind| {
            let counts = [a, b].map(|summary| summary.counts.kind(kind));
            ComparedKind {
                kind,
                accesses: counts.map(|counts| counts.accesses),
                sectors: counts.map(AccessCounts::sectors),
                wavefronts: counts.map(AccessCounts::wavefronts),
            }
        });
        let kinds: Vec<ComparedKind> = kinds.filter(|of| of.accesses != [0, 0]).collect();
        let together = [0, 1].map(|side| {
            let amounts = kinds.iter().flat_map(|of| [of.sectors[side], of.wavefronts[side]]);
            amounts.map(u128::from).sum()
        });
        Ok(Self { kinds, change: percent_change(together), rows })
    }

    /// Returns the instructions with different counts, the largest change first. One that only one replay has is
    /// different.
    pub fn changed(&self) -> impl Iterator<Item = &ComparedRow> {
        self.rows
            .iter()
            .filter(|row| [row.accesses, row.sectors, row.wavefronts].iter().any(|[a, b]| a != b))
    }
}

impl ComparedRow {
    fn new(row: &Row) -> Self {
        Self {
            kernel: Arc::clone(&row.kernel),
            demangled: None,
            pc: row.pc,
            place: row.place(),
            opcode: Arc::clone(&row.opcode),
            kind: row.kind,
            space: row.space,
            accesses: [None; 2],
            sectors: [None; 2],
            wavefronts: [None; 2],
            change: None,
        }
    }

    fn add(&mut self, side: usize, counts: &AccessCounts) {
        for (sums, amount) in [
            (&mut self.accesses, counts.accesses),
            (&mut self.sectors, counts.sectors()),
            (&mut self.wavefronts, counts.wavefronts()),
        ] {
            sums[side] = Some(sums[side].unwrap_or(0).saturating_add(amount));
        }
    }

    /// Returns the kernel's demangled name if there is one, else its name.
    #[must_use]
    pub fn shown_kernel(&self) -> &str {
        self.demangled.as_ref().unwrap_or(&self.kernel)
    }

    fn amounts(&self) -> [u128; 2] {
        [0, 1].map(|side| {
            let amounts = [self.sectors[side], self.wavefronts[side]];
            amounts.into_iter().flatten().map(u128::from).sum()
        })
    }

    /// The number of additional sectors and wavefronts.
    fn growth(&self) -> i128 {
        // Sums of a few 64-bit numbers fit.
        let [before, after] = self.amounts().map(|amount| amount as i128);
        after - before
    }
}
/// Returns the change between two amounts in percent of the first; `None` if the first is zero and the second is not.
#[must_use]
pub fn percent_change([before, after]: [u128; 2]) -> Option<f64> {
    if before == after {
        Some(0.0)
    } else if before == 0 {
        None
    } else {
        Some(100.0 * (after as f64 - before as f64) / before as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_in_percent_of_the_first() {
        assert_eq!(percent_change([4, 6]), Some(50.0));
        assert_eq!(percent_change([4, 0]), Some(-100.0));
        assert_eq!((percent_change([0, 0]), percent_change([0, 1])), (Some(0.0), None));
    }
}
