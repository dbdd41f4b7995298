//! The text of `LDS` (docs/load-family.md section 2).

use super::Syntax;
use crate::field::FieldValue;
use crate::layout::Lds;
use crate::operand::{Address, LimitedSize, MemorySpace, Offset};
use crate::table::WordLayout;
use crate::text::modifier::{SIZES_UP_TO_128, UNIFORM};
use crate::text::{Bare, Cursor, ParseError, Text};

impl Syntax for Lds {
    /// `{.U}{.sz}`; after `.U` the default size is printed too.
    #[inline]
    fn write_modifiers(&self, out: &mut Text) {
        if self.uniform {
            out.push_str(".U");
        }
        if self.uniform || self.size != LimitedSize::default() {
            out.push(self.size.modifier());
        }
    }

    fn parse_modifiers(cursor: &mut Cursor<'_>) -> Result<Self, ParseError> {
        let [uniform, size] = cursor.modifiers(Self::NAME, &[UNIFORM, SIZES_UP_TO_128])?;
        Ok(Self {
            size: size.map_or_else(LimitedSize::default, LimitedSize::from_bits),
            uniform: uniform.is_some(),
            ..Self::default()
        })
    }

    fn parse_operands(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
        (self.base, self.immediate) = cursor.address(Bare::Unsigned)?;
        Ok(())
    }

    #[inline]
    fn space(&self) -> MemorySpace {
        MemorySpace::Shared
    }

    #[inline]
    fn address(&self) -> Address {
        let offset = Offset::by_base(self.immediate);
        Address::new(self.base, false, offset)
    }
}
