//! Rules for the destination of a load.

use super::judged::{Findings, Judged};
use super::violation::Rule;
use crate::module::Declaration;
use crate::syntax::Span;
use crate::syntax::load::{
    AddressForm, Element, ElementKind, Operand, OperandKind, QualifierKind as Q,
};
use warpload_machine::ScalarType as T;

/// The number of operands, without and with a cache policy.
const OPERANDS: std::ops::RangeInclusive<usize> = 2..=3;

/// [`ld`, Description and Notes; PTX ISA, "Operand Size Exceeding Instruction-Type Size"]
pub(super) fn check(judged: &mut Judged<'_>) {
    let load = judged.load;
    let is_indexed = |operand: &Operand| {
        load.address_in(operand).is_some_and(|address| address.form == AddressForm::Indexed)
    };
    // Without the comma, as in `%r1 [%rd1]`, destination and address are one operand. That is reported below.
    if !OPERANDS.contains(&load.operands.len()) && !load.destination().is_some_and(is_indexed) {
        let message = format!("a load with {} operands", load.operands.len());
        let help = "a load has a destination, an address, and with `.L2::cache_hint` a policy";
        judged.add(Rule::Operands, load.span, message, help);
    }
    vector_width(judged);
    let Some(destination) = load.destination() else { return };
    let span = destination.span;
    match destination.kind {
        OperandKind::Vector(elements) => vector(judged, span, load.elements_in(elements)),
        OperandKind::Name => name(judged, span),
        OperandKind::Component(name) => {
            let register = component(judged, name, span);
            if load.elements() > 1 {
                size(judged, span, 1);
            }
            if let Some(register) = register {
                fits(judged, register.scalar, span, true);
            }
        }
        OperandKind::Address(_) if is_indexed(destination) => {
            let help = "write a comma between destination and address";
            judged.add(Rule::AddressIndex, span, "brackets after the destination", help);
        }
        OperandKind::Sink => {
            let message = "`_` in place of the destination";
            judged.add(Rule::SinkScalar, span, message, "only elements of a vector can be `_`");
        }
        _ => no_register(judged, span),
    }
}

fn no_register(judged: &mut Judged<'_>, span: Span) {
    let help = "a load's destination is a register, or registers in braces";
    judged.no(Rule::DestinationRegister, span, "register", help);
}

/// A vector has at most 128 bits, or one of the 256-bit forms in global memory. `.v8` exists only in such a form: with
/// narrower elements, which no document has, ptxas accepts it or crashes.
fn vector_width(judged: &mut Judged<'_>) {
    let Some(span) = judged.finds(|kind| matches!(kind, Q::Vector(_))) else { return };
    let bits = judged.load.scalar().and_then(T::register_bits).filter(|bits| *bits >= 8);
    let Some(bits) = bits else { return };
    let elements = judged.load.elements();
    if !judged.is_wide() && (bits * u32::from(elements) > 128 || elements == 8) {
        let message = format!("a vector of {elements} elements of {bits} bits");
        let help =
            "at most 128 bits and `.v4`, or 256 as `.v8` of a 32-bit or `.v4` of a 64-bit type";
        judged.add(Rule::VectorWidth, span, message, help);
    } else if judged.is_wide() && !judged.may_be_global() {
        let message = format!("256 bits of `{}` at once", judged.space_text());
        let help = "256 bits are loaded with `.global` and generic addressing";
        judged.add(Rule::WideSpace, span, message, help);
    }
}

/// Judges `{a, b, _}`: one register per element, and a single one for a scalar.
fn vector(judged: &mut Judged<'_>, span: Span, elements: &[Element]) {
    size(judged, span, elements.len());
    if elements.iter().all(|element| element.kind == ElementKind::Sink) {
        let message = "all elements are `_`";
        judged.add(Rule::SinkOnly, span, message, "write a register for at least one of them");
    }
    let mut registers: Vec<(T, Span)> = Vec::with_capacity(elements.len());
    for Element { kind, span } in elements.iter().copied() {
        let scalar = match kind {
            ElementKind::Sink => None,
            ElementKind::Name => scalar(judged, span),
            ElementKind::Component(name) => component(judged, name, span).map(|found| found.scalar),
            ElementKind::Constant(_) => {
                no_register(judged, span);
                None
            }
        };
        registers.extend(scalar.map(|scalar| (scalar, span)));
    }
    mixed(&registers, &mut judged.findings);
    // If the registers differ in type, only their widths count.
    let are_alike = registers.windows(2).all(|pair| pair[0].0 == pair[1].0);
    for (scalar, span) in registers {
        fits(judged, scalar, span, are_alike);
    }
}

/// Types that may be neighbours in a vector. Bit types go with every group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Integers,
    Floats,
    Pairs,
    Predicates,
}

/// The width of a register in bits. A predicate counts as 32.
fn held_bits(scalar: T) -> Option<u32> {
    if scalar == T::Pred { Some(32) } else { scalar.register_bits() }
}

