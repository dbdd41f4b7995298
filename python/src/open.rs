//! Opening files for the libraries: traces of all kinds, images and cubins. Errors are [`Failure`]s.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use warpload::machine::Machine;
use warpload::memory::Arena;
use warpload_binary::sass::{CubinProblem, Functions};
use warpload_suite::image::Manifest;
use warpload_trace::output::{InputFiles, OutputError, OutputTarget};
use warpload_trace::{
    BinaryTrace, Compression, ImportError, ImportEvent, ImportOptions, TraceError, TraceFiles,
    TraceSource, usable_threads,
};

use crate::error::{ErrorKind, Failure};

/// How the bytes of a file are held.
#[derive(Clone, Copy)]
pub(crate) enum Holding {
    /// In memory, so the file may change later.
    Read,
    /// Mapped. The file must not change while it is in use: if it becomes shorter, a signal ends the process.
    Mapped,
}

impl Holding {
    pub(crate) fn new(mmap: bool) -> Self {
        if mmap { Self::Mapped } else { Self::Read }
    }

    fn bytes(self, file: &File) -> io::Result<Arena> {
        match self {
            Self::Read => Arena::read(file),
            // SAFETY: the documentation of `mmap=True` asks that the file does not change meanwhile.
            Self::Mapped => unsafe { Arena::map_read_only(file) },
        }
    }
}

/// Opens a file, a pipe or a device, but not a folder. The flag says whether it is a regular file.
fn open_file(path: &Path) -> Result<(File, bool), Failure> {
    let opened = || {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        Ok::<_, io::Error>((file, metadata))
    };
    let (file, metadata) = opened().map_err(|error| Failure::of_file(&error, path))?;
    if metadata.is_dir() {
        let error = io::Error::other("is a folder; expected a file");
        return Err(Failure::of_file(&error, path));
    }
    Ok((file, metadata.is_file()))
}

/// Reads a whole file.
pub(crate) fn read_file(path: &Path) -> Result<Arena, Failure> {
    let (mut file, is_regular) = open_file(path)?;
    let read = if is_regular {
        Arena::read(&file)
    } else {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map(|_| bytes.into())
    };
    read.map_err(|error| Failure::of_file(&error, path))
}

/// The files of a trace to open or import. It protects them from being replaced, and stops an import once `interrupt`
/// is set.
struct Opening<'o> {
    holding: Holding,
    inputs: &'o InputFiles,
    interrupt: &'o AtomicBool,
}

impl TraceFiles for Opening<'_> {
    fn bytes(&self, _: &Path, file: &File) -> io::Result<Arena> {
        self.holding.bytes(file)
    }

    fn temporary_bytes(&self, file: &File) -> io::Result<Arena> {
        // SAFETY: the file has no name by which another process could change it.
        unsafe { Arena::map_read_only(file) }
    }

    fn observe(&self, event: ImportEvent<'_>) {
        if let ImportEvent::Opened(path, file) = event
            && let Ok(metadata) = file.metadata()
        {
            self.inputs.add(path, &metadata);
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

/// Opens a trace of any kind. Setting `interrupt` stops an import.
pub(crate) fn open_trace(
    path: &Path,
    threads: Option<NonZero<usize>>,
    holding: Holding,
    interrupt: &AtomicBool,
) -> Result<BinaryTrace, Failure> {
    let failed = |error: &(dyn std::error::Error + 'static)| Failure::of_file(error, path);
    let files = Opening { holding, inputs: &InputFiles::new(), interrupt };
    let source = TraceSource::open(path, &files).map_err(|error| failed(&error))?;
    source.into_trace(usable_threads(threads), &files).map_err(|error| failed(&error))
}

/// Writes the same binary trace as `warpload import`. The file appears under its name when it is complete, and never
/// replaces an input.
pub(crate) fn import_to(
    path: &Path,
    output: &Path,
    compression: Compression,
    threads: Option<NonZero<usize>>,
    interrupt: &AtomicBool,
) -> Result<(), Failure> {
    let failed = |error: ImportError| Failure::of_file(&error, path);
    let not_written = |error: OutputError| Failure::of_file(&error, output);
    let inputs = InputFiles::new();
    let files = Opening { holding: Holding::Read, inputs: &inputs, interrupt };
    let source = TraceSource::open(path, &files).map_err(failed)?;
    let file = OutputTarget::new(output, &inputs).and_then(OutputTarget::create);
    let file = file.map_err(not_written)?;
    let options = ImportOptions::new(usable_threads(threads)).compression(compression);
    let imported = source.import_into(file.file(), &options, &files);
    imported.map_err(|error| match error {
        ImportError::Write(TraceError::Write { source }) => {
            not_written(file.target().write_error(source))
        }
        error => failed(error),
    })?;
    file.persist().map_err(not_written)
}

/// Writes a file, which appears under its name when it is complete.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let inputs = InputFiles::new();
    let target = OutputTarget::new(path, &inputs);
    let written = target.and_then(|target| target.write(bytes));
    written.map_err(|error| Failure::of_file(&error, path))
}

/// Opens the memory image that a manifest describes. `holding` applies if one file holds all bytes.
pub(crate) fn open_image(manifest: &Path, holding: Holding) -> Result<Machine, Failure> {
    let bytes = |_: &Path, file: &File| holding.bytes(file);
    Manifest::open(manifest)
        .and_then(|manifest| manifest.machine_with(&bytes, &|_, _| {}))
        .map_err(|error| Failure::of(&error, ErrorKind::Input))
}

/// Reads the functions of cubins, and of files that contain cubins, with notes for the user. `None` if `paths` is
/// empty.
pub(crate) fn open_cubins(paths: &[PathBuf]) -> Result<(Option<Functions>, Vec<String>), Failure> {
    let (mut functions, mut notes) = (Functions::default(), Vec::new());
    for path in paths {
        let bytes = read_file(path)?;
        let remarks = functions.add_file(bytes.bytes());
        for remark in remarks.map_err(|error| Failure::of_file(&error, path))? {
            let mut name = path.display().to_string();
            if let Some(number) = remark.image {
                name += &format!(": image {number}");
            }
            notes.push(match remark.problem {
                CubinProblem::DamagedLines(damaged) => format!("{name}: {damaged}"),
                CubinProblem::Unread(error) => format!("{name}: {error}; it is not used"),
            });
        }
    }
    Ok(((!paths.is_empty()).then_some(functions), notes))
}
