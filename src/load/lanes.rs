//! [`LaneAddresses`]: the executing lanes and their addresses. With the [`LoadOp`](super::LoadOp), this is all that a
//! load needs of an instruction or a trace record.

use warpload_encoding::{
    Address, Guard, Instruction, LoadParts, MemorySpace, Offset, Pred, Reg, UniformBase, UniformReg,
};

use crate::lane::{LANES, LaneMask, LaneValues};
use crate::machine::{Machine, RegisterLimit};
use crate::memory::{WarpAddresses, Width};
use crate::warp::Warp;

/// The executing lanes of a load, with their addresses before rounding and their Plg, if any.
#[derive(Clone, Copy, Debug)]
pub struct LaneAddresses {
    /// The lanes that execute.
    pub executing: LaneMask,
    /// The lanes with a true Plg. `None` if there is no Plg, as from SM 7.0 on, because the windows alone select the
    /// memory of a generic address. Other addresses do not need it.
    pub plg: Option<LaneMask>,
    /// The effective addresses; meaningless for lanes that do not execute.
    pub addresses: WarpAddresses,
}

impl LaneAddresses {
    /// No lane.
    pub const NONE: Self = Self {
        executing: LaneMask::NONE,
        plg: None,
        addresses: WarpAddresses::Stride { base: 0, stride: 0 },
    };

    /// Returns the executing lanes of `instruction` on `warp`, and their addresses, which are meaningless if the whole
    /// load faults.
    #[must_use]
    pub fn new<M>(instruction: &Instruction, machine: &Machine<M>, warp: &Warp) -> Self {
        let parts = instruction.parts();
        let base = Base::new(parts.address, machine.register_limit);
        match Extras::of(&parts) {
            None => Self::of(parts.guard, plg(parts.space), base, warp),
            Some(extras) => extras.lanes(parts.guard, plg(parts.space), base, warp),
        }
    }

    #[inline]
    pub(super) fn of(guard: Guard, plg: Option<Pred>, base: Base, warp: &Warp) -> Self {
        let (executing, plg) = (executing(guard, warp), plg.map(|plg| warp.predicate(plg)));
        Self { executing, plg, addresses: base.addresses(warp) }
    }

    /// Returns a lane's Plg, if there is one.
    #[inline]
    #[must_use]
    pub fn plg_of(&self, lane: usize) -> Option<bool> {
        self.plg.map(|plg| plg.contains(lane))
    }
}

/// The executing lanes: clause 4.1.
#[inline(always)]
pub(super) fn executing(guard: Guard, warp: &Warp) -> LaneMask {
    let allowed = warp.predicate(guard.pred);
    warp.active & if guard.negated { !allowed } else { allowed }
}

/// The predicate Plg; `None` if no predicate selects the memory.
#[inline]
pub(super) fn plg(space: MemorySpace) -> Option<Pred> {
    match space {
        MemorySpace::Generic { plg } => plg,
        _ => None,
    }
}

/// The terms of an address (clause 4.3 of docs/ld.md): two registers, `RZ` if there is none, and an offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    low: Reg,
    high: Reg,
    offset: u64,
    /// The bits of the sum: 64, or 32 for a base of one register.
    mask: u64,
}

impl Base {
    /// A base "beyond the set of registers supported for the shader" counts as no base (docs/ld.md section 3).
    #[inline]
    pub(super) fn new(address: Address, limit: RegisterLimit) -> Self {
        let Address { base, extended, offset, .. } = address;
        if base.is_zero() || base.number() >= limit.get() {
            let offset = match offset {
                // SM 7.0 and later: the offset from a 64-bit base that is not there.
                Offset::Signed(offset)
                    if extended || address.uniform.is_some_and(|uniform| uniform.extended) =>
                {
                    i64::from(offset) as u64
                }
                offset => offset.without_base().into(),
            };
            return Self { low: Reg::RZ, high: Reg::RZ, offset, mask: u64::MAX };
        }
        // An odd base, or a base without a second register, faults.
        let (high, mask) = if extended {
            (Reg::new(base.number() | 1), u64::MAX)
        } else {
            (Reg::RZ, u32::MAX.into())
        };
        Self { low: base, high, offset: i64::from(offset.signed()) as u64, mask }
    }

