//! `tcgen05.ld` and `tcgen05.ld.red`.

use std::collections::HashSet;

use super::address::is_tensor_address;
use super::destination::mixed;
use super::{Findings, Judged, LATER_ASSEMBLER, Rule};
use crate::syntax::load::{
    AddressForm, Element, ElementKind, Opcode, Operand, OperandKind, QualifierKind as Q,
};
use crate::syntax::{ScalarType, Span};
use crate::tensor::{MAX_REGISTERS, Repeat, Shape};

/// [`tcgen05.ld`, Syntax and Description].
pub(super) fn check(judged: &Judged<'_>, findings: &mut Findings) {
    let is_red = judged.load.opcode == Opcode::TensorLdRed;
    if !judged.has_unknown() {
        missing(judged, is_red, findings);
    }
    shape(judged, is_red, findings);
    modifiers(judged, is_red, findings);
    operands(judged, is_red, findings);
}

fn missing(judged: &Judged<'_>, is_red: bool, findings: &mut Findings) {
    let mut need = |text: &str, is_it: fn(Q) -> bool| {
        if judged.finds(is_it).is_none() {
            findings.add(
                Rule::MissingQualifier,
                judged.load.opcode_span,
                format!("`{}` without {text}", judged.load.opcode.name()),
                format!("add {text}"),
            );
        }
    };
    need("`.sync`", |kind| kind == Q::Sync);
    if judged.module.version >= LATER_ASSEMBLER {
        need("`.aligned`", |kind| kind == Q::Aligned);
    }
    need("a shape", |kind| matches!(kind, Q::Shape(_)));
    need("`.x1` to `.x128`", |kind| matches!(kind, Q::Repeat(_)));
    if is_red {
        need("`.min` or `.max`", |kind| matches!(kind, Q::Reduction(_)));
    }
}

fn found_shape(judged: &Judged<'_>) -> Option<(Shape, Span)> {
    judged.load.first(|kind| match kind {
        Q::Shape(shape) => Some(shape),
        _ => None,
    })
}

fn found_repeat(judged: &Judged<'_>) -> Option<(Repeat, Span)> {
    judged.load.first(|kind| match kind {
        Q::Repeat(repeat) => Some(repeat),
        _ => None,
    })
}

/// How many registers the load fills in a thread; nothing where the load does not say.
fn registers(judged: &Judged<'_>) -> Option<usize> {
    let (shape, _) = found_shape(judged)?;
    let (repeat, _) = found_repeat(judged)?;
    Some(shape.registers_per_repeat() * repeat.get())
        .filter(|registers| *registers <= MAX_REGISTERS)
}

fn shape(judged: &Judged<'_>, is_red: bool, findings: &mut Findings) {
    let Some((shape, span)) = found_shape(judged) else { return };
    if is_red && !matches!(shape, Shape::S32x32b | Shape::S16x32bx2) {
        findings.add(
            Rule::TensorShape,
            span,
            format!("the shape `{}` with a reduction", judged.text(span)),
            "`tcgen05.ld.red` has `.32x32b` and `.16x32bx2`".to_owned(),
        );
    }
    let Some((repeat, repeat_span)) = found_repeat(judged) else { return };
    let (repeat_text, shape_text) = (judged.text(repeat_span), judged.text(span));
    if shape.registers_per_repeat() * repeat.get() > MAX_REGISTERS {
        findings.add(
            Rule::TensorRepeat,
            repeat_span,
            format!("`{repeat_text}` of `{shape_text}`"),
            format!(
                "at most `.x{}`: a load fills {MAX_REGISTERS} registers",
                MAX_REGISTERS / shape.registers_per_repeat()
            ),
        );
    }
    if is_red && repeat.get() < 2 {
        findings.add(
            Rule::TensorRepeat,
            repeat_span,
            format!("`{repeat_text}` with a reduction"),
            "at least `.x2`".to_owned(),
        );
    }
}

/// Packing is for plain loads; the reduction's qualifiers are for reductions, and those of
/// floats for floats.
fn modifiers(judged: &Judged<'_>, is_red: bool, findings: &mut Findings) {
    let is_float = judged.load.scalar() == Some(ScalarType::F32);
    for qualifier in &judged.load.qualifiers {
        let help = match qualifier.kind {
            Q::Pack if is_red => "`.pack::16b` goes with `tcgen05.ld`",
            Q::Reduction(_) | Q::Absolute | Q::Nan if !is_red => "it goes with `tcgen05.ld.red`",
            Q::Absolute | Q::Nan if !is_float => "it goes with `.f32`",
            _ => continue,
        };
        let (text, name) = (judged.text(qualifier.span), judged.load.opcode.name());
        let message = format!("`{text}` on this `{name}`");
        findings.add(Rule::TensorModifier, qualifier.span, message, help.to_owned());
    }
}

/// `r, {redval,} [taddr] {, offset}`.
fn operands(judged: &Judged<'_>, is_red: bool, findings: &mut Findings) {
    let has_offset = found_shape(judged).map(|found| found.0) == Some(Shape::S16x32bx2);
    let fixed = if is_red { 3 } else { 2 };
    let written = &judged.load.operands;
    if written.len() < fixed || written.len() > fixed + 1 {
        let message = format!("{} operands", written.len());
        let help = if is_red {
            "registers in braces, the reduced value, the address; `.16x32bx2` has an offset, too"
        } else {
            "registers in braces, the address; `.16x32bx2` has an offset, too"
        };
        findings.add(Rule::Operands, judged.load.span, message, help.to_owned());
    } else if has_offset != (written.len() > fixed) {
        let (span, message) = match written.get(fixed) {
            Some(offset) => (offset.span, "an offset of the second half".to_owned()),
            None => (judged.load.span, "no offset of the second half".to_owned()),
        };
        let help = "`.16x32bx2` has one, no other shape has".to_owned();
        findings.add(Rule::TensorOffset, span, message, help);
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
                format!("`{}` is no integer constant", judged.text(offset.span)),
                "the offset of the second half is known when the code is assembled".to_owned(),
            );
        }
    }
}

/// Registers in braces, as many as shape and repeats say, all of 32 bits.
fn vector(judged: &Judged<'_>, operand: &Operand, findings: &mut Findings) {
    let OperandKind::Vector(elements) = &operand.kind else {
        findings.add(
            Rule::DestinationRegister,
            operand.span,
            format!("`{}` is no vector", judged.text(operand.span)),
            "write registers in braces, also a single one".to_owned(),
        );
        return;
    };
    let registers = registers(judged).filter(|registers| *registers != elements.len());
    if let Some(registers) = registers {
        findings.add(
            Rule::VectorSize,
            operand.span,
            format!("{} of {registers} registers", elements.len()),
            format!("shape and repeats fill {registers} in a thread"),
        );
    }
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
            let message = format!("`{}` is no address", judged.text(operand.span));
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
        let message = format!("`{}` is no integer", judged.text(offset.span));
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
