//! Which registers hold the same value in all threads of a warp, as far as their definitions tell.
//!
//! Uniform are immediates, addresses of variables, parameters of a kernel, constants that are
//! loaded from a uniform address, special registers that a warp shares, and what is computed from
//! uniform values alone. Not uniform are `%tid`, `%laneid` and other special registers of a thread,
//! loaded values, the results of atomics, shuffles, votes and calls, and parameters of a `.func`.
//!
//! The analysis looks at definitions, not at paths: a register is uniform if all instructions that
//! write it produce uniform values under uniform guards. If some branch is not uniform, a register
//! that is written in more than one place is not uniform either, since threads may have come by
//! different ones. The condition code counts as a register, and so does each element of a vector
//! register. It starts with everything uniform and goes over the body until nothing changes.

use std::collections::{HashMap, HashSet};

use crate::meaning::{Base, CONSTANTS, Meaning, PARAMETERS, Register};
use crate::module::operands::Operands;
use crate::module::{
    DeclarationId, Function, FunctionKind, Module, Role, Statement, StatementKind,
};

/// How often a body is gone over before what is left counts as not uniform. Each time decides all
/// registers whose definitions are in order; real code needs two or three.
const MAX_PASSES: usize = 64;

/// Special registers whose value is that of the whole warp.
const UNIFORM_SPECIALS: [&str; 8] =
    ["%ntid", "%ctaid", "%nctaid", "%gridid", "%smid", "%nsmid", "%warpid", "%nwarpid"];

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

/// The condition code that `.cc` writes, under a number that no declaration has.
const CONDITION_CODE: Register =
    Register { declaration: DeclarationId(u32::MAX), number: 0, component: 0 };

/// The registers of one function that are not uniform.
pub(super) struct Uniformity {
    divergent: HashSet<Register>,
    /// Whether the analysis gave up.
    is_all_divergent: bool,
}

/// An instruction by the registers that it reads and writes.
struct Step {
    writes: Vec<Register>,
    /// The guard among them.
    reads: Vec<Register>,
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
        if steps.iter().any(|step| step.is_branch && uniformity.is_divergent(step)) {
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
                if self.is_divergent(step) {
                    self.divergent.extend(&step.writes);
                }
            }
            if self.divergent.len() == before {
                return;
            }
        }
        self.is_all_divergent = true;
    }

    fn is_divergent(&self, step: &Step) -> bool {
        step.is_divergent || step.reads.iter().any(|read| self.divergent.contains(read))
    }

    pub(super) fn is_uniform(&self, base: Base) -> bool {
        match base {
            Base::Zero | Base::Variable(_) => true,
            Base::Register(register) | Base::Indexed(_, register) => {
                !self.is_all_divergent && !self.divergent.contains(&register)
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
    let Operands { mut writes, mut reads, others } =
        Operands::of(module, statement.scope, instruction);
    let mnemonic = module.text(instruction.mnemonic);
    reads.extend(instruction.guard.and_then(|guard| {
        let symbol = module.find(statement.scope, module.text(guard.register))?;
        Some(Register::of(symbol))
    }));
    if instruction.has(module.source(), &[".cc"]) {
        writes.push(CONDITION_CODE);
    }
    if matches!(mnemonic, "addc" | "subc" | "madc") {
        reads.push(CONDITION_CODE);
    }
    let meaning = module.load(statement).map(|load| module.meaning(&load));
    let is_divergent_load = meaning.is_some_and(|meaning| {
        !meaning.is_ok_and(|meaning| is_uniform_space(module, &meaning, function))
    });
    Some(Step {
        is_divergent: is_divergent_load
            || DIVERGENT_MNEMONICS.contains(&mnemonic)
            || others.into_iter().any(is_divergent_special),
        is_branch: matches!(mnemonic, "bra" | "brx"),
        writes,
        reads,
    })
}

/// Whether a load from a uniform address produces a uniform value: of constants and of a kernel's
/// parameters, not of what a call returned.
fn is_uniform_space(module: &Module<'_>, meaning: &Meaning, function: &Function) -> bool {
    let is_parameter =
        || module.variable_of(meaning.address).is_some_and(|known| known.role == Role::Parameter);
    match meaning.space {
        CONSTANTS => true,
        PARAMETERS => function.kind == FunctionKind::Entry && is_parameter(),
        _ => false,
    }
}

fn is_divergent_special(name: &str) -> bool {
    name.starts_with('%') && !UNIFORM_SPECIALS.contains(&name)
}
