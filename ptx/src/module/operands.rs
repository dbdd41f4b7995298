//! The registers and variables that the operands of an instruction name.

use crate::meaning::Register;
use crate::module::{Module, ScopeId, Symbol};
use crate::syntax::load::{Keyword, Opcode, OperandKind, PtxInstruction, QualifierKind};
use crate::syntax::{Span, StateSpace};

/// The meaning of a name in an operand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Named<'m> {
    /// A register, or an element of a vector register.
    Register(Register),
    /// A vector register as a whole: its first element, and the number of all.
    Vector(Register, u8),
    /// An element that the declaration does not have.
    NoElement,
    /// A variable or parameter.
    Variable(Symbol<'m>),
}

impl<'m> Named<'m> {
    /// The meaning of a symbol that is written with this suffix, such as `.x`.
    pub(crate) fn new(symbol: Symbol<'m>, suffix: &str) -> Self {
        let (declared, number) = (symbol.declaration, symbol.number.unwrap_or(0));
        let register = |component| Register { declaration: symbol.id, number, component };
        let is_register = declared.space == StateSpace::Register;
        match component(suffix) {
            _ if suffix.is_empty() && !is_register => Self::Variable(symbol),
            _ if suffix.is_empty() && declared.vector == 1 => Self::Register(register(0)),
            _ if suffix.is_empty() => Self::Vector(register(0), declared.vector),
            Some(place) if is_register && place < declared.vector => {
                Self::Register(register(place))
            }
            _ => Self::NoElement,
        }
    }

    /// The register, if the name is that of a single one.
    pub(crate) fn register(self) -> Option<Register> {
        match self {
            Self::Register(register) => Some(register),
            _ => None,
        }
    }

    /// All registers that the name stands for.
    pub(crate) fn registers(self) -> impl Iterator<Item = Register> {
        let (first, count) = match self {
            Self::Register(register) => (Some(register), 1),
            Self::Vector(first, count) => (Some(first), count),
            Self::NoElement | Self::Variable(_) => (None, 0),
        };
        let of = move |place| {
            first.map(|first| Register { component: first.component + place, ..first })
        };
        (0..count).filter_map(of)
    }
}

/// The name at the beginning of a text, and the rest, such as `.x`.
pub(crate) fn split(written: &str) -> (&str, &str) {
    let is_outside = |byte: u8| !(byte.is_ascii_alphanumeric() || b"_$%".contains(&byte));
    written.split_at(written.bytes().position(is_outside).unwrap_or(written.len()))
}

/// The place of the element that a suffix such as `.x` means.
pub(crate) fn component(suffix: &str) -> Option<u8> {
    let [b'.', letter] = suffix.trim_start_matches(|c| c != '.').as_bytes() else { return None };
    let place = b"xyzw".iter().chain(b"rgba").position(|known| known == letter)?;
    Some(place as u8 % 4)
}

impl Module<'_> {
    /// The meaning of a name, or of an element `Q.x`. The error is a name that nothing declares, such as a function's
    /// or a special register's.
    pub(crate) fn named(&self, scope: ScopeId, written: Span) -> Result<Named<'_>, Span> {
        let (name, suffix) = split(self.text(written));
        let name = Span { end: written.start + name.len() as u32, ..written };
        Ok(Named::new(self.find_at(scope, name).ok_or(name)?, suffix))
    }

    /// The registers that an instruction writes, without those in addresses. A vector register counts as all its
    /// elements.
    pub(crate) fn written_registers(&self, instruction: &PtxInstruction<'_>) -> Vec<Register> {
        let outputs = instruction.operands.iter().take(outputs(instruction));
        let names = outputs.flat_map(|operand| {
            let is_address = matches!(operand.kind, OperandKind::Address(_));
            // In `d[i]` the name before the brackets is not part of an address, so it may be an output.
            let is_output = move |name: &Span| !is_address || name.start == operand.span.start;
            instruction.names_in(operand).filter(is_output)
        });
        let named = names.filter_map(|name| self.named(instruction.scope, name).ok());
        named.flat_map(Named::registers).collect()
    }
}

/// The number of leading operands that are outputs.
fn outputs(instruction: &PtxInstruction<'_>) -> usize {
    match instruction.opcode {
        // A barrier has a result only with `.red`.
        Opcode::Bar | Opcode::Barrier => {
            usize::from(instruction.has(QualifierKind::Keyword(Keyword::Red)))
        }
        // The first operand of these is a source.
        Opcode::Brx | Opcode::Nanosleep | Opcode::SetMaxNReg | Opcode::StackRestore => 0,
        // The results of a call are in parentheses. Without them, the first operand is the callee.
        Opcode::Call => usize::from(!instruction.call().returns.is_empty()),
        // `tcgen05.ld.red r, redval, [taddr]`
        Opcode::TensorLdRed => 2,
        _ => 1,
    }
}
