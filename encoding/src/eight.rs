//! [`Eight`]: eight bytes of text as one number, for what would otherwise be a loop over bytes whose
//! end no processor can predict. Public only for the other packages of this repository.

/// Eight bytes, the first one lowest; 0 after the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eight(u64);

const fn splat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The highest bit of each byte.
const HIGH: u64 = splat(0x80);

impl Eight {
    /// Returns the bytes as they are.
    #[inline(always)]
    #[must_use]
    pub const fn new(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }

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

    /// Returns the first eight bytes of `text` before a dot, with letters in upper case.
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

    /// Returns the bytes of `text` from byte `at`, at most the length of the text.
    #[inline]
    pub(crate) fn at(text: &[u8], at: usize) -> Self {
        let Some(last) = text.len().checked_sub(8) else {
            return Self::of(text.get(at..).unwrap_or_default());
        };
        // The last bytes of a text are read with those before them, which are then shifted out.
        let start = at.min(last);
        let bytes = text.get(start..).and_then(<[u8]>::first_chunk);
        Self::new(bytes.copied().unwrap_or_default()).after(at - start)
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

    /// Returns the bytes with letters in upper case. Of the others, some become others that are
    /// neither letters nor digits.
    #[inline]
    pub(crate) const fn to_upper(self) -> Self {
        Self(self.0 & !((self.0 & splat(0x40)) >> 1))
    }

    /// Returns the number of which the first `count` bytes, 1 to 8, are the decimal digits; `None` if
    /// one of them is not a digit.
    #[inline(always)]
    #[must_use]
    pub const fn decimal(self, count: usize) -> Option<u32> {
        // The values of the digits, after as many zeros as fit.
        let digits = (self.0 ^ splat(b'0')).wrapping_shl(64 - 8 * count as u32);
        // A carry comes from a byte that is wrong itself.
        let is_wrong = (digits.wrapping_add(splat(6)) | digits) & splat(0xf0) != 0;
        let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
        // Of each four digits two pairs, the first worth a hundred times the second.
        const PAIR: u64 = 0x0000_00ff_0000_00ff;
        let first = (pairs & PAIR).wrapping_mul(100 + (1_000_000 << 32));
        let second = (pairs >> 16 & PAIR).wrapping_mul(1 + (10_000 << 32));
        let value = first.wrapping_add(second) >> 32;
        if is_wrong { None } else { Some(value as u32) }
    }

    /// Returns the number of which the first `count` bytes, 1 to 8, are the hexadecimal digits; `None`
    /// if one of them is not a digit.
    #[inline(always)]
    #[must_use]
    pub const fn hexadecimal(self, count: usize) -> Option<u32> {
        // The digits, after as many `0` as fit.
        let zeros = 64 - 8 * count as u32;
        let text = self.0.wrapping_shl(zeros) | splat(b'0') & !u64::MAX.wrapping_shl(zeros);
        let ascii = text & !HIGH;
        let digits = at_least(ascii, b'0') & !at_least(ascii, b'9' + 1);
        let lower = ascii | splat(0x20);
        let letters = at_least(lower, b'a') & !at_least(lower, b'f' + 1);
        let is_wrong = (digits | letters) & !text & HIGH != HIGH;
        // A half-byte in each byte, the last digit highest; then pairs, and pairs of pairs, are joined.
        let nibbles = (text & splat(0x0f)) + (text >> 6 & splat(1)) * 9;
        let bytes = ((nibbles << 4) + (nibbles >> 8)) & 0x00ff_00ff_00ff_00ff;
        let halves = ((bytes << 8) + (bytes >> 16)) & 0x0000_ffff_0000_ffff;
        let value = (halves << 16) + (halves >> 32);
        if is_wrong { None } else { Some(value as u32) }
    }
}

/// Returns [`HIGH`] for each byte of `ascii` that is at least `least`.
const fn at_least(ascii: u64, least: u8) -> u64 {
    ascii + splat(0x80 - least)
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
        fn numbers_are_those_of_the_standard_library(text in r"[0-9a-gA-G/:@`é\x10-\x1a]{1,8}") {
            let (bytes, all): (_, fn(char) -> bool) =
                (text.as_bytes(), |c| c.is_ascii_hexdigit());
            let eight = Eight::at(bytes, 0);
            if bytes.len() <= 8 {
                let expected = u32::from_str_radix(&text, 16).ok().filter(|_| text.chars().all(all));
                prop_assert_eq!(eight.hexadecimal(bytes.len()), expected);
            }
            if bytes.len() <= 8 {
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
