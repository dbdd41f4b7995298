//! [`TensorLoadError`]: why a text is not a legal load of Tensor Memory.

use crate::syntax::Span;
use crate::tensor::IllegalLoadError;

/// Why a text is not a legal load of Tensor Memory, and the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
#[non_exhaustive]
pub struct TensorLoadError {
    /// What is wrong.
    pub kind: TensorLoadErrorKind,
    /// The bytes at fault; empty if something is missing.
    pub span: Span,
}

/// What is wrong with a load of Tensor Memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorLoadErrorKind {
    /// Something else was expected: this.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A qualifier that these loads do not have.
    #[error("not a qualifier of `tcgen05.ld`")]
    Unknown,
    /// A second qualifier of one kind.
    #[error("a second qualifier of this kind")]
    Duplicate,
    /// The type of another instruction.
    #[error("invalid type; expected {types}")]
    Type {
        /// The types of this one.
        types: &'static str,
    },
    /// A reduction's operation or modifier without `.red`.
    #[error("only `tcgen05.ld.red` has an operation")]
    ReductionWithoutRed,
    /// The number of data registers is not that of the shape and `.num`.
    #[error(
        "{got} data register{}; shape and repeat make it {expected}",
        if *got == 1 { "" } else { "s" }
    )]
    RegisterCount {
        /// How many the load has.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// The combination breaks a rule.
    #[error(transparent)]
    Illegal(#[from] IllegalLoadError),
}

impl TensorLoadError {
    /// Returns the code of the rule that an illegal combination breaks, see [`IllegalLoadError::code`];
    /// `syntax` for everything else.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }

    pub(super) const fn expected(what: &'static str, span: Span) -> Self {
        Self { kind: TensorLoadErrorKind::Expected(what), span }
    }

    pub(super) const fn illegal(illegal: IllegalLoadError, span: Span) -> Self {
        Self { kind: TensorLoadErrorKind::Illegal(illegal), span }
    }
}

impl TensorLoadErrorKind {
    /// Returns the code of the rule, as [`TensorLoadError::code`] has it.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Illegal(illegal) => illegal.code(),
            _ => "syntax",
        }
    }
}
