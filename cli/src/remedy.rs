//! What the command can do about errors of the library that reads GPU code, which knows no options.

use warpload_binary::sass::SassError;

/// Returns what to try instead, to follow the message of an error; empty if there is nothing.
pub(crate) fn of(error: &SassError) -> &'static str {
    match error {
        SassError::Binary => " (use `--raw` for code without a container)",
        SassError::NotRaw { .. } | SassError::RawText { .. } => " (omit `--raw`)",
        SassError::OtherMachine { .. } => {
            " (`warpload decode --extract` extracts those of a program or library)"
        }
        SassError::NoControlWord { .. } => {
            " (use `--offset BYTES` to say where it begins, `--sm` for code of SM 7.0 and later)"
        }
        SassError::PartialRaw { .. } => " (use `--offset BYTES` to say where the first one begins)",
        _ => "",
    }
}

/// Returns the message of an error with its causes, and what to try instead.
pub(crate) fn with_causes(error: &anyhow::Error) -> String {
    let remedy = error.chain().find_map(|cause| cause.downcast_ref()).map_or("", of);
    format!("{error:#}{remedy}")
}
