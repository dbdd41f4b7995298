//! [`AccessCounter`]: counts accesses one by one in their rows. Replays count the records of a trace with it, and
//! [`LaunchCounter`](crate::LaunchCounter) the accesses of a kernel that runs.

use rustc_hash::FxHashMap;

use crate::access::Access;
use crate::costs::{AccessCost, BANKS, BankWords, Offsets, SharedRules, SpaceCosts};
#[cfg(feature = "kernels")]
use crate::counters::Counter;
use crate::counters::{AccessCounts, FirstFault, GlobalCounts, SpaceCounts};
use crate::footprint::LineCollector;
use crate::launch_counts::{AccessKey, LaunchCounts};
use crate::summary::Hex;
use crate::traffic::{TouchSink, Traffic};
use warpload::lane::{LANES, LaneMask};
use warpload::load::{LaneAddresses, LaneFaultKind, LoadOp, Loaded};
use warpload::memory::{AddressMap, AddressSpace, Space, WarpAddresses, Width};
use warpload::simd::vectorized;
use warpload_trace::binary::{MemoryRecord, TraceBlock};
use warpload_trace::{MemoryOperation, OperationKind};

/// An executed access: all that its counts depend on.
pub(crate) struct Executed<'e> {
    pub(crate) key: AccessKey,
    pub(crate) operation: &'e MemoryOperation,
    /// How the lanes access memory, on the side of a copy that the access is.
    pub(crate) op: LoadOp,
    pub(crate) lanes: &'e LaneAddresses,
    pub(crate) loaded: &'e Loaded,
    pub(crate) has_addresses: bool,
    /// The instruction's index in the trace.
    pub(crate) instruction: u64,
    pub(crate) map: &'e AddressMap,
    pub(crate) rules: SharedRules,
}

impl<'e> Executed<'e> {
    /// The access of a record.
    #[inline]
    pub(crate) fn of(
        block: &TraceBlock<'_>,
        traced: &MemoryRecord<'e>,
        access: &'e Access,
        lanes: &'e LaneAddresses,
        map: &'e AddressMap,
        rules: SharedRules,
    ) -> Self {
        let Access { op, is_shared_side, ref loaded } = *access;
        Self {
            key: AccessKey { pc: traced.pc, operation: traced.operation, is_shared_side },
            operation: traced.operation(),
            op,
            lanes,
            loaded,
            has_addresses: traced.has_addresses(),
            instruction: block.raw().first_instruction + u64::from(traced.index),
            map,
            rules,
        }
    }

    /// The lanes that access memory within bounds; none if the addresses are unknown.
    #[inline]
    pub(crate) fn served(&self) -> LaneMask {
        if !self.has_addresses {
            return LaneMask::NONE;
        }
        let mut served = accessing(self.operation, self.lanes.executing);
        for fault in &self.loaded.faults {
            if fault.kind() != LaneFaultKind::MisalignedAddress {
                served = served & !LaneMask::from_bits(1 << fault.lane);
            }
        }
        served
    }

    /// Whether it has a cost in global memory, which may be none of its sectors.
    #[inline]
    pub(crate) fn reaches_global(&self) -> bool {
        // Without lanes, nothing tells the sides of a copy apart, so it has no cost on either.
        let is_of_a_side =
            self.operation.kind != OperationKind::Copy || !self.lanes.executing.is_empty();
        let reaches = matches!(self.op.space, AddressSpace::Global | AddressSpace::Generic);
        self.has_addresses && reaches && is_of_a_side
    }

    /// The sectors and lines of global memory. Passes the lines to `sink`.
    #[inline]
    pub(crate) fn traffic(&self, sink: &mut impl TouchSink) -> Traffic {
        match self.loaded.global.is_empty() {
            true => Traffic::default(),
            false => {
                Traffic::of_lanes(&self.lanes.addresses, self.loaded.global, self.op.width, sink)
            }
        }
    }

    /// The cost in the other memories, for the lanes that access memory within bounds.
    #[inline]
    pub(crate) fn space_costs(&self, served: LaneMask) -> SpaceCosts {
        let offsets = Offsets {
            lanes: served & !self.loaded.global,
            addresses: &self.lanes.addresses,
            base: 0,
            width: self.op.width,
            rules: self.rules,
        };
        SpaceCosts::new(self.op.space, &offsets, self.map)
    }

