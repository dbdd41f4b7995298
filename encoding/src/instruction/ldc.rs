//! The text of `LDC` (docs/load-family.md section 2).

use super::Syntax;
use crate::field::FieldValue;
use crate::layout::Ldc;
use crate::operand::{Address, ConstantMode, LimitedSize, MemorySpace, Offset, SignedImmediate};
use crate::table::WordLayout;
use crate::text::modifier::{CONSTANT_MODES, SIZES_UP_TO_64};
use crate::text::{Bare, Cursor, ParseError, Text};

impl Syntax for Ldc {
    /// `{.sz}{.mode}`
    #[inline]
    fn write_modifiers(&self, out: &mut Text) {
        if self.size != LimitedSize::default() {
            out.push(self.size.modifier());
        }
        out.push(self.mode.modifier());
    }

    fn parse_modifiers(cursor: &mut Cursor<'_>) -> Result<Self, ParseError> {
        let [size, mode] = cursor.modifiers(Self::NAME, &[SIZES_UP_TO_64, CONSTANT_MODES])?;
        Ok(Self {
            size: size.map_or_else(LimitedSize::default, LimitedSize::from_bits),
            mode: mode.map_or_else(ConstantMode::default, ConstantMode::from_bits),
            ..Self::default()
        })
    }

    /// `c[bank][address]`
    #[inline]
    fn write_operands(&self, out: &mut Text) {
        out.push_str("c[");
        out.push_hexadecimal(u32::from(self.bank.get()));
        out.push_byte(b']');
        out.push_address(self.address());
    }

    fn parse_operands(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
        self.bank = cursor.constant_bank()?;
        let (base, immediate) = cursor.address(Bare::Signed)?;
        (self.base, self.immediate) = (base, SignedImmediate(immediate));
        Ok(())
    }

    #[inline]
    fn space(&self) -> MemorySpace {
        MemorySpace::Constant { bank: self.bank, mode: self.mode }
    }

    #[inline]
    fn address(&self) -> Address {
        let offset = Offset::Signed(self.immediate.0.signed());
        Address::new(self.base, false, offset)
    }
}
