//! [`check_consistent`]: whether the parts of a shard's summary, which is text that anybody can write, agree.

use std::collections::BTreeMap;

use roaring::RoaringTreemap;

use super::partial::RowSum;
use super::{
    FootprintCounts, LdgstsCounts, LoadCounts, PartialSummary, PcSummary, ReuseCounts, Summary,
    TmaCounts, TrafficCounts, add,
};

/// Returns what is wrong with the summary of a shard, or of several.
pub(super) fn check_consistent(
    summary: &Summary,
    partial: &PartialSummary,
) -> Result<(), &'static str> {
    let kernels = summary.kernels.len();
    if partial.first > partial.last || partial.last >= partial.of {
        return Err("its shard numbers are out of range");
    }
    let is_as_long = partial.per_pc.len() == summary.per_pc.len()
        && partial.per_pc_stores.len() == summary.per_pc_stores.len()
        && partial.wavefronts.len() == partial.per_pc.len() + partial.per_pc_stores.len();
    if !is_as_long {
        return Err("`per_pc` and `partial` differ in length");
    }
    let counts_reuse = summary.counts.reuse.is_some();
    if partial.reuse.len() != if counts_reuse { kernels } else { 0 }
        || summary.kernels.iter().any(|kernel| kernel.counts.reuse.is_some() != counts_reuse)
    {
        return Err("`reuse` is of some kernels only");
    }
    if partial.pages.len() != kernels || partial.lines.len() != kernels {
        return Err("`kernels` and `partial` differ in length");
    }
    let numbers = &partial.kernels;
    if numbers.len() != kernels || !numbers.is_sorted_by(|one, next| one < next) {
        return Err("the numbers of its kernels are not those of `kernels`, ascending");
    }
    if numbers.last().is_some_and(|last| *last >= partial.of_kernels) {
        return Err("its kernels exceed those of the trace");
    }
    check_footprints(summary, partial)?;
    check_sums(summary)?;
    check_rows(summary, partial)
}

/// Checks that the footprints are as large as their sets, and that each line of a kernel has its touches.
fn check_footprints(summary: &Summary, partial: &PartialSummary) -> Result<(), &'static str> {
    let (mut all_pages, mut all_lines) = (RoaringTreemap::new(), RoaringTreemap::new());
    for ((kernel, pages), lines) in summary.kernels.iter().zip(&partial.pages).zip(&partial.lines) {
        if kernel.counts.footprint
            != (FootprintCounts { pages: pages.0.len(), lines: lines.0.len() })
        {
            return Err("the footprint of a kernel is not that of its pages and lines");
        }
        all_pages |= &pages.0;
        all_lines |= &lines.0;
    }
    let all = FootprintCounts { pages: all_pages.len(), lines: all_lines.len() };
    if summary.counts.footprint != all {
        return Err("the footprint of the whole is not that of its kernels");
    }
    for ((kernel, reuse), lines) in summary.kernels.iter().zip(&partial.reuse).zip(&partial.lines) {
        let cold = kernel.counts.reuse.as_ref().map(|reuse| reuse.cold);
        if cold != Some(lines.0.len()) || reuse.0.lines.len() as u64 != lines.0.len() {
            return Err("the `reuse` of a kernel is not that of its lines");
        }
    }
    Ok(())
}

/// Returns which of the instructions that are not replayed are known.
pub(super) fn is_known(counts: &LoadCounts) -> [bool; 5] {
    let LoadCounts { skipped, ldgsts, tma, stores, atomics, .. } = counts;
    let not_replayed = skipped.not_replayed.is_some();
    [not_replayed, ldgsts.is_some(), tma.is_some(), stores.is_some(), atomics.is_some()]
}

/// Checks that the counts of the whole are the sums of its kernels'.
fn check_sums(summary: &Summary) -> Result<(), &'static str> {
    let whole = &summary.counts;
    let mut sum = LoadCounts { footprint: whole.footprint, ..LoadCounts::default() };
    // What is not replayed must be known of all or of none.
    if summary.kernels.iter().any(|kernel| is_known(&kernel.counts) != is_known(whole)) {
        return Err("the instructions that are not replayed are known of a part only");
    }
    sum.skipped.not_replayed = whole.skipped.not_replayed.as_ref().map(|_| BTreeMap::new());
    sum.ldgsts = whole.ldgsts.map(|_| LdgstsCounts::default());
    sum.tma = whole.tma.map(|_| TmaCounts::default());
    sum.stores = whole.stores.map(|_| TrafficCounts::default());
    sum.atomics = whole.atomics.map(|_| TrafficCounts::default());
    sum.reuse = whole.reuse.as_ref().map(|_| ReuseCounts::default());
    for kernel in &summary.kernels {
        sum.add(&kernel.counts);
        if let (Some(sum), Some(reuse)) = (&mut sum.reuse, &kernel.counts.reuse) {
            sum.add(reuse);
        }
    }
    if sum != *whole {
        return Err("the counts of the whole are not the sums of its kernels'");
    }
    Ok(())
}

/// Checks that the counts of each kernel are the sums of its rows'.
fn check_rows(summary: &Summary, partial: &PartialSummary) -> Result<(), &'static str> {
    let loads = row_sums(summary, &summary.per_pc, &partial.per_pc)?;
    let stores = row_sums(summary, &summary.per_pc_stores, &partial.per_pc_stores)?;
    for ((kernel, loads_of), stores_of) in summary.kernels.iter().zip(loads).zip(stores) {
        let LoadCounts { loads, lanes, ideal_sectors, sectors, stores, atomics, .. } =
            &kernel.counts;
        if loads_of != [*loads, *lanes, *ideal_sectors, *sectors] {
            return Err("the counts of a kernel are not the sums of its rows of `per_pc`");
        }
        let mut both = stores.unwrap_or_default();
        both.add(atomics.unwrap_or_default());
        if stores_of != [both.count, both.lanes, both.ideal_sectors, both.sectors] {
            return Err("the counts of a kernel are not the sums of its rows of `per_pc_stores`");
        }
    }
    Ok(())
}

/// Returns the loads, lanes, ideal sectors and sectors of the rows of each kernel.
fn row_sums(
    summary: &Summary,
    rows: &[PcSummary],
    places: &[RowSum],
) -> Result<Vec<[u64; 4]>, &'static str> {
    let mut sums = vec![[0u64; 4]; summary.kernels.len()];
    for (row, &(kernel, _, sectors)) in rows.iter().zip(places) {
        let is_of = summary.kernels.get(kernel).is_some_and(|kernel| kernel.name == row.kernel);
        let sums = sums.get_mut(kernel).filter(|_| is_of);
        let sums = sums.ok_or("a row of `per_pc` has a kernel that is not in `kernels`")?;
        for (to, from) in sums.iter_mut().zip([row.loads, row.lanes, row.ideal_sectors, sectors]) {
            add(to, from);
        }
    }
    Ok(sums)
}
