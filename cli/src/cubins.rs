//! `--cubin`: the code of a trace's kernels.

use std::path::PathBuf;

use anyhow::Context;
use warpload_binary::sass::{CubinError, CubinProblem, DamagedLines, Functions};

use super::binary::{self, Opened};
use super::options::Progress;
use super::{diagnostic, io, remedy};

/// Reads cubins; `None` if `paths` is empty. Errors name the file.
pub(crate) fn read(paths: &[PathBuf]) -> anyhow::Result<Option<Functions>> {
    let mut functions = Functions::default();
    for path in paths {
        let name = || io::name(path);
        match binary::open(path, Progress::Never).with_context(name)? {
            Opened::Text(input) => {
                if let Some(damaged) = functions.add(input).with_context(name)? {
                    note_damaged(&name(), &damaged);
                }
            }
            Opened::Binary(binary) => {
                add_file(&mut functions, binary.bytes(), &name()).with_context(name)?;
            }
        }
    }
    Ok((!paths.is_empty()).then_some(functions))
}

fn add_file(functions: &mut Functions, file: &[u8], name: &str) -> anyhow::Result<()> {
    for remark in functions.add_file(file).map_err(without_wrapper)? {
        let name = match remark.image {
            Some(number) => format!("{name}: image {number}"),
            None => name.to_owned(),
        };
        match remark.problem {
            CubinProblem::DamagedLines(damaged) => note_damaged(&name, &damaged),
            CubinProblem::Unread(error) => {
                let error = remedy::with_causes(&without_wrapper(error));
                diagnostic::note(format_args!("{name}: {error}; it is not used"));
            }
        }
    }
    Ok(())
}

/// Removes a wrapper around an error for which `remedy.rs` has a remedy.
fn without_wrapper(error: CubinError) -> anyhow::Error {
    match error {
        CubinError::Sass(error) => error.into(),
        error => error.into(),
    }
}

/// Notes that a file has damaged source lines.
pub(crate) fn note_damaged(name: &str, damaged: &DamagedLines) {
    diagnostic::note(format_args!("{name}: {damaged}"));
}
