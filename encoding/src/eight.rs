//! [`Eight`]: eight bytes of text as one number, which are compared at once.

/// Eight bytes, the first one lowest; 0 after the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Eight(u64);

/// The number of different hashes.
pub(crate) const HASHES: usize = 32;

const fn splat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

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

    /// Returns a number below [`HASHES`].
    #[inline(always)]
    pub(crate) const fn hash(self) -> usize {
        (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - HASHES.ilog2())) as usize
    }

    pub(crate) const fn to_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
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
        Self(u64::from_le_bytes(bytes.copied().unwrap_or_default())).after(at - start)
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
}

impl Eight {
    /// Returns the bytes before the first one that is no letter, no digit, no `_` and no `$`, and how many they are.
    #[inline(always)]
    pub(crate) const fn word(self) -> (Self, usize) {
        let ascii = self.0 & splat(0x7f);
        let lower = ascii | splat(0x20);
        // The sums carry into bit 7 of a byte, never into the next byte.
        let letters = lower + splat(0x80 - b'a') & !(lower + splat(0x7f - b'z'));
        let digits = ascii + splat(0x80 - b'0') & !(ascii + splat(0x7f - b'9'));
        let no_mark = (ascii ^ splat(b'_')) + splat(0x7f) & (ascii ^ splat(b'$')) + splat(0x7f);
        // The lowest bit of each byte that ends a word.
        let ends = (!(letters | digits | !no_mark) | self.0) >> 7 & splat(1);
        let before = (ends & ends.wrapping_neg()).wrapping_sub(1);
        (Self(self.0 & before), ends.trailing_zeros() as usize / 8)
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
        fn no_other_byte_becomes_a_letter_or_a_digit(byte in any::<u8>()) {
            let [upper, ..] = Eight::of(&[byte]).to_upper().0.to_le_bytes();
            prop_assert_eq!(byte.is_ascii_alphanumeric(), upper.is_ascii_alphanumeric());
        }
    }
}
