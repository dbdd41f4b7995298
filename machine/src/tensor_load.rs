//! Loads of Tensor Memory by a warp of a launch.

use crate::code::{Effects, Element, Op};
use crate::effects;
use crate::engine::{Engine, Stop};
use crate::fault::{FaultKind, TensorLoadFault};
use crate::observer::{LoadAlone, LoadOutcome, SkipReason};
use crate::registers::Slot;
use crate::tensor::{self, Issue, Rules, TensorAddress, TensorLoad, TensorMemory, TensorRegisters};
use crate::warp::{Path, Warp};

/// The Tensor Memory of a warp, with its place in the block and the rules for its loads.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WarpTensorMemory {
    /// The contents.
    pub memory: TensorMemory,
    /// The warp's number in its block, which decides the lanes of Tensor Memory that the warp may read.
    pub warp: u32,
    /// The rules for loads.
    pub rules: Rules,
}

impl WarpTensorMemory {
    /// Creates the Tensor Memory of a warp with the default rules.
    #[must_use]
    pub fn new(memory: TensorMemory, warp: u32) -> Self {
        Self { memory, warp, rules: Rules::default() }
    }

    /// Replaces the rules for loads.
    #[must_use]
    pub fn rules(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }
}

/// A load of Tensor Memory with its registers.
#[derive(Clone, Debug)]
pub struct TensorOp {
    /// The load.
    pub load: TensorLoad,
    /// The data registers, of 32 bits.
    pub data: Box<[Slot]>,
    /// The register for the result of a reduction.
    pub reduced: Option<Slot>,
    /// The register with the address, of 32 bits.
    pub address: Slot,
    /// Added to the address in the register.
    pub offset: u32,
    /// What it would write, for launches without Tensor Memory.
    pub effects: Box<Effects>,
}

/// Executes a load for the whole warp.
pub(crate) fn execute(
    warp: &mut Warp,
    path: &Path,
    op: &Op,
    load: &TensorOp,
    exec: u32,
    engine: &mut Engine<'_>,
) -> Result<(), Stop> {
    if exec == 0 {
        report(warp, path, op, (LoadOutcome::Idle, &[]), engine);
        return Ok(());
    }
    let Some(tensor) = &engine.options.tensor else {
        if op.alone.is_some() {
            return effects::skip(warp, path, op, SkipReason::NoTensorMemory, engine);
        }
        return effects::execute(warp, path, op, &load.effects, exec, engine);
    };
    let disagreement = if exec == u32::MAX {
        warp.need(path, load.address, exec, "an address")?;
        let addresses = warp.frames[path.frame].registers.get::<u32>(load.address);
        let first = addresses[0];
        let lane = addresses.iter().position(|address| *address != first);
        lane.map(|lane| {
            let (lane, other) = (lane as u32, addresses[lane]);
            TensorLoadFault::AddressesDiffer { first, lane, other }
        })
    } else {
        Some(TensorLoadFault::NotAllLanes(exec))
    };
    engine.counts.loads += 1;
    if let Some(fault) = disagreement {
        if op.alone.is_some() {
            return effects::skip(warp, path, op, SkipReason::Tensor(fault), engine);
        }
        engine.fault(FaultKind::TensorMemory(fault), op, warp.number, exec.trailing_zeros(), 0);
        return Ok(());
    }
    let registers = &mut warp.frames[path.frame].registers;
    let address = TensorAddress(registers.get::<u32>(load.address)[0]).plus(load.offset);
    let issue = Issue::new(tensor.warp.wrapping_add(warp.number), address);
    let mut loaded = TensorRegisters::new();
    let done = tensor::execute(&load.load, issue, &tensor.memory, &tensor.rules, &mut loaded);
    if let Err(fault) = done {
        let kind = FaultKind::TensorMemory(TensorLoadFault::Refused(fault));
        engine.fault(kind, op, warp.number, 0, 0);
    } else {
        let reduced = load.reduced.iter().zip(loaded.reduced());
        for (slot, row) in load.data.iter().zip(loaded.data()).chain(reduced) {
            registers.put(*slot, row, exec);
            registers.know(*slot, exec);
            if let Some(origin) = engine.block.tensor_origin {
                registers.forget(*slot, exec, origin);
            }
        }
    }
    let fault = done.err();
    if op.alone.is_some() {
        let element = |slot: &Slot| Some(Element { slot: *slot, rows: 1, bits: 32 });
        let written: Vec<_> = load.data.iter().chain(&load.reduced).map(element).collect();
        let written = if fault.is_some() { &[][..] } else { &written };
        let outcome = LoadOutcome::Tensor { load: load.load, issue, fault };
        report(warp, path, op, (outcome, written), engine);
    }
    Ok(())
}

/// Reports a load alone.
fn report(
    warp: &Warp,
    path: &Path,
    op: &Op,
    (outcome, destinations): (LoadOutcome<'_>, &[Option<Element>]),
    engine: &mut Engine<'_>,
) {
    let registers = &warp.frames[path.frame].registers;
    engine.report(&LoadAlone { site: op.site, outcome, destinations, registers });
}
