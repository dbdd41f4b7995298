//! The commands on files of code: `decode` shows every load of a cubin, a raw stream or a listing, or decodes bare words;
//! `stats` counts loads; `images` lists and extracts the cubins and the PTX in a file.
//!
//! `arguments.rs` has the options. `decoder.rs` turns an input into rows, which `row.rs` writes, or into the counts of
//! `stats.rs`, over the library's `FoundInstruction`. `chosen.rs` finds the images of a file, for all three.

mod arguments;
mod chosen;
mod decoder;
mod extract;
mod functions;
pub(crate) mod images;
mod program;
mod row;
pub(crate) mod stats;
mod words;

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use warpload::encoding::Sm;
use warpload_binary::word::{self, NotALoad};

pub(crate) use self::arguments::Arguments;
use self::arguments::{CodeArguments, ControlNotation};
use self::decoder::{Decoder, Job};
use self::functions::Functions;
use super::io::{self, Output};
use super::options::{Format, Progress};
use crate::process::Status;

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let Arguments { input, word, code, rows, check, at: _ } = &arguments;
    ensure!(
        code.format == Format::Text || rows.control == ControlNotation::None,
        "--control: JSON has all of the control code, in no notation"
    );
    if !word.is_empty() {
        return words::decode(word, &arguments, output);
    }
    // Words in place of files are meant as words, unless there is such a file.
    let is_of_files = code.raw
        || code.choice.image.is_some()
        || code.function.is_some()
        || code.no_demangle
        || *check
        || rows.all
        || input.iter().any(|path| path.exists());
    let texts: Option<Vec<&str>> = input.iter().map(|path| path.to_str()).collect();
    let joined = texts.filter(|_| !is_of_files).map(|texts| texts.join(" "));
    if let Some(words) = joined.and_then(|joined| word::words(&joined, code.choice.sm)) {
        return words::decode(&words, &arguments, output);
    }
    for text in input.iter().filter(|path| !path.exists()).filter_map(|path| path.to_str()) {
        if let Some(opcode) = word::ptx_opcode(text) {
            bail!(NotALoad::Ptx { opcode: opcode.to_owned() });
        }
        let sm = code.choice.sm.unwrap_or(Sm::SPA5);
        ensure!(
            !word::is_instruction(text, sm),
            "`{text}` is an instruction, not a file: `warpload encode` assembles it, and `warpload explain` \
             explains it"
        );
    }
    each_file(input, code, if *check { Job::Check } else { Job::Rows(*rows) }, progress, output)
}

/// Does the job with each file.
fn each_file(
    files: &[PathBuf],
    code: &CodeArguments,
    job: Job,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let mut functions = Functions::new(code.function.as_ref(), code.no_demangle);
    let status = each_input(files, output, |path, output| {
        let decoder = Decoder::new(code, job, path, files.len() > 1, &mut functions);
        decoder.decode(progress, output)
    })?;
    // With several inputs, one with the function is enough.
    match functions.missing().filter(|_| status == Status::Done) {
        Some(missing) => bail!(missing),
        None => Ok(status),
    }
}

/// Reads one file after the other. An error names its file, and does not stop the files after it.
fn each_input(
    files: &[PathBuf],
    output: &mut Output,
    mut read: impl FnMut(&Path, &mut Output) -> anyhow::Result<Status>,
) -> anyhow::Result<Status> {
    let mut status = Status::Done;
    for path in files {
        status = status.max(match read(path, output) {
            Ok(status) => status,
            Err(error) if io::is_output_error(&error) => return Err(error),
            Err(error) => output.fail_input(error.context(io::name(path)))?,
        });
    }
    Ok(status)
}
