//! How the command ends.

/// How a command ended that did its work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Done,
    /// What was asked about is wrong or is not there.
    Failed,
    /// Wrong use, or an input or output that fails; already reported.
    Unreadable,
}
