//! Reading a load: of a statement of a module, and [`read_load`], of a text without a module around it.

use super::{
    AddressForm, AddressOffset, AddressOperand, Element, ElementKind, Opcode, Operand, OperandKind,
    PtxLoad, Qualifier, QualifierKind,
};
use crate::module::{
    GuardPredicate, InstructionStatement, Module, ReadError, ReadErrorKind, ScopeId, Statement,
    StatementKind,
};
use crate::syntax::expression::constant;
use crate::syntax::lexer::TokenKind;
use crate::syntax::words::Words;
use crate::syntax::{Span, SyntaxError, Version};

/// More qualifiers than any load has.
const MAX_QUALIFIERS: usize = 64;

/// More operands, or elements of a vector, than any load has.
const MAX_ELEMENTS: usize = 1024;

/// What follows an operand.
pub(crate) const COMMA_OR_SEMICOLON: &str = "`,` or `;`";

/// The first version in which addresses are in brackets.
const BRACKETED_ADDRESSES: Version = Version::new(1, 2);

impl<'s> Module<'s> {
    /// Reads every load of the module, in the order of the text.
    pub fn loads(&self) -> impl Iterator<Item = PtxLoad> {
        self.statements.iter().filter_map(|statement| self.load(statement))
    }

    /// Reads a statement as a load; `None` if it is another instruction.
    #[must_use]
    pub fn load(&self, statement: &Statement) -> Option<PtxLoad> {
        let StatementKind::Instruction(instruction) = &statement.kind else { return None };
        let mut load = load(self.source, statement, instruction)?;
        if load.opcode == Opcode::Ld && self.version < BRACKETED_ADDRESSES {
            bracket_address(&mut load);
        }
        Some(load)
    }
}

/// Reads a statement as a load; `None` if it is another instruction.
pub(super) fn load(
    source: &str,
    statement: &Statement,
    instruction: &InstructionStatement,
) -> Option<PtxLoad> {
    if !matches!(instruction.mnemonic.text(source), "ld" | "tcgen05") {
        return None;
    }
    let mut words = Words::new(source, instruction.tail);
    let (opcode, opcode_span) = opcode(source, instruction.mnemonic, &mut words)?;
    let mut load = PtxLoad {
        span: statement.span,
        scope: statement.scope,
        opcode,
        opcode_span,
        guard: instruction.guard,
        qualifiers: Vec::new(),
        operands: Vec::new(),
        fault: None,
    };
    let parsed = qualifiers(&mut load, &mut words).and_then(|()| operands(&mut load, &mut words));
    load.fault = parsed.err().or(instruction.fault);
    Some(load)
}

/// Takes the second operand for an address, as PTX 1.0 and 1.1 write it: without brackets.
fn bracket_address(load: &mut PtxLoad) {
    let Some(operand) = load.operands.get_mut(1) else { return };
    let (base, offset) = match operand.kind {
        OperandKind::Name => (Some(operand.span), None),
        OperandKind::Sum(name, offset) => (Some(name), Some(offset)),
        OperandKind::Constant(value) => (None, Some(AddressOffset { value, span: operand.span })),
        _ => return,
    };
    let form = AddressForm::Bracketed;
    let address = AddressOperand { form, base, index: None, offset, unified: None };
    operand.kind = OperandKind::Address(address);
}

/// Which load it is. `tcgen05.ld` and `tcgen05.ld.red` are written without blanks; `.red` elsewhere
/// is a wrong qualifier.
fn opcode(source: &str, mnemonic: Span, words: &mut Words<'_>) -> Option<(Opcode, Span)> {
    let follows = |words: &Words<'_>, end, text| words.text() == text && words.span().start == end;
    match mnemonic.text(source) {
        "ld" => Some((Opcode::Ld, mnemonic)),
        "tcgen05" if follows(words, mnemonic.end, ".ld") => {
            let span = mnemonic.to(words.advance().span);
            if follows(words, span.end, ".red") {
                return Some((Opcode::TensorLdRed, span.to(words.advance().span)));
            }
            Some((Opcode::TensorLd, span))
        }
        _ => None,
    }
}

