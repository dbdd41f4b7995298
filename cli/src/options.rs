//! Options that several subcommands share.

use std::io;
use std::ops::RangeInclusive;

use anstream::{AutoStream, ColorChoice};
use clap::ValueEnum;
use warpload::lane::LaneMask;
use warpload::load::Executor;
use warpload::text::parse_number;

use super::io::Output;
use super::terminal::Escapes;

/// When to draw a progress bar.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    Never,
    #[default]
    Auto,
    Always,
}

/// When to write colours.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Never,
    #[default]
    Auto,
    Always,
}

impl Color {
    /// Applies to all output of the process.
    pub(crate) fn set(self) {
        match self {
            Self::Never => ColorChoice::Never,
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
        }
        .write_global();
    }
}

/// The executor of loads; both have the same results.
#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum ExecutorName {
    #[default]
    Fast,
    /// The literal executor, which follows the specification clause by clause
    Reference,
}

impl From<ExecutorName> for Executor {
    fn from(name: ExecutorName) -> Self {
        match name {
            ExecutorName::Fast => Self::Fast,
            ExecutorName::Reference => Self::Reference,
        }
    }
}

/// Writes a drawing, coloured if standard output shows colours.
pub(crate) fn write_drawing(
    output: &mut Output,
    draw: impl FnOnce(bool) -> String,
) -> io::Result<()> {
    let is_coloured = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
    let escapes = if is_coloured { Escapes::None } else { Escapes::Text };
    output.bytes(draw(is_coloured).as_bytes(), escapes)
}

/// The format of a result.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Text,
    /// One object a line
    Json,
}

/// The parser of numbers in a range. All options with numbers share it, so they accept the same notations.
pub(crate) fn number<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = parse_number(text);
        let fitting = number.filter(|number| range.contains(number));
        fitting.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
            let expected = match (range.start(), range.end()) {
                (0, &u64::MAX) if number.is_none() && !text.starts_with('-') => {
                    "a number".to_owned()
                }
                (first, &u64::MAX) => format!("a number of at least {first}"),
                (first, last) => format!("a number from {first} to {last}"),
            };
            let digits = text.strip_prefix('-').unwrap_or(text);
            let is_number =
                |digits: &str| !digits.is_empty() && digits.bytes().all(|d| d.is_ascii_digit());
            let wrong = match number {
                Some(number) if number < *range.start() => "too small; ",
                Some(_) => "too large; ",
                None if is_number(text) => "too large; ",
                None if is_number(digits) => "too small; ",
                None => return format!("expected {expected}, decimal or hexadecimal with 0x"),
            };
            match (wrong, range.end()) {
                ("too large; ", &u64::MAX) => {
                    format!("too large; expected a number of at most {}", u64::MAX)
                }
                _ => format!("{wrong}expected {expected}"),
            }
        })
    }
}

/// Parses a number of at least 1, such as a number of threads or rows.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    number(1..=u64::MAX)(text)
}

/// Parses a mask of lanes.
pub(crate) fn lane_mask(text: &str) -> Result<LaneMask, String> {
    number(0..=u32::MAX.into())(text).map(LaneMask::from_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_signs() {
        assert_eq!(["4", "0x10"].map(positive), [Ok(4), Ok(16)]);
        for (text, wrong) in [
            ("+4", "expected a number of at least 1, decimal or hexadecimal with 0x"),
            ("", "expected a number of at least 1, decimal or hexadecimal with 0x"),
            ("0", "too small; expected a number of at least 1"),
            ("0x0", "too small; expected a number of at least 1"),
            ("-4", "too small; expected a number of at least 1"),
            (
                "99999999999999999999",
                "too large; expected a number of at most 18446744073709551615",
            ),
        ] {
            assert_eq!(positive(text), Err(wrong.to_owned()), "{text}");
        }
        assert_eq!(number::<u8>(0..=255)("0xff"), Ok(255));
        let error = |wrong| Err(format!("too {wrong}; expected a number from 2 to 3"));
        assert_eq!(["0x1", "4"].map(number::<u32>(2..=3)), [error("small"), error("large")]);
    }
}
