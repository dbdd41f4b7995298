//! [`FaultKind`]: what went wrong at an instruction.

use std::fmt;

use crate::code::Site;
use crate::hang::Hang;
use crate::memory::Missing;
use crate::races::{OtherAccess, Unordered};
use crate::registers::Origin;
use crate::scoreboard::ScoreboardFault;
use crate::tensor::TensorFault;

/// What went wrong at an instruction: `S` is how another instruction is known, `C` why a value is unknown. The machine
/// has sites and origins, reports have lines and texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind<S, C> {
    /// An access outside all allocations. Loads return 0, and stores are dropped.
    OutOfBounds,
    /// An address that is not a multiple of the access size. Loads return 0, and stores are dropped.
    Misaligned {
        /// The size of the access in bytes.
        bytes: u32,
    },
    /// A load of uninitialized shared or local memory.
    Uninitialized,
    /// A store to constant memory or to a parameter of the kernel. It is dropped.
    ReadOnly,
    /// An operation on an mbarrier with an undefined effect. It is dropped, and its result is unknown.
    Mbarrier(MbarrierFault),
    /// A data race: two threads access the same bytes, at least one writes, and nothing orders the two.
    Race {
        /// The instruction of the other access.
        other: S,
        /// The thread of the other access.
        thread: [u32; 3],
        /// The block of that thread.
        block: [u32; 3],
        /// Whether the other access was a read, a write or a copy.
        access: OtherAccess,
        /// Why nothing orders the two. Of several races between the instructions, this one is between the threads that
        /// are furthest apart.
        reason: Unordered,
        /// Whether one of the two instructions also races with itself, as the store of a counter does.
        is_update: bool,
        /// The number of races between the two instructions.
        times: u64,
    },
    /// The schedule of the program does not wait for an earlier instruction.
    Scoreboard {
        /// The earlier instruction.
        other: S,
        /// What is missing.
        fault: Box<ScoreboardFault>,
    },
    /// A `trap` instruction. It ends the launch.
    Trap,
    /// A barrier is used in a way that PTX leaves undefined.
    Barrier(BarrierFault),
    /// Threads of a warp arrive at a barrier while others of it wait at another one that all of them must execute.
    TwoBarriers {
        /// The instruction where the others wait.
        other: S,
    },
    /// A part of a warp executes an instruction on matrices that all its threads must execute together.
    PartOfWarp {
        /// The lanes that do not.
        missing: u32,
    },
    /// A lane is not in the mask of members of the exchange that it executes.
    Membermask {
        /// The mask.
        members: u32,
    },
    /// The program keeps the value that a shuffle took from a lane that did not execute it.
    UndefinedShuffle,
    /// Threads wait for what never happens.
    Hang(Box<Hang<S>>),
    /// A call exceeds a limit on the stack.
    StackOverflow {
        /// The limit.
        limit: StackLimit,
    },
    /// An index of `brx.idx` beyond its list of targets.
    BranchIndex,
    /// An indirect call to an address that is not a function's.
    NoFunction {
        /// The address.
        address: u64,
    },
    /// A load of Tensor Memory that cannot be executed. Its registers are unchanged.
    TensorMemory(TensorLoadFault),
    /// A failed assertion, a call of `__assertfail`. It ends the thread.
    Assertion(Box<Assertion>),
    /// A call of `vprintf` with a format, a buffer or a text that is wrong or not known.
    Printf(Box<PrintfFault>),
    /// An access to memory of `malloc` that is free again.
    UseAfterFree {
        /// The size that was allocated there.
        bytes: u64,
    },
    /// A second `free` of the same memory.
    DoubleFree,
    /// A `free` of an address that `malloc` did not return.
    InvalidFree,
    /// An instruction needs a value that is unknown. The lane ends.
    UnknownValue {
        /// The role of the value: "an address".
        what: &'static str,
        /// The reason why it is unknown.
        cause: C,
    },
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
    /// A second `mbarrier.init` of the same bytes, without `mbarrier.inval` between.
    #[error("it is an mbarrier already: expected `mbarrier.inval` before another `mbarrier.init`")]
    InUse,
    /// The number of bytes that the phase waits for is out of range.
    #[error("the phase would wait for {0} bytes: at most 1048575 are possible")]
    Transactions(i64),
    /// `.noComplete` completes the phase.
    #[error("`.noComplete`, although the arrival completes the phase")]
    Completes,
}

/// A fault as the machine knows it.
pub type MachineFaultKind = FaultKind<Site, Origin>;

