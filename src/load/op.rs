//! [`LoadOp`], what is loaded, and [`LaneAddresses`], who loads it from where: all that is left of
//! an instruction or a trace record.

use warpload_encoding::{Address, ConstantMode, Instruction, InvalidSize, MemorySpace, Reg};

use super::fault::WarpFault;
use crate::lane::{LANES, LaneMask};
use crate::machine::{Machine, RegisterLimit};
use crate::memory::{Access, AddressSpace, Width};
use crate::warp::Warp;

/// What one lane of a load reads, and how it fills registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoadOp {
    /// How its addresses are read.
    pub space: AddressSpace,
    /// The number of bytes that a lane reads; its address is rounded down to a multiple of that.
    pub width: Width,
    /// Whether a value narrower than 32 bits is sign-extended.
    pub signed: bool,
    /// Whether the load may take the broadcast path (`.U.128`).
    pub uniform: bool,
}

/// Why an instruction cannot be executed on any machine or warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// Its size field is invalid.
    #[error("{0} encodes no size, so that the instruction cannot be executed")]
    InvalidSize(InvalidSize),
    /// It forms bank and offset in an undocumented way.
    #[error(
        "how LDC.{} forms bank and offset is not public, so that it cannot be executed",
        .0.name()
    )]
    ConstantMode(ConstantMode),
}

impl TryFrom<&Instruction> for LoadOp {
    type Error = ExecuteError;

    /// Returns the operation of an instruction.
    ///
    /// # Errors
    /// Returns [`ExecuteError`] if the instruction has an invalid size, or a mode of `LDC` whose
    /// meaning is unknown (docs/load-family.md section 3).
    fn try_from(instruction: &Instruction) -> Result<Self, ExecuteError> {
        let size = instruction.size().map_err(ExecuteError::InvalidSize)?;
        let space = instruction.space();
        if let MemorySpace::Constant { mode, .. } = space
            && mode != ConstantMode::Direct
        {
            return Err(ExecuteError::ConstantMode(mode));
        }
        let (signed, uniform) = (size.is_signed(), instruction.is_uniform());
        Ok(Self { space: space.into(), width: size.into(), signed, uniform })
    }
}

impl LoadOp {
    /// Returns what each lane reads.
    #[inline]
    #[must_use]
    pub const fn access(self) -> Access {
        Access { width: self.width, signed: self.signed }
    }

    /// Returns the number of 32-bit registers that a lane's value fills: 1, 2, 4 or 8.
    #[must_use]
    pub const fn registers(self) -> u32 {
        self.width.registers()
    }
}

/// The executing lanes of a load, with their Plg and their addresses before rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneAddresses {
    /// The lanes that execute.
    pub executing: LaneMask,
    /// The lanes whose Plg is true.
    pub plg: LaneMask,
    /// Each lane's effective address in bytes, lane 0 first; meaningless if the lane does not
    /// execute.
    pub addresses: [u64; LANES],
}

impl LaneAddresses {
    /// Returns the executing lanes of `instruction` on that warp, and the addresses that it forms.
    /// These are meaningless if the load faults as a whole.
    #[must_use]
    pub fn new<M>(instruction: &Instruction, machine: &Machine<M>, warp: &Warp) -> Self {
        // Who executes: clause 4.1.
        let guard = instruction.guard();
        let allowed = warp.predicate(guard.pred);
        let executing = warp.active & if guard.negated { !allowed } else { allowed };
        let plg = match instruction.space() {
            MemorySpace::Generic { plg } => warp.predicate(plg),
            _ => LaneMask::ALL,
        };
        let addresses = addresses(instruction.address(), machine.register_limit, warp);
        Self { executing, plg, addresses }
    }
}

/// Returns whether a register is a base for the address, and not "beyond the set of registers
/// supported for the shader" (docs/ld.md section 3).
fn is_base(base: Reg, limit: RegisterLimit) -> bool {
    !base.is_zero() && base.number() < limit.get()
}

/// Returns the fault that keeps `instruction`, whose operation is `op`, from executing for a shader
/// of that many registers: misaligned or missing destination registers, then misaligned or missing
/// address registers (clause 4.2 and section 3 of docs/ld.md).
#[must_use]
pub fn register_fault(
    instruction: &Instruction,
    op: LoadOp,
    limit: RegisterLimit,
) -> Option<WarpFault> {
    let check = |register: Reg, count: u32| {
        let number = u32::from(register.number());
        if number % count != 0 {
            Some(WarpFault::MisalignedRegister(register))
        } else if number + count > u32::from(limit.get()) {
            Some(WarpFault::OutOfRangeRegister(register))
        } else {
            None
        }
    };
    let destination_fault = match instruction.destination() {
        Reg::RZ => None,
        destination => check(destination, op.registers()),
    };
    let Address { base, extended, .. } = instruction.address();
    let has_pair = extended && is_base(base, limit);
    destination_fault.or_else(|| check(has_pair.then_some(base)?, 2))
}

/// Returns each lane's effective address (clause 4.3).
fn addresses(address: Address, limit: RegisterLimit, warp: &Warp) -> [u64; LANES] {
    let Address { base, extended, offset } = address;
    if !is_base(base, limit) {
        return [u64::from(offset.without_base()); LANES];
    }
    let offset = offset.signed();
    let low = warp.register(base);
    if !extended {
        return low.map(|low| u64::from(low.wrapping_add_signed(offset)));
    }
    // Checked before: an extended base is even, and the register after it exists.
    let high = warp.register(Reg::new(base.number() | 1));
    std::array::from_fn(|lane| {
        let base = u64::from(high[lane]) << 32 | u64::from(low[lane]);
        base.wrapping_add_signed(i64::from(offset))
    })
}
