//! Operands as written: [`Operand`], and the grammar that reads the operands of one instruction.
//!
//! All operands of a module are in one [`OperandArena`]. Most instructions have two or three, and a separate allocation
//! for them would cost more than reading them.

use std::num::NonZeroU32;

use super::expression::{Constant, constant};
use super::lexer::TokenKind;
use super::words::Words;
use crate::syntax::{Span, SyntaxError};

/// An operand and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operand {
    /// The kind of the operand.
    pub kind: OperandKind,
    /// Its place, including brackets and braces.
    pub span: Span,
}

impl Operand {
    /// The value of an integer constant.
    pub(crate) fn integer(&self) -> Option<u64> {
        let OperandKind::Constant(value) = self.kind else { return None };
        value.integer()
    }
}

/// The kind of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum OperandKind {
    /// A name alone: a register, a variable, a label, a function.
    Name,
    /// An element of a vector register, `Q.x`: the name.
    Component(Span),
    /// A part of a register, `%r1.b0` in video instructions: the name.
    Part(Span),
    /// Elements in braces.
    Vector(ElementRange),
    /// Two names: `%p1|%p2`.
    Pair(ElementRange),
    /// Names and constants in parentheses: the results and the arguments of a call.
    List(ElementRange),
    /// `_`.
    Sink,
    /// An address.
    Address(AddressId),
    /// A constant expression.
    Constant(Constant),
    /// The sum of a name and a constant: `%rd1+4`.
    Sum(AddressId),
    /// `!%p1`: the name.
    Inverted(Span),
    /// `-%r1` or `-%r1.b0`: the name.
    Negated(Span),
}

/// The range of some elements in their module, for
/// [`PtxInstruction::elements_in`](super::load::PtxInstruction::elements_in).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ElementRange {
    start: u32,
    end: u32,
}

/// The index of an address in its module, for [`PtxInstruction::address_in`](super::load::PtxInstruction::address_in).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressId(u32);

/// The range of an instruction's operands in their [`OperandArena`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OperandRange {
    start: u32,
    end: u32,
}

/// An element of a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// The kind of the element.
    pub kind: ElementKind,
    /// Its place.
    pub span: Span,
}

/// The kind of an element of a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElementKind {
    /// A name: a register in a legal load.
    Name,
    /// An element of a vector register, `Q.x`: the name.
    Component(Span),
    /// The sink symbol `_`: the value is dropped.
    Sink,
    /// A constant expression.
    Constant(Constant),
}

impl Element {
    /// Returns the name of the element, without `.x`.
    #[must_use]
    pub fn name(&self) -> Option<Span> {
        match self.kind {
            ElementKind::Name => Some(self.span),
            ElementKind::Component(name) => Some(name),
            ElementKind::Sink | ElementKind::Constant(_) => None,
        }
    }
}

/// An address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddressOperand {
    /// The notation.
    pub form: AddressForm,
    /// A register or a variable; `None` for an immediate address.
    pub base: Option<Span>,
    /// The register in the brackets after a variable: `var[%r1]`.
    pub index: Option<Span>,
    /// The immediate offset in bytes, or in elements for [`AddressForm::Indexed`].
    pub offset: Option<AddressOffset>,
    /// `.unified` after the brackets.
    pub unified: Option<Span>,
    /// The coordinates after the base, in texture instructions and copies of tensors.
    pub coordinates: ElementRange,
}

/// The notation of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressForm {
    /// `[a+4]`.
    Bracketed,
    /// `a[4]`.
    Indexed,
}

/// The constant part of an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddressOffset {
    /// The value. Only integers are legal.
    pub value: Constant,
    /// The place of the expression.
    pub span: Span,
}

impl AddressOperand {
    fn new(form: AddressForm, base: Option<Span>, offset: Option<AddressOffset>) -> Self {
        let coordinates = ElementRange::default();
        Self { form, base, index: None, offset, unified: None, coordinates }
    }

    /// Returns the offset, to be added modulo 2^64; 0 if there is none or it is a float.
    #[must_use]
    pub fn displacement(&self) -> u64 {
        self.offset.and_then(|offset| offset.value.integer()).unwrap_or(0)
    }
}

/// The limit on operands and on elements of a vector, more than any instruction has.
const MAX_ELEMENTS: usize = 1024;

