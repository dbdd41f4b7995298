//! [`LanePattern`]: the addresses of a warp without a trace, from a formula of the lane or from a layout.
//! [`AccessCosts::of_access`](super::AccessCosts::of_access) returns the cost of an access to them, as a replay does.
//!
//! `expression.rs` reads formulas, and `layout.rs` reads layouts in CuTe's notation. Another notation is another
//! variant of `Source`.

mod expression;
mod layout;

use std::fmt;
use std::ops::Range;

use self::expression::Expression;
use self::layout::Layout;
use warpload::lane::{LANES, LaneMask};
use warpload::load::LaneAddresses;
use warpload::memory::WarpAddresses;
use warpload::text::parse_number;

/// The addresses of the lanes of a warp: a formula or a layout.
///
/// A formula has C's operators, with C's precedence, on signed numbers of 64 bits: `+ - * / %`, `<< >>`, `& ^ |`, `~`.
/// `lane`, or `threadIdx.x`, is the lane number; the caller supplies the values of other names. `swizzle(x, B, M, S)`
/// is CuTe's `Swizzle<B, M, S>` of `x`. The result is an address in bytes.
///
/// A layout is a shape and a stride in CuTe's notation, `(8,4):(1,16)`, nested or not, optionally after a swizzle:
/// `Sw<3,3,3> o (8,4):(64,8)`. Its index is the lane, and the leftmost mode counts fastest. The result is in elements.
/// Lanes beyond its size have no address.
///
/// ```
/// use warpload::memory::{Space, Width};
/// use warpload_replay::{LanePattern, AccessCosts, PatternError};
///
/// let wavefronts = |formula| -> Result<_, PatternError> {
///     let warp = LanePattern::parse(formula)?.addresses(1, &|_| None)?;
///     let costs = AccessCosts::of_access(Space::Shared, Width::Bytes4, warp.executing, &warp.addresses);
///     Ok(costs.wavefronts())
/// };
/// // A column of `float tile[32][32]`, and of `float tile[32][33]`.
/// assert_eq!((wavefronts("lane * 128")?, wavefronts("lane * 132")?), (Some(32), Some(1)));
/// # Ok::<(), PatternError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LanePattern {
    source: Source,
}

fn signed(text: &str) -> Option<i64> {
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |digits| (digits, -1));
    Some(sign * i64::try_from(parse_number(digits)?).ok()?)
}

#[derive(Clone, Debug)]
enum Source {
    Expression(Expression),
    Layout(Layout),
}

impl LanePattern {
    /// Reads the value of a name in a formula, `base=0x100`: decimal or hexadecimal, with or without a minus sign. `None`
    /// for other texts.
    #[must_use]
    pub fn parse_value(text: &str) -> Option<(String, i64)> {
        let (name, value) = text.split_once('=')?;
        Some((name.trim().to_owned(), signed(value.trim())?))
    }

    /// Reads the values that a name in a formula counts through, `col=0..32`, without the last number.
    ///
    /// # Errors
    /// Returns [`PatternRangeError`] for other texts, for no value, and for more than `most`.
    pub fn parse_range(text: &str, most: i64) -> Result<(String, Range<i64>), PatternRangeError> {
        let parts = || {
            let (name, range) = text.split_once('=')?;
            let (from, to) = range.split_once("..")?;
            Some((name.trim(), signed(from.trim())?, signed(to.trim())?))
        };
        let (name, from, to) = parts().ok_or(PatternRangeError::Syntax)?;
        match to.checked_sub(from) {
            Some(0) => Err(PatternRangeError::Empty(from)),
            Some(..0) => Err(PatternRangeError::Reversed { from, to }),
            Some(count) if count <= most => Ok((name.to_owned(), from..to)),
            // Only a difference of numbers with different signs overflows.
            None if from > to => Err(PatternRangeError::Reversed { from, to }),
            _ => Err(PatternRangeError::TooMany(most)),
        }
    }

