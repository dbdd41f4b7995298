//! Loads of tensor memory: what the whole warp does at once.

use super::registers::{RegisterFile, RegisterValue};
use super::value::low_bits;
use super::{Environment, Executed, RunError, RunErrorKind, TensorExecuted};
use crate::meaning::Register;
use crate::syntax::Span;
use crate::syntax::load::PtxLoad;
use crate::tensor::{Issue, TensorAddress, TensorRegisters, execute};
use warpload::lane::{LANES, LaneMask};

/// The registers of a load, looked up.
struct Operands {
    data: Vec<Register>,
    reduced: Option<Register>,
    address: Register,
    guard: Option<(Register, bool)>,
}

impl Environment<'_> {
    /// Executes a `tcgen05.ld` or `tcgen05.ld.red`. If every lane is predicated off, nothing
    /// happens.
    pub(super) fn tensor_load(
        &self,
        load: &PtxLoad,
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

    /// What the address register holds, in all lanes the same.
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

    /// Writes what was loaded; each register once, with what it holds then.
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
