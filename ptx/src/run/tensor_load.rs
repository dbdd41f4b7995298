//! Loads of Tensor Memory: their memory, their execution by a whole warp, and their effects.

use warpload::lane::{LANES, LaneMask};

use super::registers::{RegisterFile, RegisterValue};
use super::value::low_bits;
use super::{Environment, Executed, RunError, RunErrorKind};
use crate::meaning::Register;
use crate::syntax::Span;
use crate::syntax::load::PtxLoad;
use crate::tensor::{
    Issue, Rules, TensorAddress, TensorFault, TensorLoad, TensorMemory, TensorRegisters, execute,
};

/// Tensor Memory for one warp.
///
/// ```
/// use warpload::machine::Machine;
/// use warpload_ptx::run::{Placement, RegisterFile, WarpTensorMemory};
/// use warpload_ptx::read;
/// use warpload_ptx::tensor::{Pattern, TensorMemory};
///
/// let module = read(".version 8.8\n.target sm_100a\n.address_size 64
///     .entry k() {
///         .reg .b32 %r<3>, taddr;
///         tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [taddr];
///     }")?;
/// let function = module.function("k").ok_or("no function")?;
/// let mut environment = Placement::for_function(&module, function)?.into_environment(Machine::default())?;
/// let memory = TensorMemory::filled(Pattern::LaneColumn);
/// environment.tensor = Some(WarpTensorMemory::new(memory, 1));
///
/// let [taddr, r2] = ["taddr", "%r2"].map(|name| module.registers_named(function, name)[0]);
/// let mut registers = RegisterFile::new();
/// registers.set(taddr, [32 << 16 | 8; 32]);
/// for step in environment.run(function, &mut registers) {
///     assert_eq!(step.result?.tensor.and_then(|tensor| tensor.fault), None);
/// }
/// // Thread 5 owns lane 37; its second register is the second column.
/// assert_eq!(registers.get(r2).map(|held| held.values[5]), Some(37 << 16 | 9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
