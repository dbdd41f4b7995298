//! The canonical formatter's buffer: a text of bounded length on the stack.
//!
//! Everything short (registers, predicates, modifiers) comes out of tables of ready texts, which are
//! copied whole, whatever their length: a copy of a fixed number of bytes is a store or two, one of
//! a length that is known at run time is a call.

use core::fmt;

use crate::impossible::OrImpossible;
use crate::instruction::Guard;
use crate::operand::{Address, Offset, Pred, Reg};

/// Longer than the longest text there is, `@!P0 LD.E.CG.U.128 R200, [R200+-0x80000000], P0`, and the
/// widest of the ready texts behind it.
const CAPACITY: usize = 80;

/// The canonical text of one instruction, without allocation.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; CAPACITY],
    length: usize,
}

/// A ready text of at most `ROOM` bytes.
#[derive(Clone, Copy)]
pub(crate) struct Ready<const ROOM: usize> {
    bytes: [u8; ROOM],
    length: u8,
}

impl<const ROOM: usize> Ready<ROOM> {
    const EMPTY: Self = Self { bytes: [0; ROOM], length: 0 };

    /// Only evaluated in constants, so that a text that is too long does not compile.
    const fn with(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() {
            self.bytes[self.length as usize] = text[i];
            self.length += 1;
            i += 1;
        }
        self
    }

    const fn with_digit(self, digit: u8) -> Self {
        let digits = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        self.with(digits[digit as usize])
    }

    const fn with_predicate(self, number: u8) -> Self {
        if number == Pred::PT.number() {
            self.with("PT")
        } else {
            self.with("P").with_digit(number)
        }
    }
}

/// A modifier with its dot.
pub(crate) type Modifier = Ready<15>;

impl Modifier {
    /// `.` and the name; nothing for an empty one.
    pub(crate) const fn of(name: &str) -> Self {
        if name.is_empty() { Self::EMPTY } else { Self::EMPTY.with(".").with(name) }
    }
}

/// `R0` to `R254` and `RZ`.
const REGISTERS: [Ready<7>; 256] = {
    let mut registers = [Ready::EMPTY; 256];
    let mut number = 0;
    while number < 255 {
        let mut text = Ready::EMPTY.with("R");
        if number >= 100 {
            text = text.with_digit((number / 100) as u8);
        }
        if number >= 10 {
            text = text.with_digit((number / 10 % 10) as u8);
        }
        registers[number] = text.with_digit((number % 10) as u8);
        number += 1;
    }
    registers[255] = Ready::EMPTY.with("RZ");
    registers
};

/// `@P0 ` to `@!PT `, negated ones last; nothing for `@PT`.
const GUARDS: [Ready<7>; 16] = {
    let mut guards = [Ready::EMPTY; 16];
    let mut i = 0;
    while i < 16 {
        if i != Pred::PT.number() as usize {
            let sign = Ready::EMPTY.with(if i < 8 { "@" } else { "@!" });
            guards[i] = sign.with_predicate(i as u8 & 7).with(" ");
        }
        i += 1;
    }
    guards
};

/// `, P0` to `, P6`; nothing for PT.
const PREDICATE_OPERANDS: [Ready<7>; 8] = {
    let mut operands = [Ready::EMPTY; 8];
    let mut number = 0;
    while number < Pred::PT.number() {
        operands[number as usize] = Ready::EMPTY.with(", ").with_predicate(number);
        number += 1;
    }
    operands
};

impl Text {
    pub(crate) fn new() -> Self {
        Self { bytes: [0; CAPACITY], length: 0 }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        let text = core::str::from_utf8(self.as_bytes()).ok();
        text.or_impossible("", "only whole texts and ASCII digits are pushed")
    }

    /// The text's bytes, all ASCII.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    #[inline]
    pub(crate) fn push_str(&mut self, text: &str) {
        let end = self.length + text.len();
        self.bytes[self.length..end].copy_from_slice(text.as_bytes());
        self.length = end;
    }

    #[inline]
    pub(crate) fn push_byte(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    #[inline]
    pub(crate) fn push<const ROOM: usize>(&mut self, ready: &Ready<ROOM>) {
        self.bytes[self.length..self.length + ROOM].copy_from_slice(&ready.bytes);
        self.length += usize::from(ready.length);
    }

    /// `@!P0 `; nothing for `@PT`.
    #[inline]
    pub(crate) fn push_guard(&mut self, guard: Guard) {
        self.push(&GUARDS[usize::from(guard.negated) << 3 | usize::from(guard.pred.number())]);
    }

    /// `, P0`; nothing for PT.
    #[inline]
    pub(crate) fn push_predicate_operand(&mut self, predicate: Pred) {
        self.push(&PREDICATE_OPERANDS[usize::from(predicate.number())]);
    }

    #[inline]
    fn push_register(&mut self, register: Reg) {
        self.push(&REGISTERS[usize::from(register.number())]);
    }

    /// ` Rd, `
    #[inline]
    pub(crate) fn push_destination(&mut self, register: Reg) {
        self.push_byte(b' ');
        self.push_register(register);
        self.push_str(", ");
    }

    /// Lower case, no leading zeroes, with `0x`.
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
        // All eight are written; the ones behind the last digit are overwritten or never read.
        self.bytes[self.length..self.length + 8].copy_from_slice(&text.to_be_bytes());
        self.length += digits;
    }

    /// `[R5]`, `[R5+0x14]`, `[R5+-0x4]`, `[0x1234]`, `[RZ]`; a signed offset without a base is
    /// `[0x4]`, `[-0x4]`, `[0x0]`.
    #[inline]
    pub(crate) fn push_address(&mut self, Address { base, offset, .. }: Address) {
        self.push_byte(b'[');
        match offset {
            Offset::ByBase { signed: 0, .. } => self.push_register(base),
            Offset::ByBase { unsigned, .. } if base.is_zero() => self.push_hexadecimal(unsigned),
            Offset::Signed(0) if !base.is_zero() => self.push_register(base),
            Offset::ByBase { signed, .. } | Offset::Signed(signed) => {
                if !base.is_zero() {
                    self.push_register(base);
                    self.push_byte(b'+');
                }
                if signed < 0 {
                    self.push_byte(b'-');
                }
                self.push_hexadecimal(signed.unsigned_abs());
            }
        }
        self.push_byte(b']');
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl core::ops::Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}
