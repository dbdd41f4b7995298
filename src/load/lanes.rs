//! [`LaneAddresses`]: who loads from where, all that is left of an instruction or a trace record
//! besides its [`LoadOp`](super::LoadOp).

use warpload_encoding::{Address, Guard, Instruction, LoadParts, MemorySpace, Reg};

use crate::lane::{LANES, LaneMask, LaneValues};
use crate::machine::{Machine, RegisterLimit};
use crate::memory::Addresses;
use crate::warp::Warp;

/// The executing lanes of a load, with their Plg and their addresses before rounding.
#[derive(Clone, Copy, Debug)]
pub struct LaneAddresses {
    /// The lanes that execute.
    pub executing: LaneMask,
    /// The lanes whose Plg is true.
    pub plg: LaneMask,
    /// The effective addresses; meaningless for lanes that do not execute.
    pub addresses: Addresses,
}

impl LaneAddresses {
    /// No lane.
    pub const NONE: Self = Self {
        executing: LaneMask::NONE,
        plg: LaneMask::NONE,
        addresses: Addresses::Stride { base: 0, stride: 0 },
    };

    /// Returns the executing lanes of `instruction` on that warp, and the addresses that it forms.
    /// These are meaningless if the load faults as a whole.
    #[must_use]
    pub fn new<M>(instruction: &Instruction, machine: &Machine<M>, warp: &Warp) -> Self {
        let LoadParts { guard, space, address, .. } = instruction.parts();
        Self::of(guard, space, Base::new(address, machine.register_limit), warp)
    }

    #[inline(always)]
    pub(super) fn of(guard: Guard, space: MemorySpace, base: Base, warp: &Warp) -> Self {
        // Who executes: clause 4.1.
        let allowed = warp.predicate(guard.pred);
        let executing = warp.active & if guard.negated { !allowed } else { allowed };
        let plg = match space {
            MemorySpace::Generic { plg } => warp.predicate(plg),
            _ => LaneMask::ALL,
        };
        Self { executing, plg, addresses: base.addresses(warp) }
    }
}

/// What an address is made of (clause 4.3 of docs/ld.md).
#[derive(Clone, Copy, Debug)]
pub(super) enum Base {
    /// No register: one address for all lanes.
    None(u64),
    /// A register of 32 bits, and an offset added to that in 32 bits.
    Low(Reg, i32),
    /// Two registers, the low half in the first one, and an offset.
    Pair(Reg, i32),
}

impl Base {
    /// Returns what the address operand means for a shader of that many registers. A base "beyond
    /// the set of registers supported for the shader" is none (docs/ld.md section 3).
    #[inline]
    pub(super) fn new(Address { base, extended, offset }: Address, limit: RegisterLimit) -> Self {
        if base.is_zero() || base.number() >= limit.get() {
            Self::None(offset.without_base().into())
        } else if extended {
            Self::Pair(base, offset.signed())
        } else {
            Self::Low(base, offset.signed())
        }
    }

    /// Returns each lane's effective address.
    #[inline(always)]
    fn addresses(self, warp: &Warp) -> Addresses {
        const NO_HALF: &LaneValues = &[0; LANES];
        match self {
            Self::None(address) => Addresses::Stride { base: address, stride: 0 },
            Self::Low(base, offset) => {
                let low = warp.register(base);
                let first = low[0].wrapping_add_signed(offset);
                match stride(low, NO_HALF, first) {
                    Some(stride) => Addresses::Stride { base: first.into(), stride },
                    None => Addresses::Each(low.map(|low| low.wrapping_add_signed(offset).into())),
                }
            }
            Self::Pair(base, offset) => {
                let low = warp.register(base);
                // Checked before: the base is even, and the register after it exists.
                let high = warp.register(Reg::new(base.number() | 1));
                let at = |lane: usize| {
                    let base = u64::from(high[lane]) << 32 | u64::from(low[lane]);
                    base.wrapping_add_signed(offset.into())
                };
                match stride(low, high, low[0]) {
                    Some(stride) => Addresses::Stride { base: at(0), stride },
                    None => Addresses::Each(std::array::from_fn(at)),
                }
            }
        }
    }
}

/// Returns the distance between neighbours in bytes, if it is 0 or an access size, and the same for
/// all lanes. `low` and `high` are the halves of the addresses. No lane may pass 2^32 when counted from
/// `first`, the low half of lane 0's address.
#[inline(always)]
fn stride(low: &LaneValues, high: &LaneValues, first: u32) -> Option<u64> {
    let stride = low[1].wrapping_sub(low[0]);
    // Loops without a multiplication: a third of the time.
    let different = match stride {
        4 => different::<4>(low, high),
        8 => different::<8>(low, high),
        16 => different::<16>(low, high),
        0 => different::<0>(low, high),
        1 => different::<1>(low, high),
        2 => different::<2>(low, high),
        _ => return None,
    };
    let last = first.checked_add(stride * (LANES as u32 - 1));
    (different == 0 && last.is_some()).then_some(stride.into())
}

/// Returns the bits in which some lane differs from what lane 0 and the stride say. Apart from its
/// comparison with 0, or the compiler makes 32 comparisons of the one pass in vectors.
#[inline(never)]
fn different<const STRIDE: u32>(low: &LaneValues, high: &LaneValues) -> u32 {
    let mut different = 0;
    for lane in 0..LANES {
        different |= low[lane].wrapping_sub(low[0]) ^ (STRIDE * lane as u32);
        different |= high[lane] ^ high[0];
    }
    different
}
