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
    /// The difference of the sectors, wavefronts and addresses of all accesses in percent of A's; `None` if A has none
    /// and B has some, or if it is [not known](Self::is_known).
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
    /// Their addresses of constant memory, one at a time.
    pub addresses: [u64; 2],
    /// Those whose cost is unknown, or not all of it.
    pub unknown: [u64; 2],
    /// Their lanes that fault, which have no cost.
    pub faults: [u64; 2],
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
    /// Their addresses of constant memory, one at a time.
    pub addresses: [Option<u64>; 2],
    /// Those whose cost is unknown, or not all of it.
    pub unknown: [Option<u64>; 2],
    /// Their lanes that fault, which have no cost.
    pub faults: [Option<u64>; 2],
    /// The difference of sectors, wavefronts and addresses together in percent of A's; `None` if A has none and B has
    /// some, or if it is not known.
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
            row.change = percent_change(row.amounts()).filter(|_| row.is_known());
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
                addresses: counts.map(AccessCounts::addresses),
                unknown: counts.map(AccessCounts::unknown),
                faults: counts.map(|counts| counts.lane_faults.all()),
            }
        });
        let kinds: Vec<ComparedKind> = kinds.filter(|of| of.accesses != [0, 0]).collect();
        let together = [0, 1].map(|side| {
            let amounts = kinds
                .iter()
                .flat_map(|of| [of.sectors[side], of.wavefronts[side], of.addresses[side]]);
            amounts.map(u128::from).sum()
        });
        let mut comparison = Self { kinds, change: None, rows };
        comparison.change = percent_change(together).filter(|_| comparison.is_known());
        Ok(comparison)
    }

    /// Returns whether the change is known: whether equally many accesses of both have an unknown cost, and equally many
    /// lanes fault.
    #[must_use]
    pub fn is_known(&self) -> bool {
        let mut uncertain = self.kinds.iter().flat_map(|of| [of.unknown, of.faults]);
        uncertain.all(|[a, b]| a == b)
    }

    /// Returns the instructions with different counts, the largest change first. One that only one replay has is
    /// different.
    pub fn changed(&self) -> impl Iterator<Item = &ComparedRow> {
        self.rows.iter().filter(|row| row.sums().iter().any(|[a, b]| a != b))
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
            addresses: [None; 2],
            unknown: [None; 2],
            faults: [None; 2],
            change: None,
        }
    }

    fn add(&mut self, side: usize, counts: &AccessCounts) {
        for (sums, amount) in [
            (&mut self.accesses, counts.accesses),
            (&mut self.sectors, counts.sectors()),
            (&mut self.wavefronts, counts.wavefronts()),
            (&mut self.addresses, counts.addresses()),
            (&mut self.unknown, counts.unknown()),
            (&mut self.faults, counts.lane_faults.all()),
        ] {
            sums[side] = Some(sums[side].unwrap_or(0).saturating_add(amount));
        }
    }

    /// Returns the kernel's demangled name if there is one, else its name.
    #[must_use]
    pub fn shown_kernel(&self) -> &str {
        self.demangled.as_ref().unwrap_or(&self.kernel)
    }

    /// Everything that is compared.
    fn sums(&self) -> [[Option<u64>; 2]; 6] {
        let Self { accesses, sectors, wavefronts, addresses, unknown, faults, .. } = *self;
        [accesses, sectors, wavefronts, addresses, unknown, faults]
    }

    /// Returns whether its change is known, as [`Comparison::is_known`].
    #[must_use]
    pub fn is_known(&self) -> bool {
        [self.unknown, self.faults].iter().all(|[a, b]| a.unwrap_or(0) == b.unwrap_or(0))
    }

    fn amounts(&self) -> [u128; 2] {
        [0, 1].map(|side| {
            let amounts = [self.sectors[side], self.wavefronts[side], self.addresses[side]];
            amounts.into_iter().flatten().map(u128::from).sum()
        })
    }

    /// The number of additional sectors, wavefronts and addresses.
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
        // Subtracted first, because a small growth of a large number would be lost in rounding.
        Some(100.0 * (after as i128 - before as i128) as f64 / before as f64)
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
