//! Properties that hold for any input: [`targets`] are functions of bytes that panic if their property does not hold.
//! libFuzzer calls them through `fuzz_targets/`; on the stable toolchain, the command of this package passes them files
//! and simple mutants.

pub mod mutate;
pub mod seeds;
pub mod targets;

mod folder;
mod import;
mod made_trace;
#[path = "../../trace/tests/bounds/peak.rs"]
mod peak;
