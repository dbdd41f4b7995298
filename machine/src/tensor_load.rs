//! Loads of Tensor Memory by a warp of a launch.

use crate::code::{Effects, Op};
use crate::effects;
use crate::engine::{Engine, Stop};
use crate::fault::{FaultKind, TensorLoadFault};
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
    let Some(tensor) = &engine.options.tensor else {
        return effects::execute(warp, path, op, &load.effects, exec, engine);
    };
    warp.need(path, load.address, exec, "an address")?;
    engine.counts.loads += 1;
    let registers = &mut warp.frames[path.frame].registers;
    let addresses = registers.get::<u32>(load.address);
    let first = addresses[0];
    let differs = addresses.iter().position(|address| *address != first);
    let mut loaded = TensorRegisters::new();
    let done = if exec != u32::MAX {
        Err(TensorLoadFault::NotAllLanes(exec))
    } else if let Some(lane) = differs {
        let (lane, other) = (lane as u32, addresses[lane]);
        Err(TensorLoadFault::AddressesDiffer { first, lane, other })
    } else {
        let address = TensorAddress(first).plus(load.offset);
        let issue = Issue::new(tensor.warp.wrapping_add(warp.number), address);
        let done = tensor::execute(&load.load, issue, &tensor.memory, &tensor.rules, &mut loaded);
        done.map_err(TensorLoadFault::Refused)
    };
    if let Err(fault) = done {
        engine.fault(FaultKind::TensorMemory(fault), op, warp.number, exec.trailing_zeros(), 0);
        return Ok(());
    }
    let reduced = load.reduced.iter().zip(loaded.reduced());
    for (slot, row) in load.data.iter().zip(loaded.data()).chain(reduced) {
        registers.put(*slot, row, exec);
        registers.know(*slot, exec);
        if let Some(origin) = engine.block.tensor_origin {
            registers.forget(*slot, exec, origin);
        }
    }
    Ok(())
}
