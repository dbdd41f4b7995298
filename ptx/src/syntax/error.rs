//! What can be wrong with a statement, and with a name that is read by itself.

use super::span::Span;

/// What is wrong with one statement: the rest of the module can still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("expected {expected}")]
#[non_exhaustive]
pub struct SyntaxError {
    /// What was expected.
    pub expected: &'static str,
    /// The word at fault.
    pub span: Span,
}

/// A text that is not the name of a type, a state space, a target and so on, or a number that is
/// not one of those allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("expected {expected}")]
pub struct ParseNameError {
    expected: &'static str,
}

impl ParseNameError {
    pub(crate) const fn new(expected: &'static str) -> Self {
        Self { expected }
    }
}
