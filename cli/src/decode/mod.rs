//! `decode`: every load of a cubin, a raw stream or a listing, or of bare words.
//!
//! `arguments.rs` has the options. `decoder.rs` turns an input into rows, which `row.rs` writes, over the library's
//! `FoundInstruction`. `images.rs`, `list.rs` and `extract.rs` read files with several cubins, `stats.rs` writes
//! statistics instead of rows, and `words.rs` decodes bare words.

mod arguments;
mod decoder;
mod extract;
mod functions;
mod images;
mod list;
mod row;
mod stats;
mod words;

use anyhow::ensure;

pub(crate) use self::arguments::Arguments;
use self::arguments::ControlNotation;
use self::decoder::Decoder;
use self::extract::Extracted;
use self::functions::Functions;
use super::inputs;
use super::io::{self, Output};
use super::options::{Format, Progress};
use crate::process::Status;

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    ensure!(
        arguments.format == Format::Text || arguments.control == ControlNotation::None,
        "--control: JSON has all of the control code, in no notation"
    );
    if !arguments.word.is_empty() {
        return words::decode(&arguments, output);
    }
    let mut status = Status::Done;
    let mut functions = Functions::new(arguments.function.as_ref(), arguments.no_demangle);
    let mut extracted = Extracted::default();
    if arguments.extract.is_some() {
        // Remembered before the first is extracted, because an image must not replace a later input.
        inputs::remember_named(arguments.input.iter().filter(|path| !io::is_stdin(path)));
        if arguments.input.iter().any(|path| io::is_stdin(path)) {
            inputs::remember_stdin();
        }
    }
    for path in &arguments.input {
        match Decoder::new(&arguments, path, &mut functions, &mut extracted)
            .decode(progress, output)
        {
            Ok(decoded) => status = status.max(decoded),
            Err(error) if io::is_output_error(&error) => return Err(error),
            Err(error) => status = output.fail_input(error.context(io::name(path)))?,
        }
    }
    // With several inputs, one with the function is enough.
    if let Some(missing) = functions.missing().filter(|_| status == Status::Done) {
        status = output.fail(Status::Failed, missing)?;
    }
    Ok(status)
}
