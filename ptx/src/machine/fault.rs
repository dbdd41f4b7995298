//! [`FaultKind`]: what went wrong at an instruction.

use std::fmt;

use super::code::Site;
use super::memory::Missing;
use super::registers::Origin;
use crate::tensor::TensorFault;

/// The kind of a fault, before its text is looked up.
#[derive(Clone, Debug)]
pub(super) enum FaultKind {
    OutOfBounds,
    Misaligned { bytes: u32 },
    Uninitialized,
    ReadOnly,
    Mbarrier(MbarrierFault),
    Race { other: Site, thread: [u32; 3], is_copying: bool },
    Trap,
    BarrierDivergence,
    StackOverflow(StackLimit),
    BranchIndex,
    NoFunction { address: u64 },
    Tensor(TensorLoadFault),
    Assertion(Box<Assertion>),
    Printf(Box<PrintfFault>),
    UseAfterFree { bytes: u64 },
    DoubleFree,
    InvalidFree,
    Unknown { what: &'static str, origin: Origin },
}

/// The reason why a load of Tensor Memory cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorLoadFault {
    /// The load breaks a rule of Tensor Memory.
    #[error("{}: {}", .0.code(), .0)]
    Refused(TensorFault),
    /// Some lanes of the warp do not execute the load, although all must.
    #[error("all lanes must execute `.sync.aligned` together, and {0:#010x} do")]
    NotAllLanes(u32),
    /// The lanes have different addresses.
    #[error(
        "lanes 0 and {lane} have the addresses {first:#x} and {other:#x}: expected one for the warp"
    )]
    AddressesDiffer {
        /// The address of lane 0.
        first: u32,
        /// The first lane with a different address.
        lane: u32,
        /// The address in that lane.
        other: u32,
    },
}

/// The text of an assertion that failed. Parts are `None` if they are not known, or not in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// The expression, or the message.
    pub expression: Option<String>,
    /// The source file.
    pub file: Option<String>,
    /// The line in the source file.
    pub line: Option<u32>,
    /// The function that contains the assertion.
    pub function: Option<String>,
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.expression {
            Some(expression) => write!(f, "assertion failed: {expression}")?,
            None => f.write_str("assertion failed: its text is not known")?,
        }
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, ", {file}:{line}")?,
            (Some(file), None) => write!(f, ", {file}")?,
            (None, Some(line)) => write!(f, ", line {line} of a file that is not known")?,
            (None, None) => {}
        }
        match &self.function {
            Some(function) => write!(f, ", in `{function}`"),
            None => Ok(()),
        }
    }
}

/// The reason why a call of `printf` prints less than its format says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrintfFault {
    /// The format is not in an allocation, or has no end.
    #[error("the format is not in memory up to its end")]
    NoFormat,
    /// Bytes of the format are unknown, or unwritten.
    #[error("the format is not known")]
    UnknownFormat,
    /// The format or a text has more than 64 KiB.
    #[error("a text of more than 65536 bytes")]
    TooLong,
    /// Something that CUDA does not convert, or a field of more than 4,096 characters.
    #[error("`{conversion}` is not a conversion, or too wide")]
    Conversion {
        /// Its text in the format.
        conversion: String,
    },
    /// The buffer ends before a value.
    #[error("the buffer does not have the {bytes} bytes that `{conversion}` needs")]
    NoValue {
        /// The conversion.
        conversion: String,
        /// The size of the value.
        bytes: u32,
    },
    /// A value of the buffer is unknown, or unwritten.
    #[error("the value of `{conversion}` is not known")]
    UnknownValue {
        /// The conversion.
        conversion: String,
    },
    /// The text of `%s` is not in an allocation, or has no end.
    #[error("the text of `{conversion}` is not in memory up to its end")]
    NoText {
        /// The conversion.
        conversion: String,
    },
}

/// The reason why an operation on an mbarrier cannot be executed. The PTX ISA leaves its effect undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MbarrierFault {
    /// No `mbarrier.init` has been executed at this address since the last `mbarrier.inval`.
    #[error("none is initialized there")]
    NotInitialized,
    /// The address is not in shared memory.
    #[error("it is not in shared memory")]
    NotShared,
    /// The count of an instruction is out of range.
    #[error("the count is {0}: 1 to 1048575 are possible")]
    Count(u64),
    /// More threads arrive than the phase waits for.
    #[error("{given} arrivals, although the phase waits for {pending}")]
    Arrivals {
        /// The count of the instruction.
        given: u64,
        /// The pending count.
        pending: u64,
    },
    /// The number of bytes that the phase waits for is out of range.
    #[error("the phase would wait for {0} bytes: at most 1048575 are possible")]
    Transactions(i64),
    /// `.noComplete` completes the phase.
    #[error("`.noComplete`, although the arrival completes the phase")]
    Completes,
}

impl FaultKind {
    /// The fault of an access of `bytes` bytes without a location.
    pub(super) fn of_missing(missing: Missing, bytes: u32) -> Self {
        match missing {
            Missing::Misaligned => Self::Misaligned { bytes },
            Missing::Outside => Self::OutOfBounds,
            Missing::ReadOnly => Self::ReadOnly,
        }
    }
}

/// A limit on the stack of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StackLimit {
    /// 4,096 nested calls.
    Calls,
    /// 512 KiB of local memory for a thread, as on GPUs.
    Local,
    /// 1 GiB of registers and local memory for all frames of all warps of a block.
    Launch,
}

impl fmt::Display for StackLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Calls => "more than 4,096 nested calls",
            Self::Local => "more than 512 KiB of local memory",
            Self::Launch => "more than 1 GiB of registers and local memory in all calls of a block",
        })
    }
}
