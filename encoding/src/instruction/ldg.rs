//! `LDG`: how it is written and read (docs/load-family.md section 2).

use super::{Guard, Syntax};
use crate::field::Bits;
use crate::layout::Ldg;
use crate::operand::{Address, CacheOp, Immediate, MemorySpace, Offset, Reg, Size};
use crate::table::Layout;
use crate::text::modifier::{CACHE_OPERATORS, EXTENDED, SIZES};
use crate::text::{Bare, Cursor, ParseError, Text};

impl Syntax for Ldg {
    /// `{.E}{.cop}{.sz}`
    #[inline]
    fn write_modifiers(&self, out: &mut Text) {
        if self.extended {
            out.push_str(".E");
        }
        if self.cache != CacheOp::DEFAULT {
            out.push(self.cache.modifier());
        }
        if self.size != Size::DEFAULT {
            out.push(self.size.modifier());
        }
    }

    fn parse_modifiers(guard: Guard, cursor: &mut Cursor<'_>) -> Result<Self, ParseError> {
        let [extended, cache, size] =
            cursor.modifiers(Self::NAME, &[EXTENDED, CACHE_OPERATORS, SIZES])?;
        Ok(Self {
            size: size.map_or(Size::DEFAULT, |i| Size::ALL[i]),
            cache: cache.map_or(CacheOp::DEFAULT, |i| CacheOp::ALL[i]),
            extended: extended.is_some(),
            unread: Bits::ZERO,
            immediate: Immediate::ZERO,
            guard_negated: guard.negated,
            guard: guard.pred,
            base: Reg::RZ,
            destination: Reg::RZ,
        })
    }

    /// `[address]`
    #[inline]
    fn write_operands(&self, out: &mut Text) {
        out.push_address(self.address());
    }

    fn parse_operands(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
        (self.base, self.immediate) = cursor.address(Bare::Unsigned)?;
        Ok(())
    }

    fn space(&self) -> MemorySpace {
        MemorySpace::Global
    }

    #[inline]
    fn address(&self) -> Address {
        let offset = Offset::by_base(self.immediate);
        Address { base: self.base, extended: self.extended, offset }
    }

    fn is_uniform(&self) -> bool {
        self.size.is_uniform()
    }
}
