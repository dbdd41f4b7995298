//! Rules for `tcgen05.ld` and `tcgen05.ld.red`.

use std::collections::HashSet;

use super::address::{integer_offset, is_tensor_address};
use super::destination::mixed;
use super::judged::{Judged, names};
use super::violation::Rule;
use crate::syntax::load::{AddressForm, Element, ElementKind, Opcode, Operand, OperandKind};
use crate::syntax::types::LATER_ASSEMBLER;
use crate::syntax::{ScalarType, Span};
use crate::tensor::judge::{ALIGNED, Parts, types};
use crate::tensor::{TensorLoadErrorKind as Problem, fixed_operands, reduced};
use warpload_machine::tensor::{IllegalLoadError as Illegal, MAX_REGISTERS};

/// [`tcgen05.ld`, Syntax and Description]
pub(super) fn check(judged: &mut Judged<'_>) {
    let parts = Parts::of(judged.load);
    for problem in parts.problems() {
        report(judged, problem);
    }
    operands(judged, parts.form.is_reduction);
}

/// Reports a problem at every qualifier that causes it.
fn report(judged: &mut Judged<'_>, problem: Problem) {
    let load = judged.load;
    match problem {
        Problem::Expected(part) => missing(judged, part),
        Problem::RegisterCount { expected, got } => {
            let Some(operand) = load.operands.first() else { return };
            let message = format!("{got} of {expected} registers");
            let help = format!("shape and repeats need {expected} in each thread");
            judged.add(Rule::VectorSize, operand.span, message, help);
        }
        Problem::Illegal(Illegal::SplitMissing) => {
            offset(judged, load.span, "the offset of the second half is missing");
        }
        Problem::Illegal(Illegal::SplitSurplus { .. }) => {
            let span = load.operands.last().map_or(load.span, |operand| operand.span);
            offset(judged, span, "an offset of the second half, which this shape does not have");
        }
        _ => {
            for qualifier in load.qualifiers().filter(|q| problem.is_about(q.kind)) {
                misfit(judged, problem, qualifier.span);
            }
        }
    }
}

fn offset(judged: &mut Judged<'_>, span: Span, message: &str) {
    judged.add(Rule::TensorOffset, span, message, "only `.16x32bx2` has one");
}

fn missing(judged: &mut Judged<'_>, name: &str) {
    // Before PTX 9.0 `.aligned` is optional, as in ptxas 12.9.
    let is_optional = name == ALIGNED && judged.module.version < LATER_ASSEMBLER;
    let opcode = judged.load.opcode;
    // An unknown qualifier may be a misspelling of the missing one. Types are checked elsewhere.
    if is_optional || name == types(opcode == Opcode::TensorLdRed) || judged.has_unknown() {
        return;
    }
    let (message, help) = (format!("`{}` without {name}", opcode.name()), format!("add {name}"));
    judged.add(Rule::MissingQualifier, judged.load.opcode_span, message, help);
}

/// Reports a qualifier that contradicts the others.
fn misfit(judged: &mut Judged<'_>, problem: Problem, span: Span) {
    let text = judged.text(span);
    let on_load = || format!("`{text}` on this `{}`", judged.load.opcode.name());
    let (rule, message, help) = match problem {
        Problem::ReductionWithoutRed => {
            (Rule::TensorModifier, on_load(), "it is only valid with `tcgen05.ld.red`")
        }
        Problem::Illegal(Illegal::ReductionShape { .. }) => (
            Rule::TensorShape,
            format!("the shape `{text}` with a reduction"),
            "`tcgen05.ld.red` has `.32x32b` and `.16x32bx2`",
        ),
        Problem::Illegal(Illegal::Num { shape, largest, .. }) => {
            let help = format!("at most `.{largest}`: a load fills {MAX_REGISTERS} registers");
            return judged.add(Rule::TensorRepeat, span, format!("`{text}` of `.{shape}`"), help);
        }
        Problem::Illegal(Illegal::ReductionNum) => {
            (Rule::TensorRepeat, format!("`{text}` with a reduction"), "at least `.x2`")
        }
        Problem::Illegal(Illegal::ReductionPack) => {
            (Rule::TensorModifier, on_load(), "`.pack::16b` is only valid with `tcgen05.ld`")
        }
        Problem::Illegal(Illegal::ReductionModifier { .. }) => {
            (Rule::TensorModifier, on_load(), "it is only valid with `.f32`")
        }
        // `qualifiers.rs` judges types and unknown qualifiers.
        _ => return,
    };
    judged.add(rule, span, message, help);
}

