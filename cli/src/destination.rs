//! [`Destination`]: where a result goes, standard output or a file.

use std::fs;
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use warpload_replay::PartialSummary;

use super::io::{self, Output};
use super::name::visible;
use super::output_file::{OutputFile, OutputTarget};
use super::terminal::{Escapes, Shown};
use crate::process::Status;

/// Where a result goes: to a file, which appears under its name when it is complete, or else to standard output.
pub(crate) struct Destination(Option<OutputTarget>);

impl Destination {
    /// Checks that the result can go there: to standard output if there is no file, or it is `-`.
    pub(crate) fn new(path: Option<&Path>) -> anyhow::Result<Self> {
        let path = path.filter(|path| !io::is_stdin(path));
        Ok(Self(path.map(OutputTarget::new).transpose()?))
    }

    /// Whether the result would be written over that of another target.
    pub(crate) fn is_same_file(&self, other: &OutputTarget) -> bool {
        self.0.as_ref().is_some_and(|target| target.is_same_file(other))
    }

    /// Returns what the file holds, if that is there and can be read.
    pub(crate) fn existing(&self) -> Option<Vec<u8>> {
        self.0.as_ref().and_then(|target| existing(target.asked()))
    }

    /// Returns the summary of shards that the file holds; `None` unless the file is, byte for byte, what is written of it.
    pub(crate) fn partial(&self) -> Option<PartialSummary> {
        let bytes = self.existing()?;
        let summary = PartialSummary::from_json(&bytes).ok()?;
        let mut written = Vec::with_capacity(bytes.len());
        io::write_json(&mut written, &summary).ok()?;
        (written == bytes).then_some(summary)
    }

    /// Writes one object on one line.
    pub(crate) fn json(self, object: &impl Serialize, output: &mut Output) -> anyhow::Result<()> {
        self.write(Escapes::Json, output, |to| io::write_json(to, object))
    }

    pub(crate) fn text(self, text: &str, output: &mut Output) -> anyhow::Result<()> {
        self.write(Escapes::Text, output, |to| to.write_all(text.as_bytes()))
    }

    /// Writes what `write` writes; a file has the same bytes as standard output.
    pub(crate) fn write(
        self,
        escapes: Escapes,
        output: &mut Output,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        let mut pieces = self.pieces(escapes)?;
        match &mut pieces.file {
            Some(file) => write(file).with_context(|| target(file).error_context())?,
            None => output.write(escapes, write)?,
        }
        pieces.finish(output)
    }

    /// Returns where pieces of the result go.
    pub(crate) fn pieces(self, escapes: Escapes) -> anyhow::Result<Pieces> {
        let file = self.0.map(OutputTarget::create).transpose()?;
        let file = file.map(|file| BufWriter::with_capacity(1 << 18, Shown::new(file, escapes)));
        Ok(Pieces { file, escapes })
    }

    /// Says that nothing was to be done, which ends as the work would have ended.
    pub(crate) fn say_done(self, status: Status, output: &mut Output) -> anyhow::Result<Status> {
        self.0.map_or(Ok(()), |target| say_done(target.asked(), output))?;
        Ok(status)
    }
}

/// A result that is written piece by piece. A file appears under its name when it is complete.
pub(crate) struct Pieces {
    file: Option<BufWriter<Shown<OutputFile>>>,
    escapes: Escapes,
}

fn target(file: &BufWriter<Shown<OutputFile>>) -> &OutputTarget {
    file.get_ref().get_ref().target()
}

impl Pieces {
    pub(crate) fn add(&mut self, piece: &[u8], output: &mut Output) -> anyhow::Result<()> {
        match &mut self.file {
            Some(file) => file.write_all(piece).with_context(|| target(file).error_context()),
            None => Ok(output.bytes(piece, self.escapes)?),
        }
    }

    /// Refuses to go on if the file has turned out to be one of the inputs.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| target(file).check().map(drop))
    }

    /// Ends the result, which is complete.
    pub(crate) fn finish(self, output: &mut Output) -> anyhow::Result<()> {
        let Some(mut file) = self.file else { return Ok(output.flush()?) };
        file.flush().with_context(|| target(&file).error_context())?;
        let name = target(&file).asked().to_owned();
        let is_stdout = target(&file).is_stdout();
        let file = file.into_inner().map_err(IntoInnerError::into_error)?.into_inner();
        file.persist()?;
        if is_stdout { Ok(()) } else { say_written(&name, "", output) }
    }
}

/// Returns what an output holds already, if it is a file that can be read.
pub(crate) fn existing(path: &Path) -> Option<Vec<u8>> {
    // Reading a pipe would wait for a writer. It is an output, which is not remembered as an input.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    fs::read(path).ok()
}

/// Says that an output has been written, and what it is.
pub(crate) fn say_written(path: &Path, what: &str, output: &mut Output) -> anyhow::Result<()> {
    let name = path.display().to_string();
    Ok(output.line(format_args!("{} written{what}", visible(&name)))?)
}

/// Says that an output is there already.
pub(crate) fn say_done(path: &Path, output: &mut Output) -> anyhow::Result<()> {
    Ok(output.line(format_args!("{} is done already", visible(&path.display().to_string())))?)
}
