//! Where the loaded values go.

use super::{Findings, Judged, Rule, is_integer};
use crate::ptx::load::{
    AddressForm, Element, ElementKind, Load, Operand, OperandKind, QualifierKind as Q,
};
use crate::ptx::module::Declaration;
use crate::ptx::{ScalarType, Span, TypeClass};

/// Operands a load has without and with a cache policy.
const OPERANDS: std::ops::RangeInclusive<usize> = 2..=3;

/// [`ld`, Description and Notes; PTX ISA, "Operand Size Exceeding Instruction-Type Size"].
pub(super) fn check(judged: &Judged<'_>, findings: &mut Findings) {
    let load = judged.load;
    // Without its comma a destination and an address are one operand, which is said below.
    if !OPERANDS.contains(&load.operands.len()) && !without_comma(load) {
        findings.add(
            Rule::Operands,
            load.span,
            format!("a load with {} operands", load.operands.len()),
            "a load has a destination, an address, and with `.L2::cache_hint` a policy".to_owned(),
        );
    }
    vector_width(judged, findings);
    let Some(destination) = load.destination() else { return };
    match &destination.kind {
        OperandKind::Vector(elements) => vector(judged, destination, elements, findings),
        OperandKind::Name => name(judged, destination.span, findings),
        OperandKind::Component(name) => {
            component(judged, *name, destination.span, findings);
        }
        OperandKind::Address(address) if address.form == AddressForm::Indexed => findings.add(
            Rule::AddressIndex,
            destination.span,
            "brackets behind the destination".to_owned(),
            "a comma stands between destination and address".to_owned(),
        ),
        OperandKind::Sink => findings.add(
            Rule::SinkScalar,
            destination.span,
            "`_` in place of the destination".to_owned(),
            "`_` can stand for some elements of a vector".to_owned(),
        ),
        _ => no_register(judged, destination.span, findings),
    }
}

/// `%r1 [%rd1]`: read as an element of an array.
fn without_comma(load: &Load) -> bool {
    let kind = load.destination().map(|destination| &destination.kind);
    matches!(kind, Some(OperandKind::Address(address)) if address.form == AddressForm::Indexed)
}

fn no_register(judged: &Judged<'_>, span: Span, findings: &mut Findings) {
    let help = "a load's destination is a register, or registers in braces";
    judged.no(Rule::DestinationRegister, span, "register", help, findings);
}

/// At most 128 bits, or one of the 256-bit forms in global memory.
fn vector_width(judged: &Judged<'_>, findings: &mut Findings) {
    let Some(span) = judged.finds(|kind| matches!(kind, Q::Vector(_))) else { return };
    let Some(bits) = judged.load.scalar().and_then(width) else { return };
    let bits = bits * u32::from(judged.load.elements());
    if bits <= 128 {
        return;
    }
    if !judged.is_wide() {
        findings.add(
            Rule::VectorWidth,
            span,
            format!("a vector of {bits} bits"),
            "at most 128 bits, or 256 as `.v8` of a 32-bit type or `.v4` of a 64-bit type"
                .to_owned(),
        );
    } else if !judged.may_be_global() {
        findings.add(
            Rule::WideSpace,
            span,
            format!("256 bits of `{}` at once", judged.space_text()),
            "256 bits are loaded with `.global` and generic addressing".to_owned(),
        );
    }
}

/// `{a, b, _}`: as many as the load has elements; one alone for a scalar.
fn vector(judged: &Judged<'_>, operand: &Operand, elements: &[Element], findings: &mut Findings) {
    size(judged, operand.span, elements.len(), findings);
    if elements.iter().all(|element| element.kind == ElementKind::Sink) {
        findings.add(
            Rule::SinkOnly,
            operand.span,
            "`_` alone: no element says what is loaded".to_owned(),
            "name a register for one of them".to_owned(),
        );
    }
    let registers = elements.iter().filter_map(|element| {
        let register = match element.kind {
            ElementKind::Sink => return None,
            ElementKind::Name => scalar(judged, element.span, element.span, findings)?,
            ElementKind::Component(name) => component(judged, name, element.span, findings)?,
            ElementKind::Constant(_) => {
                no_register(judged, element.span, findings);
                return None;
            }
        };
        Some((register.scalar, element.span))
    });
    let registers: Vec<(ScalarType, Span)> = registers.collect();
    mixed(&registers, findings);
}

