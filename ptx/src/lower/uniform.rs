//! Finds the registers that hold the same value in all threads of a warp, as far as their definitions tell.
//!
//! Uniform sources are immediates, addresses of variables, parameters of a kernel, values loaded from a uniform
//! address, special registers that a warp shares, votes, `activemask` and a shuffle from one lane. A result is uniform
//! if its sources are, or if it is constant whatever they hold. Not uniform are `%tid`, `%laneid`, `%warpid`, `%smid`
//! and other special registers of a thread, the results of calls, and parameters of a `.func`. In a function with
//! atomics no address is uniform.
//!
//! The analysis inspects definitions, not paths: a register is uniform if all instructions that write it produce
//! uniform values under uniform guards. If some branch is not uniform, a register written in more than one place is not
//! uniform either, since threads may have arrived along different paths. The condition code counts as a register, and
//! so does each element of a vector register. The analysis starts with everything uniform and repeats over the body
//! until it reaches a fixed point.

use std::collections::{HashMap, HashSet};

use super::sources::{SourceOperand, sources};
use crate::meaning::{AddressBase, Meaning, PARAMETERS, Register};
use crate::module::operands::RegisterOperands;
use crate::module::{DeclarationId, Function, FunctionKind, Module, Role};
use crate::syntax::load::{Keyword, PtxInstruction, QualifierKind as Q};
use crate::syntax::{Opcode, ScalarType, StateSpace};

/// The number of passes over a body before the analysis gives up and no address counts as uniform. One pass settles all
/// registers whose definitions are in order; real code needs two or three.
const MAX_PASSES: usize = 64;

/// Special registers with one value for the whole warp. ptxas does not count `%smid` and `%warpid`, since a warp may be
/// moved.
const UNIFORM_SPECIALS: [&str; 14] = [
    "%clock",
    "%clock64",
    "%clock_hi",
    "%ctaid",
    "%dynamic_smem_size",
    "%globaltimer",
    "%globaltimer_hi",
    "%globaltimer_lo",
    "%gridid",
    "%nctaid",
    "%nsmid",
    "%ntid",
    "%nwarpid",
    "%total_smem_size",
];

/// Prefixes of numbered special registers that a warp shares.
const UNIFORM_NUMBERED: [&str; 2] = ["%envreg", "%pm"];

/// The condition code that `.cc` writes. Its id belongs to no declaration.
const CONDITION_CODE: Register =
    Register { declaration: DeclarationId(u32::MAX), number: 0, component: 0 };

/// The contents of local memory, as one register: uniform if every value stored there is.
const LOCAL_MEMORY: Register =
    Register { declaration: DeclarationId(u32::MAX), number: 1, component: 0 };

/// The registers of one function that are not uniform.
pub(super) struct Uniformity {
    divergent: HashSet<Register>,
    /// Whether no address counts as uniform: the analysis gave up, or there is an atomic.
    is_all_divergent: bool,
}

/// An instruction, reduced to the registers that it reads and writes.
struct Step {
    writes: Vec<Register>,
    /// Includes the guard.
    reads: Vec<Register>,
    /// Whether the result is not uniform even if all sources are.
    is_divergent: bool,
    is_branch: bool,
}

impl Uniformity {
    pub(super) fn of(module: &Module<'_>, function: &Function) -> Self {
        let instructions = module.instructions(function);
        let steps: Vec<Step> = instructions.flat_map(|of| steps(module, function, &of)).collect();
        // ptxas emits no `.U.128` in a function with an atomic, wherever it is.
        let is_atomic = |opcode| matches!(opcode, Opcode::Atom | Opcode::Red);
        let is_all_divergent = module.instructions(function).any(|of| is_atomic(of.opcode));
        let mut uniformity = Self { divergent: HashSet::new(), is_all_divergent };
        uniformity.settle(&steps);
        if steps.iter().any(|step| step.is_branch && uniformity.is_divergent(step)) {
            uniformity.divergent.extend(written_twice(&steps));
            uniformity.settle(&steps);
        }
        uniformity
    }

    /// Repeats over the steps until a fixed point, at most [`MAX_PASSES`] times.
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

