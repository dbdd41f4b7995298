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
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "expected a number above 0".to_owned())
}

/// Returns the number in `text`, decimal or hexadecimal with `0x`; `None` if there is
/// none.
pub(crate) fn read_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
