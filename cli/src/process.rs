//! The exit status of the command.

/// The exit status of a command that did its work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Done,
    /// The answer is negative, or the requested item does not exist.
    Failed,
    /// Wrong use, or an input or output failed. Already reported.
    Unreadable,
}
