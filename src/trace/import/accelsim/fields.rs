//! [`Fields`]: the fields of usual lines of an Accel-Sim trace, found in bulk: all ends of a piece's
//! fields first, then numbers eight digits at a time.
//!
//! What is unusual, be it wrong or only rare, is `None`: `tokens.rs` reads that line instead, and names
//! the place of an error.

use crate::eight::Eight;
use crate::simd::bytes_up_to;

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
    pub(super) separator: u8,
}

impl<'t> Fields<'t> {
    /// Takes the next field; returns its range.
    #[inline(always)]
    fn take(&mut self) -> Option<(usize, usize)> {
        let end = *self.ends.get(self.next)? as usize;
        let start = self.at;
        if self.separator != b' ' {
            return None;
        }
        self.separator = *self.text.get(end)?;
        self.next += 1;
        self.at = end + 1;
        Some((start, end))
    }

    /// Takes a field that begins with a capital letter; returns its range.
    #[inline(always)]
    pub(super) fn name(&mut self) -> Option<(usize, usize)> {
        let (start, end) = self.take()?;
        self.text.get(start)?.is_ascii_uppercase().then_some((start, end))
    }

    /// Takes a decimal number. Most have one digit.
    #[inline(always)]
    pub(super) fn decimal(&mut self) -> Option<u64> {
        let (start, end) = self.take()?;
        if end - start == 1 {
            let digit = self.text[start].wrapping_sub(b'0');
            return (digit < 10).then_some(u64::from(digit));
        }
        decimal(self.text, start, end)
    }

    /// Takes a decimal number, which may be negative.
    #[inline(always)]
    pub(super) fn signed(&mut self) -> Option<i64> {
        let (start, end) = self.take()?;
        let is_negative = *self.text.get(start)? == b'-';
        // At most 16 digits.
        let value = decimal(self.text, start + usize::from(is_negative), end)? as i64;
        Some(if is_negative { -value } else { value })
    }

    /// Takes a hexadecimal number, before which there may be `0x`.
    #[inline(always)]
    pub(super) fn hexadecimal(&mut self) -> Option<u64> {
        let (start, end) = self.take()?;
        let has_prefix = self.text.get(start..start + 2)? == b"0x";
        hexadecimal(self.text, if has_prefix { start + 2 } else { start }, end)
    }

    /// Returns whether the line ends here; one space may come before its end.
    #[inline(always)]
    pub(super) fn end(&mut self) -> bool {
        if self.separator == b' ' && self.ends.get(self.next) == Some(&(self.at as u32)) {
            let end = self.take();
            return end.is_some() && self.separator == b'\n';
        }
        self.separator == b'\n'
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