    /// Reads a formula, or a layout if there is a colon in the text.
    ///
    /// # Errors
    /// Returns [`PatternError`] with the bytes at fault.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let source = if text.contains(':') {
            Source::Layout(Layout::parse(text)?)
        } else {
            Source::Expression(Expression::parse(text)?)
        };
        Ok(Self { source })
    }

    /// Returns whether this is a layout, which counts in elements.
    #[must_use]
    pub fn is_layout(&self) -> bool {
        matches!(self.source, Source::Layout(_))
    }

    /// Returns the names that may have a value, each once: a formula's names other than the lane's, or `base` for a
    /// layout.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        match &self.source {
            Source::Expression(expression) => expression.names(),
            Source::Layout(_) => vec!["base"],
        }
    }

    /// Returns the addresses in bytes. Elements of a layout have `element` bytes. `value` supplies the values of names;
    /// a layout begins at the value of `base`, or at 0.
    ///
    /// # Errors
    /// Returns [`PatternError`] with the bytes at fault and the lane, if a name has no value or a lane no address.
    pub fn addresses(
        &self,
        element: u32,
        value: &dyn Fn(&str) -> Option<i64>,
    ) -> Result<LaneAddresses, PatternError> {
        let (mut executing, mut addresses) = (LaneMask::NONE, [0; LANES]);
        for (lane, at) in addresses.iter_mut().enumerate() {
            let address = match &self.source {
                Source::Expression(expression) => expression.evaluate(lane as i64, value)?,
                Source::Layout(layout) => {
                    let Some(index) = layout.of_lane(lane) else { break };
                    let bytes = index.checked_mul(i64::from(element));
                    let address =
                        bytes.and_then(|bytes| bytes.checked_add(value("base").unwrap_or(0)));
                    address.ok_or_else(|| layout.error(lane, PatternErrorKind::Overflow))?
                }
            };
            *at = u64::try_from(address).map_err(|_| {
                let negative = PatternErrorKind::Negative(address);
                match &self.source {
                    Source::Expression(expression) => expression.error(lane, negative),
                    Source::Layout(layout) => layout.error(lane, negative),
                }
            })?;
            executing.insert(lane);
        }
        Ok(LaneAddresses {
            executing,
            addresses: WarpAddresses::Each(addresses),
            ..LaneAddresses::NONE
        })
    }
}

/// Why a text is not a pattern, or a lane has no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// The kind of error.
    pub kind: PatternErrorKind,
    /// The bytes of the text at fault.
    pub span: Range<usize>,
    /// The lane, if other lanes may have an address.
    pub lane: Option<usize>,
}

/// The kind of a [`PatternError`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternErrorKind {
    /// An expected token is missing here.
    Expected(&'static str),
    /// A character that patterns do not use.
    UnexpectedCharacter,
    /// An invalid number, or one of more than 63 bits.
    BadNumber,
    /// Too many terms, or parentheses nested too deeply.
    TooLong,
    /// An unknown function, or a wrong number of arguments.
    UnknownFunction,
    /// A name without a value.
    UnknownName(String),
    /// A result of more than 63 bits.
    Overflow,
    /// A division by zero.
    DivisionByZero,
    /// A shift by less than 0 or more than 63 bits.
    Shift(i64),
    /// A swizzle with bits that overlap or lie beyond the 63rd.
    Swizzle,
    /// Shape and stride have different modes.
    Congruence,
    /// A mode without elements.
    EmptyMode,
    /// An address below 0.
    Negative(i64),
}

