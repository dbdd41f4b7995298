//! Loads of Tensor Memory, `tcgen05.ld` and `tcgen05.ld.red`, executed by `crate::tensor`.

use super::code::{Element, Op};
use super::compile::FunctionCompiler;
use super::engine::{Engine, Stop};
use super::fault::{FaultKind, TensorLoadFault};
use super::registers::Slot;
use super::warp::{Path, Warp};
use crate::syntax::Span;
use crate::syntax::load::PtxInstruction;
use crate::tensor::{self, Issue, TensorAddress, TensorLoad, TensorRegisters};

/// A load of Tensor Memory with its registers.
#[derive(Clone, Debug)]
pub(super) struct TensorOp {
    load: TensorLoad,
    data: Box<[Slot]>,
    reduced: Option<Slot>,
    address: Slot,
    /// Added to the address in the register.
    offset: u32,
}

/// Decodes a load; `None` if it is illegal, or a register does not have 32 bits.
pub(super) fn decode<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
) -> Option<TensorOp> {
    let module = compiler.module;
    let written = of.tensor_load(module.source()).ok()?;
    let mut slot = |name: Span| {
        let register = module.register_written(of.scope, name).ok()?;
        let Element { slot, rows, .. } = compiler.register(register);
        (rows == 1).then_some(slot)
    };
    Some(TensorOp {
        load: written.load,
        data: written.registers.iter().copied().map(&mut slot).collect::<Option<_>>()?,
        reduced: match written.reduced {
            Some(name) => Some(slot(name)?),
            None => None,
        },
        address: slot(written.address)?,
        offset: written.address_offset,
    })
}

/// Executes a load for the whole warp.
pub(super) fn execute(
    warp: &mut Warp,
    path: &Path,
    op: &Op,
    load: &TensorOp,
    exec: u32,
    engine: &mut Engine<'_>,
) -> Result<(), Stop> {
    warp.need(path, load.address, exec, "an address")?;
    let Some(tensor) = engine.tensor else { return Ok(()) };
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
