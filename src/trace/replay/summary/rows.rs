//! [`Rows`]: the rows of program counters of several shards, added up.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::counts::mean;
use super::partial::RowSum;
use super::{Hex, Partial, PcSummary, SectorSummary, Summary, add};

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
    pub(super) fn take(summary: &mut Summary, partial: &mut Partial) -> Result<Self, &'static str> {
        let mut taken = Self::default();
        let mut wavefronts = std::mem::take(&mut partial.wavefronts).into_iter();
        for (to, rows, sums) in [
            (&mut taken.loads, &mut summary.per_pc, &mut partial.per_pc),
            (&mut taken.stores, &mut summary.per_pc_stores, &mut partial.per_pc_stores),
        ] {
            let sums = std::mem::take(sums);
            let rows = std::mem::take(rows).into_iter().zip(sums).zip(&mut wavefronts);
            for ((row, (kernel, operation, sectors)), wavefronts) in rows {
                let key = (partial.first_kernel + kernel, row.pc, operation);
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
    pub(super) fn restore(self, summary: &mut Summary, partial: &mut Partial) {
        for (from, rows, sums) in [
            (self.loads, &mut summary.per_pc, &mut partial.per_pc),
            (self.stores, &mut summary.per_pc_stores, &mut partial.per_pc_stores),
        ] {
            for ((kernel, _, operation), row) in from {
                sums.push(RowSum::from((kernel - partial.first_kernel, operation, row.sectors)));
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
        let is_same = (&to.kernel, &to.opcode, &to.sass, &to.source)
            == (&from.kernel, &from.opcode, &from.sass, &from.source)
            && spaces(to) == spaces(&from);
        if !is_same {
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
        Ok(())
    }

    /// Returns the row with the means of its sums.
    fn with_means(self) -> PcSummary {
        let Self { mut row, sectors, wavefronts } = self;
        row.sectors.mean = mean(sectors, row.loads);
        if let Some(shared) = &mut row.shared {
            shared.wavefronts.mean = mean(wavefronts, shared.loads);
        }
        row
    }
}

/// Returns whether a row has costs in shared, local and constant memory.
fn spaces(row: &PcSummary) -> [bool; 3] {
    [row.shared.is_some(), row.local.is_some(), row.constant.is_some()]
}

fn add_range(to: &mut SectorSummary, from: SectorSummary) {
    to.min = to.min.min(from.min);
    to.max = to.max.max(from.max);
}
