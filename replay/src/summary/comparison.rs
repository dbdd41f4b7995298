//! [`Comparison`]: the changes between two replays.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde::Serialize;

use super::{Hex, Summary};
use crate::counters::{LdgstsCounts, PcSummary, TrafficCounts};
use crate::options::Selected;

/// Two replays, A and B, program counter by program counter.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// All loads.
    pub loads: [u64; 2],
    /// Their sectors of global memory.
    pub sectors: [u64; 2],
    /// Their wavefronts of shared memory.
    pub wavefronts: [u64; 2],
    /// The records of copies from global to shared memory.
    pub copies: [u64; 2],
    /// Their sectors of global memory; 0 if the trace does not have them.
    pub copy_sectors: [u64; 2],
    /// Their wavefronts of shared memory; 0 if the trace does not have them.
    pub copy_wavefronts: [u64; 2],
    /// The number of stores and atomics.
    pub stores: [u64; 2],
    /// Their sectors of global memory.
    pub store_sectors: [u64; 2],
    /// Their wavefronts of shared memory.
    pub store_wavefronts: [u64; 2],
    /// Loads, stores, atomics and copies by kernel name, program counter and opcode, the largest change first.
    pub per_pc: Vec<ComparedRow>,
}

/// The accesses of one program counter in two replays: loads, stores, atomics or copies. Launches of kernels with the same name are added up. A
/// replay without this program counter has `None` as counts.
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
    /// The opcode with its modifiers.
    pub opcode: Arc<str>,
    /// The number of its accesses.
    pub loads: [Option<u64>; 2],
    /// Their sectors of global memory.
    pub sectors: [Option<u64>; 2],
    /// Their wavefronts of shared memory.
    pub wavefronts: [Option<u64>; 2],
    /// The difference of sectors and wavefronts together in percent of A's; `None` if A has none and B
    /// has some.
    pub change: Option<f64>,
}

/// Why two replays cannot be compared: they counted different loads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the replays counted different loads: {} in the first, {} in the second; expected the same selection",
    in_words(&selections[0]),
    in_words(&selections[1])
)]
pub struct DifferentSelections {
    /// The selections; `None` for a replay that counted all loads.
    pub selections: Box<[Option<Selected>; 2]>,
}

fn in_words(selected: &Option<Selected>) -> String {
    selected.as_ref().map_or_else(|| "all".to_owned(), |selected| format!("those of {selected}"))
}

impl Comparison {
    /// Compares the summaries of two whole replays.
    ///
    /// # Errors
    /// Returns [`DifferentSelections`] if they did not count the same loads.
    pub fn new(a: &Summary, b: &Summary) -> Result<Self, DifferentSelections> {
        if a.selected != b.selected {
            let selections = Box::new([a, b].map(|summary| summary.selected.clone()));
            return Err(DifferentSelections { selections });
        }
        let mut rows = BTreeMap::new();
        let mut demangled = HashMap::new();
        for (side, summary) in [a, b].into_iter().enumerate() {
            let stores = summary.per_pc_stores.iter().chain(&summary.per_pc_copies);
            for row in summary.per_pc.iter().chain(stores) {
                let key = (&row.kernel, row.pc, &row.opcode);
                rows.entry(key).or_insert_with(|| ComparedRow::new(row)).add(side, row);
            }
            for kernel in &summary.kernels {
                if let Some(form) = &kernel.demangled {
                    demangled.insert(&kernel.name, form);
                }
            }
        }
        let mut per_pc: Vec<ComparedRow> = rows.into_values().collect();
        for row in &mut per_pc {
            row.demangled = demangled.get(&row.kernel).map(|form| Arc::clone(form));
            row.change = percent_change(row.amounts());
        }
        per_pc.sort_by(|one, other| {
            let percent = |row: &ComparedRow| row.change.unwrap_or(f64::INFINITY);
            let by_change = percent(other).total_cmp(&percent(one));
            by_change.then_with(|| other.growth().cmp(&one.growth()))
        });
        let both = |amount: fn(&Summary) -> u64| [amount(a), amount(b)];
        Ok(Self {
            loads: both(|summary| summary.counts.loads),
            sectors: both(|summary| summary.counts.sectors),
            wavefronts: both(|summary| summary.counts.shared.wavefronts),
            copies: both(|summary| copies(summary).records),
            copy_sectors: both(|summary| copies(summary).sectors.0.unwrap_or(0)),
            copy_wavefronts: both(|summary| copies(summary).wavefronts.0.unwrap_or(0)),
            stores: both(|summary| stores(summary).map(|traffic| traffic.count).sum()),
            store_sectors: both(|summary| stores(summary).map(|traffic| traffic.sectors).sum()),
            store_wavefronts: both(|summary| {
                summary.per_pc_stores.iter().map(wavefronts).fold(0, u64::saturating_add)
            }),
            per_pc,
        })
    }

    /// Returns the sectors and wavefronts of loads, stores, atomics and copies together.
    #[must_use]
    pub fn together(&self) -> [u128; 2] {
        let Self { sectors, wavefronts, copy_sectors, copy_wavefronts, .. } = self;
        let Self { store_sectors, store_wavefronts, .. } = self;
        [0, 1].map(|side| {
            let loads = [sectors, wavefronts];
            let others = [store_sectors, store_wavefronts, copy_sectors, copy_wavefronts];
            let amounts = loads.into_iter().chain(others);
            amounts.map(|amount| u128::from(amount[side])).sum()
        })
    }

    /// Returns the difference of sectors and wavefronts together in percent of A's; `None` if A has none
    /// and B has some.
    #[must_use]
    pub fn change(&self) -> Option<f64> {
        percent_change(self.together())
    }

    /// Returns the program counters with different counts, the largest change first.
    pub fn changed(&self) -> impl Iterator<Item = &ComparedRow> {
        self.per_pc
            .iter()
            .filter(|row| [row.loads, row.sectors, row.wavefronts].iter().any(|[a, b]| a != b))
    }
}

impl ComparedRow {
    fn new(row: &PcSummary) -> Self {
        Self {
            kernel: Arc::clone(&row.kernel),
            demangled: None,
            pc: row.pc,
            opcode: Arc::clone(&row.opcode),
            loads: [None; 2],
            sectors: [None; 2],
            wavefronts: [None; 2],
            change: None,
        }
    }

    fn add(&mut self, side: usize, row: &PcSummary) {
        let wavefronts = wavefronts(row);
        for (sums, amount) in [
            (&mut self.loads, row.loads),
            (&mut self.sectors, row.sectors.sum(row.loads)),
            (&mut self.wavefronts, wavefronts),
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

/// The wavefronts of shared memory of a row.
fn wavefronts(row: &PcSummary) -> u64 {
    row.shared.as_ref().and_then(|shared| shared.all_wavefronts()).unwrap_or(0)
}

/// The traffic of stores, then of atomics.
fn stores(summary: &Summary) -> impl Iterator<Item = TrafficCounts> {
    let counts = &summary.counts;
    [counts.stores, counts.atomics].into_iter().flatten()
}

fn copies(summary: &Summary) -> LdgstsCounts {
    summary.counts.ldgsts.unwrap_or_default()
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
