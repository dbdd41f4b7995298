//! The rules for legal loads, from the descriptions of `ld`, `ld.global.nc` and `tcgen05.ld` in the PTX ISA. Where an
//! assembler (ptxas 12.9 up to PTX 8.8, 13.5 up to 9.5) decides otherwise, its verdict counts. docs/ptx.md lists the
//! rules.

mod address;
mod cache;
mod combinations;
mod declarations;
mod destination;
mod gates;
mod judged;
mod opcodes;
mod order;
mod param;
mod qualifiers;
mod tensor;
mod violation;

use std::cell::Cell;
use std::collections::HashSet;

use self::judged::{Findings, Judged};
pub use self::violation::{Rule, StatementVerdict, Unit, Violation};
use crate::module::{DeclarationId, Module, Statement, StatementId, StatementKind};
use crate::syntax::load::{COMMA_OR_SEMICOLON, FormId, QualifierKind};
use crate::syntax::{Opcode, ScalarType, Span, SyntaxError, Target, Version};

/// A feature of later versions or higher targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Feature {
    /// Its name in messages.
    pub name: &'static str,
    /// The first version that has it; `None` for all.
    pub version: Option<Version>,
    /// The lowest target that has it; `None` for all.
    pub sm: Option<u32>,
}

/// Returns the features of `ld` and of declarations that need a version or a target.
pub fn features() -> impl Iterator<Item = Feature> {
    let loads = gates::GATES.into_iter().map(|(name, version, sm, _)| (name, version, sm));
    let declared =
        declarations::GATES.into_iter().map(|(name, version, sm, _)| (name, version, sm));
    loads.chain(declared).map(|(name, version, sm)| {
        let version = version.map(|(major, minor)| Version::new(major, minor));
        Feature { name, version, sm }
    })
}

/// Judges the loads of a module as a whole program, in the order of the text.
///
/// ```
/// let source = ".version 8.8\n.target sm_75\n.address_size 64
/// .visible .entry k() {
///     .reg .b64 %rd<2>; .reg .b32 %r<2>;
///     ld.global.L2::256B.u32 %r1, [%rd1];
/// }";
/// let module = warpload_ptx::read(source)?;
/// let verdict = warpload_ptx::check(&module).next().expect("a load");
/// let violation = &verdict.violations[0];
/// assert_eq!(violation.rule.name(), "needs-target");
/// assert_eq!(violation.message, "`.L2::256B` needs `.target sm_80` or higher");
/// assert_eq!(violation.help.as_deref(), Some("this module has `.target sm_75`"));
/// # Ok::<(), warpload_ptx::ReadError>(())
/// ```
pub fn check<'m>(module: &'m Module<'_>) -> impl Iterator<Item = StatementVerdict<'m>> + use<'m> {
    check_as(module, Unit::Program)
}

/// Judges the loads of a module as a program or as a part of one.
pub fn check_as<'m>(
    module: &'m Module<'_>,
    unit: Unit,
) -> impl Iterator<Item = StatementVerdict<'m>> + use<'m> {
    let mut memory = CheckMemory::default();
    let statements = (0_u32..).map(StatementId).zip(module.statements());
    let of_statements = statements
        .filter_map(move |(id, statement)| judge(module, unit, id, statement, &mut memory));
    merge(declarations::check(module, unit).into_iter(), of_statements)
}

/// Merges two sequences of verdicts in the order of the text.
fn merge<'m>(
    a: impl Iterator<Item = StatementVerdict<'m>>,
    b: impl Iterator<Item = StatementVerdict<'m>>,
) -> impl Iterator<Item = StatementVerdict<'m>> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || {
        let Some(first) = a.peek() else { return b.next() };
        let is_first = b.peek().is_none_or(|next| first.span.start < next.span.start);
        if is_first { a.next() } else { b.next() }
    })
}

/// State kept between statements.
#[derive(Default)]
struct CheckMemory {
    /// The variables that calls so far return in.
    returned: HashSet<DeclarationId>,
    sound: SoundForms,
}

/// Forms known to be legal for a target, whatever the operands, so that each is judged once. A module has few forms,
/// and nearly always one target.
#[derive(Default)]
struct SoundForms {
    target: Option<Target>,
    /// Indexed by [`FormId`].
    is_sound: Vec<bool>,
}

impl SoundForms {
    fn contains(&self, form: FormId, target: Target) -> bool {
        self.target == Some(target) && self.is_sound.get(form.index()).copied().unwrap_or(false)
    }

    fn add(&mut self, form: FormId, target: Target) {
        if self.target != Some(target) {
            self.target = Some(target);
            self.is_sound.clear();
        }
        if self.is_sound.len() <= form.index() {
            self.is_sound.resize(form.index() + 1, false);
        }
        self.is_sound[form.index()] = true;
    }
}