    /// The first register of a base of two.
    #[inline]
    pub(super) fn pair(self) -> Option<Reg> {
        (self.mask == u64::MAX && !self.low.is_zero()).then_some(self.low)
    }

    /// Lane 0's effective address, if all addresses are aligned and follow one another.
    #[inline(always)]
    pub(super) fn run(self, width: Width, warp: &Warp) -> Option<u64> {
        let first = self.strided(width.bytes(), warp)?;
        (first & u64::from(width.bytes() - 1) == 0).then_some(first)
    }

    #[inline]
    fn addresses(self, warp: &Warp) -> WarpAddresses {
        let low = warp.register(self.low);
        let stride = low[1].wrapping_sub(low[0]);
        match self.strided(stride, warp) {
            Some(base) => WarpAddresses::Stride { base, stride: stride.into() },
            None => WarpAddresses::Each(std::array::from_fn(|lane| self.address(lane, warp))),
        }
    }

    /// Lane 0's address, if all lanes are `stride` bytes from their neighbours. Knows only the strides of
    /// [`DISTANCES`].
    #[inline(always)]
    fn strided(self, stride: u32, warp: &Warp) -> Option<u64> {
        let (low, high) = (warp.register(self.low), warp.register(self.high));
        let distances = DISTANCES.get((u32::BITS - stride.leading_zeros()) as usize)?;
        let first = self.address(0, warp);
        // Compared first, because the last lane alone usually shows that addresses are spread or pass 2^32.
        let last = first.wrapping_add(distances[LANES - 1].into());
        if self.address(LANES - 1, warp) != last {
            return None;
        }
        // Counted, because the compiler would otherwise make 64 branches of one pass over vectors.
        let mut equal = 0;
        for lane in 0..LANES {
            equal += u32::from(low[lane].wrapping_sub(low[0]) == distances[lane]);
            equal += u32::from(high[lane] == high[0]);
        }
        (equal == 2 * LANES as u32).then_some(first)
    }

    #[inline(always)]
    fn address(self, lane: usize, warp: &Warp) -> u64 {
        let (low, high) = (warp.register(self.low), warp.register(self.high));
        let base = u64::from(high[lane]) << 32 | u64::from(low[lane]);
        base.wrapping_add(self.offset) & self.mask
    }
}

/// The parts of guard and address that only loads of SM 7.0 and later have (docs/load-sm70.md section 10).
#[derive(Clone, Copy, Debug)]
pub(super) struct Extras {
    is_guard_uniform: bool,
    scale: u8,
    uniform: Option<UniformBase>,
}

impl Extras {
    /// `None` if the load is like a load of SM 5.x.
    #[inline]
    pub(super) fn of(parts: &LoadParts) -> Option<Self> {
        let LoadParts { is_guard_uniform, address, .. } = *parts;
        let (scale, uniform) = (address.scale(), address.uniform);
        let is_plain = !is_guard_uniform && scale == 0 && uniform.is_none();
        (!is_plain).then_some(Self { is_guard_uniform, scale, uniform })
    }

    #[inline(never)]
    pub(super) fn lanes(
        &self,
        guard: Guard,
        plg: Option<Pred>,
        base: Base,
        warp: &Warp,
    ) -> LaneAddresses {
        let executing = if !self.is_guard_uniform {
            executing(guard, warp)
        } else if warp.uniform_predicate(guard.pred) != guard.negated {
            warp.active
        } else {
            LaneMask::NONE
        };
        let plg = plg.map(|plg| warp.predicate(plg));
        LaneAddresses { executing, plg, addresses: self.addresses(base, warp) }
    }

