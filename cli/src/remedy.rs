//! Remedies for errors of the library that reads GPU code. The library itself cannot name options of the command.

use warpload_binary::sass::SassError;

/// The remedy for an error, to append to its message; empty if there is none.
pub(crate) fn of(error: &SassError) -> &'static str {
    match error {
        SassError::Binary => " (use `--raw` for code without a container)",
        SassError::NotRaw { .. } | SassError::RawText { .. } => " (omit `--raw`)",
        SassError::OtherMachine { .. } => {
            " (`warpload images --extract` extracts the cubins of a program or library)"
        }
        SassError::NoControlWord { .. } => {
            " (use `--offset BYTES` to say where it begins, `--sm` for code of SM 7.0 and later)"
        }
        SassError::PartialRaw { .. } => " (use `--offset BYTES` to say where the first one begins)",
        _ => "",
    }
}

/// The message of an error with its causes and its remedy.
pub(crate) fn with_causes(error: &anyhow::Error) -> String {
    let remedy = error.chain().find_map(|cause| cause.downcast_ref()).map_or("", of);
    format!("{error:#}{remedy}")
}
