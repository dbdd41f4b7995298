//! The instructions and source lines of program counters, looked up in the cubins of a trace's kernels, and a check
//! that trace and cubins fit: [`CodeCheck`].

use std::collections::BTreeSet;
use std::sync::Arc;

use warpload_encoding::{Decoded, Instruction};

use super::replayed::Replayed;
use warpload_binary::sass::{Functions, SourceLine};
use warpload_trace::{MemoryOperation, OperationKind};

/// The result of looking up a program counter in the cubins.
pub(super) enum Answer {
    /// No cubin has the kernel.
    NoKernel,
    /// The kernel has no instruction at that offset.
    NoInstruction,
    /// The instruction's opcode differs from the trace's; `None` if the instruction is not a load.
    OtherOpcode(Option<String>),
    /// The instruction, if it is a load, and its source line, if known.
    Here(Option<Arc<str>>, Option<SourceLine>),
}

impl Answer {
    /// The instruction and its source line, each if known.
    pub(super) fn known(self) -> (Option<Arc<str>>, Option<SourceLine>) {
        match self {
            Self::Here(sass, source) => (sass, source),
            Self::NoKernel | Self::NoInstruction | Self::OtherOpcode(_) => (None, None),
        }
    }
}

/// Looks up a program counter.
pub(super) fn look_up(
    functions: &Functions,
    kernel: &str,
    pc: u32,
    operation: &MemoryOperation,
) -> Answer {
    let Some(function) = functions.get(kernel) else { return Answer::NoKernel };
    let Some(located) = function.at(pc.into()) else { return Answer::NoInstruction };
    let Decoded::Load(load) = Instruction::decode(located.word, located.sm) else {
        // Only loads can be decoded and compared.
        return match operation.kind {
            OperationKind::Load => Answer::OtherOpcode(None),
            _ => Answer::Here(None, located.source),
        };
    };
    let opcode = load.opcode();
    if opcode.as_str() != &*operation.opcode {
        return Answer::OtherOpcode(Some(opcode.as_str().to_owned()));
    }
    Answer::Here(Some(load.to_string().into()), located.source)
}

/// How well the program counters of a replay fit the given cubins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeCheck {
    /// The kernels that no cubin has, each name once, in launch order.
    pub missing: Vec<Arc<str>>,
    /// The distinct program counters of the other kernels.
    pub program_counters: u64,
    /// Program counters at which no instruction begins.
    pub outside: u64,
    /// Program counters with an opcode that differs from the instruction's.
    pub other_opcode: u64,
    /// The first program counter that does not fit.
    pub first: Option<CodeMismatch>,
}

/// A program counter that does not fit the cubin of its kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeMismatch {
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// The program counter.
    pub pc: u32,
    /// The opcode in the trace.
    pub opcode: Arc<str>,
    /// A description of the cubin's instruction.
    pub found: String,
}

impl Replayed<'_> {
    /// Compares the replayed loads, stores, atomics and copies with the cubins in the options; `None` without cubins.
    #[must_use]
    pub fn code_check(&self) -> Option<CodeCheck> {
        let functions = self.options().get_functions()?;
        let mut check = CodeCheck::default();
        let (mut missing, mut seen) = (BTreeSet::new(), BTreeSet::new());
        for row in self.program_counters().chain(self.stores()).chain(self.copies()) {
            let (kernel, opcode) = (&row.summary.kernel, &row.summary.opcode);
            let found = match look_up(functions, kernel, row.pc, row.operation) {
                Answer::NoKernel => {
                    if missing.insert(Arc::clone(kernel)) {
                        check.missing.push(Arc::clone(kernel));
                    }
                    continue;
                }
                // A kernel can be launched many times, but counts once.
                _ if !seen.insert((Arc::clone(kernel), row.pc, Arc::clone(opcode))) => continue,
                Answer::Here(..) => None,
                Answer::NoInstruction => {
                    check.outside += 1;
                    Some("no instruction".to_owned())
                }
                Answer::OtherOpcode(opcode) => {
                    check.other_opcode += 1;
                    Some(opcode.unwrap_or_else(|| "no load".to_owned()))
                }
            };
            check.program_counters += 1;
            if let (Some(found), None) = (found, &check.first) {
                let (kernel, opcode) = (Arc::clone(kernel), Arc::clone(opcode));
                check.first = Some(CodeMismatch { kernel, pc: row.pc, opcode, found });
            }
        }
        Some(check)
    }
}
