//! [`KernelResult`]: the findings of a launch. [`KernelFault`]: one of them, with its instruction and thread.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::checks::{CheckedRaces, Checks};
use crate::code::Site;
use crate::fault::FaultKind;
use crate::hang::Wait;
use crate::launch::UnknownBytes;
use crate::memory::{AllocationSide, AllocationUse, NearestAllocation};
use crate::observer::LaunchCounts;
use crate::races::{OtherAccess, Unordered};
use warpload::text::plural;

/// The addresses below are offsets in shared or local memory, or a null pointer with an offset.
const LOW: u64 = 1 << 20;

/// The place of an instruction in its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionPlace {
    /// A line of a text, from 1, and the column, from 1, if other instructions begin in the line.
    Line(u32, Option<u32>),
    /// The offset of machine code in its function, in bytes.
    Offset(u64),
}

impl InstructionPlace {
    /// Returns the line; 0 for machine code.
    #[must_use]
    pub fn line(self) -> u32 {
        if let Self::Line(line, _) = self { line } else { 0 }
    }

    /// Returns the column, if other instructions begin in the line.
    #[must_use]
    pub fn column(self) -> Option<u32> {
        if let Self::Line(_, column) = self { column } else { None }
    }

    /// Returns the offset of machine code.
    #[must_use]
    pub fn offset(self) -> Option<u64> {
        if let Self::Offset(offset) = self { Some(offset) } else { None }
    }

    /// The place without its column, after the word that a sentence needs: `in line 26`, `at 0x0f30`.
    fn in_sentence(self) -> String {
        match self {
            Self::Line(line, _) => format!("in line {line}"),
            Self::Offset(_) => format!("at {self}"),
        }
    }
}

/// `line 26`, `line 26:9`, `0x0f30`.
impl fmt::Display for InstructionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line, Some(column)) => write!(f, "line {line}:{column}"),
            Self::Line(line, None) => write!(f, "line {line}"),
            Self::Offset(offset) => write!(f, "{offset:#06x}"),
        }
    }
}

/// An unsupported instruction that was reached. Its results are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedInstruction {
    /// The instruction.
    pub site: Site,
    /// Its place, without a column.
    pub at: InstructionPlace,
    /// Its text.
    pub text: String,
    /// How many times a warp reached it.
    pub count: u64,
}

/// `line 9: not executed, 2 times: tex.1d…`.
impl fmt::Display for SkippedInstruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, text, count, .. } = self;
        write!(f, "{at}: not executed, {}: {text}", plural(*count, "time"))
    }
}

/// The number of faults of one kind at one instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultTotal {
    /// The name of the kind, as [`KernelFaultKind::name`] returns it.
    pub kind: &'static str,
    /// The instruction.
    pub site: Site,
    /// Its offset in the text of the program, in bytes, or in its code: its program counter in the trace of the launch.
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
                let Checks { races, sync, uninitialized, scoreboard } = self.checks;
                let races = match races {
                    None => Some(("races", "were")),
                    Some(CheckedRaces::Shared) => Some(("races in global memory", "were")),
                    Some(CheckedRaces::All) => None,
                };
                let unchecked = [
                    races,
                    (!sync).then_some(("synchronization", "was")),
                    (!uninitialized).then_some(("uninitialized memory", "was")),
                    (self.has_schedule && !scoreboard).then_some(("the schedule", "was")),
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
    /// Whether the program has a schedule, which [`Checks::scoreboard`] judges.
    pub has_schedule: bool,
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

/// Another instruction that a fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultLine {
    /// The place in the program, without a column.
    pub at: InstructionPlace,
    /// The line in the source file, if the module says.
    pub source_line: Option<u32>,
}

impl FaultLine {
    /// `in line 9`, `at 0x0088`.
    fn located(&self) -> String {
        match self.at {
            InstructionPlace::Line(..) => format!("in {self}"),
            InstructionPlace::Offset(_) => format!("at {self}"),
        }
    }
}

