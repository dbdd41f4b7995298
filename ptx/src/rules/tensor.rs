//! `tcgen05.ld` and `tcgen05.ld.red`.

use std::collections::HashSet;

use super::address::is_tensor_address;
use super::destination::mixed;
use super::{Findings, Judged, LATER_ASSEMBLER, Rule};
use crate::syntax::load::{AddressForm, Element, ElementKind, Operand, OperandKind};
use crate::syntax::{ScalarType, Span};
use crate::tensor::judge::{IllegalLoadError, Part, Parts, Problem};
use crate::tensor::{MAX_REGISTERS, fixed_operands};

/// [`tcgen05.ld`, Syntax and Description].
pub(super) fn check(judged: &Judged<'_>, findings: &mut Findings) {
    let parts = Parts::of(judged.load);
    for problem in parts.problems() {
        report(judged, problem, findings);
    }
    operands(judged, parts.is_reduction, findings);
}

/// Reports a problem at each part that it is about.
fn report(judged: &Judged<'_>, problem: Problem, findings: &mut Findings) {
    match problem {
        Problem::Missing(part) => missing(judged, part, findings),
        // `qualifiers.rs` compares all types of a load.
        Problem::Type => {}
        Problem::RegisterCount { expected, got } => {
            let Some(operand) = judged.load.operands.first() else { return };
            let message = format!("{got} of {expected} registers");
            let help = format!("shape and repeats fill {expected} in a thread");
            findings.add(Rule::VectorSize, operand.span, message, help);
        }
        Problem::Combination(IllegalLoadError::SplitMissing) => {
            offset(judged.load.span, "no offset of the second half", findings);
        }
        Problem::Combination(IllegalLoadError::SplitSurplus { .. }) => {
            let surplus = judged.load.operands.last().map(|operand| operand.span);
            let span = surplus.unwrap_or(judged.load.span);
            offset(span, "an offset of the second half", findings);
        }
        Problem::ReductionWithoutRed | Problem::Combination(_) => {
            for qualifier in &judged.load.qualifiers {
                if problem.is_about(qualifier.kind) {
                    misfit(judged, problem, qualifier.span, findings);
                }
            }
        }
    }
}

fn offset(span: Span, message: &str, findings: &mut Findings) {
    let help = "`.16x32bx2` has one, no other shape has".to_owned();
    findings.add(Rule::TensorOffset, span, message.to_owned(), help);
}

fn missing(judged: &Judged<'_>, part: Part, findings: &mut Findings) {
    let text = match part {
        Part::Sync => "`.sync`",
        // Versions that only ptxas 12.9 compiles do without it.
        Part::Aligned if judged.module.version < LATER_ASSEMBLER => return,
        Part::Aligned => "`.aligned`",
        Part::Shape => "a shape",
        Part::Repeat => "`.x1` to `.x128`",
        Part::Operation => "`.min` or `.max`",
        // `qualifiers.rs` compares all types of a load.
        Part::Type => return,
    };
    // The unknown qualifier may be what is missing, misspelled.
    if judged.has_unknown() {
        return;
    }
    let message = format!("`{}` without {text}", judged.load.opcode.name());
    let span = judged.load.opcode_span;
    findings.add(Rule::MissingQualifier, span, message, format!("add {text}"));
}

