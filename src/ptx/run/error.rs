//! Why a load cannot be executed.

use crate::lane::LaneMask;
use crate::ptx::{MeaningError, Position, Span};

/// Why a load cannot be executed, and where. What goes wrong in the emulated machine is none of
/// these: see [`Executed::faults`](super::Executed::faults).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {kind}", position.line, position.column)]
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
    /// [`Registers::set`](super::Registers::set) gives it one.
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
    /// [`Placement::set_parameter`](super::Placement::set_parameter) gives it one, and so does
    /// a memory with its bytes.
    #[error("parameter `{parameter}` has no value")]
    NoParameter {
        /// Its name.
        parameter: String,
    },
    /// The address of a variable that is not laid out: that of another function.
    #[error("`{0}` lies nowhere in the function that is executed")]
    Unplaced(String),
}

fn in_lanes(lanes: LaneMask) -> String {
    match lanes {
        LaneMask::ALL => String::new(),
        lanes => format!(" in lanes {lanes:#010x}"),
    }
}
