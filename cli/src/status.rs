//! How the command ends.

use std::process::ExitCode;

/// How a command ended that did its work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Done,
    /// The input or the check failed.
    Failed,
    /// Wrong use, or a file that is not what it says; already reported.
    Unreadable,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}
