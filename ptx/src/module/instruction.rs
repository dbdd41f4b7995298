//! The instructions of a module. [`Instruction`] is compact and refers to lists that the module keeps for all
//! statements; [`PtxInstruction`] is the view with everything resolved.

use std::num::NonZeroU32;

use super::scopes::StatementId;
use crate::module::{
    CodeLocation, Function, Module, ScopeId, SourceFile, SourceLocation, Statement, StatementKind,
};
use crate::syntax::load::{FormId, Opcode, PtxInstruction, PtxLoad};
use crate::syntax::operand::{OperandFault, OperandRange};
use crate::syntax::types::LATEST;
use crate::syntax::words::Words;
use crate::syntax::{Span, SyntaxError, Target, Version};

/// An instruction of any kind; [`Module::instruction`] returns its qualifiers and operands.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Instruction {
    /// The opcode.
    pub opcode: Opcode,
    /// The error of the statement, if it has one; see [`Module::statement_error`].
    pub fault: Option<FaultId>,
    form: FormId,
    /// The first byte of the opcode.
    start: u32,
    operands: OperandRange,
    /// The index of the guard in the module's list plus 1, so that `None` takes no room.
    guard: Option<NonZeroU32>,
    /// Whether all operands could be read.
    is_whole: bool,
}

/// `@%p` or `@!%p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardPredicate {
    /// The predicate's name.
    pub register: Span,
    /// Whether the guard is negated, as in `@!%p`.
    pub is_negated: bool,
}

/// The index of a statement's error in its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultId(u32);

impl FaultId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// An error in a statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatementFault {
    error: SyntaxError,
    /// The end of the word before the error.
    after: u32,
}

