//! Options that several subcommands share.

use clap::ValueEnum;

/// When a progress bar is drawn.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    Never,
    /// If the input is large
    #[default]
    Auto,
    /// Whatever its size
    Always,
}

/// How a result is written.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Text,
    /// One object a line
    Json,
}

/// Returns a number of threads, at least 1.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    let is_plain = text.bytes().all(|digit| digit.is_ascii_digit());
    let number = text.parse().ok().filter(|number| *number > 0 && is_plain);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

/// Returns the number in `text`, decimal or hexadecimal with `0x`; `None` if there is
/// none.
pub(crate) fn read_number(text: &str) -> Option<u64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = hexadecimal.map_or((text, 10), |digits| (digits, 16));
    // `from_str_radix` takes a sign.
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_alphanumeric());
    u64::from_str_radix(digits, radix).ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_signs() {
        assert_eq!(["0", "17", "0x1F", "0Xff"].map(read_number), [0, 17, 31, 255].map(Some));
        for text in ["", "+0", "-1", "0x", "0x+0", "0x-1", "+0x1", "0x 1", "1f", "1_0"] {
            assert_eq!(read_number(text), None, "{text}");
        }
        assert_eq!(positive("4"), Ok(4));
        for text in ["+4", "0", "-4", "0x4", ""] {
            assert!(positive(text).is_err(), "{text}");
        }
    }
}
