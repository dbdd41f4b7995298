//! Loads of Tensor Memory: their memory, their execution by a whole warp, and their effects.

use warpload::lane::{LANES, LaneMask};

use super::registers::{RegisterFile, RegisterValue};
use super::value::low_bits;
use super::{Environment, Executed, RunError, RunErrorKind};
use crate::meaning::Register;
use crate::syntax::Span;
use crate::syntax::load::PtxLoad;
use crate::tensor::{Issue, TensorAddress, TensorFault, TensorLoad, TensorRegisters, execute};

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

/// The registers of a load, resolved.
struct Operands {
    data: Vec<Register>,
    reduced: Option<Register>,
    address: Register,
    guard: Option<(Register, bool)>,
}

impl Environment<'_> {
    /// Executes a `tcgen05.ld` or `tcgen05.ld.red`. With a false guard in every lane, it has no effect.
    pub(super) fn tensor_load(
        &self,
        load: &PtxLoad<'_>,
        registers: &mut RegisterFile,
    ) -> Result<Executed, RunError> {
        let written = load
            .tensor_load(self.module.source())
            .map_err(|error| self.error(error.span, RunErrorKind::Tensor(error.kind)))?;
        let look_up = |name: Span| {
            let register = self.module.register_written(load.scope, name);
            register.map_err(|error| self.error(name, RunErrorKind::Meaning(error)))
        };
        let guard = load.guard.map(|guard| Ok((look_up(guard.register)?, guard.is_negated)));
        let operands = Operands {
            data: written.registers.iter().copied().map(look_up).collect::<Result<_, _>>()?,
            reduced: written.reduced.map(look_up).transpose()?,
            address: look_up(written.address)?,
            guard: guard.transpose()?,
        };
        let guard_span = load.guard.map_or(load.span, |guard| guard.register);
        let executing = self.executing(operands.guard, guard_span, registers)?;
        let mut executed = Executed::nothing(executing);
        if executing.is_empty() {
            return Ok(executed);
        }
        let Some(tensor) = &self.tensor else {
            return Err(self.error(load.opcode_span, RunErrorKind::NoTensorMemory));
        };
        if executing != LaneMask::ALL {
            let missing = !executing;
            return Err(self.error(guard_span, RunErrorKind::NotAllLanes { missing }));
        }
        let address = self.common_address(operands.address, written.address, registers)?;
        let address = address.plus(written.address_offset);
        let issue = Issue::new(tensor.warp, address);
        let mut loaded = TensorRegisters::new();
        let load = written.load;
        let fault = execute(&load, issue, &tensor.memory, &tensor.rules, &mut loaded).err();
        executed.addresses = [u64::from(address.0); LANES];
        executed.tensor = Some(TensorExecuted { load, issue, fault });
        if fault.is_none() {
            executed.written = self.keep(&operands, &loaded, registers);
        }
        Ok(executed)
    }

    /// The value of the address register, which must be the same in all lanes.
    fn common_address(
        &self,
        register: Register,
        span: Span,
        registers: &RegisterFile,
    ) -> Result<TensorAddress, RunError> {
        let held = self.value(registers, register, LaneMask::ALL, span)?;
        let values = held.map_or([0; LANES], |held| held.values.map(|value| value as u32));
        let first = values[0];
        match values.iter().position(|value| *value != first) {
            None => Ok(TensorAddress(first)),
            Some(lane) => {
                let (register, other) = (self.name(span), values[lane]);
                let kind = RunErrorKind::AddressesDiffer { register, first, lane, other };
                Err(self.error(span, kind))
            }
        }
    }

    /// Writes the destination registers. The result has each register once, with its final value, because a load may
    /// name one twice.
    fn keep(
        &self,
        operands: &Operands,
        loaded: &TensorRegisters,
        registers: &mut RegisterFile,
    ) -> Vec<(Register, RegisterValue)> {
        let reduced = operands.reduced.iter().zip(loaded.reduced());
        let rows = operands.data.iter().zip(loaded.data()).chain(reduced);
        for (register, row) in rows {
            let mask = low_bits(self.width(*register));
            registers.write(*register, LaneMask::ALL, &row.map(|value| u128::from(value) & mask));
        }
        registers.held(operands.data.iter().chain(&operands.reduced))
    }
}