impl fmt::Display for FaultLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at.fmt(f)?;
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
        /// The place of the instruction.
        at: InstructionPlace,
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
        /// The place of the instruction.
        at: InstructionPlace,
        /// Its text.
        text: Arc<str>,
    },
    /// An instruction takes the value of a lane that does not execute it, or is not in its mask.
    AbsentLane {
        /// The place of the instruction.
        at: InstructionPlace,
        /// Its text.
        text: Arc<str>,
    },
    /// The PTX ISA leaves the result of an instruction undefined.
    Undefined {
        /// The place of the instruction.
        at: InstructionPlace,
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
            Self::NotExecuted { at, text } => {
                write!(f, "`{text}` {} is not executed", at.in_sentence())
            }
            Self::Discarded { at, text } => {
                write!(f, "`{text}` {} leaves it indeterminate", at.in_sentence())
            }
            Self::NeverWritten { register } => write!(f, "nothing has written `{register}`"),
            Self::AbsentLane { at, text } => {
                write!(
                    f,
                    "`{text}` {} reads a lane that does not execute it, or is not in its mask",
                    at.in_sentence()
                )
            }
            Self::Undefined { at, text } => {
                write!(f, "`{text}` {} leaves it undefined", at.in_sentence())
            }
            Self::InitialValue => f.write_str("nothing gives it a value before the launch"),
            Self::EarlierLaunch => f.write_str("an earlier launch has left it unknown"),
            Self::Several => {
                f.write_str("many instructions are not executed, or registers never written")
            }
        }
    }
}

/// The memory that an address is in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultPlace {
    /// The purpose of the memory.
    pub purpose: AllocationUse,
    /// The name of the kernel's parameter, or of the variable of the module or of shared memory; `None` if it has none.
    pub name: Option<Arc<str>>,
    /// Whether it is dynamic shared memory.
    pub is_dynamic: bool,
    /// The distance of the address from its beginning, in bytes.
    pub offset: u64,
}

/// "`tile` + 252", "argument 0 `x` + 64".
impl fmt::Display for FaultPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { purpose, name, is_dynamic, offset } = self;
        match (purpose, name) {
            (AllocationUse::Shared, Some(name)) => write!(f, "`{}`", end_of(inner_name(name))),
            (AllocationUse::Argument(_), Some(name)) => write!(f, "{purpose} `{}`", end_of(name)),
            _ if *is_dynamic => f.write_str("dynamic shared memory"),
            (_, Some(name)) => write!(f, "`{}`", end_of(name)),
            _ => write!(f, "{purpose}"),
        }?;
        match offset {
            0 => Ok(()),
            offset => write!(f, " + {offset}"),
        }
    }
}

/// An address with the memory that it is in, for a message.
pub(crate) fn named(address: u64, place: Option<&FaultPlace>) -> String {
    match place {
        Some(place) => format!("{place} ({address:#x})"),
        None => format!("{address:#x}"),
    }
}

/// A fault during a launch. Execution continues, except for the lanes that cannot.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelFault {
    /// The kind.
    pub kind: KernelFaultKind,
    /// The instruction.
    pub site: Site,
    /// Its place.
    pub at: InstructionPlace,
    /// The function that contains the instruction.
    pub function: Arc<str>,
    /// The source file from `.loc` and `.file`, if they name one.
    pub source_file: Option<Arc<str>>,
    /// The line in it, from `.loc`, if there is one. For code that is inlined from another file, it is the call's.
    pub source_line: Option<u32>,
    /// The file and the line of such inlined code.
    pub inlined_from: Option<(Option<Arc<str>>, u32)>,
    /// The line of the call around code that is inlined from the same file.
    pub call_line: Option<u32>,
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
    /// The memory that the address is in; `None` for a fault without an address, and for one out of bounds.
    pub place: Option<FaultPlace>,
}

impl KernelFault {
    /// Returns the place of the instruction in the source, as it is shown: `saxpy.cu:26`, `source line 26` if the file is
    /// unknown, `saxpy.cu:6, inlined at 26`; `None` without `.loc`.
    #[must_use]
    pub fn source(&self) -> Option<String> {
        let shown = |file: &Option<Arc<str>>, line: u32| match file {
            Some(file) => format!("{}:{line}", file.rsplit(['/', '\\']).next().unwrap_or(file)),
            None => format!("source line {line}"),
        };
        let place = shown(&self.source_file, self.source_line?);
        Some(match (&self.inlined_from, self.call_line) {
            (Some((file, line)), _) => format!("{place}, inlined from {}", shown(file, *line)),
            (None, Some(call)) => format!("{place}, inlined at {call}"),
            (None, None) => place,
        })
    }

    /// Describes the fault in two lines: its place, what is wrong, and who executed `instruction`, which is the text of the
    /// instruction.
    #[must_use]
    pub fn report(&self, instruction: &str) -> String {
        let source = self.source().map_or(String::new(), |source| format!(" ({source})"));
        let ([bx, by, bz], [x, y, z]) = (self.block, self.thread);
        let (place, function) = (self.at, &self.function);
        format!(
            "{place}{source}: {self}\n  in `{function}` by thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz}): \
             {instruction}"
        )
    }

