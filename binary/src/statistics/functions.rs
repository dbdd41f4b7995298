//! [`StatisticsByFunction`]: splits the instructions of an input into functions and collects the statistics of each.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use warpload_encoding::{Instruction, MachineWord, Sm};

use super::builder::{Statistics, StatisticsBuilder};
use super::step::{InstructionFacts, LoadFacts};
use crate::sass::{FoundInstruction, SassInstruction, is_later_load, sm_of, without_relocations};

/// Collects the statistics of functions, one after the other.
#[derive(Debug, Default)]
pub struct StatisticsByFunction {
    current: Option<CurrentFunction>,
}

/// The statistics of a function.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FunctionStatistics {
    /// The identity of the function.
    pub identity: FunctionIdentity,
    /// Its statistics.
    pub statistics: Statistics,
}

/// The identity of a function: its name, its SM and the opcodes of its instructions. Operands do not count, because the
/// linker fills some of them in: a function is equal before and after linking.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FunctionIdentity {
    /// The name; `None` if the input does not name it.
    pub name: Option<Arc<str>>,
    /// The SM; `None` if the input does not name it.
    pub sm: Option<Sm>,
    instructions: u64,
    opcodes: u64,
}

/// The function that is being read.
#[derive(Debug)]
struct CurrentFunction {
    name: Option<Arc<str>>,
    sm: Option<Sm>,
    /// The offset of its last instruction.
    last: Option<u64>,
    instructions: u64,
    opcodes: DefaultHasher,
    builder: StatisticsBuilder,
}

impl StatisticsByFunction {
    /// Adds the next instruction. If it begins another function, returns the statistics of the function before it.
    pub fn add(
        &mut self,
        instruction: &SassInstruction,
        found: &FoundInstruction,
    ) -> Option<FunctionStatistics> {
        let SassInstruction { function, offset, sm, .. } = instruction;
        let is_same = |current: &CurrentFunction| {
            let ascends = current.last.is_none() || offset.is_none() || current.last < *offset;
            current.name == *function && current.sm == *sm && ascends
        };
        let before = if self.current.as_ref().is_some_and(is_same) { None } else { self.finish() };
        let current = self.current.get_or_insert_with(|| CurrentFunction {
            name: function.clone(),
            sm: *sm,
            last: None,
            instructions: 0,
            opcodes: DefaultHasher::new(),
            builder: StatisticsBuilder::default(),
        });
        current.last = *offset;
        current.instructions += 1;
        opcode(instruction.word).hash(&mut current.opcodes);
        current.builder.add(facts(instruction, found));
        before
    }

    /// Returns the statistics of the last function; `None` without instructions.
    pub fn finish(&mut self) -> Option<FunctionStatistics> {
        let CurrentFunction { name, sm, instructions, opcodes, builder, .. } =
            self.current.take()?;
        let opcodes = opcodes.finish();
        let identity = FunctionIdentity { name, sm, instructions, opcodes };
        Some(FunctionStatistics { identity, statistics: builder.finish() })
    }
}

/// The opcode bits of a word.
fn opcode(word: Option<MachineWord>) -> u16 {
    match word {
        Some(MachineWord::Bits64(word)) => (word >> 48) as u16,
        Some(MachineWord::Bits128(word)) => word as u16 & 0xfff,
        None => 0,
    }
}

fn facts(instruction: &SassInstruction, found: &FoundInstruction) -> InstructionFacts {
    let sm = sm_of(instruction).unwrap_or(Sm::SPA5);
    let relocated = || {
        let text = without_relocations(instruction.text.as_deref()?)?;
        Instruction::parse(&text, sm).ok()
    };
    let known = match found {
        FoundInstruction::Load(load) => Some(*load),
        FoundInstruction::Relocated => relocated(),
        _ => None,
    };
    let load = known.as_ref().map(LoadFacts::from);
    let mut facts = match instruction.word.filter(|_| !is_later_load(instruction)) {
        Some(MachineWord::Bits64(word)) => InstructionFacts::narrow(instruction.offset, word),
        Some(MachineWord::Bits128(word)) => {
            InstructionFacts::wide(instruction.offset, word, sm, load)
        }
        None => InstructionFacts::opaque(instruction.offset, load),
    };
    let is_relocated = instruction.is_relocated || found.is_relocated(instruction);
    if let Some(load) = facts.load.as_mut().filter(|_| is_relocated) {
        load.displacement = None;
    }
    facts
}
