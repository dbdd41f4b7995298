//! [`Facts`]: the properties of a vector that its flags are computed from.

use warpload_encoding::{LoadDestination, LoadParts, LoadSize, MemorySpace, Offset, Size, Sm};

use crate::vector::Vector;
use warpload::lane::{LANES, LaneMask};
use warpload::load::{
    AnyRegister, LaneFaultKind, LaneLoad, Outcome, UniformPath, WarpFault, broken_register_rules,
    lane_loads,
};
use warpload::memory::{GenericAddress, Space, Window};

/// A vector, its outcome, and the access of each lane.
pub(crate) struct Facts<'v> {
    pub(crate) vector: &'v Vector,
    pub(crate) outcome: &'v Outcome,
    pub(crate) parts: LoadParts,
    pub(crate) size: LoadSize,
    /// The lanes that access memory; none if the warp faults.
    pub(crate) lanes: Vec<(usize, LaneLoad)>,
    /// The faults of all broken register rules, even if no lane executes.
    pub(crate) broken: Vec<WarpFault>,
}

impl<'v> Facts<'v> {
    /// `outcome` is the vector's outcome on the literal executor. `None` if the vector cannot be executed.
    pub(crate) fn new(vector: &'v Vector, outcome: &'v Outcome) -> Option<Self> {
        let parts = vector.instruction.parts();
        let size = parts.size.ok()?;
        let machine = &vector.machine;
        let accessing = match (outcome.warp_fault, size) {
            (Some(_), _) => LaneMask::NONE,
            (None, LoadSize::Matrices { count, .. }) => LaneMask::from_fn(|lane| {
                lane < 8 * usize::from(count) && outcome.executing.contains(lane)
            }),
            _ => outcome.executing,
        };
        let lanes = lane_loads(&parts, size, machine, &vector.warp, accessing);
        let broken = broken_register_rules(&parts, size, machine);
        Some(Self { vector, outcome, parts, size, lanes, broken })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.size.bytes().into()
    }

    /// The size of one lane's load; `None` for 256 bits and for matrices.
    pub(crate) fn lane_size(&self) -> Option<Size> {
        self.size.of_lane()
    }

    pub(crate) fn is_later(&self) -> bool {
        self.vector.instruction.sm().has_wide_words()
    }

    pub(crate) fn is_generic(&self) -> bool {
        matches!(self.parts.space, MemorySpace::Generic { .. })
    }

    pub(crate) fn is_wide(&self) -> bool {
        let uniform = self.parts.address.uniform;
        self.parts.address.extended || uniform.is_some_and(|uniform| uniform.extended)
    }

    /// Whether the address has a general base register.
    pub(crate) fn has_base(&self) -> bool {
        let base = self.parts.address.base;
        !base.is_zero() && base.number() < self.vector.machine.register_limit.get()
    }

    pub(crate) fn has_uniform_base(&self) -> bool {
        self.parts.address.uniform.is_some_and(|uniform| !uniform.register.is_zero())
    }

    pub(crate) fn fills_uniform(&self) -> bool {
        fills_uniform(&self.parts)
    }

    pub(crate) fn destinations(&self) -> Vec<(u32, u32)> {
        destinations(&self.parts, self.size)
    }

    /// The offset, if it is the whole address: without a base register, the offset is an unsigned address.
    pub(crate) fn unsigned_offset(&self) -> Option<u32> {
        match self.parts.address.offset {
            Offset::ByBase { unsigned, .. } if !self.has_base() => Some(unsigned),
            _ => None,
        }
    }

    pub(crate) fn fault(&self, kind: LaneFaultKind) -> LaneMask {
        self.outcome.lane_faults.lanes(kind)
    }

    /// Whether `test` holds for a lane that accesses memory.
    pub(crate) fn any(&self, test: impl Fn(&LaneLoad) -> bool) -> bool {
        self.lanes.iter().any(|(_, lane)| test(lane))
    }

    /// The number of lanes with an access outside.
    pub(crate) fn outside(&self) -> usize {
        self.lanes.iter().filter(|(_, lane)| lane.is_outside).count()
    }

    pub(crate) fn is_broadcast(&self) -> bool {
        self.outcome.uniform == Some(UniformPath::Broadcast)
    }