    /// Returns the number, from 0, of the argument whose buffer has the address, or is nearest to an out-of-bounds address;
    /// `None` if there is none, or another memory is nearer.
    #[must_use]
    pub fn argument(&self) -> Option<usize> {
        match self.purpose()? {
            AllocationUse::Argument(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the name of that argument's parameter.
    #[must_use]
    pub fn parameter(&self) -> Option<&str> {
        let of_place = self.place.as_ref().and_then(|place| place.name.as_ref());
        let name = self.nearest_name.as_ref().or(of_place);
        name.filter(|_| self.argument().is_some()).map(|name| &**name)
    }

    /// Returns the name of the variable of the module, or of shared memory, that has the address.
    #[must_use]
    pub fn variable(&self) -> Option<&str> {
        let place = self.place.as_ref().filter(|_| self.argument().is_none())?;
        place.name.as_deref()
    }

    /// Returns the distance of the address from the beginning of its memory: an argument's buffer, a variable, dynamic
    /// shared memory. `None` for a fault without an address, and for one out of bounds.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.place.as_ref().map(|place| place.offset)
    }

    fn purpose(&self) -> Option<&AllocationUse> {
        let of_place = || self.place.as_ref().map(|place| &place.purpose);
        self.nearest.as_ref().map(|nearest| &nearest.purpose).or_else(of_place)
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

    /// Returns the line of the instruction, from 1; 0 for machine code.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.at.line()
    }
}

impl fmt::Display for KernelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address;
        let named = || named(address, self.place.as_ref());
        match &self.kind {
            KernelFaultKind::OutOfBounds => {
                write!(f, "out of bounds: {address:#x}")?;
                let Some(NearestAllocation { purpose, side, distance, .. }) = &self.nearest else {
                    return Ok(());
                };
                // How far it is from memory says nothing about such an address.
                if let Some(hint) = self.hint.filter(|_| address < LOW) {
                    return write!(f, "; {hint}");
                }
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
                write!(f, "misaligned: {} is not a multiple of {bytes}", named())?;
            }
            KernelFaultKind::Uninitialized => {
                write!(f, "uninitialized: nothing has written the bytes at {}", named())?;
            }
            KernelFaultKind::ReadOnly => {
                write!(f, "read-only: ")?;
                match &self.nearest {
                    Some(known) => write!(f, "{address:#x} is in {}", known.purpose)?,
                    None => write!(f, "{address:#x}")?,
                }
                f.write_str(", which a kernel cannot write")?;
            }
            KernelFaultKind::Mbarrier(fault) => write!(f, "mbarrier at {}: {fault}", named())?,
            KernelFaultKind::Race {
                other,
                thread: [x, y, z],
                block,
                access,
                reason,
                is_update,
                times,
            } => {
                let how = match access {
                    OtherAccess::Read => "read",
                    OtherAccess::Write => "written",
                    OtherAccess::Copy => "copied",
                };
                let at = named();
                write!(f, "race: {at} is also {how} by thread ({x}, {y}, {z})")?;
                if *block != self.block {
                    let [x, y, z] = block;
                    write!(f, " of block ({x}, {y}, {z})")?;
                }
                let is_own = (*block, [*x, *y, *z]) == (self.block, self.thread);
                write!(f, " {}; {}", other.located(), unordered(*reason, is_own))?;
                let is_plain =
                    matches!(reason, Unordered::Warp | Unordered::Block | Unordered::Grid);
                if *is_update && is_plain {
                    f.write_str(", or, if threads update one value, an atomic operation")?;
                }
                if *times > 1 {
                    write!(f, "; {times} times")?;
                }
            }
            KernelFaultKind::Scoreboard { other, fault } => {
                write!(f, "scoreboard: {}", fault.text(&other.located()))?;
            }
            KernelFaultKind::Trap => f.write_str("trap")?,
            KernelFaultKind::Barrier(fault) => write!(f, "barrier: {fault}")?,
            KernelFaultKind::TwoBarriers { other } => {
                write!(
                    f,
                    "barrier: other threads of the warp are at another one, {}: all threads of a warp must execute \
                     one `bar` or `.aligned` together",
                    other.located()
                )?;
            }
            KernelFaultKind::PartOfWarp { missing } => {
                write!(
                    f,
                    "part of a warp: lanes {missing:#010x} do not execute it: all threads of a warp must execute `.aligned` \
                     together"
                )?;
            }
            KernelFaultKind::Membermask { members } => {
                write!(f, "membermask: the lane is not in the mask {members:#010x} that it gives")?;
            }
            KernelFaultKind::UndefinedShuffle => {
                f.write_str(
                    "undefined shuffle: it takes the value of a lane that does not execute it or is not in its mask, and the \
                     program keeps the result",
                )?;
            }
            KernelFaultKind::Hang(hang) => {
                let waits = if hang.threads == 1 { "thread waits" } else { "threads wait" };
                let count = hang.threads;
                match hang.wait {
                    Wait::Loop if count == 1 => {
                        f.write_str("hang: 1 thread is in a loop that changes nothing")?;
                    }
                    Wait::Loop => {
                        write!(f, "hang: {count} threads are in a loop that changes nothing")?;
                    }
                    _ => {
                        let awaited = awaited(&hang.wait, &named());
                        write!(f, "hang: {count} {waits} forever: {awaited}")?;
                    }
                }
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

/// What threads wait for, at bytes with a name.
pub(crate) fn awaited(wait: &Wait<FaultLine>, named: &str) -> String {
    let in_line = |last: &Option<FaultLine>, what: &str| {
        last.map_or(String::new(), |last| format!("; last {what} {}", last.located()))
    };
    match wait {
        Wait::Barrier { number, arrived, expected, missing, other } => {
            let of = match &missing[..] {
                [] => String::new(),
                [one] => format!(", not all of warp {one}"),
                [first, .., last] => {
                    format!(", not all of {} warps from {first} to {last}", missing.len())
                }
            };
            let split = other.map_or(String::new(), |other| {
                format!(
                    "; threads of one warp are at two barrier instructions, this one and that {}",
                    other.located()
                )
            });
            format!("{arrived} of {expected} threads have arrived at barrier {number}{of}{split}")
        }
        Wait::Lanes { missing } => {
            format!("lanes {missing:#010x} of their warp do not arrive")
        }
        Wait::Mbarrier { phase, pending, expected, bytes, last } => {
            let arrivals = (*pending != 0).then(|| format!("{pending} of {expected} arrivals"));
            let bytes = (*bytes != 0).then(|| format!("{bytes} bytes"));
            let lacks: Vec<String> = arrivals.into_iter().chain(bytes).collect();
            let (phase, last) = (u8::from(*phase), in_line(last, "changed"));
            format!("phase {phase} of the mbarrier at {named} lacks {}{last}", lacks.join(" and "))
        }
        Wait::Memory { last } => {
            format!("nothing changes the bytes at {named}{}", in_line(last, "written"))
        }
        _ => "an endless loop".to_owned(),
    }
}

/// What would order the accesses of a race, which may be by one thread.
fn unordered(reason: Unordered, is_own: bool) -> &'static str {
    match reason {
        Unordered::Warp => {
            "nothing orders the two lanes of a warp: expected `bar.warp.sync` (`__syncwarp`)"
        }
        Unordered::Block => {
            "nothing orders the two warps of a block: expected a barrier (`__syncthreads`)"
        }
        Unordered::Grid => {
            "nothing orders the two blocks: expected a release and an acquire at device scope, or two launches"
        }
        Unordered::Scope => "both are strong, but the scope of one has only its own block",
        Unordered::Overlap => "both are strong, but not accesses to the same bytes in full",
        Unordered::Copy if is_own => {
            "the thread has not waited for its copy: expected `cp.async.wait_group`, or a wait for its mbarrier"
        }
        Unordered::Copy => {
            "expected the thread that copies to wait (`cp.async.wait_group`, or its mbarrier), then a barrier; and a barrier \
             before a copy over what others read"
        }
    }
}

/// The name in the source of a variable that is local to a function: `tile` of `_ZZ1kPfE4tile`. [Itanium C++ ABI, "Scope
/// Encoding"]
fn inner_name(name: &str) -> &str {
    let of_entity = |(at, _): (usize, &str)| {
        let rest = &name[at + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = rest.get(..digits)?.parse().ok()?;
        let (inner, after) = rest.get(digits..)?.split_at_checked(length)?;
        let number = after.strip_prefix('_').unwrap_or("x");
        let is_end = after.is_empty() || number.bytes().all(|byte| byte.is_ascii_digit());
        is_end.then_some(inner)
    };
    let is_local = name.starts_with("_ZZ");
    is_local.then(|| name.match_indices('E').find_map(of_entity)).flatten().unwrap_or(name)
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
