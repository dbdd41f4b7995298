//! The text of `LD` (docs/ld.md section 2).

use super::Syntax;
use crate::field::FieldValue;
use crate::layout::Ld;
use crate::operand::{Address, CacheOp, MemorySpace, Offset, Size};
use crate::table::WordLayout;
use crate::text::modifier::{CACHE_OPERATORS, EXTENDED, SIZES};
use crate::text::{Bare, Cursor, ParseError, Text};

impl Syntax for Ld {
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
            cache: cache.map_or_else(CacheOp::default, CacheOp::from_bits),
            size: size.map_or_else(Size::default, Size::from_bits),
            extended: extended.is_some(),
            ..Self::default()
        })
    }

    /// `[address]{, Plg}`
    #[inline]
    fn write_operands(&self, out: &mut Text) {
        out.push_address(self.address());
        out.push_predicate_operand(self.plg);
    }

    fn parse_operands(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
        (self.base, self.immediate) = cursor.address(Bare::Unsigned)?;
        if cursor.eat(b',') {
            self.plg = cursor.predicate_operand()?;
        }
        Ok(())
    }

    #[inline]
    fn space(&self) -> MemorySpace {
        MemorySpace::Generic { plg: self.plg }
    }

    #[inline]
    fn address(&self) -> Address {
        let offset = Offset::by_base(self.immediate);
        Address::new(self.base, self.extended, offset)
    }
}
