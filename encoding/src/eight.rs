//! [`Eight`]: eight bytes of text as one number, which are compared at once.

/// Eight bytes, the first one lowest; 0 after the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Eight(u64);

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
        fn no_other_byte_becomes_a_letter_or_a_digit(byte in any::<u8>()) {
            let [upper, ..] = Eight::of(&[byte]).to_upper().0.to_le_bytes();
            prop_assert_eq!(byte.is_ascii_alphanumeric(), upper.is_ascii_alphanumeric());
        }
    }
}
