//! [`PtxRun`]: the loads of a function, decoded for the machine, and their outcomes.

use std::collections::HashSet;
use std::vec::IntoIter;

use super::undefined::{Undefined, undefined};
use super::variables::Hole;
use super::{RunError, RunErrorKind};
use crate::launch::{Compilation, LaunchOptions, RegisterLanes, Surroundings, compile_loads};
use crate::meaning::{MeaningError, Register};
use crate::module::{Function, FunctionId, Module, StatementId, VariableLayout};
use crate::rules::{StatementVerdict, Unit, check_as};
use crate::syntax::Span;
use crate::syntax::load::{Opcode, PtxLoad};
use crate::tensor::{Issue, TensorFault, TensorLoad};
use warpload::lane::{LANES, LaneMask};
use warpload::load::LaneFaults;
use warpload::memory::Space;
use warpload_machine::{
    DeviceMemory, LoadAlone, LoadOutcome, MemoryAccess, MemoryObserver, SkipReason,
    TensorLoadFault, run,
};

/// The effects of one load.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Executed {
    /// The lanes that executed: active, with a true guard.
    pub executing: LaneMask,
    /// Each lane's address in bytes before rounding, lane 0 first; 0 for a lane that does not execute. For a load of
    /// Tensor Memory, the lane and the column; see [`TensorExecuted::issue`].
    pub addresses: [u64; LANES],
    /// The lanes with a misaligned address, which was rounded down to a multiple of the access size.
    pub rounded: LaneMask,
    /// The memory of each lane's address; `None` if the lane does not execute, or the address is in no memory.
    pub spaces: [Option<Space>; LANES],
    /// The destination registers with their new values, each once, in the order of the load's operands. Sinks are left
    /// out.
    pub written: Vec<(Register, RegisterValue)>,
    /// The faults of single lanes. A lane out of bounds loads zeros.
    pub faults: LaneFaults,
    /// The qualifiers of a generic load that are undefined for the memory of some lanes.
    pub undefined: Vec<Undefined>,
    /// Details of a load of Tensor Memory; `None` for others.
    pub tensor: Option<TensorExecuted>,
}

/// The effects of a load of Tensor Memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorExecuted {
    /// The load's shape and repeat.
    pub load: TensorLoad,
    /// The warp, and the address, which is the same in all lanes and includes the offset.
    pub issue: Issue,
    /// The fault, if there was one. The destination registers are then unchanged.
    pub fault: Option<TensorFault>,
}

/// A register's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterValue {
    /// One value for each lane, lane 0 first, zero-extended from the register's width. Values of lanes that are not
    /// `known` are meaningless.
    pub values: [u128; LANES],
    /// The lanes with a value.
    pub known: LaneMask,
}

impl RegisterValue {
    /// Returns a lane's value; `None` if it is unknown.
    #[must_use]
    pub fn lane(&self, lane: usize) -> Option<u128> {
        self.values.get(lane).copied().filter(|_| self.known.contains(lane))
    }
}

/// The outcome of one load.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum LaunchStep<'s> {
    /// The load was executed.
    Executed {
        /// The load.
        load: &'s PtxLoad<'s>,
        /// The effects.
        executed: &'s Executed,
    },
    /// The statement is illegal, and was not executed. It may be no load at all.
    Illegal {
        /// The load; `None` for another statement.
        load: Option<&'s PtxLoad<'s>>,
        /// The rules that it breaks.
        verdict: &'s StatementVerdict<'s>,
    },
    /// The load was not executed, because a value is unknown or an operand cannot be resolved.
    Failed {
        /// The load.
        load: &'s PtxLoad<'s>,
        /// The reason.
        error: &'s RunError,
    },
}

/// A function with its variables in memory and its registers set, ready to run.
#[derive(Debug)]
pub struct PtxRun<'m> {
    memory: DeviceMemory,
    options: LaunchOptions,
    compilation: Compilation,
    texts: Texts<'m>,
    /// The outcomes that are known before the run, in the order of the text.
    refused: Vec<(StatementId, Refused<'m>)>,
    remarks: Vec<String>,
}

/// The outcome of a statement that is not executed.
#[derive(Clone, Debug)]
enum Refused<'m> {
    Illegal(StatementVerdict<'m>),
    Failed(RunError),
}

/// The module, for the outcomes.
#[derive(Debug)]
struct Texts<'m> {
    module: &'m Module<'m>,
    holes: Vec<Hole>,
}

