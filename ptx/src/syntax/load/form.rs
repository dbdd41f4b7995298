//! [`Form`]: an opcode with its qualifiers, which a module keeps once however many instructions have it.

use super::{Qualifier, QualifierKind};
use crate::module::NameMap;
use crate::syntax::opcode::Opcode;
use crate::syntax::words::Words;
use crate::syntax::{ScalarType, Span, TokenKind};

/// More qualifiers than any instruction has.
const MAX_QUALIFIERS: usize = 64;

/// An opcode with its qualifiers. Their places are bytes after the first of the opcode.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) opcode: Opcode,
    /// The end of the opcode's words.
    opcode_end: u32,
    qualifiers: Box<[Qualifier]>,
    /// The first qualifier that is one too many.
    surplus: Option<Span>,
    /// Whether the opcode and all qualifiers are known.
    pub(crate) is_known: bool,
    /// Whether all qualifiers go with all others, from the first version on.
    pub(crate) is_plain: bool,
}

/// The place of a [`Form`] in its [`Forms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FormId(u32);

impl FormId {
    /// The place among the forms of the module.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The forms of a module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forms<'s> {
    forms: Vec<Form>,
    by_text: NameMap<&'s str, FormId>,
}

impl<'s> Forms<'s> {
    /// Returns a form; `None` for one of another module.
    pub(crate) fn get(&self, id: FormId) -> Option<&Form> {
        self.forms.get(id.0 as usize)
    }

    /// Returns the form that is written at `span`, a first word and the qualifiers after it.
    pub(crate) fn at(&mut self, source: &'s str, span: Span) -> FormId {
        let text = span.text(source);
        if let Some(id) = self.by_text.get(text) {
            return *id;
        }
        // A text of 4 GiB has fewer.
        let id = FormId(self.forms.len() as u32);
        self.forms.push(Form::read(source, span));
        self.by_text.insert(text, id);
        id
    }
}

impl Form {
    fn read(source: &str, span: Span) -> Self {
        let mut words = Words::new(source, span);
        let first = words.advance().span;
        let follows =
            |words: &Words<'_>, end, text| words.text() == text && words.span().start == end;
        let mut opcode = Opcode::of_word(first.text(source));
        let mut opcode_end = first.end;
        // `tcgen05.ld` and `tcgen05.ld.red` are written without blanks; `.red` elsewhere is a wrong
        // qualifier.
        if opcode == Opcode::Tcgen05 && follows(&words, first.end, ".ld") {
            opcode = Opcode::TensorLd;
            opcode_end = words.advance().span.end;
            if follows(&words, opcode_end, ".red") {
                opcode = Opcode::TensorLdRed;
                opcode_end = words.advance().span.end;
            }
        }
        let mut qualifiers = Vec::new();
        let mut is_known = opcode != Opcode::Unknown;
        let mut surplus = None;
        while words.kind() == TokenKind::Dotted {
            if qualifiers.len() == MAX_QUALIFIERS {
                surplus = Some(words.span().relative_to(first.start));
                is_known = false;
                break;
            }
            let text = words.text();
            let kind = QualifierKind::read(opcode, text);
            is_known &= opcode.has_qualifier(text.strip_prefix('.').unwrap_or(text), kind);
            let span = words.advance().span.relative_to(first.start);
            qualifiers.push(Qualifier { kind, span });
        }
        Self {
            opcode,
            opcode_end: opcode_end - first.start,
            surplus,
            is_known,
            is_plain: qualifiers.iter().all(|of| of.kind.is_plain()),
            qualifiers: qualifiers.into_boxed_slice(),
        }
    }

    /// Returns the opcode's words in an instruction that begins at a byte.
    pub(crate) fn opcode_span(&self, start: u32) -> Span {
        Span { start, end: start + self.opcode_end }
    }

    /// Returns the qualifier that is one too many in an instruction that begins at a byte.
    pub(crate) fn surplus(&self, start: u32) -> Option<Span> {
        self.surplus.map(|span| span.counted_from(start))
    }

    pub(crate) fn qualifiers(&self) -> &[Qualifier] {
        &self.qualifiers
    }

    /// Returns what `pick` makes of the first qualifier that it takes.
    pub(crate) fn find<T>(&self, pick: impl Fn(QualifierKind) -> Option<T>) -> Option<T> {
        self.qualifiers.iter().find_map(|qualifier| pick(qualifier.kind))
    }

    /// Whether it has a qualifier.
    pub(crate) fn has(&self, kind: QualifierKind) -> bool {
        self.qualifiers.iter().any(|qualifier| qualifier.kind == kind)
    }

    /// Whether it has one of these types.
    pub(crate) fn has_type(&self, types: &[ScalarType]) -> bool {
        self.types().any(|scalar| types.contains(&scalar))
    }

    /// Returns its types.
    pub(crate) fn types(&self) -> impl Iterator<Item = ScalarType> {
        self.qualifiers.iter().filter_map(|qualifier| match qualifier.kind {
            QualifierKind::Type(scalar) => Some(scalar),
            _ => None,
        })
    }
}