fn qualifiers(load: &mut PtxLoad, words: &mut Words<'_>) -> Result<(), SyntaxError> {
    while words.kind() == TokenKind::Dotted {
        if load.qualifiers.len() == MAX_QUALIFIERS {
            return Err(words.expected("fewer qualifiers"));
        }
        let kind = QualifierKind::read(load.opcode, words.text());
        load.qualifiers.push(Qualifier { kind, span: words.advance().span });
    }
    Ok(())
}

fn operands(load: &mut PtxLoad, words: &mut Words<'_>) -> Result<(), SyntaxError> {
    if words.kind() == TokenKind::End {
        return Ok(());
    }
    loop {
        if words.kind() == TokenKind::Word && words.text() == "_" && !load.operands.is_empty() {
            return Err(words.expected("an operand that is not `_`"));
        }
        load.operands.push(operand(words)?);
        if words.kind() == TokenKind::End {
            return Ok(());
        }
        if load.operands.len() == MAX_ELEMENTS {
            return Err(words.expected("fewer operands"));
        }
        words.expect(b',', COMMA_OR_SEMICOLON)?;
    }
}

fn operand(words: &mut Words<'_>) -> Result<Operand, SyntaxError> {
    let start = words.span();
    match words.kind() {
        TokenKind::Punctuation(b'{') => vector(words),
        TokenKind::Punctuation(b'[') => bracketed(words),
        TokenKind::Word if words.text() == "WARP_SZ" => constant_operand(words),
        TokenKind::Word => named(words),
        TokenKind::Punctuation(b'-' | b'!') => {
            let mut ahead = words.clone();
            ahead.advance();
            if ahead.kind() != TokenKind::Word || ahead.text() == "WARP_SZ" {
                return constant_operand(words);
            }
            words.advance();
            let span = start.to(words.advance().span);
            Ok(Operand { kind: OperandKind::Other, span })
        }
        TokenKind::Number | TokenKind::Punctuation(b'(' | b'~' | b'+') => constant_operand(words),
        _ => Err(words.expected("an operand")),
    }
}

fn constant_operand(words: &mut Words<'_>) -> Result<Operand, SyntaxError> {
    let AddressOffset { value, span } = expression(words)?;
    Ok(Operand { kind: OperandKind::Constant(value), span })
}

/// A constant expression with its place.
fn expression(words: &mut Words<'_>) -> Result<AddressOffset, SyntaxError> {
    let start = words.span();
    let value = constant(words)?;
    let span = start.to(Span { start: start.start, end: words.taken() });
    Ok(AddressOffset { value, span })
}

/// What begins with a name: a register, one of its elements, an element of an array.
fn named(words: &mut Words<'_>) -> Result<Operand, SyntaxError> {
    let is_sink = words.text() == "_";
    let name = words.advance().span;
    match words.kind() {
        TokenKind::Punctuation(b'[') => {
            words.advance();
            let mut address = inside(words, AddressForm::Indexed)?;
            let end = words.expect(b']', "`]`")?;
            // The first word in the brackets is an index: `a[%r1+4]`.
            address.index = address.base.replace(name);
            let span = name.to(postfix(words, &mut address)?.unwrap_or(end));
            Ok(Operand { kind: OperandKind::Address(address), span })
        }
        TokenKind::Punctuation(b'|') => {
            words.advance();
            let span = name.to(words.word("a predicate register")?);
            Ok(Operand { kind: OperandKind::Other, span })
        }
        TokenKind::Punctuation(b'+') => {
            words.advance();
            let offset = expression(words)?;
            let span = name.to(offset.span);
            Ok(Operand { kind: OperandKind::Sum(name, offset), span })
        }
        TokenKind::Dotted => {
            if !is_component(words) {
                return Err(words.expected(COMMA_OR_SEMICOLON));
            }
            let span = name.to(words.advance().span);
            Ok(Operand { kind: OperandKind::Component(name), span })
        }
        _ if is_sink => Ok(Operand { kind: OperandKind::Sink, span: name }),
        _ => Ok(Operand { kind: OperandKind::Name, span: name }),
    }
}

