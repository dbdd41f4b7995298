//! What can be wrong with a statement.

use super::span::Span;

/// What is wrong with one statement: the rest of the module can still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SyntaxError {
    /// What should have stood there.
    pub expected: &'static str,
    /// The word at fault.
    pub span: Span,
}
