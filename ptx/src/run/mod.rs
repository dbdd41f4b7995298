//! Executes the loads of a function one by one, on the machine that also runs kernels. docs/ptx-run.md has the rules.
//!
//! A [`Launch`] is what users give: values of registers and parameters, and addresses of variables. [`Launch::prepare`]
//! puts the variables into the memory of a machine, and decodes the loads; [`PtxRun::each`] executes them.

mod error;
mod launch;
mod report;
mod steps;
mod undefined;
mod value;
mod variables;

pub use self::error::{RunError, RunErrorKind};
pub(crate) use self::launch::elements;
pub use self::launch::{Launch, LaunchError, LaunchValue, LaunchValueError};
pub use self::report::{LoadReport, RegisterReport, TensorFaultReport};
pub use self::steps::{Executed, LaunchStep, PtxRun, RegisterValue, TensorExecuted};
pub use self::undefined::Undefined;
pub use self::value::{ValueError, bits_of, lane_bits};
pub use self::variables::PlacementError;
pub use crate::module::GLOBAL_BASE;
pub use warpload_machine::WarpTensorMemory;
