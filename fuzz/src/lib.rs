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

/// Returns a command's exit status: 0 if everything held, 1 if not, 2 for an error, which it prints.
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
