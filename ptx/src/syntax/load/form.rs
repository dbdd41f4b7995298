//! [`Form`]: an opcode with its qualifiers. Instructions with the same text share one form.

use super::{Qualifier, QualifierKind};
use crate::module::NameMap;
use crate::syntax::opcode::Opcode;
use crate::syntax::words::Words;
use crate::syntax::{ScalarType, Span, TokenKind};

/// The limit on qualifiers, more than any instruction has.
const MAX_QUALIFIERS: usize = 64;

/// An opcode with its qualifiers. Spans are relative to the opcode, so that all instructions can share the form.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) opcode: Opcode,
    /// The end of the opcode.
    opcode_end: u32,
    qualifiers: Box<[Qualifier]>,
    /// The first qualifier beyond [`MAX_QUALIFIERS`].
    surplus: Option<Span>,
    /// Whether the opcode and all its qualifiers are known.
    pub(crate) is_known: bool,
    /// Whether every qualifier is plain: valid in all versions and with all other qualifiers.
    pub(crate) is_plain: bool,
}

/// The index of a [`Form`] in its [`Forms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FormId(u32);

impl FormId {
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
    /// A form; `None` for the id of another module.
    pub(crate) fn get(&self, id: FormId) -> Option<&Form> {
        self.forms.get(id.0 as usize)
    }

    /// The form written at `span`, an opcode and its qualifiers.
    pub(crate) fn at(&mut self, source: &'s str, span: Span) -> FormId {
        let text = span.text(source);
        if let Some(id) = self.by_text.get(text) {
            return *id;
        }
        // Each form takes at least a byte, so a text of 4 GiB cannot overflow the id.
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
        // `tcgen05.ld` and `tcgen05.ld.red` must be written without blanks. Elsewhere, `.red` is an invalid qualifier.
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

    /// The span of the opcode in an instruction that begins at `start`.
    pub(crate) fn opcode_span(&self, start: u32) -> Span {
        Span { start, end: start + self.opcode_end }
    }

    /// The qualifier beyond the limit, in an instruction that begins at `start`.
    pub(crate) fn surplus(&self, start: u32) -> Option<Span> {
        self.surplus.map(|span| span.counted_from(start))
    }

    pub(crate) fn qualifiers(&self) -> &[Qualifier] {
        &self.qualifiers
    }

    /// The first result of `pick` over the qualifiers.
    pub(crate) fn find<T>(&self, pick: impl Fn(QualifierKind) -> Option<T>) -> Option<T> {
        self.qualifiers.iter().find_map(|qualifier| pick(qualifier.kind))
    }

    pub(crate) fn has(&self, kind: QualifierKind) -> bool {
        self.qualifiers.iter().any(|qualifier| qualifier.kind == kind)
    }

    pub(crate) fn types(&self) -> impl Iterator<Item = ScalarType> {
        self.qualifiers.iter().filter_map(|qualifier| match qualifier.kind {
            QualifierKind::Type(scalar) => Some(scalar),
            _ => None,
        })
    }
}
