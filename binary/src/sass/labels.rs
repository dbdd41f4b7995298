//! [`Labels`]: the targets of the jumps in code of SM 5.0 to 6.2.

use std::collections::BTreeMap;
use std::sync::Arc;

use warpload_encoding::control::BUNDLE_BYTES;
use warpload_encoding::{Sm, Spa5Instruction, Spa5Value};

use super::code::{Placed, SassInstruction};

/// The labels of a section, by the address of the instruction behind them. Only targets within a function have one. Jumps
/// to the first instruction of a bundle go to its control word.
#[derive(Debug, Default)]
pub(super) struct Labels(BTreeMap<u64, Arc<str>>);

impl Labels {
    /// Finds the targets of `code`. `function_of` numbers the functions; it is called with ascending addresses.
    pub(super) fn new<F: FnMut(u64) -> Option<usize>>(
        code: impl Iterator<Item = Placed>,
        sm: Sm,
        function_of: impl Fn() -> F,
        has_instruction_at: impl Fn(u64) -> bool,
    ) -> Self {
        let mut function = function_of();
        let mut jumps: Vec<(u64, Option<usize>)> = Vec::new();
        for placed in code {
            let function = function(placed.offset);
            let target = target(&placed, sm).map(instruction_at);
            let target = target.filter(|target| has_instruction_at(*target));
            jumps.extend(target.map(|target| (target, function)));
        }
        jumps.sort_unstable();
        jumps.dedup();
        let mut function = function_of();
        jumps.retain(|(target, of)| function(*target) == *of);
        jumps.dedup_by_key(|(target, _)| *target);
        let named =
            jumps.iter().zip(1..).map(|((target, _), n)| (*target, format!(".L_{n}").into()));
        Self(named.collect())
    }

    /// Adds the label of an instruction, and the one of its target.
    pub(super) fn add_to(&self, instruction: &mut SassInstruction, placed: &Placed, sm: Sm) {
        if self.0.is_empty() {
            return;
        }
        instruction.labels.extend(self.0.get(&placed.offset).cloned());
        let target = target(placed, sm);
        instruction.target =
            target.and_then(|at| Some((at, self.0.get(&instruction_at(at))?.clone())));
    }
}

/// The instruction to which a jump to an address goes.
fn instruction_at(target: u64) -> u64 {
    if target.is_multiple_of(BUNDLE_BYTES as u64) { target.saturating_add(8) } else { target }
}

fn target(placed: &Placed, sm: Sm) -> Option<u64> {
    let instruction = Spa5Instruction::decode(placed.word.narrow()?, sm)?;
    instruction.operands_at(placed.offset).find_map(|operand| match operand.value {
        Spa5Value::Target(target) => Some(target),
        _ => None,
    })
}
