//! Functions declared twice or differently, and calls of undefined functions.

use std::collections::HashSet;
use std::collections::hash_map::Entry;

use crate::module::{
    Declaration, Function, FunctionKind, Linkage, Module, NameHash, NameMap, ScopeId, StatementId,
    StatementKind,
};
use crate::rules::judged::Findings;
use crate::rules::violation::{Rule, Unit};
use crate::syntax::load::{OperandKind, PtxInstruction};
use crate::syntax::{Opcode, Span};

/// Functions built into the assembler; their parameters are not checked. [an assembler's verdicts]
const BUILT_IN: [&str; 4] = ["__assertfail", "free", "malloc", "vprintf"];

/// The prefix of further built-in functions.
const BUILT_IN_PREFIX: &str = "__cuda_syscall_";

/// The state of a function over all its declarations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'m> {
    first: &'m Function,
    has_body: bool,
    is_built_in: bool,
}

/// The functions of a module by their names.
pub(super) type Functions<'m> = NameMap<&'m str, Known<'m>>;

impl Known<'_> {
    /// Whether the function is declared before a place.
    pub(super) fn is_before(&self, place: Span) -> bool {
        self.first.name.start < place.start
    }

    /// Whether the function has no definition.
    pub(super) fn is_open(&self) -> bool {
        !self.has_body && !self.is_built_in
    }
}

/// Judges every function against its first declaration.
pub(super) fn functions<'m>(module: &'m Module<'_>, findings: &mut Findings) -> Functions<'m> {
    let mut functions = Functions::default();
    for function in module.functions() {
        let text = module.text(function.name);
        let has_body = function.body.is_some();
        if has_body && function.linkage == Linkage::Extern {
            redefined(findings, function.name, format!("`{text}` is `.extern` and has a body"));
        }
        match functions.entry(text) {
            Entry::Vacant(entry) => {
                let is_built_in = BUILT_IN.contains(&text) || text.starts_with(BUILT_IN_PREFIX);
                entry.insert(Known { first: function, has_body, is_built_in });
            }
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                if known.has_body {
                    duplicate(findings, function.name, text, "function");
                } else if let Some(difference) = difference(module, known.first, function) {
                    let message = format!("`{text}` was declared {difference}");
                    redefined(findings, function.name, message);
                }
                known.has_body |= has_body;
            }
        }
        if let Some(id) = module.names.first(None, ScopeId::MODULE, text, false) {
            let variable = module.declaration(id).map_or(function.name, |known| known.name);
            if variable.start > function.name.start {
                duplicate(findings, variable, text, "function");
            } else {
                duplicate(findings, function.name, text, "variable");
            }
        }
    }
    for alias in &module.aliases {
        if let Some(known) = functions.get_mut(module.text(*alias)) {
            known.has_body = true;
        }
    }
    for known in functions.values() {
        // A missing `.extern` function is an error only where it is used, and only in a whole program.
        if known.is_open() && known.first.linkage != Linkage::Extern {
            unresolved(module, findings, known.first.name);
        }
    }
    functions
}

/// The difference between a later declaration and the first one.
fn difference(module: &Module<'_>, first: &Function, later: &Function) -> Option<&'static str> {
    let is_kept = first.linkage == later.linkage
        || (later.linkage == Linkage::Internal
            && matches!(first.linkage, Linkage::Visible | Linkage::Weak));
    if first.kind != later.kind {
        return Some(match first.kind {
            FunctionKind::Entry => "as `.entry`",
            FunctionKind::Func => "as `.func`",
        });
    }
    if !is_kept {
        return Some("with another linkage");
    }
    let of = |range: &std::ops::Range<usize>| {
        module.declarations().get(range.clone()).unwrap_or_default()
    };
    let are_alike = |first: &[Declaration], later: &[Declaration]| {
        first.len() == later.len() && first.iter().zip(later).all(|(a, b)| is_alike(a, b))
    };
    if !are_alike(of(&first.parameters), of(&later.parameters)) {
        return Some("with other parameters");
    }
    (!are_alike(of(&first.returns), of(&later.returns))).then_some("with another result")
}

fn is_alike(a: &Declaration, b: &Declaration) -> bool {
    let key = |of: &Declaration| (of.space, of.scalar, of.vector, of.array, of.alignment());
    key(a) == key(b)
}

pub(super) fn redefined(findings: &mut Findings, place: Span, message: String) {
    let help = "all declarations of a name must agree";
    findings.add(Rule::Redefinition, place, message, help);
}

pub(super) fn duplicate(findings: &mut Findings, place: Span, name: &str, what: &str) {
    let message = format!("`{name}` is already the name of a {what}");
    findings.add(Rule::DuplicateName, place, message, "give one of them another name");
}

fn unresolved(module: &Module<'_>, findings: &mut Findings, name: Span) {
    let message = format!("the function `{}` is not defined", module.text(name));
    let help = "define it; only a module that is linked with others can leave it `.extern`";
    findings.add(Rule::UnresolvedFunction, name, message, help);
}

/// Judges labels and calls.
pub(super) fn statements(
    module: &Module<'_>,
    unit: Unit,
    functions: &Functions<'_>,
    findings: &mut Findings,
) {
    let has_open = unit == Unit::Program && functions.values().any(Known::is_open);
    let mut labels: HashSet<(ScopeId, &str), NameHash> = HashSet::default();
    for (id, statement) in (0_u32..).map(StatementId).zip(module.statements()) {
        match &statement.kind {
            StatementKind::Label(name) => {
                let text = module.text(*name);
                let function = module.function_id(statement.scope);
                let variable = module.names.first(function, statement.scope, text, false);
                let is_variable = function.is_some() && variable.is_some();
                if !labels.insert((statement.scope, text)) || is_variable {
                    let what = if is_variable { "variable" } else { "label" };
                    duplicate(findings, *name, text, what);
                }
            }
            StatementKind::Instruction(instruction) => match instruction.opcode {
                Opcode::Call => {
                    if let Some(instruction) = module.instruction(id) {
                        call(module, &instruction, (unit, functions), findings);
                    }
                }
                Opcode::Mov if has_open => {
                    let Some(mov) = module.instruction(id) else { continue };
                    for name in mov.names() {
                        let known = functions.get(module.text(name));
                        let is_open = known.is_some_and(Known::is_open);
                        if is_open && module.find_at(statement.scope, name).is_none() {
                            unresolved(module, findings, name);
                        }
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
}

/// Judges `call (r), f, (a);`. The callee is a register, or a function declared before.
fn call(
    module: &Module<'_>,
    call: &PtxInstruction<'_>,
    (unit, functions): (Unit, &Functions<'_>),
    findings: &mut Findings,
) {
    let callee = call.call().callee.filter(|of| of.kind == OperandKind::Name);
    let Some(name) = callee.map(|of| of.span) else { return };
    if module.find_at(call.scope, name).is_some() {
        return;
    }
    let text = module.text(name);
    match functions.get(text) {
        Some(known) if known.is_before(name) => {
            if known.first.kind == FunctionKind::Entry {
                let message = format!("`{text}` is a kernel");
                let help = "a call names a `.func` or a register";
                return findings.add(Rule::UnresolvedFunction, name, message, help);
            }
            // A missing prototype that is not `.extern` is reported already.
            let is_missed = known.is_open() && known.first.linkage == Linkage::Extern;
            if is_missed && unit == Unit::Program {
                unresolved(module, findings, name);
            }
        }
        _ => {
            let message = format!("`{text}` is not declared here");
            let help = "a call names a function that is declared before it, or a register";
            findings.add(Rule::UnresolvedFunction, name, message, help);
        }
    }
}
