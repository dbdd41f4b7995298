//! The program counters in tables and charts: their values and their selection.

use std::collections::BTreeMap;

use super::text::per;
use warpload::memory::AddressSpace;
use warpload_replay::{KernelSummary, ProgramCounter, Replayed};

/// The maximum number of program counters in a table, besides the first of each listed kernel.
pub(crate) const MAX_ROWS: usize = 300;
/// The maximum number of listed kernels.
pub(crate) const MAX_KERNELS: usize = 1000;

/// The program counters of a replay, by kind of access.
pub(crate) struct Rows<'r> {
    /// Loads that can reach global memory.
    pub(crate) global: Vec<ProgramCounter<'r>>,
    pub(crate) shared: Vec<ProgramCounter<'r>>,
    pub(crate) local: Vec<ProgramCounter<'r>>,
    pub(crate) constant: Vec<ProgramCounter<'r>>,
    /// Stores and atomics of any memory.
    pub(crate) stores: Vec<ProgramCounter<'r>>,
    /// Copies from global to shared memory.
    pub(crate) copies: Vec<ProgramCounter<'r>>,
}

impl<'r> Rows<'r> {
    pub(crate) fn new(replayed: &'r Replayed<'_>) -> Self {
        let [mut global, mut shared, mut local, mut constant] = [const { Vec::new() }; 4];
        for row in replayed.program_counters() {
            // Generic addresses can be in several memories.
            if row.summary.shared.is_some() {
                shared.push(row.clone());
            }
            if row.summary.local.is_some() {
                local.push(row.clone());
            }
            match row.operation.space {
                AddressSpace::Generic | AddressSpace::Global => global.push(row),
                AddressSpace::Constant { .. } => constant.push(row),
                AddressSpace::Shared | AddressSpace::Local => {}
            }
        }
        let (stores, copies) = (replayed.stores().collect(), replayed.copies().collect());
        Self { global, shared, local, constant, stores, copies }
    }

    /// All loads, each once.
    pub(crate) fn loads(&self) -> impl Iterator<Item = &ProgramCounter<'r>> {
        let others = self.shared.iter().chain(&self.local).filter(|row| !row.has_sectors());
        self.global.iter().chain(others).chain(&self.constant)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &ProgramCounter<'r>> {
        self.loads().chain(&self.stores).chain(&self.copies)
    }
}

/// The names of the address spaces, in the order of the page.
pub(crate) const SPACES: [&str; 5] = ["global", "shared", "local", "constant", "generic"];

/// The address space of a program counter.
pub(crate) fn space(row: &ProgramCounter<'_>) -> &'static str {
    match row.operation.space {
        AddressSpace::Global => "global",
        AddressSpace::Shared => "shared",
        AddressSpace::Local => "local",
        AddressSpace::Constant { .. } => "constant",
        AddressSpace::Generic => "generic",
    }
}

/// The fewest sectors that an access needs, on average.
pub(crate) fn ideal(row: &ProgramCounter<'_>) -> f64 {
    per(row.summary.ideal_sectors, row.summary.loads)
}

/// The bank conflicts of a program counter's accesses; 0 if unknown.
pub(crate) fn conflicts(row: &ProgramCounter<'_>) -> f64 {
    row.summary.shared.as_ref().and_then(|shared| shared.conflicts).unwrap_or(0) as f64
}

/// The `most` items with the highest `weight`, in their original order.
pub(crate) fn heaviest<T: Clone>(rows: &[T], most: usize, weight: impl Fn(&T) -> f64) -> Vec<T> {
    let mut order = by_weight(rows, weight);
    order.truncate(most);
    order.sort_unstable();
    order.into_iter().map(|i| rows[i].clone()).collect()
}

/// The indices of the items, highest `weight` first.
fn by_weight<T>(rows: &[T], weight: impl Fn(&T) -> f64) -> Vec<usize> {
    let weights: Vec<f64> = rows.iter().map(weight).collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&one, &other| weights[other].total_cmp(&weights[one]));
    order
}

/// The rows of a table, heaviest first: the [`MAX_ROWS`] heaviest, and the `each` heaviest of each listed kernel, so
/// that every kernel can be found.
pub(crate) fn shown<'a, 'r>(
    rows: &'a [ProgramCounter<'r>],
    listed: &[usize],
    each: usize,
    weight: fn(&ProgramCounter<'_>) -> f64,
) -> Vec<&'a ProgramCounter<'r>> {
    let order = by_weight(rows, weight);
    let mut of_kernel: BTreeMap<usize, usize> = listed.iter().map(|kernel| (*kernel, 0)).collect();
    let is_shown = |(place, row): (usize, &'a ProgramCounter<'r>)| {
        let known = of_kernel.get_mut(&row.kernel);
        let is_first = known.is_some_and(|count| {
            *count += 1;
            *count <= each
        });
        (place < MAX_ROWS || is_first).then_some(row)
    };
    order.into_iter().map(|i| &rows[i]).enumerate().filter_map(is_shown).collect()
}

/// The rows that a table has for each listed kernel. More kernels get fewer rows each.
pub(crate) fn rows_of_each(listed: &[usize]) -> usize {
    MAX_KERNELS / listed.len().max(1)
}

/// The numbers of the listed kernels, in launch order. If there are too many, only the ones with the most accesses.
pub(crate) fn listed(kernels: &[KernelSummary]) -> Vec<usize> {
    let accesses = |kernel: &usize| {
        let counts = &kernels[*kernel].counts;
        counts.loads as f64 + counts.skipped.store as f64 + counts.skipped.atomic as f64
    };
    let all: Vec<usize> = (0..kernels.len()).collect();
    heaviest(&all, MAX_KERNELS, accesses)
}
