//! [`Text`]: the buffer of the canonical formatter, a bounded text on the stack.
//!
//! Registers, predicates and modifiers are [`Ready`] texts in tables, copied whole whatever their
//! length: copying a fixed number of bytes takes a store or two, copying a number known only at run
//! time takes a call.

use core::fmt;

use crate::impossible::OrImpossible;
use crate::operand::{Address, Guard, Offset, Pred, Reg};
use crate::ready::Ready;

/// Room for the longest text, `@!P0 LD.E.CG.U.128 R200, [R200+-0x80000000], P0`, with the widest ready
/// text after it.
const NARROW: usize = 80;

const LONG_ENOUGH: &str = "the buffer is longer than the longest text";

/// The canonical text of one instruction, without allocation. A word of 128 bits needs more room than
/// the default.
#[derive(Clone, Copy)]
pub struct Text<const CAPACITY: usize = NARROW> {
    bytes: [u8; CAPACITY],
    length: usize,
}

/// Appends `P0` to `P6` or `PT`.
const fn with_predicate(text: Ready<7>, number: u8) -> Ready<7> {
    if number == Pred::PT.number() { text.with("PT") } else { text.with("P").with_digit(number) }
}

/// Returns `R0` to `R254` and `RZ`, each between `before` and `after`.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
pub(crate) const fn registers(before: &str, after: &str) -> [Ready<7>; 256] {
    let mut registers = [Ready::EMPTY.with(before).with("R"); 256];
    let mut number = 0;
    while number < 255 {
        let mut text = registers[number];
        if number >= 100 {
            text = text.with_digit((number / 100) as u8);
        }
        if number >= 10 {
            text = text.with_digit((number / 10 % 10) as u8);
        }
        registers[number] = text.with_digit((number % 10) as u8).with(after);
        number += 1;
    }
    registers[255] = registers[255].with("Z").with(after);
    registers
}

/// ` R0, ` and so on.
const DESTINATIONS: [Ready<7>; 256] = registers(" ", ", ");

/// `[R0` and so on.
const BASES: [Ready<7>; 256] = registers("[", "");

/// `@P0 ` to `@!PT `, negated ones last; empty for `@PT`.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const GUARDS: [Ready<7>; 16] = {
    let mut guards = [Ready::EMPTY; 16];
    let mut i = 0;
    while i < 16 {
        if i != Pred::PT.number() as usize {
            let sign = Ready::EMPTY.with(if i < 8 { "@" } else { "@!" });
            guards[i] = with_predicate(sign, i as u8 & 7).with(" ");
        }
        i += 1;
    }
    guards
};

/// `, P0` to `, P6`; empty for `PT`.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const PREDICATE_OPERANDS: [Ready<7>; 8] = {
    let mut operands = [Ready::EMPTY; 8];
    let mut number = 0;
    while number < Pred::PT.number() {
        operands[number as usize] = with_predicate(Ready::EMPTY.with(", "), number);
        number += 1;
    }
    operands
};

impl<const CAPACITY: usize> Text<CAPACITY> {
    #[inline]
    pub(crate) fn new() -> Self {
        Self { bytes: [0; CAPACITY], length: 0 }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let text = core::str::from_utf8(self.as_bytes()).ok();
        text.or_impossible("", "only whole texts and ASCII digits are pushed")
    }

