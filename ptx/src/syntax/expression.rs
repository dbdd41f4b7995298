//! Constant expressions: the values of offsets, immediates and initializers.

use std::cmp::Ordering;

use super::lexer::TokenKind;
use super::words::Words;
use crate::syntax::{ScalarType, SyntaxError};

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    /// An integer of 64 bits. [PTX ISA, Constant Expressions]
    Integer {
        /// The value in two's complement.
        bits: u64,
        /// Whether the type is `.u64`; otherwise it is `.s64`.
        is_unsigned: bool,
    },
    /// A float, or an expression that ptxas does not accept as an integer: floats mixed with integers, a float as a
    /// condition, a cast to a type other than `.s64` and `.u64`.
    Float(f64),
}

/// The limit on nested parentheses and signs, which bounds the recursion.
const MAX_DEPTH: usize = 64;

/// The value of `WARP_SZ`.
pub(crate) const WARP_SIZE: u64 = 32;

/// Reads an integer in any notation of PTX: `12`, `0x1F`, `017`, `0b101`, each optionally with `U`. Returns `None` for
/// anything else, including numbers of more than 64 bits.
///
/// ```
/// use warpload_ptx::syntax::integer;
///
/// assert_eq!(["12", "0x1fU", "017", "0b101"].map(integer), [12, 31, 15, 5].map(Some));
/// assert_eq!(["1.5", "09", "0f3F800000", "18446744073709551616"].map(integer), [None; 4]);
/// ```
#[must_use]
pub fn integer(text: &str) -> Option<u64> {
    let (digits, radix) = notation(text);
    // `from_str_radix` would accept a sign.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_number { u64::from_str_radix(digits, radix).ok() } else { None }
}

/// The digits of an integer without prefix and suffix, and the radix.
fn notation(text: &str) -> (&str, u32) {
    let digits = text.strip_suffix('U').unwrap_or(text);
    match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    }
}

/// [`integer`] modulo 2^64, because ptxas drops high bits. It refuses a number only if the value before the last digit
/// exceeds 2^63 - 1.
fn wrapping_integer(text: &str) -> Option<u64> {
    let (digits, radix) = notation(text);
    if digits.is_empty() {
        return None;
    }
    digits.chars().try_fold(0_u64, |value, digit| {
        let digit = digit.to_digit(radix)?;
        let is_small = value <= i64::MAX as u64;
        is_small.then(|| value.wrapping_mul(u64::from(radix)).wrapping_add(u64::from(digit)))
    })
}

/// Reads an integer, or a float such as `1.5`, `2e5`, `0f3F800000` or `0d3FF0000000000000`.
pub(crate) fn number(text: &str) -> Option<Constant> {
    if let Some(bits) = wrapping_integer(text) {
        let is_unsigned = text.ends_with('U') || bits > i64::MAX as u64;
        return Some(Constant::Integer { bits, is_unsigned });
    }
    let (prefix, digits) = text.split_at_checked(2)?;
    match (prefix, digits.len()) {
        ("0f" | "0F", 8) => {
            let bits = u32::from_str_radix(digits, 16).ok()?;
            Some(Constant::Float(f64::from(f32::from_bits(bits))))
        }
        ("0d" | "0D", 16) => {
            let bits = u64::from_str_radix(digits, 16).ok()?;
            Some(Constant::Float(f64::from_bits(bits)))
        }
        // `09` is neither an octal number nor a float.
        _ if text.contains(['.', 'e', 'E']) => text.parse().ok().map(Constant::Float),
        _ => None,
    }
}

/// Reads the longest expression at the current word.
///
/// # Errors
/// Returns the first word that is invalid in a constant expression.
pub(crate) fn constant(words: &mut Words<'_>) -> Result<Constant, SyntaxError> {
    conditional(words, 0)
}

