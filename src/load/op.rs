//! A load operation: what is loaded, apart from the instruction that asks for it.

use warpload_encoding::{Address, ConstantMode, Instruction, InvalidSize, MemorySpace, Reg};

use super::fault::WarpFault;
use crate::lane::{LANES, LaneMask};
use crate::machine::{Machine, RegisterLimit};
use crate::memory::{Access, AddressSpace, Width};
use crate::warp::Warp;

/// What one lane of a load reads and how it fills registers: the one thing that is executed,
/// whatever asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadOp {
    /// How its addresses are to be read.
    pub space: AddressSpace,
    /// How many bytes a lane reads; its address is rounded down to a multiple of it.
    pub width: Width,
    /// Whether a value narrower than 32 bits is sign-extended.
    pub signed: bool,
    /// Whether the load may take the broadcast path (`.U.128`).
    pub uniform: bool,
}

/// Why an instruction cannot be executed, whatever the machine and the warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExecuteError {
    /// Its size field encodes no size.
    #[error("{0} encodes no size, so that the instruction cannot be executed")]
    InvalidSize(InvalidSize),
    /// It forms bank and offset in a way that no public source describes.
    #[error(
        "how LDC.{} forms bank and offset is not public, so that it cannot be executed",
        .0.name()
    )]
    ConstantMode(ConstantMode),
}

impl LoadOp {
    /// The operation of an instruction.
    ///
    /// # Errors
    /// [`ExecuteError`] where the instruction has an invalid size, or a mode of `LDC` whose
    /// meaning is not known (docs/load-family.md section 3).
    pub fn of(instruction: &Instruction) -> Result<Self, ExecuteError> {
        let size = instruction.size().map_err(ExecuteError::InvalidSize)?;
        let space = match instruction.space() {
            MemorySpace::Generic { .. } => AddressSpace::Generic,
            MemorySpace::Global => AddressSpace::Global,
            MemorySpace::Local => AddressSpace::Local,
            MemorySpace::Shared => AddressSpace::Shared,
            MemorySpace::Constant { bank, mode: ConstantMode::Direct } => {
                AddressSpace::Constant { bank: bank.get() }
            }
            MemorySpace::Constant { mode, .. } => return Err(ExecuteError::ConstantMode(mode)),
        };
        let uniform = instruction.is_uniform();
        Ok(Self { space, width: size.into(), signed: size.is_signed(), uniform })
    }

    /// What each lane reads.
    #[inline]
    pub const fn access(self) -> Access {
        Access { width: self.width, signed: self.signed }
    }

    /// How many 32-bit registers a lane's value fills: 1, 2, 4 or 8.
    pub const fn registers(self) -> u32 {
        self.width.registers()
    }
}

/// Who loads from where: the executing lanes, their Plg and their addresses before rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneAddresses {
    /// The lanes that execute.
    pub executing: LaneMask,
    /// The lanes whose Plg is true.
    pub plg: LaneMask,
    /// Each lane's effective address in bytes, lane 0 first; of no meaning where the lane does
    /// not execute.
    pub addresses: [u64; LANES],
}

impl LaneAddresses {
    /// The executing lanes of `instruction` on that warp, and the addresses that it forms. What
    /// the registers of a load that faults as a whole would give is of no meaning.
    pub fn of(instruction: &Instruction, machine: &Machine, warp: &Warp) -> Self {
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

/// Whether a register is a base for the address, and not "beyond the set of registers supported
/// for the shader".
fn is_base(base: Reg, limit: RegisterLimit) -> bool {
    !base.is_zero() && base.number() < limit.get()
}

/// The fault that keeps `instruction`, whose operation is `op`, from executing for a shader of
/// that many registers: misaligned or missing destination registers, then misaligned or missing
/// address registers (docs/ld.md section 3).
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
    // Checked before: an extended base is even and has a register behind it.
    let high = warp.register(Reg::new(base.number() | 1));
    std::array::from_fn(|lane| {
        let base = u64::from(high[lane]) << 32 | u64::from(low[lane]);
        base.wrapping_add_signed(i64::from(offset))
    })
}
