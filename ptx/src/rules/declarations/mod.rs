//! Rules for the module around its loads: declarations of variables, parameters, registers and functions, duplicate
//! names, and directives.

mod functions;
mod initial;

use functions::Functions;

use self::functions::{duplicate, redefined};
use super::address::{is_unresolved, needs_linker};
use super::judged::{Findings, Gate, target_in};
use super::violation::{Rule, StatementVerdict, Unit, Violation};
use crate::module::{
    Array, Declaration, DeclarationId, FunctionKind, Linkage, Mistake, MistakeKind, Module, Role,
    ScopeId,
};
use crate::syntax::types::{KERNEL_PARAMETER_LISTS, LATER_ASSEMBLER, LATEST};
use crate::syntax::{Lexer, ScalarType, Span, StateSpace, TokenKind, Version};

/// A test whether a declaration uses a feature.
type IsUsed = fn(&Declaration) -> bool;

/// [PTX ISA, "State Spaces, Types, and Variables", and an assembler's verdicts]
pub(super) const GATES: [Gate<IsUsed>; 7] = [
    ("an opaque type", Some((1, 5)), None, |declared| {
        declared.scalar.is_opaque() && declared.array == Array::Single
    }),
    (WEAK, Some((3, 1)), None, |declared| declared.linkage == Linkage::Weak),
    ("the attribute `.managed`", Some((4, 0)), Some(30), |declared| declared.is_managed),
    ("the type `.f16x2`", Some((4, 2)), Some(53), |declared| declared.scalar == ScalarType::F16x2),
    ("`.common`", Some((5, 0)), None, |declared| declared.linkage == Linkage::Common),
    ("the attribute `.unified`", Some((8, 0)), Some(90), |declared| declared.is_unified),
    ("the type `.b128`", Some((8, 3)), Some(70), |declared| declared.scalar == ScalarType::B128),
];

/// The name of a feature that functions share with variables.
const WEAK: &str = "`.weak` before a declaration";

/// The number of banks that `.const[n]` can name.
const CONST_BANKS: u64 = 11;

/// The first version without `.const[n]`.
const NO_CONST_BANKS: Version = Version::new(2, 2);

/// The first version without an option to turn the ABI off: from it on, registers and local variables belong to
/// functions.
const ABI_ALONE: Version = Version::new(3, 0);

/// The first version with calls that pass parameters in `.param`.
const FUNCTION_PARAMETERS: (u8, u8) = (2, 0);

/// The most violations of declarations and directives to keep. A message takes a hundred times as much memory as the
/// text that it can be about.
const MAX_KEPT: usize = 100;

