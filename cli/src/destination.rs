//! [`Destination`]: where a result goes, standard output or a file.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use warpload_replay::PartialSummary;

use super::io::{self, Output};
use super::name::visible;
use super::output_file::{OutputFile, OutputTarget};
use super::terminal::{Escapes, Shown};
use crate::process::Status;

/// Where a result goes. A file appears under its name when it is complete.
pub(crate) struct Destination {
    file: Option<(PathBuf, OutputTarget)>,
}

impl Destination {
    /// Checks that the result can go there: to standard output if there is no file, or it is `-`.
    pub(crate) fn new(path: Option<&Path>) -> anyhow::Result<Self> {
        let path = path.filter(|path| !io::is_stdin(path));
        let file = path.map(|path| anyhow::Ok((path.to_owned(), OutputTarget::new(path)?)));
        Ok(Self { file: file.transpose()? })
    }

    /// Whether the result would be written over that of another target.
    pub(crate) fn is_same_file(&self, other: &OutputTarget) -> bool {
        self.file.as_ref().is_some_and(|(_, target)| target.is_same_file(other))
    }

    /// Returns what the file holds, if that is there and can be read.
    pub(crate) fn existing(&self) -> Option<Vec<u8>> {
        self.file.as_ref().and_then(|(path, _)| existing(path))
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
        self.bytes(text.as_bytes(), Escapes::Text, output)
    }

    pub(crate) fn bytes(
        self,
        bytes: &[u8],
        escapes: Escapes,
        output: &mut Output,
    ) -> anyhow::Result<()> {
        self.write(escapes, output, |to| to.write_all(bytes))
    }

    /// Writes what `write` writes; a file has the same bytes as standard output.
    pub(crate) fn write(
        self,
        escapes: Escapes,
        output: &mut Output,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        let Some((path, target)) = self.file else {
            let written = output.writer(escapes).and_then(|to| write(to));
            return Ok(written.map_err(io::output_error)?);
        };
        let is_stdout = target.is_stdout();
        let file = target.create()?;
        let mut to = BufWriter::with_capacity(1 << 18, Shown::new(file.file(), escapes));
        let written = write(&mut to).and_then(|()| to.flush());
        written.with_context(|| file.target().error_context())?;
        drop(to);
        file.persist()?;
        if !is_stdout {
            say_written(&path, "", output)?;
        }
        Ok(())
    }

    /// Returns where pieces of the result go.
    pub(crate) fn pieces(self, escapes: Escapes) -> anyhow::Result<Pieces> {
        let create = |(path, target): (_, OutputTarget)| {
            anyhow::Ok((path, Shown::new(target.create()?, escapes)))
        };
        Ok(Pieces { file: self.file.map(create).transpose()?, escapes })
    }

    /// Says that nothing was to be done, which ends as the work would have ended.
    pub(crate) fn say_done(self, status: Status, output: &mut Output) -> anyhow::Result<Status> {
        if let Some((path, _)) = &self.file {
            say_done(path, output)?;
        }
        Ok(status)
    }
}

/// A result that is written piece by piece. A file appears under its name when it is complete.
pub(crate) struct Pieces {
    file: Option<(PathBuf, Shown<OutputFile>)>,
    escapes: Escapes,
}

impl Pieces {
    pub(crate) fn add(&mut self, piece: &[u8], output: &mut Output) -> anyhow::Result<()> {
        match &mut self.file {
            Some((_, file)) => {
                let written = file.write_all(piece);
                written.with_context(|| file.get_ref().target().error_context())
            }
            None => Ok(output.bytes(piece, self.escapes)?),
        }
    }

    /// Refuses to go on if the file has turned out to be one of the inputs.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.file.as_ref().map_or(Ok(()), |(_, file)| file.get_ref().target().check().map(drop))
    }

    /// Ends the result, which is complete.
    pub(crate) fn finish(self, output: &mut Output) -> anyhow::Result<()> {
        let Some((path, mut file)) = self.file else { return Ok(output.flush()?) };
        file.flush().with_context(|| file.get_ref().target().error_context())?;
        let file = file.into_inner();
        let is_stdout = file.target().is_stdout();
        file.persist()?;
        if !is_stdout {
            say_written(&path, "", output)?;
        }
        Ok(())
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