impl<S, C> FaultKind<S, C> {
    /// Returns the name of the kind, one word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::OutOfBounds => "out_of_bounds",
            Self::Misaligned { .. } => "misaligned",
            Self::Uninitialized => "uninitialized",
            Self::ReadOnly => "read_only",
            Self::Mbarrier(_) => "mbarrier",
            Self::Race { .. } => "race",
            Self::Scoreboard { .. } => "scoreboard",
            Self::Trap => "trap",
            Self::Barrier(_) | Self::TwoBarriers { .. } => "barrier",
            Self::PartOfWarp { .. } => "part_of_warp",
            Self::Membermask { .. } => "membermask",
            Self::UndefinedShuffle => "undefined_shuffle",
            Self::Hang(_) => "hang",
            Self::StackOverflow { .. } => "stack_overflow",
            Self::BranchIndex => "branch_index",
            Self::NoFunction { .. } => "no_function",
            Self::TensorMemory(_) => "tensor_memory",
            Self::Assertion(_) => "assertion",
            Self::Printf(_) => "printf",
            Self::UseAfterFree { .. } => "use_after_free",
            Self::DoubleFree => "double_free",
            Self::InvalidFree => "invalid_free",
            Self::UnknownValue { .. } => "unknown_value",
        }
    }

    /// Returns the other instruction of the fault: that of the other access of a race, the barrier where other threads of
    /// the warp wait, the one that is not waited for, or the last one that changed what threads wait for.
    #[must_use]
    pub fn other(&self) -> Option<&S> {
        match self {
            Self::Race { other, .. }
            | Self::TwoBarriers { other }
            | Self::Scoreboard { other, .. } => Some(other),
            Self::Hang(hang) => hang.wait.other(),
            _ => None,
        }
    }

    /// The same fault with what `site` and `cause` make of its parts, by means of `with`.
    pub fn map<W, L, T>(
        self,
        with: &mut W,
        site: impl FnOnce(&mut W, S) -> L,
        cause: impl FnOnce(&mut W, C) -> T,
    ) -> FaultKind<L, T> {
        use FaultKind as F;
        match self {
            Self::Race { other, thread, block, access, reason, is_update, times } => {
                let other = site(with, other);
                F::Race { other, thread, block, access, reason, is_update, times }
            }
            Self::TwoBarriers { other } => F::TwoBarriers { other: site(with, other) },
            Self::Scoreboard { other, fault } => F::Scoreboard { other: site(with, other), fault },
            Self::UnknownValue { what, cause: of } => {
                F::UnknownValue { what, cause: cause(with, of) }
            }
            Self::OutOfBounds => F::OutOfBounds,
            Self::Misaligned { bytes } => F::Misaligned { bytes },
            Self::Uninitialized => F::Uninitialized,
            Self::ReadOnly => F::ReadOnly,
            Self::Mbarrier(fault) => F::Mbarrier(fault),
            Self::Trap => F::Trap,
            Self::Barrier(fault) => F::Barrier(fault),
            Self::PartOfWarp { missing } => F::PartOfWarp { missing },
            Self::Membermask { members } => F::Membermask { members },
            Self::UndefinedShuffle => F::UndefinedShuffle,
            Self::Hang(hang) => F::Hang(Box::new(hang.map(|other| site(with, other)))),
            Self::StackOverflow { limit } => F::StackOverflow { limit },
            Self::BranchIndex => F::BranchIndex,
            Self::NoFunction { address } => F::NoFunction { address },
            Self::TensorMemory(fault) => F::TensorMemory(fault),
            Self::Assertion(assertion) => F::Assertion(assertion),
            Self::Printf(fault) => F::Printf(fault),
            Self::UseAfterFree { bytes } => F::UseAfterFree { bytes },
            Self::DoubleFree => F::DoubleFree,
            Self::InvalidFree => F::InvalidFree,
        }
    }
}

impl MachineFaultKind {
    /// The fault of an access of `bytes` bytes without a location.
    pub(crate) fn of_missing(missing: Missing, bytes: u32) -> Self {
        match missing {
            Missing::Misaligned => Self::Misaligned { bytes },
            Missing::Outside => Self::OutOfBounds,
            Missing::ReadOnly => Self::ReadOnly,
        }
    }
}

/// An undefined use of a barrier. [PTX ISA, "bar, barrier"]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BarrierFault {
    /// Whole warps must execute an aligned barrier.
    #[error(
        "only a part of the warp executes it, without lanes {missing:#010x}: all threads of a warp must execute `bar` \
         and `.aligned` together"
    )]
    PartOfWarp {
        /// The lanes that have ended elsewhere.
        missing: u32,
    },
    /// A block has barriers 0 to 15.
    #[error("there is no barrier {0}: their numbers are 0 to 15")]
    Number(u32),
    /// The lanes of a warp must name one barrier if it is aligned, and one number of threads.
    #[error("lanes of the warp name another barrier, or another number of threads")]
    Several,
    /// `.red` must not be mixed with `.sync` and `.arrive`.
    #[error(
        "other threads wait at this barrier with another operation: `.red` must not be mixed with `.sync` or `.arrive`"
    )]
    Mixed,
    /// Threads that wait at one barrier must expect one number of threads.
    #[error("it is for {given} threads, and others wait at it for {other}")]
    Counts {
        /// The number here.
        given: u32,
        /// The number that the others have given.
        other: u32,
    },
    /// The number of threads must be a multiple of the warp size.
    #[error("the number of threads, {0}, is not a multiple of 32")]
    Count(u32),
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
