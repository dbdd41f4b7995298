//! [`KernelResult`]: the findings of a launch. [`KernelFault`]: one of them, with its instruction and thread.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::module::StatementId;
use warpload::text::plural;
use warpload_machine::{
    AllocationSide, AllocationUse, CheckedRaces, Checks, FaultKind, LaunchCounts,
    NearestAllocation, OtherAccess, UnknownBytes, Unordered, Wait,
};

/// An unsupported instruction that was reached. Its results are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedInstruction {
    /// The instruction.
    pub statement: StatementId,
    /// Its line, from 1.
    pub line: u32,
    /// Its text.
    pub text: String,
    /// How many times a warp reached it.
    pub count: u64,
}

/// `line 9: not executed, 2 times: tex.1d…`.
impl fmt::Display for SkippedInstruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, text, count, .. } = self;
        write!(f, "line {line}: not executed, {}: {text}", plural(*count, "time"))
    }
}

/// The number of faults of one kind at one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultTotal {
    /// The name of the kind, as [`KernelFaultKind::name`] returns it.
    pub kind: &'static str,
    /// The instruction.
    pub statement: StatementId,
    /// Its offset in the text of the module, in bytes: its program counter in the trace of the launch.
    pub pc: u32,
    /// Its text.
    pub text: Arc<str>,
    /// The index of the first of these faults in [`KernelResult::faults`].
    pub first: usize,
    /// The number of faults.
    pub count: u64,
}

impl KernelResult {
    /// Returns the number of faults of each kind, by the names of the kinds.
    #[must_use]
    pub fn fault_kinds(&self) -> BTreeMap<&'static str, u64> {
        let mut kinds = BTreeMap::new();
        for total in &self.fault_totals {
            *kinds.entry(total.kind).or_default() += total.count;
        }
        kinds
    }

    /// Returns a line about the faults: `3 faults`, `3 faults (2 out of bounds, 1 trap)`; without faults, what was not
    /// checked: `no faults; races and synchronization were not checked`, `no faults in what was executed; …`.
    #[must_use]
    pub fn verdict(&self) -> String {
        let kinds: Vec<String> = self
            .fault_kinds()
            .into_iter()
            .map(|(kind, count)| format!("{count} {}", kind.replace('_', " ")))
            .collect();
        match (self.fault_count, kinds.len()) {
            (0, _) => {
                let of = match (self.has_ended, self.skipped.is_empty()) {
                    (true, true) if !self.unknown.is_empty() => ", but unknown results",
                    (true, true) => "",
                    (true, false) => " in what was executed",
                    (false, _) => " so far",
                };
                // PTX has no schedule to check.
                let Checks { races, sync, uninitialized, scoreboard: _ } = self.checks;
                let races = match races {
                    None => Some(("races", "were")),
                    Some(CheckedRaces::Shared) => Some(("races in global memory", "were")),
                    Some(CheckedRaces::All) => None,
                };
                let unchecked = [
                    races,
                    (!sync).then_some(("synchronization", "was")),
                    (!uninitialized).then_some(("uninitialized memory", "was")),
                ];
                let unchecked: Vec<_> = unchecked.into_iter().flatten().collect();
                match &unchecked[..] {
                    [] => format!("no faults{of}"),
                    [(what, verb)] => format!("no faults{of}; {what} {verb} not checked"),
                    [first @ .., (last, _)] => {
                        let first: Vec<&str> = first.iter().map(|(what, _)| *what).collect();
                        format!("no faults{of}; {} and {last} were not checked", first.join(", "))
                    }
                }
            }
            (1, _) => "1 fault".to_owned(),
            (count, 2..) => format!("{count} faults ({})", kinds.join(", ")),
            (count, _) => format!("{count} faults"),
        }
    }
}

/// The result of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelResult {
    /// The instructions that were executed.
    pub counts: LaunchCounts,
    /// The first faults, in order of execution: at most 20 of each kind at each instruction and, after 10,000, only the
    /// first one.
    pub faults: Vec<KernelFault>,
    /// How many faults of each kind each instruction has.
    pub fault_totals: Vec<FaultTotal>,
    /// The total number of faults.
    pub fault_count: u64,
    /// Whether the launch has ended, rather than reached its limit.
    pub has_ended: bool,
    /// What was judged beside faults of memory.
    pub checks: Checks,
    /// The unsupported instructions that were reached, in the order of the text.
    pub skipped: Vec<SkippedInstruction>,
    /// The unknown bytes of buffers, of an image and of variables that the launch has written, in the order of their
    /// addresses.
    pub unknown: Vec<UnknownBytes<UnknownCause>>,
    /// The text that `printf` has printed, in order of execution; the first MiB of it.
    pub printed: Vec<u8>,
    /// The size of the whole text in bytes.
    pub printed_bytes: u64,
}

impl KernelResult {
    /// Returns whether the launch has no finding: no fault, no instruction that was not executed, and no unknown byte.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.fault_count == 0 && self.skipped.is_empty() && self.unknown.is_empty()
    }
}

/// The kind of a [`KernelFault`]. Another instruction is known by its line, from 1.
pub type KernelFaultKind = FaultKind<FaultLine, UnknownCause>;

