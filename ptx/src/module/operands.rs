//! The registers that any instruction writes and reads.

use crate::meaning::Register;
use crate::module::Module;
use crate::syntax::load::{Keyword, Opcode, OperandKind, PtxInstruction, QualifierKind};
use crate::syntax::{Span, StateSpace};

/// The registers of one instruction, without its guard. A vector register counts as all its components.
#[derive(Debug, Default)]
pub(crate) struct RegisterOperands<'m> {
    /// Registers of the output operands, except in addresses.
    pub(crate) writes: Vec<Register>,
    /// All other registers.
    pub(crate) reads: Vec<Register>,
    /// Undeclared names, such as special registers.
    pub(crate) others: Vec<&'m str>,
}

impl<'m> RegisterOperands<'m> {
    pub(crate) fn of(module: &'m Module<'_>, instruction: &PtxInstruction<'_>) -> Self {
        let outputs = outputs(instruction);
        let mut found = Self::default();
        for (place, operand) in instruction.operands.iter().enumerate() {
            let is_address = matches!(operand.kind, OperandKind::Address(_));
            for name in instruction.names_in(operand) {
                // In `d[i]` the name before the brackets is not part of an address, so it may be an output.
                let is_indexed = is_address && name.start == operand.span.start;
                let is_written = place < outputs && (!is_address || is_indexed);
                found.add(module, instruction, name, is_written);
            }
        }
        found
    }

    fn add(
        &mut self,
        module: &'m Module<'_>,
        instruction: &PtxInstruction<'_>,
        name: Span,
        is_written: bool,
    ) {
        let Some(symbol) = module.find_at(instruction.scope, name) else {
            return self.others.push(module.text(name));
        };
        if symbol.declaration.space != StateSpace::Register {
            return;
        }
        let list = if is_written { &mut self.writes } else { &mut self.reads };
        let components = 0..symbol.declaration.vector;
        list.extend(components.map(|component| Register { component, ..Register::of(symbol) }));
    }
}

/// The number of leading operands that are outputs.
fn outputs(instruction: &PtxInstruction<'_>) -> usize {
    let has_list = || {
        let first = instruction.operands.first();
        first.is_some_and(|first| matches!(first.kind, OperandKind::List(_)))
    };
    match instruction.opcode {
        // A barrier has a result only with `.red`.
        Opcode::Bar | Opcode::Barrier => {
            usize::from(instruction.has(QualifierKind::Keyword(Keyword::Red)))
        }
        // The first operand of these is a source.
        Opcode::Brx | Opcode::Nanosleep | Opcode::SetMaxNReg | Opcode::StackRestore => 0,
        // The results of a call are in parentheses. Without them, the first operand is the callee.
        Opcode::Call => usize::from(has_list()),
        // `tcgen05.ld.red r, redval, [taddr]`
        Opcode::TensorLdRed => 2,
        _ => 1,
    }
}
