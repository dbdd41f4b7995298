//! The statements of a body.

use std::ops::Range;

use super::{DECLARING, Fault, MAX_DEPTH, Reader, Step};
use crate::module::{
    GuardPredicate, InstructionStatement, Linkage, ReadErrorKind, Statement, StatementKind,
};
use crate::syntax::types::LATEST;
use crate::syntax::{LexicalError, Span, SyntaxError, TokenKind};

/// The directives that a body may have and that loads do not depend on.
const PASSED_OVER: [&str; 5] =
    [".alias", ".branchtargets", ".callprototype", ".calltargets", ".pragma"];

impl Reader<'_> {
    /// All statements up to the brace that closes the body, the opening one current.
    pub(super) fn body(&mut self) -> Step<Range<usize>> {
        let first = self.module.statements.len();
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
        Ok(first..self.module.statements.len())
    }

    fn push(&mut self, span: Span, kind: StatementKind) -> Step {
        self.take_room(1)?;
        self.module.statements.push(Statement { span, scope: self.scope, kind });
        Ok(())
    }

    fn body_directive(&mut self) -> Step {
        match self.words.text() {
            name if DECLARING.contains(&name) => {
                let start = self.words.span();
                match self.declarations(Linkage::Internal) {
                    // The rest of the body can be read all the same.
                    Err(Fault { kind: ReadErrorKind::Expected(expected), span }) => {
                        let Passed { tail, .. } = self.pass_statement()?;
                        let error = SyntaxError { expected, span };
                        self.push(start.to(span).to(tail), StatementKind::Malformed(error))
                    }
                    declared => declared,
                }
            }
            ".loc" => {
                self.pass_location();
                Ok(())
            }
            ".file" => {
                self.pass_file();
                Ok(())
            }
            ".target" => self.target(),
            name if PASSED_OVER.contains(&name) || self.module.version > LATEST => {
                self.pass_statement().map(|_| ())
            }
            _ => self.malformed(self.words.span(), "a statement"),
        }
    }

    /// Reads a label or an instruction that begins with the current word; the statement begins at
    /// `start`.
    fn word_statement(&mut self, start: Span, guard: Option<GuardPredicate>) -> Step {
        let mnemonic = self.words.span();
        // Nearly all instructions: nothing is to be said of them here.
        if let Some(tail) = self.words.pass_plain() {
            let instruction = InstructionStatement { guard, mnemonic, tail, fault: None };
            return self.push(start.to(tail), StatementKind::Instruction(instruction));
        }
        self.words.advance();
        if self.words.is_mark(b':') {
            if guard.is_some() {
                return self.malformed(start, "an instruction after the guard");
            }
            self.words.advance();
            return self.push(mnemonic, StatementKind::Label(mnemonic));
        }
        let Passed { tail, fault } = self.pass_statement()?;
        let instruction = InstructionStatement { guard, mnemonic, tail, fault };
        self.push(start.to(mnemonic).to(tail), StatementKind::Instruction(instruction))
    }

    /// `@%p` or `@!%p` and its instruction.
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

    /// Keeps a malformed statement, up to its semicolon, as an error at the current word.
    fn malformed(&mut self, start: Span, expected: &'static str) -> Step {
        let error = SyntaxError { expected, span: self.words.span() };
        // Always advances, even if the word at fault is the semicolon.
        let Passed { tail, .. } = self.pass_statement()?;
        self.push(start.to(tail), StatementKind::Malformed(error))
    }

    /// Advances past the semicolon of a statement or, if it is missing, to the brace that closes
    /// the enclosing scope.
    fn pass_statement(&mut self) -> Step<Passed> {
        let first = self.words.span();
        let mut tail = Span { start: first.start, end: first.start };
        let mut fault = None;
        let mut depth = 0_usize;
        let mut after_word = false;
        loop {
            let span = self.words.span();
            match self.words.kind() {
                TokenKind::Punctuation(b';') => {
                    self.words.advance();
                    break;
                }
                TokenKind::Punctuation(b'{') => depth += 1,
                TokenKind::Punctuation(b'}') if depth == 0 => {
                    fault = fault.or(Some(SyntaxError { expected: "`;`", span }));
                    break;
                }
                TokenKind::Punctuation(b'}') => depth -= 1,
                TokenKind::Punctuation(b'-') if after_word => {
                    let expected = "no `-` after a name (an offset is written `+-4`)";
                    fault = fault.or(Some(SyntaxError { expected, span }));
                }
                TokenKind::Bad(LexicalError::Stray) => {
                    let expected = "a character that PTX has";
                    fault = fault.or(Some(SyntaxError { expected, span }));
                    self.words.pass_stray();
                }
                TokenKind::End | TokenKind::Bad(_) => return Err(self.expected("`;`")),
                _ => {}
            }
            // `WARP_SZ-1` is a constant.
            after_word = self.words.kind() == TokenKind::Word && self.words.text() != "WARP_SZ";
            tail = tail.to(span);
            self.words.advance();
        }
        Ok(Passed { tail, fault })
    }
}

/// A statement that was passed over.
struct Passed {
    tail: Span,
    fault: Option<SyntaxError>,
}
