//! [`Status`], the exit status of the command. docs/book/commands.md has the same table.

/// The exit status. Of several inputs the highest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// The answer is there.
    Done,
    /// A finding: what was asked about is refused, faults, differs or fails.
    Failed,
    /// A mistake in arguments or input, or an input or output that fails. Already reported.
    Unreadable,
}
