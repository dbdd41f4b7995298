//! What executing a load did, and its faults.

use pyo3::prelude::*;
use warpload::encoding::{Instruction as Load, LoadSize};
use warpload::load::{self, UniformPath};

use crate::instruction::{destination, other_half};
use crate::literals::{self, LaneFaultKind, LaneSpace, WarpFaultKind};

/// What executing a load did, apart from the values, which are in the warp.
#[pyclass(frozen, eq, module = "warpload")]
#[derive(PartialEq)]
pub(crate) struct Outcome(load::Outcome, Load);

impl Outcome {
    pub(crate) fn new(outcome: load::Outcome, load: Load) -> Self {
        Self(outcome, load)
    }
}

#[pymethods]
impl Outcome {
    /// The lanes that executed, bit n for lane n.
    #[getter]
    fn executing(&self) -> u32 {
        self.0.executing.bits()
    }

    /// The first register that was written, as `Instruction.destination` names it; `None` if values go to shared
    /// memory, or if no lane loads.
    #[getter]
    fn destination(&self) -> Option<String> {
        self.wrote().then(|| destination(&self.1)).flatten()
    }

    /// Of 256 bits, the first of the registers of the last four words.
    #[getter]
    fn other_half(&self) -> Option<String> {
        self.wrote().then(|| other_half(&self.1)).flatten()
    }

    /// How many registers were written, from `destination` on and from `other_half` on together.
    #[getter]
    fn registers(&self) -> u32 {
        let count = |size: LoadSize| size.registers();
        if self.wrote() { self.1.parts().size.map_or(0, count) } else { 0 }
    }

    /// The fault that kept the whole warp from loading; `None` if there is none.
    #[getter]
    fn warp_fault(&self) -> Option<WarpFault> {
        self.0.warp_fault.map(WarpFault)
    }

    /// The faults of single lanes.
    #[getter]
    fn lane_faults(&self) -> Vec<LaneFault> {
        self.0.lane_faults.iter().copied().map(LaneFault).collect()
    }

    /// The path of a `.U.128`: `broadcast` or `divergent`; `None` for other loads.
    #[getter]
    fn uniform(&self) -> Option<literals::UniformPath> {
        self.0.uniform.map(|path| match path {
            UniformPath::Broadcast => literals::UniformPath("broadcast"),
            UniformPath::Divergent => literals::UniformPath("divergent"),
        })
    }

    fn __repr__(&self) -> String {
        let mut shown = format!("Outcome(executing={:#010x}", self.executing());
        if let Some(first) = self.destination() {
            shown += &format!(", destination='{first}', registers={}", self.registers());
        }
        if let Some(fault) = self.0.warp_fault {
            shown += &format!(", warp_fault={fault}");
        }
        match self.lane_faults().len() {
            0 => shown + ")",
            1 => shown + ", 1 lane fault)",
            count => shown + &format!(", {count} lane faults)"),
        }
    }
}

impl Outcome {
    /// Whether registers were written.
    fn wrote(&self) -> bool {
        self.0.warp_fault.is_none() && !self.0.executing.is_empty()
    }
}

/// A fault of a whole warp, before any lane reads memory.
#[pyclass(frozen, eq, hash, module = "warpload")]
#[derive(PartialEq, Hash)]
pub(crate) struct WarpFault(load::WarpFault);

#[pymethods]
impl WarpFault {
    /// `misaligned_register` or `out_of_range_register`.
    #[getter]
    fn kind(&self) -> WarpFaultKind {
        WarpFaultKind(self.0.name())
    }

    /// The register at fault.
    #[getter]
    fn register(&self) -> String {
        self.0.register().to_string()
    }

    /// What the hardware reports.
    #[getter]
    fn error(&self) -> String {
        self.0.warp_error().to_string()
    }

    fn __repr__(&self) -> String {
        format!("WarpFault('{}', register='{}')", self.0.name(), self.register())
    }
}

/// A fault of one lane.
#[pyclass(frozen, eq, hash, module = "warpload")]
#[derive(PartialEq, Hash)]
pub(crate) struct LaneFault(load::LaneFault);

#[pymethods]
impl LaneFault {
    /// `outside_window`, `outside_allocation` or `misaligned_address`.
    #[getter]
    fn kind(&self) -> LaneFaultKind {
        LaneFaultKind(self.0.kind().name())
    }

    /// The lane.
    #[getter]
    fn lane(&self) -> usize {
        self.0.lane
    }

    /// The address.
    #[getter]
    fn address(&self) -> u64 {
        self.0.address.0
    }

    /// The address rounded down to the access size.
    #[getter]
    fn rounded(&self) -> u64 {
        self.0.rounded.0
    }

    /// The access size in bytes.
    #[getter]
    fn bytes(&self) -> u32 {
        self.0.bytes
    }

    /// The memory that the rounded address is in; `None` if the lane cannot access it.
    #[getter]
    fn space(&self) -> Option<LaneSpace> {
        self.0.space.map(|space| LaneSpace(space.name()))
    }

    /// What the hardware reports.
    #[getter]
    fn error(&self) -> String {
        self.0.warp_error().to_string()
    }

    fn __repr__(&self) -> String {
        format!(
            "LaneFault('{}', lane={}, address={:#x})",
            self.0.kind().name(),
            self.0.lane,
            self.0.address.0
        )
    }
}
