//! [`Version`]: **the table** of what the lines of each version of the tracer have.

/// A version of Accel-Sim's tracer. Readers ask it what a line has; none knows a version by its number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    /// Whether each grouped instruction names its thread block and warp, as ungrouped ones do.
    pub(super) has_grouped_ids: bool,
    /// Whether an ungrouped instruction names its cluster after its warp.
    pub(super) has_clusters: bool,
    /// Whether a number of a source line comes before the program counter if the header says so.
    pub(super) has_line_numbers: bool,
    /// The last address mode of lanes.
    pub(super) last_mode: u64,
    pub(super) lanes: AddressLanes,
    /// How many immediates there are at least and at most.
    pub(super) immediates: (u8, u8),
    /// Whether instructions have what came with Hopper: uniform registers and predicates, the field of
    /// `GMMA`, transfers of the Tensor Memory Accelerator, and `Val` or `NoVal` at their ends.
    pub(super) has_hopper: bool,
}

/// Which lanes have addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressLanes {
    /// Those of the mask.
    Mask,
    /// Those that were active before the guard, of which the mask has a part; early builds of
    /// version 3. What fits the mask exactly is of later builds.
    MaskOrMore,
    /// Those that were active before the guard.
    More,
}

impl Version {
    /// What messages say of all versions.
    pub(super) const EXPECTED: &'static str = "a version from 1.2 to 6";

    const V1: Self = Self {
        has_grouped_ids: true,
        has_clusters: false,
        has_line_numbers: false,
        last_mode: 1,
        lanes: AddressLanes::More,
        immediates: (0, 0),
        has_hopper: false,
    };
    const V3: Self =
        Self { has_grouped_ids: false, last_mode: 2, lanes: AddressLanes::MaskOrMore, ..Self::V1 };
    const V4: Self =
        Self { has_line_numbers: true, lanes: AddressLanes::Mask, immediates: (0, 1), ..Self::V3 };
    const V5: Self = Self { immediates: (1, 1), ..Self::V4 };
    const V6: Self = Self { has_clusters: true, immediates: (1, 2), has_hopper: true, ..Self::V5 };

    /// Returns the version of a number; `None` if it is unknown. Below 3 only 1.2 was published.
    pub(super) const fn of_number(number: u64) -> Option<Self> {
        match number {
            0..=2 => Some(Self::V1),
            3 => Some(Self::V3),
            4 => Some(Self::V4),
            5 => Some(Self::V5),
            6 => Some(Self::V6),
            _ => None,
        }
    }

    /// Returns whether the number of a warp's threads says which lanes have addresses.
    pub(super) fn needs_threads(&self) -> bool {
        self.lanes != AddressLanes::Mask
    }
}
