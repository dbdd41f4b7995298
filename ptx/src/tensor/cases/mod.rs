//! Test cases in JSON: a load, what it reads, and the expected registers, fault or broken rule. The format: docs/tensor-memory.md.

use std::cell::OnceCell;
use std::fmt;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::execute::{Registers, execute};
use super::instruction::TensorLoad;
use super::judge::IllegalLoadError;
use super::memory::TensorMemory;
use super::pattern::Pattern;
use super::rules::{Issue, Rules};
use warpload::lane::{LANES, LaneValues};

mod read;

/// How certain a case's expectation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// The PTX ISA says so.
    Documented,
    /// Several independent sources agree.
    Corroborated,
    /// Measured on hardware by a public project.
    Measured,
    /// Inferred; no source says so.
    Inferred,
}

/// One test case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name.
    pub id: String,
    /// How certain its expectation is.
    pub confidence: Confidence,
    /// What it is about.
    pub note: Option<String>,
    /// The load, or the rule that its combination breaks.
    pub load: Result<TensorLoad, IllegalLoadError>,
    /// The warp and the address.
    pub issue: Issue,
    /// What the load is checked against.
    pub rules: Rules,
    /// What Tensor Memory holds.
    pub pattern: Pattern,
    /// The expected outcome.
    pub expected: Expected,
}

/// What a case expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The assembler refuses the instruction, by the rule of this code.
    Illegal(String),
    /// Executing it is undefined, by the rule of this code.
    Fault(String),
    /// Registers are loaded.
    Loaded(Box<ExpectedRegisters>),
}

/// The registers that a case expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedRegisters {
    /// How many data registers each thread gets.
    pub count: usize,
    /// The digest of all of them, see [`digest`], in lower-case hexadecimal digits.
    pub sha256: String,
    /// All of them, by thread, if given.
    pub all: Option<Vec<Vec<u32>>>,
    /// Some of them: thread, register, value.
    pub samples: Vec<(usize, usize, u32)>,
    /// The result of the reduction, thread 0 first.
    pub reduced: Option<LaneValues>,
    /// The result under the other reading of a reduction of `.16x32bx2`, in which both threads of a
    /// lane get the result over both halves.
    pub reduced_by_lane: Option<LaneValues>,
}

/// One way in which an outcome is not what a case expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Registers, a fault or a broken rule, when another of these was expected.
    Outcome {
        /// What was expected: a rule and its code, or `registers`.
        expected: String,
        /// The outcome.
        got: String,
    },
    /// How many data registers there are.
    Count {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// A data register.
    Register {
        /// The thread, 0..=31.
        thread: usize,
        /// The register's number.
        register: usize,
        /// What it should hold.
        expected: u32,
        /// What it holds; `None` if there is no such register.
        got: Option<u32>,
    },
    /// The digest of all data registers.
    Digest {
        /// What it should be.
        expected: String,
        /// What it is.
        got: String,
    },
    /// The result of the reduction.
    Reduced {
        /// The thread, 0..=31.
        thread: usize,
        /// What it should get.
        expected: u32,
        /// What it gets; `None` if the load has no reduction.
        got: Option<u32>,
    },
    /// The reduction is as expected under the reading by lanes, but not by threads.
    ReadByLane,
}

/// The memories of all patterns, each made on first use.
#[derive(Debug, Default)]
pub struct PatternMemories([OnceCell<TensorMemory>; Pattern::ALL.len()]);

impl PatternMemories {
    /// Returns the memory that holds this pattern.
    #[must_use]
    pub fn get(&self, pattern: Pattern) -> &TensorMemory {
        // The patterns are numbered as `ALL` lists them.
        self.0[pattern as usize].get_or_init(|| TensorMemory::filled(pattern))
    }
}

