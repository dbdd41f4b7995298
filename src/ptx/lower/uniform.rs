//! Which registers hold the same value in all threads of a warp, as far as their definitions tell.
//!
//! Uniform are immediates, addresses of variables, parameters of a kernel, constants that are
//! loaded from a uniform address, special registers that a warp shares, and what is computed from
//! uniform values alone. Not uniform are `%tid`, `%laneid` and other special registers of a thread,
//! loaded values, the results of atomics, shuffles, votes and calls, and parameters of a `.func`.
//!
//! The analysis looks at definitions, not at paths: a register is uniform if all instructions that
//! write it give uniform values under uniform guards. Where some branch is not uniform, a register
//! that is written in more than one place is not uniform either, since threads may have come by
//! different ones. It starts with everything uniform and goes over the body until nothing changes.

use std::collections::{HashMap, HashSet};

use crate::ptx::lexer::TokenKind;
use crate::ptx::meaning::{Base, LoadSpace, Meaning, Register};
use crate::ptx::module::{Function, FunctionKind, Instruction, Module, Statement, StatementKind};
use crate::ptx::{ScopeId, StateSpace};

/// How often a body is gone over before what is left counts as not uniform. Each time decides all
/// registers whose definitions stand in order; real code needs two or three.
const MAX_PASSES: usize = 64;

/// Special registers whose value is that of the whole warp.
const UNIFORM_SPECIALS: [&str; 9] =
    ["%ntid", "%ctaid", "%nctaid", "%gridid", "%smid", "%nsmid", "%warpid", "%nwarpid", "WARP_SZ"];

/// What results do not follow from their sources alone.
const DIVERGENT_MNEMONICS: [&str; 16] = [
    "atom",
    "call",
    "shfl",
    "vote",
    "match",
    "activemask",
    "elect",
    "red",
    "tex",
    "tld4",
    "suld",
    "ldu",
    "wmma",
    "mma",
    "movmatrix",
    "ldmatrix",
];

/// The registers of one function that are not uniform.
pub(super) struct Uniformity {
    divergent: HashSet<Register>,
    /// Whether the analysis gave up.
    is_all_divergent: bool,
}

/// An instruction by the registers that it reads and writes.
#[derive(Default)]
struct Step {
    writes: Vec<Register>,
    reads: Vec<Register>,
    guard: Option<Register>,
    /// It reads something that is not uniform in itself.
    is_divergent: bool,
    is_branch: bool,
}

impl Uniformity {
    pub(super) fn of(module: &Module<'_>, function: &Function) -> Self {
        let steps: Vec<Step> =
            module.body(function).iter().filter_map(|s| step(module, function, s)).collect();
        let mut uniformity = Self { divergent: HashSet::new(), is_all_divergent: false };
        uniformity.settle(&steps);
        let is_divergent = |guard| uniformity.divergent.contains(&guard);
        if steps.iter().any(|step| step.is_branch && step.guard.is_some_and(is_divergent)) {
            uniformity.divergent.extend(written_twice(&steps));
            uniformity.settle(&steps);
        }
        uniformity
    }

    /// Goes over the steps until nothing changes.
    fn settle(&mut self, steps: &[Step]) {
        for _ in 0..MAX_PASSES {
            let before = self.divergent.len();
            for step in steps {
                let sources = step.reads.iter().chain(&step.guard);
                let reads_divergent = { sources }.any(|read| self.divergent.contains(read));
                if step.is_divergent || reads_divergent {
                    self.divergent.extend(&step.writes);
                }
            }
            if self.divergent.len() == before {
                return;
            }
        }
        self.is_all_divergent = true;
    }

    pub(super) fn is_uniform(&self, base: Base) -> bool {
        match base {
            Base::Zero | Base::Variable(_) => true,
            Base::Register(register) | Base::Indexed(_, register) => {
                !self.is_all_divergent && !self.divergent.contains(&register.whole())
            }
        }
    }
}

fn written_twice(steps: &[Step]) -> Vec<Register> {
    let mut counts: HashMap<Register, u32> = HashMap::new();
    for register in steps.iter().flat_map(|step| &step.writes) {
        *counts.entry(*register).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(register, _)| register).collect()
}

fn step(module: &Module<'_>, function: &Function, statement: &Statement) -> Option<Step> {
    let StatementKind::Instruction(instruction) = &statement.kind else { return None };
    let mut step = operands(module, statement.scope, instruction);
    step.guard = instruction
        .guard
        .and_then(|guard| Register::find(module, statement.scope, module.text(guard.register)));
    let mnemonic = module.text(instruction.mnemonic);
    step.is_branch = matches!(mnemonic, "bra" | "brx");
    step.is_divergent |= DIVERGENT_MNEMONICS.contains(&mnemonic);
    if let Some(load) = module.load(statement) {
        let meaning = module.meaning(&load);
        step.is_divergent |= !meaning.is_ok_and(|meaning| gives_uniform(&meaning, function));
    }
    Some(step)
}

/// Whether a load from a uniform address gives a uniform value.
fn gives_uniform(meaning: &Meaning, function: &Function) -> bool {
    match meaning.space {
        LoadSpace::Const => true,
        LoadSpace::Param => function.kind == FunctionKind::Entry,
        _ => false,
    }
}

/// The registers that an instruction writes: those of its first operand, where that is no address.
/// All others are read.
pub(super) fn writes(
    module: &Module<'_>,
    scope: ScopeId,
    instruction: &Instruction,
) -> Vec<Register> {
    operands(module, scope, instruction).writes
}

fn operands(module: &Module<'_>, scope: ScopeId, instruction: &Instruction) -> Step {
    let source = module.source();
    let mut step = Step::default();
    let (mut depth, mut in_address, mut is_first) = (0usize, false, true);
    for token in instruction.operands(source) {
        match token.kind {
            TokenKind::Punctuation(b'{' | b'(') => depth += 1,
            TokenKind::Punctuation(b'}' | b')') => depth = depth.saturating_sub(1),
            TokenKind::Punctuation(b'[') => in_address = true,
            TokenKind::Punctuation(b']') => in_address = false,
            TokenKind::Punctuation(b',') if depth == 0 => is_first = false,
            TokenKind::Word => {
                let name = token.span.text(source);
                match Register::find(module, scope, name) {
                    Some(register) if is_first && !in_address => step.writes.push(register),
                    Some(register) => step.reads.push(register),
                    None => step.is_divergent |= is_divergent_special(name),
                }
            }
            _ => {}
        }
    }
    step
}

fn is_divergent_special(name: &str) -> bool {
    name.starts_with('%') && !UNIFORM_SPECIALS.contains(&name)
}

impl Register {
    /// The register without its place in a vector.
    pub(super) fn whole(self) -> Self {
        Self { component: 0, ..self }
    }

    fn find(module: &Module<'_>, scope: ScopeId, name: &str) -> Option<Self> {
        let symbol = module.find(scope, name)?;
        let is_register = symbol.declaration.space == StateSpace::Register;
        let number = symbol.number.unwrap_or(0);
        is_register.then_some(Self { declaration: symbol.id, number, component: 0 })
    }
}
