//! The canonical formatter's buffer: a text of bounded length on the stack.

use core::fmt;

use crate::instruction::Guard;
use crate::operand::{Address, Offset, Pred, Reg};

/// Longer than the longest text there is, `@!P0 LD.E.CG.U.128 R200, [R200+-0x80000000], P0`.
const CAPACITY: usize = 64;

/// The canonical text of one instruction, without allocation.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl Text {
    pub(crate) fn new() -> Self {
        Self { bytes: [0; CAPACITY], length: 0 }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        // Never empty-handed: only whole `&str`s and ASCII digits are pushed.
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
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
    pub(crate) fn push_guard(&mut self, guard: Guard) {
        if guard == Guard::ALWAYS {
            return;
        }
        self.push_byte(b'@');
        if guard.negated {
            self.push_byte(b'!');
        }
        self.push_predicate(guard.pred);
        self.push_byte(b' ');
    }

    /// `.` and the name; nothing for an empty one.
    #[inline]
    pub(crate) fn push_modifier(&mut self, name: &str) {
        if !name.is_empty() {
            self.push_byte(b'.');
            self.push_str(name);
        }
    }

    #[inline]
    pub(crate) fn push_predicate(&mut self, predicate: Pred) {
        self.push_byte(b'P');
        self.push_byte(if predicate.is_true() { b'T' } else { b'0' + predicate.number() });
    }

    #[inline]
    pub(crate) fn push_register(&mut self, register: Reg) {
        self.push_byte(b'R');
        if register.is_zero() {
            self.push_byte(b'Z');
            return;
        }
        let number = register.number();
        if number >= 100 {
            self.push_byte(b'0' + number / 100);
        }
        if number >= 10 {
            self.push_byte(b'0' + number / 10 % 10);
        }
        self.push_byte(b'0' + number % 10);
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
        let aligned = value << (32 - 4 * digits as u32);
        let mut text = [0u8; 8];
        for (i, byte) in text.iter_mut().enumerate() {
            *byte = b"0123456789abcdef"[(aligned >> (28 - 4 * i) & 15) as usize];
        }
        // All eight are written, the ones behind the last digit are overwritten or never read.
        self.bytes[self.length..self.length + 8].copy_from_slice(&text);
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
