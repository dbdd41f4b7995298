//! [`Rows`]: the rows of program counters of several shards, added up.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::counts::mean;
use super::partial::RowSum;
use super::{Hex, PartialSummary, PcSummary, SectorSummary, Summary, add, add_known};

/// The rows of loads, and those of stores and atomics.
#[derive(Default)]
pub(super) struct Rows {
    loads: PerPc,
    stores: PerPc,
}

/// Rows by kernel of the trace, program counter and operation.
type PerPc = BTreeMap<(usize, Hex, u16), Row>;

/// A row, and the sums of which it has the means.
struct Row {
    row: PcSummary,
    sectors: u64,
    wavefronts: u64,
}

impl Rows {
    /// Takes the rows out of the summary of a shard or of several.
    ///
    /// # Errors
    /// Returns what is wrong if two rows of one program counter contradict each other.
    pub(super) fn take(
        summary: &mut Summary,
        partial: &mut PartialSummary,
    ) -> Result<Self, &'static str> {
        let mut taken = Self::default();
        let mut wavefronts = std::mem::take(&mut partial.wavefronts).into_iter();
        for (to, rows, sums) in [
            (&mut taken.loads, &mut summary.per_pc, &mut partial.per_pc),
            (&mut taken.stores, &mut summary.per_pc_stores, &mut partial.per_pc_stores),
        ] {
            let sums = std::mem::take(sums);
            let rows = std::mem::take(rows).into_iter().zip(sums).zip(&mut wavefronts);
            for ((row, (kernel, operation, sectors)), wavefronts) in rows {
                // `check_consistent` has found that it is there.
                let Some(&kernel) = partial.kernels.get(kernel) else { continue };
                let key = (kernel, row.pc, operation);
                put(to, key, Row { row, sectors, wavefronts })?;
            }
        }
        Ok(taken)
    }

    /// Adds the rows of the shards that follow; errors are those of [`Self::take`].
    pub(super) fn add(&mut self, later: Self) -> Result<(), &'static str> {
        for (to, from) in [(&mut self.loads, later.loads), (&mut self.stores, later.stores)] {
            from.into_iter().try_for_each(|(key, row)| put(to, key, row))?;
        }
        Ok(())
    }

    /// Returns all rows to the summary.
    pub(super) fn restore(self, summary: &mut Summary, partial: &mut PartialSummary) {
        for (from, rows, sums) in [
            (self.loads, &mut summary.per_pc, &mut partial.per_pc),
            (self.stores, &mut summary.per_pc_stores, &mut partial.per_pc_stores),
        ] {
            for ((kernel, _, operation), row) in from {
                let Ok(kernel) = partial.kernels.binary_search(&kernel) else { continue };
                sums.push(RowSum::from((kernel, operation, row.sectors)));
                partial.wavefronts.push(row.wavefronts);
                rows.push(row.with_means());
            }
        }
    }
}

fn put(to: &mut PerPc, key: (usize, Hex, u16), row: Row) -> Result<(), &'static str> {
    match to.entry(key) {
        Entry::Vacant(place) => drop(place.insert(row)),
        Entry::Occupied(mut place) => place.get_mut().add(row)?,
    }
    Ok(())
}

impl Row {
    fn add(&mut self, Row { row: from, sectors, wavefronts }: Row) -> Result<(), &'static str> {
        let to = &mut self.row;
        if (&to.kernel, &to.opcode, &to.sass, &to.source, to.source_line)
            != (&from.kernel, &from.opcode, &from.sass, &from.source, from.source_line)
        {
            return Err("a row of a program counter contradicts that of another shard");
        }
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
        add_space(&mut to.shared, from.shared, |to, from| {
            if to.loads == 0 {
                to.wavefronts = from.wavefronts;
            } else if from.loads > 0 {
                add_known(&mut to.wavefronts, from.wavefronts, add_range);
            }
            add(&mut to.loads, from.loads);
            add(&mut to.ideal_wavefronts, from.ideal_wavefronts);
            add_known(&mut to.conflicts, from.conflicts, add);
        });
        add_space(&mut to.local, from.local, |to, from| {
            add(&mut to.loads, from.loads);
            add(&mut to.sectors, from.sectors);
            add(&mut to.ideal_sectors, from.ideal_sectors);
        });
        add_space(&mut to.constant, from.constant, |to, from| {
            add(&mut to.loads, from.loads);
            add(&mut to.addresses, from.addresses);
        });
        Ok(())
    }

    /// Returns the row with the means of its sums.
    fn with_means(self) -> PcSummary {
        let Self { mut row, sectors, wavefronts } = self;
        row.sectors.mean = mean(sectors, row.loads);
        if let Some(shared) = &mut row.shared
            && let Some(of_one) = &mut shared.wavefronts
        {
            of_one.mean = mean(wavefronts, shared.loads);
        }
        row
    }
}

/// Adds what a row costs in a memory. That of a generic address need not be in all shards.
fn add_space<T>(to: &mut Option<T>, from: Option<T>, add: impl FnOnce(&mut T, T)) {
    match (to, from) {
        (Some(to), Some(from)) => add(to, from),
        (to @ None, from) => *to = from,
        (Some(_), None) => {}
    }
}

fn add_range(to: &mut SectorSummary, from: SectorSummary) {
    to.min = to.min.min(from.min);
    to.max = to.max.max(from.max);
}
