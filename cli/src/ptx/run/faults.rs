//! The faults of a launch as text and as JSON.

use std::collections::BTreeMap;

use serde::Serialize;
use warpload_ptx::launch::{FaultTotal, InstructionPlace, KernelFault, KernelResult};

use crate::io::Output;

/// The number of faults of one kind at one instruction that are shown in full.
const SHOWN: usize = 4;

/// Writes the first faults of each kind at each instruction, and how many there are in all.
pub(super) fn show(result: &KernelResult, output: &mut Output) -> anyhow::Result<()> {
    let mut by_total: BTreeMap<_, Vec<&KernelFault>> = BTreeMap::new();
    for fault in &result.faults {
        let of_one = by_total.entry((fault.site, fault.kind.name())).or_default();
        if of_one.len() < SHOWN {
            of_one.push(fault);
        }
    }
    // What is read too early is both a race and not written yet: the race is the cause.
    let is_effect = |total: &&FaultTotal| total.kind == "uninitialized";
    let causes = result.fault_totals.iter().filter(|total| !is_effect(total));
    for total in causes.chain(result.fault_totals.iter().filter(is_effect)) {
        let shown = by_total.remove(&(total.site, total.kind)).unwrap_or_default();
        for fault in &shown {
            output.line(fault.report(&total.text))?;
        }
        let more = total.count.saturating_sub(shown.len() as u64);
        if let (1.., Some(fault)) = (more, shown.first()) {
            let kind = total.kind.replace('_', " ");
            output.line(format_args!("{}: {kind}: {more} more", fault.at))?;
        }
    }
    output.line(result.verdict())?;
    Ok(())
}

/// The first faults of each kind at each instruction in JSON.
pub(super) fn faults_json(result: &KernelResult) -> Vec<FaultJson<'_>> {
    result.faults.iter().map(FaultJson::from).collect()
}

/// The numbers of faults in JSON.
#[derive(Serialize)]
pub(super) struct FaultTotalsJson<'f> {
    /// How many there are of each kind.
    fault_counts: BTreeMap<&'static str, u64>,
    /// How many there are of each kind at each instruction.
    fault_totals: Vec<TotalJson<'f>>,
    verdict: String,
}

impl<'f> From<&'f KernelResult> for FaultTotalsJson<'f> {
    fn from(result: &'f KernelResult) -> Self {
        let total =
            |total: &'f FaultTotal| Some(TotalJson::new(total, result.faults.get(total.first)?));
        Self {
            fault_counts: result.fault_kinds(),
            fault_totals: result.fault_totals.iter().filter_map(total).collect(),
            verdict: result.verdict(),
        }
    }
}

#[derive(Serialize)]
struct TotalJson<'f> {
    kind: &'static str,
    count: u64,
    /// The line; for machine code none.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    pc: String,
    instruction: &'f str,
    function: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_file: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_line: Option<u32>,
}

impl<'f> TotalJson<'f> {
    fn new(total: &'f FaultTotal, first: &'f KernelFault) -> Self {
        Self {
            kind: total.kind,
            count: total.count,
            line: line(first.at),
            column: first.at.column(),
            pc: format!("{:#x}", total.pc),
            instruction: &total.text,
            function: &first.function,
            source_file: first.source_file.as_deref(),
            source_line: first.source_line,
        }
    }
}

#[derive(Serialize)]
pub(super) struct FaultJson<'f> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    /// The offset in the function, for machine code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pc: Option<String>,
    function: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_file: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_line: Option<u32>,
    block: [u32; 3],
    thread: [u32; 3],
    lane: u32,
    address: String,
    argument: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<&'f str>,
    distance: Option<i64>,
    /// The variable of the module or of shared memory that has the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<&'f str>,
    /// The distance of the address from the beginning of the argument's buffer, the variable, or dynamic shared memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    /// The line of the other instruction of a race, or of the last one that changed what threads wait for.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_source_line: Option<u32>,
    message: String,
}

impl<'f> From<&'f KernelFault> for FaultJson<'f> {
    fn from(fault: &'f KernelFault) -> Self {
        let other = fault.kind.other();
        Self {
            kind: fault.kind.name(),
            line: line(fault.at),
            column: fault.at.column(),
            pc: pc(fault.at),
            function: &fault.function,
            source_file: fault.source_file.as_deref(),
            source_line: fault.source_line,
            block: fault.block,
            thread: fault.thread,
            lane: fault.lane,
            address: format!("{:#x}", fault.address),
            argument: fault.argument(),
            parameter: fault.parameter(),
            distance: fault.distance(),
            variable: fault.variable(),
            offset: fault.offset(),
            other_line: other.map(|other| other.at.line()),
            other_source_line: other.and_then(|other| other.source_line),
            message: fault.to_string(),
        }
    }
}

/// The line of an instruction; `None` for machine code.
pub(super) fn line(at: InstructionPlace) -> Option<u32> {
    Some(at.line()).filter(|_| at.offset().is_none())
}

/// The offset of machine code.
pub(super) fn pc(at: InstructionPlace) -> Option<String> {
    at.offset().map(|offset| format!("{offset:#x}"))
}
