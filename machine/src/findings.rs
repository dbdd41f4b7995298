//! The findings of a launch, with the places and the texts that a front end has for its instructions.

use std::sync::Arc;

use crate::code::{Site, Slot};
use crate::hang::{PolledBytes, Wait};
use crate::launch::{LaunchEnd, LaunchOutcome, MachineFault};
use crate::log::FaultCount;
use crate::memory::{AllocationOffset, AllocationUse};
use crate::registers::Origin;
use crate::report::{
    FaultLine, FaultPlace, FaultTotal, InstructionPlace, KernelFault, KernelResult,
    SkippedInstruction, UnknownCause, awaited, named,
};

/// What a front end knows of its program, for the findings of a launch.
pub trait ProgramTexts {
    /// Returns the place of an instruction.
    fn place(&mut self, site: Site) -> InstructionPlace;

    /// Returns the text of an instruction.
    fn text(&mut self, site: Site) -> Arc<str>;

    /// Returns the name of the function that contains an instruction.
    fn function(&mut self, site: Site) -> Arc<str>;

    /// Returns the program counter of an instruction, as in the trace of the launch.
    fn pc(&mut self, site: Site) -> u32;

    /// Returns what is known of an instruction's source.
    fn source(&mut self, site: Site) -> InstructionSource;

    /// Returns the name of the register whose first row is a slot of a function.
    fn register(&mut self, function: usize, slot: Slot) -> Arc<str>;

    /// Returns the name of a parameter of the kernel, from 0.
    fn parameter(&mut self, number: usize) -> Option<Arc<str>>;

    /// Returns the variable at an offset of shared memory, and the distance from its beginning.
    fn shared(&mut self, offset: u64) -> Option<(Arc<str>, u64)>;

    /// Returns the offset of dynamic shared memory.
    fn dynamic(&self) -> u64;

    /// Whether the program has a schedule, which a check can judge.
    fn has_schedule(&self) -> bool {
        false
    }
}

/// The place of an instruction in the source of its program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionSource {
    /// The source file, if one is named.
    pub file: Option<Arc<str>>,
    /// The line in it. For code that is inlined from another file, it is the call's.
    pub line: Option<u32>,
    /// The file and the line of such inlined code.
    pub inlined_from: Option<(Option<Arc<str>>, u32)>,
    /// The line of the call around code that is inlined from the same file.
    pub call_line: Option<u32>,
}

/// Bytes that a loop reads until another thread changes them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolledLine {
    /// The instruction that reads them.
    pub line: FaultLine,
    /// The generic address of the first byte.
    pub address: u64,
    /// The memory that it is in.
    pub place: Option<FaultPlace>,
    /// What they lack, and the last instruction that changed them.
    pub wait: Wait<FaultLine>,
}

impl KernelResult {
    /// Returns the findings of a launch with the texts of its program.
    pub fn new(outcome: LaunchOutcome, shown: &mut dyn ProgramTexts) -> Self {
        let skipped = outcome.skipped.iter().map(|(site, count)| {
            let (at, text) = (line_of(*site, shown), shown.text(*site).to_string());
            SkippedInstruction { site: *site, at, text, count: *count }
        });
        let skipped = skipped.collect();
        let faults: Vec<KernelFault> =
            outcome.faults.into_iter().map(|raw| fault(raw, shown)).collect();
        let total = |total: FaultCount| {
            let first = faults.get(total.first)?;
            let site = first.site;
            Some(FaultTotal {
                kind: first.kind.name(),
                site,
                pc: shown.pc(site),
                text: shown.text(site),
                first: total.first,
                count: total.count,
            })
        };
        let fault_totals = outcome.fault_totals.into_iter().filter_map(total).collect();
        let unknown = outcome.unknown.into_iter();
        let unknown = unknown.map(|unknown| unknown.map(|origin| cause(origin, shown))).collect();
        KernelResult {
            counts: outcome.counts,
            printed: outcome.printed,
            printed_bytes: outcome.printed_bytes,
            unknown,
            fault_totals,
            fault_count: outcome.fault_count,
            skipped,
            faults,
            has_ended: matches!(outcome.end, LaunchEnd::Done | LaunchEnd::Trapped),
            checks: outcome.checks,
            has_schedule: shown.has_schedule(),
        }
    }
}

