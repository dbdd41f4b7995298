//! Executes grids of GPU threads without a GPU: all blocks, warps and lanes, with their registers, memory, barriers,
//! atomic operations, matrices and Tensor Memory, and checks of what they do.
//!
//! The machine knows no instruction set. A front end decodes a program to [`Code`](code::Code): operations on rows of 32
//! lanes, each with a [`Site`] that only the front end can turn into a line and a text. `warpload-ptx` is one for PTX.
//! [`run`] then executes warp after warp, one row at a time. It never looks at the program again. `examples/loop.rs` is
//! a small front end of a made-up instruction set.
//!
//! A new lane operation is a row of the table in `lanes`.

mod access;
mod block;
mod checks;
pub mod code;
mod control;
mod effects;
mod engine;
mod exchange;
mod externals;
mod fault;
mod fill;
mod findings;
mod float;
mod forks;
mod hang;
pub mod lanes;
mod launch;
mod log;
pub mod matrix;
mod mbarrier;
mod memory;
#[doc(hidden)]
pub mod named;
mod observer;
mod order;
mod printf;
mod races;
mod registers;
mod report;
mod scalar;
mod scoreboard;
mod stack;
pub mod tensor;
mod tensor_load;
mod threads;
mod warp;

pub use self::access::{AccessKind, LaneBytes};
pub use self::checks::{CheckedRaces, Checks, ChecksError};
pub use self::code::Site;
pub use self::externals::External;
pub use self::fault::{
    Assertion, BarrierFault, FaultKind, MachineFaultKind, MbarrierFault, PrintfFault, StackLimit,
    TensorLoadFault,
};
pub use self::fill::{Fill, FillError};
pub use self::findings::{InstructionSource, PolledLine, ProgramTexts, polls};
pub use self::float::{Direction, Extreme, FloatOp, Modes};
pub use self::hang::{Hang, PolledBytes, Wait};
pub use self::launch::{LaunchEnd, LaunchOptions, LaunchOutcome, MachineFault, UnknownBytes, run};
pub use self::log::FaultCount;
pub use self::mbarrier::pending_count;
pub use self::memory::{
    AllocationError, AllocationOffset, AllocationSide, AllocationUse, DeviceMemory, MAX_ALIGNMENT,
    NearestAllocation, Protection, TooMuchMemory,
};
pub use self::named::ParseNameError;
pub use self::observer::{
    LaunchCounts, LaunchWatch, LoadAlone, LoadOutcome, LoadedLanes, MemoryAccess, MemoryObserver,
    SkipReason,
};
pub use self::races::{OtherAccess, Unordered};
pub use self::registers::{Origin, Registers};
pub use self::report::{
    FaultLine, FaultPlace, FaultTotal, InstructionPlace, KernelFault, KernelFaultKind,
    KernelResult, SkippedInstruction, UnknownCause,
};
pub use self::scalar::ScalarType;
pub use self::scoreboard::ScoreboardFault;
pub use self::tensor_load::WarpTensorMemory;
