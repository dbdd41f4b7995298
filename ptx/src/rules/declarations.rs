//! What is wrong with a module around its loads: the declarations of the variables, parameters
//! and registers that loads name, and the directives at the top.

use super::address::is_unresolved;
use super::gates::{needs_target, needs_version};
use super::{Findings, Rule, Unit, Verdict, Violation};
use crate::module::{
    Array, Declaration, DeclarationId, Function, FunctionKind, Linkage, Module, Role,
};
use crate::syntax::types::KERNEL_PARAMETER_LISTS;
use crate::syntax::{Lexer, ScalarType, Span, StateSpace, Target, TokenKind, Version};

/// A kind of declaration, and from which `.version` and `.target` on it can be used.
struct Gate {
    feature: &'static str,
    version: (u8, u8),
    sm: Option<u32>,
    is_used: fn(&Declaration) -> bool,
}

/// [PTX ISA, "State Spaces, Types, and Variables", and an assembler's verdicts]
const GATES: [Gate; 7] = [
    Gate {
        feature: "an opaque type",
        version: (1, 5),
        sm: None,
        is_used: |declared| {
            declared.scalar == ScalarType::Opaque && declared.array == Array::Single
        },
    },
    Gate {
        feature: "`.weak` before a declaration",
        version: (3, 1),
        sm: None,
        is_used: |declared| declared.linkage == Linkage::Weak,
    },
    Gate {
        feature: "the attribute `.managed`",
        version: (4, 0),
        sm: Some(30),
        is_used: |declared| declared.is_managed,
    },
    Gate {
        feature: "the type `.f16x2`",
        version: (4, 2),
        sm: Some(53),
        is_used: |declared| declared.scalar == ScalarType::F16x2,
    },
    Gate {
        feature: "`.common`",
        version: (5, 0),
        sm: None,
        is_used: |declared| declared.linkage == Linkage::Common,
    },
    Gate {
        feature: "the attribute `.unified`",
        version: (8, 0),
        sm: Some(90),
        is_used: |declared| declared.is_unified,
    },
    Gate {
        feature: "the type `.b128`",
        version: (8, 3),
        sm: Some(70),
        is_used: |declared| declared.scalar == ScalarType::B128,
    },
];

/// The banks that `.const[n]` may name.
const CONST_BANKS: u64 = 11;

/// The first version without `.const[n]`.
const NO_CONST_BANKS: Version = Version::new(2, 2);

/// The first version in which calls pass parameters in `.param`, and its first target.
const FUNCTION_PARAMETERS: (Version, u32) = (Version::new(2, 0), 20);

/// Judges what is declared, in the order of the text; what is right is not named.
pub(super) fn check(module: &Module<'_>, unit: Unit) -> Vec<Verdict> {
    let mut findings = Findings::default();
    top(module, &mut findings);
    for (id, declared) in module.declarations_with_ids() {
        let mut judged = Judged { module, unit, declared, findings: &mut findings };
        judged.gates();
        judged.linkage(id);
        judged.length();
        judged.bank();
        judged.parameter();
        judged.initial();
    }
    for function in module.functions() {
        self::function(module, function, &mut findings);
    }
    findings.0.sort_by_key(|violation| violation.span.start);
    let verdict = |violation: Violation| Verdict {
        span: violation.span,
        load: None,
        violations: vec![violation],
    };
    findings.0.into_iter().map(verdict).collect()
}

/// `.address_size`, and `debug` after `.target`.
fn top(module: &Module<'_>, findings: &mut Findings) {
    let size = module.address_size.map(|size| (size.span, "`.address_size`", Version::new(2, 3)));
    let debug = module.debug.map(|span| (span, "`debug`", Version::new(3, 0)));
    for (span, feature, version) in size.into_iter().chain(debug) {
        if module.version < version {
            needs_version(module, findings, feature, version, span);
        }
    }
    if let Some(span) = module.debug.filter(|_| !module.has_sections) {
        findings.add(
            Rule::Declaration,
            span,
            "`debug` in a module without debug information".to_owned(),
            "remove `debug`, or add the `.section` directives".to_owned(),
        );
    }
}

/// A function's own linkage, and the place of a kernel's parameters.
fn function(module: &Module<'_>, function: &Function, findings: &mut Findings) {
    if function.linkage == Linkage::Weak && module.version < Version::new(3, 1) {
        let feature = "`.weak` before a declaration";
        needs_version(module, findings, feature, Version::new(3, 1), function.name);
    }
    let is_list = function.kind == FunctionKind::Entry && !function.parameters.is_empty();
    if is_list && module.version < KERNEL_PARAMETER_LISTS {
        let feature = "a list of parameters after a kernel's name";
        needs_version(module, findings, feature, KERNEL_PARAMETER_LISTS, function.name);
    }
}

/// A declaration that is judged.
struct Judged<'j> {
    module: &'j Module<'j>,
    unit: Unit,
    declared: &'j Declaration,
    findings: &'j mut Findings,
}

