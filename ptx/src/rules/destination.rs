//! Where the loaded values go.

use super::{Findings, Judged, Rule, gates, is_integer};
use crate::module::Declaration;
use crate::syntax::load::{
    AddressForm, Element, ElementKind, Load, Operand, OperandKind, QualifierKind as Q,
};
use crate::syntax::{ScalarType, Span, TypeClass};

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
            let register = component(judged, *name, destination.span, findings);
            if judged.load.elements() > 1 {
                size(judged, destination.span, 1, findings);
            }
            if let Some(register) = register {
                fits(judged, register.scalar, destination.span, true, findings);
            }
        }
        OperandKind::Address(address) if address.form == AddressForm::Indexed => findings.add(
            Rule::AddressIndex,
            destination.span,
            "brackets after the destination".to_owned(),
            "write a comma between destination and address".to_owned(),
        ),
        OperandKind::Sink => findings.add(
            Rule::SinkScalar,
            destination.span,
            "`_` in place of the destination".to_owned(),
            "only elements of a vector can be `_`".to_owned(),
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

/// At most 128 bits, or one of the 256-bit forms in global memory. `.v8` is such a form or
/// nothing: an assembler takes or crashes on narrower elements, which no document has.
fn vector_width(judged: &Judged<'_>, findings: &mut Findings) {
    let Some(span) = judged.finds(|kind| matches!(kind, Q::Vector(_))) else { return };
    let Some(bits) = judged.load.scalar().and_then(width) else { return };
    let elements = judged.load.elements();
    if !judged.is_wide() && (bits * u32::from(elements) > 128 || elements == 8) {
        findings.add(
            Rule::VectorWidth,
            span,
            format!("a vector of {elements} elements of {bits} bits"),
            "at most 128 bits and `.v4`, or 256 as `.v8` of a 32-bit or `.v4` of a 64-bit type"
                .to_owned(),
        );
    } else if judged.is_wide() && !judged.may_be_global() {
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
    let registers: Vec<(ScalarType, Span)> = elements
        .iter()
        .filter_map(|element| {
            let scalar = match element.kind {
                ElementKind::Sink => return None,
                ElementKind::Name => scalar(judged, element.span, findings)?,
                ElementKind::Component(name) => {
                    component(judged, name, element.span, findings)?.scalar
                }
                ElementKind::Constant(_) => {
                    no_register(judged, element.span, findings);
                    return None;
                }
            };
            Some((scalar, element.span))
        })
        .collect();
    mixed(&registers, findings);
    // Registers of different types are taken for bits.
    let first = registers.first().map(|register| register.0);
    let are_alike = registers.iter().all(|(scalar, _)| Some(*scalar) == first);
    for (scalar, span) in registers {
        fits(judged, scalar, span, are_alike, findings);
    }
}

/// What the registers of one vector have in common; those of bits go with all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Integers,
    Floats,
    Pairs,
    Predicates,
}

/// How many bits a register takes; a predicate counts as one of 32 bits.
fn held_bits(scalar: ScalarType) -> Option<u32> {
    if scalar == ScalarType::Pred { Some(32) } else { scalar.bits() }
}

fn group(scalar: ScalarType) -> Option<Group> {
    match (scalar, scalar.class()) {
        (_, TypeClass::Bits) => None,
        (ScalarType::F16x2, _) => Some(Group::Pairs),
        (ScalarType::Pred, _) => Some(Group::Predicates),
        (_, TypeClass::Float) => Some(Group::Floats),
        _ => Some(Group::Integers),
    }
}

/// Elements are of one width. Of two neighbours both are of integers, of floats or of pairs, or one
/// is of bits: an assembler compares no others.
pub(super) fn mixed(registers: &[(ScalarType, Span)], findings: &mut Findings) {
    let before = std::iter::once(None).chain(registers.iter().map(|register| Some(register.0)));
    let Some((first, _)) = registers.first() else { return };
    for ((scalar, span), before) in registers.iter().zip(before) {
        let neighbour = before.filter(|before| match (group(*before), group(*scalar)) {
            (Some(left), Some(right)) => left != right,
            _ => false,
        });
        let other = if held_bits(*scalar) != held_bits(*first) { Some(*first) } else { neighbour };
        let Some(other) = other else { continue };
        findings.add(
            Rule::VectorMix,
            *span,
            format!("`.{scalar}` beside `.{other}` in one vector"),
            "elements have one width, and neighbours are both of integers, of floats or `.f16x2`, \
             or one is of a bit type"
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
    fits(judged, register.scalar, span, true, findings);
}

/// The type of a register that is an element. An assembler lets special registers be elements, too.
fn scalar(judged: &Judged<'_>, name: Span, findings: &mut Findings) -> Option<ScalarType> {
    if let Some(special) = judged.special(name).filter(|special| !special.is_vector) {
        gates::special(judged, name, special, findings);
        return Some(special.scalar);
    }
    let register = judged.register(name).filter(|register| register.vector == 1);
    if register.is_none() {
        no_register(judged, name, findings);
    }
    register.map(|register| register.scalar)
}

/// `Q.x`: one register out of a vector register.
fn component<'j>(
    judged: &Judged<'j>,
    name: Span,
    span: Span,
    findings: &mut Findings,
) -> Option<&'j Declaration> {
    let register = judged.register(name).filter(|register| register.vector > 1);
    if register.is_none() {
        no_register(judged, span, findings);
    }
    register
}

/// Whether a value of the load's type goes into a register; `is_typed` is false for one whose
/// type does not count, its width alone.
fn fits(
    judged: &Judged<'_>,
    register: ScalarType,
    span: Span,
    is_typed: bool,
    findings: &mut Findings,
) {
    let Some(loaded) = judged.load.scalar() else { return };
    let (Some(bits), Some(register_bits)) = (loaded.bits(), held_bits(register)) else { return };
    let name = judged.text(span);
    let is_exact = judged.load.elements() == 8 && judged.is_wide();
    if register == ScalarType::Pred && is_typed {
        findings.add(
            Rule::DestinationType,
            span,
            format!("`{name}` is of type `.{register}`"),
            "a load's destination is a register of integers, floats or bits".to_owned(),
        );
    } else if register_bits < bits || (is_exact && register_bits != bits) {
        findings.add(
            Rule::DestinationWidth,
            span,
            format!("`{name}` has {register_bits} bits, a `.{loaded}` has {bits}"),
            if is_exact {
                "a destination of `.v8` is exactly as wide as the type".to_owned()
            } else {
                "a destination is at least as wide as the type".to_owned()
            },
        );
    } else if is_typed && !takes(loaded, register, judged.load.elements() > 1) {
        findings.add(
            Rule::DestinationType,
            span,
            format!("`{name}` of type `.{register}` for a `.{loaded}`"),
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

/// Returns the bits of a value; `None` for a type that no load has.
fn width(scalar: ScalarType) -> Option<u32> {
    scalar.bits().filter(|bits| *bits >= 8)
}
