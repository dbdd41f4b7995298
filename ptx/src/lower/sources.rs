//! The source operands of an instruction.

use crate::meaning::{AddressBase, Register, ResolvedAddress};
use crate::module::{DeclarationId, Module};
use crate::syntax::load::{AddressForm, AddressOffset, Operand, OperandKind, PtxInstruction};
use crate::syntax::{Span, StateSpace};

/// A source operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum SourceOperand {
    Register(Register),
    Number(i64),
    /// The address of a variable, plus an offset in bytes.
    Variable(DeclarationId, i64),
    /// A float, the sink, or an undeclared name.
    Other,
}

/// The operands after the first one. `None` if there are none, or if one is not a name, a number or their sum.
pub(super) fn sources(
    module: &Module<'_>,
    instruction: &PtxInstruction<'_>,
) -> Option<Vec<SourceOperand>> {
    let rest = instruction.operands.get(1..).filter(|rest| !rest.is_empty())?;
    let is_whole = instruction.is_whole;
    rest.iter().map(|operand| source(module, instruction, operand).filter(|_| is_whole)).collect()
}

fn source(
    module: &Module<'_>,
    instruction: &PtxInstruction<'_>,
    operand: &Operand,
) -> Option<SourceOperand> {
    let number = |bits| SourceOperand::Number(bits as i64);
    match operand.kind {
        OperandKind::Constant(value) => Some(value.integer().map_or(SourceOperand::Other, number)),
        OperandKind::Sink => Some(SourceOperand::Other),
        OperandKind::Name => named(module, instruction, operand.span, None),
        OperandKind::Sum(_) => {
            let (name, offset) = instruction.sum_in(operand)?;
            named(module, instruction, name, Some(offset))
        }
        _ => None,
    }
}

fn named(
    module: &Module<'_>,
    instruction: &PtxInstruction<'_>,
    name: Span,
    offset: Option<AddressOffset>,
) -> Option<SourceOperand> {
    let symbol = module.find(instruction.scope, module.text(name));
    let Some(symbol) = symbol else { return offset.is_none().then_some(SourceOperand::Other) };
    if symbol.declaration.space == StateSpace::Register {
        return offset.is_none().then_some(SourceOperand::Register(Register::of(symbol)));
    }
    let bytes = offset.map_or(Some(0), |offset| offset.value.integer());
    Some(
        bytes
            .map_or(SourceOperand::Other, |bytes| SourceOperand::Variable(symbol.id, bytes as i64)),
    )
}

/// The address in an instruction's brackets, if its base is a register.
pub(super) fn address(
    module: &Module<'_>,
    instruction: &PtxInstruction<'_>,
) -> Option<ResolvedAddress> {
    let address = instruction.address()?;
    let name = match address.form {
        AddressForm::Bracketed => address.base?,
        AddressForm::Indexed => address.index?,
    };
    let offset = address.offset.map_or(Some(0), |offset| offset.value.integer())?;
    match named(module, instruction, name, None)? {
        SourceOperand::Register(register) => {
            Some(ResolvedAddress { base: AddressBase::Register(register), offset: offset as i64 })
        }
        _ => None,
    }
}