/// Judges all declarations. Only illegal ones have a verdict, in the order of the text. After [`MAX_KEPT`] a last one
/// counts the others.
pub(super) fn check(module: &Module<'_>, unit: Unit) -> Vec<StatementVerdict<'static>> {
    let mut findings = Findings { most: MAX_KEPT, ..Findings::new(module, ScopeId::MODULE) };
    top(module, &mut findings);
    not_ascii(module, &mut findings);
    for mistake in &module.mistakes {
        misplaced(module, mistake, &mut findings);
    }
    let functions = functions::functions(module, &mut findings);
    for (id, declared) in module.declarations_with_ids() {
        findings.target = target_in(module, declared.scope);
        let functions = &functions;
        let mut judged = Judged { module, unit, declared, functions, findings: &mut findings };
        judged.name(id);
        judged.space();
        judged.gates();
        judged.linkage(id);
        judged.length();
        judged.bank();
        judged.parameter();
        judged.initial();
    }
    for function in module.functions() {
        if function.linkage == Linkage::Weak {
            findings.needs(WEAK, Some((3, 1)), None, function.name);
        }
        if function.kind == FunctionKind::Entry && function.body.is_none() {
            findings.needs("a kernel's prototype", Some((3, 0)), None, function.name);
        }
        if function.kind == FunctionKind::Entry && !function.parameters.is_empty() {
            let feature = "a list of parameters after a kernel's name";
            findings.needs_version(feature, KERNEL_PARAMETER_LISTS, function.name);
        }
    }
    functions::statements(module, unit, &functions, &mut findings);
    findings.violations.sort_by_key(|violation| violation.span.start);
    if let (1.., Some(last)) = (findings.further, findings.violations.last()) {
        let message =
            format!("and {} more errors in declarations and directives", findings.further);
        let span = last.span;
        findings.violations.push(Violation { rule: Rule::Declaration, span, message, help: None });
    }
    let verdict = |violation: Violation| StatementVerdict {
        span: violation.span,
        load: None,
        statement: None,
        violations: vec![violation],
    };
    findings.violations.into_iter().map(verdict).collect()
}

/// Judges `.address_size`, and `debug` after `.target`.
fn top(module: &Module<'_>, findings: &mut Findings) {
    if let Some(size) = module.address_size {
        findings.needs("`.address_size`", Some((2, 3)), None, size.span);
    }
    let Some(debug) = module.debug else { return };
    findings.needs("`debug`", Some((3, 0)), None, debug);
    if !module.has_sections {
        let message = "`debug` in a module without debug information";
        let help = "remove `debug`, or add the `.section` directives";
        findings.add(Rule::Declaration, debug, message, help);
    }
}

/// Reports a mistake found by the reader.
fn misplaced(module: &Module<'_>, mistake: &Mistake, findings: &mut Findings) {
    let text = module.text(mistake.span);
    let (message, help) = match mistake.kind {
        MistakeKind::Version => {
            ("a second `.version`".to_owned(), "a module has one, at its start")
        }
        MistakeKind::Target => (
            "`.target` after other directives".to_owned(),
            "write it after `.version` or another `.target`",
        ),
        MistakeKind::AddressSize => (
            "`.address_size` is misplaced or repeated".to_owned(),
            "write it once, after `.target`",
        ),
        MistakeKind::Option => (
            format!("`{text}` is not an option of `.target`"),
            "options are `texmode_unified`, `texmode_independent`, `debug` and targets",
        ),
        MistakeKind::TextureMode => {
            (format!("`{text}` beside the other texture mode"), "a module has one")
        }
        MistakeKind::Directive if module.version > LATEST => return,
        MistakeKind::Directive => (
            format!("`{text}` is not a directive that is valid here"),
            "remove it, or correct its name",
        ),
        MistakeKind::Linkage => (
            "`.extern`, `.visible`, `.weak` or `.common` before this".to_owned(),
            "they precede one variable, or one function except for `.common`",
        ),
        MistakeKind::Semicolon => ("a stray semicolon".to_owned(), "remove it"),
        MistakeKind::Alignment => {
            let message = format!("the alignment {text} is not a power of two");
            return findings.add(
                Rule::Alignment,
                mistake.span,
                message,
                "write 1, 2, 4, 8 and so on",
            );
        }
        MistakeKind::Word => (
            format!("`{text}` is misplaced in this declaration"),
            "the order is space, alignment and attributes, vector, type",
        ),
    };
    findings.add(Rule::Directive, mistake.span, message, help);
}

/// Reports a character that is not ASCII. From PTX 9.0 on comments may have such characters.
fn not_ascii(module: &Module<'_>, findings: &mut Findings) {
    let source = module.source();
    // `is_ascii` checks many bytes at a time, and nearly all modules pass.
    if source.is_ascii() {
        return;
    }
    let Some(first) = source.bytes().position(|byte| !byte.is_ascii()) else { return };
    let place = if module.version < LATER_ASSEMBLER {
        Some(first)
    } else {
        let mut texts = Lexer::new(source).filter(|token| token.kind == TokenKind::Quoted);
        texts.find_map(|token| {
            let at = module.text(token.span).bytes().position(|byte| !byte.is_ascii())?;
            Some(token.span.start as usize + at)
        })
    };
    let Some(start) = place else { return };
    let length = source.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    let span = Span { start: start as u32, end: (start + length) as u32 };
    let message = "a character that is not ASCII";
    findings.add(
        Rule::NonAscii,
        span,
        message,
        "only comments may have one, from `.version 9.0` on",
    );
}

/// A declaration with its context.
struct Judged<'j> {
    module: &'j Module<'j>,
    unit: Unit,
    declared: &'j Declaration,
    functions: &'j Functions<'j>,
    findings: &'j mut Findings,
}

