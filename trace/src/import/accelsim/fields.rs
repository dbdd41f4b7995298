//! [`Fields`]: the fields of usual lines of an Accel-Sim trace, found in bulk: all ends of a piece's
//! fields first, then numbers eight digits at a time.
//!
//! What is unusual, be it wrong or only rare, is [`Unusual`]: `tokens.rs` reads that line instead, and
//! names the place of an error.

use super::scan::{Scan, is_register};
use warpload::eight::Eight;
use warpload::simd::level;

/// Returns the offsets in `text` of all bytes up to the space, ascending. They are in `room`, which
/// grows.
pub(super) fn find_ends<'r>(text: &[u8], room: &'r mut Vec<u32>) -> &'r [u32] {
    // Eight are written at a time, whether there are as many or not.
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

/// The fields of a line, each with one space before it.
pub(super) struct Fields<'t> {
    /// The text, with eight bytes or more after its last line.
    pub(super) text: &'t [u8],
    pub(super) ends: &'t [u32],
    /// The index in `ends` of the next field's end.
    pub(super) next: usize,
    /// The offset of the next field.
    pub(super) at: usize,
    /// The byte after the last field; a space before the first one.
    separator: u8,
    /// The offset of the line.
    line: usize,
}

impl<'t> Fields<'t> {
    /// Returns the fields of the line at `at`, whose first field ends at `ends[next]`.
    #[inline(always)]
    pub(super) fn of_line(text: &'t [u8], ends: &'t [u32], next: usize, at: usize) -> Self {
        Self { text, ends, next, at, separator: b' ', line: at }
    }
}

/// The line, or a field of it, is unusual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unusual;

/// The most digits of usual fields before the program counter, and of it. None of them can then be
/// taken for the lane mask, which has eight.
const SHORT: usize = 7;

impl Fields<'_> {
    /// Takes the next field; returns its range.
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

    /// Most numbers have one digit.
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
        // At most 16 digits.
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

    /// One space may come before the end.
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

/// Reads up to 16 decimal digits.
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

/// Reads up to 16 hexadecimal digits.
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

/// Returns the eight bytes from `start`.
#[inline(always)]
fn eight(text: &[u8], start: usize) -> Option<Eight> {
    Some(Eight::new(*text.get(start..)?.first_chunk()?))
}

/// Sets the bit of each byte of `text` that is at most `most`, which is below 128; 64 bytes are one word.
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
            // The high bit of each byte that is above.
            let above = ((word & LOW) + add) | word;
            // The multiplication gathers them in the highest byte.
            let gathered = ((!above & !LOW) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            *bits |= gathered << (8 * i);
        }
    }
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
