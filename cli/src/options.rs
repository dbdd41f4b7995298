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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_signs() {
        assert_eq!(positive("4"), Ok(4));
        for text in ["+4", "0", "-4", "0x4", ""] {
            assert!(positive(text).is_err(), "{text}");
        }
    }
}
