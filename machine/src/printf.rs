//! [`Piece`]: the conversions of a `printf` format, and their text.
//!
//! The driver formats on the host, so the text is that of a C library on Linux, where `long` has 64 bits. Floats have
//! all their digits. `%n` is not a conversion of CUDA. [CUDA C++ Programming Guide, "Formatted Output"]

use std::fmt::Write as _;

/// The widest field and the most digits. Larger ones are refused, because the text of a module could ask for gigabytes.
const MAX_WIDTH: u32 = 1 << 12;

/// A part of a format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Piece<'f> {
    /// Text to print as it is. `%%` is one of `%`.
    Text(&'f [u8]),
    Conversion(Conversion<'f>),
    /// Something that begins with `%` and is not a conversion.
    Wrong(&'f [u8]),
}

/// One conversion, such as `%-8.3f`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Conversion<'f> {
    /// Its text in the format.
    pub(crate) text: &'f [u8],
    flags: Flags,
    /// The width, and the number of digits. The next values of the buffer may have them.
    pub(crate) width: Option<Amount>,
    pub(crate) precision: Option<Amount>,
    length: Length,
    specifier: u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    Number(u32),
    /// `*`: an `int` of the buffer.
    Argument,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Flags {
    left: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    zero: bool,
}

/// The length modifier of an integer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Length {
    Char,
    Short,
    Int,
    /// `l`, `ll`, `j`, `z` and `t` have 64 bits on Linux.
    Long,
}

/// The kind of value that a conversion takes from the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Integer { bytes: u32 },
    Float,
    Text,
}

/// A value to print.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Printed<'v> {
    Bits(u64),
    Text(&'v [u8]),
}

/// Splits a format into its pieces.
pub(crate) fn pieces(format: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = format;
    std::iter::from_fn(move || {
        let first = rest.first()?;
        let (piece, size) = if *first == b'%' {
            conversion(rest)
        } else {
            let end = rest.iter().position(|byte| *byte == b'%').unwrap_or(rest.len());
            (Piece::Text(&rest[..end]), end)
        };
        rest = &rest[size..];
        Some(piece)
    })
}

/// Reads a conversion. Also returns its size in bytes.
fn conversion(text: &[u8]) -> (Piece<'_>, usize) {
    let mut at = 1;
    let mut flags = Flags::default();
    while let Some(flag) = text.get(at) {
        match flag {
            b'-' => flags.left = true,
            b'+' => flags.plus = true,
            b' ' => flags.blank = true,
            b'#' => flags.alternate = true,
            b'0' => flags.zero = true,
            _ => break,
        }
        at += 1;
    }
    let mut is_wrong = false;
    let mut amount = |at: &mut usize, empty: Option<Amount>| {
        if text.get(*at) == Some(&b'*') {
            *at += 1;
            return Some(Amount::Argument);
        }
        let mut number = None;
        while let Some(digit) = text.get(*at).filter(|digit| digit.is_ascii_digit()) {
            let tens = number.unwrap_or(0_u32).saturating_mul(10);
            number = Some(tens.saturating_add(u32::from(digit - b'0')));
            *at += 1;
        }
        is_wrong |= number.is_some_and(|number| number > MAX_WIDTH);
        number.map(Amount::Number).or(empty)
    };
    let width = amount(&mut at, None);
    let precision = if text.get(at) == Some(&b'.') {
        at += 1;
        amount(&mut at, Some(Amount::Number(0)))
    } else {
        None
    };
    let (length, size) = match text.get(at..).unwrap_or_default() {
        [b'h', b'h', ..] => (Length::Char, 2),
        [b'h', ..] => (Length::Short, 1),
        [b'l', b'l', ..] => (Length::Long, 2),
        [b'l' | b'j' | b'z' | b't', ..] => (Length::Long, 1),
        // GPUs have no `long double`.
        [b'L', ..] => {
            is_wrong = true;
            (Length::Int, 1)
        }
        _ => (Length::Int, 0),
    };
    at += size;
    let Some(specifier) = text.get(at).copied() else { return (Piece::Wrong(text), text.len()) };
    at += 1;
    let written = &text[..at];
    let piece = match specifier {
        b'%' if at == 2 => Piece::Text(&text[..1]),
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' | b's' | b'p' | b'f' | b'F' | b'e'
        | b'E' | b'g' | b'G' | b'a' | b'A'
            if !is_wrong =>
        {
            let text = written;
            Piece::Conversion(Conversion { text, flags, width, precision, length, specifier })
        }
        _ => Piece::Wrong(written),
    };
    (piece, at)
}

