//! `LD`: how it is written and read (docs/ld.md section 2).

use super::{Guard, Syntax};
use crate::layout::Ld;
use crate::operand::{CacheOp, Offset, Pred, Size};
use crate::table::Layout;
use crate::text::modifier::{CACHE_OPERATORS, EXTENDED, SIZES};
use crate::text::{Cursor, ParseError, Text};

impl Ld {
    /// The immediate as the text reads it: with a base a signed offset, without one the
    /// address itself. Only `RZ` is "no base" here; what a shader's register limit makes of a
    /// high base register is decided when the load executes.
    pub fn offset(&self) -> Offset {
        if self.base.is_zero() {
            Offset::Absolute(self.immediate.unsigned())
        } else {
            Offset::Signed(self.immediate.signed())
        }
    }
}

impl Syntax for Ld {
    /// `{@[!]Pg }LD{.E}{.cop}{.sz} Rd, [address]{, Plg}`
    #[inline]
    fn write_text(&self, out: &mut Text) {
        out.push_guard(Guard { pred: self.guard, negated: self.guard_negated });
        out.push_str(Self::NAME);
        if self.extended {
            out.push_str(".E");
        }
        if self.cache != CacheOp::Ca {
            out.push_str(".");
            out.push_str(self.cache.name());
        }
        if self.size != Size::B32 {
            out.push_str(".");
            out.push_str(self.size.name());
        }
        out.push_str(" ");
        out.push_register(self.destination);
        out.push_str(", ");
        out.push_address(self.base, self.offset());
        if !self.plg.is_true() {
            out.push_str(", ");
            out.push_predicate(self.plg);
        }
    }

    fn parse(guard: Guard, cursor: &mut Cursor<'_>) -> Result<Self, ParseError> {
        let [extended, cache, size] = cursor.modifiers(&[EXTENDED, CACHE_OPERATORS, SIZES])?;
        let destination = cursor.register()?;
        cursor.comma()?;
        let (base, immediate) = cursor.address()?;
        let plg = if cursor.take_comma()? { cursor.predicate_operand()? } else { Pred::PT };
        // A value of a group is an index into its names, of which there are as many as in `ALL`.
        Ok(Self {
            plg,
            cache: cache.map_or(CacheOp::Ca, |i| CacheOp::ALL[i]),
            size: size.map_or(Size::B32, |i| Size::ALL[i]),
            extended: extended.is_some(),
            immediate,
            guard_negated: guard.negated,
            guard: guard.pred,
            base,
            destination,
        })
    }
}
