//! Rules for instructions other than loads. An unknown opcode is an error, because it may be a misspelled load.

use super::judged::Findings;
use super::violation::Rule;
use crate::module::{Instruction, Module};
use crate::syntax::load::{Element, OperandKind, PtxInstruction, QualifierKind};
use crate::syntax::types::LATEST;
use crate::syntax::{Opcode, ScalarType, Span, StateSpace};

/// Whether the first word alone shows that the instruction is legal.
pub(super) fn is_plain(instruction: &Instruction) -> bool {
    use Opcode::{Cvta, Mov, Tcgen05, Unknown};
    instruction.fault.is_none() && !matches!(instruction.opcode, Cvta | Mov | Tcgen05 | Unknown)
}

/// Judges an instruction other than a load: its opcode, the version of a generic address of a constant, and the widths
/// of the elements that `mov` packs or unpacks.
pub(super) fn check(
    module: &Module<'_>,
    instruction: &PtxInstruction<'_>,
    findings: &mut Findings,
) {
    if let Some(error) = instruction.fault {
        return findings.syntax(error);
    }
    if instruction.opcode == Opcode::Mov {
        return packed(module, instruction, findings);
    }
    opcode(module, instruction, findings);
    // "Support for generic addressing of .const space added in PTX ISA version 3.1": a load does not show that its
    // address is such a one, but `cvta.const`, which forms the address, does.
    if instruction.opcode == Opcode::Cvta {
        let is_const = QualifierKind::Space(StateSpace::Const, None);
        if let Some((_, span)) = instruction.first(|kind| (kind == is_const).then_some(())) {
            findings.needs("generic addressing of `.const`", Some((3, 1)), None, span);
            findings.needs("generic addressing", None, Some(20), span);
        }
    }
}

/// Reports a `mov` between a register and elements that do not fill it. [PTX ISA, mov: "packs/unpacks"]
fn packed(module: &Module<'_>, instruction: &PtxInstruction<'_>, findings: &mut Findings) {
    let scalar = instruction.scalar().and_then(|scalar| Some((scalar, scalar.register_bits()?)));
    let Some((scalar, bits)) = scalar.filter(|_| instruction.elements() == 1) else { return };
    for operand in instruction.operands {
        let OperandKind::Vector(range) = operand.kind else { continue };
        let elements = instruction.elements_in(range);
        let width = bits / elements.len().max(1) as u32;
        let of_element = |element: &Element| {
            let symbol = module.find_at(instruction.scope, element.name()?)?;
            let declared = symbol.declaration;
            let is_number = !matches!(declared.scalar, ScalarType::Pred);
            declared
                .scalar
                .register_bits()
                .filter(|_| is_number && declared.space == StateSpace::Register)
        };
        let wrong =
            elements.iter().find(|element| of_element(element).is_some_and(|known| known != width));
        if let Some(element) = wrong {
            let name = module.text(element.span);
            let has = of_element(element).unwrap_or(width);
            let count = elements.len();
            let message =
                format!("`{name}` has {has} bits, in one of {count} elements of `.{scalar}`");
            let help = format!("{count} elements of a `.{scalar}` have {width} bits each");
            findings.add(Rule::VectorSize, element.span, message, help);
        }
    }
}

/// Reports an instruction that no version up to [`LATEST`] has.
fn opcode(module: &Module<'_>, instruction: &PtxInstruction<'_>, findings: &mut Findings) {
    let word: Span = instruction.opcode_span;
    let name = module.text(word);
    let next = instruction.qualifiers().next();
    let is_split = next.is_none_or(|next| next.span.start != word.end);
    if instruction.opcode == Opcode::Tcgen05 && is_split && module.version <= LATEST {
        let help = "write `tcgen05.ld` without a blank";
        let message = "`tcgen05` is not an instruction";
        return findings.add(Rule::UnknownInstruction, word, message, help);
    }
    // Names that begin with an underscore are internal to ptxas.
    let is_its_own = name.starts_with('_') && name != "_";
    if instruction.opcode != Opcode::Unknown || is_its_own || module.version > LATEST {
        return;
    }
    let lower = name.to_ascii_lowercase();
    let meant = match lower.as_str() {
        "ld" | "ldg" | "lds" | "ldl" | "ldc" => Some("the load instruction is written `ld`"),
        _ if lower.starts_with("tcgen") => Some("loads of Tensor Memory are written `tcgen05.ld`"),
        _ => None,
    };
    let message = format!("`{name}` is not an instruction of PTX");
    let help = meant.map(str::to_owned);
    findings.report(Rule::UnknownInstruction, word, message, help);
}