impl Judged<'_> {
    fn text(&self) -> &str {
        self.module.text(self.declared.name)
    }

    fn add(&mut self, message: String, help: &str) {
        self.findings.add(Rule::Declaration, self.declared.name, message, help.to_owned());
    }

    /// The function around the declaration, and its target.
    fn around(&self) -> (Option<&Function>, Target) {
        let function = self.module.function_of(self.declared.scope);
        (function, function.map_or(self.module.target, |function| function.target))
    }

    fn needs(&mut self, feature: &str, version: Version, sm: Option<u32>) {
        let target = self.around().1;
        if version > self.module.version {
            needs_version(self.module, self.findings, feature, version, self.declared.name);
        }
        if let Some(sm) = sm.filter(|sm| *sm > target.sm) {
            let targets = format!("`.target sm_{sm}` or higher");
            needs_target(target, self.findings, feature, &targets, self.declared.name);
        }
    }

    fn gates(&mut self) {
        for gate in &GATES {
            if (gate.is_used)(self.declared) {
                let (major, minor) = gate.version;
                self.needs(gate.feature, Version::new(major, minor), gate.sm);
            }
        }
    }

    fn linkage(&mut self, id: DeclarationId) {
        if self.declared.linkage == Linkage::Common && self.declared.space != StateSpace::Global {
            let message = format!("`.common` on `{}`, which is not `.global`", self.text());
            self.add(message, "`.common` goes with `.global`");
        }
        let definition = self.module.names.definition(id);
        let defined = definition.and_then(|id| self.module.declaration(id));
        if let Some(defined) = defined.filter(|defined| defined.linkage == Linkage::Internal) {
            self.findings.add(
                Rule::Declaration,
                defined.name,
                format!("`{}` was declared `.extern`, and is defined for this module", self.text()),
                "write `.visible` before the definition".to_owned(),
            );
        }
        let is_open = is_unresolved(self.declared) && definition.is_none();
        // Banks of their own have no linker.
        let has_banks =
            self.declared.space == StateSpace::Const && self.module.version < NO_CONST_BANKS;
        let needs_linker = (is_open && !has_banks) || self.declared.is_unified;
        if self.unit == Unit::Program && needs_linker {
            let what = if is_open { "is sized elsewhere" } else { "is unified" };
            self.findings.add(
                Rule::CompileOnly,
                self.declared.name,
                format!("`{}` {what}, which a whole program cannot use", self.text()),
                "for a module that is linked with others: `--compile-only`".to_owned(),
            );
        }
    }

    /// An array is as long as its brackets or its initial value say, unless it is `.extern`.
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

    /// `.const[n]`: before PTX 2.2 banks 1 to 10 are each for one array without a length.
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
                self.add(message, "constant banks are not named from `.version 2.2` on");
            }
            return;
        }
        let bank = bank.unwrap_or(0);
        if bank > 0 {
            self.needs("a constant bank", Version::new(1, 5), None);
        }
        if bank >= CONST_BANKS {
            self.add(format!("there is no constant bank {bank}"), "banks are 0 to 10");
        }
        if (bank > 0) != is_open {
            let message = format!("`{}` in constant bank {bank}", self.text());
            self.add(message, "banks 1 to 10 are for `.extern` arrays without a length");
        }
    }

    /// Where `.param` may be declared: in the list of a kernel, in its body before that, and in
    /// functions from PTX 2.0 on.
    fn parameter(&mut self) {
        if self.declared.space != StateSpace::Param {
            return;
        }
        let (function, _) = self.around();
        let kind = function.map(|function| function.kind);
        let (version, sm) = FUNCTION_PARAMETERS;
        match (kind, self.declared.role) {
            (Some(FunctionKind::Func), Role::Parameter | Role::Return) => {
                self.needs("a function's parameter in `.param`", version, Some(sm));
            }
            (Some(_), Role::Local) => self.needs("`.param` in a body", version, None),
            _ => {}
        }
    }

    /// Names and masks in an initial value. Numbers are not judged.
    fn initial(&mut self) {
        let Some(initial) = self.declared.initial else { return };
        let mut words = Lexer::within(self.module.source(), initial).peekable();
        let mut is_address = false;
        while let Some(token) = words.next() {
            let next = words.peek().map(|next| next.kind);
            let is_call = next == Some(TokenKind::Punctuation(b'('));
            match token.kind {
                TokenKind::Word => match self.module.text(token.span) {
                    "WARP_SZ" => {}
                    "generic" if is_call => self.needs("`generic()`", Version::new(3, 1), None),
                    _ if is_call => self.findings.add(
                        Rule::Syntax,
                        token.span,
                        "expected a value".to_owned(),
                        "one byte of an address is written with its mask: `0xff00(name)`"
                            .to_owned(),
                    ),
                    _ => is_address |= self.is_symbol(token.span),
                },
                TokenKind::Number if is_call => {
                    self.needs("a mask in an initial value", Version::new(7, 1), None);
                }
                _ => {}
            }
        }
        if is_address {
            self.needs("an address as initial value", Version::new(2, 1), None);
        }
    }

    /// Whether a name in an initializer is a variable or a function; reports it if not.
    fn is_symbol(&mut self, name: Span) -> bool {
        let text = self.module.text(name);
        let is_known = self.module.find_at(self.declared.scope, name).is_some()
            || self.module.function(text).is_some();
        if !is_known {
            self.findings.add(
                Rule::Declaration,
                name,
                format!("`{text}` is not declared here"),
                "an initial value is a constant, a variable or a function".to_owned(),
            );
        }
        is_known
    }
}

#[cfg(test)]
mod tests {
    use super::GATES;

    #[test]
    fn the_documented_gates_are_these() {
        let rows = GATES.iter().map(|gate| {
            let target = gate.sm.map_or(String::new(), |sm| format!(" sm_{sm}"));
            format!("| {} | {}.{} |{target} |", gate.feature, gate.version.0, gate.version.1)
        });
        let documented: Vec<&str> = include_str!("../../../docs/ptx.md")
            .lines()
            .skip_while(|line| !line.starts_with("| declaration "))
            .skip(2)
            .take_while(|line| line.starts_with('|'))
            .collect();
        for row in rows {
            assert!(documented.contains(&row.as_str()), "{row}");
        }
    }
}
