//! [`WarpPosition`]: whose instructions follow. Blocks hold places as [`RawRun`]s, beside their records.

use super::format::{RUN_CLUSTER, RUN_CTA, RUN_INDEX, RUN_WARP, RawRun};

/// The warp that executes instructions, and where it is in its own; each field is `None` if the
/// source does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpPosition {
    /// The thread block, in x, y and z.
    pub cta: Option<[u32; 3]>,
    /// The warp's number in its thread block.
    pub warp: Option<u32>,
    /// The cluster, in x, y and z.
    pub cluster: Option<[u32; 3]>,
    /// The number of instructions that the warp has executed before.
    pub index: Option<u32>,
}

impl WarpPosition {
    /// Returns the place of the instruction that is `count` instructions later.
    #[inline]
    pub(super) fn after(self, count: u32) -> Self {
        Self { index: self.index.and_then(|index| index.checked_add(count)), ..self }
    }
}

impl RawRun {
    fn new(first: u32, place: Option<WarpPosition>) -> Self {
        let WarpPosition { cta, warp, cluster, index } = place.unwrap_or_default();
        let mut known = 0;
        for (is_known, bit) in [
            (cta.is_some(), RUN_CTA),
            (warp.is_some(), RUN_WARP),
            (cluster.is_some(), RUN_CLUSTER),
            (index.is_some(), RUN_INDEX),
        ] {
            known |= if is_known { bit } else { 0 };
        }
        Self {
            first,
            known,
            cta: cta.unwrap_or_default(),
            warp: warp.unwrap_or_default(),
            cluster: cluster.unwrap_or_default(),
            index: index.unwrap_or_default(),
        }
    }

    /// Returns the place of the run's first instruction.
    pub(super) fn place(&self) -> WarpPosition {
        let knows = |bit| self.known & bit != 0;
        WarpPosition {
            cta: knows(RUN_CTA).then_some(self.cta),
            warp: knows(RUN_WARP).then_some(self.warp),
            cluster: knows(RUN_CLUSTER).then_some(self.cluster),
            index: knows(RUN_INDEX).then_some(self.index),
        }
    }
}

/// Adds the runs of the block that is being filled.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The place that was set last, and how many instructions of the block came before it.
    current: Option<(u32, WarpPosition)>,
}

impl Runs {
    fn at(&self, count: u32) -> Option<WarpPosition> {
        self.current.map(|(first, place)| place.after(count - first))
    }

    /// Sets the place of the instructions after the first `count` of the block, whose runs are `runs`.
    #[inline]
    pub(super) fn place(
        &mut self,
        runs: &mut Vec<RawRun>,
        count: u32,
        place: Option<WarpPosition>,
    ) {
        if self.at(count) == place {
            return;
        }
        self.current = place.map(|place| (count, place));
        if runs.last().is_some_and(|run| run.first == count) {
            runs.pop();
        }
        if place.is_some() || !runs.is_empty() {
            runs.push(RawRun::new(count, place));
        }
    }

    /// Begins the runs of the next block, after one of `count` instructions.
    pub(super) fn carry(&mut self, runs: &mut Vec<RawRun>, count: u32) {
        self.current = self.at(count).map(|place| (0, place));
        runs.extend(self.current.map(|(first, place)| RawRun::new(first, Some(place))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_on_until_another_warp_is_named() {
        let (mut state, mut runs) = (Runs::default(), Vec::new());
        let warp =
            |warp, index| Some(WarpPosition { warp: Some(warp), index, ..WarpPosition::default() });
        state.place(&mut runs, 0, None);
        assert_eq!(runs, []);
        state.place(&mut runs, 0, warp(1, Some(5)));
        state.place(&mut runs, 3, warp(1, Some(8)));
        state.place(&mut runs, 4, warp(2, None));
        state.place(&mut runs, 4, warp(3, None));
        state.place(&mut runs, 9, warp(3, None));
        let found: Vec<_> = runs.iter().map(|run| (run.first, Some(run.place()))).collect();
        assert_eq!(found, [(0, warp(1, Some(5))), (4, warp(3, None))]);
        runs.clear();
        state.carry(&mut runs, 9);
        state.place(&mut runs, 0, warp(3, None));
        assert_eq!(runs, [RawRun::new(0, warp(3, None))]);
        state.place(&mut runs, 7, None);
        assert_eq!(runs[1], RawRun::new(7, None));
        assert_eq!(runs[1].known, 0);
    }

    #[test]
    fn a_place_counts_its_instructions() {
        let place = WarpPosition { index: Some(u32::MAX - 1), ..WarpPosition::default() };
        assert_eq!(place.after(1).index, Some(u32::MAX));
        assert_eq!(place.after(2).index, None);
    }
}