    pub(crate) fn windows(&self) -> [Window; 2] {
        let map = self.vector.machine.memory.map();
        [map.shared(), map.local()]
    }

    /// The value of Plg in a lane; `None` without Plg.
    pub(crate) fn plg(&self, lane: usize) -> Option<bool> {
        match self.parts.space {
            MemorySpace::Generic { plg } => Some(self.vector.warp.predicate(plg?).contains(lane)),
            _ => None,
        }
    }

    /// The edges of the windows, where another memory begins or ends.
    pub(crate) fn edges(&self) -> impl Iterator<Item = u128> {
        self.windows().into_iter().flat_map(|window| {
            let base = u128::from(window.base);
            [base, base + u128::from(window.size)]
        })
    }

    /// Whether the load is generic and the address in this window.
    pub(crate) fn is_in_window(&self, window: Window, address: u64) -> bool {
        self.is_generic() && window.offset_of(GenericAddress(address)).is_some()
    }

    /// The allocations of the first and the last byte of an access, by index; in local memory, 0 is the low part and 1
    /// the high part. `None` if the lane's address is in no memory.
    pub(crate) fn ends(&self, lane: usize, found: &LaneLoad) -> Option<[Option<usize>; 2]> {
        found.space?;
        let extents = self.extents(lane, found);
        let last = found.rounded.checked_add(self.bytes() - 1)?;
        Some([found.rounded, last].map(|address| {
            extents.iter().position(|(start, end)| (*start..*end).contains(&u128::from(address)))
        }))
    }

    /// Whether `test` holds for an access and the allocations of its ends.
    pub(crate) fn any_ends(&self, test: impl Fn(&LaneLoad, [Option<usize>; 2]) -> bool) -> bool {
        self.lanes
            .iter()
            .any(|(lane, found)| self.ends(*lane, found).is_some_and(|ends| test(found, ends)))
    }

    /// Whether all 32 lanes load without a fault.
    pub(crate) fn is_plain(&self) -> bool {
        self.outcome.executing.count() as usize == LANES
            && self.outcome.warp_fault.is_none()
            && self.outcome.lane_faults.is_empty()
    }

    /// Whether the load extends values, `signed` or not, and a loaded value has its highest bit set, so that the two
    /// kinds of extension differ. Loads into RZ do not count, because they show no value.
    pub(crate) fn extends(&self, signed: bool) -> bool {
        let Some(size) = self.lane_size() else { return false };
        let is_dropped = self.destinations().iter().all(|(first, _)| *first == 255);
        if size.bytes() > 2 || size.is_signed() != signed || is_dropped {
            return false;
        }
        let highest = 1 << (8 * size.bytes() - 1);
        self.any(|lane| !lane.is_outside && lane.values[0] & highest != 0)
    }

    pub(crate) fn sm(&self) -> Option<Sm> {
        Some(self.vector.instruction.sm()).filter(|sm| sm.has_wide_words())
    }

    /// The bits of the field with this name; of the lower one, if there are two.
    pub(crate) fn field(&self, name: &str) -> Option<u64> {
        let fields = self.vector.instruction.describe().filter(|field| field.fixed().is_none());
        fields.filter(|field| field.name() == name).last().map(|field| field.raw)
    }