/// Judges `r, {redval,} [taddr] {, offset}`.
fn operands(judged: &mut Judged<'_>, is_red: bool) {
    let fixed = fixed_operands(judged.load.opcode);
    let written = judged.load.operands;
    if written.len() < fixed || written.len() > fixed + 1 {
        let message = format!("{} operands", written.len());
        let help = if is_red {
            "registers in braces, the reduced value, the address; `.16x32bx2` has an offset, too"
        } else {
            "registers in braces, the address; `.16x32bx2` has an offset, too"
        };
        judged.add(Rule::Operands, judged.load.span, message, help);
    }
    if let Some(destination) = written.first() {
        vector(judged, destination);
    }
    if let Some(reduced) = written.get(1).filter(|_| is_red) {
        reduced_value(judged, reduced);
    }
    written_once(judged, is_red);
    if let Some(address) = written.get(fixed - 1) {
        tensor_address(judged, address, is_red);
    }
    if let Some(offset) = written.get(fixed).filter(|offset| offset.integer().is_none()) {
        let message = format!("`{}` is not an integer constant", judged.text(offset.span));
        let help = "the offset of the second half must be a constant";
        judged.add(Rule::TensorOffset, offset.span, message, help);
    }
}

/// The destination: registers of 32 bits in braces.
fn vector(judged: &mut Judged<'_>, operand: &Operand) {
    let OperandKind::Vector(elements) = operand.kind else {
        let message = format!("`{}` is not a vector", judged.text(operand.span));
        let help = "write registers in braces, also a single one";
        return judged.add(Rule::DestinationRegister, operand.span, message, help);
    };
    let elements = judged.load.elements_in(elements);
    let mut registers = Vec::with_capacity(elements.len());
    for element in elements {
        if element.kind == ElementKind::Sink {
            let message = "`_` in a load of Tensor Memory";
            judged.add(
                Rule::SinkScalar,
                element.span,
                message,
                "write a register for each element",
            );
        } else if let Some(scalar) = register(judged, element) {
            registers.push((scalar, element.span));
        }
    }
    mixed(&registers, &mut judged.findings);
}

/// Checks that an element is a register of 32 bits, of any type, and gives its type. It may be an element of a vector
/// register.
fn register(judged: &mut Judged<'_>, element: &Element) -> Option<ScalarType> {
    let (name, is_element) = match element.kind {
        ElementKind::Component(name) => (name, true),
        _ => (element.span, false),
    };
    let declared = judged.register(name).filter(|declared| (declared.vector > 1) == is_element);
    let Some(declared) = declared else {
        let help = "write a register of 32 bits";
        judged.no(Rule::DestinationRegister, element.span, "register", help);
        return None;
    };
    if declared.scalar.register_bits() != Some(32) {
        let message = format!("`{}` is of type `.{}`", judged.text(element.span), declared.scalar);
        let help = "Tensor Memory is loaded into registers of 32 bits";
        judged.add(Rule::DestinationWidth, element.span, message, help);
    }
    Some(declared.scalar)
}

/// From PTX 9.0 on no register may be written twice, the reduced value included. Elements of vector registers are not
/// compared, as in ptxas.
fn written_once(judged: &mut Judged<'_>, is_red: bool) {
    if judged.module.version < LATER_ASSEMBLER {
        return;
    }
    let mut seen = HashSet::new();
    let operands = judged.load.operands.iter().take(if is_red { 2 } else { 1 });
    for name in operands.flat_map(|operand| names(judged.load, operand)) {
        let symbol = judged.symbol(name).filter(|symbol| symbol.declaration.vector == 1);
        if symbol.is_some_and(|symbol| !seen.insert((symbol.id, symbol.number))) {
            let message = format!("`{}` is written twice", judged.text(name));
            let help = "write a different register for each element";
            judged.add(Rule::TensorRegister, name, message, help);
        }
    }
}

fn reduced_value(judged: &mut Judged<'_>, operand: &Operand) {
    let Some(element) = reduced(judged.load, operand) else {
        let message = format!("`{}` cannot hold the reduced value", judged.text(operand.span));
        let help = "write a register of 32 bits";
        return judged.add(Rule::DestinationRegister, operand.span, message, help);
    };
    register(judged, &element);
}

/// `[register]` or `[register+offset]` with a register of 32 bits.
fn tensor_address(judged: &mut Judged<'_>, operand: &Operand, is_red: bool) {
    let help = "an address of Tensor Memory is a 32-bit register in brackets";
    let address = judged.load.address_in(operand);
    let address = address.filter(|address| address.form == AddressForm::Bracketed);
    let Some(address) = address else {
        let message = format!("`{}` is not an address", judged.text(operand.span));
        return judged.add(Rule::Operands, operand.span, message, help);
    };
    if let Some(span) = address.unified.filter(|_| is_red) {
        let message = "`.unified` on `tcgen05.ld.red`";
        judged.add(Rule::UnifiedSpace, span, message, "remove `.unified`");
    }
    let Some(base) = address.base else {
        let message = "a constant address of Tensor Memory";
        return judged.add(Rule::ImmediateAddress, operand.span, message, help);
    };
    integer_offset(judged, &address);
    match judged.register(base) {
        Some(declared) if is_tensor_address(declared) => {}
        Some(declared) => {
            let message = format!("`{}` is of type `.{}`", judged.text(base), declared.scalar);
            judged.add(Rule::AddressBase, base, message, help);
        }
        None => judged.no(Rule::AddressBase, base, "register", help),
    }
}
