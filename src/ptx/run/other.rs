//! What is to be known of instructions that are not executed: which registers they write.

use crate::ptx::lexer::TokenKind;
use crate::ptx::module::{DeclarationId, Instruction, Module, Statement};
use crate::ptx::{Register, ScopeId, StateSpace};

/// Instructions whose first operand is a register that they only read. An instruction that is
/// missing here costs a value, never gives a wrong one.
const READERS: [&str; 6] = ["bar", "barrier", "brx", "nanosleep", "setmaxnreg", "stackrestore"];

/// A register that an instruction writes.
#[derive(Clone, Copy)]
struct Written {
    declaration: DeclarationId,
    number: u32,
    components: u8,
}

/// The registers in an instruction's first operand, addresses left out. Of a vector register
/// all components are named.
pub(super) fn written(
    module: &Module<'_>,
    statement: &Statement,
    instruction: &Instruction,
) -> Vec<Register> {
    let source = module.source();
    let mnemonic = module.text(instruction.mnemonic);
    // The result of a reduction at a barrier is written.
    let reduces = || instruction.qualifiers(source).any(|word| module.text(word.span) == ".red");
    if READERS.contains(&mnemonic) && !reduces() {
        return Vec::new();
    }
    let mut operands = instruction.operands(source).peekable();
    let first = operands.peek().map(|token| token.kind);
    // A call returns in parentheses; without them it names what it calls.
    if mnemonic == "call" && first != Some(TokenKind::Punctuation(b'(')) {
        return Vec::new();
    }
    // `tcgen05.ld.red r, redval, [taddr]` writes two operands.
    let mut outputs =
        if mnemonic == "tcgen05" && is_reducing_load(module, instruction) { 2 } else { 1 };
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    let mut registers = Vec::new();
    for token in operands {
        match token.kind {
            TokenKind::Punctuation(b',') if braces + brackets == 0 => {
                outputs -= 1;
                if outputs == 0 {
                    break;
                }
            }
            TokenKind::Punctuation(b'{' | b'(') => braces += 1,
            TokenKind::Punctuation(b'}' | b')') => braces = braces.saturating_sub(1),
            TokenKind::Punctuation(b'[') => brackets += 1,
            TokenKind::Punctuation(b']') => brackets = brackets.saturating_sub(1),
            TokenKind::Word if brackets == 0 => {
                registers.extend(register(module, statement.scope, module.text(token.span)));
            }
            _ => {}
        }
    }
    let all = registers.into_iter().flat_map(|Written { declaration, number, components }| {
        (0..components).map(move |component| Register { declaration, number, component })
    });
    all.collect()
}

fn is_reducing_load(module: &Module<'_>, instruction: &Instruction) -> bool {
    let qualifiers = instruction.qualifiers(module.source()).take(2);
    qualifiers.map(|word| module.text(word.span)).eq([".ld", ".red"])
}

fn register(module: &Module<'_>, scope: ScopeId, name: &str) -> Option<Written> {
    let symbol = module.find(scope, name)?;
    let declared = symbol.declaration;
    (declared.space == StateSpace::Register).then_some(Written {
        declaration: symbol.id,
        number: symbol.number.unwrap_or(0),
        components: declared.vector,
    })
}
