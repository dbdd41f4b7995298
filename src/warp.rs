//! [`Warp`]: registers, predicates and the active mask of 32 lanes.

use warpload_encoding::{Pred, Reg, UniformReg};

use crate::lane::{LANES, LaneMask, LaneValues};

/// The number of general registers of a warp, R0..=R254; the number per thread can be lower.
pub const REGISTERS: usize = 255;

static ZEROES: LaneValues = [0; LANES];

/// The state of a warp. Stored register by register, so that the 32 lanes of one register lie side by side.
#[derive(Clone, PartialEq, Eq)]
pub struct Warp {
    registers: Box<[LaneValues; REGISTERS]>,
    predicates: [LaneMask; 7],
    uniform: Box<Uniform>,
    /// The active mask.
    pub active: LaneMask,
}

/// State with one value for the warp instead of one per lane.
#[derive(Clone, PartialEq, Eq)]
struct Uniform {
    registers: [u32; REGISTERS],
    predicates: [bool; 7],
}

impl Default for Warp {
    fn default() -> Self {
        Self::new()
    }
}

impl Warp {
    /// Creates a warp with all lanes active, and with all registers 0 and all predicates false, including the uniform
    /// ones.
    #[must_use]
    pub fn new() -> Self {
        Self {
            registers: Box::new([ZEROES; REGISTERS]),
            predicates: [LaneMask::NONE; 7],
            uniform: Box::new(Uniform { registers: [0; REGISTERS], predicates: [false; 7] }),
            active: LaneMask::ALL,
        }
    }

    /// Returns a register's 32 values, lane 0 first; zeroes for `RZ`.
    #[inline]
    #[must_use]
    pub fn register(&self, register: Reg) -> &LaneValues {
        // `RZ`, number 255, is the only register past the end of the array.
        self.registers.get(usize::from(register.number())).unwrap_or(&ZEROES)
    }

    /// Returns a register's 32 values mutably; `None` for `RZ`.
    #[inline]
    pub fn register_mut(&mut self, register: Reg) -> Option<&mut LaneValues> {
        self.registers.get_mut(usize::from(register.number()))
    }

    /// Returns `count` registers from `first` on mutably; none for `RZ`, and fewer if the registers end earlier.
    #[inline]
    pub fn rows_mut(&mut self, first: Reg, count: u32) -> &mut [LaneValues] {
        let start = usize::from(first.number()).min(REGISTERS);
        let end = start.saturating_add(count as usize).min(REGISTERS);
        &mut self.registers[start..end]
    }

    /// Sets a register in all lanes, lane 0 first; `RZ` drops the values.
    pub fn set_register(&mut self, register: Reg, values: LaneValues) {
        if let Some(row) = self.register_mut(register) {
            *row = values;
        }
    }

    /// Returns the lanes in which a predicate is true; all of them for `PT`.
    #[inline]
    #[must_use]
    pub fn predicate(&self, predicate: Pred) -> LaneMask {
        self.predicates.get(usize::from(predicate.number())).copied().unwrap_or(LaneMask::ALL)
    }

    /// Sets a predicate in all lanes; `PT` drops the values.
    pub fn set_predicate(&mut self, predicate: Pred, lanes: LaneMask) {
        if let Some(held) = self.predicates.get_mut(usize::from(predicate.number())) {
            *held = lanes;
        }
    }

    /// Returns a uniform register's value; 0 for `URZ`.
    #[inline]
    #[must_use]
    pub fn uniform_register(&self, register: UniformReg) -> u32 {
        self.uniform.registers.get(usize::from(register.number())).copied().unwrap_or(0)
    }

    /// Sets a uniform register; `URZ` drops the value.
    pub fn set_uniform_register(&mut self, register: UniformReg, value: u32) {
        if let Some(held) = self.uniform.registers.get_mut(usize::from(register.number())) {
            *held = value;
        }
    }

    /// Returns the uniform predicate with the number of `predicate`; true for `UPT`.
    #[inline]
    #[must_use]
    pub fn uniform_predicate(&self, predicate: Pred) -> bool {
        self.uniform.predicates.get(usize::from(predicate.number())).copied().unwrap_or(true)
    }

    /// Sets a uniform predicate; `UPT` drops the value.
    pub fn set_uniform_predicate(&mut self, predicate: Pred, value: bool) {
        if let Some(held) = self.uniform.predicates.get_mut(usize::from(predicate.number())) {
            *held = value;
        }
    }

    /// Returns the uniform registers that differ from `before`, in ascending order.
    pub fn uniform_changed_since<'w>(
        &'w self,
        before: &'w Warp,
    ) -> impl Iterator<Item = UniformReg> + 'w {
        let registers = (0..=254).map(UniformReg::new);
        registers.filter(|reg| self.uniform_register(*reg) != before.uniform_register(*reg))
    }

    /// Returns the registers that differ from `before` in some lane, in ascending order.
    pub fn changed_since<'w>(&'w self, before: &'w Warp) -> impl Iterator<Item = Reg> + 'w {
        (0..=254).map(Reg::new).filter(|reg| self.register(*reg) != before.register(*reg))
    }
}

impl std::fmt::Debug for Warp {
    /// Leaves out the registers that are zero in all lanes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut warp = f.debug_struct("Warp");
        warp.field("active", &self.active).field("predicates", &self.predicates);
        for register in (0..=254).map(Reg::new) {
            if self.register(register) != &ZEROES {
                warp.field(&register.to_string(), self.register(register));
            }
        }
        for register in (0..=254).map(UniformReg::new) {
            if self.uniform_register(register) != 0 {
                warp.field(&register.to_string(), &self.uniform_register(register));
            }
        }
        warp.field("uniform_predicates", &self.uniform.predicates);
        warp.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rz_reads_zero_and_swallows_writes() {
        let mut warp = Warp::new();
        warp.set_register(Reg::RZ, [7; LANES]);
        assert_eq!(warp.register(Reg::RZ), &ZEROES);
        warp.set_register(Reg::new(254), [7; LANES]);
        assert_eq!(warp.register(Reg::new(254)), &[7; LANES]);
    }

    #[test]
    fn pt_is_always_true() {
        let mut warp = Warp::new();
        warp.set_predicate(Pred::PT, LaneMask::NONE);
        assert_eq!(warp.predicate(Pred::PT), LaneMask::ALL);
        assert_eq!(warp.predicate(Pred::P0), LaneMask::NONE);
    }
}
