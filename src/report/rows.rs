//! What tables and charts show of program counters.

use super::text::per;
use crate::trace::ProgramCounter;

/// Returns the fewest sectors that a load needs, on average.
pub(super) fn ideal(row: &ProgramCounter<'_>) -> f64 {
    per(row.summary.ideal_sectors, row.summary.loads)
}

/// Returns the `most` rows with the highest `weight`, in their old order.
pub(super) fn heaviest<'r>(
    rows: &[ProgramCounter<'r>],
    most: usize,
    weight: impl Fn(&ProgramCounter<'r>) -> f64,
) -> Vec<ProgramCounter<'r>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&one, &other| weight(&rows[other]).total_cmp(&weight(&rows[one])));
    order.truncate(most);
    order.sort_unstable();
    order.into_iter().map(|i| rows[i].clone()).collect()
}
