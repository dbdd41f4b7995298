//! [`Tokens`]: the fields of any line of an Accel-Sim trace. Errors name the place, and what was
//! expected there.

use super::line::LineReader;
use super::scan::{Scan, is_register};
use crate::import::error::ImportError;

/// The fields of a line, between spaces or tabs.
#[derive(Clone)]
pub(super) struct Tokens<'t, 'r> {
    reader: &'r LineReader<'r>,
    text: &'t [u8],
    /// The last field that was taken, and the offset of its end.
    last: &'t [u8],
    at: usize,
}

impl<'t, 'r> Tokens<'t, 'r> {
    pub(super) fn new(reader: &'r LineReader<'r>, text: &'t [u8]) -> Self {
        Self { reader, text, last: b"", at: 0 }
    }

    /// Returns how many fields come before the program counter: the mask is the first field of exactly
    /// eight hexadecimal digits after one of at least four. `None` if there is no mask.
    pub(super) fn count_front(mut self) -> Option<usize> {
        let is_hexadecimal = |field: &[u8]| field.iter().all(u8::is_ascii_hexdigit);
        let mut before = self.next()?;
        for count in 0.. {
            let field = self.next()?;
            let have_lengths = before.len() >= 4 && field.len() == 8;
            if have_lengths && is_hexadecimal(before) && is_hexadecimal(field) {
                return Some(count);
            }
            before = field;
        }
        None
    }

    fn next(&mut self) -> Option<&'t [u8]> {
        let is_space = |byte: &u8| *byte == b' ' || *byte == b'\t';
        let rest = self.text.get(self.at..)?;
        let start = self.at + rest.iter().position(|byte| !is_space(byte))?;
        let rest = &self.text[start..];
        let length = rest.iter().position(is_space).unwrap_or(rest.len());
        self.at = start + length;
        self.last = &self.text[start..self.at];
        Some(self.last)
    }

    fn field(&mut self, expected: &str) -> Result<&'t [u8], ImportError> {
        let next = self.next();
        next.ok_or_else(|| self.reader.error(self.at, format!("expected {expected}")))
    }

    #[cold]
    fn wrong(&self, expected: &str) -> ImportError {
        let shown = String::from_utf8_lossy(&self.last[..self.last.len().min(40)]);
        self.refuse(|| format!("{shown:?}; expected {expected}"))
    }

    /// Takes a field that `read` understands.
    fn read<Value>(
        &mut self,
        expected: &str,
        read: impl FnOnce(&'t [u8]) -> Option<Value>,
    ) -> Result<Value, ImportError> {
        let field = self.field(expected)?;
        read(field).ok_or_else(|| self.wrong(expected))
    }
}

impl<'t> Scan<'t> for Tokens<'t, '_> {
    type Error = ImportError;

    fn check_front(&mut self, count: usize) -> Result<(), ImportError> {
        match self.clone().count_front() {
            Some(found) if found != count => {
                let message = format!("{found} fields before the PC; expected {count}");
                Err(self.reader.error(0, message))
            }
            // Without a mask a field is not what is expected.
            _ => Ok(()),
        }
    }

    fn front(&mut self, expected: &'static str) -> Result<u32, ImportError> {
        self.read(expected, |field| number(field, 10).and_then(|value| u32::try_from(value).ok()))
    }

    fn pc_and_mask(&mut self) -> Result<(u32, u32), ImportError> {
        let digits = |field: &[u8]| number(field, 16).and_then(|value| u32::try_from(value).ok());
        let pc = self.read("a PC of four to eight hexadecimal digits", |field| {
            digits(field).filter(|_| (4..=8).contains(&field.len()))
        })?;
        let mask = self.read("a lane mask of eight hexadecimal digits", |field| {
            digits(field).filter(|_| field.len() == 8)
        })?;
        Ok((pc, mask))
    }

    fn decimal(&mut self, expected: &'static str) -> Result<u64, ImportError> {
        self.read(expected, |field| number(field, 10))
    }

    fn signed(&mut self, expected: &'static str) -> Result<i64, ImportError> {
        self.read(expected, |field| match field.strip_prefix(b"-") {
            Some(digits) => number(digits, 10).and_then(|value| 0i64.checked_sub_unsigned(value)),
            None => number(field, 10).and_then(|value| i64::try_from(value).ok()),
        })
    }

    fn hexadecimal(&mut self, expected: &'static str) -> Result<u64, ImportError> {
        self.read(expected, |field| number(field.strip_prefix(b"0x").unwrap_or(field), 16))
    }

    fn address(&mut self, expected: &'static str) -> Result<u64, ImportError> {
        self.read(expected, |field| match field.strip_prefix(b"0x") {
            Some(digits) => number(digits, 16),
            None => number(field, 16).filter(|_| field.len() == 16),
        })
    }

    fn register(&mut self, is_hopper: bool) -> Result<(), ImportError> {
        self.read("a register", |field| is_register(field, is_hopper).then_some(()))
    }

    fn opcode(&mut self) -> Result<(&'t [u8], usize), ImportError> {
        let is_name = |field: &'t [u8]| field.first().is_some_and(u8::is_ascii_uppercase);
        let opcode = self.read("an opcode", |field| is_name(field).then_some(field))?;
        Ok((opcode, self.at - opcode.len()))
    }

    fn has_values(&mut self) -> Result<bool, ImportError> {
        self.read("`Val` or `NoVal`", |field| match field {
            b"NoVal" => Some(false),
            b"Val" => Some(true),
            _ => None,
        })
    }

    fn first(&self) -> Option<u8> {
        self.clone().next()?.first().copied()
    }

    fn end(&mut self, expected: &'static str) -> Result<(), ImportError> {
        self.next().map_or(Ok(()), |_| Err(self.wrong(expected)))
    }

    fn refuse(&self, message: impl FnOnce() -> String) -> ImportError {
        self.reader.error(self.at - self.last.len(), message())
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
fn number(digits: &[u8], radix: u64) -> Option<u64> {
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
