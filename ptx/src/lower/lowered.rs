//! [`LoweredLoad`], a load with its SM 5.x instructions, and [`LowerError`], the reason why it has none.

use warpload::encoding::{Instruction, Pred, Reg};

use crate::meaning::{MeaningError, Register, ResolvedAddress};
use crate::module::{LayoutError, StatementId};
use crate::syntax::Span;
use crate::syntax::load::PtxLoad;

/// A load and its SM 5.x instructions.
#[derive(Clone, Debug)]
pub struct LoweredLoad<'m> {
    /// The load.
    pub load: PtxLoad<'m>,
    /// The instructions in order. Empty if the load becomes a constant operand of its users, or a register of the
    /// calling convention.
    pub instructions: Vec<Instruction>,
    /// The contents of the instructions' registers.
    pub bindings: Vec<Binding>,
}

/// The contents of a register of a lowered load, before or after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Before the load: an address.
    Address {
        /// The register; the lower of two if the address is wide.
        register: Reg,
        /// Whether it has 64 bits, in two registers.
        is_wide: bool,
        /// The address in the PTX.
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
        /// The PTX register that holds the guard.
        register: Register,
    },
    /// Before the load: the offset in local memory at which the function's own variables begin.
    Frame {
        /// The register.
        register: Reg,
    },
    /// Instead of an instruction: the elements as an operand `c[bank][offset]` of the instructions that use them.
    Constant {
        /// The constant bank.
        bank: u8,
        /// The offset of the first byte.
        offset: u32,
        /// The PTX registers, the first element first; `None` for a sink.
        elements: Vec<Option<Register>>,
    },
    /// After the load: elements, packed from the lowest byte of the first register on.
    Destination {
        /// The instruction's place in [`LoweredLoad::instructions`].
        instruction: usize,
        /// The first register.
        register: Reg,
        /// The number of registers: 1, 2 or 4.
        count: u32,
        /// The PTX registers, the first element first; `None` for a sink.
        elements: Vec<Option<Register>>,
    },
}

/// The reason why a load has no SPA 5.0 form, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}")]
pub struct LowerError {
    /// The load's place in [`Module::statements`](crate::Module::statements).
    pub load: StatementId,
    /// The part of the load at fault.
    pub span: Span,
    /// The reason.
    pub kind: LowerErrorKind,
}

/// The reason why a load has no SPA 5.0 form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerErrorKind {
    /// The load has no meaning.
    #[error(transparent)]
    Meaning(#[from] MeaningError),
    /// A variable that the load may name has no layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// It reads Tensor Memory.
    #[error("SM 5.x has no Tensor Memory")]
    Tensor,
    /// It has a memory order that SM 5.x lacks.
    #[error("SM 5.x does not support `.relaxed`, `.acquire` or `.mmio`")]
    Ordered,
    /// It loads more than 16 bytes, or 16 bytes from a constant bank.
    #[error("SM 5.x cannot load {bytes} bytes at once from this space")]
    TooWide {
        /// The access size of a lane in bytes.
        bytes: u32,
    },
}

impl LowerErrorKind {
    /// The place at fault; `load` if the error concerns the load as a whole.
    pub(super) fn span(self, load: Span) -> Span {
        match self {
            Self::Meaning(error) => error.span().unwrap_or(load),
            Self::Layout(error) => error.span(),
            Self::Tensor | Self::Ordered | Self::TooWide { .. } => load,
        }
    }
}
