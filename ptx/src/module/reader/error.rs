//! What can be wrong with a module's text.

use crate::syntax::{LexicalError, LineIndex, Position, Span};

/// Why a module could not be read, and the place. Illegal loads are not such errors:
/// [`check`](crate::rules::check) finds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {kind}", position.line, position.column)]
#[non_exhaustive]
pub struct ReadError {
    /// What is wrong.
    pub kind: ReadErrorKind,
    /// The bytes at fault.
    pub span: Span,
    /// Where they begin.
    pub position: Position,
}

impl ReadError {
    pub(crate) fn new(source: &str, kind: ReadErrorKind, span: Span) -> Self {
        Self { kind, span, position: LineIndex::new(source).position(span.start) }
    }

    /// Returns the span of a whole text.
    ///
    /// # Errors
    /// Returns [`ReadErrorKind::TooLarge`] if its places do not fit in 32 bits.
    pub(crate) fn check_size(source: &str) -> Result<Span, Self> {
        match u32::try_from(source.len()) {
            Ok(end) => Ok(Span { start: 0, end }),
            Err(_) => Err(Self::new("", ReadErrorKind::TooLarge, Span::default())),
        }
    }
}

/// What is wrong with a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// A word that no module can hold.
    #[error(transparent)]
    Lexical(#[from] LexicalError),
    /// Something else was expected.
    #[error("expected {0}")]
    Expected(&'static str),
    /// Not a version.
    #[error("expected a version, two numbers with a dot between")]
    Version,
    /// Not a target.
    #[error("expected a target such as `sm_90`, `sm_100a` or `sm_100f`")]
    Target,
    /// Neither 32 nor 64.
    #[error("expected 32 or 64")]
    AddressSize,
    /// A module without `.version`, or with something before it.
    #[error("expected `.version`, with which a module begins")]
    MissingVersion,
    /// A function or a variable before `.target`.
    #[error("expected `.target` before this")]
    MissingTarget,
    /// Braces in braces.
    #[error("more than {} braces inside one another", super::MAX_DEPTH)]
    TooDeep,
    /// More statements, declarations and braces than their text has room for.
    #[error("more statements, declarations and braces than one for every 16 bytes of text")]
    TooManyParts,
    /// A text whose places do not fit in 32 bits.
    #[error("larger than 4 GiB")]
    TooLarge,
}
