//! [`Eight`]: parses digits eight at a time, because a loop over single bytes has an end that processors mispredict.

/// Eight bytes, the first one lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Eight(u64);

const fn splat(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The highest bit of each byte.
const HIGH: u64 = splat(0x80);

impl Eight {
    #[inline(always)]
    pub(super) const fn new(bytes: [u8; 8]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }

    /// The value of the first `count` bytes, 1 to 8, as decimal digits; `None` if one of them is not a digit.
    #[inline(always)]
    pub(super) const fn decimal(self, count: usize) -> Option<u32> {
        // The digits' values, after leading zeros.
        let digits = (self.0 ^ splat(b'0')).wrapping_shl(64 - 8 * count as u32);
        // Carries do not matter, since only an invalid byte produces one.
        let is_wrong = (digits.wrapping_add(splat(6)) | digits) & splat(0xf0) != 0;
        let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
        // Each four digits are two pairs, the first worth a hundred times the second.
        const PAIR: u64 = 0x0000_00ff_0000_00ff;
        let first = (pairs & PAIR).wrapping_mul(100 + (1_000_000 << 32));
        let second = (pairs >> 16 & PAIR).wrapping_mul(1 + (10_000 << 32));
        let value = first.wrapping_add(second) >> 32;
        if is_wrong { None } else { Some(value as u32) }
    }

    /// The value of the first `count` bytes, 1 to 8, as hexadecimal digits; `None` if one of them is not a digit.
    #[inline(always)]
    pub(super) const fn hexadecimal(self, count: usize) -> Option<u32> {
        // The digits, after leading `0`.
        let zeros = 64 - 8 * count as u32;
        let text = self.0.wrapping_shl(zeros) | splat(b'0') & !u64::MAX.wrapping_shl(zeros);
        let ascii = text & !HIGH;
        let digits = at_least(ascii, b'0') & !at_least(ascii, b'9' + 1);
        let lower = ascii | splat(0x20);
        let letters = at_least(lower, b'a') & !at_least(lower, b'f' + 1);
        let is_wrong = (digits | letters) & !text & HIGH != HIGH;
        // Each byte has one digit, the last digit in the highest byte. Neighbours are joined, then pairs, then halves.
        let nibbles = (text & splat(0x0f)) + (text >> 6 & splat(1)) * 9;
        let bytes = ((nibbles << 4) + (nibbles >> 8)) & 0x00ff_00ff_00ff_00ff;
        let halves = ((bytes << 8) + (bytes >> 16)) & 0x0000_ffff_0000_ffff;
        let value = (halves << 16) + (halves >> 32);
        if is_wrong { None } else { Some(value as u32) }
    }
}

/// [`HIGH`] for each byte of `ascii` that is at least `least`.
const fn at_least(ascii: u64, least: u8) -> u64 {
    ascii + splat(0x80 - least)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_those_of_the_standard_library(text in r"[0-9a-gA-G/:@`é\x10-\x1a]{1,8}") {
            let all: fn(char) -> bool = |c| c.is_ascii_hexdigit();
            let mut bytes = [b','; 8];
            if let Some(place) = bytes.get_mut(..text.len()) {
                place.copy_from_slice(text.as_bytes());
                let eight = Eight::new(bytes);
                let expected = u32::from_str_radix(&text, 16).ok().filter(|_| text.chars().all(all));
                prop_assert_eq!(eight.hexadecimal(text.len()), expected);
                prop_assert_eq!(eight.decimal(text.len()), text.parse().ok());
            }
        }
    }
}
