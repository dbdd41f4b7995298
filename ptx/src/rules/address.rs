//! Rules for the address of a load.

use super::judged::{Findings, Judged, OFFSETS};
use super::violation::{Rule, Unit};
use crate::module::{Array, Declaration, Linkage, Module};
use crate::syntax::load::{AddressForm, AddressOperand};
use crate::syntax::special::SpecialRegister;
use crate::syntax::{Span, StateSpace};

/// The help for a register that cannot hold an address or an index.
const ADDRESS_REGISTER: &str = "an address register holds integers or bits, at most 64 of them";

/// [PTX ISA, "Addresses as Operands"; `ld`, Description]
pub(super) fn check(judged: &mut Judged<'_>) {
    let Some(operand) = judged.load.operands.get(1) else { return };
    let Some(address) = judged.load.address_in(operand) else {
        let message = format!("`{}` is not an address", judged.text(operand.span));
        return judged.add(
            Rule::Operands,
            operand.span,
            message,
            "an address is written in brackets",
        );
    };
    integer_offset(judged, &address);
    match (address.base, address.form) {
        // In local memory an address may be a constant.
        (None, _) if judged.is_of(StateSpace::Local) => {}
        (None, _) => {
            let message = "a constant address, but the load is not `.local`";
            judged.add(Rule::ImmediateAddress, operand.span, message, "put it into a register");
        }
        (Some(base), AddressForm::Bracketed) => bracketed(judged, base),
        (Some(base), AddressForm::Indexed) => indexed(judged, base, &address),
    }
}

pub(super) fn integer_offset(judged: &mut Judged<'_>, address: &AddressOperand) {
    if let Some(offset) = address.offset.filter(|offset| offset.value.integer().is_none()) {
        let message = format!("`{}` is not an integer", judged.text(offset.span));
        judged.add(Rule::OffsetInteger, offset.span, message, OFFSETS);
    }
}

/// Judges `[base+offset]`. The base is a register or a variable.
fn bracketed(judged: &mut Judged<'_>, base: Span) {
    if let Some(special) = judged.special(base) {
        return special_register(judged, base, special);
    }
    let Some(symbol) = judged.symbol(base) else {
        let help = "a base is a register or a variable";
        return judged.no(Rule::AddressBase, base, "register or variable", help);
    };
    if symbol.declaration.space != StateSpace::Register {
        variable(judged, base, symbol.declaration);
    } else if register(judged, base, symbol.declaration) {
        width(judged, base, symbol.declaration);
    }
}

/// A special register that holds one integer may be an address or an index, whatever its width.
fn special_register(judged: &mut Judged<'_>, name: Span, special: &SpecialRegister) {
    judged.needs_special(name, special);
    if special.is_vector || !special.scalar.is_integer() {
        let (text, scalar) = (judged.text(name), special.scalar);
        let message = match special.is_vector {
            true => format!("`{text}` is a vector"),
            false => format!("`{text}` is of type `.{scalar}`"),
        };
        judged.add(Rule::AddressBase, name, message, ADDRESS_REGISTER);
    }
}

/// Reports a register that cannot hold an address or an index.
fn register(judged: &mut Judged<'_>, name: Span, declared: &Declaration) -> bool {
    let is_one =
        declared.scalar.is_integer() && declared.scalar.bits() <= 64 && declared.vector == 1;
    if !is_one {
        let message = format!("`{}` is of type `.{}`", judged.text(name), declared.scalar);
        judged.add(Rule::AddressBase, name, message, ADDRESS_REGISTER);
    }
    is_one
}

/// Generic and global addresses have 64 bits; addresses in the other spaces fit in 32.
fn width(judged: &mut Judged<'_>, name: Span, declared: &Declaration) {
    if declared.scalar.bits() == 32 && judged.may_be_global() {
        let kind = if judged.load.space().is_none() { "a generic" } else { "a global" };
        let message = format!("`{}` has 32 bits, {kind} address has 64", judged.text(name));
        judged.add(Rule::AddressWidth, name, message, "use a 64-bit register");
    }
}

/// The state space of the variable must be the load's. A generic load accepts a variable if its space has generic
/// addresses.
fn variable(judged: &mut Judged<'_>, name: Span, declared: &Declaration) {
    let text = judged.text(name);
    if declared.scalar.is_opaque() && declared.array == Array::Single {
        let message = format!("`{text}` is a texture, sampler or surface");
        let help = "only texture and surface instructions read it";
        judged.add(Rule::AddressBase, name, message, help);
    }
    let space = declared.space;
    let is_legal = match judged.load.space() {
        Some((written, _)) => written == space,
        None => matches!(space, StateSpace::Global | StateSpace::Shared | StateSpace::Local),
    };
    if !is_legal {
        let message = format!("`{text}` is a `.{space}` variable");
        judged.add(Rule::AddressSpace, name, message, format!("load it with `ld.{space}`"));
    }
    let is_open = is_unresolved(declared);
    if judged.unit == Unit::Program && (is_open || declared.is_unified) {
        needs_linker(judged.module, &mut judged.findings, name, is_open);
    }
}

/// Reports a variable that needs a linker, which a whole program does not have: a unified variable, or an array of
/// unknown length.
pub(super) fn needs_linker(
    module: &Module<'_>,
    findings: &mut Findings,
    name: Span,
    is_open: bool,
) {
    let what = if is_open { "has no length" } else { "is unified" };
    let message = format!("`{}` {what}: a whole program cannot use it", module.text(name));
    let help = "only a module that is linked with others can use it";
    findings.add(Rule::CompileOnly, name, message, help);
}

/// Whether only a linker knows the size of a variable. Shared memory is not meant, because its size is set at launch.
pub(super) fn is_unresolved(declared: &Declaration) -> bool {
    matches!(declared.space, StateSpace::Global | StateSpace::Const)
        && declared.linkage == Linkage::Extern
        && matches!(declared.array, Array::Unknown | Array::Of(0))
}

/// Judges `var[4]` and `var[%r1]`.
fn indexed(judged: &mut Judged<'_>, base: Span, address: &AddressOperand) {
    let declared = judged.symbol(base).map(|symbol| symbol.declaration);
    let text = judged.text(base);
    match declared.filter(|declared| declared.space != StateSpace::Register) {
        Some(declared) => {
            if declared.array == Array::Single {
                let message = format!("`{text}` is not an array");
                judged.add(Rule::AddressIndex, base, message, format!("write `[{text}]`"));
            }
            variable(judged, base, declared);
        }
        None => {
            let message = format!("brackets after `{text}`, but it is not a variable");
            let help = "write a comma between destination and address";
            judged.add(Rule::AddressIndex, base, message, help);
        }
    }
    let Some(index) = address.index else { return };
    if let Some(special) = judged.special(index) {
        special_register(judged, index, special);
    } else if let Some(declared) = judged.register(index) {
        register(judged, index, declared);
    } else {
        let help = "an index is a register or a constant";
        judged.no(Rule::AddressIndex, index, "register", help);
    }
}

/// Whether a register can hold an address of Tensor Memory: 32 bits, an integer or a bit type.
pub(super) fn is_tensor_address(declared: &Declaration) -> bool {
    declared.scalar.is_integer() && declared.scalar.bits() == 32 && declared.vector == 1
}
