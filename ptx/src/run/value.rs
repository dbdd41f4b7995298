//! Values of registers and parameters as text.

use crate::syntax::TokenKind;
use crate::syntax::expression::{Constant, constant, number};
use crate::syntax::words::Words;
use crate::syntax::{Lexer, ScalarType, Span, integer};
use warpload::lane::LANES;

/// The reason why a text is not a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// A syntax error: another word was expected.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// The expected word or kind of word.
        expected: &'static str,
        /// The word at fault, quoted, or `the end`.
        found: String,
    },
    /// More bits than the register or the parameter has.
    #[error("{value} does not fit in {bits} bits")]
    TooWide {
        /// The value.
        value: String,
        /// The width of the register or parameter in bits.
        bits: u32,
    },
    /// A fraction for a type other than `.f32` and `.f64`.
    #[error("{0} is not an integer")]
    Fraction(String),
    /// Several values, but not one for each lane.
    #[error("{0} values; expected one, or one for each of the 32 lanes")]
    Lanes(usize),
}

/// Evaluates a constant expression of PTX as a value of type `scalar`, and returns the value's bits. An expression with
/// a fraction is a number, and only fits `.f32` and `.f64`. An integer is a bit pattern for any type, and sign-extended
/// if it is negative. Only a hexadecimal number without operators may have up to 128 bits.
///
/// ```
/// use warpload_ptx::syntax::ScalarType;
/// use warpload_ptx::run::bits_of;
///
/// assert_eq!(bits_of("-2", ScalarType::B32), Ok(0xffff_fffe));
/// assert_eq!(bits_of("0x10+3*4", ScalarType::U64), Ok(28));
/// assert_eq!(bits_of("1.5", ScalarType::F32), Ok(0x3fc0_0000));
/// assert!(bits_of("256", ScalarType::U8).is_err());
/// ```
///
/// # Errors
/// Returns [`ValueError`] if the text is not a constant expression, or the value does not fit.
pub fn bits_of(text: &str, scalar: ScalarType) -> Result<u128, ValueError> {
    bits_in_lane(text, scalar, None)
}

fn bits_in_lane(text: &str, scalar: ScalarType, lane: Option<usize>) -> Result<u128, ValueError> {
    let bits = scalar.register_bits().unwrap_or(128);
    let cut = |value: u128| value & low_bits(bits);
    // Checked first, because `from_str_radix` would accept a sign.
    let is_wide =
        |digits: &&str| digits.len() > 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let wide = text.trim().strip_prefix("0x").filter(is_wide);
    let (value, fits) =
        if let Some(wide) = wide.and_then(|digits| u128::from_str_radix(digits, 16).ok()) {
            (wide, cut(wide) == wide)
        } else {
            match whole(&expression(text, lane))? {
                Constant::Float(value) => match scalar {
                    ScalarType::F32 => return Ok(u128::from((value as f32).to_bits())),
                    ScalarType::F64 => return Ok(u128::from(value.to_bits())),
                    _ => return Err(ValueError::Fraction(text.trim().to_owned())),
                },
                Constant::Integer { bits: value, is_unsigned: false } if (value as i64) < 0 => {
                    let signed = i128::from(value as i64);
                    (cut(signed as u128), bits >= 64 || signed >= -(1_i128 << (bits - 1)))
                }
                Constant::Integer { bits: value, .. } => {
                    (u128::from(value), cut(u128::from(value)) == u128::from(value))
                }
            }
        };
    let too_wide = || ValueError::TooWide { value: shown(text.trim()), bits };
    fits.then_some(value).ok_or_else(too_wide)
}

/// Returns the values of a register in the 32 lanes, lane 0 first. `text` is one expression, in which `lane` stands for
/// the lane's number, or 32 expressions separated by commas. Each is evaluated like [`bits_of`].
///
/// ```
/// use warpload_ptx::syntax::ScalarType;
/// use warpload_ptx::run::lane_bits;
///
/// let values = lane_bits("0x1000+16*lane", ScalarType::B64)?;
/// assert_eq!((values[0], values[31]), (0x1000, 0x11f0));
/// # Ok::<(), warpload_ptx::run::ValueError>(())
/// ```
///
/// # Errors
/// Returns [`ValueError`] if an expression is invalid, a value does not fit, or the number of expressions is neither 1
/// nor 32.
pub fn lane_bits(text: &str, scalar: ScalarType) -> Result<[u128; LANES], ValueError> {
    let parts: Vec<&str> = text.split(',').collect();
    let mut values = [0; LANES];
    for (lane, value) in values.iter_mut().enumerate() {
        let part = match parts.as_slice() {
            [only] => only,
            parts if parts.len() == LANES => parts[lane],
            parts => return Err(ValueError::Lanes(parts.len())),
        };
        *value = bits_in_lane(part, scalar, Some(lane))?;
    }
    Ok(values)
}

/// The text with `lane` replaced by its number. `%4` becomes `% 4`, because the lexer would take it for a register, but
/// here it is an operator and a number.
fn expression(text: &str, lane: Option<usize>) -> String {
    let mut expression = String::with_capacity(text.len());
    let mut end = 0;
    for token in Lexer::new(text) {
        let range = token.span.range();
        let between = text.get(end..range.start);
        debug_assert!(between.is_some(), "words follow one another");
        expression.push_str(between.unwrap_or_default());
        end = range.end;
        let word = token.span.text(text);
        let (operator, word) = match word.strip_prefix('%').filter(|rest| !rest.is_empty()) {
            Some(rest) => ("% ", rest),
            None => ("", word),
        };
        expression.push_str(operator);
        match lane.filter(|_| word == "lane") {
            Some(lane) => expression += &lane.to_string(),
            None => expression.push_str(word),
        }
    }
    let rest = text.get(end..);
    debug_assert!(rest.is_some(), "words end inside the text");
    expression.push_str(rest.unwrap_or_default());
    expression
}

/// Reads a text that is a single constant expression.
fn whole(text: &str) -> Result<Constant, ValueError> {
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut words = Words::new(text, Span { start: 0, end });
    let value = constant(&mut words).map_err(|error| ValueError::Expected {
        expected: error.expected,
        found: found(error.span.text(text)),
    })?;
    // The lexer accepts numbers of more than 64 bits, as modules may have them, and drops their high bits. A value must
    // not be changed silently.
    let wraps = Lexer::new(text).map(|token| token.span.text(text)).find(|word| {
        matches!(number(word), Some(Constant::Integer { .. })) && integer(word).is_none()
    });
    if let Some(wide) = wraps {
        return Err(ValueError::TooWide { value: shown(wide), bits: 64 });
    }
    match words.kind() {
        TokenKind::End => Ok(value),
        _ => Err(ValueError::Expected { expected: "the end", found: found(words.text()) }),
    }
}

fn found(word: &str) -> String {
    if word.is_empty() { "the end".to_owned() } else { format!("`{}`", shown(word)) }
}

/// The first characters of an invalid text, because messages must stay short.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

/// A mask of the low `width` bits.
fn low_bits(width: u32) -> u128 {
    1_u128.checked_shl(width).map_or(u128::MAX, |bit| bit - 1)
}
