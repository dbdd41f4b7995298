//! Where results go: [`Destination`], standard output or a file, and [`target`], a file. A file appears in its place when
//! it is complete, by the rules of [`warpload_trace::output`].

use std::fs;
use std::io::{BufWriter, IntoInnerError, Write};
use std::path::Path;
use std::sync::Once;

use serde::Serialize;
use warpload_replay::PartialSummary;
use warpload_trace::output::{self, OutputError};

use super::inputs::INPUTS;
use super::io::{self, Output};
use super::name::visible;
use super::system;
use super::terminal::{Escapes, Shown};
use crate::process::Status;

/// A file to write that is none of the inputs.
pub(crate) type OutputTarget = output::OutputTarget<'static>;
pub(crate) type OutputFile = output::OutputFile<'static>;

/// Checks that a file can be written: it is not a folder, read-only or one of the inputs.
pub(crate) fn target(path: &Path) -> anyhow::Result<OutputTarget> {
    // Standard output that is closed has another file in its place.
    if ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
        && let Err(source) = system::check_stdout()
    {
        return Err(OutputError::write(path, source).into());
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        output::remember_temporary_files();
        system::before_signals_end(|end| {
            let _none_is_created = output::remove_temporary_files();
            end();
        });
    });
    Ok(OutputTarget::new(path, &INPUTS)?)
}

/// Puts a file, which is complete, into its place, and says that it is `written` unless that is standard output.
pub(crate) fn persist(file: OutputFile, what: &str, output: &mut Output) -> anyhow::Result<()> {
    let name = file.target().asked().display().to_string();
    let is_stdout = file.target().is_stdout() && system::check_stdout().is_ok();
    file.persist()?;
    if !is_stdout {
        output.line(format_args!("{} written{what}", visible(&name)))?;
    }
    Ok(())
}

/// Says that an output is there already.
pub(crate) fn say_done(path: &Path, output: &mut Output) -> anyhow::Result<()> {
    Ok(output.line(format_args!("{} is done already", visible(&path.display().to_string())))?)
}

/// Returns what an output holds already, if it is a file that can be read.
pub(crate) fn existing(path: &Path) -> Option<Vec<u8>> {
    // Reading a pipe would wait for a writer. It is an output, which is not remembered as an input.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    fs::read(path).ok()
}

/// Where a result goes: to a file, or else to standard output.
pub(crate) struct Destination(Option<OutputTarget>);

impl Destination {
    /// Checks that the result can go there: to standard output if there is no file, or it is `-`.
    pub(crate) fn new(path: Option<&Path>) -> anyhow::Result<Self> {
        let path = path.filter(|path| !io::is_stdin(path));
        Ok(Self(path.map(target).transpose()?))
    }

    /// Returns whether the result would be written over that of another target.
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
            Some(file) => write(file).map_err(|error| target_of(file).write_error(error))?,
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

/// A result that is written piece by piece.
pub(crate) struct Pieces {
    file: Option<BufWriter<Shown<OutputFile>>>,
    escapes: Escapes,
}

fn target_of(file: &BufWriter<Shown<OutputFile>>) -> &OutputTarget {
    file.get_ref().get_ref().target()
}

impl Pieces {
    pub(crate) fn add(&mut self, piece: &[u8], output: &mut Output) -> anyhow::Result<()> {
        match &mut self.file {
            Some(file) => {
                Ok(file.write_all(piece).map_err(|error| target_of(file).write_error(error))?)
            }
            None => Ok(output.bytes(piece, self.escapes)?),
        }
    }

    /// Refuses to go on if the file has turned out to be one of the inputs.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        Ok(self.file.as_ref().map_or(Ok(None), |file| target_of(file).check()).map(drop)?)
    }

    /// Ends the result, which is complete.
    pub(crate) fn finish(self, output: &mut Output) -> anyhow::Result<()> {
        let Some(mut file) = self.file else { return Ok(output.flush()?) };
        file.flush().map_err(|error| target_of(&file).write_error(error))?;
        let file = file.into_inner().map_err(IntoInnerError::into_error)?;
        persist(file.into_inner(), "", output)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    use super::*;

    const FOLDER: &str = "WARPLOAD_TEST_FOLDER";

    /// As on a file system without files that have no name. The test is its own child.
    #[test]
    fn a_named_file_is_removed_by_signals() -> anyhow::Result<()> {
        if let Some(folder) = std::env::var_os(FOLDER) {
            let _output = target(&Path::new(&folder).join("output"))?.create_named()?;
            // The names of files are what the parent waits for.
            fs::write(Path::new(&folder).join("ready"), "")?;
            loop {
                std::thread::park();
            }
        }
        for (name, signal) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
            // A shell's background job ignores SIGINT, and so do its children.
            if !system::ending_signals().contains(&signal) {
                continue;
            }
            let folder = tempfile::tempdir()?;
            let mut child = Command::new(std::env::current_exe()?)
                .args(["--exact", "destination::tests::a_named_file_is_removed_by_signals"])
                .arg("--nocapture")
                .env(FOLDER, folder.path())
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .spawn()?;
            while !folder.path().join("ready").exists() {
                assert_eq!(child.try_wait()?, None, "the child ended");
                std::thread::yield_now();
            }
            let files = || fs::read_dir(folder.path()).map(Iterator::count);
            assert_eq!(files()?, 2);
            let kill = format!("kill -{name} {}", child.id());
            assert!(Command::new("sh").args(["-c", &kill]).status()?.success());
            assert_eq!(child.wait()?.signal(), Some(signal));
            fs::remove_file(folder.path().join("ready"))?;
            assert_eq!(files()?, 0, "{name}");
        }
        Ok(())
    }
}