fn fault(raw: MachineFault, shown: &mut dyn ProgramTexts) -> KernelFault {
    let site = raw.site;
    let mut shown = shown;
    let kind = raw.kind.map(
        &mut shown,
        |shown, other| fault_line(other, &mut **shown),
        |shown, origin| cause(origin, &mut **shown),
    );
    let nearest_name = match raw.nearest.as_ref().map(|nearest| &nearest.purpose) {
        Some(AllocationUse::Argument(number)) => shown.parameter(*number),
        _ => None,
    };
    let place = raw.place.map(|of| place(of, shown));
    let InstructionSource { file, line, inlined_from, call_line } = shown.source(site);
    KernelFault {
        kind,
        site,
        at: shown.place(site),
        function: shown.function(site),
        source_file: file,
        source_line: line,
        inlined_from,
        call_line,
        block: raw.block,
        thread: raw.thread,
        lane: raw.lane,
        address: raw.address,
        nearest: raw.nearest,
        nearest_name,
        hint: raw.hint,
        place,
    }
}

/// The place of an instruction without its column.
fn line_of(site: Site, shown: &mut dyn ProgramTexts) -> InstructionPlace {
    match shown.place(site) {
        InstructionPlace::Line(line, _) => InstructionPlace::Line(line, None),
        place => place,
    }
}

/// An instruction that a fault is about.
fn fault_line(site: Site, shown: &mut dyn ProgramTexts) -> FaultLine {
    FaultLine { at: line_of(site, shown), source_line: shown.source(site).line }
}

/// The memory that an address is in, with its name.
fn place(known: AllocationOffset, shown: &mut dyn ProgramTexts) -> FaultPlace {
    let mut is_dynamic = false;
    let (name, offset) = match &known.purpose {
        AllocationUse::Argument(number) => (shown.parameter(*number), known.offset),
        AllocationUse::Variable(name) => (Some(name.as_str().into()), known.offset),
        AllocationUse::Shared => {
            let named = shown.shared(known.offset);
            is_dynamic = named.is_none() && known.offset >= shown.dynamic();
            let offset = known.offset - if is_dynamic { shown.dynamic() } else { 0 };
            named.map_or((None, offset), |(name, offset)| (Some(name), offset))
        }
        _ => (None, known.offset),
    };
    FaultPlace { purpose: known.purpose, name, is_dynamic, offset }
}

impl PolledLine {
    /// Returns the bytes with the texts of the program.
    pub fn new(polled: PolledBytes<Site>, shown: &mut dyn ProgramTexts) -> Self {
        let PolledBytes { site: line, address, place: of, wait } =
            polled.map(|site| fault_line(site, shown));
        Self { line, address, place: of.map(|of| place(of, shown)), wait }
    }
}

/// Returns what a loop polls, for the message of a launch that does not end; an empty text if nothing.
#[must_use]
pub fn polls(polled: Option<&PolledLine>) -> String {
    let Some(polled) = polled else { return String::new() };
    let (line, named) = (polled.line, named(polled.address, polled.place.as_ref()));
    match &polled.wait {
        wait @ Wait::Mbarrier { .. } => {
            format!("; its loop waits in {line}: {}", awaited(wait, &named))
        }
        wait => {
            let last =
                wait.other().map_or(String::new(), |last| format!(", last written in {last}"));
            format!("; its loop polls the bytes at {named} in {line}{last}")
        }
    }
}
/// The text of an origin.
fn cause(origin: Origin, shown: &mut dyn ProgramTexts) -> UnknownCause {
    let mut at = |site: Site, cause: fn(InstructionPlace, Arc<str>) -> UnknownCause| {
        cause(line_of(site, shown), shown.text(site))
    };
    match origin {
        Origin::NotExecuted(site) => at(site, |at, text| UnknownCause::NotExecuted { at, text }),
        Origin::Undefined(site) => at(site, |at, text| UnknownCause::Undefined { at, text }),
        Origin::Discarded(site) => at(site, |at, text| UnknownCause::Discarded { at, text }),
        Origin::AbsentLane(site) => at(site, |at, text| UnknownCause::AbsentLane { at, text }),
        Origin::NeverWritten { function, slot } => {
            let register = shown.register(function as usize, slot);
            UnknownCause::NeverWritten { register }
        }
        Origin::InitialValue => UnknownCause::InitialValue,
        Origin::EarlierLaunch => UnknownCause::EarlierLaunch,
        Origin::Several => UnknownCause::Several,
    }
}
