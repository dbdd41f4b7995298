//! Which loads are legal: rules out of the descriptions of `ld`, `ld.global.nc` and `tcgen05.ld`
//! in the PTX ISA, corrected if an assembler (ptxas 12.9 up to PTX 8.8, 13.5 up to 9.5)
//! decides otherwise. docs/ptx.md lists them.

mod address;
mod cache;
mod declarations;
mod destination;
mod gates;
mod opcodes;
mod order;
mod param;
mod qualifiers;
mod tensor;
mod violation;

use std::collections::HashSet;

pub use self::violation::{Rule, Violation};
use crate::module::{
    Declaration, DeclarationId, Function, Instruction, Module, Statement, StatementKind, Symbol,
};
use crate::syntax::load::{COMMA_OR_SEMICOLON, Load, Opcode, QualifierKind};
use crate::syntax::special::{SpecialRegister, special_register};
use crate::syntax::{
    Lexer, ScalarType, Span, StateSpace, SyntaxError, Target, TokenKind, TypeClass, Version,
};

/// The first version that only ptxas 13.5 compiles. What it refuses and 12.9 takes is refused from
/// this version on.
const LATER_ASSEMBLER: Version = Version::new(9, 0);

/// The verdict on one statement: on every load, and on what is wrong elsewhere.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verdict {
    /// The statement; up to where its semicolon is missing, if the next one is on a later line.
    pub span: Span,
    /// The load; `None` for another statement or a declaration, which is wrong.
    pub load: Option<Load>,
    /// The rules that are broken, in the order of the text; none for a legal load.
    pub violations: Vec<Violation>,
}

impl Verdict {
    /// Whether the statement is legal.
    #[must_use]
    pub fn is_legal(&self) -> bool {
        self.violations.is_empty()
    }
}

/// What a module is assembled to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// A program: every variable is defined in it. What an assembler takes it for by default.
    #[default]
    Program,
    /// A part that is linked with others later, as with `--compile-only`.
    Part,
}

/// Judges the loads of a module, in the order of the text.
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
pub fn check<'m>(module: &'m Module<'_>) -> impl Iterator<Item = Verdict> + use<'m> {
    check_as(module, Unit::Program)
}

/// [`check`] for what the module is: a program, or a part of one.
pub fn check_as<'m>(module: &'m Module<'_>, unit: Unit) -> impl Iterator<Item = Verdict> + use<'m> {
    let mut returned = HashSet::new();
    let of_statements = module.statements().iter().filter_map(move |statement| {
        let verdict = judge(module, unit, statement, &returned);
        if let StatementKind::Instruction(instruction) = &statement.kind {
            note_call(module, statement, instruction, &mut returned);
        }
        verdict
    });
    merge(declarations::check(module, unit).into_iter(), of_statements)
}

/// Two sequences of verdicts as one, in the order of the text.
fn merge(
    a: impl Iterator<Item = Verdict>,
    b: impl Iterator<Item = Verdict>,
) -> impl Iterator<Item = Verdict> {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    std::iter::from_fn(move || {
        let Some(next) = b.peek() else { return a.next() };
        let start = next.span.start;
        a.next_if(|first| first.span.start < start).or_else(|| b.next())
    })
}

/// Judges one statement. `returned` are the variables in which an earlier call returns.
fn judge(
    module: &Module<'_>,
    unit: Unit,
    statement: &Statement,
    returned: &HashSet<DeclarationId>,
) -> Option<Verdict> {
    let mut findings = Findings::default();
    let instruction = match &statement.kind {
        StatementKind::Label(_) | StatementKind::Enter | StatementKind::Leave => return None,
        StatementKind::Malformed(error) => {
            findings.syntax(*error);
            return Some(Verdict { span: statement.span, load: None, violations: findings.0 });
        }
        StatementKind::Instruction(instruction) => instruction,
    };
    let Some(load) = module.load(statement) else {
        opcodes::check(module, statement, instruction, &mut findings);
        let verdict = Verdict { span: statement.span, load: None, violations: findings.0 };
        return Some(verdict).filter(|verdict| !verdict.is_legal());
    };
    let function = module.function_of(load.scope);
    let target = function.map_or(module.target, |function| function.target);
    let judged = Judged { module, unit, load: &load, function, target, returned };
    let mut span = statement.span;
    match load.fault {
        // What follows the place at fault was not read: no rule can be held to it.
        Some(error) => {
            judged.check_qualifiers(&mut findings);
            match missing_semicolon(module, instruction, error) {
                Some(end) => {
                    span.end = end;
                    findings.syntax(SyntaxError { span: Span { start: end, end }, ..error });
                }
                None => findings.syntax(error),
            }
        }
        None => judged.check(&mut findings),
    }
    let mut violations = findings.0;
    violations.sort_by_key(|violation| violation.span.start);
    Some(Verdict { span, load: Some(load), violations })
}

