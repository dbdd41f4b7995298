//! `LDL`: how it is written and read (docs/load-family.md section 2).

use super::{Guard, Syntax};
use crate::field::Bits;
use crate::layout::Ldl;
use crate::operand::{Address, Immediate, LimitedSize, LocalCacheOp, MemorySpace, Offset, Reg};
use crate::table::Layout;
use crate::text::modifier::{LOCAL_CACHE_OPERATORS, SIZES_UP_TO_128};
use crate::text::{Bare, Cursor, ParseError, Text};

impl Syntax for Ldl {
    /// `{.cop}{.sz}`
    #[inline]
    fn write_modifiers(&self, out: &mut Text) {
        if self.cache != LocalCacheOp::DEFAULT {
            out.push(self.cache.modifier());
        }
        if self.size != LimitedSize::DEFAULT {
            out.push(self.size.modifier());
        }
    }

    fn parse_modifiers(guard: Guard, cursor: &mut Cursor<'_>) -> Result<Self, ParseError> {
        let [cache, size] =
            cursor.modifiers(Self::NAME, &[LOCAL_CACHE_OPERATORS, SIZES_UP_TO_128])?;
        Ok(Self {
            size: size.map_or(LimitedSize::DEFAULT, LimitedSize::nth),
            unread: Bits::ZERO,
            cache: cache.map_or(LocalCacheOp::DEFAULT, |i| LocalCacheOp::ALL[i]),
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
        MemorySpace::Local
    }

    #[inline]
    fn address(&self) -> Address {
        let offset = Offset::by_base(self.immediate);
        Address { base: self.base, extended: false, offset }
    }

    fn is_uniform(&self) -> bool {
        false
    }
}
