//! [`Rows`]: the rows of program counters of several shards, added up.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::counts::mean;
use super::{Hex, Partial, PcSummary, SectorSummary, Summary, add};

/// The rows of loads, and those of stores and atomics.
#[derive(Default)]
pub(super) struct Rows {
    loads: PerPc,
    stores: PerPc,
}

/// Rows by kernel, program counter and operation.
type PerPc = BTreeMap<(usize, Hex, u16), Row>;

/// A row, and the sums of which it has the means.
struct Row {
    row: PcSummary,
    sectors: u64,
    wavefronts: u64,
}

impl Rows {
    /// Takes the rows of a shard.
    pub(super) fn add(&mut self, summary: &mut Summary, partial: &Partial) {
        let mut wavefronts = partial.wavefronts.iter();
        for (to, rows, places) in [
            (&mut self.loads, &mut summary.per_pc, &partial.per_pc),
            (&mut self.stores, &mut summary.per_pc_stores, &partial.per_pc_stores),
        ] {
            let rows = std::mem::take(rows).into_iter().zip(places).zip(&mut wavefronts);
            for ((row, &(kernel, operation, sectors)), &wavefronts) in rows {
                let row = Row { row, sectors, wavefronts };
                match to.entry((kernel, row.row.pc, operation)) {
                    Entry::Vacant(place) => drop(place.insert(row)),
                    Entry::Occupied(mut place) => place.get_mut().add(row),
                }
            }
        }
    }

    /// Returns all rows to the summary of the whole.
    pub(super) fn finish(self, whole: &mut Summary) {
        whole.per_pc = self.loads.into_values().map(Row::with_means).collect();
        whole.per_pc_stores = self.stores.into_values().map(Row::with_means).collect();
    }
}

impl Row {
    fn add(&mut self, Row { row: from, sectors, wavefronts }: Row) {
        let to = &mut self.row;
        add(&mut self.sectors, sectors);
        add(&mut self.wavefronts, wavefronts);
        add_range(&mut to.sectors, from.sectors);
        for (to, from) in [
            (&mut to.loads, from.loads),
            (&mut to.lanes, from.lanes),
            (&mut to.ideal_sectors, from.ideal_sectors),
        ] {
            add(to, from);
        }
        to.lane_faults.add(&from.lane_faults);
        if let (Some(to), Some(from)) = (&mut to.shared, from.shared) {
            if to.loads == 0 {
                to.wavefronts = from.wavefronts;
            } else if from.loads > 0 {
                add_range(&mut to.wavefronts, from.wavefronts);
            }
            add(&mut to.loads, from.loads);
            add(&mut to.ideal_wavefronts, from.ideal_wavefronts);
        }
        if let (Some(to), Some(from)) = (&mut to.local, from.local) {
            add(&mut to.loads, from.loads);
            add(&mut to.sectors, from.sectors);
            add(&mut to.ideal_sectors, from.ideal_sectors);
        }
        if let (Some(to), Some(from)) = (&mut to.constant, from.constant) {
            add(&mut to.loads, from.loads);
            add(&mut to.addresses, from.addresses);
        }
    }

    /// Returns the row with recomputed means: one that was read from JSON can differ in its last bit.
    fn with_means(self) -> PcSummary {
        let Self { mut row, sectors, wavefronts } = self;
        row.sectors.mean = mean(sectors, row.loads);
        if let Some(shared) = &mut row.shared {
            shared.wavefronts.mean = mean(wavefronts, shared.loads);
        }
        row
    }
}

fn add_range(to: &mut SectorSummary, from: SectorSummary) {
    to.min = to.min.min(from.min);
    to.max = to.max.max(from.max);
}