/// The line of another instruction that a fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultLine {
    /// The line in the module, from 1.
    pub line: u32,
    /// The line in the source file, if the module says.
    pub source_line: Option<u32>,
}

impl fmt::Display for FaultLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.line)?;
        match self.source_line {
            Some(source) => write!(f, " (source line {source})"),
            None => Ok(()),
        }
    }
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
    /// The initial value of a variable is not known, such as the address of an external symbol, or the bytes are padding
    /// between parameters.
    InitialValue,
    /// An earlier launch on the same memory has left it unknown.
    EarlierLaunch,
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
            Self::InitialValue => f.write_str("nothing gives it a value before the launch"),
            Self::EarlierLaunch => f.write_str("an earlier launch has left it unknown"),
            Self::Several => {
                f.write_str("many instructions are not executed, or registers never written")
            }
        }
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
    /// The known mistake that an out-of-bounds address looks like; `None` if there is none.
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
                let Some(NearestAllocation { purpose, side, distance, .. }) = &self.nearest else {
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
            KernelFaultKind::Race { other, thread: [x, y, z], block, access, reason, times } => {
                let how = match access {
                    OtherAccess::Read => "read",
                    OtherAccess::Write => "written",
                    OtherAccess::Copy => "copied",
                };
                write!(f, "race: {address:#x} is also {how} by thread ({x}, {y}, {z})")?;
                if *block != self.block {
                    let [x, y, z] = block;
                    write!(f, " of block ({x}, {y}, {z})")?;
                }
                write!(f, " in {other}; {}", unordered(*reason))?;
                if *times > 1 {
                    write!(f, "; {times} times")?;
                }
            }
            KernelFaultKind::Scoreboard { other, fault } => {
                write!(f, "scoreboard: {}", fault.text(&format!("in {other}")))?;
            }
            KernelFaultKind::Trap => f.write_str("trap")?,
            KernelFaultKind::Barrier(fault) => write!(f, "barrier: {fault}")?,
            KernelFaultKind::Membermask { members } => {
                write!(f, "membermask: the lane is not in the mask {members:#010x} that it gives")?;
            }
            KernelFaultKind::UndefinedShuffle => {
                f.write_str(
                    "undefined shuffle: it takes the value of a lane that does not execute it, and the program keeps the \
                     result",
                )?;
            }
            KernelFaultKind::Hang(hang) => {
                let waits = if hang.threads == 1 { "thread waits" } else { "threads wait" };
                write!(
                    f,
                    "hang: {} {waits} forever: {}",
                    hang.threads,
                    awaited(&hang.wait, address)
                )?;
                if hang.is_alone && matches!(hang.wait, Wait::Memory { .. }) {
                    f.write_str("; another block may, but only this one was run")?;
                }
                if let Some([x, y, z]) = hang.not_resident {
                    write!(f, "; block ({x}, {y}, {z}) never begins, because other blocks wait")?;
                }
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

/// What threads wait for, at an address.
fn awaited(wait: &Wait<FaultLine>, address: u64) -> String {
    let in_line = |last: &Option<FaultLine>, what: &str| {
        last.map_or(String::new(), |last| format!("; last {what} in {last}"))
    };
    match wait {
        Wait::Barrier { number, arrived, expected, missing } => {
            let of = match &missing[..] {
                [] => String::new(),
                [one] => format!(", not all of warp {one}"),
                [first, .., last] => {
                    format!(", not all of {} warps from {first} to {last}", missing.len())
                }
            };
            format!("{arrived} of {expected} threads have arrived at barrier {number}{of}")
        }
        Wait::Lanes { missing } => {
            format!("lanes {missing:#010x} of their warp do not arrive")
        }
        Wait::Mbarrier { phase, pending, expected, bytes, last } => {
            let arrivals = (*pending != 0).then(|| format!("{pending} of {expected} arrivals"));
            let bytes = (*bytes != 0).then(|| format!("{bytes} bytes"));
            let lacks: Vec<String> = arrivals.into_iter().chain(bytes).collect();
            let (phase, last) = (u8::from(*phase), in_line(last, "changed"));
            format!(
                "phase {phase} of the mbarrier at {address:#x} lacks {}{last}",
                lacks.join(" and ")
            )
        }
        Wait::Memory { last } => {
            format!("nothing changes the bytes at {address:#x}{}", in_line(last, "written"))
        }
        _ => "they are in a loop that changes nothing".to_owned(),
    }
}

/// What would order the accesses of a race.
fn unordered(reason: Unordered) -> &'static str {
    match reason {
        Unordered::Warp => "no `bar.warp.sync` (`__syncwarp`) orders the two lanes of a warp",
        Unordered::Block => "no barrier (`__syncthreads`) orders the two warps of a block",
        Unordered::Grid => {
            "nothing orders the two blocks: expected a release and an acquire at device scope, or two launches"
        }
        Unordered::Scope => "both are strong, but the scope of one has only its own block",
        Unordered::Overlap => "both are strong, but not accesses to the same bytes in full",
        Unordered::Copy => {
            "nothing has waited for the copy: expected `cp.async.wait_group`, or a wait for its mbarrier"
        }
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
