//! Loads of Tensor Memory as text: [`read_load`](crate::read_load) reads the PTX of a load, and [`SassTensorLoad`] an
//! instruction word. `warpload_machine::tensor` has the loads themselves.

pub(crate) mod judge;
mod run;
mod sass;
mod written;

pub use self::run::{TensorInstruction, TensorInstructionError, TensorRun};
pub use self::sass::{MissingRegisters, SassTensorError, SassTensorLoad, explain};
pub use self::written::{TensorLoadError, TensorLoadErrorKind, WrittenTensorLoad};
pub(crate) use self::written::{fixed_operands, reduced};
pub use warpload_machine::tensor::*;
