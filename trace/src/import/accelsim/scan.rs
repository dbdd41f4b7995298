//! [`Scan`]: takes the fields of an instruction's line one by one.
//!
//! `line.rs` defines the fields once, for two readers. [`Fields`] is fast but takes usual lines only: it finds the ends
//! of all fields of a piece first, then parses numbers eight digits at a time. Any invalid or rare line is [`Unusual`]
//! and is read again by [`Tokens`], which reports errors with their place and the expected field.

use super::eight::Eight;
use super::line::LineReader;
use crate::import::error::ImportError;
use warpload::simd::level;
use warpload::text::{parse_decimal, parse_hexadecimal};

/// A line, from which fields are taken from left to right.
pub(super) trait Scan<'t> {
    /// The error for an unexpected field.
    type Error;

    /// Checks that `count` fields come before the program counter.
    fn check_front(&mut self, count: usize) -> Result<(), Self::Error>;

    /// Takes a decimal number of at most 32 bits, a field before the program counter.
    fn front(&mut self, expected: &'static str) -> Result<u32, Self::Error>;

    /// Takes the program counter and the lane mask.
    fn pc_and_mask(&mut self) -> Result<(u32, u32), Self::Error>;

    /// Takes a decimal number.
    fn decimal(&mut self, expected: &'static str) -> Result<u64, Self::Error>;

    /// Takes a decimal number, which may be negative.
    fn signed(&mut self, expected: &'static str) -> Result<i64, Self::Error>;

    /// Takes a hexadecimal number, with or without `0x`.
    fn hexadecimal(&mut self, expected: &'static str) -> Result<u64, Self::Error>;

    /// Takes an address: a hexadecimal number with `0x`, or one of 16 digits.
    fn address(&mut self, expected: &'static str) -> Result<u64, Self::Error>;

    /// Takes a register: `R7`; for Hopper also `UR7`, `P0` and `UP0`.
    fn register(&mut self, is_hopper: bool) -> Result<(), Self::Error>;

    /// Takes an opcode, which begins with a capital letter. Also returns its offset in the line.
    fn opcode(&mut self) -> Result<(&'t [u8], usize), Self::Error>;

    /// Takes `Val` or `NoVal`; returns whether it is `Val`.
    fn has_values(&mut self) -> Result<bool, Self::Error>;

    /// The first byte of the next field; `None` at the line's end.
    fn first(&self) -> Option<u8>;

    /// Takes the line's end.
    fn end(&mut self, expected: &'static str) -> Result<(), Self::Error>;

    /// The error for the last field, with this message.
    fn refuse(&self, message: impl FnOnce() -> String) -> Self::Error;
}

#[inline(always)]
fn is_register(field: &[u8], is_hopper: bool) -> bool {
    let (digits, most) = match field {
        [b'R', digits @ ..] => (digits, 255),
        _ if !is_hopper => return false,
        [b'U', b'R', digits @ ..] => (digits, 255),
        [b'P', digits @ ..] | [b'U', b'P', digits @ ..] => (digits, 7),
        _ => return false,
    };
    let digit = |byte: u8| u32::from(byte.wrapping_sub(b'0'));
    let number = match *digits {
        [low] => [0, 0, digit(low)],
        [high, low] => [0, digit(high), digit(low)],
        [highest, high, low] => [digit(highest), digit(high), digit(low)],
        _ => return false,
    };
    let [hundreds, tens, ones] = number;
    number.iter().all(|digit| *digit < 10) && hundreds * 100 + tens * 10 + ones <= most
}

/// The offsets in `text` of all bytes up to the space, ascending. `room` is a reused buffer.
pub(super) fn find_ends<'r>(text: &[u8], room: &'r mut Vec<u32>) -> &'r [u32] {
    // Offsets are written eight at a time, even if fewer follow.
    let ends = room;
    ends.resize(ends.len().max(text.len() + 8), 0);
    let mut count = 0;
    let (words, rest) = text.as_chunks();
    let mut bits = [0; 64];
    let mut at = 0;
    for words in words.chunks(bits.len()) {
        bytes_up_to(words, b' ', &mut bits);
        for mut bits in bits.into_iter().take(words.len()) {
            let found = bits.count_ones() as usize;
            let mut place = count;
            while bits != 0 {
                if let Some(room) = ends.get_mut(place..place + 8) {
                    for end in room {
                        *end = at + bits.trailing_zeros();
                        bits &= bits.wrapping_sub(1);
                    }
                }
                place += 8;
            }
            count += found;
            at += 64;
        }
    }
    for byte in rest {
        if *byte <= b' ' {
            ends[count] = at;
            count += 1;
        }
        at += 1;
    }
    &ends[..count]
}

/// The fields of a line, separated by single spaces.
pub(super) struct Fields<'t> {
    /// The text, with at least eight bytes after its last line.
    pub(super) text: &'t [u8],
    pub(super) ends: &'t [u32],
    /// The index in `ends` of the next field's end.
    pub(super) next: usize,
    /// The offset of the next field.
    pub(super) at: usize,
    /// The byte after the last field; initially a space.
    separator: u8,
    /// The offset of the line.
    line: usize,
}

impl<'t> Fields<'t> {
    /// The fields of the line at `at`. Its first field ends at `ends[next]`.
    #[inline(always)]
    pub(super) fn of_line(text: &'t [u8], ends: &'t [u32], next: usize, at: usize) -> Self {
        Self { text, ends, next, at, separator: b' ', line: at }
    }
}

/// An unusual line or field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unusual;

/// The maximum number of digits in the program counter and in the fields before it, in a usual line. None of these can
/// then be mistaken for the lane mask, which has eight.
const SHORT: usize = 7;

impl Fields<'_> {
    /// Takes the next field and returns its range.
    #[inline(always)]
    fn take(&mut self) -> Result<(usize, usize), Unusual> {
        let end = *self.ends.get(self.next).ok_or(Unusual)? as usize;
        let start = self.at;
        if self.separator != b' ' {
            return Err(Unusual);
        }
        self.separator = *self.text.get(end).ok_or(Unusual)?;
        self.next += 1;
        self.at = end + 1;
        Ok((start, end))
    }
}

impl<'t> Scan<'t> for Fields<'t> {
    type Error = Unusual;

    #[inline(always)]
    fn check_front(&mut self, _: usize) -> Result<(), Unusual> {
        Ok(())
    }

    #[inline(always)]
    fn front(&mut self, _: &'static str) -> Result<u32, Unusual> {
        let (start, end) = self.take()?;
        let value = if end - start > SHORT { None } else { decimal(self.text, start, end) };
        Ok(value.ok_or(Unusual)? as u32)
    }

    #[inline(always)]
    fn pc_and_mask(&mut self) -> Result<(u32, u32), Unusual> {
        let (start, end) = self.take()?;
        if !(4..=SHORT).contains(&(end - start)) {
            return Err(Unusual);
        }
        let pc = hexadecimal(self.text, start, end).ok_or(Unusual)?;
        let (start, end) = self.take()?;
        if end - start != 8 {
            return Err(Unusual);
        }
        let mask = hexadecimal(self.text, start, end).ok_or(Unusual)?;
        Ok((pc as u32, mask as u32))
    }

    /// Fast for one digit, because most numbers have only one.
    #[inline(always)]
    fn decimal(&mut self, _: &'static str) -> Result<u64, Unusual> {
        let (start, end) = self.take()?;
        if end - start == 1 {
            let digit = self.text[start].wrapping_sub(b'0');
            return if digit < 10 { Ok(u64::from(digit)) } else { Err(Unusual) };
        }
        decimal(self.text, start, end).ok_or(Unusual)
    }

    #[inline(always)]
    fn signed(&mut self, _: &'static str) -> Result<i64, Unusual> {
        let (start, end) = self.take()?;
        let is_negative = *self.text.get(start).ok_or(Unusual)? == b'-';
        // Fits, with at most 16 digits.
        let value =
            decimal(self.text, start + usize::from(is_negative), end).ok_or(Unusual)? as i64;
        Ok(if is_negative { -value } else { value })
    }

    #[inline(always)]
    fn hexadecimal(&mut self, _: &'static str) -> Result<u64, Unusual> {
        let (start, end) = self.take()?;
        let has_prefix = self.text.get(start..start + 2).ok_or(Unusual)? == b"0x";
        let start = if has_prefix { start + 2 } else { start };
        hexadecimal(self.text, start, end).ok_or(Unusual)
    }

    #[inline(always)]
    fn address(&mut self, _: &'static str) -> Result<u64, Unusual> {
        let (start, end) = self.take()?;
        if self.text.get(start..start + 2).ok_or(Unusual)? == b"0x" {
            return hexadecimal(self.text, start + 2, end).ok_or(Unusual);
        }
        let digits = if end - start == 16 { hexadecimal(self.text, start, end) } else { None };
        digits.ok_or(Unusual)
    }

    #[inline(always)]
    fn register(&mut self, is_hopper: bool) -> Result<(), Unusual> {
        let (start, end) = self.take()?;
        let field = self.text.get(start..end).ok_or(Unusual)?;
        if is_register(field, is_hopper) { Ok(()) } else { Err(Unusual) }
    }

    #[inline(always)]
    fn opcode(&mut self) -> Result<(&'t [u8], usize), Unusual> {
        let (start, end) = self.take()?;
        let opcode = self.text.get(start..end).ok_or(Unusual)?;
        let is_name = opcode.first().is_some_and(u8::is_ascii_uppercase);
        if is_name { Ok((opcode, start - self.line)) } else { Err(Unusual) }
    }

    #[inline(always)]
    fn has_values(&mut self) -> Result<bool, Unusual> {
        let (start, end) = self.take()?;
        match &self.text[start..end] {
            b"NoVal" => Ok(false),
            b"Val" => Ok(true),
            _ => Err(Unusual),
        }
    }

    #[inline(always)]
    fn first(&self) -> Option<u8> {
        let byte = self.text.get(self.at).filter(|_| self.separator == b' ');
        byte.copied().filter(|byte| *byte != b'\n')
    }

    /// Accepts one space before the end.
    #[inline(always)]
    fn end(&mut self, _: &'static str) -> Result<(), Unusual> {
        if self.separator == b' ' && self.ends.get(self.next) == Some(&(self.at as u32)) {
            self.take()?;
        }
        if self.separator == b'\n' { Ok(()) } else { Err(Unusual) }
    }

    #[inline(always)]
    fn refuse(&self, _: impl FnOnce() -> String) -> Unusual {
        Unusual
    }
}

/// Parses up to 16 decimal digits.
#[inline(always)]
fn decimal(text: &[u8], start: usize, end: usize) -> Option<u64> {
    match end.checked_sub(start)? {
        length @ 1..=8 => Some(u64::from(eight(text, start)?.decimal(length)?)),
        length @ 9..=16 => {
            let high = u64::from(eight(text, start)?.decimal(length - 8)?);
            Some(high * 100_000_000 + u64::from(eight(text, end - 8)?.decimal(8)?))
        }
        _ => None,
    }
}

/// Parses up to 16 hexadecimal digits.
#[inline(always)]
fn hexadecimal(text: &[u8], start: usize, end: usize) -> Option<u64> {
    match end.checked_sub(start)? {
        length @ 1..=8 => Some(u64::from(eight(text, start)?.hexadecimal(length)?)),
        length @ 9..=16 => {
            let high = u64::from(eight(text, start)?.hexadecimal(length - 8)?);
            Some(high << 32 | u64::from(eight(text, end - 8)?.hexadecimal(8)?))
        }
        _ => None,
    }
}

#[inline(always)]
fn eight(text: &[u8], start: usize) -> Option<Eight> {
    Some(Eight::new(*text.get(start..)?.first_chunk()?))
}

/// Sets a bit for each byte of `text` that is at most `most`, one word for 64 bytes. `most` must be below 128.
fn bytes_up_to(text: &[[u8; 64]], most: u8, bits: &mut [u64]) {
    fearless_simd::dispatch!(level(), simd => bytes_up_to_in(simd, text, most, bits));
}

#[inline(always)]
fn bytes_up_to_in<S: fearless_simd::Simd>(simd: S, text: &[[u8; 64]], most: u8, bits: &mut [u64]) {
    use fearless_simd::{SimdBase, SimdMask, u8x64};
    let most = u8x64::splat(simd, most);
    for (bytes, bits) in text.iter().zip(bits) {
        *bits = u8x64::from_slice(simd, bytes).simd_le(most).to_bitmask();
    }
}

#[cfg(test)]
fn bytes_up_to_portably(text: &[[u8; 64]], most: u8, bits: &mut [u64]) {
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    let add = u64::from_ne_bytes([0x7f - most; 8]);
    for (bytes, bits) in text.iter().zip(bits) {
        *bits = 0;
        for (i, word) in bytes.as_chunks().0.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            // The high bit of each byte above `most`.
            let above = ((word & LOW) + add) | word;
            // The multiplication gathers these bits in the highest byte.
            let gathered = ((!above & !LOW) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            *bits |= gathered << (8 * i);
        }
    }
}

/// The fields of a line, separated by spaces or tabs.
#[derive(Clone)]
pub(super) struct Tokens<'t, 'r> {
    reader: &'r LineReader<'r>,
    text: &'t [u8],
    /// The field taken last, and the offset of its end.
    last: &'t [u8],
    at: usize,
}

impl<'t, 'r> Tokens<'t, 'r> {
    pub(super) fn new(reader: &'r LineReader<'r>, text: &'t [u8]) -> Self {
        Self { reader, text, last: b"", at: 0 }
    }

    /// The number of fields before the program counter. The mask is the first field of exactly eight hexadecimal digits
    /// after one of at least four; `None` without a mask.
    pub(super) fn count_front(mut self) -> Option<usize> {
        let is_hexadecimal = |field: &[u8]| field.iter().all(u8::is_ascii_hexdigit);
        let mut before = self.next()?;
        for count in 0.. {
            let field = self.next()?;
            let have_lengths = before.len() >= 4 && field.len() == 8;
            if have_lengths && is_hexadecimal(before) && is_hexadecimal(field) {
                return Some(count);
            }
            before = field;
        }
        None
    }

    fn next(&mut self) -> Option<&'t [u8]> {
        let is_space = |byte: &u8| *byte == b' ' || *byte == b'\t';
        let rest = self.text.get(self.at..)?;
        let start = self.at + rest.iter().position(|byte| !is_space(byte))?;
        let rest = &self.text[start..];
        let length = rest.iter().position(is_space).unwrap_or(rest.len());
        self.at = start + length;
        self.last = &self.text[start..self.at];
        Some(self.last)
    }

    fn field(&mut self, expected: &str) -> Result<&'t [u8], ImportError> {
        let next = self.next();
        next.ok_or_else(|| self.reader.error(self.at, format!("expected {expected}")))
    }

    #[cold]
    fn wrong(&self, expected: &str) -> ImportError {
        let shown = String::from_utf8_lossy(&self.last[..self.last.len().min(40)]);
        self.refuse(|| format!("{shown:?}; expected {expected}"))
    }

    /// Takes a field and parses it with `read`.
    fn read<Value>(
        &mut self,
        expected: &str,
        read: impl FnOnce(&'t [u8]) -> Option<Value>,
    ) -> Result<Value, ImportError> {
        let field = self.field(expected)?;
        read(field).ok_or_else(|| self.wrong(expected))
    }
}

