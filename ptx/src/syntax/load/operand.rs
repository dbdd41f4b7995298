//! The operands of loads.

use crate::syntax::Span;
use crate::syntax::expression::Constant;

/// An operand and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// What it is.
    pub kind: OperandKind,
    /// Where it stands, brackets and braces included.
    pub span: Span,
}

/// What an operand is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum OperandKind {
    /// A name alone: a register in a legal load.
    Name,
    /// One element of a vector register: `Q.x`. The name.
    Component(Span),
    /// Elements in braces.
    Vector(Vec<Element>),
    /// `_`.
    Sink,
    /// An address.
    Address(Address),
    /// A constant expression.
    Constant(Constant),
    /// A name and a constant that is added to it: `%rd1+4`.
    Sum(Span, Offset),
    /// What other instructions take: `-%r1`, `!%p1`, `%r1|%p1`.
    Other,
}

/// An element of a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// What it is.
    pub kind: ElementKind,
    /// Where it stands.
    pub span: Span,
}

/// What an element of a vector is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElementKind {
    /// A name: a register in a legal load.
    Name,
    /// One element of a vector register: `Q.x`. The name.
    Component(Span),
    /// `_`: what would go there is not kept.
    Sink,
    /// A constant expression.
    Constant(Constant),
}

/// Where a load reads.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// How it is written.
    pub form: AddressForm,
    /// A register or a variable; nothing for an immediate address.
    pub base: Option<Span>,
    /// The register in the brackets behind a variable: `var[%r1]`.
    pub index: Option<Span>,
    /// What is added, in bytes; elements where the form is [`AddressForm::Indexed`].
    pub offset: Option<Offset>,
    /// `.unified` behind the brackets.
    pub unified: Option<Span>,
}

/// How an address is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressForm {
    /// `[a+4]`.
    Bracketed,
    /// `a[4]`.
    Indexed,
}

/// A constant that is added to a base, or is the address itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offset {
    /// The value; only integers are legal.
    pub value: Constant,
    /// The expression.
    pub span: Span,
}

impl Address {
    /// The offset as a number that is added modulo 2^64; 0 without one and for a float.
    #[must_use]
    pub fn displacement(&self) -> u64 {
        self.offset.and_then(|offset| offset.value.integer()).unwrap_or(0)
    }
}