/// Whether an element of a vector register is meant: `.x` of `Q.x`.
fn is_component(words: &Words<'_>) -> bool {
    words.kind() == TokenKind::Dotted
        && matches!(words.text(), ".x" | ".y" | ".z" | ".w" | ".r" | ".g" | ".b" | ".a")
}

fn vector(words: &mut Words<'_>) -> Result<Operand, SyntaxError> {
    let start = words.advance().span;
    let mut elements = Vec::new();
    loop {
        if words.kind() == TokenKind::Word && words.text() != "WARP_SZ" {
            let is_sink = words.text() == "_";
            let name = words.advance().span;
            elements.push(if is_component(words) {
                let span = name.to(words.advance().span);
                Element { kind: ElementKind::Component(name), span }
            } else {
                let kind = if is_sink { ElementKind::Sink } else { ElementKind::Name };
                Element { kind, span: name }
            });
        } else {
            if words.is_mark(b'{') {
                return Err(words.expected("a register or `_`"));
            }
            let AddressOffset { value, span } = expression(words)?;
            elements.push(Element { kind: ElementKind::Constant(value), span });
        }
        if words.is_mark(b'}') {
            let span = start.to(words.advance().span);
            return Ok(Operand { kind: OperandKind::Vector(elements), span });
        }
        if elements.len() == MAX_ELEMENTS {
            return Err(words.expected("fewer elements"));
        }
        words.expect(b',', "`,` or `}`")?;
    }
}

fn bracketed(words: &mut Words<'_>) -> Result<Operand, SyntaxError> {
    let start = words.advance().span;
    let mut address = inside(words, AddressForm::Bracketed)?;
    let end = words.expect(b']', "`]`")?;
    let span = start.to(postfix(words, &mut address)?.unwrap_or(end));
    Ok(Operand { kind: OperandKind::Address(address), span })
}

/// Reads what is between brackets: a name, a name and a constant, or a constant.
fn inside(words: &mut Words<'_>, form: AddressForm) -> Result<AddressOperand, SyntaxError> {
    let mut address = AddressOperand { form, base: None, index: None, offset: None, unified: None };
    if words.kind() != TokenKind::Word || words.text() == "WARP_SZ" {
        if !matches!(
            words.kind(),
            TokenKind::Word
                | TokenKind::Number
                | TokenKind::Punctuation(b'+' | b'-' | b'~' | b'!' | b'(')
        ) {
            return Err(words.expected("an address: a register, a variable or a constant"));
        }
        address.offset = Some(expression(words)?);
        return Ok(address);
    }
    if words.text() == "_" {
        return Err(words.expected("an address: a register, a variable or a constant"));
    }
    address.base = Some(words.advance().span);
    if words.eat(b'+') {
        address.offset = Some(expression(words)?);
    } else if words.is_mark(b'-') {
        return Err(words.expected("`+` or `]`; a negative offset is written `+-4`"));
    } else if !words.is_mark(b']') {
        return Err(words.expected("`+` or `]`"));
    }
    Ok(address)
}

/// Reads `.unified` after an address; returns its place.
fn postfix(
    words: &mut Words<'_>,
    address: &mut AddressOperand,
) -> Result<Option<Span>, SyntaxError> {
    if words.kind() == TokenKind::Dotted && words.text() == ".unified" {
        address.unified = Some(words.advance().span);
    }
    Ok(address.unified)
}

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
    let load = load(text, &statement, &instruction).ok_or_else(|| {
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