    /// The sum of the scaled base, the uniform register and the offset.
    fn addresses(&self, mut base: Base, warp: &Warp) -> WarpAddresses {
        if let Some(UniformBase { register, extended }) = self.uniform {
            let low = warp.uniform_register(register);
            let next = UniformReg::new(register.number().saturating_add(1));
            let high = if extended { warp.uniform_register(next) } else { 0 };
            // Without a base, the sum had no width yet.
            let is_pair = extended || base.pair().is_some();
            base.mask = if is_pair { u64::MAX } else { u32::MAX.into() };
            let value = u64::from(high) << 32 | u64::from(low);
            base.offset = base.offset.wrapping_add(value);
        }
        if self.scale == 0 {
            return base.addresses(warp);
        }
        let low = warp.register(base.low);
        WarpAddresses::Each(std::array::from_fn(|lane| {
            let scaled = u64::from(low[lane]) << self.scale;
            scaled.wrapping_add(base.offset) & base.mask
        }))
    }
}

/// The lanes' distances from lane 0 for strides of 0, 1, 2, 4, 8 and 16 bytes. A table, because vectors are slow to
/// multiply.
static DISTANCES: [LaneValues; 6] = {
    let mut rows = [[0; LANES]; 6];
    let mut row = 1;
    while row < rows.len() {
        let mut lane = 0;
        while lane < LANES {
            rows[row][lane] = (lane as u32) << (row - 1);
            lane += 1;
        }
        row += 1;
    }
    rows
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the addresses with the sums of each lane's registers and offset.
    fn check(low: LaneValues, high: Option<LaneValues>, offset: i32) -> WarpAddresses {
        let mut warp = Warp::new();
        warp.set_register(Reg::new(4), low);
        warp.set_register(Reg::new(5), high.unwrap_or([7; LANES]));
        let address = Address::new(Reg::new(4), high.is_some(), Offset::Signed(offset));
        let addresses = Base::new(address, RegisterLimit::ALL).addresses(&warp);
        for (lane, address) in addresses.to_array().into_iter().enumerate() {
            let expected = match high {
                None => low[lane].wrapping_add_signed(offset).into(),
                Some(high) => (u64::from(high[lane]) << 32 | u64::from(low[lane]))
                    .wrapping_add_signed(offset.into()),
            };
            assert_eq!(address, expected, "lane {lane} of {low:?} {high:?} {offset}");
        }
        addresses
    }

    fn is_stride(addresses: &WarpAddresses) -> bool {
        matches!(addresses, WarpAddresses::Stride { .. })
    }

    #[test]
    fn addresses_are_a_stride_if_every_lane_says_so() {
        for stride in [0, 1, 2, 3, 4, 8, 16, 32] {
            let low: LaneValues = std::array::from_fn(|lane| 0x100 + stride * lane as u32);
            let is_known = ![3, 32].contains(&stride);
            assert_eq!(is_stride(&check(low, None, -4)), is_known);
            assert_eq!(is_stride(&check(low, Some([9; LANES]), -4)), is_known);
            for lane in 0..LANES {
                let (mut other_low, mut other_high) = (low, [9; LANES]);
                other_low[lane] ^= 0x80;
                other_high[lane] ^= 1;
                assert!(!is_stride(&check(other_low, None, 0)));
                assert!(!is_stride(&check(low, Some(other_high), 0)));
            }
        }
    }

    #[test]
    fn no_lane_of_a_stride_passes_two_to_the_power_of_32() {
        let low = |first: u32| std::array::from_fn(|lane| first.wrapping_add(4 * lane as u32));
        let end = 4 * (LANES as u32 - 1);
        assert!(is_stride(&check(low(u32::MAX - end), None, 0)));
        assert!(!is_stride(&check(low(u32::MAX - end + 1), None, 0)));
        // The 32-bit sum counts, not the register.
        assert!(is_stride(&check(low(u32::MAX - 7), None, 8)));
        assert!(!is_stride(&check(low(0), None, -4)));
        // In a pair the low register counts, because the offset is added to both.
        assert!(is_stride(&check(low(0), Some([0; LANES]), -4)));
        assert!(!is_stride(&check(low(u32::MAX - 7), Some([0; LANES]), 8)));
    }
}