    /// Whether the load has a modifier for caches or order, other than the plain `SYS` and `ENL2`.
    pub(crate) fn has_cache_operator(&self) -> bool {
        !matches!(self.vector.instruction.cache_modifiers().as_str(), "" | "SYS" | "ENL2")
    }

    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.parts.space, MemorySpace::Constant { .. })
    }

    /// The size of the load's constant bank; `None` if it is missing.
    pub(crate) fn bank_size(&self) -> Option<usize> {
        let MemorySpace::Constant { bank, .. } = self.parts.space else { return None };
        self.vector.machine.memory.constant_bytes(bank.get()).map(<[u8]>::len)
    }

    /// The first fault of the high half of a 256-bit load, found by the half's first register.
    pub(crate) fn high_half_fault(&self) -> Option<WarpFault> {
        let (high, _) = *self.destinations().get(1)?;
        let number = |fault: &WarpFault| match fault.register() {
            AnyRegister::General(register) => register.number(),
            AnyRegister::Uniform(register) => register.number(),
        };
        self.broken.iter().find(|fault| u32::from(number(fault)) == high).copied()
    }

    /// The highest general register in the destination or the address.
    pub(crate) fn highest_register(&self) -> u32 {
        let filled = self.destinations().into_iter().filter(|(first, _)| *first != 255);
        let filled =
            filled.filter(|_| !self.fills_uniform()).map(|(first, count)| first + count - 1);
        let address = &self.parts.address;
        let base =
            self.has_base().then(|| u32::from(address.base.number()) + u32::from(address.extended));
        filled.chain(base).max().unwrap_or(255)
    }

    /// Whether the destination overlaps the address.
    pub(crate) fn overlaps(&self) -> bool {
        let address = &self.parts.address;
        let (first, is_pair) = match address.uniform {
            Some(uniform) if self.fills_uniform() => {
                (u32::from(uniform.register.number()), uniform.extended)
            }
            _ if self.fills_uniform() || !self.has_base() => return false,
            _ => (u32::from(address.base.number()), address.extended),
        };
        let mut filled = self.destinations().into_iter();
        first != 255
            && filled.any(|(from, count)| {
                from != 255 && first < from + count && from <= first + u32::from(is_pair)
            })
    }

    /// The warp fault, if only one rule is broken.
    pub(crate) fn only_fault(&self) -> Option<WarpFault> {
        self.outcome.warp_fault.filter(|_| self.broken.len() == 1)
    }

    /// Whether a fault is about Ra.
    pub(crate) fn is_of_base(&self, fault: WarpFault) -> bool {
        let base = self.parts.address.base;
        let is_filled =
            self.destinations().iter().any(|(first, _)| *first == u32::from(base.number()));
        fault.register() == AnyRegister::General(base) && !is_filled
    }

    /// Whether a fault is about the first destination register.
    pub(crate) fn is_of_destination(&self, fault: WarpFault) -> bool {
        let number = match (fault.register(), self.fills_uniform()) {
            (AnyRegister::General(register), false) => register.number(),
            (AnyRegister::Uniform(register), true) => register.number(),
            _ => return false,
        };
        let destinations = self.destinations();
        destinations.first().is_some_and(|(first, _)| *first == u32::from(number))
    }

    /// The sum of the low words of a lane's address, if that has 64 bits and the lane loads.
    pub(crate) fn low_sum(&self, lane: usize, found: &LaneLoad) -> Option<i64> {
        if found.is_outside || !self.is_wide() {
            return None;
        }
        let (warp, address) = (&self.vector.warp, &self.parts.address);
        let base = if self.has_base() { warp.register(address.base)[lane] } else { 0 };
        let uniform = address.uniform.map_or(0, |uniform| warp.uniform_register(uniform.register));
        let offset = match address.offset {
            Offset::ByBase { unsigned, .. } if !self.has_base() => unsigned.into(),
            offset => i64::from(offset.signed()),
        };
        Some(i64::from(base) + i64::from(uniform) + offset)
    }

    /// Start and end of each allocation of the memory that a lane accesses, as addresses of the load. Empty allocations
    /// have equal ends.
    pub(crate) fn extents(&self, lane: usize, found: &LaneLoad) -> Vec<(u128, u128)> {
        let memory = &self.vector.machine.memory;
        let of = |base: u64, start: u64, bytes: &[u8]| {
            let start = u128::from(base) + u128::from(start);
            (start, start + bytes.len() as u128)
        };
        let [shared, local] = self.windows();
        let base = |window: Window| if self.is_generic() { window.base } else { 0 };
        match found.space {
            Some(Space::Global) => {
                let known = memory.allocations().iter();
                known.map(|known| of(known.base, 0, memory.allocation_bytes(known))).collect()
            }
            Some(Space::Shared) => vec![of(base(shared), 0, memory.shared_bytes())],
            Some(Space::Local) => {
                let high = memory.local_high_bytes(lane);
                let start = local.size - high.len() as u64;
                let low = of(base(local), 0, memory.local_low_bytes(lane));
                vec![low, of(base(local), start, high)]
            }
            Some(Space::Constant { bank }) => {
                let held = memory.constant_bytes(bank).into_iter();
                held.map(|bytes| of(0, 0, bytes)).collect()
            }
            None => Vec::new(),
        }
    }

    /// Whether `test` holds for some lane's access and some allocation of its memory. Its arguments are the ends of the
    /// access and of the allocation.
    pub(crate) fn any_extent(
        &self,
        test: impl Fn(&LaneLoad, [u128; 2], (u128, u128)) -> bool,
    ) -> bool {
        self.lanes.iter().any(|(lane, found)| {
            let first = u128::from(found.rounded);
            let ends = [first, first + u128::from(self.bytes())];
            let mut extents =
                self.extents(*lane, found).into_iter().filter(|(start, end)| start < end);
            extents.any(|extent| test(found, ends, extent))
        })
    }

    /// Whether at least one lane loads, and `test` holds for each such lane with some allocation. The arguments of
    /// `test` are the ends of the access and of the allocation.
    pub(crate) fn all_loads(&self, test: impl Fn([u128; 2], (u128, u128)) -> bool) -> bool {
        let mut loads = self.lanes.iter().filter(|(_, found)| !found.is_outside).peekable();
        loads.peek().is_some()
            && loads.all(|(lane, found)| {
                let first = u128::from(found.rounded);
                let ends = [first, first + u128::from(self.bytes())];
                self.extents(*lane, found).into_iter().any(|extent| test(ends, extent))
            })
    }

    /// Whether `test` holds for a lane that loads global memory through a generic address. Its arguments are the
    /// address, and the windows, the lower one first.
    pub(crate) fn beside_windows(&self, test: impl Fn(u64, [Window; 2]) -> bool) -> bool {
        let mut windows = self.windows();
        windows.sort_by_key(|window| window.base);
        self.is_generic()
            && self.any(|lane| {
                lane.space == Some(Space::Global) && !lane.is_outside && test(lane.rounded, windows)
            })
    }

    /// Whether all executing lanes have one rounded address in one memory.
    pub(crate) fn is_one_place(&self) -> bool {
        let mut pairs = self.lanes.windows(2);
        let place = |lane: &LaneLoad| (lane.rounded, lane.space);
        !self.lanes.is_empty() && pairs.all(|pair| place(&pair[0].1) == place(&pair[1].1))
    }

    /// The words that the lanes load, in order; `None` if there is a fault or the destination is RZ.
    pub(crate) fn loaded_words(&self) -> Option<Vec<u32>> {
        let is_written = self.destinations().iter().all(|(first, _)| *first != 255);
        let is_good = self.outcome.warp_fault.is_none()
            && self.outcome.lane_faults.is_empty()
            && !self.lanes.is_empty()
            && is_written;
        let accesses = if self.fills_uniform() { 1 } else { LANES };
        let count = match self.size {
            LoadSize::Matrices { .. } => 4,
            size => size.registers() as usize,
        };
        let lanes = self.lanes.iter().take(accesses);
        is_good.then(|| lanes.flat_map(|(_, lane)| &lane.values[..count]).copied().collect())
    }

    /// The groups of uniform registers of the load: the first register and the count of each.
    pub(crate) fn uniform_groups(&self) -> Vec<(u32, u32)> {
        let mut groups = if self.fills_uniform() { self.destinations() } else { Vec::new() };
        if let Some(uniform) = self.parts.address.uniform {
            let count = if uniform.extended { 2 } else { 1 };
            groups.push((uniform.register.number().into(), count));
        }
        groups.retain(|(first, _)| *first != 255);
        groups
    }
}

/// Whether a load fills uniform registers, with one access for the warp.
pub(crate) fn fills_uniform(parts: &LoadParts) -> bool {
    use LoadDestination::{Uniform, UniformHalves};
    matches!(parts.destination, Uniform(_) | UniformHalves { .. })
}

/// The groups of registers that a load fills: the first register and the count of each.
pub(crate) fn destinations(parts: &LoadParts, size: LoadSize) -> Vec<(u32, u32)> {
    let count = size.registers();
    let numbers = match parts.destination {
        LoadDestination::Registers(first) => vec![(first.number(), count)],
        LoadDestination::Halves { low, high } => vec![(low.number(), 4), (high.number(), 4)],
        LoadDestination::Uniform(first) => vec![(first.number(), count)],
        LoadDestination::UniformHalves { low, high } => {
            vec![(low.number(), 4), (high.number(), 4)]
        }
        _ => Vec::new(),
    };
    numbers.into_iter().map(|(first, count)| (u32::from(first), count)).collect()
}
