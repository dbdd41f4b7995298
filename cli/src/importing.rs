//! Importing text traces, whole or trace by trace of a list: progress, and whether an error is of the output.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;
use warpload::trace::{BinaryTrace, ImportError, ImportEvent, TraceError, TraceList, TraceWriter};

use super::options::Progress;
use super::{inputs, io, mapped};

/// An import, with its progress.
pub(crate) struct Importing<'f> {
    /// The name of the input in messages.
    name: PathBuf,
    bar: ProgressBar,
    /// Stops the import once it is true.
    interrupt: Option<&'f AtomicBool>,
}

type Writer<'o> = TraceWriter<BufWriter<Interruptible<'o>>>;
type Observe<'o> = &'o (dyn Fn(ImportEvent<'_>) + Sync);

impl<'f> Importing<'f> {
    pub(crate) fn new(path: &Path, progress: Progress) -> Self {
        let bytes = std::fs::metadata(path).map(|m| m.len()).unwrap_or(0);
        let bar = io::progress_bar(progress, bytes, path);
        Self { name: io::name(path).into(), bar, interrupt: None }
    }

    /// Lets a flag stop the import.
    pub(crate) fn interrupted_by(self, interrupt: Option<&'f AtomicBool>) -> Self {
        Self { interrupt, ..self }
    }

    pub(crate) fn name(&self) -> &Path {
        &self.name
    }

    fn observe(&self, event: ImportEvent<'_>) {
        match event {
            ImportEvent::Opened(path, file) => {
                if let Ok(metadata) = file.metadata() {
                    inputs::remember(path, &metadata);
                }
            }
            ImportEvent::Read(bytes) => {
                self.bar.inc(bytes);
                // A list of kernels is small; the files that it names are what is read.
                self.bar.set_length(self.bar.length().unwrap_or(0).max(self.bar.position()));
            }
            _ => {}
        }
    }

    /// Writes the binary trace that `import` makes into `output`, which must be empty. What the system
    /// says about that follows `failed`.
    pub(crate) fn write<'o>(
        &self,
        output: &'o File,
        failed: &str,
        import: impl FnOnce(&mut Writer<'o>, Observe<'_>) -> Result<(), ImportError>,
    ) -> anyhow::Result<()>
    where
        'f: 'o,
    {
        let failed = |error: std::io::Error| anyhow::Error::new(error).context(failed.to_owned());
        let output = BufWriter::new(Interruptible { file: output, flag: self.interrupt });
        let mut writer = TraceWriter::new(output, self.source()).map_err(failed)?;
        import(&mut writer, &|event| self.observe(event)).map_err(|error| match error {
            ImportError::Write(TraceError::Write { source }) => failed(source),
            error => error.into(),
        })?;
        writer.finish().map_err(failed)?;
        Ok(())
    }

    /// What the binary trace says that it was made from.
    fn source(&self) -> String {
        let name = self.name.file_name().unwrap_or_default().to_string_lossy();
        format!("warpload {}, from {name}", env!("CARGO_PKG_VERSION"))
    }

    /// Returns whether an output is there already: a whole binary trace that was made from the input,
    /// and is not older than it and the files that it names.
    pub(crate) fn is_done<'n>(
        &self,
        output: &Path,
        named: impl IntoIterator<Item = &'n Path>,
    ) -> bool {
        let written =
            |path: &Path| std::fs::metadata(path).ok().filter(|m| m.is_file())?.modified().ok();
        let Some(done) = written(output) else { return false };
        let is_newer = |input: &Path| written(input).is_some_and(|input| input <= done);
        let is_whole = || {
            let bytes = mapped::map(output, &File::open(output).ok()?).ok()?;
            Some(BinaryTrace::new(bytes).ok()?.contents().source == self.source())
        };
        is_newer(&self.name) && named.into_iter().all(is_newer) && is_whole().unwrap_or(false)
    }

    pub(crate) fn finish(self) {
        self.bar.finish();
    }
}

/// A file that nothing can be written to once a flag is true.
pub(crate) struct Interruptible<'f> {
    file: &'f File,
    flag: Option<&'f AtomicBool>,
}

impl Write for Interruptible<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.flag.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(std::io::Error::other("interrupted"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Interruptible<'_> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}

/// A list of traces, to be imported one by one.
pub(crate) struct List {
    importing: Importing<'static>,
    list: TraceList,
}

impl List {
    pub(crate) fn new(
        path: &Path,
        bytes: impl Read + Send,
        progress: Progress,
    ) -> anyhow::Result<Self> {
        let importing = Importing::new(path, progress);
        let list = TraceList::new(bytes, importing.name(), &|event| importing.observe(event))?;
        inputs::remember_named(list.files());
        Ok(Self { importing, list })
    }

    pub(crate) fn name(&self) -> &Path {
        self.importing.name()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the files with the traces, in order.
    pub(crate) fn files(&self) -> impl ExactSizeIterator<Item = PathBuf> {
        self.list.files()
    }

    /// Returns whether `output` is a whole import of trace `number`, from 0, or of all; see
    /// [`Importing::is_done`].
    pub(crate) fn is_done(&self, number: Option<usize>, output: &Path) -> bool {
        let (skipped, taken) = number.map_or((0, usize::MAX), |number| (number, 1));
        let files: Vec<PathBuf> = self.files().skip(skipped).take(taken).collect();
        self.importing.is_done(output, files.iter().map(|file| &**file))
    }

    /// Imports trace `number`, from 0, into `output`, as [`Importing::write`] does.
    pub(crate) fn import_into(
        &self,
        number: usize,
        output: &File,
        failed: &str,
        threads: usize,
    ) -> anyhow::Result<()> {
        self.importing.write(output, failed, |writer, observe| {
            self.list.import(number, writer, threads, observe)
        })
    }

    pub(crate) fn finish(self) {
        self.importing.finish();
    }
}