    /// Whether its wavefronts of shared memory are unknown: lanes of an atomic that share a word take turns, in an
    /// order that is not public.
    #[inline]
    pub(crate) fn takes_turns(&self, cost: &AccessCost) -> bool {
        self.operation.kind == OperationKind::Atomic && cost.shares_words
    }
}

/// The executing lanes that access memory; for matrices, the lanes that provide row addresses.
#[inline]
pub(crate) fn accessing(operation: &MemoryOperation, executing: LaneMask) -> LaneMask {
    match operation.matrices {
        None => executing,
        Some(matrices) => {
            executing & LaneMask::from_fn(|lane| lane < matrices.address_lanes() as usize)
        }
    }
}

/// The counts of the accesses of a launch.
#[derive(Debug, Default)]
pub(crate) struct AccessCounter {
    rows: FxHashMap<AccessKey, CountedRow>,
    /// The lines that accesses touch. One collector serves block after block, because a loop touches the same lines in
    /// many.
    lines: LineCollector,
}

/// The counts of an instruction, and its last access of shared memory.
#[derive(Debug, Default)]
struct CountedRow {
    counts: AccessCounts,
    pattern: Option<Box<SharedPattern>>,
    /// The accesses with another pattern than the one before.
    changes: u32,
}

/// The changes after which the pattern of an instruction is no longer compared, because it hardly ever repeats.
const MAX_CHANGES: u32 = 1 << 10;

/// An access of shared memory with its cost. Another one by the same lanes has the same cost if all of its words are as
/// many banks further, because the banks then serve as many words in another order. An instruction in a loop mostly repeats
/// its pattern.
#[derive(Debug)]
struct SharedPattern {
    lanes: LaneMask,
    width: Width,
    rules: SharedRules,
    /// The distance of each lane's address from the first lane's, which is a multiple of the access size.
    distances: WarpAddresses,
    /// The bank of the first lane's address.
    bank: usize,
    cost: AccessCost,
    bank_words: BankWords,
}

impl SharedPattern {
    /// The costs of an access: those of this pattern, if it has it, or else computed and remembered.
    #[inline]
    fn costs(
        known: &mut Option<Box<Self>>,
        changes: &mut u32,
        one: &Executed<'_>,
        lanes: LaneMask,
    ) -> SpaceCosts {
        if *changes > MAX_CHANGES {
            return one.space_costs(lanes);
        }
        let Some(first) = lanes.first() else { return SpaceCosts::default() };
        let base = one.lanes.addresses.of(first);
        let bank = (base / 4) as usize % BANKS;
        if let Some(known) = known
            && (known.lanes, known.width, known.rules) == (lanes, one.op.width, one.rules)
            && base.is_multiple_of(one.op.width.bytes().max(4).into())
        {
            let is_same = match (&one.lanes.addresses, &known.distances) {
                (WarpAddresses::Each(addresses), WarpAddresses::Each(distances)) => {
                    let others = vectorized!(other_places(addresses, distances, base));
                    others & lanes.bits() == 0
                }
                (
                    WarpAddresses::Stride { stride, .. },
                    WarpAddresses::Stride { stride: known, .. },
                ) => stride == known,
                _ => false,
            };
            if is_same {
                let mut bank_words = known.bank_words;
                bank_words.rotate_right((bank + BANKS - known.bank) % BANKS);
                return SpaceCosts {
                    shared: Some(known.cost),
                    bank_words,
                    ..SpaceCosts::default()
                };
            }
        }
        let costs = one.space_costs(lanes);
        let is_aligned = base.is_multiple_of(one.op.width.bytes().max(4).into());
        if let (Some(cost), true) = (costs.shared, is_aligned) {
            let new = Self {
                lanes,
                width: one.op.width,
                rules: one.rules,
                distances: match one.lanes.addresses {
                    WarpAddresses::Stride { stride, .. } => {
                        WarpAddresses::Stride { base: 0, stride }
                    }
                    WarpAddresses::Each(all) => {
                        WarpAddresses::Each(all.map(|address| address.wrapping_sub(base)))
                    }
                },
                bank,
                cost,
                bank_words: costs.bank_words,
            };
            *changes += 1;
            match known {
                Some(known) => **known = new,
                None => *known = Some(Box::new(new)),
            }
        }
        costs
    }
}

