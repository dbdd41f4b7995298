//! [`Eight`]: eight bytes of text in one integer, so that they are compared at once.

/// The first byte is the lowest. Bytes after the end of the text are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Eight(u64);

pub(crate) const HASHES: usize = 32;

const fn splat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

impl Eight {
    pub(crate) const fn of(mut text: &[u8]) -> Self {
        let (mut eight, mut shift) = (0, 0);
        while let [byte, rest @ ..] = text
            && shift < 64
        {
            eight |= (*byte as u64) << shift;
            shift += 8;
            text = rest;
        }
        Self(eight)
    }

    /// A number below [`HASHES`].
    #[inline(always)]
    pub(crate) const fn hash(self) -> usize {
        (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - HASHES.ilog2())) as usize
    }

    pub(crate) const fn to_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    /// The first eight bytes of `text` before a dot, in upper case.
    pub(crate) const fn upper_of(text: &str) -> Self {
        let text = text.as_bytes();
        let mut length = 0;
        while let Some(byte) = text.split_at(length).1.first()
            && *byte != b'.'
        {
            length += 1;
        }
        Self::of(text.split_at(length).0).to_upper()
    }

    /// The bytes of `text` from byte `at`, which is at most the length of the text.
    #[inline]
    pub(crate) fn at(text: &[u8], at: usize) -> Self {
        let Some(last) = text.len().checked_sub(8) else {
            return Self::of(text.get(at..).unwrap_or_default());
        };
        // Near its end the text is read from its last eight bytes, and the bytes before `at` are shifted out.
        let start = at.min(last);
        let bytes = text.get(start..).and_then(<[u8]>::first_chunk);
        Self(u64::from_le_bytes(bytes.copied().unwrap_or_default())).after(at - start)
    }

    /// Keeps only the first `count` bytes.
    #[inline]
    pub(crate) const fn first(self, count: usize) -> Self {
        Self(self.0 & !u64::MAX.unbounded_shl(8 * count as u32))
    }

    /// Drops the first `count` bytes.
    #[inline]
    pub(crate) const fn after(self, count: usize) -> Self {
        Self(self.0.unbounded_shr(8 * count as u32))
    }

    /// Converts letters to upper case. Some other bytes change, too, but never to letters or digits.
    #[inline]
    pub(crate) const fn to_upper(self) -> Self {
        Self(self.0 & !((self.0 & splat(0x40)) >> 1))
    }
}

/// Sets bit 7 of each byte from `first` to `last`; the other bits are arbitrary. No byte may exceed 0x7f.
#[inline(always)]
const fn within(bytes: u64, first: u8, last: u8) -> u64 {
    // A sum carries into bit 7 of its byte, never into the next byte.
    (bytes + splat(0x80 - first)) & !(bytes + splat(0x7f - last))
}

impl Eight {
    /// The leading word and its length: the bytes before the first one that is not a letter, a digit, `_` or `$`.
    #[inline(always)]
    pub(crate) const fn word(self) -> (Self, usize) {
        let ascii = self.0 & splat(0x7f);
        let lower = ascii | splat(0x20);
        let letters = within(lower, b'a', b'z');
        let marks = within(ascii, b'_', b'_') | within(ascii, b'$', b'$');
        // The lowest bit of each byte that ends a word.
        let ends = (!(letters | within(ascii, b'0', b'9') | marks) | self.0) >> 7 & splat(1);
        let before = (ends & ends.wrapping_neg()).wrapping_sub(1);
        (Self(self.0 & before), ends.trailing_zeros() as usize / 8)
    }
}

impl Eight {
    /// Reads `count` hexadecimal digits in upper case; `None` if `count` is 0 or another byte is among them.
    #[inline(always)]
    pub(crate) const fn hexadecimal(self, count: usize) -> Option<u64> {
        let ascii = self.0 & splat(0x7f);
        let digits = within(ascii, b'0', b'9') | within(ascii, b'A', b'F');
        let values = (ascii & splat(0xf)) + (ascii >> 6 & splat(1)) * 9;
        let Some(ordered) = self.ordered(values, digits, count) else { return None };
        let pairs = (ordered | ordered >> 4) & 0x00ff_00ff_00ff_00ff;
        let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
        Some((fours | fours >> 16) & 0xffff_ffff)
    }

    /// Reads `count` decimal digits, at most three; `None` as in [`hexadecimal`](Self::hexadecimal).
    #[inline(always)]
    pub(crate) const fn decimal(self, count: usize) -> Option<u64> {
        let ascii = self.0 & splat(0x7f);
        match self.ordered(ascii & splat(0xf), within(ascii, b'0', b'9'), count) {
            Some(n) => Some((n & 0xff) + 10 * (n >> 8 & 0xff) + 100 * (n >> 16)),
            None => None,
        }
    }

    /// Orders the values of `count` digits, the last one lowest; `None` if bit 7 of any of them is clear in `digits`.
    #[inline(always)]
    const fn ordered(self, values: u64, digits: u64, count: usize) -> Option<u64> {
        if count == 0 || Self((!digits | self.0) & splat(0x80)).first(count).0 != 0 {
            return None;
        }
        Some(values.swap_bytes() >> ((64 - 8 * count) & 63))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_in_upper_case_are_those_of_the_standard_library(word in "[a-zA-Z0-9_$]{1,8}") {
            let expected = word.to_ascii_uppercase();
            prop_assert_eq!(Eight::at(word.as_bytes(), 0).to_upper(), Eight::of(expected.as_bytes()));
        }

        #[test]
        fn words_end_before_the_first_other_byte(bytes in any::<[u8; 8]>(), word in "[a-z0-9_$]{0,8}") {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
            let mut joined = bytes;
            joined[..word.len()].copy_from_slice(word.as_bytes());
            for bytes in [bytes, joined] {
                let expected = bytes.iter().take_while(|byte| is_part(**byte)).count();
                prop_assert_eq!(Eight::of(&bytes).word(), (Eight::of(&bytes[..expected]), expected));
            }
        }

        #[test]
        fn hexadecimal_digits_are_a_number(text in "[0-9A-F]{0,7}.?") {
            prop_assume!(text.is_ascii());
            let number = |text: &str, radix| {
                let is_digit = |c: char| c.is_digit(radix) && !c.is_ascii_lowercase();
                u64::from_str_radix(text, radix).ok().filter(|_| text.chars().all(is_digit))
            };
            let hexadecimal = Eight::of(text.as_bytes()).hexadecimal(text.len());
            prop_assert_eq!(hexadecimal, number(&text, 16));
            let text = &text[..text.len().min(3)];
            prop_assert_eq!(Eight::of(text.as_bytes()).decimal(text.len()), number(text, 10));
        }

        #[test]
        fn no_other_byte_becomes_a_letter_or_a_digit(byte in any::<u8>()) {
            let [upper, ..] = Eight::of(&[byte]).to_upper().0.to_le_bytes();
            prop_assert_eq!(byte.is_ascii_alphanumeric(), upper.is_ascii_alphanumeric());
        }
    }
}
