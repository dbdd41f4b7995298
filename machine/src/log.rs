//! [`FaultLog`]: the faults of a launch: the first ones of each kind at each instruction, and how many there are in all.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};

use crate::code::Site;
use crate::engine::RawFault;
use crate::fault::MachineFaultKind;

/// The most faults of one kind at one instruction that are recorded, so that those of one instruction do not hide the
/// others.
const MAX_OF_ONE: u64 = 20;

/// The number of faults after which only the first one of each kind at each instruction is recorded.
const MAX_RECORDED: usize = 10_000;

/// The faults of a launch, in order of execution.
#[derive(Debug, Default)]
pub(crate) struct FaultLog {
    pub(crate) recorded: Vec<RawFault>,
    totals: HashMap<(Site, Discriminant<MachineFaultKind>), FaultCount>,
    pub(crate) count: u64,
}

/// The faults of one kind at one instruction.
#[derive(Clone, Copy, Debug)]
pub struct FaultCount {
    /// The index of the first one among the recorded faults.
    pub first: usize,
    /// How many there are.
    pub count: u64,
}

impl FaultLog {
    pub(crate) fn add(&mut self, fault: RawFault) {
        self.count += 1;
        let first = self.recorded.len();
        let key = (fault.site, discriminant(&fault.kind));
        let total = self.totals.entry(key).or_insert(FaultCount { first, count: 0 });
        total.count += 1;
        if total.count == 1 || total.count <= MAX_OF_ONE && first < MAX_RECORDED {
            self.recorded.push(fault);
        }
    }

    /// Adds the faults of later blocks.
    pub(crate) fn extend(&mut self, later: Self) {
        let mut left = later.totals;
        for fault in later.recorded {
            if let Some(total) = left.get_mut(&(fault.site, discriminant(&fault.kind))) {
                total.count -= 1;
            }
            self.add(fault);
        }
        // Those that were not recorded there have 20 before them here, too.
        for (key, FaultCount { count, .. }) in left {
            self.count += count;
            if let Some(total) = self.totals.get_mut(&key) {
                total.count += count;
            }
        }
    }

    /// The totals of each kind at each instruction, in the order of the first faults.
    pub(crate) fn totals(&self) -> Vec<FaultCount> {
        let mut totals: Vec<FaultCount> = self.totals.values().copied().collect();
        totals.sort_unstable_by_key(|total| total.first);
        totals
    }
}
