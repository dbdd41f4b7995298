//! [`findings`]: what a reader of a replay should look at first: faults, then the accesses that cost most beyond the
//! ideal, over all kernels, kinds and memories. Text and page begin with them.

use std::collections::BTreeMap;

use super::text::{of, per};
use warpload_replay::{AccessCounts, AccessKind, LaunchSummary, Row, Summary};

/// Less waste than this share of its own cost is no finding.
const LEAST_SHARE: f64 = 0.05;

/// A cost of accesses of one kind of a kernel in one memory, or their faults.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding<'s> {
    pub(crate) launch: &'s LaunchSummary,
    pub(crate) kind: AccessKind,
    pub(crate) cost: Cost,
    /// The cost, and the part of it that is beyond the ideal.
    pub(crate) amount: u64,
    pub(crate) excess: u64,
    /// The row with most of the excess.
    pub(crate) worst: &'s Row,
    /// The number of rows with some.
    pub(crate) rows: usize,
}

/// What is counted: sectors, wavefronts and addresses cost time; faults come before all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cost {
    Faults,
    GlobalSectors,
    SharedWavefronts,
    LocalSectors,
    ConstantAddresses,
}

impl Cost {
    pub(crate) const ALL: [Self; 5] = [
        Self::Faults,
        Self::GlobalSectors,
        Self::SharedWavefronts,
        Self::LocalSectors,
        Self::ConstantAddresses,
    ];

    /// The cost of accesses, and the part of it that is beyond the ideal.
    pub(crate) fn of(self, counts: &AccessCounts) -> (u64, u64) {
        let beyond = |amount: u64, ideal: u64| (amount, amount.saturating_sub(ideal));
        match self {
            Self::Faults => (counts.lanes, counts.lane_faults.all()),
            Self::GlobalSectors => {
                let global = counts.global.unwrap_or_default();
                beyond(global.sectors.sum, global.ideal_sectors)
            }
            Self::SharedWavefronts => beyond(counts.wavefronts(), counts.ideal_wavefronts()),
            Self::LocalSectors => {
                let local = counts.local.as_deref().copied().unwrap_or_default();
                beyond(local.sectors, local.ideal_sectors)
            }
            Self::ConstantAddresses => {
                let constant = counts.constant.as_deref().copied().unwrap_or_default();
                beyond(constant.addresses, constant.accesses)
            }
        }
    }
}

impl Finding<'_> {
    /// The finding in words, without kernel and place: `88 % of the store sectors are wasted`.
    pub(crate) fn in_words(&self) -> String {
        let Self { amount, excess, .. } = *self;
        let kind = self.kind.name();
        let share = format!("{:.0} %", 100.0 * per(excess, amount));
        match self.cost {
            Cost::Faults => format!("{} of {} fault", of(excess, "lane"), self.kind.plural()),
            Cost::GlobalSectors => format!("{share} of the {kind} sectors are wasted"),
            Cost::SharedWavefronts => {
                format!("{share} of the {kind} wavefronts are wasted")
            }
            Cost::LocalSectors => {
                format!("{share} of the {kind} sectors of local memory are wasted")
            }
            Cost::ConstantAddresses => {
                format!("{share} of the constant loads are repeats for other addresses")
            }
        }
    }

    /// The place of the worst row, and how many other rows there are: `line 12 and 3 others`.
    pub(crate) fn place(&self) -> String {
        let place = self.worst.place();
        match self.rows - 1 {
            0 => place,
            1 => format!("{place} and one other"),
            others => format!("{place} and {others} others"),
        }
    }
}

/// The findings of a summary, worst first: by lanes, sectors, wavefronts and addresses beyond the ideal.
pub(crate) fn findings(summary: &Summary) -> Vec<Finding<'_>> {
    let mut found: BTreeMap<(u64, AccessKind, Cost), Finding<'_>> = BTreeMap::new();
    for row in &summary.rows {
        let Some(launch) = summary.launch(row.launch) else { continue };
        for cost in Cost::ALL {
            let (amount, excess) = cost.of(&row.counts);
            if amount == 0 && excess == 0 {
                continue;
            }
            let new =
                Finding { launch, kind: row.kind, cost, amount: 0, excess: 0, worst: row, rows: 0 };
            let finding = found.entry((row.launch, row.kind, cost)).or_insert(new);
            if excess > cost.of(&finding.worst.counts).1 {
                finding.worst = row;
            }
            finding.amount = finding.amount.saturating_add(amount);
            finding.excess = finding.excess.saturating_add(excess);
            finding.rows += usize::from(excess > 0);
        }
    }
    let is_worth_it = |of: &Finding<'_>| {
        of.excess > 0 && (of.cost == Cost::Faults || per(of.excess, of.amount) >= LEAST_SHARE)
    };
    let mut found: Vec<Finding<'_>> = found.into_values().filter(is_worth_it).collect();
    found.sort_by_key(|of| (of.cost != Cost::Faults, std::cmp::Reverse(of.excess)));
    found
}
