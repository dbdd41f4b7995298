//! `warpload._native`: what the Python package `warpload` consists of below its Python files.

mod arrays;
mod borrowed;
mod command;
mod error;
mod instruction;
mod machine;
mod memory;
mod outcome;
mod stream;
mod table;
mod trace;
mod waiting;
mod warp;

/// The module. Everything in it is exported by `warpload`, where its documentation is read.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::command::{Answer, call, run, survive_forks};
    #[pymodule_export]
    use crate::instruction::{Instruction, decode, encode};
    #[pymodule_export]
    use crate::machine::{Machine, execute};
    #[pymodule_export]
    use crate::memory::Memory;
    #[pymodule_export]
    use crate::outcome::{LaneFault, Outcome, WarpFault};
    #[pymodule_export]
    use crate::table::{Table, per_pc, per_pc_copies, shard_summary};
    #[pymodule_export]
    use crate::trace::{Replayed, Trace};
    #[pymodule_export]
    use crate::warp::Warp;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "a name of Python's")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