/// Why a text is not a range of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternRangeError {
    /// It is not a name and two numbers.
    #[error("expected a name and two numbers, such as col=0..32")]
    Syntax,
    /// It has no number, because both are the same.
    #[error("the range is empty: {0}..{0} has no number, because the last one is left out")]
    Empty(i64),
    /// The first number is above the last one.
    #[error("the range is empty: {from} is above {to}")]
    Reversed {
        /// The first number.
        from: i64,
        /// The last number.
        to: i64,
    },
    /// It has too many numbers.
    #[error("too many numbers; expected at most {0}")]
    TooMany(i64),
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(lane) = self.lane {
            write!(f, "lane {lane}: ")?;
        }
        match &self.kind {
            PatternErrorKind::Expected(what) => write!(f, "expected {what}"),
            PatternErrorKind::UnexpectedCharacter => f.write_str("unexpected character"),
            PatternErrorKind::BadNumber => f.write_str("not a number of at most 63 bits"),
            PatternErrorKind::TooLong => f.write_str("too long or too deeply nested"),
            PatternErrorKind::UnknownFunction => {
                f.write_str("the only function is `swizzle(x, B, M, S)`")
            }
            PatternErrorKind::UnknownName(name) => write!(f, "`{name}` has no value"),
            PatternErrorKind::Overflow => f.write_str("the result has more than 63 bits"),
            PatternErrorKind::DivisionByZero => f.write_str("division by zero"),
            PatternErrorKind::Shift(bits) => write!(f, "a shift by {bits} bits"),
            PatternErrorKind::Swizzle => f.write_str(
                "no swizzle: it has B bits above the lowest M, and |S| is at least B; all within 63",
            ),
            PatternErrorKind::Congruence => f.write_str("shape and stride have different modes"),
            PatternErrorKind::EmptyMode => f.write_str("a mode has at least one element"),
            PatternErrorKind::Negative(address) => write!(f, "the address {address} is below 0"),
        }
    }
}

impl std::error::Error for PatternError {}

/// CuTe's `Swizzle<B, M, S>`: xors the B bits from bit M on with the B bits that are S higher, or lower if S is
/// negative.
#[derive(Clone, Copy, Debug)]
struct Swizzle {
    mask: i64,
    shift: i32,
}

impl Swizzle {
    /// Creates a swizzle; `None` if its bits overlap or exceed the number.
    fn new(bits: i64, base: i64, shift: i64) -> Option<Self> {
        let is_apart = bits == 0 || shift.checked_abs()? >= bits;
        let is_inside = (0..=62).contains(&bits)
            && (0..=62).contains(&base)
            && (-62..=62).contains(&shift)
            && bits + base + shift.abs() <= 62;
        let mask = |low: i64| ((1i64 << bits) - 1) << low;
        (is_apart && is_inside)
            .then(|| Self { mask: mask(base + shift.max(0)), shift: shift as i32 })
    }

