//! Executing loads: what a load does, what can go wrong, and the two executors.
//!
//! [`reference::execute`](reference()) follows docs/ld.md section 4 and docs/load-family.md
//! section 3 clause by clause, lane by lane, and is kept slow and obvious. [`execute`] is meant to
//! be fast. They share no code beyond types; property tests hold them equal.

mod fast;
mod fault;
mod gather;
mod op;
mod outcome;
mod reference;

pub use fast::execute;
pub use fault::{FaultKind, LaneFault, LaneFaults, WarpError, WarpFault};
pub use gather::{Loaded, load};
pub use op::{ExecuteError, LaneAddresses, LoadOp, register_fault};
pub use outcome::{Destination, Outcome, UniformPath};
pub use reference::execute as reference;

/// One of the two executors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// [`execute`].
    Fast,
    /// [`reference()`].
    Reference,
}

impl Executor {
    /// `fast` or `reference`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Reference => "reference",
        }
    }

    /// Executes an instruction with this executor.
    ///
    /// # Errors
    /// [`ExecuteError`] where the instruction has no size or a mode whose meaning is not known.
    pub fn execute(
        self,
        instruction: &warpload_encoding::Instruction,
        machine: &crate::machine::Machine,
        warp: &mut crate::warp::Warp,
    ) -> Result<Outcome, ExecuteError> {
        match self {
            Self::Fast => execute(instruction, machine, warp),
            Self::Reference => reference(instruction, machine, warp),
        }
    }
}
