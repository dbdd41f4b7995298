//! The operands that an instruction computes its result from.

use crate::meaning::{AddressBase, Register, ResolvedAddress};
use crate::module::{DeclarationId, InstructionStatement, Module, ScopeId};
use crate::syntax::TokenKind;
use crate::syntax::expression::constant;
use crate::syntax::words::Words;
use crate::syntax::{Span, StateSpace};

/// One operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum SourceOperand {
    Register(Register),
    Number(i64),
    /// The address of a variable, and bytes to add to it.
    Variable(DeclarationId, i64),
    /// Anything else.
    Other,
}

/// Returns the operands after the first one; `None` without any.
pub(super) fn sources(
    module: &Module<'_>,
    scope: ScopeId,
    instruction: &InstructionStatement,
) -> Option<Vec<SourceOperand>> {
    let mut depth = 0_usize;
    let comma = instruction.operands(module.source()).find(|token| {
        match token.kind {
            TokenKind::Punctuation(b'{' | b'(' | b'[') => depth += 1,
            TokenKind::Punctuation(b'}' | b')' | b']') => depth = depth.saturating_sub(1),
            kind => return depth == 0 && kind == TokenKind::Punctuation(b','),
        }
        false
    })?;
    let rest = Span { start: comma.span.end, end: instruction.tail.end };
    let mut words = Words::new(module.source(), rest);
    let mut found = vec![source(module, scope, &mut words)];
    while words.eat(b',') {
        found.push(source(module, scope, &mut words));
    }
    (words.kind() == TokenKind::End).then_some(found)
}

/// Reads one operand. After one of another kind the rest is not read.
fn source(module: &Module<'_>, scope: ScopeId, words: &mut Words<'_>) -> SourceOperand {
    if words.kind() != TokenKind::Word {
        let number = constant(words).ok().and_then(|constant| constant.integer());
        return number.map_or(SourceOperand::Other, |bits| SourceOperand::Number(bits as i64));
    }
    let symbol = module.find(scope, words.text());
    words.advance();
    match symbol {
        None => SourceOperand::Other,
        Some(symbol) if symbol.declaration.space == StateSpace::Register => {
            SourceOperand::Register(Register::of(symbol))
        }
        Some(symbol) => match offset(words) {
            Some(offset) => SourceOperand::Variable(symbol.id, offset),
            None => SourceOperand::Other,
        },
    }
}

/// Reads `+8`; 0 if nothing is added.
fn offset(words: &mut Words<'_>) -> Option<i64> {
    if !words.eat(b'+') {
        return Some(0);
    }
    let offset = constant(words).ok()?.integer()?;
    Some(offset as i64)
}

/// The address in an instruction's brackets, if it begins with a register.
pub(super) fn address(
    module: &Module<'_>,
    scope: ScopeId,
    instruction: &InstructionStatement,
) -> Option<ResolvedAddress> {
    let is_open = |kind| kind == TokenKind::Punctuation(b'[');
    let open = instruction.operands(module.source()).find(|token| is_open(token.kind))?;
    let inside = Span { start: open.span.end, end: instruction.tail.end };
    let mut words = Words::new(module.source(), inside);
    match source(module, scope, &mut words) {
        SourceOperand::Register(register) => Some(ResolvedAddress {
            base: AddressBase::Register(register),
            offset: offset(&mut words)?,
        }),
        _ => None,
    }
}
