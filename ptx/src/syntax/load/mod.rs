//! Instructions as they are written, loads above all: every combination of qualifiers and operands can
//! be represented, so that [`check`](crate::rules::check) can name every rule that one breaks.

mod form;
mod one;
mod qualifier;

pub(crate) use self::form::{Form, FormId, Forms};
pub use self::one::{LoadText, read_load};
pub use self::qualifier::{
    CacheLevel, CacheOperator, Comparison, Eviction, Keyword, MemoryOrder, MemoryScope, Qualifier,
    QualifierKind, Rounding,
};
use std::fmt;

use crate::module::{GuardPredicate, ScopeId, StatementId};
pub use crate::syntax::opcode::Opcode;
pub(crate) use crate::syntax::operand::COMMA_OR_SEMICOLON;
use crate::syntax::operand::OperandArena;
pub use crate::syntax::operand::{
    AddressForm, AddressId, AddressOffset, AddressOperand, Element, ElementKind, ElementRange,
    Operand, OperandKind,
};
use crate::syntax::{ScalarType, Span, StateSpace, SubQualifier, SyntaxError};

/// One instruction of a module, with its qualifiers and operands.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct PtxInstruction<'m> {
    /// Its place in [`Module::statements`](crate::Module::statements).
    pub id: StatementId,
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
    /// The operands in their order, up to the fault if there is one.
    pub operands: &'m [Operand],
    /// What keeps the statement from being read.
    pub fault: Option<SyntaxError>,
    /// Whether all operands were read.
    pub(crate) is_whole: bool,
    pub(crate) form_id: FormId,
    pub(crate) form: &'m Form,
    pub(crate) arena: &'m OperandArena,
}

/// Without the operands of all other instructions of the module.
impl fmt::Debug for PtxInstruction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PtxInstruction")
            .field("opcode", &self.opcode)
            .field("span", &self.span)
            .field("operands", &self.operands)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}

/// An `ld`, `tcgen05.ld` or `tcgen05.ld.red`.
pub type PtxLoad<'m> = PtxInstruction<'m>;

/// What the qualifiers of an instruction say, each kind by the first of its qualifiers. This is what a
/// legal load means; for one that [`check`](crate::rules::check) refuses it is a guess.
impl<'m> PtxInstruction<'m> {
    /// Whether opcode, qualifiers and operands are those of an instruction of PTX.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.is_whole && self.form.is_known
    }

    /// Returns the qualifiers in their order.
    #[must_use]
    pub fn qualifiers(
        &self,
    ) -> impl DoubleEndedIterator<Item = Qualifier> + ExactSizeIterator + use<'m> {
        let start = self.opcode_span.start;
        self.form.qualifiers().iter().map(move |qualifier| qualifier.at(start))
    }

    /// Returns what `pick` makes of the first qualifier that it takes, and its place.
    pub fn first<T>(&self, pick: impl Fn(QualifierKind) -> Option<T>) -> Option<(T, Span)> {
        self.qualifiers().find_map(|q| pick(q.kind).map(|found| (found, q.span)))
    }

    /// Whether the instruction has the qualifier.
    #[must_use]
    pub fn has(&self, kind: QualifierKind) -> bool {
        self.form.has(kind)
    }

    /// Returns the state space and its sub-qualifier; `None` for generic addressing.
    #[must_use]
    pub fn space(&self) -> Option<(StateSpace, Option<SubQualifier>)> {
        self.form.find(|kind| match kind {
            QualifierKind::Space(space, sub_qualifier) => Some((space, sub_qualifier)),
            _ => None,
        })
    }

    /// Returns the type of an element.
    #[must_use]
    pub fn scalar(&self) -> Option<ScalarType> {
        self.form.types().next()
    }

    /// Returns the number of elements: 1 without `.v2`, `.v4` or `.v8`.
    #[must_use]
    pub fn elements(&self) -> u8 {
        let elements = self.form.find(|kind| match kind {
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

    /// Returns the operand that the result goes to.
    #[must_use]
    pub fn destination(&self) -> Option<&'m Operand> {
        self.operands.first()
    }

    /// Returns the address: the first operand in brackets.
    #[must_use]
    pub fn address(&self) -> Option<AddressOperand> {
        self.operands.iter().find_map(|operand| self.address_in(operand))
    }

    /// Returns the address that an operand of this instruction is, if it is one.
    #[must_use]
    pub fn address_in(&self, operand: &Operand) -> Option<AddressOperand> {
        match operand.kind {
            OperandKind::Address(id) => self.arena.address(id),
            _ => None,
        }
    }

    /// Returns the name and the constant that an operand of this instruction is the sum of.
    #[must_use]
    pub fn sum_in(&self, operand: &Operand) -> Option<(Span, AddressOffset)> {
        let OperandKind::Sum(id) = operand.kind else { return None };
        let sum = self.arena.address(id)?;
        Some((sum.base?, sum.offset?))
    }

    /// Returns every name among the operands, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = Span> + use<'m> {
        let this = *self;
        self.operands.iter().flat_map(move |operand| this.names_in(operand))
    }

    /// Returns the names of an operand of this instruction, in the order of the text.
    pub fn names_in(&self, operand: &Operand) -> impl Iterator<Item = Span> + use<'m> {
        let (name, index, range) = match operand.kind {
            OperandKind::Name => (Some(operand.span), None, ElementRange::default()),
            OperandKind::Component(name)
            | OperandKind::Part(name)
            | OperandKind::Inverted(name)
            | OperandKind::Negated(name) => (Some(name), None, ElementRange::default()),
            OperandKind::Vector(range) | OperandKind::Pair(range) | OperandKind::List(range) => {
                (None, None, range)
            }
            OperandKind::Address(id) | OperandKind::Sum(id) => match self.arena.address(id) {
                Some(address) => (address.base, address.index, address.coordinates),
                None => (None, None, ElementRange::default()),
            },
            OperandKind::Sink | OperandKind::Constant(_) => (None, None, ElementRange::default()),
        };
        let elements = self.elements_in(range).iter().filter_map(|element| element.name());
        name.into_iter().chain(index).chain(elements)
    }

    /// Returns the elements of an operand of this instruction.
    #[must_use]
    pub fn elements_in(&self, range: ElementRange) -> &'m [Element] {
        self.arena.elements(range)
    }
}
