//! Where a lowered load reads: a base register and a displacement.

use warpload_encoding::{Immediate, Reg};

use super::registers::Source;
use super::select::Selector;
use super::{Binding, OptimizationLevel};
use crate::ptx::meaning::{Base, Place};

/// Where an instruction reads: `[base+displacement]`.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub(super) base: Reg,
    pub(super) displacement: i64,
}

impl Selector<'_, '_> {
    /// The offset of a place in its space where it is known.
    pub(super) fn variable_offset(&self, place: Place) -> Option<i64> {
        match place.base {
            Base::Variable(id) => {
                i64::try_from(self.layout.offset(id)?).ok()?.checked_add(place.offset)
            }
            Base::Zero => None,
            Base::Register(_) | Base::Indexed(..) => None,
        }
    }

    /// A byte offset of 32 bits, or an absolute address that is an immediate.
    pub(super) fn narrow(&mut self, place: Place, bindings: &mut Vec<Binding>) -> Operand {
        let is_address = (0..=Immediate::<24>::MAX_UNSIGNED as i64).contains(&place.offset);
        if place.base == Base::Zero && is_address {
            return Operand { base: Reg::RZ, displacement: place.offset };
        }
        self.based(place, false, fits, bindings)
    }

    /// A base in a register, and the offset as a displacement where it fits one; else the base is
    /// the whole address.
    pub(super) fn based(
        &mut self,
        place: Place,
        is_wide: bool,
        fits: impl Fn(i64) -> bool,
        bindings: &mut Vec<Binding>,
    ) -> Operand {
        let words = if is_wide { 2 } else { 1 };
        let (of, displacement) = match place.base {
            // At level 0 the address is formed whole.
            Base::Register(_) | Base::Variable(_) | Base::Indexed(..)
                if fits(place.offset) && self.level > OptimizationLevel::O0 =>
            {
                (Place { offset: 0, ..place }, place.offset)
            }
            _ => (place, 0),
        };
        let base = match of {
            Place { base: Base::Register(register), offset: 0 } => {
                self.numbers.of(Source::Register(register), words)
            }
            _ => self.numbers.fresh(words),
        };
        let binding = Binding::Address { register: base, is_wide, place: of };
        // The pieces of one load share their base.
        if !bindings.contains(&binding) {
            bindings.push(binding);
        }
        Operand { base, displacement }
    }
}

/// Whether an offset is a displacement of `LD`, `LDG`, `LDL` and `LDS`. `LD` has 32 bits for it, of
/// which the assembler uses as many as the others have.
pub(super) fn fits(offset: i64) -> bool {
    Immediate::<24>::from_signed(offset).is_some()
}

pub(super) fn immediate(operand: Operand) -> Option<Immediate<24>> {
    if operand.base.is_zero() {
        Immediate::from_unsigned(u64::try_from(operand.displacement).ok()?)
    } else {
        Immediate::from_signed(operand.displacement)
    }
}
