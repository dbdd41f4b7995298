//! The operands of loads.

use crate::syntax::Span;
use crate::syntax::expression::Constant;

/// An operand and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// What it is.
    pub kind: OperandKind,
    /// Its place, brackets and braces included.
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
    Address(AddressOperand),
    /// A constant expression.
    Constant(Constant),
    /// A name and a constant that is added to it: `%rd1+4`.
    Sum(Span, AddressOffset),
    /// What other instructions take: `-%r1`, `!%p1`, `%r1|%p1`.
    Other,
}

/// An element of a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// What it is.
    pub kind: ElementKind,
    /// Its place.
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
    /// The sink symbol `_`: the value is dropped.
    Sink,
    /// A constant expression.
    Constant(Constant),
}

/// Where a load reads.
#[derive(Clone, Debug, PartialEq)]
pub struct AddressOperand {
    /// How it is written.
    pub form: AddressForm,
    /// A register or a variable; `None` for an immediate address.
    pub base: Option<Span>,
    /// The register in the brackets after a variable: `var[%r1]`.
    pub index: Option<Span>,
    /// The immediate offset in bytes, or in elements for [`AddressForm::Indexed`].
    pub offset: Option<AddressOffset>,
    /// `.unified` after the brackets.
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
pub struct AddressOffset {
    /// The value; only integers are legal.
    pub value: Constant,
    /// The expression.
    pub span: Span,
}

impl AddressOperand {
    /// Returns the offset, which is added modulo 2^64; 0 without one and for a float.
    #[must_use]
    pub fn displacement(&self) -> u64 {
        self.offset.and_then(|offset| offset.value.integer()).unwrap_or(0)
    }
}
