//! [`Judged`], a load with its context, and [`Findings`], the violations found in it.

use std::cell::Cell;
use std::collections::HashSet;

use super::violation::{Rule, Unit, Violation};
use crate::module::{Declaration, DeclarationId, Function, Module, ScopeId, Symbol};
use crate::syntax::load::{ElementKind, Operand, OperandKind, PtxLoad, QualifierKind};
use crate::syntax::special::{SpecialRegister, special_register};
use crate::syntax::{ScalarType, Span, StateSpace, SyntaxError, Target, Version};

/// The help for an offset that is not an integer constant.
pub(super) const OFFSETS: &str = "addresses and offsets are integer constants";

/// A feature's name, the first version and target that have it, and a test for its use.
pub(super) type Gate<U> = (&'static str, Option<(u8, u8)>, Option<u32>, U);

/// The violations found so far, and the version and target that features are checked against.
pub(super) struct Findings {
    pub(super) violations: Vec<Violation>,
    /// The most violations to keep, and the number of further ones.
    pub(super) most: usize,
    pub(super) further: u64,
    pub(super) version: Version,
    pub(super) target: Target,
}

impl Findings {
    /// Empty findings for a scope. A function may have a target of its own.
    pub(super) fn new(module: &Module<'_>, scope: ScopeId) -> Self {
        let target = target_in(module, scope);
        let (violations, most, further) = (Vec::new(), usize::MAX, 0);
        Self { violations, most, further, version: module.version, target }
    }

    pub(super) fn add(
        &mut self,
        rule: Rule,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.report(rule, span, message.into(), Some(help.into()));
    }

    /// Adds a violation, with or without help.
    pub(super) fn report(&mut self, rule: Rule, span: Span, message: String, help: Option<String>) {
        if self.violations.len() < self.most {
            self.violations.push(Violation { rule, span, message, help });
        } else {
            self.further += 1;
        }
    }

    pub(super) fn syntax(&mut self, error: SyntaxError) {
        self.report(Rule::Syntax, error.span, error.to_string(), None);
    }

    /// Whether the version or the target is too low for a feature.
    pub(super) fn lack(&self, version: Option<(u8, u8)>, sm: Option<u32>) -> bool {
        version.is_some_and(|(major, minor)| Version::new(major, minor) > self.version)
            || sm.is_some_and(|sm| sm > self.target.sm)
    }

    /// Reports a feature that needs a later version or a higher target.
    pub(super) fn needs(
        &mut self,
        feature: &str,
        version: Option<(u8, u8)>,
        sm: Option<u32>,
        span: Span,
    ) {
        if let Some((major, minor)) = version {
            self.needs_version(feature, Version::new(major, minor), span);
        }
        if let Some(sm) = sm.filter(|sm| *sm > self.target.sm) {
            self.needs_target(feature, &format!("`.target sm_{sm}` or higher"), span);
        }
    }

    pub(super) fn needs_version(&mut self, feature: &str, version: Version, span: Span) {
        if version > self.version {
            let help = format!("this module has `.version {}`", self.version);
            let message = format!("{feature} needs `.version {version}` or later");
            self.add(Rule::NeedsVersion, span, message, help);
        }
    }

    pub(super) fn needs_target(&mut self, feature: &str, targets: &str, span: Span) {
        let help = format!("this module has `.target {}`", self.target);
        self.add(Rule::NeedsTarget, span, format!("{feature} needs {targets}"), help);
    }
}

pub(super) fn target_in(module: &Module<'_>, scope: ScopeId) -> Target {
    module.function_of(scope).map_or(module.target, |function| function.target)
}

/// A load with the context that rules need.
pub(super) struct Judged<'j> {
    pub(super) module: &'j Module<'j>,
    pub(super) unit: Unit,
    pub(super) load: &'j PtxLoad<'j>,
    pub(super) function: Option<&'j Function>,
    pub(super) returned: &'j HashSet<DeclarationId>,
    pub(super) findings: Findings,
    /// The two names looked up last: consecutive rules ask for the same ones.
    pub(super) recent: Cell<[(Span, Option<Symbol<'j>>); 2]>,
}

impl<'j> Judged<'j> {
    pub(super) fn add(
        &mut self,
        rule: Rule,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.findings.add(rule, span, message, help);
    }

    pub(super) fn text(&self, span: Span) -> &'j str {
        self.module.text(span)
    }

    #[inline]
    pub(super) fn symbol(&self, name: Span) -> Option<Symbol<'j>> {
        let [last, earlier] = self.recent.get();
        if last.0 == name {
            return last.1;
        }
        let found = if earlier.0 == name {
            earlier
        } else {
            (name, self.module.find_at(self.load.scope, name))
        };
        self.recent.set([found, last]);
        found.1
    }

    /// The declaration of a name, if it is a register.
    pub(super) fn register(&self, name: Span) -> Option<&'j Declaration> {
        let declaration = self.symbol(name)?.declaration;
        (declaration.space == StateSpace::Register).then_some(declaration)
    }

    /// The special register of a name that the module does not declare itself.
    pub(super) fn special(&self, name: Span) -> Option<&'static SpecialRegister> {
        if self.symbol(name).is_some() { None } else { special_register(self.text(name)) }
    }

    /// Checks a special register against its own version and target.
    pub(super) fn needs_special(&mut self, name: Span, special: &SpecialRegister) {
        let feature = format!("`{}`", self.text(name));
        let (version, sm) = special.needs.unzip();
        self.findings.needs(&feature, version, sm, name);
    }

    /// Reports a name that is not a `what`, or that is not declared.
    pub(super) fn no(&mut self, rule: Rule, name: Span, what: &str, help: &str) {
        let text = self.text(name);
        let is_first = |c: char| c.is_ascii_alphabetic() || "_$%".contains(c);
        let is_name = text.starts_with(is_first)
            && text != "%"
            && text.chars().all(|c| c.is_ascii_alphanumeric() || is_first(c));
        let is_known = self.symbol(name).is_some()
            || self.module.function(text).is_some()
            || special_register(text).is_some();
        if !is_name || is_known {
            return self.add(rule, name, format!("`{text}` is not a {what}"), help);
        }
        let run = self.module.run_without(self.load.scope, text).filter(|(_, count)| *count > 0);
        let help = match run {
            Some((prefix, count)) => format!("`{prefix}` has 0 to {}", count - 1),
            None if self.module.find(self.load.scope, text).is_some() => {
                "it is declared further down".to_owned()
            }
            None => help.to_owned(),
        };
        self.add(rule, name, format!("`{text}` is not declared here"), help);
    }

    /// The first register named by the load for which `which` is true.
    pub(super) fn named_register(&self, which: impl Fn(&Declaration) -> bool) -> Option<Span> {
        let is_one = |name: &Span| self.register(*name).is_some_and(&which);
        self.load.operands.iter().find_map(|operand| match self.load.address_in(operand) {
            Some(address) => address.base.into_iter().chain(address.index).find(is_one),
            None => names(self.load, operand).find(is_one),
        })
    }

    /// The place of the first qualifier for which `which` is true.
    pub(super) fn finds(&self, which: impl Fn(QualifierKind) -> bool) -> Option<Span> {
        self.load.first(|kind| which(kind).then_some(())).map(|found| found.1)
    }

    /// Whether all qualifiers are plain, as in nearly all loads.
    pub(super) fn is_plain(&self) -> bool {
        self.load.form.is_plain
    }

    pub(super) fn is_of(&self, space: StateSpace) -> bool {
        self.load.space().is_some_and(|written| written.0 == space)
    }

    pub(super) fn may_be_global(&self) -> bool {
        self.load.space().is_none() || self.is_of(StateSpace::Global)
    }

    /// Whether the load has one of the 256-bit forms: `.v8` of 32 bits or `.v4` of 64.
    pub(super) fn is_wide(&self) -> bool {
        let bits = self.load.scalar().and_then(ScalarType::register_bits);
        matches!((self.load.elements(), bits), (8, Some(32)) | (4, Some(64)))
    }

    /// Whether a qualifier is unknown. It may be a misspelled one, so nothing is reported as missing then.
    pub(super) fn has_unknown(&self) -> bool {
        self.load.has(QualifierKind::Unknown)
    }

    /// The state space as written.
    pub(super) fn space_text(&self) -> &'j str {
        let space = self.finds(|kind| matches!(kind, QualifierKind::Space(..)));
        space.map_or("generic addressing", |span| self.text(span))
    }
}

/// The name of an operand, or all names in its braces.
pub(super) fn names<'m>(
    load: &PtxLoad<'m>,
    operand: &Operand,
) -> impl Iterator<Item = Span> + use<'m> {
    let (name, elements) = match operand.kind {
        OperandKind::Name => (Some(operand.span), &[][..]),
        OperandKind::Vector(elements) => (None, load.elements_in(elements)),
        _ => (None, &[][..]),
    };
    let names = elements.iter().filter(|element| element.kind == ElementKind::Name);
    name.into_iter().chain(names.map(|element| element.span))
}
