//! One statement without a module around it.

use super::{PtxLoad, parse};
use crate::module::{
    GuardPredicate, InstructionStatement, ReadError, ReadErrorKind, ScopeId, Statement,
    StatementKind,
};
use crate::syntax::Span;
use crate::syntax::lexer::TokenKind;
use crate::syntax::words::Words;

/// Reads the text of one load; the final `;` is optional. Spans are places in the text.
/// There are no declarations: names are not looked up, and [`PtxLoad::scope`] is the scope around all
/// functions.
///
/// ```
/// use warpload_ptx::syntax::load::Opcode;
/// use warpload_ptx::read_load;
///
/// let text = "@!%p1 ld.global.u32 %r1, [%rd1+-8]";
/// let load = read_load(text)?;
/// assert_eq!(load.opcode, Opcode::Ld);
/// assert_eq!(load.address().map(|address| address.displacement() as i64), Some(-8));
///
/// let error = read_load("ld.global.u32 %r1, [%rd1-8];").unwrap_err();
/// assert_eq!((error.position.column, error.span.range()), (25, 24..25));
/// # Ok::<(), warpload_ptx::ReadError>(())
/// ```
///
/// # Errors
/// Returns [`ReadError`] at the first place that cannot belong to a load, or at a second statement.
/// Illegal loads are read.
pub fn read_load(text: &str) -> Result<PtxLoad, ReadError> {
    let whole = ReadError::check_size(text)?;
    let error = |(kind, span): Fault| ReadError::new(text, kind, span);
    let (span, instruction) = statement(text, whole).map_err(error)?;
    let kind = StatementKind::Instruction(instruction);
    let statement = Statement { span, scope: ScopeId::MODULE, kind };
    let load = parse::load(text, &statement, &instruction).ok_or_else(|| {
        let qualifiers = instruction.qualifiers(text);
        let opcode = qualifiers.fold(instruction.mnemonic, |opcode, token| opcode.to(token.span));
        error((ReadErrorKind::Expected(LOADS), opcode))
    })?;
    match load.fault {
        Some(fault) => Err(error((ReadErrorKind::Expected(fault.expected), fault.span))),
        None => Ok(load),
    }
}

/// The instructions that are loads.
const LOADS: &str = "`ld`, `tcgen05.ld` or `tcgen05.ld.red`";

/// What is wrong, and its place.
type Fault = (ReadErrorKind, Span);

/// A guard and an instruction, up to the semicolon or the end.
fn statement(text: &str, whole: Span) -> Result<(Span, InstructionStatement), Fault> {
    let mut words = Words::new(text, whole);
    let start = words.span();
    let mut guard = None;
    if words.eat(b'@') {
        let is_negated = words.eat(b'!');
        let register = word(&mut words, "a predicate register")?;
        guard = Some(GuardPredicate { register, is_negated });
    }
    let mnemonic = word(&mut words, LOADS)?;
    let mut tail = Span { start: mnemonic.end, end: mnemonic.end };
    while words.kind() != TokenKind::End && !words.is_mark(b';') {
        if let TokenKind::Bad(error) = words.kind() {
            return Err((ReadErrorKind::Lexical(error), words.span()));
        }
        tail = tail.to(words.advance().span);
    }
    if words.eat(b';') && words.kind() != TokenKind::End {
        let rest = Span { start: words.span().start, end: text.trim_end().len() as u32 };
        return Err((ReadErrorKind::Expected("nothing after the load"), rest));
    }
    let instruction = InstructionStatement { guard, mnemonic, tail, fault: None };
    Ok((start.to(mnemonic).to(tail), instruction))
}

/// A word that is a name.
fn word(words: &mut Words<'_>, expected: &'static str) -> Result<Span, Fault> {
    match words.kind() {
        TokenKind::Word => Ok(words.advance().span),
        TokenKind::Bad(error) => Err((ReadErrorKind::Lexical(error), words.span())),
        _ => Err((ReadErrorKind::Expected(expected), words.span())),
    }
}