    pub(super) fn is_uniform(&self, base: AddressBase) -> bool {
        if self.is_all_divergent {
            return false;
        }
        match base {
            AddressBase::Zero | AddressBase::Variable(_) => true,
            AddressBase::Register(register) | AddressBase::Indexed(_, register) => {
                !self.divergent.contains(&register)
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

/// Whether lanes with equal sources can have different results.
fn is_divergent_result(opcode: Opcode) -> bool {
    use Opcode::{Atom, Call, Elect, LdMatrix, Match, Mma, MovMatrix, Red, Wmma};
    matches!(opcode, Atom | Call | Elect | LdMatrix | Match | Mma | MovMatrix | Red | Wmma)
}

/// The steps of an instruction: one, and for a shuffle a second one for the predicate that it writes.
fn steps(module: &Module<'_>, function: &Function, instruction: &PtxInstruction<'_>) -> Vec<Step> {
    let RegisterOperands { mut writes, mut reads, others } =
        RegisterOperands::of(module, instruction);
    let opcode = instruction.opcode;
    let mut predicate = None;
    match shape(module, instruction) {
        Shape::Of(registers) => reads = registers,
        Shape::Shuffle(registers) => {
            reads = registers;
            predicate = if writes.len() > 1 { writes.pop() } else { None };
        }
        Shape::Plain => {}
    }
    reads.extend(instruction.guard.and_then(|guard| {
        let symbol = module.find(instruction.scope, module.text(guard.register))?;
        Some(Register::of(symbol))
    }));
    if instruction.has(Q::Keyword(Keyword::Cc)) {
        writes.push(CONDITION_CODE);
    }
    if matches!(opcode, Opcode::Addc | Opcode::Subc | Opcode::Madc) {
        reads.push(CONDITION_CODE);
    }
    if instruction.has(Q::Space(StateSpace::Local, None)) {
        match opcode {
            Opcode::St => writes.push(LOCAL_MEMORY),
            Opcode::Ld => reads.push(LOCAL_MEMORY),
            _ => {}
        }
    }
    let meaning = opcode.is_load().then(|| module.meaning(instruction));
    let is_divergent_load = meaning.is_some_and(|meaning| {
        !meaning.is_ok_and(|meaning| is_uniform_space(module, &meaning, function))
    });
    let is_divergent = is_divergent_load
        || is_divergent_result(opcode)
        || others.into_iter().any(is_divergent_special);
    let is_branch = matches!(opcode, Opcode::Bra | Opcode::Brx);
    let one = Step { writes, reads, is_divergent, is_branch };
    let second = predicate.map(|predicate| Step {
        writes: vec![predicate],
        reads: Vec::new(),
        is_divergent: true,
        is_branch: false,
    });
    std::iter::once(one).chain(second).collect()
}

/// The registers that decide whether a result is uniform, if not simply all that are read.
enum Shape {
    /// Only these registers; none if the result is the same constant whatever they hold.
    Of(Vec<Register>),
    /// These registers decide on the value. The predicate is never uniform, because it tells each lane whether its
    /// source lane exists.
    Shuffle(Vec<Register>),
    /// All registers that are read.
    Plain,
}

/// The cases in which ptxas derives more from an instruction than from its sources. Each row was found by compiling it.
/// ptxas does not know `sub x, x`, `min.u32 x, 0`, `rem.u32 x, 1` and `or.b16 x, -1`.
fn shape(module: &Module<'_>, instruction: &PtxInstruction<'_>) -> Shape {
    use Opcode as O;
    use ScalarType::{B16, B64, S16, S32, S64, U16, U64};
    use SourceOperand::{Number, Register as Reg};
    let opcode = instruction.opcode;
    if !matches!(
        opcode,
        O::Activemask
            | O::And
            | O::Mad
            | O::Mul
            | O::Mul24
            | O::Or
            | O::Selp
            | O::Shfl
            | O::Shl
            | O::Shr
            | O::Vote
            | O::Xor
    ) {
        return Shape::Plain;
    }
    let has = |kind| instruction.has(kind);
    let has_type = |types: &[ScalarType]| instruction.form.has_type(types);
    let sources = sources(module, instruction).unwrap_or_default();
    let registers = |sources: &[SourceOperand]| {
        let register = |source: &SourceOperand| match source {
            Reg(register) => Some(*register),
            _ => None,
        };
        sources.iter().filter_map(register).collect()
    };
    let width = match () {
        () if has_type(&[B64, U64, S64]) => 64,
        () if has_type(&[B16, U16, S16]) => 16,
        () => 32,
    };
    let is_ones = |number: i64| match width {
        64 => number == -1,
        32 => number as i32 == -1,
        _ => false,
    };
    match (opcode, &sources[..]) {
        // Only the set of executing lanes decides on these results.
        (O::Activemask, _) => Shape::Of(Vec::new()),
        (O::Vote, _) if !has(Q::Sync) => Shape::Of(Vec::new()),
        (O::Vote, [_, mask]) => Shape::Of(registers(std::slice::from_ref(mask))),
        (O::Shfl, [_, lane, Number(LAST_LANE), ..]) if has(Q::Keyword(Keyword::Idx)) => {
            Shape::Of(registers(std::slice::from_ref(lane)))
        }
        (O::Shfl, [value, lane, bounds, ..]) => {
            Shape::Shuffle(registers(&[*value, *lane, *bounds]))
        }
        (O::And | O::Mul | O::Mul24, [Number(0), _] | [_, Number(0)]) => Shape::Of(Vec::new()),
        (O::Mad, [Number(0), _, sum] | [_, Number(0), sum]) => {
            Shape::Of(registers(std::slice::from_ref(sum)))
        }
        (O::Or, [Number(ones), _] | [_, Number(ones)]) if is_ones(*ones) => Shape::Of(Vec::new()),
        (O::Xor, [Reg(a), Reg(b)]) if a == b => Shape::Of(Vec::new()),
        (O::Shl, [_, Number(count)]) if *count >= width => Shape::Of(Vec::new()),
        (O::Shr, [_, Number(count)]) if *count >= width && !has_type(&[S16, S32, S64]) => {
            Shape::Of(Vec::new())
        }
        (O::Selp, [Reg(a), Reg(b), _]) if a == b => Shape::Of(vec![*a]),
        (O::Selp, [Number(a), Number(b), _]) if a == b => Shape::Of(Vec::new()),
        _ => Shape::Plain,
    }
}

/// The bounds operand of a shuffle over the whole warp: clamp 31, no segments.
const LAST_LANE: i64 = 31;

/// Whether a load from a uniform address produces a uniform value. Memory and kernel parameters do; parameters of a
/// `.func` and results of a call do not.
fn is_uniform_space(module: &Module<'_>, meaning: &Meaning, function: &Function) -> bool {
    let is_of_call =
        || module.variable_of(meaning.address).is_some_and(|known| known.role != Role::Parameter);
    match meaning.space {
        PARAMETERS => function.kind == FunctionKind::Entry && !is_of_call(),
        _ => true,
    }
}

fn is_divergent_special(name: &str) -> bool {
    let is_numbered = |prefix: &str| {
        let number = name.strip_prefix(prefix).map(|rest| rest.trim_end_matches("_64"));
        number.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
    };
    name.starts_with('%')
        && !UNIFORM_SPECIALS.contains(&name)
        && !UNIFORM_NUMBERED.into_iter().any(is_numbered)
}
