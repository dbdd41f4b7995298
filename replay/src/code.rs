//! The instructions and source lines of program counters, looked up in the cubins of a trace's kernels, and a check
//! that trace and cubins fit: [`CodeCheck`].

use std::collections::BTreeSet;
use std::sync::Arc;

use warpload_encoding::{Decoded, Instruction};

use crate::row::{AccessKind, Row};
use crate::summary::Summary;
use warpload_binary::sass::{Functions, SourceLine};

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
    opcode: &str,
    is_load: bool,
) -> Answer {
    let Some(function) = functions.get(kernel) else { return Answer::NoKernel };
    let Some(located) = function.at(pc.into()) else { return Answer::NoInstruction };
    let Decoded::Load(load) = Instruction::decode(located.word, located.sm) else {
        // Only loads can be decoded and compared.
        return match is_load {
            true => Answer::OtherOpcode(None),
            false => Answer::Here(None, located.source),
        };
    };
    let found = load.opcode();
    if found.as_str() != opcode {
        return Answer::OtherOpcode(Some(found.as_str().to_owned()));
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

impl CodeCheck {
    /// Compares the rows of a replay of a trace with the cubins of its kernels.
    #[must_use]
    pub fn new(summary: &Summary, functions: &Functions) -> Self {
        let mut check = Self::default();
        let mut missing = BTreeSet::new();
        // A kernel can be launched many times, but counts once.
        for row in &summary.by_kernel().rows {
            let Row { kernel, opcode, kind, .. } = row;
            let pc = row.pc.0 as u32;
            let found = match look_up(functions, kernel, pc, opcode, *kind == AccessKind::Load) {
                Answer::NoKernel => {
                    if missing.insert(Arc::clone(kernel)) {
                        check.missing.push(Arc::clone(kernel));
                    }
                    continue;
                }
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
                check.first = Some(CodeMismatch { kernel, pc, opcode, found });
            }
        }
        check
    }
}