impl Conversion<'_> {
    pub(crate) fn wants(&self) -> Wanted {
        match self.specifier {
            b's' => Wanted::Text,
            b'p' => Wanted::Integer { bytes: 8 },
            // Smaller integers are promoted to `int`.
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' if self.length == Length::Long => {
                Wanted::Integer { bytes: 8 }
            }
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' | b'c' => Wanted::Integer { bytes: 4 },
            _ => Wanted::Float,
        }
    }

    /// Whether an amount of the buffer is one that can be printed.
    pub(crate) fn fits(amount: i32) -> bool {
        amount.unsigned_abs() <= MAX_WIDTH
    }

    /// Writes a value. `width` and `precision` replace the `*` of the format: a negative width aligns to the left, and a
    /// negative precision counts as none.
    pub(crate) fn write(
        &self,
        value: Printed<'_>,
        width: Option<i32>,
        precision: Option<i32>,
        to: &mut Vec<u8>,
    ) {
        let amount = |written: Option<Amount>, given: Option<i32>| match written? {
            Amount::Number(number) => Some(number as i32),
            Amount::Argument => given,
        };
        let width = amount(self.width, width).unwrap_or(0);
        let precision = amount(self.precision, precision);
        let precision = precision.and_then(|digits| usize::try_from(digits).ok());
        let mut flags = self.flags;
        flags.left |= width < 0;
        let (sign, prefix, body) = match (value, self.specifier) {
            (Printed::Text(text), _) => {
                flags.zero = false;
                let end = precision.unwrap_or(text.len()).min(text.len());
                ("", "", text[..end].to_vec())
            }
            (Printed::Bits(bits), b'c') => {
                flags.zero = false;
                ("", "", vec![bits as u8])
            }
            // As the C library of Linux writes it.
            (Printed::Bits(0), b'p') => {
                flags.zero = false;
                ("", "", b"(nil)".to_vec())
            }
            (Printed::Bits(bits), b'p') => ("", "0x", format!("{bits:x}").into_bytes()),
            (Printed::Bits(bits), b'd' | b'i' | b'u' | b'o' | b'x' | b'X') => {
                flags.zero &= precision.is_none();
                self.integer(bits, precision)
            }
            (Printed::Bits(bits), _) => {
                let value = f64::from_bits(bits);
                flags.zero &= value.is_finite();
                self.float(value, precision)
            }
        };
        let size = sign.len() + prefix.len() + body.len();
        let padding = (width.unsigned_abs() as usize).saturating_sub(size);
        let pad = |to: &mut Vec<u8>, byte: u8| to.resize(to.len() + padding, byte);
        if !flags.left && !flags.zero {
            pad(to, b' ');
        }
        to.extend_from_slice(sign.as_bytes());
        to.extend_from_slice(prefix.as_bytes());
        if !flags.left && flags.zero {
            pad(to, b'0');
        }
        to.extend_from_slice(&body);
        if flags.left {
            pad(to, b' ');
        }
    }

    fn sign(&self, is_negative: bool) -> &'static str {
        match (is_negative, self.flags.plus, self.flags.blank) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    /// The sign, the prefix and the digits of an integer.
    fn integer(&self, bits: u64, digits: Option<usize>) -> (&'static str, &'static str, Vec<u8>) {
        let is_signed = matches!(self.specifier, b'd' | b'i');
        let (signed, unsigned) = match self.length {
            Length::Char => (i64::from(bits as i8), u64::from(bits as u8)),
            Length::Short => (i64::from(bits as i16), u64::from(bits as u16)),
            Length::Int => (i64::from(bits as i32), u64::from(bits as u32)),
            Length::Long => (bits.cast_signed(), bits),
        };
        let value = if is_signed { signed.unsigned_abs() } else { unsigned };
        let mut text = match self.specifier {
            // No digits of 0 with the precision 0.
            _ if value == 0 && digits == Some(0) => String::new(),
            b'x' => format!("{value:x}"),
            b'X' => format!("{value:X}"),
            b'o' => format!("{value:o}"),
            _ => value.to_string(),
        };
        if let Some(missing) = digits.and_then(|digits| digits.checked_sub(text.len())) {
            text.insert_str(0, &"0".repeat(missing));
        }
        let is_alternate = self.flags.alternate;
        if is_alternate && self.specifier == b'o' && !text.starts_with('0') {
            text.insert(0, '0');
        }
        let prefix = match self.specifier {
            b'x' if is_alternate && value != 0 => "0x",
            b'X' if is_alternate && value != 0 => "0X",
            _ => "",
        };
        let sign = if is_signed { self.sign(signed < 0) } else { "" };
        (sign, prefix, text.into_bytes())
    }

    /// The sign, the prefix and the digits of a float.
    fn float(&self, value: f64, digits: Option<usize>) -> (&'static str, &'static str, Vec<u8>) {
        let is_upper = self.specifier.is_ascii_uppercase();
        let sign = self.sign(value.is_sign_negative());
        let magnitude = value.abs();
        let mut prefix = "";
        let is_alternate = self.flags.alternate;
        let mut text = match self.specifier.to_ascii_lowercase() {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => "inf".to_owned(),
            b'f' => fixed(magnitude, digits.unwrap_or(6), is_alternate),
            b'e' => scientific(magnitude, digits.unwrap_or(6), is_alternate),
            b'g' => general(magnitude, digits.unwrap_or(6).max(1), is_alternate),
            _ => {
                prefix = if is_upper { "0X" } else { "0x" };
                hexadecimal(magnitude, digits, is_alternate)
            }
        };
        if is_upper {
            text.make_ascii_uppercase();
        }
        (sign, prefix, text.into_bytes())
    }
}