    fn of(self, number: i64) -> i64 {
        let bits = number & self.mask;
        number ^ if self.shift >= 0 { bits >> self.shift } else { bits << -self.shift }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn addresses(text: &str, element: u32) -> Result<Vec<u64>, PatternError> {
        let value = |name: &str| match name {
            "base" => Some(0x100),
            "k" => Some(3),
            _ => None,
        };
        let warp = LanePattern::parse(text)?.addresses(element, &value)?;
        Ok(warp.executing.lanes().map(|lane| warp.addresses.of(lane)).collect())
    }

    fn each(formula: impl Fn(u64) -> u64) -> Vec<u64> {
        (0..LANES as u64).map(formula).collect()
    }

    #[test]
    fn formulas() {
        for (text, expected) in [
            ("base + lane*16", each(|lane| 0x100 + lane * 16)),
            ("(lane&3)<<4 ^ lane", each(|lane| ((lane & 3) << 4) ^ lane)),
            ("lane & 3 << 2 | lane >> 1 & 1", each(|lane| (lane & 12) | (lane >> 1 & 1))),
            ("lane / 8 * 128 + lane % 8 * 0x10", each(|lane| lane / 8 * 128 + lane % 8 * 16)),
            ("-lane + 31 - -1", each(|lane| 32 - lane)),
            ("~lane & 0b11111", each(|lane| !lane & 31)),
            ("threadIdx.x * k", each(|lane| lane * 3)),
            ("40", each(|_| 40)),
            ("swizzle(lane * 16, 3, 4, 3)", each(|lane| (lane * 16) ^ ((lane >> 3 & 7) << 4))),
        ] {
            assert_eq!(addresses(text, 1), Ok(expected), "{text}");
        }
    }

    /// Layouts, their order and their swizzles as CuTe's documentation defines and prints them.
    #[test]
    fn layouts() {
        for (text, expected) in [
            ("32:1", each(|lane| 0x100 + 2 * lane)),
            ("(8,4):(1,8)", each(|lane| 0x100 + 2 * lane)),
            ("(8,4):(4,1)", each(|lane| 0x100 + 2 * (lane % 8 * 4 + lane / 8))),
            (
                "((2,4),(2,2)):((1,4),(2,16))",
                each(|lane| {
                    0x100 + 2 * (lane % 2 + lane / 2 % 4 * 4 + lane / 8 % 2 * 2 + lane / 16 * 16)
                }),
            ),
            (
                "Sw<3,3,3> o (8,4):(64,8)",
                each(|lane| {
                    let at = lane % 8 * 64 + lane / 8 * 8;
                    0x100 + 2 * (at ^ (at >> 3 & 0b111_000))
                }),
            ),
            ("4:8", vec![0x100, 0x110, 0x120, 0x130]),
            ("_8:_0", vec![0x100; 8]),
        ] {
            assert_eq!(addresses(text, 2), Ok(expected), "{text}");
        }
    }

    #[test]
    fn errors_have_their_place() {
        use PatternErrorKind as Kind;
        for (text, kind, span, lane) in [
            ("", Kind::Expected("a number, a name or `(`"), 0..0, None),
            ("lane +", Kind::Expected("a number, a name or `(`"), 6..6, None),
            ("(lane", Kind::Expected("`)`"), 5..5, None),
            ("lane lane", Kind::Expected("an operator"), 5..9, None),
            ("lane $ 2", Kind::UnexpectedCharacter, 5..6, None),
            ("lane * 0x", Kind::BadNumber, 7..9, None),
            ("99999999999999999999", Kind::BadNumber, 0..20, None),
            ("f(lane)", Kind::UnknownFunction, 0..1, None),
            ("swizzle(lane, 3)", Kind::UnknownFunction, 0..7, None),
            ("lane * row", Kind::UnknownName("row".into()), 7..10, None),
            ("16 / lane", Kind::DivisionByZero, 3..4, Some(0)),
            ("1 << lane * 4", Kind::Shift(64), 2..4, Some(16)),
            ("lane * 0x7fffffffffffffff", Kind::Overflow, 5..6, Some(2)),
            ("4 - lane", Kind::Negative(-1), 0..8, Some(5)),
            ("swizzle(lane, 3, 4, 2)", Kind::Swizzle, 0..7, Some(0)),
            ("(8,4):(1", Kind::Expected("`,` or `)`"), 8..8, None),
            ("(8,4):1", Kind::Congruence, 0..7, None),
            ("(8,0):(1,1)", Kind::EmptyMode, 3..4, None),
            ("Sw<3,4,1> o 32:1", Kind::Swizzle, 0..9, None),
            ("32:1 x", Kind::Expected("the end"), 5..6, None),
        ] {
            let error = addresses(text, 1).unwrap_err();
            assert_eq!((&error.kind, &error.span, error.lane), (&kind, &span, lane), "{text}");
        }
        let deep = "(".repeat(1000) + "1" + &")".repeat(1000);
        assert_eq!(addresses(&deep, 1).unwrap_err().kind, Kind::TooLong);
        assert_eq!(addresses(&format!("{deep}:{deep}"), 1).unwrap_err().kind, Kind::TooLong);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[-lane0-9 +*/%<>&^|~().,:Swo_]{0,40}") {
            let _ = addresses(&text, 16);
        }

        /// A swizzle permutes the addresses within its block of bits.
        #[test]
        fn swizzles_are_permutations(bits in 0..4i64, base in 0..5i64, more in 0..3i64, sign: bool) {
            let shift = if sign { bits + more } else { -(bits + more) };
            let swizzle = Swizzle::new(bits, base, shift).unwrap();
            let size = 1i64 << (bits + base + shift.abs());
            let mut all: Vec<i64> = (0..size).map(|at| swizzle.of(at)).collect();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..size));
        }
    }
}
