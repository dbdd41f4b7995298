//! [`RunError`]: why a load is not executed.

use crate::meaning::MeaningError;
use crate::syntax::{Position, Span};
use crate::tensor::TensorLoadErrorKind;
use warpload::lane::LaneMask;

/// Why a load is not executed, and the place. Faults of the emulated machine are not errors: see [`Executed::faults`](super::Executed::faults).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {kind}", position.line, position.column)]
#[non_exhaustive]
pub struct RunError {
    /// What is missing.
    pub kind: RunErrorKind,
    /// The bytes of the module's text that ask for it.
    pub span: Span,
    /// Where they begin.
    pub position: Position,
}

/// What keeps a load from being executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunErrorKind {
    /// The load has no meaning.
    #[error(transparent)]
    Meaning(MeaningError),
    /// A register that the load reads has no value:
    /// [`RegisterFile::set`](super::RegisterFile::set) sets one.
    #[error("register `{register}` has no value{}", .in_lanes(*lanes))]
    NoValue {
        /// Its name.
        register: String,
        /// The lanes that need one.
        lanes: LaneMask,
        /// Whether it is a predicate.
        is_predicate: bool,
    },
    /// The load reads bytes of a parameter, or of what a call returns, that has no value:
    /// [`Placement::set_parameter`](super::Placement::set_parameter) sets one, and so does a memory
    /// with its bytes.
    #[error("parameter `{parameter}` has no value")]
    NoParameter {
        /// Its name.
        parameter: String,
    },
    /// The load reads bytes of a variable whose initial value is not known here: the address of a
    /// function, or a malformed initializer. A memory with its bytes has a value.
    #[error(
        "the initial value of `{variable}` is unknown: `{value}` in line {line} has no value here"
    )]
    NoInitialValue {
        /// The variable's name.
        variable: String,
        /// The word of its initial value.
        value: String,
        /// The line of that word.
        line: u32,
    },
    /// The address of a variable that is not laid out: that of another function.
    #[error("`{0}` is a variable of another function")]
    Unplaced(String),
    /// An illegal load of Tensor Memory.
    #[error(transparent)]
    Tensor(TensorLoadErrorKind),
    /// A load of Tensor Memory without one; set [`Environment::tensor`](super::Environment::tensor).
    #[error("this load needs Tensor Memory, and none is given")]
    NoTensorMemory,
    /// Some lanes do not execute a load of Tensor Memory, which a whole warp executes.
    #[error("`.sync.aligned` requires all 32 lanes, but lanes {missing:#010x} do not execute")]
    NotAllLanes {
        /// The lanes that are inactive or predicated off.
        missing: LaneMask,
    },
    /// The lanes have different addresses of Tensor Memory.
    #[error(
        "`{register}` holds {first:#x} in lane 0 and {other:#x} in lane {lane}; all lanes must have one \
         address"
    )]
    AddressesDiffer {
        /// The address register's name.
        register: String,
        /// What it holds in lane 0.
        first: u32,
        /// The first lane in which it holds something else.
        lane: usize,
        /// What it holds there.
        other: u32,
    },
}

fn in_lanes(lanes: LaneMask) -> String {
    match lanes {
        LaneMask::ALL => String::new(),
        lanes => format!(" in lanes {lanes:#010x}"),
    }
}