impl<'s> Module<'s> {
    /// Returns a statement's instruction with its qualifiers and operands; `None` for other statements.
    #[must_use]
    pub fn instruction(&self, id: StatementId) -> Option<PtxInstruction<'_>> {
        let statement = self.statements.get(id.index())?;
        match &statement.kind {
            StatementKind::Instruction(instruction) => self.written(id, statement, instruction),
            _ => None,
        }
    }

    /// Returns the load of a statement; `None` for other statements.
    #[must_use]
    pub fn load(&self, id: StatementId) -> Option<PtxLoad<'_>> {
        let statement = self.statements.get(id.index())?;
        match &statement.kind {
            StatementKind::Instruction(instruction) if instruction.opcode.is_load() => {
                self.written(id, statement, instruction)
            }
            _ => None,
        }
    }

    /// Returns every load of the module, in the order of the text.
    pub fn loads(&self) -> impl Iterator<Item = PtxLoad<'_>> {
        (0..self.statements.len() as u32).filter_map(|id| self.load(StatementId(id)))
    }

    /// Returns the instructions of one function, in the order of the text.
    pub fn instructions<'m>(
        &'m self,
        function: &Function,
    ) -> impl Iterator<Item = PtxInstruction<'m>> + use<'m, 's> {
        self.statement_ids(function).filter_map(|id| self.instruction(id))
    }

    /// Returns the ids of a function's statements.
    pub fn statement_ids(&self, function: &Function) -> impl Iterator<Item = StatementId> + use<> {
        function.body.clone().unwrap_or(0..0).map(|place| StatementId(place as u32))
    }

    fn written(
        &self,
        id: StatementId,
        statement: &Statement,
        instruction: &Instruction,
    ) -> Option<PtxInstruction<'_>> {
        let form = self.forms.get(instruction.form)?;
        Some(PtxInstruction {
            id,
            span: statement.span,
            scope: statement.scope,
            opcode: instruction.opcode,
            opcode_span: form.opcode_span(instruction.start),
            guard: self.guard(instruction),
            operands: self.arena.operands(instruction.operands),
            fault: self.fault(instruction).map(|fault| fault.error),
            is_whole: instruction.is_whole,
            form_id: instruction.form,
            form,
            arena: &self.arena,
        })
    }

    fn guard(&self, instruction: &Instruction) -> Option<GuardPredicate> {
        self.guards.get(instruction.guard?.get() as usize - 1).copied()
    }

    fn fault(&self, instruction: &Instruction) -> Option<&StatementFault> {
        self.faults.get(instruction.fault?.index())
    }

    /// Returns the error of a statement.
    #[must_use]
    pub fn statement_error(&self, id: FaultId) -> Option<SyntaxError> {
        self.faults.get(id.index()).map(|fault| fault.error)
    }

    /// Returns the place of a statement in the user's source: the last `.loc` before it in the same function. From code
    /// that is inlined from another file, such as a header, `inlined_at` is followed outward to the file of the function
    /// itself; [`Self::inlined_location`] is then the place of the code. `None` as well if the line is 0, which compilers
    /// write for code without a line.
    #[must_use]
    pub fn location(&self, id: StatementId) -> Option<SourceLocation> {
        self.code_location(id).map(|location| location.user).filter(|location| location.line > 0)
    }

    /// Returns the place of a statement that is inlined from another file, in that file; `None` for other statements.
    #[must_use]
    pub fn inlined_location(&self, id: StatementId) -> Option<SourceLocation> {
        let CodeLocation { user, inner, .. } = self.code_location(id)?;
        (inner != user && inner.line > 0).then_some(inner)
    }

    /// Returns the line of the call around a statement that is inlined from the file of its kernel; `None` for other
    /// statements.
    #[must_use]
    pub fn call_line(&self, id: StatementId) -> Option<u32> {
        self.code_location(id)?.call
    }

    /// Returns the name of a `.file`, with its folder if it has one.
    #[must_use]
    pub fn file_name(&self, file: u32) -> Option<String> {
        let SourceFile { folder, name } = self.files.get(&file)?;
        let name = self.text(*name).trim_matches('"');
        let folder = folder.map(|folder| self.text(folder).trim_matches('"'));
        Some(match folder.filter(|folder| !folder.is_empty() && !name.starts_with('/')) {
            Some(folder) => format!("{folder}/{name}"),
            None => name.to_owned(),
        })
    }

    fn code_location(&self, id: StatementId) -> Option<CodeLocation> {
        let before = self.locations.partition_point(|location| location.0 <= id);
        let (place, location) = *self.locations.get(before.checked_sub(1)?)?;
        // A `.loc` of another function does not apply.
        let function = self.function_of(self.statements.get(id.index())?.scope)?;
        function.body.as_ref()?.contains(&place.index()).then_some(location)
    }

    /// The end of the word before the error of an instruction.
    pub(crate) fn before_fault(&self, id: StatementId) -> Option<u32> {
        match &self.statements.get(id.index())?.kind {
            StatementKind::Instruction(instruction) => Some(self.fault(instruction)?.after),
            _ => None,
        }
    }

    /// Keeps an error.
    pub(super) fn add_fault(&mut self, error: SyntaxError, after: u32) -> FaultId {
        // Each error takes at least a byte of text, so a text of 4 GiB cannot overflow the index.
        let id = FaultId(self.faults.len() as u32);
        self.faults.push(StatementFault { error, after });
        id
    }

    /// Reads the rest of an instruction up to its semicolon; guard, opcode and qualifiers are already taken. A fault
    /// tells where its operands could not be read.
    pub(super) fn read_instruction(
        &mut self,
        words: &mut Words<'s>,
        written: Span,
        guard: Option<GuardPredicate>,
        is_in_body: bool,
    ) -> (Instruction, Option<OperandFault>) {
        let form = self.forms.at(self.source, written);
        let known = self.forms.get(form);
        let opcode = known.map_or(Opcode::Unknown, |form| form.opcode);
        let surplus = known.and_then(|form| form.surplus(written.start));
        let (operands, fault) = match surplus {
            Some(span) => {
                let error = SyntaxError { expected: "fewer qualifiers", span };
                let fault = OperandFault { error, is_in_braces: false };
                (OperandRange::default(), Some(fault))
            }
            None => {
                let (operands, result) = self.arena.read(words, opcode.is_load(), is_in_body);
                (operands, result.err())
            }
        };
        let (start, is_whole) = (written.start, fault.is_none());
        let guard = guard.and_then(|guard| {
            self.guards.push(guard);
            NonZeroU32::new(self.guards.len() as u32)
        });
        let instruction =
            Instruction { guard, opcode, fault: None, form, start, operands, is_whole };
        (instruction, fault)
    }

    /// Makes a module that holds a single load and no directives. The first word of the load is current. The second
    /// result is the span of opcode and qualifiers.
    pub(crate) fn of_load(
        source: &'s str,
        start: Span,
        guard: Option<GuardPredicate>,
        words: &mut Words<'s>,
    ) -> (Self, Span) {
        let mut module = Self::new(source, LATEST, Target::EARLIEST);
        let written = words.take_qualified();
        let (mut instruction, fault) = module.read_instruction(words, written, guard, false);
        let after = words.taken();
        if let Some(fault) = fault {
            instruction.fault = Some(module.add_fault(fault.error, after));
        }
        let span = Span { start: start.start, end: after };
        let kind = StatementKind::Instruction(instruction);
        module.statements.push(Statement { span, scope: ScopeId::MODULE, kind });
        (module, written)
    }

    /// Marks the second operand of a load as an address, because PTX 1.0 and 1.1 have no brackets.
    pub(super) fn bracket_address(&mut self, instruction: &Instruction) {
        if instruction.opcode == Opcode::Ld && self.version < BRACKETED_ADDRESSES {
            self.arena.bracket_address(instruction.operands);
        }
    }
}

/// The first version that writes addresses in brackets.
const BRACKETED_ADDRESSES: Version = Version::new(1, 2);
