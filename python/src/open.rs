//! Files as the libraries take them: traces of all kinds, images and cubins. What fails is a [`Failure`].

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tempfile::NamedTempFile;
use warpload::machine::Machine;
use warpload::memory::Arena;
use warpload_binary::sass::{CubinProblem, Functions};
use warpload_suite::image::Manifest;
use warpload_trace::binary::MAGIC;
use warpload_trace::{BinaryTrace, Compression, TraceSet, TraceWriter, import_from};

use crate::error::{ErrorKind, Failure};

/// How the bytes of a file are held.
#[derive(Clone, Copy)]
pub(crate) enum Holding {
    /// In memory: what becomes of the file later is of no interest.
    Read,
    /// Mapped: the file must not change for as long as it is used. If it becomes shorter, a signal ends the process.
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

/// Opens a regular file, or what else can be read, but no folder.
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

/// How many bytes tell the kind of a file.
const START: u64 = 4096;

/// The most bytes of a set's file: room for as many parts as there can be kernels.
const MAX_SET_BYTES: u64 = 512 << 20;

/// Parts of fewer bytes are read: a process can map 65,530 files on Linux, and sets can have more parts.
const WORTH_MAPPING: u64 = 64 << 10;

/// Opens a trace of any kind, and returns the number of its parts too if it is a trace set. A text trace is imported
/// into a temporary file without a name, which `interrupt` stops once it is true.
pub(crate) fn open_trace(
    path: &Path,
    threads: Option<NonZero<usize>>,
    holding: Holding,
    interrupt: &AtomicBool,
) -> Result<(BinaryTrace, Option<usize>), Failure> {
    let failed = |error: &(dyn std::error::Error + 'static)| Failure::of_file(error, path);
    let (mut file, is_regular) = open_file(path)?;
    let mut start = Vec::new();
    Read::by_ref(&mut file).take(START).read_to_end(&mut start).map_err(|error| failed(&error))?;
    let is_binary = start.starts_with(&MAGIC);
    if is_binary && is_regular {
        let bytes = holding.bytes(&file).map_err(|error| failed(&error))?;
        return Ok((BinaryTrace::new(bytes).map_err(|error| failed(&error))?, None));
    }
    let is_set = TraceSet::is_set(&start);
    let mut rest = io::Cursor::new(start).chain(file);
    if is_binary {
        let mut bytes = Vec::new();
        rest.read_to_end(&mut bytes).map_err(|error| failed(&error))?;
        return Ok((BinaryTrace::new(bytes.into()).map_err(|error| failed(&error))?, None));
    }
    if is_set {
        let mut text = Vec::new();
        rest.take(MAX_SET_BYTES).read_to_end(&mut text).map_err(|error| failed(&error))?;
        let set = TraceSet::from_json(&text).map_err(|error| failed(&error))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let trace = set.open(None, folder, |part| open_part(part, holding));
        return Ok((trace.map_err(|error| failed(&error))?, Some(set.parts().len())));
    }
    let bytes = import(rest, path, threads, interrupt)?;
    Ok((BinaryTrace::new(bytes).map_err(|error| failed(&error))?, None))
}

fn open_part(path: &Path, holding: Holding) -> io::Result<Arena> {
    // Opening a pipe would wait for a writer.
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file; expected a binary trace"));
    }
    let is_small = metadata.len() < WORTH_MAPPING;
    if is_small { Holding::Read } else { holding }.bytes(&File::open(path)?)
}

/// Writes the binary trace that `warpload import` writes: the file appears under its name when it is complete.
pub(crate) fn import_to(
    path: &Path,
    output: &Path,
    compression: Compression,
    threads: Option<NonZero<usize>>,
    interrupt: &AtomicBool,
) -> Result<(), Failure> {
    let failed = |error: &(dyn std::error::Error + 'static)| Failure::of_file(error, output);
    let (text, _) = open_file(path)?;
    let file = temporary_beside(output)?;
    let to = BufWriter::new(Interruptible { file: file.as_file(), flag: interrupt });
    let writer = TraceWriter::with_compression(to, source_of(path), compression);
    let mut writer = writer.map_err(|error| failed(&error))?;
    writer.keep_inputs();
    import_from(text, path, &mut writer, at_most(threads), &|_| ())
        .map_err(|error| Failure::of(&error, ErrorKind::Input))?;
    writer.finish().map_err(|error| failed(&error))?;
    file.persist(output).map_err(|error| failed(&error.error))?;
    Ok(())
}

/// Returns a file without its name yet, in the folder of `output`, as which it is kept.
pub(crate) fn temporary_beside(output: &Path) -> Result<NamedTempFile, Failure> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    // As of any other new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.prefix(".warpload-").tempfile_in(folder.unwrap_or(Path::new(".")));
    file.map_err(|error| Failure::of_file(&error, output))
}

/// Returns the binary trace that a text trace is.
fn import(
    text: impl Read + Send,
    path: &Path,
    threads: Option<NonZero<usize>>,
    interrupt: &AtomicBool,
) -> Result<Arena, Failure> {
    let system = |error: &(dyn std::error::Error + 'static)| Failure::of(error, ErrorKind::System);
    let file = tempfile::tempfile().map_err(|error| system(&error))?;
    let output = BufWriter::new(Interruptible { file: &file, flag: interrupt });
    let writer = TraceWriter::with_compression(output, source_of(path), Compression::None);
    let mut writer = writer.map_err(|error| system(&error))?;
    import_from(text, path, &mut writer, at_most(threads), &|_| ())
        .map_err(|error| Failure::of(&error, ErrorKind::Input))?;
    writer.finish().map_err(|error| system(&error))?;
    // SAFETY: the file has no name by which anything could change it.
    unsafe { Arena::map_read_only(&file) }.map_err(|error| system(&error))
}

/// Returns what a binary trace says that it was made from.
fn source_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("warpload {}, from {name}", env!("CARGO_PKG_VERSION"))
}

/// Returns as many threads as are asked for, but no more than can run at once.
pub(crate) fn at_most(threads: Option<NonZero<usize>>) -> usize {
    let most = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    threads.map_or(most, |asked| asked.min(most)).get()
}

/// A file that nothing can be written to once a flag is true.
struct Interruptible<'f> {
    file: &'f File,
    flag: &'f AtomicBool,
}

impl Write for Interruptible<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.flag.load(Ordering::Relaxed) {
            return Err(io::Error::other("the import was interrupted"));
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Interruptible<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Opens the memory image that a manifest describes; `holding` is for bytes that are all in one file.
pub(crate) fn open_image(manifest: &Path, holding: Holding) -> Result<Machine, Failure> {
    let bytes = |_: &Path, file: &File| holding.bytes(file);
    Manifest::open(manifest)
        .and_then(|manifest| manifest.machine_with(&bytes, &|_, _| {}))
        .map_err(|error| Failure::of(&error, ErrorKind::Input))
}

/// Reads the functions of cubins, and files that hold cubins, and what is to be noted of them; `None` if there are no
/// files.
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