fn fixed(value: f64, digits: usize, keeps_point: bool) -> String {
    let mut text = format!("{value:.digits$}");
    if keeps_point && digits == 0 {
        text.push('.');
    }
    text
}

/// The digits of a number before its exponent, and the exponent.
fn parts(value: f64, digits: usize) -> (String, i32) {
    let text = format!("{value:.digits$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn scientific(value: f64, digits: usize, keeps_point: bool) -> String {
    let (mut text, exponent) = parts(value, digits);
    if keeps_point && digits == 0 {
        text.push('.');
    }
    push_exponent(&mut text, exponent);
    text
}

/// Appends an exponent, which has at least two digits.
fn push_exponent(text: &mut String, exponent: i32) {
    let sign = if exponent < 0 { '-' } else { '+' };
    // Writing to a string cannot fail.
    let _ = write!(text, "e{sign}{:02}", exponent.unsigned_abs());
}

fn general(value: f64, digits: usize, keeps_zeros: bool) -> String {
    let (mut text, exponent) = parts(value, digits - 1);
    let is_fixed = (-4..digits as i64).contains(&i64::from(exponent));
    if is_fixed {
        text = fixed(value, (digits as i64 - 1 - i64::from(exponent)).max(0) as usize, keeps_zeros);
    }
    if !keeps_zeros && text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    } else if keeps_zeros && !text.contains('.') {
        text.push('.');
    }
    if !is_fixed {
        push_exponent(&mut text, exponent);
    }
    text
}

