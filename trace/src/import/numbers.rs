//! The numbers of logs: digits only, without signs and spaces.

use std::str::FromStr;

/// Returns a decimal number.
pub(super) fn decimal<N: FromStr>(text: &str) -> Option<N> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// Returns a hexadecimal number of at most 16 digits.
#[inline]
pub(super) fn hexadecimal(digits: &str) -> Option<u64> {
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    digits
        .bytes()
        .try_fold(0, |number, digit| Some(number << 4 | u64::from(char::from(digit).to_digit(16)?)))
}

/// Returns the context that a message begins with, `CTX 0x…`.
pub(super) fn context(message: &str) -> Option<u64> {
    hexadecimal(message.strip_prefix("CTX 0x")?.split(' ').next()?)
}

/// Returns three numbers, `x,y,z`.
pub(super) fn dimensions(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text.split(',').map(|number| decimal(number.trim()));
    let three = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(three)
}
