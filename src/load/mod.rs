//! Executing loads: a [`LoadOp`] on a [`LoadMemory`], its faults, and the two executors.
//!
//! [`reference::execute`](reference()) follows docs/ld.md section 4 and docs/load-family.md section 3 clause by clause,
//! lane by lane, and is kept slow and obvious. [`execute`] is fast. They share types but no code, so that property
//! tests can hold one against the other.

mod fast;
mod lanes;
mod matrices;
mod op;
mod outcome;
mod prepared;
mod reference;
mod wide;

pub use fast::{Loaded, load, load_many};
pub use lanes::LaneAddresses;
pub use matrices::MatrixLoad;
pub use op::{ExecuteError, LoadOp};
pub use outcome::{
    AnyRegister, ByFaultKind, Destination, FaultCause, LaneFault, LaneFaultKind, LaneFaults,
    Outcome, UniformPath, WarpError, WarpFault,
};
pub use prepared::{Prepared, execute};
pub use reference::{LaneLoad, broken_register_rules, execute as reference, lane_loads};

use warpload_encoding::Instruction;

use crate::machine::Machine;
use crate::memory::LoadMemory;
use crate::warp::Warp;

/// One of the two executors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Executor {
    /// [`execute`].
    Fast,
    /// [`reference()`].
    Reference,
}

impl Executor {
    /// Returns `fast` or `reference`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Reference => "reference",
        }
    }

    /// Executes an instruction with this executor.
    ///
    /// # Errors
    /// Returns [`ExecuteError`] if the instruction has an invalid size or an undocumented mode. The warp is then
    /// unchanged.
    #[inline]
    pub fn execute<M: LoadMemory>(
        self,
        instruction: &Instruction,
        machine: &Machine<M>,
        warp: &mut Warp,
    ) -> Result<Outcome, ExecuteError> {
        match self {
            Self::Fast => execute(instruction, machine, warp),
            Self::Reference => reference(instruction, machine, warp),
        }
    }
}

impl std::fmt::Display for Executor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