/// The hexadecimal digits of a number, as the C library of Linux writes them: the first digit is 1, and 0 for subnormal
/// numbers.
fn hexadecimal(value: f64, digits: Option<usize>, keeps_point: bool) -> String {
    const FRACTION: u32 = 52;
    let bits = value.to_bits();
    let biased = (bits >> FRACTION) as i32 & 0x7ff;
    let mut exponent = match (biased, value == 0.0) {
        (_, true) => 0,
        (0, _) => -1022,
        _ => biased - 1023,
    };
    let mut mantissa = bits & ((1 << FRACTION) - 1) | u64::from(biased != 0) << FRACTION;
    let mut kept = FRACTION / 4;
    if let Some(digits) = digits.filter(|digits| *digits < kept as usize) {
        // Rounded to even. A carry makes the first digit 2, as in that library.
        let dropped = FRACTION - 4 * digits as u32;
        let (unit, rest) = (1 << dropped, mantissa & ((1 << dropped) - 1));
        let is_up = rest > unit / 2 || rest == unit / 2 && mantissa & unit != 0;
        mantissa = (mantissa - rest) + if is_up { unit } else { 0 };
        kept = digits as u32;
    }
    if biased == 0 && mantissa >> FRACTION != 0 {
        exponent = -1022;
    }
    let first = mantissa >> FRACTION;
    let fraction = format!("{:013x}", mantissa & ((1 << FRACTION) - 1));
    let mut fraction = fraction[..kept as usize].to_owned();
    match digits {
        Some(digits) => fraction.push_str(&"0".repeat(digits.saturating_sub(fraction.len()))),
        None => fraction.truncate(fraction.trim_end_matches('0').len()),
    }
    let point = if fraction.is_empty() && !keeps_point { "" } else { "." };
    format!("{first:x}{point}{fraction}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints values with a format; `*` takes the values before its conversion's.
    fn printed(format: &str, values: &[Printed<'_>]) -> String {
        let mut to = Vec::new();
        let mut values = values.iter().copied();
        for piece in pieces(format.as_bytes()) {
            match piece {
                Piece::Text(text) => to.extend_from_slice(text),
                Piece::Wrong(text) => {
                    to.extend_from_slice(b"!");
                    to.extend_from_slice(text);
                }
                Piece::Conversion(conversion) => {
                    let mut star = |amount| match (amount, Some(Amount::Argument) == amount) {
                        (_, true) => match values.next() {
                            Some(Printed::Bits(bits)) => Some(bits as i32),
                            _ => None,
                        },
                        _ => None,
                    };
                    let (width, precision) = (star(conversion.width), star(conversion.precision));
                    conversion.write(values.next().unwrap(), width, precision, &mut to);
                }
            }
        }
        String::from_utf8(to).unwrap()
    }

    /// The authority is glibc, asked with these formats and values.
    #[test]
    fn numbers_print_as_in_c() {
        let rows = include_str!("../tests/printf.tsv").lines();
        let mut count = 0;
        for row in rows.filter(|row| !row.starts_with('#')) {
            let [_, format, bits, expected] = row.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{row}");
            };
            let bits = u64::from_str_radix(&bits[2..], 16).unwrap();
            assert_eq!(printed(format, &[Printed::Bits(bits)]), expected, "{row}");
            count += 1;
        }
        assert_eq!(count, 793);
    }

    #[test]
    fn texts_widths_and_percents_print_as_in_c() {
        let text = Printed::Text(b"warp");
        assert_eq!(
            printed("[%s] [%8s] [%-8s] [%.2s] 100%%", &[text; 4]),
            "[warp] [    warp] [warp    ] [wa] 100%"
        );
        let two = [Printed::Bits(6), Printed::Bits(2), Printed::Bits(1.5_f64.to_bits())];
        assert_eq!(printed("%*.*f|", &two), "  1.50|");
        let left = [Printed::Bits(-6_i64 as u64), Printed::Bits(7)];
        assert_eq!(printed("%*d|", &left), "7     |");
    }

    #[test]
    fn what_is_not_a_conversion_is_wrong() {
        for wrong in ["%n", "%", "%5", "%l", "%Lf", "%k", "%99999d", "%.5000f", "%5%", "%S"] {
            assert!(matches!(pieces(wrong.as_bytes()).next(), Some(Piece::Wrong(_))), "{wrong}");
        }
    }
}
