//! [`TensorInstruction`], a load of Tensor Memory from PTX or from an `LDTM`, and [`TensorRun`], which executes it
//! alone.

use std::ops::Range;

use warpload::encoding::Instruction;
use warpload::lane::LANES;

use super::sass::SassTensorLoad;
use crate::syntax::Span;
use crate::syntax::load::read_load;
use warpload_machine::tensor::{
    Issue, Rules, TensorAddress, TensorFault, TensorLoad, TensorMemory, TensorRegisters, execute,
};

/// A load of Tensor Memory with the names of its registers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorInstruction {
    /// The text: in PTX the opcode with its qualifiers, and for an `LDTM` the whole instruction.
    pub text: String,
    /// The load.
    pub load: TensorLoad,
    /// The names of its data registers.
    pub registers: Vec<String>,
    /// The name of the register for the result of a reduction.
    pub reduced: Option<String>,
    /// The offset added to the address register.
    pub address_offset: u32,
    /// The threads that execute.
    pub threads: Range<usize>,
}

/// The reason why a text is not a load that can be run alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct TensorInstructionError {
    /// The code of the broken rule; `syntax` for a text that cannot be read.
    pub code: &'static str,
    /// The error message.
    pub message: String,
    /// The place of the error in the text; empty for an `LDTM`.
    pub span: Span,
}

impl TensorInstruction {
    /// Reads a load in PTX.
    ///
    /// # Errors
    /// Returns [`TensorInstructionError`] if the text is not a legal `tcgen05.ld`, or has a guard.
    pub fn parse(text: &str) -> Result<Self, TensorInstructionError> {
        let syntax = |message, span| TensorInstructionError { code: "syntax", message, span };
        let load = read_load(text).map_err(|error| syntax(error.kind.to_string(), error.span))?;
        if let Some(guard) = load.load().and_then(|load| load.guard) {
            let message = "a single load cannot have a guard; use a module".to_owned();
            return Err(syntax(message, guard.register));
        }
        let written = load.tensor_load(text).map_err(|error| TensorInstructionError {
            code: error.code(),
            message: error.to_string(),
            span: error.span,
        })?;
        let name = |span: Span| span.text(text).to_owned();
        Ok(Self {
            text: written.load.to_string(),
            load: written.load,
            registers: written.registers.iter().copied().map(name).collect(),
            reduced: written.reduced.map(name),
            address_offset: written.address_offset,
            threads: 0..LANES,
        })
    }

    /// Converts an `LDTM`.
    ///
    /// # Errors
    /// Returns [`TensorInstructionError`] if it has a guard or too few registers.
    pub fn of_sass(
        instruction: &Instruction,
        tensor: &SassTensorLoad,
    ) -> Result<Self, TensorInstructionError> {
        let span = Span { start: 0, end: 0 };
        let error = |message| TensorInstructionError { code: "syntax", message, span };
        let guard = instruction.parts().guard;
        if !guard.pred.is_true() || guard.negated {
            return Err(error(
                "a load that is run alone cannot have a guard; remove it".to_owned(),
            ));
        }
        Ok(Self {
            text: instruction.to_string(),
            load: tensor.load,
            registers: tensor.data_registers().map_err(|missing| error(missing.to_string()))?,
            reduced: tensor.reduced.map(|register| register.to_string()),
            address_offset: tensor.address_offset,
            threads: tensor.threads(),
        })
    }

    /// Whether all threads execute.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.threads.len() == LANES
    }
}

/// The conditions under which a load of Tensor Memory is run.
///
/// ```
/// use warpload_ptx::tensor::{Pattern, TensorAddress, TensorInstruction, TensorMemory, TensorRun};
///
/// let text = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [taddr];";
/// let load = TensorInstruction::parse(text)?;
/// let run = TensorRun { warp: 1, address: TensorAddress::new(32, 8), ..TensorRun::default() };
/// let (_, registers) = run.execute(&load, &TensorMemory::filled(Pattern::LaneColumn))?;
/// assert_eq!(registers.data()[1][5], 37 << 16 | 9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TensorRun {
    /// The warp's number in its thread block. Its value modulo 4 determines the lanes that it can read.
    pub warp: u32,
    /// The contents of the address register: lane << 16 | column.
    pub address: TensorAddress,
    /// The checks on addresses.
    pub rules: Rules,
}

impl TensorRun {
    /// Executes a load. Returns the warp and address that it read from, and the registers.
    ///
    /// # Errors
    /// Returns [`TensorFault`] if the warp may not read from the address.
    pub fn execute(
        &self,
        instruction: &TensorInstruction,
        memory: &TensorMemory,
    ) -> Result<(Issue, TensorRegisters), TensorFault> {
        let issue = Issue::new(self.warp, self.address.plus(instruction.address_offset));
        let mut registers = TensorRegisters::new();
        execute(&instruction.load, issue, memory, &self.rules, &mut registers)?;
        Ok((issue, registers))
    }
}