fn group(scalar: T) -> Option<Group> {
    match scalar {
        _ if scalar.is_bits() => None,
        T::F16x2 => Some(Group::Pairs),
        T::Pred => Some(Group::Predicates),
        T::F16 | T::F32 | T::F64 => Some(Group::Floats),
        _ => Some(Group::Integers),
    }
}

/// All elements have one width, and neighbours are in the same group or one is of a bit type. Only neighbours are
/// compared, as in ptxas.
pub(super) fn mixed(registers: &[(T, Span)], findings: &mut Findings) {
    let before = std::iter::once(None).chain(registers.iter().map(|register| Some(register.0)));
    let Some((first, _)) = registers.first() else { return };
    for ((scalar, span), before) in registers.iter().zip(before) {
        let neighbour = before.filter(|before| match (group(*before), group(*scalar)) {
            (Some(left), Some(right)) => left != right,
            _ => false,
        });
        let other = if held_bits(*scalar) != held_bits(*first) { Some(*first) } else { neighbour };
        let Some(other) = other else { continue };
        let message = format!("`.{scalar}` beside `.{other}` in one vector");
        let help = "use registers of one width; neighbours must both be integers, floats or \
                    `.f16x2`, or one must be a bit type";
        findings.add(Rule::VectorMix, *span, message, help);
    }
}

fn size(judged: &mut Judged<'_>, span: Span, written: usize) {
    let elements = usize::from(judged.load.elements());
    // An unknown vector size is reported already.
    if written != elements && !judged.has_unknown() {
        let help = match (elements, written) {
            (1, _) => "add `.v2`, `.v4` or `.v8` to load a vector".to_owned(),
            (_, 1) => format!("{elements} registers in braces"),
            _ => format!("write {elements} registers, and `_` for unused elements"),
        };
        judged.add(Rule::VectorSize, span, format!("{written} of {elements} elements"), help);
    }
}

/// Judges a plain name: a register, or a vector register.
fn name(judged: &mut Judged<'_>, span: Span) {
    let Some(register) = judged.register(span) else { return no_register(judged, span) };
    if register.vector > 1 || judged.load.elements() > 1 {
        size(judged, span, usize::from(register.vector));
    }
    fits(judged, register.scalar, span, true);
}

/// The type of a register in a vector. ptxas also accepts special registers there.
fn scalar(judged: &mut Judged<'_>, name: Span) -> Option<T> {
    if let Some(special) = judged.special(name).filter(|special| !special.is_vector) {
        judged.needs_special(name, special);
        return Some(special.scalar);
    }
    let register = judged.register(name).filter(|register| register.vector == 1);
    if register.is_none() {
        no_register(judged, name);
    }
    register.map(|register| register.scalar)
}

/// Judges `Q.x`, an element of a vector register.
fn component<'j>(judged: &mut Judged<'j>, name: Span, span: Span) -> Option<&'j Declaration> {
    let register = judged.register(name).filter(|register| register.vector > 1);
    if register.is_none() {
        no_register(judged, span);
    }
    register
}

/// Checks that a value of the load's type fits into a register. If `is_typed` is false, only the width counts.
fn fits(judged: &mut Judged<'_>, register: T, span: Span, is_typed: bool) {
    let Some(loaded) = judged.load.scalar() else { return };
    let (Some(bits), Some(register_bits)) = (loaded.register_bits(), held_bits(register)) else {
        return;
    };
    let name = judged.text(span);
    let is_exact = judged.load.elements() == 8 && judged.is_wide();
    let (rule, message, help) = if register == T::Pred && is_typed {
        (
            Rule::DestinationType,
            format!("`{name}` is of type `.{register}`"),
            "a load's destination is a register of integers, floats or bits",
        )
    } else if register_bits < bits || (is_exact && register_bits != bits) {
        (
            Rule::DestinationWidth,
            format!("`{name}` has {register_bits} bits, a `.{loaded}` has {bits}"),
            match is_exact {
                true => "a destination of `.v8` is exactly as wide as the type",
                false => "a destination is at least as wide as the type",
            },
        )
    } else if is_typed && !takes(loaded, register, judged.load.elements() > 1) {
        (
            Rule::DestinationType,
            format!("`{name}` of type `.{register}` for a `.{loaded}`"),
            match loaded.is_float() {
                true => "floats go into registers of their own type or of a bit type",
                false => "integers go into registers of integers or of a bit type",
            },
        )
    } else {
        return;
    };
    judged.add(rule, span, message, help);
}

/// Whether a register that is wide enough accepts values of the loaded type.
fn takes(loaded: T, register: T, is_vector: bool) -> bool {
    if loaded.is_float() {
        return register.is_bits()
            || register == loaded
            || (is_vector && register.is_integer() && register.bits() == loaded.bits());
    }
    loaded.is_bits() || register.is_integer() || register == T::F16x2
}
