//! The text of `LDG` (docs/load-family.md section 2).

use super::Syntax;
use crate::field::FieldValue;
use crate::layout::Ldg;
use crate::operand::{Address, CacheOp, MemorySpace, Offset, Size};
use crate::table::WordLayout;
use crate::text::modifier::{CACHE_OPERATORS, EXTENDED, SIZES};
use crate::text::{Bare, Cursor, ParseError, Text};

impl Syntax for Ldg {
    /// `{.E}{.cop}{.sz}`
    #[inline]
    fn write_modifiers(&self, out: &mut Text) {
        if self.extended {
            out.push_str(".E");
        }
        if self.cache != CacheOp::default() {
            out.push(self.cache.modifier());
        }
        if self.size != Size::default() {
            out.push(self.size.modifier());
        }
    }

    fn parse_modifiers(cursor: &mut Cursor<'_>) -> Result<Self, ParseError> {
        let [extended, cache, size] =
            cursor.modifiers(Self::NAME, &[EXTENDED, CACHE_OPERATORS, SIZES])?;
        Ok(Self {
            size: size.map_or_else(Size::default, Size::from_bits),
            cache: cache.map_or_else(CacheOp::default, CacheOp::from_bits),
            extended: extended.is_some(),
            ..Self::default()
        })
    }

    fn parse_operands(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
        (self.base, self.immediate) = cursor.address(Bare::Unsigned)?;
        Ok(())
    }

    #[inline]
    fn space(&self) -> MemorySpace {
        MemorySpace::Global
    }

    #[inline]
    fn address(&self) -> Address {
        let offset = Offset::by_base(self.immediate);
        Address::new(self.base, self.extended, offset)
    }
}