/// Returns the SHA-256 of all data registers, thread after thread, each register as four little-endian bytes;
/// in lower-case hexadecimal digits.
#[must_use]
pub fn digest(registers: &Registers) -> String {
    let mut hasher = Sha256::new();
    for value in registers.by_thread() {
        hasher.update(value.to_le_bytes());
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Case {
    /// Executes the load and returns how the outcome differs from what is expected. A reduction
    /// that does not exist is illegal, whatever the code: cases have no common one for it.
    pub fn check(&self, memories: &PatternMemories, registers: &mut Registers) -> Vec<Difference> {
        let is_refused = matches!(self.expected, Expected::Illegal(_));
        if is_refused && self.load == Err(IllegalLoadError::ReductionKind) {
            return Vec::new();
        }
        let memory = memories.get(self.pattern);
        let outcome = match &self.load {
            Err(illegal) => Err(format!("illegal, {}", illegal.code())),
            Ok(load) => execute(load, self.issue, memory, &self.rules, registers)
                .map_err(|fault| format!("fault, {}", fault.code())),
        };
        let expected = match &self.expected {
            Expected::Illegal(code) => format!("illegal, {code}"),
            Expected::Fault(code) => format!("fault, {code}"),
            Expected::Loaded(expected) if outcome.is_ok() => return expected.compare(registers),
            Expected::Loaded(_) => "registers".to_owned(),
        };
        match outcome {
            Err(got) if got == expected => Vec::new(),
            Err(got) => vec![Difference::Outcome { expected, got }],
            Ok(()) => vec![Difference::Outcome { expected, got: "registers".to_owned() }],
        }
    }
}

impl ExpectedRegisters {
    fn compare(&self, registers: &Registers) -> Vec<Difference> {
        let data = registers.data();
        let mut differences = Vec::new();
        let (expected, got) = (self.count, data.len());
        if expected != got {
            differences.push(Difference::Count { expected, got });
        }
        let all = self.all.iter().flatten().enumerate().flat_map(|(thread, values)| {
            values.iter().enumerate().map(move |(register, value)| (thread, register, *value))
        });
        for (thread, register, expected) in all.chain(self.samples.iter().copied()) {
            let got = data.get(register).and_then(|row| row.get(thread)).copied();
            if got != Some(expected) {
                differences.push(Difference::Register { thread, register, expected, got });
            }
        }
        let got = digest(registers);
        if got != self.sha256 {
            differences.push(Difference::Digest { expected: self.sha256.clone(), got });
        }
        self.compare_reduced(registers.reduced(), &mut differences);
        differences
    }

    fn compare_reduced(&self, got: Option<&LaneValues>, differences: &mut Vec<Difference>) {
        let Some(expected) = &self.reduced else { return };
        if got == Some(expected) {
            return;
        }
        if got.is_some() && got == self.reduced_by_lane.as_ref() {
            differences.push(Difference::ReadByLane);
        }
        for thread in 0..LANES {
            let (expected, got) = (expected[thread], got.map(|row| row[thread]));
            if got != Some(expected) {
                differences.push(Difference::Reduced { thread, expected, got });
            }
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |got: &Option<u32>| got.map_or("nothing".to_owned(), |v| format!("{v:#010x}"));
        match self {
            Self::Outcome { expected, got } => write!(f, "expected {expected}, got {got}"),
            Self::Count { expected, got } => {
                write!(f, "registers a thread: expected {expected}, got {got}")
            }
            Self::Register { thread, register, expected, got } => write!(
                f,
                "thread {thread} register {register}: expected {expected:#010x}, got {}",
                value(got)
            ),
            Self::Digest { expected, got } => {
                write!(f, "SHA-256 of the registers: expected {expected}, got {got}")
            }
            Self::Reduced { thread, expected, got } => write!(
                f,
                "thread {thread} reduction: expected {expected:#010x}, got {}",
                value(got)
            ),
            Self::ReadByLane => {
                f.write_str("the reduction is over both halves of a lane, not over each")
            }
        }
    }
}
