//! [`KernelFault`]: a fault during a launch, with its instruction and thread.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::code::Site;
use super::memory::{AllocationSide, AllocationUse, Missing, NearestAllocation};
use super::registers::Origin;
use crate::module::StatementId;
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

/// The kind of a [`KernelFault`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelFaultKind {
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
    /// An operation on an mbarrier whose effect is undefined. It is dropped, and its result is unknown.
    Mbarrier(MbarrierFault),
    /// A data race in shared memory: two threads access the same bytes, at least one writes, and nothing orders the two.
    /// Or a thread reads bytes that `cp.async` may still copy.
    Race {
        /// The line of the other access.
        other: u32,
        /// The thread of the other access.
        thread: [u32; 3],
        /// Whether the other access is a `cp.async` that its thread has not waited for. It may be the same thread.
        is_copying: bool,
    },
    /// A `trap` instruction. It ends the launch.
    Trap,
    /// A deadlock: threads wait at a barrier, and others wait elsewhere.
    BarrierDivergence,
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
    Assertion(Assertion),
    /// A call of `vprintf` with a format, a buffer or a text that is wrong or not known.
    Printf(PrintfFault),
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
        cause: UnknownCause,
    },
}

/// The reason why a value, or a byte of memory, is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownCause {
    /// An instruction is not executed, and would have written it.
    NotExecuted {
        /// The line of the instruction in the module, from 1.
        line: u32,
        /// Its text.
        text: Arc<str>,
    },
    /// It comes from a register that was never written.
    NeverWritten {
        /// The name of the register.
        register: Arc<str>,
    },
    /// `discard` has left it indeterminate.
    Discarded {
        /// The line of the instruction in the module, from 1.
        line: u32,
        /// Its text.
        text: Arc<str>,
    },
    /// An instruction takes the value of a lane that does not execute it.
    AbsentLane {
        /// The line of the instruction in the module, from 1.
        line: u32,
        /// Its text.
        text: Arc<str>,
    },
    /// The PTX ISA leaves the result of an instruction undefined.
    Undefined {
        /// The line of the instruction in the module, from 1.
        line: u32,
        /// Its text.
        text: Arc<str>,
    },
    /// The initial value of a variable is not known, such as the address of an external symbol.
    InitialValue,
    /// There are several reasons, too many to be told apart.
    Several,
}

impl fmt::Display for UnknownCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotExecuted { line, text } => {
                write!(f, "`{text}` in line {line} is not executed")
            }
            Self::Discarded { line, text } => {
                write!(f, "`{text}` in line {line} leaves it indeterminate")
            }
            Self::NeverWritten { register } => write!(f, "nothing has written `{register}`"),
            Self::AbsentLane { line, text } => {
                write!(f, "`{text}` in line {line} reads a lane that does not execute it")
            }
            Self::Undefined { line, text } => {
                write!(f, "`{text}` in line {line} leaves it undefined")
            }
            Self::InitialValue => f.write_str("the initial value of a variable has no value here"),
            Self::Several => {
                f.write_str("many instructions are not executed, or registers never written")
            }
        }
    }
}

/// The unknown bytes of an allocation after a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownBytes {
    /// The purpose of the allocation.
    pub purpose: AllocationUse,
    /// The address of its first byte.
    pub base: u64,
    /// The number of unknown bytes.
    pub bytes: u64,
    /// The offset of the first unknown byte in the allocation.
    pub first: u64,
    /// The reason why the first one is unknown.
    pub cause: UnknownCause,
}

