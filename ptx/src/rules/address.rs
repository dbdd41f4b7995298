//! Where a load reads.

use super::{Findings, Judged, Rule, Unit, gates, is_integer};
use crate::module::{Array, Declaration, Linkage};
use crate::syntax::load::{Address, AddressForm, Offset, OperandKind};
use crate::syntax::special::SpecialRegister;
use crate::syntax::{ScalarType, Span, StateSpace};

/// [PTX ISA, "Addresses as Operands"; `ld`, Description].
pub(super) fn check(judged: &Judged<'_>, findings: &mut Findings) {
    let Some(operand) = judged.load.operands.get(1) else { return };
    let OperandKind::Address(address) = &operand.kind else {
        findings.add(
            Rule::Operands,
            operand.span,
            format!("`{}` is not an address", judged.text(operand.span)),
            "an address is written in brackets".to_owned(),
        );
        return;
    };
    if let Some(offset) = address.offset {
        integer_offset(judged, offset, findings);
    }
    match (address.base, address.form) {
        (None, _) => immediate(judged, operand.span, findings),
        (Some(base), AddressForm::Bracketed) => bracketed(judged, base, findings),
        (Some(base), AddressForm::Indexed) => indexed(judged, base, address, findings),
    }
}

fn integer_offset(judged: &Judged<'_>, offset: Offset, findings: &mut Findings) {
    if offset.value.integer().is_none() {
        findings.add(
            Rule::OffsetInteger,
            offset.span,
            format!("`{}` is not an integer", judged.text(offset.span)),
            "addresses and offsets are integer constants".to_owned(),
        );
    }
}

/// A constant alone is an address in local memory.
fn immediate(judged: &Judged<'_>, span: Span, findings: &mut Findings) {
    if judged.load.space().map(|space| space.0) != Some(StateSpace::Local) {
        findings.add(
            Rule::ImmediateAddress,
            span,
            "a constant address outside of `.local`".to_owned(),
            "put it into a register".to_owned(),
        );
    }
}

/// `[base+offset]`: a register or a variable.
fn bracketed(judged: &Judged<'_>, base: Span, findings: &mut Findings) {
    if let Some(special) = judged.special(base) {
        return special_register(judged, base, special, findings);
    }
    let Some(symbol) = judged.symbol(base) else {
        let help = "a base is a register or a variable";
        return judged.no(Rule::AddressBase, base, "register or variable", help, findings);
    };
    if symbol.declaration.space != StateSpace::Register {
        return variable(judged, base, symbol.declaration, findings);
    }
    if register(judged, base, symbol.declaration, findings) {
        width(judged, base, symbol.declaration, findings);
    }
}

/// A special register that is one integer may be an address or an index, of any width.
fn special_register(
    judged: &Judged<'_>,
    name: Span,
    special: SpecialRegister,
    findings: &mut Findings,
) {
    gates::special(judged, name, special, findings);
    if special.is_vector || !is_integer(special.scalar) {
        let (text, scalar) = (judged.text(name), special.scalar);
        let what =
            if special.is_vector { "a vector".to_owned() } else { format!("of type `.{scalar}`") };
        let help = "an address register holds integers or bits, at most 64 of them".to_owned();
        findings.add(Rule::AddressBase, name, format!("`{text}` is {what}"), help);
    }
}

/// Whether a register can hold an address or an index.
fn register(
    judged: &Judged<'_>,
    name: Span,
    declared: &Declaration,
    findings: &mut Findings,
) -> bool {
    let bits = declared.scalar.bits();
    let is_one =
        is_integer(declared.scalar) && matches!(bits, Some(8..=64)) && declared.vector == 1;
    if !is_one {
        findings.add(
            Rule::AddressBase,
            name,
            format!("`{}` is of type `.{}`", judged.text(name), declared.scalar),
            "an address register holds integers or bits, at most 64 of them".to_owned(),
        );
    }
    is_one
}

