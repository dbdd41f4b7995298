//! The fast executor of instructions: [`execute`], and [`Prepared`] for an instruction that many warps execute.

use warpload_encoding::{Guard, Instruction, LoadDestination, LoadSize, Pred, Reg};

use super::fast::{Loaded, load, load_run, load_spread};
use super::lanes::{Base, LaneAddresses, executing, plg};
use super::op::{ExecuteError, LoadOp};
use super::outcome::{Destination, Outcome, UniformPath, WarpFault};
use super::wide::{Kind, Wide, load_halves, load_once};
use crate::lane::LaneMask;
use crate::machine::{Machine, RegisterLimit};
use crate::memory::LoadMemory;
use crate::warp::Warp;

/// An instruction prepared for the fast executor: its operation, registers and offset, for a certain number of
/// registers per thread.
///
/// [`execute`] prepares an instruction each time. If many warps execute it, prepare it once:
///
/// ```
/// use warpload::encoding::{Instruction, Reg, Sm};
/// use warpload::load::Prepared;
/// use warpload::machine::Machine;
/// use warpload::memory::Memory;
/// use warpload::warp::Warp;
///
/// let bytes: Vec<u8> = (0..128).collect();
/// let machine = Machine::new(Memory::builder().global(0x1000, &bytes).build()?);
/// let ld = Prepared::new(&Instruction::parse("LD R0, [R2]", Sm::SPA5)?, machine.register_limit)?;
/// for start in [0x1000, 0x1040] {
///     let mut warp = Warp::new();
///     warp.set_register(Reg::new(2), [start; 32]);
///     ld.execute(&machine, &mut warp)?;
///     assert_eq!(warp.register(Reg::new(0))[0], 0x0302_0100 + 0x4040_4040 * u32::from(start > 0x1000));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Prepared {
    op: LoadOp,
    guard: Guard,
    plg: Option<Pred>,
    base: Base,
    destination: Destination,
    fault: Option<WarpFault>,
    /// The parts that only loads of SM 7.0 and later have.
    wide: Option<Wide>,
}

impl Prepared {
    /// Prepares an instruction for machines with this register limit.
    ///
    /// # Errors
    /// Returns [`ExecuteError`] if the instruction cannot be executed.
    #[inline(always)]
    pub fn new(
        instruction: &Instruction,
        register_limit: RegisterLimit,
    ) -> Result<Self, ExecuteError> {
        let parts = instruction.parts();
        // The cache operator is left out, because it never changes the value (clause 4.9).
        let op = LoadOp::try_from(&parts)?;
        let base = Base::new(parts.address, register_limit);
        // Always `None` for a 64-bit word, so that `execute` is compiled without the case.
        let wide = if instruction.sm().has_wide_words() { Wide::of(&parts) } else { None };
        let (first, count) = match parts.destination {
            LoadDestination::Registers(first) => (first, parts.size.map_or(0, LoadSize::registers)),
            LoadDestination::Halves { low, .. } => (low, 4),
            _ => (Reg::RZ, 0),
        };
        let destination = Destination { first, count };
        let fault = register_fault(destination, base, register_limit, wide.as_ref());
        let plg = plg(parts.space);
        Ok(Self { op, guard: parts.guard, plg, base, destination, fault, wide })
    }

    /// Returns the fault that keeps every warp from executing the instruction.
    #[must_use]
    pub const fn fault(&self) -> Option<WarpFault> {
        self.fault
    }

    /// Executes the instruction under the register limit of [`Self::new`] instead of the machine's.
    ///
    /// # Errors
    /// Returns [`ExecuteError::PartialWarp`] if the instruction needs all lanes and some do not execute.
    #[inline(always)]
    pub fn execute<M: LoadMemory>(
        &self,
        machine: &Machine<M>,
        warp: &mut Warp,
    ) -> Result<Outcome, ExecuteError> {
        match (self.execute_run(machine, warp), &self.wide) {
            (Some(outcome), _) => Ok(outcome),
            (None, None) => Ok(self.execute_spread(machine, warp)),
            (None, Some(wide)) => self.execute_wide(wide, machine, warp),
        }
    }

    /// Executes the instruction if all lanes execute it without a fault and their accesses follow one another.
    /// Otherwise returns `None` and leaves the warp as it is.
    #[inline(always)]
    fn execute_run<M: LoadMemory>(&self, machine: &Machine<M>, warp: &mut Warp) -> Option<Outcome> {
        if self.fault.is_some()
            || self.wide.is_some()
            || executing(self.guard, warp) != LaneMask::ALL
        {
            return None;
        }
        let first = self.base.run(self.op.width, warp)?;
        let plg = self.plg.map(|plg| warp.predicate(plg));
        let Destination { first: register, count } = self.destination;
        let rows = warp.rows_mut(register, count);
        let space = load_run(&self.op, first, plg, &machine.memory, rows)?;
        Some(self.outcome(LaneMask::ALL, Loaded::run(space)))
    }

    /// Executes the instruction for any set of lanes.
    // Inlined, because the instruction would otherwise be written to memory in bytes and read back in words.
    #[inline(always)]
    fn execute_spread<M: LoadMemory>(&self, machine: &Machine<M>, warp: &mut Warp) -> Outcome {
        // The addresses are formed before any register is written: clause 4.3.
        let lanes = LaneAddresses::of(self.guard, self.plg, self.base, warp);
        let executing = lanes.executing;
        // Without an executing lane there is no effect and no fault: clause 4.1.
        if executing.is_empty() {
            return Outcome::default();
        }
        if let Some(fault) = self.fault {
            return Outcome::warp_fault(executing, fault);
        }
        let Destination { first, count } = self.destination;
        let rows = warp.rows_mut(first, count);
        let loaded = load_spread(self.op, &lanes, &machine.memory, machine.misaligned, rows);
        self.outcome(executing, loaded)
    }