impl<'j> Judged<'j> {
    fn text(&self) -> &'j str {
        self.module.text(self.declared.name)
    }

    fn add(&mut self, message: String, help: &str) {
        self.findings.add(Rule::Declaration, self.declared.name, message, help);
    }

    fn needs(&mut self, feature: &str, version: (u8, u8), sm: Option<u32>) {
        self.findings.needs(feature, Some(version), sm, self.declared.name);
    }

    fn gates(&mut self) {
        for (feature, version, sm, is_used) in GATES {
            if is_used(self.declared) {
                self.findings.needs(feature, version, sm, self.declared.name);
            }
        }
    }

    /// `.pred` is for registers. Registers and local variables belong to functions, parameters to parameter lists.
    fn space(&mut self) {
        let Declaration { space, role, scalar, .. } = *self.declared;
        let function = self.module.function_of(self.declared.scope);
        let (message, help) = match (space, role) {
            (StateSpace::Register | StateSpace::Local, Role::Module)
                if self.module.version >= ABI_ALONE =>
            {
                (
                    format!("`{}` is in `.{space}`, outside all functions", self.text()),
                    "declare it in a body",
                )
            }
            (StateSpace::Param, Role::Module) => {
                (format!("`{}` is in `.param`, outside all functions", self.text()), "use `.const`")
            }
            (StateSpace::Param, Role::Parameter | Role::Return) => (String::new(), ""),
            (_, Role::Parameter) if function.is_some_and(|of| of.kind == FunctionKind::Entry) => {
                (format!("`{}` is not in `.param`", self.text()), "a kernel's parameters are")
            }
            (space, Role::Parameter | Role::Return) if space != StateSpace::Register => (
                format!("`{}` is in `.{space}`", self.text()),
                "parameters are in `.param` or `.reg`",
            ),
            _ => (String::new(), ""),
        };
        if !message.is_empty() {
            self.findings.add(Rule::DeclarationSpace, self.declared.name, message, help);
        }
        if scalar == ScalarType::Pred && space != StateSpace::Register {
            let message = format!("`{}` is a `.pred` in `.{space}`", self.text());
            let help = "predicates are in `.reg`";
            self.findings.add(Rule::DeclarationSpace, self.declared.name, message, help);
        }
    }

    fn linkage(&mut self, id: DeclarationId) {
        if self.declared.linkage == Linkage::Common && self.declared.space != StateSpace::Global {
            let message = format!("`.common` on `{}`, which is not `.global`", self.text());
            self.add(message, "`.common` is only valid with `.global`");
        }
        let definition = self.module.names.definition(id);
        let defined = definition.and_then(|id| self.module.declaration(id));
        if let Some(defined) = defined.filter(|defined| defined.linkage == Linkage::Internal) {
            let message = format!(
                "`{}` was declared `.extern`, but its definition is not `.visible`",
                self.text()
            );
            let help = "write `.visible` before the definition";
            self.findings.add(Rule::Declaration, defined.name, message, help);
        }
        let Declaration { scope, count, .. } = *self.declared;
        let function = self.module.function_id(scope);
        let first = self.module.names.first(function, scope, self.text(), count.is_some());
        let is_defined = first.is_some_and(|first| {
            let before = self.module.declaration(first);
            before.is_some_and(|before| before.linkage != Linkage::Extern)
                || self.module.names.definition(first).is_some()
        });
        let is_open = is_unresolved(self.declared) && !is_defined;
        // Before PTX 2.2, an open constant array has a bank of its own, and needs no linker.
        let has_banks =
            self.declared.space == StateSpace::Const && self.module.version < NO_CONST_BANKS;
        let is_part = (is_open && !has_banks) || self.declared.is_unified;
        if self.unit == Unit::Program && is_part {
            needs_linker(self.module, self.findings, self.declared.name, is_open);
        }
    }

    /// An array needs a length in brackets or an initial value, unless it is `.extern`.
    fn length(&mut self) {
        let Declaration { space, role, array, linkage, initial, .. } = *self.declared;
        let is_variable = !matches!(space, StateSpace::Register | StateSpace::Param)
            && matches!(role, Role::Module | Role::Local);
        let is_open = array == Array::Of(0) || (array == Array::Unknown && initial.is_none());
        if is_variable && is_open && linkage != Linkage::Extern {
            let message = format!("`{}` has no length", self.text());
            self.add(message, "write it in the brackets, or add an initial value");
        }
    }

    /// `.const[n]`: before PTX 2.2, banks 1 to 10 are for `.extern` arrays without a length, and bank 0 is for all
    /// other constants.
    fn bank(&mut self) {
        if self.declared.space != StateSpace::Const {
            return;
        }
        let is_open = self.declared.linkage == Linkage::Extern
            && matches!(self.declared.array, Array::Unknown | Array::Of(0));
        let bank = self.declared.bank;
        if self.module.version >= NO_CONST_BANKS {
            if bank.is_some() {
                let message = format!("a bank for `{}`", self.text());
                self.add(message, "remove the bank: `.version 2.2` and later do not name banks");
            }
            return;
        }
        let bank = bank.unwrap_or(0);
        if bank > 0 {
            self.needs("a constant bank", (1, 5), None);
        }
        if bank >= CONST_BANKS {
            self.add(format!("there is no constant bank {bank}"), "banks are 0 to 10");
        }
        if (bank > 0) != is_open {
            let message = format!("`{}` in constant bank {bank}", self.text());
            self.add(message, "banks 1 to 10 are for `.extern` arrays without a length");
        }
    }

    /// `.param` belongs in the parameter list of a kernel, or in its body before PTX 1.4, and in functions from PTX 2.0
    /// on.
    fn parameter(&mut self) {
        if self.declared.space != StateSpace::Param {
            return;
        }
        let function = self.module.function_of(self.declared.scope);
        match (function.map(|function| function.kind), self.declared.role) {
            (Some(FunctionKind::Func), Role::Parameter | Role::Return) => {
                self.needs("a function's parameter in `.param`", FUNCTION_PARAMETERS, Some(20));
            }
            (Some(_), Role::Local) => self.needs("`.param` in a body", FUNCTION_PARAMETERS, None),
            _ => {}
        }
    }

    /// Judges the initial value. An error in its names or masks is reported alone.
    fn initial(&mut self) {
        let Some(initial) = self.declared.initial else { return };
        // A texture or a sampler initializes named fields, which are not judged.
        if self.declared.scalar.is_opaque() {
            return;
        }
        let before = self.findings.violations.len();
        self.names_in();
        if self.findings.violations.len() == before {
            self.initial_value(initial);
        }
    }

    /// Judges the names and masks of an initial value.
    fn names_in(&mut self) {
        let mut words = self.module.initial_tokens(self.declared).iter().peekable();
        let mut is_address = false;
        while let Some(token) = words.next() {
            let next = words.peek().map(|next| next.kind);
            let is_call = next == Some(TokenKind::Punctuation(b'('));
            match token.kind {
                TokenKind::Word => match self.module.text(token.span) {
                    "WARP_SZ" => {}
                    "generic" if is_call => self.needs("`generic()`", (3, 1), None),
                    _ if is_call => self.findings.add(
                        Rule::Syntax,
                        token.span,
                        "expected a value",
                        "one byte of an address is written with its mask: `0xff00(name)`",
                    ),
                    _ => is_address |= self.is_symbol(token.span),
                },
                TokenKind::Number if is_call => {
                    self.needs("a mask in an initial value", (7, 1), None);
                }
                _ => {}
            }
        }
        if is_address {
            self.needs("an address as initial value", (2, 1), None);
        }
    }

    /// Whether a name in an initial value is a variable or a function. Reports it if not.
    fn is_symbol(&mut self, name: Span) -> bool {
        let text = self.module.text(name);
        let is_known = self.module.find_at(self.declared.scope, name).is_some()
            || self.functions.get(text).is_some_and(|known| known.is_before(name));
        if !is_known {
            let message = format!("`{text}` is not declared here");
            let help = "an initial value is a constant, a variable or a function";
            self.findings.add(Rule::Declaration, name, message, help);
        }
        is_known
    }
}