fn conditional(words: &mut Words<'_>, depth: usize) -> Result<Constant, SyntaxError> {
    let condition = binary(words, 0, depth)?;
    if !words.eat(b'?') {
        return Ok(condition);
    }
    if depth >= MAX_DEPTH {
        return Err(words.expected("a shorter expression"));
    }
    let yes = conditional(words, depth + 1)?;
    words.expect(b':', "`:`")?;
    let no = conditional(words, depth + 1)?;
    let chosen = if condition.is_true() { yes } else { no };
    let are_integers = [condition, yes, no].iter().all(|value| value.integer().is_some());
    Ok(if are_integers { chosen } else { Constant::Float(chosen.float()) })
}

/// Operators with their precedence, higher binding more tightly. Operators of two characters come first, so that they
/// match before their prefixes. [PTX ISA, Operator Precedence]
const OPERATORS: [(&[u8], usize); 18] = [
    (b"||", 0),
    (b"&&", 1),
    (b"==", 5),
    (b"!=", 5),
    (b"<=", 6),
    (b">=", 6),
    (b"<<", 7),
    (b">>", 7),
    (b"|", 2),
    (b"^", 3),
    (b"&", 4),
    (b"<", 6),
    (b">", 6),
    (b"+", 8),
    (b"-", 8),
    (b"*", 9),
    (b"/", 9),
    (b"%", 9),
];

/// The operator at the current word, if any.
fn operator(words: &Words<'_>) -> Option<(&'static [u8], usize)> {
    let TokenKind::Punctuation(first) = words.kind() else { return None };
    // Nearly all expressions end here. This saves looking one word ahead.
    if matches!(first, b']' | b',' | b'}' | b')' | b';') {
        return None;
    }
    let mut ahead = words.clone();
    let end = ahead.advance().span.end;
    let second = match ahead.kind() {
        TokenKind::Punctuation(second) if ahead.span().start == end => Some(second),
        _ => None,
    };
    OPERATORS.into_iter().find(|(spelling, _)| match spelling {
        [only] => *only == first,
        [one, two] => *one == first && Some(*two) == second,
        _ => false,
    })
}

fn binary(words: &mut Words<'_>, lowest: usize, depth: usize) -> Result<Constant, SyntaxError> {
    let mut left = unary(words, depth)?;
    while let Some((spelling, level)) = operator(words).filter(|(_, level)| *level >= lowest) {
        let error = words.expected("a divisor that is not 0");
        for _ in spelling {
            words.advance();
        }
        // Precedences go up to 9, which bounds the recursion.
        let right = binary(words, level + 1, depth)?;
        left = apply(spelling, left, right).ok_or(error)?;
    }
    Ok(left)
}

fn unary(words: &mut Words<'_>, depth: usize) -> Result<Constant, SyntaxError> {
    if depth >= MAX_DEPTH {
        return Err(words.expected("a shorter expression"));
    }
    let TokenKind::Punctuation(mark) = words.kind() else { return primary(words) };
    if !matches!(mark, b'+' | b'-' | b'~' | b'!' | b'(') {
        return Err(words.expected("a constant"));
    }
    words.advance();
    if mark == b'(' {
        // A cast to `.s64` or `.u64` is an integer. Other casts are read, but their value is not an integer.
        let cast = words.text();
        if words.kind() == TokenKind::Dotted {
            if cast.trim_start_matches('.').parse::<ScalarType>().is_err() {
                return Err(words.expected("`.s64` or `.u64`"));
            }
            words.advance();
            words.expect(b')', "`)`")?;
            let value = unary(words, depth + 1)?;
            return Ok(match (value.integer(), cast) {
                (Some(bits), ".s64" | ".u64") => {
                    Constant::Integer { bits, is_unsigned: cast == ".u64" }
                }
                _ => Constant::Float(value.float()),
            });
        }
        let inner = conditional(words, depth + 1)?;
        words.expect(b')', "`)`")?;
        return Ok(inner);
    }
    let value = unary(words, depth + 1)?;
    match (mark, value) {
        (b'+', value) => Ok(value),
        (b'!', Constant::Integer { .. }) => Ok(truth(!value.is_true())),
        (b'-', Constant::Float(value)) => Ok(Constant::Float(-value)),
        (b'-', Constant::Integer { bits, is_unsigned }) => {
            Ok(Constant::Integer { bits: bits.wrapping_neg(), is_unsigned })
        }
        // The result of `~` is a `.u64`, whatever the operand. [an assembler's verdicts]
        (_, Constant::Integer { bits, .. }) => {
            Ok(Constant::Integer { bits: !bits, is_unsigned: true })
        }
        (_, Constant::Float(_)) => Ok(Constant::Float(f64::NAN)),
    }
}

