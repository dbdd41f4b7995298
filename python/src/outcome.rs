//! The outcome of executing a load, and its faults.

use pyo3::prelude::*;
use warpload::encoding::Instruction as Load;
use warpload::load::{self, UniformPath as Path};

use crate::instruction::{destination, other_half};
use crate::literals::{LaneFaultKind, LaneSpace, UniformPath, WarpFaultKind};
use crate::record::record;

record! {
/// The outcome of executing a load, except for the values, which are in the warp.
Outcome in "warpload" {
    /// The lanes that executed, bit n for lane n.
    executing: u32,
    /// The first register that was written, as `Instruction.destination` names it; `None` if values go to shared
    /// memory, or if no lane loads.
    destination: Option<String>,
    /// For 256-bit loads, the first register of the last four words.
    other_half: Option<String>,
    /// The number of registers that were written, from `destination` on and from `other_half` on together.
    register_count: u32,
    /// The fault that kept the whole warp from loading; `None` if there is none.
    warp_fault: Option<WarpFault>,
    /// The faults of single lanes.
    lane_faults: Vec<LaneFault>,
    /// The path of a `.U.128`: `broadcast` or `divergent`; `None` for other loads.
    uniform: Option<UniformPath>,
}
repr |this| {
    let mut shown = format!("Outcome(executing={:#010x}", this.executing);
    if let Some(first) = &this.destination {
        shown += &format!(", destination='{first}', register_count={}", this.register_count);
    }
    if let Some(fault) = &this.warp_fault {
        shown += &format!(", warp_fault={} ({})", fault.kind.0, fault.register);
    }
    match this.lane_faults.len() {
        0 => shown + ")",
        1 => shown + ", 1 lane fault)",
        count => shown + &format!(", {count} lane faults)"),
    }
};
}

impl Outcome {
    pub(crate) fn new(outcome: &load::Outcome, load: &Load) -> Self {
        let has_written = outcome.warp_fault.is_none() && !outcome.executing.is_empty();
        let written = Some(load).filter(|_| has_written);
        let count = |load: &Load| load.parts().size.map_or(0, |size| size.registers());
        Self {
            executing: outcome.executing.bits(),
            destination: written.and_then(destination),
            other_half: written.and_then(other_half),
            register_count: written.map_or(0, count),
            warp_fault: outcome.warp_fault.map(|fault| WarpFault {
                kind: WarpFaultKind(fault.name()),
                register: fault.register().to_string(),
                error: fault.warp_error().to_string(),
            }),
            lane_faults: outcome.lane_faults.iter().copied().map(LaneFault::new).collect(),
            uniform: outcome.uniform.map(|path| match path {
                Path::Broadcast => UniformPath("broadcast"),
                Path::Divergent => UniformPath("divergent"),
            }),
        }
    }
}

record! {
/// A fault of a whole warp, before any lane reads memory.
WarpFault in "warpload" {
    /// `misaligned_register` or `out_of_range_register`.
    kind: WarpFaultKind,
    /// The register at fault.
    register: String,
    /// The error that the hardware reports.
    error: String,
}
}

record! {
/// A fault of one lane.
LaneFault in "warpload" {
    /// `outside_window`, `outside_allocation` or `misaligned_address`.
    kind: LaneFaultKind,
    /// The lane.
    lane: usize,
    /// The address.
    address: u64,
    /// The address rounded down to the access size.
    rounded: u64,
    /// The access size in bytes.
    bytes: u32,
    /// The memory that contains the rounded address; `None` if the lane cannot access it.
    space: Option<LaneSpace>,
    /// The error that the hardware reports.
    error: String,
}
repr |this| format!("LaneFault('{}', lane={}, address={:#x})", this.kind.0, this.lane, this.address);
}

impl LaneFault {
    fn new(fault: load::LaneFault) -> Self {
        Self {
            kind: LaneFaultKind(fault.kind().name()),
            lane: fault.lane,
            address: fault.address.0,
            rounded: fault.rounded.0,
            bytes: fault.bytes,
            space: fault.space.map(|space| LaneSpace(space.name())),
            error: fault.warp_error().to_string(),
        }
    }
}
