//! `warpload._native`: the native part of the Python package `warpload`.
#![allow(
    clippy::result_large_err,
    reason = "each becomes an exception, which costs more than the copies"
)]

mod arrays;
mod borrowed;
mod command;
mod conform;
mod error;
mod explain;
mod instruction;
mod kernel;
mod literals;
mod loads;
mod machine;
mod memory;
mod module;
mod notebook;
mod objects;
mod open;
mod options;
mod outcome;
mod ptx;
mod record;
mod replay;
mod stream;
mod table;
mod tmem;
mod trace;
mod vectors;
mod waiting;
mod warp;
mod words;

/// The native module. `warpload` exports and documents everything in it.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::command::{run, survive_forks};
    #[pymodule_export]
    use crate::conform::{CaseFailure, Conformance, FlagCounts, conform};
    #[pymodule_export]
    use crate::explain::{Explanation, Field, explain};
    #[pymodule_export]
    use crate::instruction::{Address, Instruction, decode, encode};
    #[pymodule_export]
    use crate::kernel::{
        KernelFault, KernelParameter, Launch, LaunchCounts, PtxKernel, SkippedInstruction,
        UnknownBytes,
    };
    #[pymodule_export]
    use crate::loads::{Control, Load, decode_file};
    #[pymodule_export]
    use crate::machine::{Machine, execute};
    #[pymodule_export]
    use crate::memory::Memory;
    #[pymodule_export]
    use crate::module::KernelModule;
    #[pymodule_export]
    use crate::outcome::{LaneFault, Outcome, WarpFault};
    #[pymodule_export]
    use crate::ptx::{
        Check, CheckedLoad, LoweredLoad, RanLoad, Violation, check_ptx, lower_ptx, run_ptx,
    };
    #[pymodule_export]
    use crate::replay::{Comparison, Replay, compare, merge, replay_arguments};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::tmem::{Cell, Loaded, Map, run_tensor_load, tensor_map};
    #[pymodule_export]
    use crate::trace::{Trace, import_};
    #[pymodule_export]
    use crate::vectors::{
        Flag, Vector, generate_vectors, read_vectors, vector_flags, vector_instructions,
        write_vectors,
    };
    #[pymodule_export]
    use crate::warp::Warp;
    #[pymodule_export]
    use crate::words::{DecodedWords, decode_array};

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "a name of Python's")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