    /// Executes a load that only SM 7.0 and later have.
    #[inline(never)]
    fn execute_wide<M: LoadMemory>(
        &self,
        wide: &Wide,
        machine: &Machine<M>,
        warp: &mut Warp,
    ) -> Result<Outcome, ExecuteError> {
        // The addresses are formed before any register is written: clause 4.3.
        let lanes = match wide.extras {
            None => LaneAddresses::of(self.guard, self.plg, self.base, warp),
            Some(extras) => extras.lanes(self.guard, self.plg, self.base, warp),
        };
        if lanes.executing.is_empty() {
            return Ok(Outcome::default());
        }
        // An error rather than a fault, even if the registers are wrong.
        if matches!(wide.kind, Kind::Matrices(_)) && lanes.executing != LaneMask::ALL {
            return Err(ExecuteError::PartialWarp("LDSM"));
        }
        if let Some(fault) = self.fault {
            return Ok(Outcome::warp_fault(lanes.executing, fault));
        }
        let Destination { first, count } = self.destination;
        let loaded = match wide.kind {
            Kind::Lanes => {
                let rows = warp.rows_mut(first, count);
                let loaded = load(self.op, &lanes, &machine.memory, machine.misaligned, rows);
                return Ok(self.outcome(lanes.executing, loaded));
            }
            Kind::Halves(high) => load_halves(self.op, &lanes, machine, [first, high], warp),
            Kind::Once { low, high } => load_once(self.op, &lanes, machine, low, high, warp),
            Kind::Matrices(matrices) => {
                let registers = warp.rows_mut(first, count);
                matrices.load(&lanes, &machine.memory, machine.misaligned, registers)
            }
        };
        let outcome = self.outcome(lanes.executing, loaded);
        let other_half = match wide.kind {
            Kind::Halves(first) if !first.is_zero() => Some(Destination { first, count: 4 }),
            _ => None,
        };
        Ok(Outcome { other_half, ..outcome })
    }

    #[inline(always)]
    fn outcome(&self, executing: LaneMask, loaded: Loaded) -> Outcome {
        let path =
            if loaded.is_broadcast { UniformPath::Broadcast } else { UniformPath::Divergent };
        Outcome {
            executing,
            destination: (!self.destination.first.is_zero()).then_some(self.destination),
            other_half: None,
            warp_fault: None,
            lane_faults: loaded.faults,
            uniform: self.op.uniform.then_some(path),
        }
    }
}

/// Checks the registers for alignment and range: first the destination, then the address (clause 4.2 and section 3 of
/// docs/ld.md).
#[inline]
fn register_fault(
    destination: Destination,
    base: Base,
    limit: RegisterLimit,
    wide: Option<&Wide>,
) -> Option<WarpFault> {
    let check = |register: Reg, count: u32| {
        let number = u32::from(register.number());
        if number & (count - 1) != 0 {
            Some(WarpFault::MisalignedRegister(register))
        } else if number + count > u32::from(limit.get()) {
            Some(WarpFault::OutOfRangeRegister(register))
        } else {
            None
        }
    };
    let Destination { first, count } = destination;
    let of_destination = if first.is_zero() { None } else { check(first, count) };
    let of_other = || wide.and_then(Wide::other_half).and_then(|first| check(first, 4));
    of_destination
        .or_else(of_other)
        .or_else(|| base.pair().and_then(|base| check(base, 2)))
        .or_else(|| wide.and_then(Wide::uniform_fault))
}

/// Executes one instruction.
///
/// ```
/// use warpload::encoding::{Instruction, Reg, Sm};
/// use warpload::load::{LaneFaultKind, execute};
/// use warpload::machine::Machine;
/// use warpload::memory::Memory;
/// use warpload::warp::Warp;
///
/// let bytes: Vec<u8> = (0..128).collect();
/// let memory = Memory::builder().global(0x1000, &bytes).build()?;
/// let mut warp = Warp::new();
/// warp.set_register(Reg::new(2), std::array::from_fn(|lane| 0x1000 + 4 * lane as u32));
///
/// let ld = Instruction::parse("LD R0, [R2 + 4]", Sm::SPA5)?;
/// let outcome = execute(&ld, &Machine::new(memory), &mut warp)?;
/// assert_eq!(warp.register(Reg::new(0))[0], 0x07060504);
/// // The last lane's address is the first one after the allocation: it gets 0.
/// assert_eq!(warp.register(Reg::new(0))[31], 0);
/// assert_eq!(outcome.lane_faults.lanes(LaneFaultKind::OutsideAllocation).bits(), 1 << 31);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns [`ExecuteError`] if the instruction cannot be executed, even if no lane would execute it. The warp is then
/// unchanged.
pub fn execute<M: LoadMemory>(
    instruction: &Instruction,
    machine: &Machine<M>,
    warp: &mut Warp,
) -> Result<Outcome, ExecuteError> {
    // Separate, so that a 64-bit load is compiled without the parts of the others.
    if instruction.sm().has_wide_words() {
        return execute_128(instruction, machine, warp);
    }
    Prepared::new(instruction, machine.register_limit)?.execute(machine, warp)
}

#[inline(never)]
fn execute_128<M: LoadMemory>(
    instruction: &Instruction,
    machine: &Machine<M>,
    warp: &mut Warp,
) -> Result<Outcome, ExecuteError> {
    Prepared::new(instruction, machine.register_limit)?.execute(machine, warp)
}