/// Returns where the semicolon is missing: after the last word of the line, if what is read as
/// more of the statement is on a later line.
fn missing_semicolon(
    module: &Module<'_>,
    instruction: &Instruction,
    error: SyntaxError,
) -> Option<u32> {
    if error.expected != COMMA_OR_SEMICOLON {
        return None;
    }
    let words = Lexer::within(module.source(), Span { end: error.span.start, ..instruction.tail });
    let end = words.last()?.span.end;
    let between = module.text(Span { start: end, end: error.span.start });
    between.contains('\n').then_some(end)
}

/// Notes the variables that a call returns in: `call (a, b), f, (c);`.
fn note_call(
    module: &Module<'_>,
    statement: &Statement,
    instruction: &Instruction,
    returned: &mut HashSet<DeclarationId>,
) {
    if module.text(instruction.mnemonic) != "call" {
        return;
    }
    let mut operands = instruction.operands(module.source());
    if operands.next().map(|token| token.kind) != Some(TokenKind::Punctuation(b'(')) {
        return;
    }
    for token in operands {
        match token.kind {
            TokenKind::Punctuation(b')') => return,
            TokenKind::Word => {
                let symbol = module.find_at(statement.scope, token.span);
                returned.extend(symbol.map(|symbol| symbol.id));
            }
            _ => {}
        }
    }
}

/// The violations found so far.
#[derive(Default)]
struct Findings(Vec<Violation>);

impl Findings {
    fn add(&mut self, rule: Rule, span: Span, message: String, help: impl Into<Option<String>>) {
        self.0.push(Violation { rule, span, message, help: help.into() });
    }

    fn syntax(&mut self, error: SyntaxError) {
        let SyntaxError { expected, span } = error;
        self.add(Rule::Syntax, span, format!("expected {expected}"), None);
    }
}

/// A load with what the rules look up around it.
struct Judged<'j> {
    module: &'j Module<'j>,
    unit: Unit,
    load: &'j Load,
    function: Option<&'j Function>,
    target: Target,
    returned: &'j HashSet<DeclarationId>,
}

impl<'j> Judged<'j> {
    fn check(&self, findings: &mut Findings) {
        self.check_qualifiers(findings);
        match self.load.opcode {
            Opcode::Ld => {
                cache::check(self, findings);
                destination::check(self, findings);
                address::check(self, findings);
                param::check(self, findings);
            }
            Opcode::TensorLd | Opcode::TensorLdRed => tensor::check(self, findings),
        }
    }

    /// What can be said without all of the operands. After a fault before the first of them
    /// even some qualifiers may be missing.
    fn check_qualifiers(&self, findings: &mut Findings) {
        self.guard(findings);
        self.address_size(findings);
        if self.load.fault.is_some() && self.load.operands.is_empty() {
            return;
        }
        match self.load.opcode {
            Opcode::Ld => {
                qualifiers::check(self, findings);
                gates::check(self, findings);
                order::check(self, findings);
            }
            Opcode::TensorLd | Opcode::TensorLdRed => {
                qualifiers::check_tensor(self, findings);
                gates::check_tensor(self, findings);
            }
        }
    }

    /// A guard is a `.pred` register. [PTX ISA, Predicated Execution]
    fn guard(&self, findings: &mut Findings) {
        let Some(guard) = self.load.guard else { return };
        let special = self.special(guard.register).filter(|found| found.scalar == ScalarType::Pred);
        if let Some(special) = special {
            return gates::special(self, guard.register, special, findings);
        }
        let scalar = self.register(guard.register).map(|register| register.scalar);
        if scalar != Some(ScalarType::Pred) {
            let help = "a guard is a register of type `.pred`";
            self.no(Rule::Guard, guard.register, "predicate register", help, findings);
        }
    }