impl<'m> PtxRun<'m> {
    pub(super) fn new(
        module: &'m Module<'m>,
        (id, function): (FunctionId, &'m Function),
        layout: &VariableLayout<'_>,
        (memory, holes): (DeviceMemory, Vec<Hole>),
        registers: Vec<RegisterLanes>,
        mut options: LaunchOptions,
        remarks: Vec<String>,
    ) -> Self {
        let texts = Texts { module, holes };
        let mut refused = Vec::new();
        let mut loads = HashSet::new();
        let is_wrong =
            |verdict: &StatementVerdict<'_>| !verdict.is_legal() && !verdict.is_declaration();
        let mut verdicts = check_as(module, Unit::Part).filter(is_wrong).peekable();
        for id in module.statement_ids(function) {
            while verdicts.next_if(|verdict| verdict.statement < Some(id)).is_some() {}
            if let Some(verdict) = verdicts.next_if(|verdict| verdict.statement == Some(id)) {
                refused.push((id, Refused::Illegal(verdict)));
            } else if let Some(load) = texts.load(id) {
                match texts.meaningless(&load) {
                    Some(error) => refused.push((id, Refused::Failed(error))),
                    None => drop(loads.insert(id)),
                }
            }
        }
        let around = Surroundings::of_loads(module, layout, registers);
        let (compilation, failed) = compile_loads(module, id, &around, &loads, options.active);
        if options.active.is_empty() {
            // No guard is true then; the machine would not even begin.
            options.active = LaneMask::ALL;
        }
        for id in failed {
            let Some(load) = texts.load(id) else { continue };
            let base = base_span(&load);
            let error = texts.error(base, RunErrorKind::Unplaced(texts.name(base)));
            refused.push((id, Refused::Failed(error)));
        }
        refused.sort_by_key(|known| known.0);
        Self { memory, options, compilation, texts, refused, remarks }
    }

    /// Returns remarks for the reader of the results, such as that the number of a predicate is a mask.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Executes the legal loads in the order of the text, and calls `each` with the outcome of each.
    ///
    /// # Errors
    /// Returns the error of `each`. No further outcome follows then.
    pub fn each<E>(&mut self, each: impl FnMut(LaunchStep<'_>) -> Result<(), E>) -> Result<(), E> {
        let Self { memory, options, compilation, texts, refused, .. } = self;
        let refused = refused.clone().into_iter();
        let registers = &compilation.registers;
        let named = |slot| Some(*registers.first()?.get(&slot)?);
        let mut steps = Steps { texts, named, refused, each, result: Ok(()) };
        run(&compilation.code, options, memory, Some(&mut steps), None);
        steps.refused_before(None);
        steps.result
    }
}

/// Passes on the outcomes in the order of the text.
struct Steps<'r, 'm, N, F, E> {
    texts: &'r Texts<'m>,
    /// The register that begins with a row.
    named: N,
    refused: IntoIter<(StatementId, Refused<'m>)>,
    each: F,
    result: Result<(), E>,
}

impl<N, F, E> Steps<'_, '_, N, F, E>
where
    N: Fn(u32) -> Option<Register>,
    F: FnMut(LaunchStep<'_>) -> Result<(), E>,
{
    fn pass(&mut self, step: LaunchStep<'_>) {
        if self.result.is_ok() {
            self.result = (self.each)(step);
        }
    }

    /// Passes on the refused statements before one, or all that are left.
    fn refused_before(&mut self, end: Option<StatementId>) {
        while let Some((id, _)) = self.refused.as_slice().first()
            && end.is_none_or(|end| *id < end)
            && let Some((id, refused)) = self.refused.next()
        {
            let load = self.texts.load(id);
            match (&refused, &load) {
                (Refused::Illegal(verdict), load) => {
                    self.pass(LaunchStep::Illegal { load: load.as_ref(), verdict });
                }
                (Refused::Failed(error), Some(load)) => {
                    self.pass(LaunchStep::Failed { load, error });
                }
                (Refused::Failed(_), None) => {}
            }
        }
    }

    /// The registers that a load has written, each once, with their values.
    fn written(&self, event: &LoadAlone<'_>) -> Vec<(Register, RegisterValue)> {
        let mut seen = HashSet::new();
        let all = event.destinations.iter().flatten();
        let once = all.filter(|element| seen.insert(element.slot));
        let values = once.filter_map(|element| {
            let known = !LaneMask::from_bits(event.registers.unknown(element.slot));
            let value = |lane| event.registers.lane(element.slot, element.rows, lane);
            let value = RegisterValue { values: std::array::from_fn(value), known };
            Some(((self.named)(element.slot)?, value))
        });
        values.filter(|(_, value)| !value.known.is_empty()).collect()
    }
}

impl<N, F, E> MemoryObserver for Steps<'_, '_, N, F, E>
where
    N: Fn(u32) -> Option<Register>,
    F: FnMut(LaunchStep<'_>) -> Result<(), E>,
{
    fn access(&mut self, _: &MemoryAccess<'_>) {}

    fn needs_values(&self) -> bool {
        false
    }

    fn load_alone(&mut self, event: &LoadAlone<'_>) {
        let id = StatementId(event.site.0);
        self.refused_before(Some(id));
        let Some(load) = self.texts.load(id) else { return };
        let mut executed = Executed {
            executing: LaneMask::NONE,
            addresses: [0; LANES],
            rounded: LaneMask::NONE,
            spaces: [None; LANES],
            written: self.written(event),
            faults: LaneFaults::default(),
            undefined: Vec::new(),
            tensor: None,
        };
        match &event.outcome {
            LoadOutcome::Loaded(lanes) => {
                executed.executing = lanes.executing;
                for lane in lanes.executing.lanes() {
                    executed.addresses[lane] = lanes.addresses[lane];
                }
                executed.rounded = lanes.misaligned();
                executed.spaces = lanes.memories();
                executed.faults = lanes.faults.clone();
                executed.undefined = undefined(&load, self.texts.module.version, &executed.spaces);
            }
            LoadOutcome::Tensor { load, issue, fault } => {
                let (load, issue, fault) = (*load, *issue, *fault);
                executed.executing = LaneMask::ALL;
                executed.addresses = [u64::from(issue.address.0); LANES];
                executed.tensor = Some(TensorExecuted { load, issue, fault });
            }
            LoadOutcome::Skipped(reason) => {
                let error = self.texts.skipped(&load, *reason);
                return self.pass(LaunchStep::Failed { load: &load, error: &error });
            }
            _ => {}
        }
        self.pass(LaunchStep::Executed { load: &load, executed: &executed });
    }
}

impl<'m> Texts<'m> {
    fn load(&self, id: StatementId) -> Option<PtxLoad<'m>> {
        self.module.instruction(id).filter(|instruction| instruction.opcode.is_load())
    }

    /// The error of a load whose operands cannot be resolved.
    fn meaningless(&self, load: &PtxLoad<'_>) -> Option<RunError> {
        match self.module.meaning(load) {
            Ok(_) | Err(MeaningError::Tensor) => None,
            Err(error) => {
                let span = error.span().unwrap_or(load.span);
                Some(self.error(span, RunErrorKind::Meaning(error)))
            }
        }
    }

    /// The error of a load that the machine has skipped.
    fn skipped(&self, load: &PtxLoad<'_>, reason: SkipReason) -> RunError {
        let guard = load.guard.map_or(load.span, |guard| guard.register);
        let index = load.address().and_then(|address| address.index);
        let of_tensor = load.tensor_load(self.module.source()).ok();
        let of_tensor = of_tensor.filter(|_| load.opcode != Opcode::Ld);
        let address = of_tensor.map_or(index.unwrap_or(base_span(load)), |known| known.address);
        let no_value = |span, lanes, is_predicate| {
            let register = self.name(span);
            self.error(span, RunErrorKind::NoValue { register, lanes, is_predicate })
        };
        match reason {
            SkipReason::Guard(lanes) => no_value(guard, lanes, true),
            SkipReason::Bytes(space, offset) => self.no_bytes(load, space, offset),
            SkipReason::NoTensorMemory => {
                self.error(load.opcode_span, RunErrorKind::NoTensorMemory)
            }
            SkipReason::Tensor(TensorLoadFault::NotAllLanes(lanes)) => {
                let missing = !LaneMask::from_bits(lanes);
                self.error(guard, RunErrorKind::NotAllLanes { missing })
            }
            SkipReason::Tensor(TensorLoadFault::AddressesDiffer { first, lane, other }) => {
                let (register, lane) = (self.name(address), lane as usize);
                let kind = RunErrorKind::AddressesDiffer { register, first, lane, other };
                self.error(address, kind)
            }
            SkipReason::Address(lanes) => no_value(address, lanes, false),
            _ => no_value(address, LaneMask::ALL, false),
        }
    }

    /// The error of a load of bytes with an unknown value.
    fn no_bytes(&self, load: &PtxLoad<'_>, space: Space, offset: u64) -> RunError {
        let bytes = load.scalar().and_then(|scalar| scalar.variable_bytes()).unwrap_or(1);
        let end = offset.saturating_add(u64::from(bytes) * u64::from(load.elements()));
        let is_read =
            |hole: &&Hole| hole.space == space && offset < hole.range.end && hole.range.start < end;
        let hole = self.holes.iter().find(is_read);
        let kind = match hole.map(|hole| (self.name(hole.name), hole.value)) {
            None => RunErrorKind::Padding,
            Some((parameter, None)) => RunErrorKind::NoParameter { parameter },
            Some((variable, Some(value))) => RunErrorKind::NoInitialValue {
                variable,
                value: self.name(value),
                line: self.module.lines().position(value.start).line,
            },
        };
        self.error(base_span(load), kind)
    }

    fn name(&self, span: Span) -> String {
        self.module.text(span).to_owned()
    }

    fn error(&self, span: Span, kind: RunErrorKind) -> RunError {
        RunError { kind, span, position: self.module.lines().position(span.start) }
    }
}

/// The base of a load's address, or the whole load, for errors.
fn base_span(load: &PtxLoad<'_>) -> Span {
    load.address().and_then(|address| address.base).unwrap_or(load.span)
}
