//! The registers that an instruction writes and reads, whatever instruction it is.

use crate::meaning::Register;
use crate::module::Module;
use crate::syntax::load::{Keyword, Opcode, OperandKind, PtxInstruction, QualifierKind};
use crate::syntax::{Span, StateSpace};

/// The registers of one instruction, its guard's left out. Of a vector register all components are
/// named.
#[derive(Debug, Default)]
pub(crate) struct RegisterOperands<'m> {
    /// Those of the first operand, addresses left out: what is written, whatever the instruction.
    pub(crate) writes: Vec<Register>,
    /// All others.
    pub(crate) reads: Vec<Register>,
    /// Names that are declared nowhere, such as those of special registers.
    pub(crate) others: Vec<&'m str>,
}

impl<'m> RegisterOperands<'m> {
    pub(crate) fn of(module: &'m Module<'_>, instruction: &PtxInstruction<'_>) -> Self {
        let outputs = outputs(instruction);
        let mut found = Self::default();
        for (place, operand) in instruction.operands.iter().enumerate() {
            let is_address = matches!(operand.kind, OperandKind::Address(_));
            for name in instruction.names_in(operand) {
                // Brackets without a comma before them follow what is written.
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

/// How many of the first operands are written.
fn outputs(instruction: &PtxInstruction<'_>) -> usize {
    let has_list = || {
        let first = instruction.operands.first();
        first.is_some_and(|first| matches!(first.kind, OperandKind::List(_)))
    };
    match instruction.opcode {
        // The result of a reduction at a barrier is written.
        Opcode::Bar | Opcode::Barrier => {
            usize::from(instruction.has(QualifierKind::Keyword(Keyword::Red)))
        }
        // Their first operand is only read.
        Opcode::Brx | Opcode::Nanosleep | Opcode::SetMaxNReg | Opcode::StackRestore => 0,
        // A call returns in parentheses; without them it names what it calls.
        Opcode::Call => usize::from(has_list()),
        // `tcgen05.ld.red r, redval, [taddr]`
        Opcode::TensorLdRed => 2,
        _ => 1,
    }
}
