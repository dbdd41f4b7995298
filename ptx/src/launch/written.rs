//! [`Written`]: how statements are shown in reports: their places, texts and sources.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::loaded::SharedVariable;
use crate::meaning::Register;
use crate::module::{
    DeclarationId, Function, Module, SourceLocation, Statement, StatementId, StatementKind,
};
use crate::syntax::Position;
use warpload_machine::code::Slot;
use warpload_machine::{InstructionPlace, InstructionSource, ProgramTexts, Site};

/// The most bytes of a name or a text in a report. Names in a module can have megabytes, and a launch can report
/// thousands of them; compilers write no instruction that is as long.
pub(super) const MAX_SHOWN: usize = 4096;

/// A text in a report. An ellipsis replaces the end of a long one.
pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_SHOWN {
        return text.into();
    }
    let end = (0..=MAX_SHOWN).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &text[..end]).into()
}

/// The statements of a module as reports show them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written<'m> {
    module: &'m Module<'m>,
}

/// The place of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The line, from 1.
    pub(super) line: u32,
    /// The column, from 1; `None` if no other instruction begins in the line.
    pub(super) column: Option<u32>,
}

impl<'m> Written<'m> {
    pub(super) fn new(module: &'m Module<'m>) -> Self {
        Self { module }
    }

    /// Whether another instruction begins in a statement's line.
    fn has_neighbour(self, id: StatementId, line: u32) -> bool {
        let lines = self.module.lines();
        let is_in_line = |other: &&Statement| lines.position(other.span.start).line == line;
        let is_instruction =
            |other: &Statement| matches!(other.kind, StatementKind::Instruction(_));
        let (before, after) = self.module.statements().split_at(id.index());
        before.iter().rev().take_while(is_in_line).any(is_instruction)
            || after.iter().skip(1).take_while(is_in_line).any(is_instruction)
    }

    /// The place of a statement; line 0 for one of another module.
    pub(super) fn place(self, id: StatementId) -> Place {
        let Some(statement) = self.module.statements().get(id.index()) else {
            return Place::default();
        };
        let Position { line, column } = self.module.lines().position(statement.span.start);
        Place { line, column: self.has_neighbour(id, line).then_some(column) }
    }

    /// The line and the text of a statement; line 0 for one of another module.
    pub(super) fn line_and_text(self, id: StatementId) -> (u32, String) {
        let found = self.module.statements().get(id.index());
        let written = found.map(|found| self.module.statement(found.span, self.module.lines()));
        written.map_or((0, String::new()), |written| {
            (written.line, shortened(&written.text).into_owned())
        })
    }

    /// The name of a source file.
    pub(super) fn file(self, location: SourceLocation) -> Option<Arc<str>> {
        self.module.file_name(location.file).map(|name| Arc::from(&*shortened(&name)))
    }
}

/// [`Written`], with its texts remembered, so that many faults share them.
#[derive(Debug)]
pub(super) struct Shown<'m> {
    written: Written<'m>,
    /// The registers of each function by their first row.
    named: &'m [HashMap<Slot, Register>],
    /// The shared variables by their offsets, and the end of those that are not dynamic.
    shared: &'m [SharedVariable],
    dynamic: u64,
    kernel: &'m Function,
    /// Remembered, because all statements of a line are visited for the place of one.
    places: HashMap<StatementId, Place>,
    texts: HashMap<StatementId, Arc<str>>,
    registers: HashMap<(usize, Slot), Arc<str>>,
    /// By the first byte of the name.
    functions: HashMap<u32, Arc<str>>,
    files: HashMap<u32, Option<Arc<str>>>,
    parameters: HashMap<usize, Arc<str>>,
}

impl<'m> Shown<'m> {
    pub(super) fn new(
        module: &'m Module<'m>,
        named: &'m [HashMap<Slot, Register>],
        shared: &'m [SharedVariable],
        dynamic: u64,
        kernel: &'m Function,
    ) -> Self {
        Self {
            written: Written::new(module),
            named,
            shared,
            dynamic,
            kernel,
            places: HashMap::new(),
            texts: HashMap::new(),
            registers: HashMap::new(),
            functions: HashMap::new(),
            files: HashMap::new(),
            parameters: HashMap::new(),
        }
    }

    fn file(&mut self, location: SourceLocation) -> Option<Arc<str>> {
        let file = self.files.entry(location.file);
        file.or_insert_with(|| self.written.file(location)).clone()
    }
}

impl ProgramTexts for Shown<'_> {
    fn place(&mut self, site: Site) -> InstructionPlace {
        let (id, written) = (StatementId(site.0), self.written);
        let Place { line, column } = *self.places.entry(id).or_insert_with(|| written.place(id));
        InstructionPlace::Line(line, column)
    }

    fn text(&mut self, site: Site) -> Arc<str> {
        let id = StatementId(site.0);
        let text = self.texts.entry(id).or_insert_with(|| self.written.line_and_text(id).1.into());
        Arc::clone(text)
    }

    fn function(&mut self, site: Site) -> Arc<str> {
        let module = self.written.module;
        let statement = module.statements().get(StatementId(site.0).index());
        let function = statement.and_then(|statement| module.function_of(statement.scope));
        let Some(Function { name, .. }) = function else { return "".into() };
        let shared = self.functions.entry(name.start);
        Arc::clone(shared.or_insert_with(|| shortened(module.text(*name)).into()))
    }

    fn pc(&mut self, site: Site) -> u32 {
        let found = self.written.module.statements().get(StatementId(site.0).index());
        found.map_or(0, |found| found.span.start)
    }

    fn source(&mut self, site: Site) -> InstructionSource {
        let (id, module) = (StatementId(site.0), self.written.module);
        let (location, inlined) = (module.location(id), module.inlined_location(id));
        InstructionSource {
            file: location.and_then(|location| self.file(location)),
            line: location.map(|location| location.line),
            inlined_from: inlined.map(|inlined| (self.file(inlined), inlined.line)),
            call_line: module.call_line(id),
        }
    }

    fn register(&mut self, function: usize, slot: Slot) -> Arc<str> {
        let name = || {
            let known = self.named.get(function).and_then(|named| named.get(&slot));
            let name = known.map(|register| self.written.module.register_name(*register));
            shortened(&name.unwrap_or_default()).into()
        };
        Arc::clone(self.registers.entry((function, slot)).or_insert_with(name))
    }

    fn parameter(&mut self, number: usize) -> Option<Arc<str>> {
        let module = self.written.module;
        let place = self.kernel.parameters.clone().nth(number)?;
        let declared = module.declaration(DeclarationId(place as u32))?;
        let name = self.parameters.entry(number);
        Some(Arc::clone(name.or_insert_with(|| shortened(module.text(declared.name)).into())))
    }

    fn shared(&mut self, offset: u64) -> Option<(Arc<str>, u64)> {
        let has_it = |of: &&SharedVariable| offset.wrapping_sub(of.offset) < of.bytes;
        let variable = self.shared.iter().find(has_it)?;
        let module = self.written.module;
        let name = shortened(module.text(module.declaration(variable.id)?.name));
        Some((Arc::from(&*name), offset - variable.offset))
    }

    fn dynamic(&self) -> u64 {
        self.dynamic
    }
}
