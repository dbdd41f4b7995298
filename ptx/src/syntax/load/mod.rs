//! Instructions as written, above all loads. Any combination of qualifiers and operands can be represented, so that
//! [`check`](crate::rules::check) can name every rule that it breaks.

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
    /// Its id in [`Module::statements`](crate::Module::statements).
    pub id: StatementId,
    /// The whole statement, including a guard and without the semicolon.
    pub span: Span,
    /// The scope that its names are looked up in.
    pub scope: ScopeId,
    /// The opcode.
    pub opcode: Opcode,
    /// The place of the opcode: `ld`, `tcgen05.ld` or `tcgen05.ld.red`.
    pub opcode_span: Span,
    /// The guard predicate.
    pub guard: Option<GuardPredicate>,
    /// The operands in order, up to the fault if there is one.
    pub operands: &'m [Operand],
    /// The error that kept the statement from being read to its end.
    pub fault: Option<SyntaxError>,
    /// Whether all operands were read.
    pub(crate) is_whole: bool,
    pub(crate) form_id: FormId,
    pub(crate) form: &'m Form,
    pub(crate) arena: &'m OperandArena,
}

/// Leaves out the arena, which has the operands of the whole module.
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

/// The properties given by the qualifiers. If several qualifiers are of one kind, the first one counts, which is only a
/// guess at the meaning of a load that [`check`](crate::rules::check) refuses.
impl<'m> PtxInstruction<'m> {
    /// Whether opcode, qualifiers and operands form an instruction of PTX.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.is_whole && self.form.is_known
    }

    /// Returns the qualifiers in order.
    #[must_use]
    pub fn qualifiers(
        &self,
    ) -> impl DoubleEndedIterator<Item = Qualifier> + ExactSizeIterator + use<'m> {
        let start = self.opcode_span.start;
        self.form.qualifiers().iter().map(move |qualifier| qualifier.at(start))
    }

    /// Returns the first result of `pick` over the qualifiers, with the qualifier's place.
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

    /// The types among the qualifiers, in order.
    pub(crate) fn types(&self) -> impl Iterator<Item = ScalarType> {
        self.form.types()
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

    /// The memory order, with its place.
    pub(crate) fn order(&self) -> Option<(MemoryOrder, Span)> {
        self.first(|kind| match kind {
            QualifierKind::Order(order) => Some(order),
            _ => None,
        })
    }

    /// Returns the operand that receives the result.
    #[must_use]
    pub fn destination(&self) -> Option<&'m Operand> {
        self.operands.first()
    }

    /// Returns the address: the first operand in brackets.
    #[must_use]
    pub fn address(&self) -> Option<AddressOperand> {
        self.operands.iter().find_map(|operand| self.address_in(operand))
    }

    /// Returns an operand of this instruction as an address; `None` if it is not one.
    #[must_use]
    pub fn address_in(&self, operand: &Operand) -> Option<AddressOperand> {
        match operand.kind {
            OperandKind::Address(id) => self.arena.address(id),
            _ => None,
        }
    }

    /// Returns an operand of this instruction as the sum of a name and a constant; `None` if it is not one.
    #[must_use]
    pub fn sum_in(&self, operand: &Operand) -> Option<AddressOperand> {
        match operand.kind {
            OperandKind::Sum(id) => self.arena.address(id),
            _ => None,
        }
    }

    /// Returns all names in the operands, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = Span> + use<'m> {
        let this = *self;
        self.operands.iter().flat_map(move |operand| this.names_in(operand))
    }

    /// Returns the names in one operand of this instruction, in the order of the text.
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

    /// The operands of a call.
    pub(crate) fn call(&self) -> CallOperands<'m> {
        let list = |operands: &'m [Operand]| match operands {
            [Operand { kind: OperandKind::List(range), .. }, rest @ ..] => {
                (self.elements_in(*range), rest)
            }
            _ => (&[][..], operands),
        };
        let (returns, rest) = list(self.operands);
        let (callee, rest) = rest.split_first().unzip();
        let (arguments, rest) = list(rest.unwrap_or_default());
        CallOperands { returns, callee, arguments, has_prototype: !rest.is_empty() }
    }
}

/// The operands of `call (returns), callee, (arguments), prototype;`.
pub(crate) struct CallOperands<'m> {
    pub(crate) returns: &'m [Element],
    pub(crate) callee: Option<&'m Operand>,
    pub(crate) arguments: &'m [Element],
    pub(crate) has_prototype: bool,
}