impl Judged<'_> {
    /// Reports a name that an earlier declaration of the same scope has.
    pub(super) fn name(&mut self, id: DeclarationId) {
        let Declaration { scope, count, .. } = *self.declared;
        let function = self.module.function_id(scope);
        let has_names = self.module.function_of(scope).is_none_or(|known| known.body.is_some());
        let text = self.module.text(self.declared.name);
        let first = self.module.names.first(function, scope, text, count.is_some());
        let Some(first) = first.filter(|_| has_names) else { return };
        if first != id {
            self.again(first, id);
        } else if count.is_none()
            && let Some(run) = self.module.run_around(scope, self.declared.name)
        {
            let text = self.module.text(run);
            duplicate(self.findings, self.declared.name, self.text(), &format!("run `{text}<..>`"));
        }
    }

    /// Judges a second declaration of a name. It is legal if one of the two is `.extern` and the types agree.
    fn again(&mut self, first: DeclarationId, id: DeclarationId) {
        let Some(before) = self.module.declaration(first) else { return };
        let declared = self.declared;
        let is_extern = |of: &Declaration| of.linkage == Linkage::Extern;
        let defined = self.module.names.definition(first);
        let is_second = is_extern(before)
            && !is_extern(declared)
            && defined.is_some_and(|defined| defined != id);
        if (!is_extern(before) && !is_extern(declared)) || is_second {
            return duplicate(self.findings, declared.name, self.text(), "variable");
        }
        let of = |declared: &Declaration| (declared.scalar, declared.vector);
        if of(before) != of(declared) || !self.has_dimensions_of(before) {
            let message = format!("`{}` was declared with another type", self.text());
            redefined(self.findings, declared.name, message);
        }
    }

    /// Whether two declarations have the same dimensions. The first dimension may be open in either.
    fn has_dimensions_of(&self, before: &Declaration) -> bool {
        let is_array = |of: &Declaration| of.array != Array::Single;
        if !is_array(before) && !is_array(self.declared) {
            return true;
        }
        let mut here = self.module.dimensions(self.declared).to_vec();
        let mut there = self.module.dimensions(before).to_vec();
        if let ([a, ..], [b, ..]) = (&mut here[..], &mut there[..])
            && (*a == 0 || *b == 0)
        {
            (*a, *b) = (0, 0);
        }
        here == there
    }
}
