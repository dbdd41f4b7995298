//! Properties of any input: [`targets`] are functions of bytes that panic if their property does not
//! hold. libFuzzer calls them through `fuzz_targets/`; on the stable toolchain the
//! command of this package feeds them files and simple mutants.

pub mod mutate;
pub mod seeds;
pub mod targets;

mod folder;
mod import;
mod made_trace;
#[path = "../../trace/tests/bounds/peak.rs"]
mod peak;

/// Returns the exit status of a command by whether everything held; prints its error.
#[must_use]
pub fn exit_code(outcome: std::io::Result<bool>) -> std::process::ExitCode {
    match outcome {
        Ok(held) => u8::from(!held).into(),
        Err(error) => {
            eprintln!("error: {error}");
            2.into()
        }
    }
}
