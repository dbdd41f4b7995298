//! [`Outcome`]: what executing one load did.

use warpload_encoding::Reg;

use super::fault::{LaneFaults, WarpFault};
use crate::lane::LaneMask;

/// The path that a `.U.128` took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UniformPath {
    /// One fetch served all executing lanes.
    Broadcast,
    /// The lanes were served one by one.
    Divergent,
}

/// The registers that a load wrote, in its executing lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Destination {
    /// The first register.
    pub first: Reg,
    /// Their number: 1, 2, 4 or 8.
    pub count: u32,
}

/// What executing one load did, apart from the values, which are in the warp. The default is that
/// of a load that no lane executes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Outcome {
    /// The lanes that executed: active, and predicated on by the guard.
    pub executing: LaneMask,
    /// The general registers that were written; `None` if no lane executed, the warp faulted, or Rd is
    /// `RZ` or a uniform register.
    pub destination: Option<Destination>,
    /// Of 256 bits, the registers of the last four words.
    pub other_half: Option<Destination>,
    /// The fault that kept the whole warp from loading.
    pub warp_fault: Option<WarpFault>,
    /// The faults of single lanes.
    pub lane_faults: LaneFaults,
    /// The path that a `.U.128` took; `None` for other loads and if nothing was loaded.
    pub uniform: Option<UniformPath>,
}

impl Outcome {
    /// Returns the outcome of a load that faults before it reads memory.
    pub(crate) fn warp_fault(executing: LaneMask, fault: WarpFault) -> Self {
        Self { executing, warp_fault: Some(fault), ..Self::default() }
    }

    /// Returns whether the broadcast path was taken.
    #[must_use]
    pub fn is_broadcast(&self) -> bool {
        self.uniform == Some(UniformPath::Broadcast)
    }
}
