//! Floating-point immediates as nvdisasm prints them: C's `%.20g`, from 10^9 on `%.20e`.

use core::fmt::{self, Write};

use super::language::FloatFormat;

/// A text of at most 48 bytes.
#[derive(Clone, Copy)]
struct Small {
    bytes: [u8; 48],
    length: usize,
}

impl Small {
    fn of(arguments: fmt::Arguments<'_>) -> Option<Self> {
        let mut small = Self { bytes: [0; 48], length: 0 };
        small.write_fmt(arguments).ok()?;
        Some(small)
    }

    fn text(&self) -> &str {
        self.bytes.get(..self.length).and_then(|bytes| str::from_utf8(bytes).ok()).unwrap_or("")
    }
}

impl Write for Small {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// The width of a format and the number of bits of its fraction.
const fn layout(format: FloatFormat) -> (u32, u32) {
    match format {
        FloatFormat::Half => (16, 10),
        FloatFormat::Single => (32, 23),
        FloatFormat::Double => (64, 52),
    }
}

/// The value of an f16, which an f64 has exactly.
fn half(pattern: u64) -> f64 {
    let (exponent, fraction) = (pattern >> 10 & 31, pattern & 0x3ff);
    // A subnormal number has no leading one: exact differences of powers of two.
    let bits = match exponent {
        0 => return sign(pattern >> 15) * fraction as f64 / (1_u64 << 24) as f64,
        _ => (exponent + 1023 - 15) << 52 | fraction << 42,
    };
    sign(pattern >> 15) * f64::from_bits(bits)
}

fn sign(bit: u64) -> f64 {
    if bit & 1 == 0 { 1.0 } else { -1.0 }
}

/// Writes a number of a format.
pub(super) fn write(pattern: u64, format: FloatFormat, out: &mut dyn Write) -> fmt::Result {
    let (width, fraction) = layout(format);
    let is_negative = pattern >> (width - 1) & 1 != 0;
    let exponents = u64::MAX >> (64 - (width - 1 - fraction));
    if pattern >> fraction & exponents == exponents {
        out.write_char(if is_negative { '-' } else { '+' })?;
        let is_quiet = format != FloatFormat::Double || pattern >> (fraction - 1) & 1 != 0;
        return match pattern & !(u64::MAX << fraction) {
            0 => out.write_str("INF "),
            _ => out.write_str(if is_quiet { "QNAN " } else { "SNAN " }),
        };
    }
    let value = match format {
        FloatFormat::Half => half(pattern),
        FloatFormat::Single => f32::from_bits(pattern as u32).into(),
        FloatFormat::Double => f64::from_bits(pattern),
    };
    if value == 0.0 {
        return out.write_str(if is_negative { "-0.0 " } else { "0" });
    }
    let is_large = value.abs() >= 1e9;
    let digits = match is_large {
        true => Small::of(format_args!("{:.20e}", value.abs())),
        false => Small::of(format_args!("{:.19e}", value.abs())),
    };
    let digits = digits.ok_or(fmt::Error)?;
    let (mantissa, exponent) = digits.text().split_once('e').ok_or(fmt::Error)?;
    let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
    let (first, rest) = mantissa.split_once('.').ok_or(fmt::Error)?;
    let shown = if is_large { rest } else { rest.trim_end_matches('0') };
    if is_negative {
        out.write_char('-')?;
    }
    if is_large || exponent < -4 {
        let point = if shown.is_empty() { "" } else { "." };
        let sign = if exponent < 0 { '-' } else { '+' };
        return write!(out, "{first}{point}{shown}e{sign}{:02}", exponent.unsigned_abs());
    }
    if exponent < 0 {
        out.write_str("0.")?;
        for _ in 1..exponent.unsigned_abs() {
            out.write_char('0')?;
        }
        return write!(out, "{first}{shown}");
    }
    let whole = exponent.unsigned_abs() as usize;
    let (before, after) = rest.split_at_checked(whole).ok_or(fmt::Error)?;
    let after = after.trim_end_matches('0');
    let point = if after.is_empty() { "" } else { "." };
    write!(out, "{first}{before}{point}{after}")
}

/// Reads a number at the beginning of a text: its pattern, and the bytes after it.
pub(super) fn read(text: &str, format: FloatFormat) -> Option<(u64, &str)> {
    let (width, fraction) = layout(format);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_negative = text.starts_with('-');
    let sign = u64::from(is_negative) << (width - 1);
    let infinity = u64::MAX >> (64 - (width - 1 - fraction)) << fraction;
    let special = [("INF", 0), ("QNAN", 1 << (fraction - 1)), ("SNAN", 1 << (fraction - 2))];
    for (name, payload) in special {
        if let Some(rest) = unsigned.strip_prefix(name) {
            let rest = rest.strip_prefix(' ').unwrap_or(rest);
            return Some((sign | infinity | payload, rest));
        }
    }
    let length = number_length(unsigned)?;
    let (digits, rest) = unsigned.split_at_checked(length)?;
    let pattern = match format {
        FloatFormat::Double => digits.parse::<f64>().ok()?.to_bits(),
        FloatFormat::Single => digits.parse::<f32>().ok()?.to_bits().into(),
        FloatFormat::Half => {
            let value: f64 = digits.parse().ok()?;
            (0..infinity).find(|pattern| half(*pattern) == value)?
        }
    };
    // `-0.0 ` has a space of its own.
    let rest =
        if pattern == 0 && is_negative { rest.strip_prefix(' ').unwrap_or(rest) } else { rest };
    Some((sign | pattern, rest))
}

/// The length of `12.5e+30` at the beginning of a text.
fn number_length(text: &str) -> Option<usize> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(text);
    if length == 0 {
        return None;
    }
    let after = |length: usize| text.get(length..).unwrap_or("");
    if after(length).starts_with('.') && digits(after(length + 1)) > 0 {
        length += 1 + digits(after(length + 1));
    }
    let exponent = after(length).strip_prefix(['e', 'E']);
    if let Some(exponent) = exponent {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let count = digits(unsigned);
        if count > 0 {
            length += 1 + (exponent.len() - unsigned.len()) + count;
        }
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn text(pattern: u64, format: FloatFormat) -> String {
        let mut text = String::new();
        write(pattern, format, &mut text).expect("room");
        text
    }

    #[test]
    fn numbers_are_those_of_nvdisasm() {
        let single = |value: f32| text(value.to_bits().into(), FloatFormat::Single);
        assert_eq!(single(2.236_167e-19), "2.2361669807513528951e-19");
        assert_eq!([single(1.0), single(-0.0), single(0.0)], ["1", "-0.0 ", "0"]);
        assert_eq!(
            [single(0.15), single(1e-4)],
            ["0.15000000596046447754", "9.9999997473787516356e-05"]
        );
        assert_eq!([single(1e9), single(f32::INFINITY)], ["1.00000000000000000000e+09", "+INF "]);
        assert_eq!(
            text(0xfbef_6000_0000_0000, FloatFormat::Double),
            "-9.55497584711484284832e+288"
        );
        assert_eq!(
            [text(0x3c00, FloatFormat::Half), text(1, FloatFormat::Half)],
            ["1", "5.9604644775390625e-08"]
        );
    }

    #[test]
    fn all_halves_and_many_singles_are_read_back() {
        let check = |pattern, format| {
            let text = text(pattern, format);
            let read = read(&text, format).map(|(pattern, rest)| (pattern, rest.len()));
            if !text.contains("NAN") {
                assert_eq!(read, Some((pattern, 0)), "{text}");
            }
        };
        (0..0x1_0000).for_each(|pattern| check(pattern, FloatFormat::Half));
        (0..0x10_0000).step_by(7).for_each(|pattern| check(pattern << 12, FloatFormat::Single));
        (0..0x10_0000).step_by(7).for_each(|pattern| check(pattern << 44, FloatFormat::Double));
    }
}
