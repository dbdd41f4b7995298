//! Test cases in JSON: a load, the contents of Tensor Memory, and the expected registers, fault or broken rule. The
//! format is in docs/tensor-memory.md.

use std::cell::OnceCell;
use std::fmt;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::text::difference;
use warpload::lane::{LANES, LaneValues};
use warpload_ptx::tensor::{
    IllegalLoadError, Issue, Pattern, Rules, TensorLoad, TensorMemory, TensorRegisters, execute,
};

mod read;

/// The certainty of a case's expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The PTX ISA states it.
    Documented,
    /// Several independent sources agree.
    Corroborated,
    /// Measured on hardware by a public project.
    Measured,
    /// Inferred: no source states it.
    Inferred,
}

/// One test case.
#[derive(Clone, Debug)]
pub struct TensorCase {
    /// Its name.
    pub id: String,
    /// The certainty of its expectation.
    pub confidence: Confidence,
    /// A note about it.
    pub note: Option<String>,
    /// The load, or the rule that its combination breaks.
    pub load: Result<TensorLoad, IllegalLoadError>,
    /// The warp and the address.
    pub issue: Issue,
    /// The rules that the load is checked against.
    pub rules: Rules,
    /// The contents of Tensor Memory.
    pub pattern: Pattern,
    /// The expected outcome; `None` if the case has no `expect`.
    pub expected: Option<ExpectedTensorLoad>,
}

/// The expectation of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpectedTensorLoad {
    /// The assembler refuses the instruction by the rule with this code.
    Illegal(String),
    /// Executing it is undefined by the rule with this code.
    Fault(String),
    /// Registers are loaded.
    Loaded(Box<ExpectedRegisters>),
}

/// The registers that a case expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedRegisters {
    /// The number of data registers of each thread.
    pub count: usize,
    /// The [`digest`] of all of them.
    pub sha256: String,
    /// All of them, by thread, if the case lists them.
    pub all: Option<Vec<Vec<u32>>>,
    /// Some of them: thread, register, value.
    pub samples: Vec<(usize, usize, u32)>,
    /// The result of the reduction, thread 0 first.
    pub reduced: Option<LaneValues>,
    /// The result under the other reading of a reduction of `.16x32bx2`: both threads of a lane get the result over
    /// both halves.
    pub reduced_by_lane: Option<LaneValues>,
}

/// The memories of all patterns, each made on first use.
#[derive(Debug, Default)]
pub struct PatternMemories([OnceCell<TensorMemory>; Pattern::ALL.len()]);

impl PatternMemories {
    /// Returns the memory filled with this pattern.
    #[must_use]
    pub fn get(&self, pattern: Pattern) -> &TensorMemory {
        // The patterns are numbered as `ALL` lists them.
        self.0[pattern as usize].get_or_init(|| TensorMemory::filled(pattern))
    }
}

/// Returns the SHA-256 of all data registers in lower-case hexadecimal digits. Registers are hashed thread by thread,
/// as four little-endian bytes each.
#[must_use]
pub fn digest(registers: &TensorRegisters) -> String {
    let mut hasher = Sha256::new();
    for value in registers.by_thread() {
        hasher.update(value.to_le_bytes());
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl TensorCase {
    /// Executes the load and returns the differences from the expected outcome, one line each. Empty if the case has no
    /// `expect`.
    pub fn check(
        &self,
        memories: &PatternMemories,
        registers: &mut TensorRegisters,
    ) -> Vec<String> {
        self.compare(&self.answer(memories, registers))
    }

    /// Executes the load and returns its outcome, with all registers unless it is illegal or faults.
    pub fn answer(
        &self,
        memories: &PatternMemories,
        registers: &mut TensorRegisters,
    ) -> ExpectedTensorLoad {
        let load = match &self.load {
            Err(illegal) => return ExpectedTensorLoad::Illegal(illegal.code().to_owned()),
            Ok(load) => load,
        };
        let memory = memories.get(self.pattern);
        if let Err(fault) = execute(load, self.issue, memory, &self.rules, registers) {
            return ExpectedTensorLoad::Fault(fault.code().to_owned());
        }
        let of_thread = |thread| registers.data().iter().map(|values| values[thread]).collect();
        ExpectedTensorLoad::Loaded(Box::new(ExpectedRegisters {
            count: registers.data().len(),
            sha256: digest(registers),
            all: Some((0..LANES).map(of_thread).collect()),
            samples: Vec::new(),
            reduced: registers.reduced().copied(),
            reduced_by_lane: None,
        }))
    }

    /// Returns the differences of an outcome from the expected one, one line each. Empty if the case has no `expect`.
    /// Registers are compared by their digest, and one by one if the outcome has them. For a reduction that does not
    /// exist the code does not matter, because cases have no common code for it.
    #[must_use]
    pub fn compare(&self, outcome: &ExpectedTensorLoad) -> Vec<String> {
        use ExpectedTensorLoad::{Illegal, Loaded};
        match (&self.expected, outcome) {
            (None, _) => Vec::new(),
            (Some(Illegal(_)), Illegal(_)) if self.load == Err(IllegalLoadError::ReductionKind) => {
                Vec::new()
            }
            (Some(Loaded(expected)), Loaded(registers)) => expected.compare(registers),
            (Some(expected), got) if got == expected => Vec::new(),
            (Some(expected), got) => {
                vec![format!("expected {expected}, got {got}")]
            }
        }
    }
}

impl fmt::Display for ExpectedTensorLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Illegal(code) => write!(f, "illegal, {code}"),
            Self::Fault(code) => write!(f, "fault, {code}"),
            Self::Loaded(_) => f.write_str("registers"),
        }
    }
}

impl ExpectedRegisters {
    fn compare(&self, loaded: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        let hex = |value: u32| format!("{value:#010x}");
        let shown = |got: Option<u32>| got.map_or("nothing".to_owned(), hex);
        if self.count != loaded.count {
            differences.push(difference(&"registers a thread", &self.count, &loaded.count));
        }
        if let Some(loaded) = &loaded.all {
            let all = self.all.iter().flatten().enumerate().flat_map(|(thread, values)| {
                values.iter().enumerate().map(move |(register, value)| (thread, register, *value))
            });
            for (thread, register, expected) in all.chain(self.samples.iter().copied()) {
                let got = loaded.get(thread).and_then(|values| values.get(register)).copied();
                if got != Some(expected) {
                    let place = format_args!("thread {thread} register {register}");
                    differences.push(difference(&place, &hex(expected), &shown(got)));
                }
            }
        }
        if loaded.sha256 != self.sha256 {
            let place = "SHA-256 of the registers";
            differences.push(difference(&place, &self.sha256, &loaded.sha256));
        }
        let (Some(expected), got) = (&self.reduced, &loaded.reduced) else { return differences };
        if got.is_some() && got != &self.reduced && got == &self.reduced_by_lane {
            let line = "the reduction is over both halves of a lane, not over each";
            differences.push(line.to_owned());
        }
        for thread in 0..LANES {
            let (expected, got) = (expected[thread], got.map(|row| row[thread]));
            if got != Some(expected) {
                let place = format_args!("thread {thread} reduction");
                differences.push(difference(&place, &hex(expected), &shown(got)));
            }
        }
        differences
    }
}
