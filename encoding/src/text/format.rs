//! [`Text`]: a bounded text on the stack, the buffer of the canonical formatter.
//!
//! Registers, predicates and modifiers are [`Ready`] texts in tables, copied whole whatever their length, because a
//! copy of a fixed number of bytes takes a store or two, and a copy of a number known only at run time takes a call.

use core::fmt;

use crate::ready::Ready;

/// Room for the longest text, an `LDGSTS` with all its modifiers, with the widest ready text after it.
const CAPACITY: usize = 152;

/// The canonical text of one instruction, without allocation.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl Text {
    /// Creates an empty text, to be written with [`Instruction::write_text`](crate::Instruction::write_text).
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: [0; CAPACITY], length: 0 }
    }

    /// Creates a text; `write` returns its length.
    #[inline(always)]
    pub(crate) fn of(write: impl FnOnce(Out<'_>) -> usize) -> Self {
        let mut text = Self::new();
        text.write(write);
        text
    }

    /// Replaces the text; `write` returns the new length.
    #[inline(always)]
    pub(crate) fn write(&mut self, write: impl FnOnce(Out<'_>) -> usize) {
        self.length = write(Out { bytes: &mut self.bytes, length: 0 });
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Always UTF-8, because only whole texts and ASCII digits are pushed.
        core::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }

    /// Returns the bytes of the text, all ASCII.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    pub(crate) fn without_first(mut self) -> Self {
        self.bytes.copy_within(1.., 0);
        self.length = self.length.saturating_sub(1);
        self
    }
}

/// The end of a text that is being written. Separate from [`Text`], so that the length stays in a register instead of
/// memory, where each text would wait for the one before.
pub(crate) struct Out<'t> {
    bytes: &'t mut [u8; CAPACITY],
    pub(crate) length: usize,
}

impl Out<'_> {
    /// Reborrows for a function that is not inlined and returns the new length.
    #[inline(always)]
    pub(crate) fn again(&mut self) -> Out<'_> {
        Out { bytes: self.bytes, length: self.length }
    }

    /// Copies all of `bytes`, although only the first `length` belong to the text: a copy of fixed size is faster.
    #[inline(always)]
    fn append(&mut self, bytes: &[u8], length: usize) {
        let room = self.bytes.get_mut(self.length..self.length + bytes.len());
        debug_assert!(room.is_some(), "the longest text fits");
        if let Some(room) = room {
            room.copy_from_slice(bytes);
            self.length += length;
        }
    }

    #[inline(always)]
    pub(crate) fn push_str(&mut self, text: &str) {
        self.append(text.as_bytes(), text.len());
    }

    #[inline(always)]
    pub(crate) fn push_byte(&mut self, byte: u8) {
        self.append(&[byte], 1);
    }

    #[inline(always)]
    pub(crate) fn push<const ROOM: usize>(&mut self, ready: &Ready<ROOM>) {
        self.append(&ready.bytes, ready.len());
    }

    #[inline(always)]
    pub(crate) fn push_nth<const ROOM: usize>(&mut self, texts: &[Ready<ROOM>], n: usize) {
        if let Some(text) = texts.get(n) {
            self.push(text);
        }
    }

    pub(crate) fn push_decimal(&mut self, number: u8) {
        if number >= 100 {
            self.push_byte(b'0' + number / 100);
        }
        if number >= 10 {
            self.push_byte(b'0' + number / 10 % 10);
        }
        self.push_byte(b'0' + number % 10);
    }

    /// In lower case, without leading zeros.
    #[inline(always)]
    pub(crate) fn push_hexadecimal(&mut self, value: u32) {
        self.push_str("0x");
        self.push_digits(value);
    }

    #[inline(always)]
    pub(crate) fn push_digits(&mut self, value: u32) {
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
}

impl Default for Text {
    fn default() -> Self {
        Self::new()
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