fn primary(words: &mut Words<'_>) -> Result<Constant, SyntaxError> {
    let value = match words.kind() {
        TokenKind::Number => number(words.text()),
        TokenKind::Word if words.is("WARP_SZ") => {
            Some(Constant::Integer { bits: WARP_SIZE, is_unsigned: false })
        }
        _ => None,
    };
    let value = value.ok_or_else(|| words.expected("a constant"))?;
    words.advance();
    Ok(value)
}

fn truth(is_true: bool) -> Constant {
    Constant::Integer { bits: u64::from(is_true), is_unsigned: false }
}

impl Constant {
    /// Returns the bits of an integer; `None` for a float.
    #[must_use]
    pub fn integer(self) -> Option<u64> {
        match self {
            Self::Integer { bits, .. } => Some(bits),
            Self::Float(_) => None,
        }
    }

    /// Returns the value as a float.
    #[must_use]
    pub fn float(self) -> f64 {
        match self {
            Self::Integer { bits, is_unsigned: true } => bits as f64,
            Self::Integer { bits, .. } => bits as i64 as f64,
            Self::Float(value) => value,
        }
    }

    fn is_true(self) -> bool {
        self.float() != 0.0
    }
}

/// Applies a binary operator; `None` for a division by zero.
fn apply(operator: &[u8], left: Constant, right: Constant) -> Option<Constant> {
    let (
        Constant::Integer { bits: a, is_unsigned: left_unsigned },
        Constant::Integer { bits: b, is_unsigned: right_unsigned },
    ) = (left, right)
    else {
        return apply_floats(operator, left, right);
    };
    let is_unsigned = left_unsigned || right_unsigned;
    let order = if is_unsigned { a.cmp(&b) } else { (a as i64).cmp(&(b as i64)) };
    if let Some(is_true) = compared(operator, order) {
        return Some(truth(is_true));
    }
    let bits = match operator {
        b"||" => return Some(truth(left.is_true() || right.is_true())),
        b"&&" => return Some(truth(left.is_true() && right.is_true())),
        b"|" => a | b,
        b"^" => a ^ b,
        b"&" => a & b,
        // Only the low six bits of the shift count matter, and its type does not.
        b"<<" => {
            return Some(Constant::Integer {
                bits: a.wrapping_shl(b as u32),
                is_unsigned: left_unsigned,
            });
        }
        b">>" => {
            let (shift, signed) = (b as u32, a as i64);
            let shifted = signed.wrapping_shr(shift) as u64;
            let bits = if left_unsigned { a.wrapping_shr(shift) } else { shifted };
            return Some(Constant::Integer { bits, is_unsigned: left_unsigned });
        }
        b"+" => a.wrapping_add(b),
        b"-" => a.wrapping_sub(b),
        b"*" => a.wrapping_mul(b),
        b"/" if is_unsigned => a.checked_div(b)?,
        b"/" if b != 0 => (a as i64).wrapping_div(b as i64) as u64,
        // Unsigned, whatever the operands. [an assembler's verdicts]
        b"%" => return Some(Constant::Integer { bits: a.checked_rem(b)?, is_unsigned: true }),
        _ => return None,
    };
    Some(Constant::Integer { bits, is_unsigned })
}

/// [`apply`] with at least one float. A comparison of a float and an integer, or with a NaN, is not an integer.
fn apply_floats(operator: &[u8], left: Constant, right: Constant) -> Option<Constant> {
    let (a, b) = (left.float(), right.float());
    let are_alike = left.integer().is_none() && right.integer().is_none();
    let order = a.partial_cmp(&b).filter(|_| are_alike);
    if let Some(is_true) = order.and_then(|order| compared(operator, order)) {
        return Some(truth(is_true));
    }
    let value = match operator {
        b"+" => a + b,
        b"-" => a - b,
        b"*" => a * b,
        b"/" if b == 0.0 => return None,
        b"/" => a / b,
        _ => f64::NAN,
    };
    Some(Constant::Float(value))
}