/// The largest capacity that is reserved in advance. Vectors of larger modules grow.
pub(crate) const MAX_RESERVED: usize = 1 << 20;

/// The words that may follow an operand.
pub(crate) const COMMA_OR_SEMICOLON: &str = "`,` or `;`";

/// The operands of many instructions, with their elements and addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct OperandArena {
    operands: Vec<Operand>,
    elements: Vec<Element>,
    addresses: Vec<StoredAddress>,
    rare_parts: Vec<RareParts>,
}

/// An address without its rare parts, to keep it small.
#[derive(Clone, Copy, Debug)]
struct StoredAddress {
    form: AddressForm,
    /// Empty if there is no base.
    base: Span,
    offset: Option<AddressOffset>,
    /// The index in [`OperandArena::rare_parts`] plus 1, so that `None` takes no room.
    rare: Option<NonZeroU32>,
}

/// The parts that few addresses have.
#[derive(Clone, Copy, Debug)]
struct RareParts {
    index: Option<Span>,
    unified: Option<Span>,
    coordinates: ElementRange,
}

impl OperandArena {
    pub(crate) fn operands(&self, range: OperandRange) -> &[Operand] {
        self.operands.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    pub(crate) fn elements(&self, range: ElementRange) -> &[Element] {
        self.elements.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// An address; `None` for the id of another arena.
    pub(crate) fn address(&self, id: AddressId) -> Option<AddressOperand> {
        let StoredAddress { form, base, offset, rare } = *self.addresses.get(id.0 as usize)?;
        let base = (!base.is_empty()).then_some(base);
        let address = AddressOperand::new(form, base, offset);
        let Some(rare) = rare else { return Some(address) };
        let RareParts { index, unified, coordinates } =
            *self.rare_parts.get(rare.get() as usize - 1)?;
        Some(AddressOperand { index, unified, coordinates, ..address })
    }

    /// The number of operands, elements and addresses.
    pub(crate) fn len(&self) -> usize {
        self.operands.len() + self.elements.len() + self.addresses.len()
    }

    fn add_address(&mut self, address: AddressOperand) -> AddressId {
        let AddressOperand { form, base, index, offset, unified, coordinates } = address;
        let mut rare = None;
        if index.is_some() || unified.is_some() || coordinates != ElementRange::default() {
            self.rare_parts.push(RareParts { index, unified, coordinates });
            rare = NonZeroU32::new(self.rare_parts.len() as u32);
        }
        let base = base.unwrap_or_default();
        self.addresses.push(StoredAddress { form, base, offset, rare });
        AddressId(self.addresses.len() as u32 - 1)
    }

    /// An arena for a text of `bytes` bytes, with the capacity that compiler output needs.
    pub(crate) fn for_text(bytes: usize) -> Self {
        Self {
            operands: Vec::with_capacity((bytes / 16).min(MAX_RESERVED)),
            addresses: Vec::with_capacity((bytes / 64).min(MAX_RESERVED)),
            ..Self::default()
        }
    }

    /// Marks the second operand as an address, because PTX 1.0 and 1.1 have no brackets.
    pub(crate) fn bracket_address(&mut self, range: OperandRange) {
        let place = range.start as usize + 1;
        if place >= range.end as usize {
            return;
        }
        let Some(Operand { kind, span }) = self.operands.get(place).copied() else { return };
        let address = match kind {
            OperandKind::Name => AddressOperand::new(AddressForm::Bracketed, Some(span), None),
            OperandKind::Constant(value) => {
                let offset = AddressOffset { value, span };
                AddressOperand::new(AddressForm::Bracketed, None, Some(offset))
            }
            OperandKind::Sum(id) => {
                self.operands[place].kind = OperandKind::Address(id);
                return;
            }
            _ => return,
        };
        self.operands[place].kind = OperandKind::Address(self.add_address(address));
    }

    /// Reads the operands of an instruction up to its semicolon, or up to the brace or the end of the text in place of
    /// it, which stays current. Stops at an error and keeps the operands before it. Loads allow fewer kinds of operands
    /// than other instructions.
    pub(crate) fn read(
        &mut self,
        words: &mut Words<'_>,
        is_load: bool,
        is_in_body: bool,
    ) -> (OperandRange, Result<(), OperandFault>) {
        let start = self.operands.len();
        let is_in_braces = false;
        let mut reader =
            OperandReader { arena: self, words, is_load, is_in_body, start, is_in_braces };
        let result = reader.operands();
        let is_in_braces = reader.is_in_braces;
        let result = result.map_err(|error| {
            let is_at_end = match words.kind() {
                TokenKind::Punctuation(b'}') => is_in_body && !is_in_braces,
                TokenKind::Punctuation(b';') | TokenKind::End => true,
                _ => false,
            };
            // The statement ends after its last word, so the error is there.
            let at_end = is_at_end && error.span == words.span();
            let span = if at_end { Span::empty_at(words.taken()) } else { error.span };
            OperandFault { error: SyntaxError { span, ..error }, is_in_braces }
        });
        let range = OperandRange { start: start as u32, end: self.operands.len() as u32 };
        (range, result)
    }

    /// Reads names separated by commas: the targets of a branch or a call.
    pub(crate) fn read_names(&mut self, words: &mut Words<'_>) -> ElementRange {
        let start = self.elements.len();
        while words.kind() == TokenKind::Word {
            let span = words.advance().span;
            self.elements.push(Element { kind: ElementKind::Name, span });
            if !words.eat(b',') {
                break;
            }
        }
        self.elements_from(start)
    }

    fn elements_from(&self, start: usize) -> ElementRange {
        ElementRange { start: start as u32, end: self.elements.len() as u32 }
    }
}

/// The reason why the operands of an instruction were not read to their end.
pub(crate) struct OperandFault {
    pub(crate) error: SyntaxError,
    /// Whether the error is inside braces.
    pub(crate) is_in_braces: bool,
}

/// Reads the operands of one instruction.
struct OperandReader<'r, 's> {
    arena: &'r mut OperandArena,
    words: &'r mut Words<'s>,
    is_load: bool,
    /// Whether a closing brace ends the instruction as well.
    is_in_body: bool,
    start: usize,
    is_in_braces: bool,
}

impl OperandReader<'_, '_> {
    fn is_end(&self) -> bool {
        match self.words.kind() {
            TokenKind::End | TokenKind::Punctuation(b';') => true,
            TokenKind::Punctuation(b'}') => self.is_in_body,
            _ => false,
        }
    }

    fn operands(&mut self) -> Result<(), SyntaxError> {
        if self.is_end() {
            return Ok(());
        }
        loop {
            let is_first = self.arena.operands.len() == self.start;
            if self.is_load && !is_first && self.is_sink() {
                return Err(self.words.expected("an operand that is not `_`"));
            }
            let mut operand = self.operand()?;
            // LLVM puts labels of debug information between the operands of a call.
            if operand.kind == OperandKind::Name && !self.is_load && self.words.eat(b':') {
                operand = self.operand()?;
            }
            self.arena.operands.push(operand);
            if self.is_end() {
                return Ok(());
            }
            if self.arena.operands.len() - self.start == MAX_ELEMENTS {
                return Err(self.words.expected("fewer operands"));
            }
            self.words.expect(b',', COMMA_OR_SEMICOLON)?;
        }
    }

    fn is_sink(&self) -> bool {
        self.words.kind() == TokenKind::Word && self.words.is("_")
    }

    fn operand(&mut self) -> Result<Operand, SyntaxError> {
        match self.words.kind() {
            TokenKind::Word if self.words.is("WARP_SZ") => self.constant_operand(),
            TokenKind::Word => self.named(),
            TokenKind::Punctuation(b'{') => self.vector(),
            TokenKind::Punctuation(b'[') => self.bracketed(),
            TokenKind::Punctuation(mark @ (b'-' | b'!')) => {
                let mut ahead = self.words.clone();
                let start = ahead.advance().span;
                if ahead.kind() != TokenKind::Word || ahead.is("WARP_SZ") {
                    return self.constant_operand();
                }
                let name = ahead.advance().span;
                *self.words = ahead;
                let kind = match mark {
                    b'!' => OperandKind::Inverted(name),
                    _ => OperandKind::Negated(name),
                };
                // A part can be negated, too: `-%r1.b0`.
                let has_part = mark == b'-'
                    && self.words.kind() == TokenKind::Dotted
                    && is_part(self.words.text());
                let end = if has_part { self.words.advance().span } else { name };
                Ok(Operand { kind, span: start.to(end) })
            }
            TokenKind::Punctuation(b'(') if !self.is_load => self.list(),
            TokenKind::Number | TokenKind::Punctuation(b'(' | b'~' | b'+') => {
                self.constant_operand()
            }
            _ => Err(self.words.expected("an operand")),
        }
    }

    fn constant_operand(&mut self) -> Result<Operand, SyntaxError> {
        let AddressOffset { value, span } = self.expression()?;
        Ok(Operand { kind: OperandKind::Constant(value), span })
    }

    /// Reads a constant expression, with its place.
    fn expression(&mut self) -> Result<AddressOffset, SyntaxError> {
        let start = self.words.span();
        let value = constant(self.words)?;
        let span = start.to(Span { start: start.start, end: self.words.taken() });
        Ok(AddressOffset { value, span })
    }

    /// Reads an operand that begins with a name.
    fn named(&mut self) -> Result<Operand, SyntaxError> {
        let is_sink = self.words.is("_");
        let name = self.words.advance().span;
        match self.words.kind() {
            TokenKind::Punctuation(b'[') => {
                self.words.advance();
                let mut address = self.inside(AddressForm::Indexed)?;
                let end = self.words.expect(b']', "`]`")?;
                // The base read between the brackets is the index, as in `a[%r1+4]`.
                address.index = address.base.replace(name);
                let span = name.to(self.postfix(&mut address).unwrap_or(end));
                Ok(Operand { kind: OperandKind::Address(self.arena.add_address(address)), span })
            }
            TokenKind::Punctuation(b'|') => {
                self.words.advance();
                let second = self.words.word("a predicate register")?;
                let start = self.arena.elements.len();
                let kind = if is_sink { ElementKind::Sink } else { ElementKind::Name };
                self.arena.elements.push(Element { kind, span: name });
                let is_sink = second.end - second.start == 1 && self.words.text_of(second) == "_";
                let kind = if is_sink { ElementKind::Sink } else { ElementKind::Name };
                self.arena.elements.push(Element { kind, span: second });
                let kind = OperandKind::Pair(self.arena.elements_from(start));
                Ok(Operand { kind, span: name.to(second) })
            }
            TokenKind::Punctuation(b'+') => {
                self.words.advance();
                let offset = self.expression()?;
                let sum = AddressOperand::new(AddressForm::Bracketed, Some(name), Some(offset));
                let kind = OperandKind::Sum(self.arena.add_address(sum));
                Ok(Operand { kind, span: name.to(offset.span) })
            }
            TokenKind::Dotted => {
                let kind = if self.is_component() {
                    OperandKind::Component(name)
                } else if !self.is_load && is_part(self.words.text()) {
                    OperandKind::Part(name)
                } else {
                    return Err(self.words.expected(COMMA_OR_SEMICOLON));
                };
                Ok(Operand { kind, span: name.to(self.words.advance().span) })
            }
            _ if is_sink => Ok(Operand { kind: OperandKind::Sink, span: name }),
            _ => Ok(Operand { kind: OperandKind::Name, span: name }),
        }
    }

    /// Whether the current word selects an element of a vector register: `.x` in `Q.x`.
    fn is_component(&self) -> bool {
        self.words.kind() == TokenKind::Dotted
            && matches!(self.words.text(), ".x" | ".y" | ".z" | ".w" | ".r" | ".g" | ".b" | ".a")
    }

    /// Reads `{a, b, _}`.
    fn vector(&mut self) -> Result<Operand, SyntaxError> {
        let start = self.words.advance().span;
        self.is_in_braces = true;
        let (elements, end) = self.elements(b'}', "`,` or `}`")?;
        self.is_in_braces = false;
        Ok(Operand { kind: OperandKind::Vector(elements), span: start.to(end) })
    }

    /// Reads `(a, b)` or `()`.
    fn list(&mut self) -> Result<Operand, SyntaxError> {
        let start = self.words.advance().span;
        let (elements, end) = match self.words.is_mark(b')') {
            true => (ElementRange::default(), self.words.advance().span),
            false => self.elements(b')', "`,` or `)`")?,
        };
        Ok(Operand { kind: OperandKind::List(elements), span: start.to(end) })
    }

    /// Reads elements up to the closing mark and takes it. The span is the mark's.
    fn elements(
        &mut self,
        close: u8,
        expected: &'static str,
    ) -> Result<(ElementRange, Span), SyntaxError> {
        let start = self.arena.elements.len();
        loop {
            let element = self.element()?;
            self.arena.elements.push(element);
            if self.words.is_mark(close) {
                return Ok((self.arena.elements_from(start), self.words.advance().span));
            }
            if self.arena.elements.len() - start == MAX_ELEMENTS {
                return Err(self.words.expected("fewer elements"));
            }
            self.words.expect(b',', expected)?;
        }
    }

    fn element(&mut self) -> Result<Element, SyntaxError> {
        if self.words.kind() == TokenKind::Word && !self.words.is("WARP_SZ") {
            let is_sink = self.words.is("_");
            let name = self.words.advance().span;
            if self.is_component() {
                let span = name.to(self.words.advance().span);
                return Ok(Element { kind: ElementKind::Component(name), span });
            }
            let kind = if is_sink { ElementKind::Sink } else { ElementKind::Name };
            return Ok(Element { kind, span: name });
        }
        if self.words.is_mark(b'{') {
            return Err(self.words.expected("a register or `_`"));
        }
        let AddressOffset { value, span } = self.expression()?;
        Ok(Element { kind: ElementKind::Constant(value), span })
    }

    fn bracketed(&mut self) -> Result<Operand, SyntaxError> {
        let start = self.words.advance().span;
        let mut address = self.inside(AddressForm::Bracketed)?;
        let end = self.words.expect(b']', "`]`")?;
        let span = start.to(self.postfix(&mut address).unwrap_or(end));
        Ok(Operand { kind: OperandKind::Address(self.arena.add_address(address)), span })
    }

    /// Reads the inside of brackets: a name, a name plus a constant, or a constant.
    fn inside(&mut self, form: AddressForm) -> Result<AddressOperand, SyntaxError> {
        const ADDRESS: &str = "an address: a register, a variable or a constant";
        if self.words.kind() != TokenKind::Word || self.words.is("WARP_SZ") {
            if !matches!(
                self.words.kind(),
                TokenKind::Word
                    | TokenKind::Number
                    | TokenKind::Punctuation(b'+' | b'-' | b'~' | b'!' | b'(')
            ) {
                return Err(self.words.expected(ADDRESS));
            }
            return Ok(AddressOperand::new(form, None, Some(self.expression()?)));
        }
        if self.words.is("_") {
            return Err(self.words.expected(ADDRESS));
        }
        let mut address = AddressOperand::new(form, Some(self.words.advance().span), None);
        if self.words.eat(b'+') {
            address.offset = Some(self.expression()?);
        } else if self.words.is_mark(b'-') {
            return Err(self.words.expected("`+` or `]`; a negative offset is written `+-4`"));
        } else if self.words.is_mark(b',') && !self.is_load {
            address.coordinates = self.coordinates()?;
        } else if !self.words.is_mark(b']') {
            return Err(self.words.expected("`+` or `]`"));
        }
        Ok(address)
    }

    /// Reads `, s, {x, y}` after the name of a texture or of a tensor map.
    fn coordinates(&mut self) -> Result<ElementRange, SyntaxError> {
        let start = self.arena.elements.len();
        while self.words.eat(b',') {
            if self.words.eat(b'{') {
                self.is_in_braces = true;
                self.elements(b'}', "`,` or `}`")?;
                self.is_in_braces = false;
            } else {
                let element = self.element()?;
                self.arena.elements.push(element);
            }
        }
        Ok(self.arena.elements_from(start))
    }

    /// Takes `.unified` after an address and returns its place, if it is there.
    fn postfix(&mut self, address: &mut AddressOperand) -> Option<Span> {
        if self.words.kind() == TokenKind::Dotted && self.words.is(".unified") {
            address.unified = Some(self.words.advance().span);
        }
        address.unified
    }
}

/// Whether a suffix selects a part of a register, as in video instructions: `.b0`, `.h1`, `.b10`.
fn is_part(text: &str) -> bool {
    let digits = text.strip_prefix(".b").or_else(|| text.strip_prefix(".h"));
    digits.is_some_and(|digits| {
        (1..=4).contains(&digits.len()) && digits.bytes().all(|digit| matches!(digit, b'0'..=b'7'))
    })
}
