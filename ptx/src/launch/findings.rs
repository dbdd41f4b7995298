//! The findings of a launch, with the lines and the texts of the module.

use std::sync::Arc;

use super::kernel::{Kernel, PolledLine};
use super::report::{
    FaultPlace, FaultTotal, KernelFault, KernelResult, SkippedInstruction, UnknownCause,
};
use super::written::{Place, Shown, Written};
use crate::module::StatementId;
use warpload_machine::{
    AllocationOffset, AllocationUse, FaultCount, LaunchEnd, LaunchOutcome, MachineFault, Origin,
    PolledBytes, Site,
};

impl Kernel<'_> {
    /// The findings of a launch, with lines and texts.
    pub(super) fn result(&self, outcome: LaunchOutcome, shown: &mut Shown<'_>) -> KernelResult {
        let written = Written::new(self.module);
        let skipped = outcome.skipped.iter().map(|(site, count)| {
            let statement = StatementId(site.0);
            let (line, text) = written.line_and_text(statement);
            SkippedInstruction { statement, line, text, count: *count }
        });
        let skipped = skipped.collect();
        let faults: Vec<KernelFault> =
            outcome.faults.into_iter().map(|fault| self.fault(fault, shown)).collect();
        let total = |total: FaultCount| {
            let first = faults.get(total.first)?;
            let statement = first.statement;
            let found = self.module.statements().get(statement.index());
            Some(FaultTotal {
                kind: first.kind.name(),
                statement,
                pc: found.map_or(0, |found| found.span.start),
                text: shown.text(statement),
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
        }
    }

    fn fault(&self, raw: MachineFault, shown: &mut Shown<'_>) -> KernelFault {
        let statement = StatementId(raw.site.0);
        let line = |shown: &mut Shown<'_>, other: Site| shown.fault_line(StatementId(other.0));
        let kind = raw.kind.map(shown, line, |shown, origin| cause(origin, shown));
        let nearest_name = match raw.nearest.as_ref().map(|nearest| &nearest.purpose) {
            Some(AllocationUse::Argument(number)) => shown.parameter(self.function, *number),
            _ => None,
        };
        let place = raw.place.map(|place| self.place(place, shown));
        let Place { line, column } = shown.place(statement);
        let location = self.module.location(statement);
        let inlined = self.module.inlined_location(statement);
        KernelFault {
            kind,
            statement,
            line,
            column,
            function: shown.function(statement),
            source_file: location.and_then(|location| shown.file(location)),
            source_line: location.map(|location| location.line),
            inlined_from: inlined.map(|inlined| (shown.file(inlined), inlined.line)),
            call_line: self.module.call_line(statement),
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

    /// The memory that an address is in, with its name.
    fn place(&self, known: AllocationOffset, shown: &mut Shown<'_>) -> FaultPlace {
        let mut is_dynamic = false;
        let (name, offset) = match &known.purpose {
            AllocationUse::Argument(number) => {
                (shown.parameter(self.function, *number), known.offset)
            }
            AllocationUse::Variable(name) => (Some(name.as_str().into()), known.offset),
            AllocationUse::Shared => {
                let named = shown.shared(known.offset);
                is_dynamic = named.is_none() && known.offset >= shown.dynamic;
                let offset = known.offset - if is_dynamic { shown.dynamic } else { 0 };
                named.map_or((None, offset), |(name, offset)| (Some(name), offset))
            }
            _ => (None, known.offset),
        };
        FaultPlace { purpose: known.purpose, name, is_dynamic, offset }
    }

    /// What a loop polls.
    pub(super) fn polled(&self, polled: PolledBytes<Site>, shown: &mut Shown<'_>) -> PolledLine {
        let PolledBytes { site: line, address, place, wait, .. } =
            polled.map(|site| shown.fault_line(StatementId(site.0)));
        PolledLine { line, address, place: place.map(|place| self.place(place, shown)), wait }
    }
}

/// The text of an origin.
fn cause(origin: Origin, shown: &mut Shown<'_>) -> UnknownCause {
    let mut at = |site: Site, cause: fn(u32, Arc<str>) -> UnknownCause| {
        let id = StatementId(site.0);
        cause(shown.place(id).line, shown.text(id))
    };
    match origin {
        Origin::NotExecuted(site) => {
            at(site, |line, text| UnknownCause::NotExecuted { line, text })
        }
        Origin::Undefined(site) => at(site, |line, text| UnknownCause::Undefined { line, text }),
        Origin::Discarded(site) => at(site, |line, text| UnknownCause::Discarded { line, text }),
        Origin::AbsentLane(site) => at(site, |line, text| UnknownCause::AbsentLane { line, text }),
        Origin::NeverWritten { function, slot } => {
            let register = shown.register(function as usize, slot);
            UnknownCause::NeverWritten { register }
        }
        Origin::InitialValue => UnknownCause::InitialValue,
        Origin::EarlierLaunch => UnknownCause::EarlierLaunch,
        Origin::Several => UnknownCause::Several,
    }
}