impl<'t> Scan<'t> for Tokens<'t, '_> {
    type Error = ImportError;

    fn check_front(&mut self, count: usize) -> Result<(), ImportError> {
        match self.clone().count_front() {
            Some(found) if found != count => {
                let message = format!("{found} fields before the PC; expected {count}");
                Err(self.reader.error(0, message))
            }
            // A line without a mask fails at a later field, with a better message.
            _ => Ok(()),
        }
    }

    fn front(&mut self, expected: &'static str) -> Result<u32, ImportError> {
        self.read(expected, |field| number(field, 10).and_then(|value| u32::try_from(value).ok()))
    }

    fn pc_and_mask(&mut self) -> Result<(u32, u32), ImportError> {
        let digits = |field: &[u8]| number(field, 16).and_then(|value| u32::try_from(value).ok());
        let pc = self.read("a PC of four to eight hexadecimal digits", |field| {
            digits(field).filter(|_| (4..=8).contains(&field.len()))
        })?;
        let mask = self.read("a lane mask of eight hexadecimal digits", |field| {
            digits(field).filter(|_| field.len() == 8)
        })?;
        Ok((pc, mask))
    }

    fn decimal(&mut self, expected: &'static str) -> Result<u64, ImportError> {
        self.read(expected, |field| number(field, 10))
    }

