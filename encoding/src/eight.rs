//! [`Eight`]: eight bytes of text as one number, for what would otherwise be a loop over bytes whose
//! end no processor can predict.

use crate::impossible::OrImpossible;

/// Eight bytes, the first one lowest; 0 after the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Eight(u64);

const fn splat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The highest bit of each byte.
const HIGH: u64 = splat(0x80);

impl Eight {
    /// Returns the first eight bytes of `text`.
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

    /// Returns the bytes of `text` from byte `at`, at most the length of the text.
    #[inline]
    pub(crate) fn at(text: &[u8], at: usize) -> Self {
        let Some(last) = text.len().checked_sub(8) else {
            return Self::of(text.get(at..).or_impossible(&[], "the place is in the text"));
        };
        // The last bytes of a text are read with those before them, which are then shifted out.
        let start = at.min(last);
        let bytes = text.get(start..).and_then(<[u8]>::first_chunk);
        let bytes = bytes.or_impossible(&[0; 8], "eight bytes follow");
        Self(u64::from_le_bytes(*bytes).unbounded_shr(8 * (at - start) as u32))
    }

    /// Returns the first `count` bytes.
    #[inline]
    pub(crate) const fn first(self, count: usize) -> Self {
        Self(self.0 & !u64::MAX.unbounded_shl(8 * count as u32))
    }

    /// Returns the bytes after the first `count`.
    #[inline]
    pub(crate) const fn after(self, count: usize) -> Self {
        Self(self.0.unbounded_shr(8 * count as u32))
    }

    /// Returns [`HIGH`] for each byte in `from..=to`, both ASCII.
    const fn between(self, from: u8, to: u8) -> u64 {
        let ascii = self.0 & !HIGH;
        (ascii + splat(0x80 - from)) & !(ascii + splat(0x7f - to)) & !self.0 & HIGH
    }

    /// Returns the bytes with letters in upper case. Of the others, some become others that are
    /// neither letters nor digits.
    #[inline]
    pub(crate) const fn to_upper(self) -> Self {
        Self(self.0 & !((self.0 & splat(0x40)) >> 1))
    }

    /// Returns the number of which the first `count` bytes are the decimal digits, at most three;
    /// `None` if one of them is not a digit.
    #[inline]
    pub(crate) const fn decimal(self, count: usize) -> Option<u32> {
        let digits = self.right_aligned(count);
        if digits.between(b'0', b'9') != HIGH {
            return None;
        }
        let [.., hundreds, tens, ones] = (digits.0 & splat(0xf)).to_le_bytes();
        Some(hundreds as u32 * 100 + tens as u32 * 10 + ones as u32)
    }

    /// Returns the number of which the first `count` bytes are the hexadecimal digits; `None` if one of
    /// them is not a digit.
    #[inline]
    pub(crate) const fn hexadecimal(self, count: usize) -> Option<u32> {
        let digits = self.right_aligned(count);
        let letters = Self(digits.0 | splat(0x20)).between(b'a', b'f');
        if digits.between(b'0', b'9') | letters != HIGH {
            return None;
        }
        // A half-byte in each byte, the last digit lowest; then pairs, and pairs of pairs, are joined.
        let nibbles = ((digits.0 & splat(0xf)) + (letters >> 7) * 9).swap_bytes();
        let bytes = (nibbles | nibbles >> 4) & 0x00ff_00ff_00ff_00ff;
        let halves = (bytes | bytes >> 8) & 0x0000_ffff_0000_ffff;
        Some((halves | halves >> 16) as u32)
    }

    /// Returns the first `count` bytes at the end, after as many `0` as fit.
    const fn right_aligned(self, count: usize) -> Self {
        let zeros = 64 - 8 * count as u32;
        let before = !u64::MAX.unbounded_shl(zeros);
        Self(self.0.unbounded_shl(zeros) | splat(b'0') & before)
    }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::String;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_in_upper_case_are_those_of_the_standard_library(word in "[a-zA-Z0-9_$]{1,8}") {
            let expected = word.to_ascii_uppercase();
            prop_assert_eq!(Eight::at(word.as_bytes(), 0).to_upper(), Eight::of(expected.as_bytes()));
        }

        #[test]
        fn no_other_byte_becomes_a_letter_or_a_digit(byte in any::<u8>()) {
            let [upper, ..] = Eight::of(&[byte]).to_upper().0.to_le_bytes();
            prop_assert_eq!(byte.is_ascii_alphanumeric(), upper.is_ascii_alphanumeric());
        }

        #[test]
        fn numbers_are_those_of_the_standard_library(text in "[0-9a-gA-G/:@`é]{1,8}") {
            let (bytes, all): (_, fn(char) -> bool) =
                (text.as_bytes(), |c| c.is_ascii_hexdigit());
            let eight = Eight::at(bytes, 0);
            if bytes.len() <= 8 {
                let expected = u32::from_str_radix(&text, 16).ok().filter(|_| text.chars().all(all));
                prop_assert_eq!(eight.hexadecimal(bytes.len()), expected);
            }
            if bytes.len() <= 3 {
                prop_assert_eq!(eight.decimal(bytes.len()), text.parse().ok());
            }
        }
    }

    #[test]
    fn every_register_number_is_read() {
        for number in 0..1000u32 {
            let text = format!("{number}");
            assert_eq!(Eight::of(text.as_bytes()).decimal(text.len()), Some(number));
            let after: String = format!("{number},");
            assert_eq!(Eight::of(after.as_bytes()).decimal(text.len()), Some(number));
        }
    }
}
