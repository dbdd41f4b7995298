//! The text of `LDL` (docs/load-family.md section 2).

use super::Syntax;
use crate::field::FieldValue;
use crate::layout::Ldl;
use crate::operand::{Address, LimitedSize, LocalCacheOp, MemorySpace, Offset};
use crate::table::WordLayout;
use crate::text::modifier::{LOCAL_CACHE_OPERATORS, SIZES_UP_TO_128};
use crate::text::{Bare, Cursor, ParseError, Text};

impl Syntax for Ldl {
    /// `{.cop}{.sz}`
    #[inline]
    fn write_modifiers(&self, out: &mut Text) {
        if self.cache != LocalCacheOp::default() {
            out.push(self.cache.modifier());
        }
        if self.size != LimitedSize::default() {
            out.push(self.size.modifier());
        }
    }

    fn parse_modifiers(cursor: &mut Cursor<'_>) -> Result<Self, ParseError> {
        let [cache, size] =
            cursor.modifiers(Self::NAME, &[LOCAL_CACHE_OPERATORS, SIZES_UP_TO_128])?;
        Ok(Self {
            size: size.map_or_else(LimitedSize::default, LimitedSize::from_bits),
            cache: cache.map_or_else(LocalCacheOp::default, LocalCacheOp::from_bits),
            ..Self::default()
        })
    }

    fn parse_operands(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
        (self.base, self.immediate) = cursor.address(Bare::Unsigned)?;
        Ok(())
    }

    #[inline]
    fn space(&self) -> MemorySpace {
        MemorySpace::Local
    }

    #[inline]
    fn address(&self) -> Address {
        let offset = Offset::by_base(self.immediate);
        Address::new(self.base, false, offset)
    }
}