/// Reports a qualifier that does not go with the others.
fn misfit(judged: &Judged<'_>, problem: Problem, span: Span, findings: &mut Findings) {
    let text = judged.text(span);
    let on_load = || format!("`{text}` on this `{}`", judged.load.opcode.name());
    let Problem::Combination(illegal) = problem else {
        let help = "it goes with `tcgen05.ld.red`".to_owned();
        return findings.add(Rule::TensorModifier, span, on_load(), help);
    };
    let (rule, message, help) = match illegal {
        IllegalLoadError::ReductionShape { .. } => (
            Rule::TensorShape,
            format!("the shape `{text}` with a reduction"),
            "`tcgen05.ld.red` has `.32x32b` and `.16x32bx2`".to_owned(),
        ),
        IllegalLoadError::Num { shape, largest, .. } => (
            Rule::TensorRepeat,
            format!("`{text}` of `.{shape}`"),
            format!("at most `.{largest}`: a load fills {MAX_REGISTERS} registers"),
        ),
        IllegalLoadError::ReductionNum => {
            (Rule::TensorRepeat, format!("`{text}` with a reduction"), "at least `.x2`".to_owned())
        }
        IllegalLoadError::ReductionPack => {
            (Rule::TensorModifier, on_load(), "`.pack::16b` goes with `tcgen05.ld`".to_owned())
        }
        IllegalLoadError::ReductionModifier { .. } => {
            (Rule::TensorModifier, on_load(), "it goes with `.f32`".to_owned())
        }
        // These are unknown qualifiers, or operands.
        IllegalLoadError::Shape
        | IllegalLoadError::ReductionKind
        | IllegalLoadError::SplitMissing
        | IllegalLoadError::SplitSurplus { .. } => return,
    };
    findings.add(rule, span, message, help);
}

/// `r, {redval,} [taddr] {, offset}`.
fn operands(judged: &Judged<'_>, is_red: bool, findings: &mut Findings) {
    let fixed = fixed_operands(judged.load.opcode);
    let written = &judged.load.operands;
    if written.len() < fixed || written.len() > fixed + 1 {
        let message = format!("{} operands", written.len());
        let help = if is_red {
            "registers in braces, the reduced value, the address; `.16x32bx2` has an offset, too"
        } else {
            "registers in braces, the address; `.16x32bx2` has an offset, too"
        };
        findings.add(Rule::Operands, judged.load.span, message, help.to_owned());
    }
    if let Some(destination) = written.first() {
        vector(judged, destination, findings);
    }
    if let Some(reduced) = written.get(1).filter(|_| is_red) {
        reduced_value(judged, reduced, findings);
    }
    written_once(judged, is_red, findings);
    if let Some(address) = written.get(fixed - 1) {
        tensor_address(judged, address, is_red, findings);
    }
    if let Some(offset) = written.get(fixed) {
        let is_constant =
            matches!(&offset.kind, OperandKind::Constant(value) if value.integer().is_some());
        if !is_constant {
            findings.add(
                Rule::TensorOffset,
                offset.span,
                format!("`{}` is not an integer constant", judged.text(offset.span)),
                "the offset of the second half is known when the code is assembled".to_owned(),
            );
        }
    }
}

/// Registers in braces, all of 32 bits.
fn vector(judged: &Judged<'_>, operand: &Operand, findings: &mut Findings) {
    let OperandKind::Vector(elements) = &operand.kind else {
        findings.add(
            Rule::DestinationRegister,
            operand.span,
            format!("`{}` is not a vector", judged.text(operand.span)),
            "write registers in braces, also a single one".to_owned(),
        );
        return;
    };
    let mut registers = Vec::with_capacity(elements.len());
    for element in elements {
        if element.kind == ElementKind::Sink {
            findings.add(
                Rule::SinkScalar,
                element.span,
                "`_` in a load of tensor memory".to_owned(),
                "each element has its register".to_owned(),
            );
        } else if let Some(scalar) = register(judged, element, findings) {
            registers.push((scalar, element.span));
        }
    }
    mixed(&registers, findings);
}

/// A 32-bit register of any type, also one of a vector register; returns its type.
fn register(judged: &Judged<'_>, element: &Element, findings: &mut Findings) -> Option<ScalarType> {
    let (name, is_element) = match element.kind {
        ElementKind::Component(name) => (name, true),
        _ => (element.span, false),
    };
    let declared = judged.register(name).filter(|declared| (declared.vector > 1) == is_element);
    let Some(declared) = declared else {
        let help = "write a register of 32 bits";
        judged.no(Rule::DestinationRegister, element.span, "register", help, findings);
        return None;
    };
    if declared.scalar.bits() != Some(32) {
        findings.add(
            Rule::DestinationWidth,
            element.span,
            format!("`{}` is of type `.{}`", judged.text(element.span), declared.scalar),
            "tensor memory is loaded into registers of 32 bits".to_owned(),
        );
    }
    Some(declared.scalar)
}

