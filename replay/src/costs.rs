//! [`LoadCosts`]: what one load costs, in each memory. A replay adds these up.

use super::spaces::{AccessCost, Offsets};
use super::traffic::{Traffic, TrafficCounter};
use warpload::lane::LaneMask;
use warpload::load::LoadOp;
use warpload::memory::{AddressMap, AddressSpace, Addresses, Space, Width};

/// What one load costs in each memory. Lanes that are outside cost nothing.
///
/// Most loads are of one memory, and the methods return what it costs there. Only lanes of a generic load
/// can be in several; [`Self::sectors`], [`Self::ideal_sectors`] and [`Self::lines`] are then those of global
/// memory, as in [`Summary::per_pc`](super::Summary::per_pc).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadCosts {
    /// Global memory; `None` if the opcode cannot reach it, or the addresses are unknown.
    pub global: Option<Traffic>,
    /// Wavefronts of shared memory; `None` if no lane loads from it.
    pub shared: Option<AccessCost>,
    /// Sectors of local memory; `None` if no lane loads from it.
    pub local: Option<AccessCost>,
    /// Addresses of constant memory; `None` if no lane loads from it.
    pub constant: Option<AccessCost>,
}

impl LoadCosts {
    /// Returns what an access of the lanes costs, all in one memory. Addresses are rounded down to the
    /// width; of shared, local and constant memory they are offsets.
    #[must_use]
    pub fn of_access(space: Space, width: Width, lanes: LaneMask, addresses: &Addresses) -> Self {
        let offsets = Offsets { lanes, addresses, base: 0, width };
        let costs = Self::default();
        match space {
            Space::Global => {
                let traffic = TrafficCounter::default().of_lanes(addresses, lanes, width, None);
                Self { global: Some(traffic), ..costs }
            }
            Space::Shared => Self { shared: Some(offsets.shared()), ..costs },
            Space::Local => Self { local: Some(offsets.local()), ..costs },
            Space::Constant => Self { constant: Some(offsets.constant()), ..costs },
        }
    }

    /// Returns the distinct sectors of global memory, or those of local memory if the opcode is of that
    /// space; `None` if neither applies.
    #[must_use]
    pub fn sectors(&self) -> Option<u64> {
        self.global.map(|global| global.sectors).or(self.local.map(|local| local.amount))
    }

    /// Returns the fewest sectors that would do, of the memory that [`Self::sectors`] counts.
    #[must_use]
    pub fn ideal_sectors(&self) -> Option<u64> {
        self.global.map(|global| global.ideal_sectors).or(self.local.map(|local| local.ideal))
    }

    /// Returns the distinct lines of global memory; `None` if the opcode cannot reach it, or the addresses
    /// are unknown.
    #[must_use]
    pub fn lines(&self) -> Option<u64> {
        self.global.map(|global| global.lines)
    }

    /// Returns the wavefronts of shared memory; `None` if no lane loads from it.
    #[must_use]
    pub fn wavefronts(&self) -> Option<u64> {
        self.shared.map(|shared| shared.amount)
    }

    /// Returns the fewest wavefronts that would do; `None` if no lane loads from shared memory.
    #[must_use]
    pub fn ideal_wavefronts(&self) -> Option<u64> {
        self.shared.map(|shared| shared.ideal)
    }

    /// Returns the bank conflicts; `None` if no lane loads from shared memory.
    #[must_use]
    pub fn conflicts(&self) -> Option<u64> {
        self.shared.map(|shared| shared.conflicts)
    }
}

/// What an access costs in memory other than global; `None` if no lane accesses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SpaceCosts {
    pub(super) shared: Option<AccessCost>,
    pub(super) local: Option<AccessCost>,
    pub(super) constant: Option<AccessCost>,
}

impl SpaceCosts {
    /// Returns what the access of lanes that are neither outside nor in global memory costs.
    #[inline]
    pub(super) fn new(
        op: LoadOp,
        lanes: LaneMask,
        addresses: &Addresses,
        map: &AddressMap,
    ) -> Self {
        if lanes.is_empty() {
            return Self::default();
        }
        let offsets = Offsets { lanes, addresses, base: 0, width: op.width };
        match op.space {
            AddressSpace::Shared => Self { shared: Some(offsets.shared()), ..Self::default() },
            AddressSpace::Local => Self { local: Some(offsets.local()), ..Self::default() },
            AddressSpace::Constant { .. } => {
                Self { constant: Some(offsets.constant()), ..Self::default() }
            }
            AddressSpace::Global => Self::default(),
            AddressSpace::Generic => {
                // A lane that is neither outside nor in global memory is in a window.
                let shared = offsets.in_shared_window(map);
                let local = lanes & !shared.lanes;
                let local = Offsets { lanes: local, base: map.local().base, ..offsets };
                Self {
                    shared: (!shared.lanes.is_empty()).then(|| shared.shared()),
                    local: (!local.lanes.is_empty()).then(|| local.local()),
                    constant: None,
                }
            }
        }
    }
}