    fn signed(&mut self, expected: &'static str) -> Result<i64, ImportError> {
        self.read(expected, |field| match field.strip_prefix(b"-") {
            Some(digits) => number(digits, 10).and_then(|value| 0i64.checked_sub_unsigned(value)),
            None => number(field, 10).and_then(|value| i64::try_from(value).ok()),
        })
    }

    fn hexadecimal(&mut self, expected: &'static str) -> Result<u64, ImportError> {
        self.read(expected, |field| number(field.strip_prefix(b"0x").unwrap_or(field), 16))
    }

    fn address(&mut self, expected: &'static str) -> Result<u64, ImportError> {
        self.read(expected, |field| match field.strip_prefix(b"0x") {
            Some(digits) => number(digits, 16),
            None => number(field, 16).filter(|_| field.len() == 16),
        })
    }

    fn register(&mut self, is_hopper: bool) -> Result<(), ImportError> {
        self.read("a register", |field| is_register(field, is_hopper).then_some(()))
    }

    fn opcode(&mut self) -> Result<(&'t [u8], usize), ImportError> {
        let is_name = |field: &'t [u8]| field.first().is_some_and(u8::is_ascii_uppercase);
        let opcode = self.read("an opcode", |field| is_name(field).then_some(field))?;
        Ok((opcode, self.at - opcode.len()))
    }

