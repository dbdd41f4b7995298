//! Importing text traces, whole or trace by trace of a list: progress, which file an error is about, and whether
//! an import is done already.

use std::fs::{File, Metadata};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;
use warpload::trace::binary::RawInput;
use warpload::trace::{BinaryTrace, ImportError, ImportEvent, TraceError, TraceList, TraceWriter};

use super::mapped::Holding;
use super::options::Progress;
use super::{inputs, io};

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
        Self { name: PathBuf::from(&*io::name(path)), bar, interrupt: None }
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
        let failed = |error: std::io::Error| match error.downcast::<Interrupted>() {
            Ok(interrupted) => {
                anyhow::Error::new(interrupted).context(self.name.display().to_string())
            }
            Err(error) => anyhow::Error::new(error).context(failed.to_owned()),
        };
        let output = BufWriter::new(Interruptible { file: output, flag: self.interrupt });
        let mut writer = TraceWriter::new(output, self.source()).map_err(failed)?;
        writer.keep_inputs();
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

    /// Returns whether an output is there already: a whole binary trace, of this file and those that it names
    /// as they are now.
    pub(crate) fn is_done(&self, output: &Path) -> bool {
        let Some(inputs) = self.inputs_of(output) else { return false };
        let Some((first, files)) = inputs.split_first() else { return false };
        if input(&self.name) != Some(*first) {
            return false;
        }
        // Only a list has other files.
        files.is_empty() || {
            let list =
                File::open(&self.name).map(|text| List::new(&self.name, text, Progress::Never));
            let Ok(Ok(list)) = list else { return false };
            let named = list.files();
            named.len() == files.len()
                && named.zip(files).all(|(name, file)| input(&name) == Some(*file))
        }
    }

    /// Returns the files that a whole binary trace, written by an import of this input's name, says that it
    /// was made from.
    fn inputs_of(&self, output: &Path) -> Option<Vec<RawInput>> {
        let file = regular(output)?;
        let trace = BinaryTrace::new(Holding::of_process().bytes(output, &file).ok()?).ok()?;
        let is_whole = trace.contents().source == self.source()
            && trace.blocks().iter().all(|block| trace.block(block).is_ok());
        is_whole.then(|| trace.inputs().to_vec())
    }

    pub(crate) fn finish(self) {
        self.bar.finish();
    }
}

/// Opens a regular file; opening a pipe would wait for its other end.
fn regular(path: &Path) -> Option<File> {
    std::fs::metadata(path).ok().filter(Metadata::is_file)?;
    File::open(path).ok()
}

/// Returns what a binary trace says of a regular file that it is imported from.
fn input(path: &Path) -> Option<RawInput> {
    RawInput::of(regular(path)?).ok()
}

/// Why nothing more is written.
#[derive(Debug, thiserror::Error)]
#[error("the import was interrupted")]
struct Interrupted;

/// A file that nothing can be written to once a flag is true.
pub(crate) struct Interruptible<'f> {
    file: &'f File,
    flag: Option<&'f AtomicBool>,
}

impl Write for Interruptible<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.flag.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Err(std::io::Error::other(Interrupted));
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

    /// Returns whether `output` is there already: a whole binary trace of trace `number`, from 0, as it is now.
    pub(crate) fn is_done(&self, number: usize, output: &Path) -> bool {
        let (Some(list), Some(file)) = (self.list.input(), self.list.file(number)) else {
            return false;
        };
        self.importing.inputs_of(output).is_some_and(|inputs| match inputs[..] {
            [first, second] => first == list && input(&file) == Some(second),
            _ => false,
        })
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
