//! What is to be known of instructions that are not loads: the registers that they write and read.

use crate::meaning::Register;
use crate::module::{InstructionStatement, Module, ScopeId};
use crate::syntax::{Span, StateSpace, TokenKind};

/// Instructions whose first operand is a register that they only read.
const READERS: [&str; 6] = ["bar", "barrier", "brx", "nanosleep", "setmaxnreg", "stackrestore"];

/// The registers of one instruction, its guard's left out. Of a vector register all components are
/// named.
#[derive(Debug, Default)]
pub(crate) struct Operands<'s> {
    /// Those of the first operand, addresses left out: what is written, whatever the instruction.
    pub(crate) writes: Vec<Register>,
    /// All others.
    pub(crate) reads: Vec<Register>,
    /// Names that are declared nowhere, such as those of special registers.
    pub(crate) others: Vec<&'s str>,
}

impl<'s> Operands<'s> {
    pub(crate) fn of(
        module: &Module<'s>,
        scope: ScopeId,
        instruction: &InstructionStatement,
    ) -> Self {
        let source = module.source();
        let mut outputs = outputs(module, instruction);
        let (mut braces, mut brackets) = (0_usize, 0_usize);
        let mut found = Self::default();
        for token in instruction.operands(source) {
            match token.kind {
                TokenKind::Punctuation(b',') if braces + brackets == 0 => {
                    outputs = outputs.saturating_sub(1);
                }
                TokenKind::Punctuation(b'{' | b'(') => braces += 1,
                TokenKind::Punctuation(b'}' | b')') => braces = braces.saturating_sub(1),
                TokenKind::Punctuation(b'[') => brackets += 1,
                TokenKind::Punctuation(b']') => brackets = brackets.saturating_sub(1),
                TokenKind::Word => {
                    let is_written = outputs > 0 && brackets == 0;
                    found.add(module, scope, token.span, is_written);
                }
                _ => {}
            }
        }
        found
    }

    fn add(&mut self, module: &Module<'s>, scope: ScopeId, name: Span, is_written: bool) {
        let Some(symbol) = module.find_at(scope, name) else {
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
fn outputs(module: &Module<'_>, instruction: &InstructionStatement) -> usize {
    let source = module.source();
    let mnemonic = module.text(instruction.mnemonic);
    let has = |name| instruction.has(source, &[name]);
    // The result of a reduction at a barrier is written.
    if READERS.contains(&mnemonic) && !has(".red") {
        return 0;
    }
    let first = instruction.operands(source).next().map(|token| token.kind);
    match mnemonic {
        // A call returns in parentheses; without them it names what it calls.
        "call" if first != Some(TokenKind::Punctuation(b'(')) => 0,
        // `tcgen05.ld.red r, redval, [taddr]`
        "tcgen05" if has(".ld") && has(".red") => 2,
        _ => 1,
    }
}