    /// Returns the bytes of the text, all ASCII.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).or_impossible(&[], LONG_ENOUGH)
    }

    /// Writes `bytes` after the text, of which the first `length` then belong to it.
    #[inline]
    fn append(&mut self, bytes: &[u8], length: usize) {
        let room = self.bytes.get_mut(self.length..self.length + bytes.len());
        debug_assert!(room.is_some(), "impossible, since {LONG_ENOUGH}");
        if let Some(room) = room {
            room.copy_from_slice(bytes);
            self.length += length;
        }
    }

    #[inline]
    pub(crate) fn push_str(&mut self, text: &str) {
        self.append(text.as_bytes(), text.len());
    }

    #[inline]
    pub(crate) fn push_byte(&mut self, byte: u8) {
        self.append(&[byte], 1);
    }

    #[inline]
    pub(crate) fn push<const ROOM: usize>(&mut self, ready: &Ready<ROOM>) {
        self.append(&ready.bytes, ready.length.into());
    }

    /// Pushes a text that often is empty, which costs less to find out than to copy.
    #[inline]
    pub(crate) fn push_unless_empty<const ROOM: usize>(&mut self, ready: &Ready<ROOM>) {
        if ready.length > 0 {
            self.push(ready);
        }
    }

    /// Pushes one of a table of texts.
    #[inline]
    pub(crate) fn push_nth(&mut self, table: &'static [Ready<7>], index: u8) {
        self.push(table.get(usize::from(index)).or_impossible(&Ready::EMPTY, "each has a text"));
    }

    /// Returns the text without its first byte.
    pub(crate) fn without_first(mut self) -> Self {
        self.bytes.copy_within(1.., 0);
        self.length = self.length.saturating_sub(1);
        self
    }

    /// Pushes a number of at most three digits.
    #[inline]
    pub(crate) fn push_decimal(&mut self, number: u8) {
        if number >= 100 {
            self.push_byte(b'0' + number / 100);
        }
        if number >= 10 {
            self.push_byte(b'0' + number / 10 % 10);
        }
        self.push_byte(b'0' + number % 10);
    }

    /// Pushes `@!P0 `; nothing for `@PT`.
    #[inline]
    pub(crate) fn push_guard(&mut self, guard: Guard) {
        self.push_nth(&GUARDS, u8::from(guard.negated) << 3 | guard.pred.number());
    }

    /// Pushes `, P0`; nothing for `PT`.
    #[inline]
    pub(crate) fn push_predicate_operand(&mut self, predicate: Pred) {
        self.push_nth(&PREDICATE_OPERANDS, predicate.number());
    }

    /// Pushes ` Rd, `.
    #[inline]
    pub(crate) fn push_destination(&mut self, register: Reg) {
        self.push_nth(&DESTINATIONS, register.number());
    }

    /// Pushes `[Ra`.
    #[inline]
    pub(crate) fn push_base(&mut self, register: Reg) {
        self.push_nth(&BASES, register.number());
    }

    /// Pushes `0x` and the digits in lower case, without leading zeros.
    #[inline]
    pub(crate) fn push_hexadecimal(&mut self, value: u32) {
        self.push_str("0x");
        let digits = (32 - (value | 1).leading_zeros()).div_ceil(4) as usize;
        // The first digit moves to the top; each digit gets a byte of its own.
        let aligned = u64::from(value << (32 - 4 * digits as u32));
        let halves = (aligned << 16 | aligned) & 0x0000_ffff_0000_ffff;
        let bytes = (halves << 8 | halves) & 0x00ff_00ff_00ff_00ff;
        let digit = (bytes << 4 | bytes) & 0x0f0f_0f0f_0f0f_0f0f;
        // 1 in every byte that is a letter.
        let letter = (digit + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
        let text = digit + 0x3030_3030_3030_3030 + letter * u64::from(b'a' - 10 - b'0');
        // Writes all eight; those after the last digit are overwritten or never read.
        self.append(&text.to_be_bytes(), digits);
    }

    /// Pushes `[R5]`, `[R5+0x14]`, `[R5+-0x4]`, `[0x1234]`, `[RZ]`; a signed offset without a base is
    /// `[0x4]`, `[-0x4]`, `[0x0]`.
    #[inline]
    pub(crate) fn push_address(&mut self, Address { base, offset, .. }: Address) {
        let number = match offset {
            Offset::ByBase { signed: 0, .. } => None,
            Offset::ByBase { unsigned, .. } if base.is_zero() => Some((false, unsigned)),
            Offset::Signed(0) if !base.is_zero() => None,
            Offset::ByBase { signed, .. } | Offset::Signed(signed) => {
                Some((signed < 0, signed.unsigned_abs()))
            }
        };
        match number {
            None => self.push_nth(&BASES, base.number()),
            Some(_) if base.is_zero() => self.push_byte(b'['),
            Some(_) => {
                self.push_nth(&BASES, base.number());
                self.push_byte(b'+');
            }
        }
        if let Some((negative, magnitude)) = number {
            if negative {
                self.push_byte(b'-');
            }
            self.push_hexadecimal(magnitude);
        }
        self.push_byte(b']');
    }
}

impl<const CAPACITY: usize> fmt::Display for Text<CAPACITY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<const CAPACITY: usize> fmt::Debug for Text<CAPACITY> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl<const CAPACITY: usize> core::ops::Deref for Text<CAPACITY> {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}
