//! Importing text traces, whole or trace by trace of a list: progress, which file an error is about, and whether
//! an import is done already.

use std::fs::{File, Metadata};
use std::io::{BufWriter, Read};
use std::path::{Path, PathBuf};

use warpload_trace::binary::TraceInput;
use warpload_trace::{
    BinaryTrace, Compression, ImportError, ImportEvent, TraceError, TraceList, TraceWriter,
};

use super::io::{self, Bar};
use super::options::Progress;
use super::{inputs, mapped};

/// An import, with its progress.
pub(crate) struct Importing {
    /// The name of the input in messages.
    name: PathBuf,
    bar: Bar,
    compression: Compression,
}

type Writer<'o> = TraceWriter<BufWriter<&'o File>>;
type Observe<'o> = &'o (dyn Fn(ImportEvent<'_>) + Sync);

impl Importing {
    pub(crate) fn new(path: &Path, progress: Progress) -> Self {
        // The length of what is no regular file says nothing.
        let metadata = std::fs::metadata(path).ok().filter(Metadata::is_file);
        let bar = Bar::new(progress, metadata.map(|metadata| metadata.len()), path);
        // A path need not be UTF-8, and the files of a list are found by it.
        let name = if io::is_stdin(path) { Path::new("standard input") } else { path };
        Self { name: name.to_owned(), bar, compression: Compression::default() }
    }

    pub(crate) fn compressed_by(self, compression: Compression) -> Self {
        Self { compression, ..self }
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
            // A list of kernels is small; the files that it names are what is read.
            ImportEvent::Listed(bytes) => self.bar.expect(bytes),
            ImportEvent::Read(bytes) => self.bar.read(bytes),
            _ => {}
        }
    }

    /// Writes the binary trace that `import` makes into `output`, which must be empty. What the system
    /// says about that is passed to `failed`.
    pub(crate) fn write<'o>(
        &self,
        output: &'o File,
        failed: &dyn Fn(std::io::Error) -> anyhow::Error,
        import: impl FnOnce(&mut Writer<'o>, Observe<'_>) -> Result<(), ImportError>,
    ) -> anyhow::Result<()> {
        let output = BufWriter::new(output);
        let writer = TraceWriter::with_compression(output, self.source(), self.compression);
        let mut writer = writer.map_err(failed)?;
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
    fn inputs_of(&self, output: &Path) -> Option<Vec<TraceInput>> {
        let file = regular(output)?;
        let trace = BinaryTrace::new(mapped::map(output, &file).ok()?).ok()?;
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
fn input(path: &Path) -> Option<TraceInput> {
    TraceInput::of(regular(path)?).ok()
}

/// A list of traces, to be imported one by one.
pub(crate) struct List {
    importing: Importing,
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

    /// Compresses what is imported.
    pub(crate) fn compressed_by(self, compression: Compression) -> Self {
        Self { importing: self.importing.compressed_by(compression), ..self }
    }

    pub(crate) fn name(&self) -> &Path {
        self.importing.name()
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Shows the progress of importing these traces.
    pub(crate) fn expect(&self, files: impl Iterator<Item = PathBuf>) {
        let bytes = files.filter_map(|file| Some(std::fs::metadata(file).ok()?.len()));
        self.importing.bar.expect(bytes.fold(0, u64::saturating_add));
    }

    /// Returns the trace of that number, from 0; `None` if there are fewer.
    pub(crate) fn file(&self, number: usize) -> Option<PathBuf> {
        self.list.file(number)
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
        failed: &dyn Fn(std::io::Error) -> anyhow::Error,
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A large list and standard input have a bar, even though the file of the list is small.
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
            let mut writer =
                TraceWriter::new(std::io::Cursor::new(Vec::new()), "a test".to_owned());
            for (progress, is_drawn) in [(Progress::Auto, is_drawn), (Progress::Never, false)] {
                let importing = Importing::new(&list, progress);
                let observe = |event: ImportEvent<'_>| importing.observe(event);
                let text = text.as_bytes();
                let writer = writer.as_mut().unwrap();
                // The files hold no traces.
                warpload_trace::import_from(text, &list, writer, 1, &observe).unwrap_err();
                assert_eq!(importing.bar.is_drawn(), is_drawn);
                let list = List::new(&list, text, progress).unwrap();
                list.expect(list.files());
                assert_eq!(list.importing.bar.is_drawn(), is_drawn);
            }
        }
        assert!(Importing::new(&list, Progress::Always).bar.is_drawn());
        let stdin = Importing::new(Path::new("-"), Progress::Auto);
        for is_drawn in [false, true, true] {
            stdin.observe(ImportEvent::Read(2 << 20));
            assert_eq!(stdin.bar.is_drawn(), is_drawn);
        }
    }
}