impl KernelFaultKind {
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
            Self::Trap => "trap",
            Self::BarrierDivergence => "barrier_divergence",
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

/// A fault during a launch. Execution continues, except for the lanes that cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelFault {
    /// The kind.
    pub kind: KernelFaultKind,
    /// The instruction.
    pub statement: StatementId,
    /// Its line in the module, from 1.
    pub line: u32,
    /// Its column, from 1; `None` if no other instruction begins in the line.
    pub column: Option<u32>,
    /// The function that contains the instruction.
    pub function: Arc<str>,
    /// The source file from `.loc` and `.file`, if they name one.
    pub source_file: Option<Arc<str>>,
    /// The line in it, from `.loc`, if there is one. For code that is inlined from another file, it is the call's.
    pub source_line: Option<u32>,
    /// The file and the line of such inlined code.
    pub inlined_from: Option<(Option<Arc<str>>, u32)>,
    /// The block's index.
    pub block: [u32; 3],
    /// The thread's index in its block.
    pub thread: [u32; 3],
    /// The thread's lane, 0 to 31.
    pub lane: u32,
    /// The generic address of the access; 0 for other faults.
    pub address: u64,
    /// The allocation nearest to an out-of-bounds address; `None` for other faults.
    pub nearest: Option<NearestAllocation>,
    /// The name of the parameter, if that is the buffer of an argument.
    pub nearest_name: Option<Arc<str>>,
    /// What an out-of-bounds address looks like, if it looks like a known mistake.
    pub hint: Option<&'static str>,
}

impl KernelFault {
    /// Returns the place of the instruction in the source, as it is shown: `saxpy.cu:26`, or `source line 26` if the file
    /// is unknown; `None` without `.loc`.
    #[must_use]
    pub fn source(&self) -> Option<String> {
        let shown = |file: &Option<Arc<str>>, line: u32| match file {
            Some(file) => format!("{}:{line}", file.rsplit(['/', '\\']).next().unwrap_or(file)),
            None => format!("source line {line}"),
        };
        let place = shown(&self.source_file, self.source_line?);
        Some(match &self.inlined_from {
            Some((file, line)) => format!("{place}, inlined from {}", shown(file, *line)),
            None => place,
        })
    }

    /// Describes the fault in two lines: its place, what is wrong, and who executed `instruction`, which is the text of the
    /// instruction.
    #[must_use]
    pub fn report(&self, instruction: &str) -> String {
        let source = self.source().map_or(String::new(), |source| format!(" ({source})"));
        let ([bx, by, bz], [x, y, z]) = (self.block, self.thread);
        let (place, function) = (self.place(), &self.function);
        format!(
            "{place}{source}: {self}\n  in `{function}` by thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz}): \
             {instruction}"
        )
    }

