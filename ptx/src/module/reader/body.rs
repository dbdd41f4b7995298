//! The statements of a body.

use std::ops::Range;

use super::{DECLARING, Fault, MAX_DEPTH, PARTS_OF_MISTAKE, Reader, Step};
use crate::module::{
    DeclarationId, GuardPredicate, Linkage, ReadErrorKind, Statement, StatementId, StatementKind,
};
use crate::syntax::types::LATEST;
use crate::syntax::{LexicalError, Span, SyntaxError, TokenKind};

/// Directives of a body that do not affect loads.
const PASSED_OVER: [&str; 3] = [".alias", ".callprototype", ".pragma"];

impl Reader<'_> {
    /// Reads all statements up to the brace that closes the body. The opening brace is current.
    pub(super) fn body(&mut self) -> Step<Range<usize>> {
        let first = self.module.statements.len();
        self.inlined.clear();
        self.words.advance();
        let mut depth = 0;
        loop {
            let span = self.words.span();
            match self.words.kind() {
                TokenKind::Punctuation(b'{') if depth == MAX_DEPTH => {
                    return Err(self.fault(ReadErrorKind::TooDeep));
                }
                TokenKind::Punctuation(b'{') => {
                    depth += 1;
                    self.push(span, StatementKind::Enter)?;
                    self.enter()?;
                    self.words.advance();
                }
                TokenKind::Punctuation(b'}') if depth == 0 => break,
                TokenKind::Punctuation(b'}') => {
                    depth -= 1;
                    self.leave();
                    self.push(span, StatementKind::Leave)?;
                    self.words.advance();
                }
                TokenKind::Dotted => self.body_directive()?,
                TokenKind::Word => self.word_statement(span, None)?,
                TokenKind::Punctuation(b'@') => self.guarded(span)?,
                TokenKind::Bad(error) if error != LexicalError::Stray => {
                    return Err(self.expected("`}`"));
                }
                TokenKind::End => return Err(self.expected("`}`")),
                _ => self.malformed(span, "a statement")?,
            }
        }
        self.words.advance();
        // A location after the last statement is not one of the next function.
        let end = self.module.statements.len();
        while self.module.locations.pop_if(|(place, _)| place.index() == end).is_some() {}
        Ok(first..end)
    }

    fn push(&mut self, span: Span, kind: StatementKind) -> Step {
        self.take_room(1)?;
        self.module.statements.push(Statement { span, scope: self.scope, kind });
        Ok(())
    }

    fn body_directive(&mut self) -> Step {
        let start = self.words.span();
        match self.words.text() {
            name if DECLARING.contains(&name) => {
                let first = DeclarationId(self.module.declarations.len() as u32);
                match self.declarations(Linkage::Internal) {
                    // The rest of the body can still be read.
                    Err(Fault { kind: ReadErrorKind::Expected(expected), span }) => {
                        let first = self.words.span().start;
                        let passed = self.pass_statement(0, false)?;
                        let error = SyntaxError { expected, span };
                        let end = Span::empty_at(passed.end.unwrap_or(first));
                        let fault = self.module.add_fault(error, error.span.start);
                        self.push(start.to(span).to(end), StatementKind::Malformed(fault))
                    }
                    Err(fault) => Err(fault),
                    Ok(()) => {
                        let end = DeclarationId(self.module.declarations.len() as u32);
                        self.push(start, StatementKind::Declarations(first, end))
                    }
                }
            }
            ".loc" => {
                let location = self.location();
                self.take_room(1)?;
                let next = StatementId(self.module.statements.len() as u32);
                self.module.locations.push((next, location));
                Ok(())
            }
            ".file" => self.file(),
            ".target" => self.target(),
            ".branchtargets" | ".calltargets" => {
                self.words.advance();
                let names = self.module.arena.read_names(&mut self.words);
                self.pass_statement(0, false)?;
                self.push(start, StatementKind::Targets(names))
            }
            name if PASSED_OVER.contains(&name) || self.module.version > LATEST => {
                self.pass_statement(0, false).map(|_| ())
            }
            _ => self.malformed(start, "a statement"),
        }
    }

    /// Reads a label or an instruction at the current word. The statement begins at `start`.
    fn word_statement(&mut self, start: Span, guard: Option<GuardPredicate>) -> Step {
        let word = self.words.span();
        let written = self.words.take_qualified();
        if self.words.is_mark(b':') && written == word {
            if guard.is_some() {
                return self.malformed(start, "an instruction after the guard");
            }
            self.words.advance();
            return self.push(word, StatementKind::Label(word));
        }
        let (mut instruction, fault) =
            self.module.read_instruction(&mut self.words, written, guard, true);
        self.module.bracket_address(&instruction);
        self.check_operands()?;
        // Without qualifiers and operands, the statement's text ends before its semicolon.
        let mut end = self.words.taken();
        if end == word.end {
            end = self.words.span().start;
        }
        if fault.is_none() && self.words.eat(b';') {
            return self
                .push(start.to(Span::empty_at(end)), StatementKind::Instruction(instruction));
        }
        let after = self.words.taken();
        let depth = usize::from(fault.as_ref().is_some_and(|fault| fault.is_in_braces));
        let passed = self.pass_statement(depth, self.words.is_after_name())?;
        // Only loads keep an operand fault: other instructions may have operands that this reader does not know.
        let of_load = fault.map(|fault| fault.error).filter(|_| instruction.opcode.is_load());
        if let Some(error) = of_load.or(passed.fault) {
            instruction.fault = Some(self.module.add_fault(error, after));
        }
        let end = Span::empty_at(passed.end.unwrap_or(end));
        self.push(start.to(end), StatementKind::Instruction(instruction))
    }

    /// Reads `@%p` or `@!%p` and the instruction after it.
    fn guarded(&mut self, start: Span) -> Step {
        self.words.advance();
        let is_negated = self.words.eat(b'!');
        if self.words.kind() != TokenKind::Word {
            return self.malformed(start, "a predicate register");
        }
        let register = self.words.span();
        self.words.advance();
        if self.words.kind() != TokenKind::Word {
            return self.malformed(start, "an instruction after the guard");
        }
        self.word_statement(start, Some(GuardPredicate { register, is_negated }))
    }

    /// Keeps a malformed statement up to its semicolon, with an error at the current word.
    fn malformed(&mut self, start: Span, expected: &'static str) -> Step {
        self.take_room(PARTS_OF_MISTAKE)?;
        let error = SyntaxError { expected, span: self.words.span() };
        // This always advances, even if the word at fault is the semicolon.
        let passed = self.pass_statement(0, false)?;
        let end = Span::empty_at(passed.end.unwrap_or(error.span.start));
        let fault = self.module.add_fault(error, error.span.start);
        self.push(start.to(end), StatementKind::Malformed(fault))
    }

    /// Advances past the semicolon of a statement or, if there is none, to the brace that closes the enclosing scope.
    /// `depth` counts the braces of the statement that are already open.
    fn pass_statement(&mut self, mut depth: usize, mut is_after_name: bool) -> Step<Passed> {
        let mut passed = Passed { end: None, fault: None };
        loop {
            let span = self.words.span();
            let mut fault = |expected| {
                passed.fault = passed.fault.or(Some(SyntaxError { expected, span }));
            };
            match self.words.kind() {
                TokenKind::Punctuation(b';') => {
                    self.words.advance();
                    break;
                }
                TokenKind::Punctuation(b'{') => depth += 1,
                TokenKind::Punctuation(b'}') if depth == 0 => {
                    fault("`;`");
                    break;
                }
                TokenKind::Punctuation(b'}') => depth -= 1,
                TokenKind::Punctuation(b'-') if is_after_name => {
                    fault("no `-` after a name (an offset is written `+-4`)");
                }
                TokenKind::Bad(LexicalError::Stray) => {
                    fault("a valid character");
                    self.words.pass_stray();
                }
                TokenKind::End | TokenKind::Bad(_) => return Err(self.expected("`;`")),
                _ => {}
            }
            passed.end = Some(span.end);
            self.words.advance();
            is_after_name = self.words.is_after_name();
        }
        Ok(passed)
    }
}

/// A skipped statement.
struct Passed {
    /// The end of its last word; `None` without any.
    end: Option<u32>,
    fault: Option<SyntaxError>,
}
