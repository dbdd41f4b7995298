//! Reads declarations of registers, variables and parameters.

use super::{Reader, Step};
use crate::module::{Array, Declaration, DeclarationId, FunctionKind, Linkage, MistakeKind, Role};
use crate::syntax::TokenKind;
use crate::syntax::expression::{WARP_SIZE, integer};
use crate::syntax::types::{KERNEL_PARAMETER_LISTS, LATEST};
use crate::syntax::{ScalarType, Span, StateSpace};

/// Types of instructions only. ptxas rejects a plain variable of such a type, but accepts an array or crashes on it, so
/// arrays are not judged.
const INSTRUCTION_TYPES: [ScalarType; 11] = {
    use ScalarType::{E2m1x2, E2m3x2, E3m2x2, E4m3, E4m3x2, E5m2, E5m2x2};
    use ScalarType::{F32x2, S16x2, U16x2, Ue8m0x2};
    [E2m1x2, E2m3x2, E3m2x2, E4m3, E4m3x2, E5m2, E5m2x2, F32x2, S16x2, U16x2, Ue8m0x2]
};

impl Reader<'_> {
    /// Reads a declaration with its semicolon.
    pub(super) fn declarations(&mut self, linkage: Linkage) -> Step {
        let prefix = self.prefix()?;
        let prefix = Declaration { role: self.role(prefix.space), linkage, ..prefix };
        // `.global .u32;` declares nothing.
        if self.words.eat(b';') {
            return Ok(());
        }
        loop {
            self.declarator(&prefix)?;
            if !self.words.eat(b',') {
                break;
            }
        }
        self.expect(b';', "`,` or `;`")
    }

    /// The role of a declaration in this place. Kernels of PTX 1.0 to 1.3 declare their parameters in the body.
    fn role(&self, space: StateSpace) -> Role {
        let Some(function) = self.function else { return Role::Module };
        let kind = self.module.functions.get(function.index()).map(|function| function.kind);
        let is_parameter = space == StateSpace::Param
            && kind == Some(FunctionKind::Entry)
            && self.module.version < KERNEL_PARAMETER_LISTS;
        if is_parameter { Role::Parameter } else { Role::Local }
    }

    /// Reads parameters in parentheses. The opening one is current.
    pub(super) fn parameters(&mut self, role: Role) -> Step {
        self.words.advance();
        while !self.words.eat(b')') {
            if self.words.kind() != TokenKind::Dotted {
                return Err(self.expected("`.param`, `.reg` or `)`"));
            }
            let prefix = self.prefix()?;
            self.declarator(&Declaration { role, ..prefix })?;
            if !self.words.is_mark(b')') {
                self.expect(b',', "`,` or `)`")?;
            }
        }
        Ok(())
    }

    /// Reads `.align 16 .shared .align 16 .v4 .f32`: a declaration up to its name.
    fn prefix(&mut self) -> Step<Declaration> {
        let mut align = None;
        while self.words.kind() == TokenKind::Dotted && self.words.text() == ".align" {
            align = self.alignment()?;
        }
        let space = self.words.text().trim_start_matches('.').parse();
        let space: StateSpace = space.map_err(|_| self.expected("a state space"))?;
        self.words.advance();
        // `.const[3]`: a bank.
        let bank = if space == StateSpace::Const && self.words.is_mark(b'[') {
            match self.array()? {
                Array::Of(bank) => Some(bank),
                _ => Some(u64::MAX),
            }
        } else {
            None
        };
        let mut prefix = Declaration {
            name: self.words.span(),
            space,
            role: Role::Module,
            scalar: ScalarType::Unknown,
            vector: 1,
            align,
            count: None,
            array: Array::Single,
            lengths: (0, 0),
            initial: None,
            initial_words: (0, 0),
            bank,
            is_unified: false,
            is_managed: false,
            linkage: Linkage::Internal,
            scope: self.scope,
        };
        self.instruction_type = None;
        let mut is_pointer = false;
        let mut has_type = false;
        while self.words.kind() == TokenKind::Dotted {
            let name = self.words.text().trim_start_matches('.');
            let scalar = name.parse().unwrap_or(prefix.scalar);
            let is_instruction_type = INSTRUCTION_TYPES.contains(&scalar);
            let is_declared =
                scalar.register_bits().is_some() || scalar.is_opaque() || is_instruction_type;
            // The order is: alignment and attributes, a vector, a type, and `.ptr` with its properties.
            let is_late = match name {
                _ if is_pointer => false,
                "ptr" => !has_type || space != StateSpace::Param,
                "align" | "attribute" | "v2" | "v4" | "v8" => has_type || prefix.vector > 1,
                _ => has_type || !is_declared,
            };
            if is_late && self.module.version <= LATEST {
                self.mistake(MistakeKind::Word)?;
            }
            match name {
                "align" => {
                    let align = self.alignment()?;
                    // After `.ptr` the alignment is the pointer target's.
                    if !is_pointer {
                        prefix.align = align;
                    }
                    continue;
                }
                "attribute" => {
                    self.words.advance();
                    self.attribute(Some(&mut prefix))?;
                    continue;
                }
                "ptr" => is_pointer = true,
                "v2" => prefix.vector = 2,
                "v4" => prefix.vector = 4,
                "v8" => prefix.vector = 8,
                _ if is_pointer => {}
                _ => {
                    has_type = true;
                    if is_instruction_type {
                        self.instruction_type = Some(self.words.span());
                    }
                    prefix.scalar = scalar;
                }
            }
            self.words.advance();
        }
        if has_type { Ok(prefix) } else { Err(self.expected("a type")) }
    }

    /// Reads `.align 16`, its first word current. `None` for 0 and values above 32 bits.
    fn alignment(&mut self) -> Step<Option<u32>> {
        self.words.advance();
        let (kind, span) = (MistakeKind::Alignment, self.words.span());
        let align = self.number()?;
        if !align.is_power_of_two() {
            self.mistake_at(kind, span)?;
        }
        Ok(u32::try_from(align).ok().filter(|align| *align > 0))
    }

    /// Reads the attributes `(.unified(19, 95), .managed)` of a declaration or a function.
    pub(super) fn attribute(&mut self, mut declaration: Option<&mut Declaration>) -> Step {
        self.expect(b'(', "`(`")?;
        let mut depth = 1_usize;
        while depth > 0 {
            match self.words.kind() {
                TokenKind::Punctuation(b'(') => depth += 1,
                TokenKind::Punctuation(b')') => depth -= 1,
                TokenKind::Dotted => {
                    if let Some(declaration) = &mut declaration {
                        declaration.is_unified |= self.words.text() == ".unified";
                        declaration.is_managed |= self.words.text() == ".managed";
                    }
                }
                TokenKind::Word | TokenKind::Number | TokenKind::Punctuation(b',') => {}
                _ => return Err(self.expected("`)`")),
            }
            self.words.advance();
        }
        Ok(())
    }

    /// Reads a name with its brackets and its initializer.
    fn declarator(&mut self, prefix: &Declaration) -> Step {
        let name = self.name("a name")?;
        let count = if self.words.eat(b'<') { Some(self.count()?) } else { None };
        let first_length = self.module.lengths.len() as u32;
        let array = if self.words.is_mark(b'[') { self.array()? } else { Array::Single };
        let lengths = (first_length, self.module.lengths.len() as u32);
        if let Some(span) = self.instruction_type.filter(|_| array == Array::Single) {
            self.mistake_at(MistakeKind::Word, span)?;
        }
        let is_one = count.is_none();
        let first_word = self.module.initial_words.len() as u32;
        let initial = if is_one && self.words.eat(b'=') { Some(self.initial()?) } else { None };
        let initial_words = (first_word, self.module.initial_words.len() as u32);
        self.declare(Declaration { name, count, array, lengths, initial, initial_words, ..*prefix })
    }

    fn declare(&mut self, declaration: Declaration) -> Step {
        self.take_room(2)?;
        // Each name takes at least a byte, so a text of 4 GiB cannot overflow the id.
        let id = DeclarationId(self.module.declarations.len() as u32);
        let name = declaration.name.text(self.module.source);
        let scope = declaration.scope;
        let function = self.module.scopes.get(scope.0 as usize).and_then(|scope| scope.function);
        let is_run = declaration.count.is_some();
        if let Some(first) = self.module.names.declare(function, scope, name, is_run, id) {
            let is_extern = |of: &Declaration| of.linkage == Linkage::Extern;
            if self.module.declaration(first).is_some_and(is_extern) && !is_extern(&declaration) {
                self.module.names.define(first, id);
            }
        }
        self.module.declarations.push(declaration);
        Ok(())
    }

    fn number(&mut self) -> Step<u64> {
        let number = match self.words.kind() {
            TokenKind::Number => integer(self.words.text()),
            TokenKind::Word if self.words.text() == "WARP_SZ" => Some(WARP_SIZE),
            _ => None,
        };
        let number = number.ok_or_else(|| self.expected("a number"))?;
        self.words.advance();
        Ok(number)
    }

    fn count(&mut self) -> Step<u32> {
        let too_many = self.expected("at most 4294967295 registers");
        let count = u32::try_from(self.number()?).map_err(|_| too_many)?;
        self.expect(b'>', "`>`")?;
        Ok(count)
    }

    /// Reads the lengths `[4][8]`, `[]` or `[][8]`.
    fn array(&mut self) -> Step<Array> {
        let mut elements = Some(1_u64);
        let (mut is_open, mut is_first) = (false, true);
        while self.words.eat(b'[') {
            if is_first && self.words.eat(b']') {
                is_open = true;
                self.module.lengths.push(0);
            } else {
                let length = self.number()?;
                self.module.lengths.push(length);
                elements = elements.and_then(|elements| elements.checked_mul(length));
                self.expect(b']', "`]`")?;
            }
            is_first = false;
        }
        Ok(match elements {
            None => Array::TooMany,
            Some(_) if is_open => Array::Unknown,
            Some(elements) => Array::Of(elements),
        })
    }

    /// Reads the initializer after `=`, up to the comma or semicolon outside all brackets.
    fn initial(&mut self) -> Step<Span> {
        let mut span = self.words.span();
        let first = self.module.initial_words.len();
        let mut depth = 0_usize;
        loop {
            match self.words.kind() {
                TokenKind::Punctuation(b',' | b';') if depth == 0 => {
                    // The initializer is missing: its words are the terminator, so that an error has a place.
                    if self.module.initial_words.len() == first {
                        self.module.initial_words.push(self.words.current());
                    }
                    return Ok(span);
                }
                TokenKind::Punctuation(b'{' | b'(') => depth += 1,
                TokenKind::Punctuation(b'}' | b')') if depth == 0 => {
                    return Err(self.expected("`,` or `;`"));
                }
                TokenKind::Punctuation(b'}' | b')') => depth -= 1,
                TokenKind::Punctuation(b';') => return Err(self.expected("`}`")),
                TokenKind::End | TokenKind::Bad(_) => return Err(self.expected("`;`")),
                _ => {}
            }
            span = span.to(self.words.span());
            let word = self.words.advance();
            self.module.initial_words.push(word);
        }
    }
}