    fn has_values(&mut self) -> Result<bool, ImportError> {
        self.read("`Val` or `NoVal`", |field| match field {
            b"NoVal" => Some(false),
            b"Val" => Some(true),
            _ => None,
        })
    }

    fn first(&self) -> Option<u8> {
        self.clone().next()?.first().copied()
    }

    fn end(&mut self, expected: &'static str) -> Result<(), ImportError> {
        self.next().map_or(Ok(()), |_| Err(self.wrong(expected)))
    }

    fn refuse(&self, message: impl FnOnce() -> String) -> ImportError {
        self.reader.error(self.at - self.last.len(), message())
    }
}

/// Parses an unsigned number of at most 64 bits in radix 10 or 16.
fn number(digits: &[u8], radix: u64) -> Option<u64> {
    let digits = str::from_utf8(digits).ok()?;
    if radix == 16 { parse_hexadecimal(digits) } else { parse_decimal(digits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_portable_bits_are_those_of_vectors() {
        let mut text = [[0; 64]; 9];
        for (i, byte) in text.as_flattened_mut().iter_mut().enumerate() {
            *byte = (i * 167 + i / 64) as u8;
        }
        let (mut bits, mut portable) = ([0; 9], [0; 9]);
        for most in [0, b' ', 126, 127] {
            bytes_up_to(&text, most, &mut bits);
            bytes_up_to_portably(&text, most, &mut portable);
            assert_eq!(bits, portable);
            let expected: u32 = text.as_flattened().iter().map(|b| u32::from(*b <= most)).sum();
            assert_eq!(bits.iter().map(|bits| bits.count_ones()).sum::<u32>(), expected);
            assert_eq!(bits[3] & 1, u64::from(text[3][0] <= most));
        }
    }
}