    /// Returns the number, from 0, of the argument whose buffer is nearest to an out-of-bounds address; `None` if there is
    /// none, or another memory is nearer.
    #[must_use]
    pub fn argument(&self) -> Option<usize> {
        match self.nearest.as_ref()?.purpose {
            AllocationUse::Argument(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the distance of an out-of-bounds address from the nearest memory, in bytes: from its end if positive; to
    /// its beginning, or for an access that begins inside, to its end, if negative. `None` for other faults.
    #[must_use]
    pub fn distance(&self) -> Option<i64> {
        let NearestAllocation { side, distance, .. } = self.nearest.as_ref()?;
        Some(match side {
            AllocationSide::After => distance.cast_signed(),
            AllocationSide::Before | AllocationSide::Inside => {
                distance.cast_signed().wrapping_neg()
            }
        })
    }

    /// Returns the place of the instruction in the module, as it is shown: `line 26`, or `line 26:9` if other instructions
    /// begin in the line.
    #[must_use]
    pub fn place(&self) -> String {
        match self.column {
            Some(column) => format!("line {}:{column}", self.line),
            None => format!("line {}", self.line),
        }
    }
}

impl fmt::Display for KernelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address;
        match &self.kind {
            KernelFaultKind::OutOfBounds => {
                write!(f, "out of bounds: {address:#x}")?;
                let Some(NearestAllocation { purpose, side, distance }) = &self.nearest else {
                    return Ok(());
                };
                let unit = if *distance == 1 { "byte" } else { "bytes" };
                let purpose = match &self.nearest_name {
                    Some(name) => format!("{purpose} (`{}`)", end_of(name)),
                    None => purpose.to_string(),
                };
                match side {
                    AllocationSide::Before => write!(f, " is {distance} {unit} before {purpose}")?,
                    AllocationSide::Inside => {
                        write!(
                            f,
                            " is {distance} {unit} before the end of {purpose}, and too near"
                        )?;
                    }
                    AllocationSide::After if *distance == 0 => {
                        write!(f, " is the end of {purpose}")?;
                    }
                    AllocationSide::After => {
                        write!(f, " is {distance} {unit} past the end of {purpose}")?;
                    }
                }
                if let Some(hint) = self.hint {
                    write!(f, "; {hint}")?;
                }
            }
            KernelFaultKind::Misaligned { bytes } => {
                write!(f, "misaligned: {address:#x} is not a multiple of {bytes}")?;
            }
            KernelFaultKind::Uninitialized => {
                write!(f, "uninitialized: nothing has written the bytes at {address:#x}")?;
            }
            KernelFaultKind::ReadOnly => {
                write!(f, "read-only: ")?;
                match &self.nearest {
                    Some(known) => write!(f, "{address:#x} is in {}", known.purpose)?,
                    None => write!(f, "{address:#x}")?,
                }
                f.write_str(", which a kernel cannot write")?;
            }
            KernelFaultKind::Mbarrier(fault) => write!(f, "mbarrier at {address:#x}: {fault}")?,
            KernelFaultKind::Race { other, thread: [x, y, z], is_copying: true } => write!(
                f,
                "race: thread ({x}, {y}, {z}) copies to {address:#x} in line {other}, and has not waited for the copy"
            )?,
            KernelFaultKind::Race { other, thread: [x, y, z], is_copying: false } => write!(
                f,
                "race: thread ({x}, {y}, {z}) accesses {address:#x} in line {other}, and nothing orders the two"
            )?,
            KernelFaultKind::Trap => f.write_str("trap")?,
            KernelFaultKind::BarrierDivergence => {
                f.write_str("barrier divergence: the threads that it waits for do not arrive")?;
            }
            KernelFaultKind::StackOverflow { limit } => write!(f, "stack overflow: {limit}")?,
            KernelFaultKind::BranchIndex => f.write_str("the index has no target")?,
            KernelFaultKind::NoFunction { address } => {
                write!(f, "no function has the address {address:#x}")?;
            }
            KernelFaultKind::TensorMemory(fault) => write!(f, "Tensor Memory: {fault}")?,
            KernelFaultKind::Assertion(assertion) => write!(f, "{assertion}")?,
            KernelFaultKind::Printf(fault) => {
                write!(f, "printf: {fault}")?;
                if address != 0 {
                    write!(f, ", at {address:#x}")?;
                }
            }
            KernelFaultKind::UseAfterFree { bytes } => {
                write!(f, "use after free: {address:#x} was one of {bytes} bytes from `malloc`")?;
            }
            KernelFaultKind::DoubleFree => write!(f, "double free: {address:#x} is free already")?,
            KernelFaultKind::InvalidFree => {
                write!(f, "invalid free: `malloc` has not returned {address:#x}")?;
            }
            KernelFaultKind::UnknownValue { what, cause } => {
                write!(f, "{what} is not known: {cause}")?;
            }
        }
        Ok(())
    }
}

/// The end of a long name, because compilers append the number of a parameter: `…7alignedE_param_4`.
fn end_of(name: &str) -> Cow<'_, str> {
    const MAX: usize = 64;
    const KEPT: usize = 32;
    match name.char_indices().nth_back(KEPT) {
        Some((start, first)) if name.len() > MAX => {
            format!("…{}", &name[start + first.len_utf8()..]).into()
        }
        _ => name.into(),
    }
}

impl fmt::Display for AllocationUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(number) => write!(f, "argument {number}"),
            Self::Variable(name) => write!(f, "`{name}`"),
            Self::Parameters => f.write_str("the parameters"),
            Self::Image => f.write_str("the image"),
            Self::Shared => f.write_str("shared memory"),
            Self::Local => f.write_str("local memory"),
            Self::Heap { bytes: 1 } => f.write_str("1 byte from `malloc`"),
            Self::Heap { bytes } => write!(f, "{bytes} bytes from `malloc`"),
        }
    }
}