/// A mask of the lanes that are elsewhere than at a distance from `base`.
#[inline(always)]
fn other_places(addresses: &[u64; LANES], distances: &[u64; LANES], base: u64) -> u32 {
    let mut bits = [0; LANES];
    for lane in 0..LANES {
        bits[lane] = u32::from(addresses[lane].wrapping_sub(base) != distances[lane]) << lane;
    }
    bits.iter().fold(0, |all, bit| all | bit)
}

impl AccessCounter {
    /// The counts of an instruction.
    pub(crate) fn row(&mut self, key: AccessKey) -> &mut AccessCounts {
        &mut self.rows.entry(key).or_default().counts
    }

    /// Counts an access. Returns the lanes that access memory within bounds, and the counts of its instruction.
    #[inline]
    pub(crate) fn count(&mut self, one: &Executed<'_>) -> (LaneMask, &mut AccessCounts) {
        let Executed { key, operation, lanes, loaded, has_addresses, .. } = *one;
        let served = one.served();
        let traffic = one.traffic(&mut self.lines);
        let CountedRow { counts: row, pattern, changes } = self.rows.entry(key).or_default();
        let costs = match one.op.space {
            AddressSpace::Shared => SharedPattern::costs(pattern, changes, one, served),
            _ => one.space_costs(served),
        };
        let executing = u64::from(lanes.executing.count());
        row.accesses += 1;
        row.lanes += executing;
        row.bytes += executing * u64::from(operation.bytes().unwrap_or(0));
        *space_of(&mut row.by_space, loaded.first_space) += 1;
        if !has_addresses {
            row.unattributable += 1;
            return (served, row);
        }
        if one.reaches_global() {
            row.global.get_or_insert_with(GlobalCounts::default).count(traffic);
        }
        if let Some(cost) = costs.shared {
            let shared = row.shared.get_or_insert_default();
            if one.takes_turns(&cost) {
                shared.unknown += 1;
            } else {
                shared.count(cost, &costs.bank_words);
            }
        }
        if let Some(cost) = costs.local {
            row.local.get_or_insert_default().count(cost);
        }
        if let Some(cost) = costs.constant {
            row.constant.get_or_insert_default().count(cost);
        }
        if operation.uniform && executing > 0 {
            row.uniform.broadcast += u64::from(loaded.is_broadcast);
            row.uniform.divergent += u64::from(!loaded.is_broadcast);
        }
        if !loaded.faults.is_empty() {
            count_faults(row, loaded, one.instruction);
        }
        (served, row)
    }

    /// Adds the counts of other blocks of the same launch, with other numbers of operations.
    #[cfg(feature = "kernels")]
    pub(crate) fn add(&mut self, mut other: Self, number: impl Fn(u16) -> Option<u16>) {
        for (key, row) in other.rows {
            // An operation without a number is not counted.
            let Some(operation) = number(key.operation) else { continue };
            self.row(AccessKey { operation, ..key }).add(&row.counts);
        }
        self.lines.add_all(&mut other.lines);
    }

    /// Moves the rows and the footprint to the counts of their launch.
    pub(crate) fn finish(&mut self, counts: &mut LaunchCounts) {
        let mut rows: Vec<_> = self.rows.drain().map(|(key, row)| (key, row.counts)).collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        let footprint = self.lines.take();
        counts.add(LaunchCounts { rows, footprint, ..LaunchCounts::default() });
    }
}

/// The count of a memory.
#[inline]
fn space_of(counts: &mut SpaceCounts, space: Option<Space>) -> &mut u64 {
    match space {
        Some(Space::Global) => &mut counts.global,
        Some(Space::Local) => &mut counts.local,
        Some(Space::Shared) => &mut counts.shared,
        Some(Space::Constant { .. }) => &mut counts.constant,
        None => &mut counts.unresolved,
    }
}

#[cold]
fn count_faults(row: &mut AccessCounts, loaded: &Loaded, instruction: u64) {
    for fault in &loaded.faults {
        row.lane_faults[fault.kind()] += 1;
        row.first_fault.get_or_insert_with(|| {
            Box::new(FirstFault {
                instruction,
                lane: fault.lane,
                kind: fault.kind().name().into(),
                address: Hex(fault.address.0),
            })
        });
    }
}