    /// No assembler compiles for 32-bit addresses any more.
    fn address_size(&self, findings: &mut Findings) {
        let size = self.module.address_size.filter(|size| size.bits == 32);
        if let Some(size) = size {
            findings.add(
                Rule::AddressSize,
                size.span,
                "code with 32-bit addresses is no longer compiled".to_owned(),
                "`.address_size 64`".to_owned(),
            );
        }
    }

    fn text(&self, span: Span) -> &'j str {
        self.module.text(span)
    }

    fn symbol(&self, name: Span) -> Option<Symbol<'j>> {
        self.module.find_at(self.load.scope, name)
    }

    /// Returns the declaration of a name, if it is a register.
    fn register(&self, name: Span) -> Option<&'j Declaration> {
        let declaration = self.symbol(name)?.declaration;
        (declaration.space == StateSpace::Register).then_some(declaration)
    }

    /// Returns the special register of that name, unless the module declares the name.
    fn special(&self, name: Span) -> Option<SpecialRegister> {
        if self.symbol(name).is_some() { None } else { special_register(self.text(name)) }
    }

    /// Reports a name that is not a `what`, or not declared.
    fn no(&self, rule: Rule, name: Span, what: &str, help: &str, findings: &mut Findings) {
        let text = self.text(name);
        let is_name = Lexer::new(text).token().kind == TokenKind::Word
            && !text.contains(|c: char| c.is_whitespace() || "[.+|".contains(c));
        let is_known = self.symbol(name).is_some()
            || self.module.function(text).is_some()
            || special_register(text).is_some();
        if !is_name || is_known {
            return findings.add(rule, name, format!("`{text}` is not a {what}"), help.to_owned());
        }
        let run = self.module.run_without(self.load.scope, text).filter(|(_, count)| *count > 0);
        let help = match run {
            Some((prefix, count)) => format!("`{prefix}` has 0 to {}", count - 1),
            None if self.module.find(self.load.scope, text).is_some() => {
                "it is declared further down".to_owned()
            }
            None => help.to_owned(),
        };
        findings.add(rule, name, format!("`{text}` is not declared here"), help);
    }

    /// Returns the first register named by the load that `which` picks.
    fn named_register(&self, which: impl Fn(&Declaration) -> bool) -> Option<Span> {
        use crate::syntax::load::{ElementKind, OperandKind};
        let is_one = |name: &Span| self.register(*name).is_some_and(&which);
        self.load.operands.iter().find_map(|operand| match &operand.kind {
            OperandKind::Name => Some(operand.span).filter(is_one),
            OperandKind::Vector(elements) => {
                let names = elements.iter().filter(|element| element.kind == ElementKind::Name);
                names.map(|element| element.span).find(is_one)
            }
            OperandKind::Address(address) => {
                address.base.into_iter().chain(address.index).find(is_one)
            }
            _ => None,
        })
    }

    /// Returns the place of the first qualifier that `which` picks.
    fn finds(&self, which: impl Fn(QualifierKind) -> bool) -> Option<Span> {
        self.load.first(|kind| which(kind).then_some(())).map(|found| found.1)
    }

    /// Whether the load is global or generic.
    fn may_be_global(&self) -> bool {
        matches!(self.load.space(), None | Some((StateSpace::Global, _)))
    }

    /// Whether the load has one of the 256-bit forms: `.v8` of 32 bits or `.v4` of 64.
    fn is_wide(&self) -> bool {
        let bits = self.load.scalar().and_then(ScalarType::bits);
        matches!((self.load.elements(), bits), (8, Some(32)) | (4, Some(64)))
    }

    /// Whether a qualifier is not known: what seems to be missing may be what it was meant for.
    fn has_unknown(&self) -> bool {
        self.load.has(QualifierKind::Unknown)
    }

    /// Returns the state space as it is written.
    fn space_text(&self) -> &'j str {
        let space = self.finds(|kind| matches!(kind, QualifierKind::Space(..)));
        space.map_or("generic addressing", |span| self.text(span))
    }
}

/// Whether a register holds whole numbers or bits.
fn is_integer(scalar: ScalarType) -> bool {
    matches!(scalar.class(), TypeClass::Bits | TypeClass::Unsigned | TypeClass::Signed)
}
