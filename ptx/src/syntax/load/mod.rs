//! Loads as they are written: every combination of qualifiers and operands can be represented, so
//! that [`check`](crate::rules::check) can name every rule that one breaks.

mod parse;
mod qualifier;

pub(crate) use self::parse::COMMA_OR_SEMICOLON;
pub use self::parse::read_load;
pub use self::qualifier::{
    CacheLevel, CacheOperator, Eviction, MemoryOrder, MemoryScope, Opcode, Qualifier, QualifierKind,
};
use crate::module::{GuardPredicate, ScopeId};
use crate::syntax::expression::Constant;
use crate::syntax::{ScalarType, Span, StateSpace, SubQualifier, SyntaxError};

/// One `ld`, `tcgen05.ld` or `tcgen05.ld.red`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PtxLoad {
    /// All of the statement, the guard included, the semicolon not.
    pub span: Span,
    /// Where its names are looked up.
    pub scope: ScopeId,
    /// Which instruction it is.
    pub opcode: Opcode,
    /// The opcode's words: `ld`, `tcgen05.ld` or `tcgen05.ld.red`.
    pub opcode_span: Span,
    /// The guard predicate.
    pub guard: Option<GuardPredicate>,
    /// The qualifiers in their order, up to the fault if there is one.
    pub qualifiers: Vec<Qualifier>,
    /// The operands in their order, up to the fault if there is one.
    pub operands: Vec<Operand>,
    /// What keeps the statement from being read as a load.
    pub fault: Option<SyntaxError>,
}

/// What the qualifiers of a load say, each kind by the first of its qualifiers. This is what a
/// legal load means; for one that [`check`](crate::rules::check) refuses it is a guess.
impl PtxLoad {
    /// Returns what `pick` makes of the first qualifier that it takes, and its place.
    pub fn first<T>(&self, pick: impl Fn(QualifierKind) -> Option<T>) -> Option<(T, Span)> {
        self.qualifiers.iter().find_map(|q| pick(q.kind).map(|found| (found, q.span)))
    }

    /// Whether the load has the qualifier.
    #[must_use]
    pub fn has(&self, kind: QualifierKind) -> bool {
        self.qualifiers.iter().any(|qualifier| qualifier.kind == kind)
    }

    /// Returns the state space and its sub-qualifier; `None` for generic addressing.
    #[must_use]
    pub fn space(&self) -> Option<(StateSpace, Option<SubQualifier>)> {
        self.qualifiers.iter().find_map(|qualifier| match qualifier.kind {
            QualifierKind::Space(space, sub_qualifier) => Some((space, sub_qualifier)),
            _ => None,
        })
    }

    /// Returns the type of an element.
    #[must_use]
    pub fn scalar(&self) -> Option<ScalarType> {
        self.qualifiers.iter().find_map(|qualifier| match qualifier.kind {
            QualifierKind::Type(scalar) => Some(scalar),
            _ => None,
        })
    }

    /// Returns the number of elements: 1 without `.v2`, `.v4` or `.v8`.
    #[must_use]
    pub fn elements(&self) -> u8 {
        let elements = self.qualifiers.iter().find_map(|qualifier| match qualifier.kind {
            QualifierKind::Vector(elements) => Some(elements),
            _ => None,
        });
        elements.unwrap_or(1)
    }

    /// Returns the memory order and its place.
    pub(crate) fn order(&self) -> Option<(MemoryOrder, Span)> {
        self.first(|kind| match kind {
            QualifierKind::Order(order) => Some(order),
            _ => None,
        })
    }

    /// Returns the operand that the loaded values go to.
    #[must_use]
    pub fn destination(&self) -> Option<&Operand> {
        self.operands.first()
    }

    /// Returns the address: the first operand in brackets.
    #[must_use]
    pub fn address(&self) -> Option<&AddressOperand> {
        self.operands.iter().find_map(|operand| match &operand.kind {
            OperandKind::Address(address) => Some(address),
            _ => None,
        })
    }
}

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