/// Elements of one width, all integers or all floats; bit types go with both.
fn mixed(registers: &[(ScalarType, Span)], findings: &mut Findings) {
    let is_bits = |scalar: ScalarType| scalar.class() == TypeClass::Bits;
    let Some((first, _)) = registers.first() else { return };
    let typed = registers.iter().find(|(scalar, _)| !is_bits(*scalar));
    let typed = typed.map_or(*first, |(scalar, _)| *scalar);
    for (scalar, span) in registers {
        let other = if scalar.bits() != first.bits() {
            *first
        } else if !is_bits(*scalar) && is_integer(*scalar) != is_integer(typed) {
            typed
        } else {
            continue;
        };
        findings.add(
            Rule::VectorMix,
            *span,
            format!("`.{scalar}` beside `.{other}` in one vector"),
            "elements have one width, and are all integers or all floats but for bit types"
                .to_owned(),
        );
    }
}

fn size(judged: &Judged<'_>, span: Span, written: usize, findings: &mut Findings) {
    let elements = usize::from(judged.load.elements());
    // A vector size that is not known is wrong already.
    if written != elements && !judged.has_unknown() {
        findings.add(
            Rule::VectorSize,
            span,
            format!("{written} of {elements} elements"),
            match (elements, written) {
                (1, _) => "`.v2`, `.v4` or `.v8` makes the load one of a vector".to_owned(),
                (_, 1) => format!("{elements} registers in braces"),
                _ => format!("write {elements} registers, `_` for those not wanted"),
            },
        );
    }
}

/// A name alone: a register, or a vector register.
fn name(judged: &Judged<'_>, span: Span, findings: &mut Findings) {
    let Some(register) = judged.register(span) else { return no_register(judged, span, findings) };
    if register.vector > 1 || judged.load.elements() > 1 {
        size(judged, span, usize::from(register.vector), findings);
    }
    fits(judged, register, span, findings);
}

/// One register for one value. `span` is what is drawn.
fn scalar<'j>(
    judged: &Judged<'j>,
    name: Span,
    span: Span,
    findings: &mut Findings,
) -> Option<&'j Declaration> {
    let Some(register) = judged.register(name).filter(|register| register.vector == 1) else {
        no_register(judged, span, findings);
        return None;
    };
    fits(judged, register, span, findings);
    Some(register)
}

/// `Q.x`: one register out of a vector register.
fn component<'j>(
    judged: &Judged<'j>,
    name: Span,
    span: Span,
    findings: &mut Findings,
) -> Option<&'j Declaration> {
    let register = judged.register(name).filter(|register| register.vector > 1);
    let Some(register) = register else {
        no_register(judged, span, findings);
        return None;
    };
    fits(judged, register, span, findings);
    Some(register)
}

/// Whether a value of the load's type goes into a register.
fn fits(judged: &Judged<'_>, register: &Declaration, span: Span, findings: &mut Findings) {
    let Some(loaded) = judged.load.scalar() else { return };
    let (Some(bits), Some(register_bits)) = (loaded.bits(), register.scalar.bits()) else { return };
    let name = judged.text(span);
    if register_bits < 16 {
        findings.add(
            Rule::DestinationType,
            span,
            format!("`{name}` is of type `.{}`", register.scalar),
            "a load's destination is a register of at least 16 bits".to_owned(),
        );
    } else if register_bits < bits {
        findings.add(
            Rule::DestinationWidth,
            span,
            format!("`{name}` has {register_bits} bits, a `.{loaded}` has {bits}"),
            "a destination is at least as wide as the type".to_owned(),
        );
    } else if !takes(loaded, register.scalar, judged.load.elements() > 1) {
        findings.add(
            Rule::DestinationType,
            span,
            format!("`{name}` of type `.{}` for a `.{loaded}`", register.scalar),
            into(loaded).to_owned(),
        );
    }
}

/// Whether values of one type go into registers of another that is wide enough.
fn takes(loaded: ScalarType, register: ScalarType, is_vector: bool) -> bool {
    match loaded.class() {
        TypeClass::Bits => true,
        TypeClass::Float => {
            register.class() == TypeClass::Bits
                || register == loaded
                || (is_vector && is_integer(register) && register.bits() == loaded.bits())
        }
        _ => is_integer(register) || register == ScalarType::F16x2,
    }
}

fn into(loaded: ScalarType) -> &'static str {
    match loaded.class() {
        TypeClass::Float => "floats go into registers of their own type or of a bit type",
        _ => "integers go into registers of integers or of a bit type",
    }
}

/// How many bits a value has; nothing for a type that no load has.
fn width(scalar: ScalarType) -> Option<u32> {
    scalar.bits().filter(|bits| *bits >= 8)
}
