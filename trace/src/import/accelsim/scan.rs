//! [`Scan`]: taking the fields of an instruction's line one by one.
//!
//! `instruction.rs` says once which fields a line has. Two readers take them: `fields.rs` takes usual
//! ones fast and gives up at anything else; `tokens.rs` then takes the same ones and says what is wrong.

/// A line whose fields are taken from left to right.
pub(super) trait Scan<'t> {
    /// Why the next field is not the expected one.
    type Error;

    /// Checks that `count` fields come before the program counter.
    fn check_front(&mut self, count: usize) -> Result<(), Self::Error>;

    /// Takes a decimal number of at most 32 bits, a field before the program counter.
    fn front(&mut self, expected: &'static str) -> Result<u32, Self::Error>;

    /// Takes the program counter and the lane mask.
    fn pc_and_mask(&mut self) -> Result<(u32, u32), Self::Error>;

    /// Takes a decimal number.
    fn decimal(&mut self, expected: &'static str) -> Result<u64, Self::Error>;

    /// Takes a decimal number, which may be negative.
    fn signed(&mut self, expected: &'static str) -> Result<i64, Self::Error>;

    /// Takes a hexadecimal number, before which there may be `0x`.
    fn hexadecimal(&mut self, expected: &'static str) -> Result<u64, Self::Error>;

    /// Takes an address: a hexadecimal number with `0x` before it, or of 16 digits.
    fn address(&mut self, expected: &'static str) -> Result<u64, Self::Error>;

    /// Takes a register: `R7`, and of Hopper `UR7`, `P0` and `UP0` too.
    fn register(&mut self, is_hopper: bool) -> Result<(), Self::Error>;

    /// Takes an opcode, which begins with a capital letter; returns its offset in the line too.
    fn opcode(&mut self) -> Result<(&'t [u8], usize), Self::Error>;

    /// Takes `Val` or `NoVal`; returns whether it is `Val`.
    fn has_values(&mut self) -> Result<bool, Self::Error>;

    /// Returns the first byte of the next field; `None` at the line's end.
    fn first(&self) -> Option<u8>;

    /// Takes the line's end.
    fn end(&mut self, expected: &'static str) -> Result<(), Self::Error>;

    /// Returns the error of the last field, which is not as `message` says.
    fn refuse(&self, message: impl FnOnce() -> String) -> Self::Error;
}

/// Returns whether a field is a register.
#[inline(always)]
pub(super) fn is_register(field: &[u8], is_hopper: bool) -> bool {
    let (digits, most) = match field {
        [b'R', digits @ ..] => (digits, 255),
        _ if !is_hopper => return false,
        [b'U', b'R', digits @ ..] => (digits, 255),
        [b'P', digits @ ..] | [b'U', b'P', digits @ ..] => (digits, 7),
        _ => return false,
    };
    let digit = |byte: u8| u32::from(byte.wrapping_sub(b'0'));
    let number = match *digits {
        [low] => [0, 0, digit(low)],
        [high, low] => [0, digit(high), digit(low)],
        [highest, high, low] => [digit(highest), digit(high), digit(low)],
        _ => return false,
    };
    let [hundreds, tens, ones] = number;
    number.iter().all(|digit| *digit < 10) && hundreds * 100 + tens * 10 + ones <= most
}
