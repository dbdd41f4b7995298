//! How the command ends.

/// How a command ended that did its work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Done,
    /// The input or the check failed.
    Failed,
    /// Wrong use, or a file that is not what it says; already reported.
    Unreadable,
}
