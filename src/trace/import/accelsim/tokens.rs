//! [`Tokens`]: the fields of a line of an Accel-Sim trace, and the numbers in them.

/// The fields of a line, between spaces or tabs.
#[derive(Clone)]
pub(super) struct Tokens<'t> {
    pub(super) text: &'t [u8],
    /// The end of the last field that was taken.
    pub(super) at: usize,
}

impl<'t> Tokens<'t> {
    #[inline]
    pub(super) fn next(&mut self) -> Option<&'t [u8]> {
        let is_space = |byte: &u8| *byte == b' ' || *byte == b'\t';
        let rest = self.text.get(self.at..)?;
        let start = self.at + rest.iter().position(|byte| !is_space(byte))?;
        let rest = &self.text[start..];
        let length = rest.iter().position(is_space).unwrap_or(rest.len());
        self.at = start + length;
        Some(&self.text[start..self.at])
    }
}

/// The values of hexadecimal digits by their byte; 255 for all other bytes.
const DIGITS: [u8; 256] = {
    let mut digits = [255; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value] as usize] = value as u8;
        digits[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    digits
};

/// Reads an unsigned number of at most 64 bits, in radix 10 or 16.
#[inline]
pub(super) fn number(digits: &[u8], radix: u64) -> Option<u64> {
    let value_of = |digit: &u8| u64::from(DIGITS[usize::from(*digit)]);
    let mut value = 0u64;
    // 15 digits of either radix are below 2^60; almost all numbers are that short.
    if (1..=15).contains(&digits.len()) {
        let mut is_wrong = false;
        for digit in digits.iter().map(value_of) {
            is_wrong |= digit >= radix;
            value = value.wrapping_mul(radix).wrapping_add(digit);
        }
        return (!is_wrong).then_some(value);
    }
    for digit in digits.iter().map(value_of) {
        value = value.checked_mul(radix)?.checked_add(digit).filter(|_| digit < radix)?;
    }
    (!digits.is_empty()).then_some(value)
}
