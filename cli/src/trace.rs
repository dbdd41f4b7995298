//! Shared by the commands on traces: opening a trace of any kind with a progress bar, importing one, and memory images.

use std::fs::File;
use std::io::BufReader;
use std::num::NonZero;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::destination::OutputFile;
use crate::io::{self, Bar, is_stdin};
use crate::options::Progress;
use crate::{inputs, mapped, system};
use warpload::machine::Machine;
use warpload::memory::Arena;
use warpload_binary::lines::skip_mark;
use warpload_suite::image::Manifest;
use warpload_trace::{
    BinaryTrace, ImportError, ImportEvent, ImportOptions, OpenError, TraceError, TraceFiles,
    TraceSource, usable_threads,
};

/// Maps files, remembers them as inputs, and moves a progress bar while a trace is opened.
pub(crate) struct Opening(Bar);

impl Opening {
    pub(crate) fn new(path: &Path, progress: Progress) -> Self {
        Self(Bar::new(progress, None, path))
    }

    /// Opens a trace without a bar.
    fn quiet(path: &Path) -> Self {
        Self::new(path, Progress::Never)
    }

    #[cfg(test)]
    fn is_drawn(&self) -> bool {
        self.0.is_drawn()
    }
}

impl TraceFiles for Opening {
    fn bytes(&self, path: &Path, file: &File) -> std::io::Result<Arena> {
        mapped::map(path, file)
    }

    fn temporary_bytes(&self, file: &File) -> std::io::Result<Arena> {
        mapped::map(Path::new("the import"), file)
    }

    fn observe(&self, event: ImportEvent<'_>) {
        match event {
            ImportEvent::Opened(path, file) => {
                if let Ok(metadata) = file.metadata() {
                    inputs::remember(path, &metadata);
                }
            }
            ImportEvent::Listed(bytes) => self.0.expect(bytes),
            ImportEvent::Read(bytes) => self.0.read(bytes),
            _ => {}
        }
    }
}

/// A trace on the command line.
pub(crate) struct Input {
    path: PathBuf,
    source: TraceSource<'static>,
}

impl Deref for Input {
    type Target = TraceSource<'static>;

    fn deref(&self) -> &TraceSource<'static> {
        &self.source
    }
}

impl Input {
    /// Opens a file, or standard input for `-`. Errors name it.
    pub(crate) fn new(path: &Path) -> anyhow::Result<Self> {
        let source = if is_stdin(path) {
            TraceSource::from_stream(io::stdin(), Path::new(&*io::name(path)))
        } else {
            TraceSource::open(path, &Opening::quiet(path))
        };
        Ok(Self { path: path.to_owned(), source: source? })
    }

    /// Returns all bytes of a text from the beginning, without a byte order mark.
    pub(crate) fn text(self) -> anyhow::Result<Vec<u8>> {
        let is_regular = !is_stdin(&self.path) && self.path.is_file();
        io::read_all(skip_mark(BufReader::new(self.source.into_bytes()))?, is_regular)
    }

    /// Reads the manifest of an image.
    pub(crate) fn manifest(self) -> anyhow::Result<Manifest> {
        let (name, folder) = (self.name().to_owned(), self.folder().to_owned());
        Ok(Manifest::read(self.source.into_bytes(), &name, &folder)?)
    }

    /// Opens the trace. Errors name the input.
    pub(crate) fn open(self, progress: Progress, threads: usize) -> anyhow::Result<BinaryTrace> {
        let opening = Opening::new(&self.path, progress);
        let threads = NonZero::new(threads).unwrap_or(NonZero::<usize>::MIN);
        let trace = self.source.into_trace(threads, &opening).map_err(open_error)?;
        opening.0.finish();
        Ok(trace)
    }

    /// Imports a text trace into a file.
    pub(crate) fn import_into(
        self,
        file: &OutputFile,
        options: &ImportOptions,
        progress: Progress,
    ) -> anyhow::Result<()> {
        let opening = Opening::new(&self.path, progress);
        let imported = self.source.import_into(file.file(), options, &opening);
        imported.map_err(|error| import_error(error, file))?;
        opening.0.finish();
        Ok(())
    }
}

/// The error of an import into a file. It names the file if that cannot be written.
fn import_error(error: ImportError, file: &OutputFile) -> anyhow::Error {
    match error {
        ImportError::Write(TraceError::Write { source }) => {
            file.target().write_error(source).into()
        }
        error => error.into(),
    }
}

/// Converts an error, so that its causes can be distinguished.
fn open_error(error: OpenError) -> anyhow::Error {
    match error {
        OpenError::Import(error) => error.into(),
        error => error.into(),
    }
}

/// The number of threads to use: as many as asked for, but no more than can run at once.
pub(crate) fn threads(asked: Option<usize>) -> usize {
    usable_threads(asked.and_then(NonZero::new)).get()
}

/// Opens the memory image that a manifest describes. Errors name the manifest.
pub(crate) fn open_machine(manifest: &Path) -> anyhow::Result<Machine> {
    if system::is_named_pipe(manifest) {
        bail!("{}: is a named pipe; expected a file", io::name(manifest));
    }
    if manifest.is_dir() {
        bail!("{}: is a folder; expected a file", io::name(manifest));
    }
    let opened = |path: &Path, file: &File| {
        if let Ok(metadata) = file.metadata() {
            inputs::remember(path, &metadata);
        }
    };
    Ok(Input::new(manifest)?.manifest()?.machine_with(&mapped::map, &opened)?)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A list of large files has a bar although its own file is small. Standard input has one too.
    #[test]
    fn what_has_a_bar() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, bytes) in [("large.traceg", 5 << 20), ("small.traceg", 100)] {
            File::create(at(name)).unwrap().set_len(bytes).unwrap();
        }
        let list = at("kernelslist.g");
        for (text, is_drawn) in [
            ("small.traceg\n", false),
            ("large.traceg\n", true),
            ("small.traceg\nmissing.traceg\nlarge.traceg\n", true),
        ] {
            std::fs::write(&list, text).unwrap();
            for (progress, is_drawn) in [(Progress::Auto, is_drawn), (Progress::Never, false)] {
                let opening = Opening::new(&list, progress);
                let source = TraceSource::open(&list, &opening).unwrap();
                let options = ImportOptions::new(NonZero::<usize>::MIN);
                // The files are not traces.
                source.import_into(Cursor::new(Vec::new()), &options, &opening).unwrap_err();
                assert_eq!(opening.is_drawn(), is_drawn);
            }
        }
        let stdin = Opening::new(Path::new("-"), Progress::Auto);
        for is_drawn in [false, true, true] {
            stdin.observe(ImportEvent::Read(2 << 20));
            assert_eq!(stdin.is_drawn(), is_drawn);
        }
    }
}
