//! [`LoweredLoad`], what a load becomes, and [`LowerError`], why it has no form.

use warpload::encoding::{Instruction, Pred, Reg};

use crate::meaning::{MeaningError, Register, ResolvedAddress};
use crate::module::{LayoutError, StatementId};
use crate::syntax::Span;
use crate::syntax::load::PtxLoad;

/// How much the assembler optimizes, as ptxas counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OptimizationLevel {
    /// `-O0`: addresses are unknown, and parameters are loaded.
    O0,
    /// `-O1`.
    O1,
    /// `-O2`.
    O2,
    /// `-O3`, the assembler's default.
    #[default]
    O3,
}

/// A load and what it becomes.
#[derive(Clone, Debug)]
pub struct LoweredLoad<'m> {
    /// The load.
    pub load: PtxLoad<'m>,
    /// The instructions in their order; empty if the load becomes a constant operand of what
    /// uses it, or a register of the calling convention.
    pub instructions: Vec<Instruction>,
    /// What the instructions' registers hold.
    pub bindings: Vec<Binding>,
}

/// What a register of a lowered load holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Before the load: an address.
    Address {
        /// The register; the lower word of two if the address is wide.
        register: Reg,
        /// Whether it has 64 bits, in two registers.
        is_wide: bool,
        /// What it is the address of.
        place: ResolvedAddress,
    },
    /// Before the load: true if the generic address is not in shared memory.
    Plg {
        /// The predicate.
        predicate: Pred,
        /// The address.
        place: ResolvedAddress,
    },
    /// Before the load: the guard.
    Guard {
        /// The predicate.
        predicate: Pred,
        /// The PTX register that it is.
        register: Register,
    },
    /// Before the load: the offset in local memory from which on the function's own variables
    /// lie.
    Frame {
        /// The register.
        register: Reg,
    },
    /// Instead of an instruction: the place of the elements as an operand of what uses them,
    /// `c[bank][offset]`.
    Constant {
        /// The constant bank.
        bank: u8,
        /// The first byte.
        offset: u32,
        /// The PTX registers, the first element first; `None` for a sink.
        elements: Vec<Option<Register>>,
    },
    /// After the load: elements, side by side from the lowest byte of the first register on.
    Destination {
        /// The instruction's place in [`LoweredLoad::instructions`].
        instruction: usize,
        /// The first register.
        register: Reg,
        /// How many there are, 1, 2 or 4.
        count: u32,
        /// The PTX registers, the first element first; `None` for a sink.
        elements: Vec<Option<Register>>,
    },
}

/// Why a load has no SPA 5.0 form, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct LowerError {
    /// The load's place in [`Module::statements`](crate::Module::statements).
    pub load: StatementId,
    /// The place at fault in it.
    pub span: Span,
    /// Why.
    pub kind: LowerErrorKind,
}

/// Why a load has no SPA 5.0 form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerErrorKind {
    /// The load has no meaning.
    #[error(transparent)]
    Meaning(#[from] MeaningError),
    /// The variables that it may name have no layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// It reads Tensor Memory.
    #[error("SM 5.x has no Tensor Memory")]
    Tensor,
    /// It orders memory as only later machines do.
    #[error("no load of SM 5.x is `.relaxed`, `.acquire` or `.mmio`")]
    Ordered,
    /// It loads more than 16 bytes, or 16 bytes from a constant bank.
    #[error("no load of SM 5.x has {bytes} bytes in this space")]
    TooWide {
        /// The bytes of a lane.
        bytes: u32,
    },
}

impl LowerErrorKind {
    /// Returns the place at fault in the load at `load`.
    pub(super) fn span(self, load: Span) -> Span {
        match self {
            Self::Meaning(error) => error.span().unwrap_or(load),
            Self::Layout(error) => error.span(),
            Self::Tensor | Self::Ordered | Self::TooWide { .. } => load,
        }
    }
}
