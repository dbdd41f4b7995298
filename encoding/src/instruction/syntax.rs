//! The text of each instruction: its modifiers and its operands, written and read (docs/ld.md section 2 for `LD`,
//! docs/load-family.md section 2 for the others).

use super::Syntax;
use crate::field::FieldValue;
use crate::layout::{Ld, Ldc, Ldg, Ldl, Lds};
use crate::operand::{
    Address, CacheOp, ConstantMode, LimitedSize, LocalCacheOp, MemorySpace, Offset,
    SignedImmediate, Size,
};
use crate::table::WordLayout;
use crate::text::modifier::{
    CACHE_OPERATORS, CONSTANT_MODES, EXTENDED, LOCAL_CACHE_OPERATORS, SIZES, SIZES_UP_TO_64,
    SIZES_UP_TO_128, UNIFORM,
};
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