/// Generic and global addresses have 64 bits; the other spaces' fit in 32.
fn width(judged: &Judged<'_>, name: Span, declared: &Declaration, findings: &mut Findings) {
    if declared.scalar.bits() == Some(32) && judged.may_be_global() {
        let kind = if judged.load.space().is_none() { "a generic" } else { "a global" };
        findings.add(
            Rule::AddressWidth,
            name,
            format!("`{}` has 32 bits, {kind} address has 64", judged.text(name)),
            "use a 64-bit register".to_owned(),
        );
    }
}

/// The variable's state space is the load's; a generic load takes those with a generic address.
fn variable(judged: &Judged<'_>, name: Span, declared: &Declaration, findings: &mut Findings) {
    if declared.scalar == ScalarType::Opaque && declared.array == Array::Single {
        findings.add(
            Rule::AddressBase,
            name,
            format!("`{}` is a texture, sampler or surface", judged.text(name)),
            "only texture and surface instructions read it".to_owned(),
        );
    }
    let is_legal = match judged.load.space() {
        Some((space, _)) => space == declared.space,
        None => {
            matches!(declared.space, StateSpace::Global | StateSpace::Shared | StateSpace::Local)
        }
    };
    if !is_legal {
        let space = declared.space;
        findings.add(
            Rule::AddressSpace,
            name,
            format!("`{}` is a `.{space}` variable", judged.text(name)),
            format!("load it with `ld.{space}`"),
        );
    }
    defined(judged, name, declared, findings);
}

/// A program has no unified variables, and sizes its arrays: both need a linker.
fn defined(judged: &Judged<'_>, name: Span, declared: &Declaration, findings: &mut Findings) {
    let needs_linker = is_unresolved(declared);
    if judged.unit == Unit::Part || !(needs_linker || declared.is_unified) {
        return;
    }
    let what = if needs_linker { "is sized elsewhere" } else { "is unified" };
    findings.add(
        Rule::CompileOnly,
        name,
        format!("`{}` {what}, which a whole program cannot use", judged.text(name)),
        "for a module that is linked with others: `--compile-only`".to_owned(),
    );
}

/// Whether only a linker can tell how large a variable is. Shared memory is sized by the launch.
pub(super) fn is_unresolved(declared: &Declaration) -> bool {
    matches!(declared.space, StateSpace::Global | StateSpace::Const)
        && declared.linkage == Linkage::Extern
        && matches!(declared.array, Array::Unknown | Array::Of(0))
}

/// `var[4]`, `var[%r1]`.
fn indexed(judged: &Judged<'_>, base: Span, address: &Address, findings: &mut Findings) {
    let symbol = judged.symbol(base);
    let declared = symbol.map(|symbol| symbol.declaration);
    match declared.filter(|declared| declared.space != StateSpace::Register) {
        Some(declared) => {
            if declared.array == Array::Single {
                findings.add(
                    Rule::AddressIndex,
                    base,
                    format!("`{}` is not an array", judged.text(base)),
                    format!("write `[{}]`", judged.text(base)),
                );
            }
            variable(judged, base, declared, findings);
        }
        None => findings.add(
            Rule::AddressIndex,
            base,
            format!("brackets after `{}`, which is not a variable", judged.text(base)),
            "write a comma between destination and address".to_owned(),
        ),
    }
    let Some(index) = address.index else { return };
    if let Some(special) = judged.special(index) {
        return special_register(judged, index, special, findings);
    }
    match judged.register(index) {
        Some(declared) => {
            register(judged, index, declared, findings);
        }
        None => {
            let help = "an index is a register or a constant";
            judged.no(Rule::AddressIndex, index, "register", help, findings);
        }
    }
}

/// Whether a register holds a 32-bit integer or bits: what tensor memory is addressed with.
pub(super) fn is_tensor_address(declared: &Declaration) -> bool {
    is_integer(declared.scalar) && declared.scalar.bits() == Some(32) && declared.vector == 1
}
