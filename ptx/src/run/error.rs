//! [`RunError`]: the reasons why a load cannot be executed.

use crate::meaning::MeaningError;
use crate::syntax::{Position, Span};
use warpload::lane::LaneMask;

/// The reason why a load cannot be executed, and its place. Faults of the emulated machine are not errors; see
/// [`Executed::faults`](super::Executed::faults).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {kind}", position.line, position.column)]
#[non_exhaustive]
pub struct RunError {
    /// The reason.
    pub kind: RunErrorKind,
    /// The operand or qualifier of the load that causes the error.
    pub span: Span,
    /// The position of the first byte of `span`.
    pub position: Position,
}

/// The kind of a [`RunError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunErrorKind {
    /// The load cannot be resolved.
    #[error(transparent)]
    Meaning(MeaningError),
    /// A register that the load reads has no value: [`Launch::register`](super::Launch::register) sets one.
    #[error("register `{register}` has no value{}", .in_lanes(*lanes))]
    NoValue {
        /// Its name.
        register: String,
        /// The lanes with an unknown value.
        lanes: LaneMask,
        /// Whether it is a predicate.
        is_predicate: bool,
    },
    /// The load reads a parameter, or a result of a call, with an unknown value.
    /// [`Launch::parameter`](super::Launch::parameter) sets it; a memory image with these bytes does, too.
    #[error("parameter `{parameter}` has no value")]
    NoParameter {
        /// Its name.
        parameter: String,
    },
    /// The load reads bytes between parameters. A GPU does not say what they hold.
    #[error("the bytes between parameters have no value")]
    Padding,
    /// The load reads a variable with an unknown initial value: the address of a function, or a malformed initializer.
    /// A memory image with these bytes provides a value.
    #[error(
        "the initial value of `{variable}` is unknown: `{value}` in line {line} has no value here"
    )]
    NoInitialValue {
        /// The variable's name.
        variable: String,
        /// The word of the initializer that is unknown.
        value: String,
        /// The line of that word.
        line: u32,
    },
    /// The load names a variable without an address, because it belongs to another function.
    #[error("`{0}` is a variable of another function")]
    Unplaced(String),
    /// A load of Tensor Memory without one. [`Launch::tensor`](super::Launch::tensor) sets it.
    #[error("this load needs Tensor Memory, and none is given")]
    NoTensorMemory,
    /// Some lanes do not execute a load of Tensor Memory, although all 32 must.
    #[error("`.sync.aligned` requires all 32 lanes, but lanes {missing:#010x} do not execute")]
    NotAllLanes {
        /// The lanes that are inactive or have a false guard.
        missing: LaneMask,
    },
    /// A load of Tensor Memory has different addresses in different lanes.
    #[error(
        "`{register}` holds {first:#x} in lane 0 and {other:#x} in lane {lane}; all lanes must have one \
         address"
    )]
    AddressesDiffer {
        /// The address register's name.
        register: String,
        /// The address in lane 0.
        first: u32,
        /// The first lane with a different address.
        lane: usize,
        /// The address in that lane.
        other: u32,
    },
}

fn in_lanes(lanes: LaneMask) -> String {
    match lanes {
        LaneMask::ALL => String::new(),
        lanes => format!(" in lanes {lanes:#010x}"),
    }
}
