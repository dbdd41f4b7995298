//! Executes the machine code of CUDA kernels for SM 5.0 to 6.2 (Maxwell, Pascal) without a GPU.
//!
//! A [`SassProgram`] is a cubin as it is loaded: code, constant banks, variables. [`lower`] turns the instructions of a
//! kernel into operations of [`warpload_machine`], which executes them: registers are rows of 32 lanes, a pair of
//! registers is joined where an operation has 64 bits, and `SSY`, `PBK`, `PRET` and their kin push the scopes where lanes
//! join again. Control words are not needed for results; a launch can check
//! that they wait for what instructions use ([`Checks::scoreboard`](warpload_machine::Checks::scoreboard)).

#![forbid(unsafe_code)]

mod lower;
mod program;
mod texts;

pub use self::lower::{Lowered, lower};
pub use self::program::{KernelParameter, SassError, SassKernel, SassLaunch, SassProgram};

/// The README's example, compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