/// The result of a comparison; `None` for other operators.
fn compared(operator: &[u8], order: Ordering) -> Option<bool> {
    Some(match operator {
        b"==" => order.is_eq(),
        b"!=" => order.is_ne(),
        b"<" => order.is_lt(),
        b"<=" => order.is_le(),
        b">" => order.is_gt(),
        b">=" => order.is_ge(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Span;
    use super::*;

    fn value(text: &str) -> Option<Constant> {
        let mut words = Words::new(text, Span { start: 0, end: text.len() as u32 });
        let value = constant(&mut words).ok();
        value.filter(|_| words.kind() == TokenKind::End)
    }

    #[test]
    fn expressions_have_the_values_that_an_assembler_gives_them() {
        for (text, expected) in [
            ("4+4*2", 12),
            ("-(4)+ +1", -3),
            ("1<<4|3", 19),
            ("7/2-7 % 4", 0),
            ("-7/2", -3),
            ("-8>>1", -4),
            ("3>2?10:20", 10),
            ("0?1:0?2:3", 3),
            ("!0&&~0", 1),
            ("(.s64)0x10U", 16),
            ("WARP_SZ*2", 64),
            ("1.5<2.0", 1),
            ("(1.5<2.5)?1:2", 1),
            ("0xffffffffffffffff", -1),
            ("18446744073709551616", 0),
            ("0x1000000000000000012", 0x12),
            ("92233720368547758079", -1),
            ("1<<64", 1),
            ("1<<-1", i64::MIN),
            ("-8>>65", -4),
            // ptxas 12.9 and 13.5 differ from C here: `~` and `%` make unsigned numbers, and the type of a shift is its
            // left operand's.
            ("~0/2", i64::MAX),
            ("~0>>63", 1),
            ("~0<0", 0),
            ("~63/5", 0x3333_3333_3333_3326),
            ("7%(-3)", 7),
            ("-7%(3)", 0),
            ("-3%(-7)", 4),
            ("(7%(3))-8<0", 0),
            ("(-1>>0U)>>1", -1),
            ("(1<<0U)-2<0", 1),
            ("(5U<<1)-11<0", 0),
        ] {
            let bits = value(text).and_then(Constant::integer);
            assert_eq!(bits.map(|bits| bits as i64), Some(expected), "{text}");
        }
        assert_eq!(value("0f3F800000"), Some(Constant::Float(1.0)));
        for (text, expected) in
            [("1.e3", 1e3), (".5e1", 5.0), ("1.e-3", 1e-3), ("1.E+3", 1e3), ("-.5E-1", -0.05)]
        {
            assert_eq!(value(text), Some(Constant::Float(expected)), "{text}");
        }
        for text in
            ["1.5<2", "!1.5", "~1.5", "1.5?1:2", "1?1:2.5", "1.5&&1", "(.s64)1.5", "(.s32)4"]
        {
            assert!(matches!(value(text), Some(Constant::Float(_))), "{text}");
        }
        for text in [
            "1/0", "1%0U", "%r1", "4+", "()", "(4", "(.foo)4", "1.5/0.0", "09", "0x", "08", "0b2",
            "1 2", "",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
        for overflow in ["92233720368547758080", "0x80000000000000000", "99999999999999999999"] {
            assert_eq!(value(overflow), None, "{overflow}");
        }
    }

    #[test]
    fn deep_expressions_end() {
        assert_eq!(value(&"(".repeat(100_000)), None);
        assert_eq!(value(&"-".repeat(100_000)), None);
        assert_eq!(value(&format!("1{}", "?1:1".repeat(100_000))), None);
        let sum = format!("1{}", "+1".repeat(100_000));
        assert_eq!(value(&sum).and_then(Constant::integer), Some(100_001));
    }
}