/// Judges one statement.
fn judge<'m>(
    module: &'m Module<'_>,
    unit: Unit,
    id: StatementId,
    statement: &Statement,
    memory: &mut CheckMemory,
) -> Option<StatementVerdict<'m>> {
    let instruction = match &statement.kind {
        StatementKind::Instruction(instruction) => instruction,
        StatementKind::Malformed(fault) => {
            let error = module.statement_error(*fault)?;
            let mut findings = Findings::new(module, statement.scope);
            findings.syntax(error);
            return Some(StatementVerdict::of_statement(id, statement.span, findings.violations));
        }
        _ => return None,
    };
    if !instruction.opcode.is_load() {
        if instruction.opcode == Opcode::Call {
            note_call(module, id, &mut memory.returned);
        }
        if opcodes::is_plain(instruction) {
            return None;
        }
        let mut findings = Findings::new(module, statement.scope);
        opcodes::check(module, &module.instruction(id)?, &mut findings);
        let verdict = StatementVerdict::of_statement(id, statement.span, findings.violations);
        return Some(verdict).filter(|verdict| !verdict.is_legal());
    }
    let load = module.load(id)?;
    let findings = Findings::new(module, statement.scope);
    let function = module.function_of(load.scope);
    // The default is an empty span, which no name has.
    let recent = Cell::default();
    let CheckMemory { returned, sound } = memory;
    let mut judged = Judged { module, unit, load: &load, function, returned, findings, recent };
    let mut span = statement.span;
    match load.fault {
        // Operands after the error were not read, so no rule applies to them.
        Some(error) => {
            check_qualifiers(&mut judged, sound);
            let end = missing_semicolon(module, id, error);
            span.end = end.unwrap_or(span.end);
            let place = end.map_or(error.span, Span::empty_at);
            judged.findings.syntax(SyntaxError { span: place, ..error });
        }
        None => check_load(&mut judged, sound),
    }
    let mut violations = judged.findings.violations;
    violations.sort_by_key(|violation| violation.span.start);
    Some(StatementVerdict { span, load: Some(load), statement: Some(id), violations })
}

/// The place of a missing semicolon: the end of the last word on its line, if the word at fault is on a later line.
fn missing_semicolon(module: &Module<'_>, id: StatementId, error: SyntaxError) -> Option<u32> {
    let end = module.before_fault(id).filter(|_| error.expected == COMMA_OR_SEMICOLON)?;
    let between = module.text(Span { start: end, end: error.span.start });
    between.contains('\n').then_some(end)
}

/// Records the variables that a call returns in, as in `call (a, b), f, (c);`.
fn note_call(module: &Module<'_>, id: StatementId, returned: &mut HashSet<DeclarationId>) {
    let Some(call) = module.instruction(id) else { return };
    let names = call.call().returns.iter().filter_map(|element| element.name());
    let symbols = names.filter_map(|name| module.find_at(call.scope, name));
    returned.extend(symbols.map(|symbol| symbol.id));
}

fn check_load(judged: &mut Judged<'_>, sound: &mut SoundForms) {
    check_qualifiers(judged, sound);
    match judged.load.opcode {
        Opcode::Ld => {
            cache::check(judged);
            destination::check(judged);
            address::check(judged);
            param::check(judged);
        }
        _ => tensor::check(judged),
    }
}

/// Judges all but the operands. If the error is before the first operand, some qualifiers may not have been read
/// either.
fn check_qualifiers(judged: &mut Judged<'_>, sound: &mut SoundForms) {
    guard(judged);
    address_size(judged);
    if judged.load.fault.is_some() && judged.load.operands.is_empty() {
        return;
    }
    let is_ld = judged.load.opcode == Opcode::Ld;
    let is_sound = sound.contains(judged.load.form_id, judged.findings.target);
    if is_sound {
        if is_ld {
            gates::check(judged, true);
        }
        return;
    }
    let before = judged.findings.violations.len();
    qualifiers::check(judged);
    if is_ld {
        gates::check(judged, false);
        combinations::check(judged);
        order::check(judged);
    } else {
        gates::check_tensor(judged);
    }
    if judged.findings.violations.len() == before {
        sound.add(judged.load.form_id, judged.findings.target);
    }
}

/// The guard must be a `.pred` register. [PTX ISA, Predicated Execution]
fn guard(judged: &mut Judged<'_>) {
    let Some(guard) = judged.load.guard else { return };
    let special = judged.special(guard.register).filter(|found| found.scalar == ScalarType::Pred);
    if let Some(special) = special {
        return judged.needs_special(guard.register, special);
    }
    if judged.register(guard.register).is_none_or(|register| register.scalar != ScalarType::Pred) {
        let help = "a guard is a register of type `.pred`";
        judged.no(Rule::Guard, guard.register, "predicate register", help);
    }
}

/// Current assemblers do not compile for 32-bit addresses.
fn address_size(judged: &mut Judged<'_>) {
    if let Some(size) = judged.module.address_size.filter(|size| size.bits == 32) {
        let message = "32-bit addresses are no longer supported";
        judged.add(Rule::AddressSize, size.span, message, "`.address_size 64`");
    }
}

/// Builds the tables that are otherwise built on first use, when other threads would wait for them. See
/// [`warpload::initialize`].
pub fn initialize() {
    // This also draws the seeds of the hash maps.
    Opcode::initialize();
    QualifierKind::initialize();
}