/// Each register is written once, the reduced value's too, from 9.0 on. Elements of vector registers
/// are not compared, as an assembler does not.
fn written_once(judged: &Judged<'_>, is_red: bool, findings: &mut Findings) {
    if judged.module.version < LATER_ASSEMBLER {
        return;
    }
    let mut seen = HashSet::new();
    let operands = judged.load.operands.iter().take(if is_red { 2 } else { 1 });
    let names = operands.flat_map(|operand| match &operand.kind {
        OperandKind::Name => vec![operand.span],
        OperandKind::Vector(elements) => {
            let names = elements.iter().filter(|element| element.kind == ElementKind::Name);
            names.map(|element| element.span).collect()
        }
        _ => Vec::new(),
    });
    for name in names {
        let symbol = judged.symbol(name).filter(|symbol| symbol.declaration.vector == 1);
        let Some(symbol) = symbol else { continue };
        if !seen.insert((symbol.id, symbol.number)) {
            findings.add(
                Rule::TensorRegister,
                name,
                format!("`{}` is written twice", judged.text(name)),
                "each element has a register of its own".to_owned(),
            );
        }
    }
}

/// A register alone, or in braces as newer compilers write it.
fn reduced_value(judged: &Judged<'_>, operand: &Operand, findings: &mut Findings) {
    let element = |kind| Element { kind, span: operand.span };
    match &operand.kind {
        OperandKind::Name => {
            register(judged, &element(ElementKind::Name), findings);
        }
        OperandKind::Component(name) => {
            register(judged, &element(ElementKind::Component(*name)), findings);
        }
        OperandKind::Vector(elements) if elements.len() == 1 => {
            for element in elements {
                register(judged, element, findings);
            }
        }
        _ => findings.add(
            Rule::DestinationRegister,
            operand.span,
            format!("`{}` cannot hold the reduced value", judged.text(operand.span)),
            "write a register of 32 bits".to_owned(),
        ),
    }
}

/// `[register]` or `[register+offset]`, the register of 32 bits.
fn tensor_address(judged: &Judged<'_>, operand: &Operand, is_red: bool, findings: &mut Findings) {
    let help = "an address of tensor memory is in a 32-bit register in brackets".to_owned();
    let address = match &operand.kind {
        OperandKind::Address(address) if address.form == AddressForm::Bracketed => address,
        _ => {
            let message = format!("`{}` is not an address", judged.text(operand.span));
            return findings.add(Rule::Operands, operand.span, message, help);
        }
    };
    if let Some(span) = address.unified.filter(|_| is_red) {
        let message = "`.unified` on `tcgen05.ld.red`".to_owned();
        findings.add(Rule::UnifiedSpace, span, message, "remove `.unified`".to_owned());
    }
    let Some(base) = address.base else {
        let message = "a constant address of tensor memory".to_owned();
        return findings.add(Rule::ImmediateAddress, operand.span, message, help);
    };
    if let Some(offset) = address.offset.filter(|offset| offset.value.integer().is_none()) {
        let message = format!("`{}` is not an integer", judged.text(offset.span));
        findings.add(Rule::OffsetInteger, offset.span, message, None);
    }
    let text = judged.text(base);
    match judged.register(base) {
        Some(declared) if is_tensor_address(declared) => {}
        Some(declared) => {
            let message = format!("`{text}` is of type `.{}`", declared.scalar);
            findings.add(Rule::AddressBase, base, message, help);
        }
        None => judged.no(Rule::AddressBase, base, "register", &help, findings),
    }
}
