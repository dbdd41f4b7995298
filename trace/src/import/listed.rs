//! Reads the files of a list and passes on their contents in list order: small files on several threads, large ones one
//! by one, each on all threads.

use std::path::{Path, PathBuf};

use super::compressed;
use super::error::ImportError;
use super::file_list::FileList;
use super::interner::Interner;
use super::sink::ImportItem;
use super::source::{ImportSource, Trace};
use super::{ImportEvent, Observe};
use crate::ordered::{self, Chunk};
use warpload_binary::regular_file;

/// The bytes of a large file.
const LARGE: u64 = 1 << 20;
/// The bytes of a large compressed file. Text compresses about eightfold.
const LARGE_COMPRESSED: u64 = 128 << 10;

/// The limit for the contents of a small file, which are held until the files before it are written. A file that exceeds
/// it is read again as a large one.
const SMALL_ITEMS: usize = 4 << 20;

/// Takes the items of a file.
pub(super) type Emit<'e> = &'e mut dyn FnMut(ImportItem) -> Result<(), ImportError>;

/// A file of the list.
#[derive(Default)]
struct Job {
    /// The file, and the line of the list that names it.
    file: Option<(PathBuf, u64)>,
    /// The contents of a small file, up to its error if it has one.
    items: Vec<ImportItem>,
    read: FileRead,
}

#[derive(Default)]
enum FileRead {
    /// Because the file is large.
    #[default]
    NotYet,
    TooManyItems,
    Ended(Result<(), ImportError>),
}

impl Chunk for Job {}

/// Reads the files of a list on `threads` threads and calls `take` for each file in list order, with a function that
/// passes on the file's items.
pub(super) fn read(
    list: &FileList,
    threads: usize,
    interner: &Interner,
    observe: &Observe<'_>,
    mut take: impl FnMut(
        &Path,
        &mut dyn FnMut(Emit<'_>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut files = list.files();
    let end = ordered::map(
        &mut vec![(); threads.min(files.len()).max(1)],
        |job: &mut Job| {
            job.file = files.next();
            job.file.is_none().then_some(())
        },
        |(), job| job.read_small(list, interner, observe),
        |job| {
            let Some((file, line)) = job.file.take() else { return Ok(()) };
            let silent = |_: ImportEvent<'_>| ();
            let observe = match std::mem::take(&mut job.read) {
                FileRead::Ended(read) => {
                    let items = &mut job.items;
                    take(&file, &mut |emit| items.drain(..).try_for_each(emit))?;
                    return read;
                }
                FileRead::NotYet => observe,
                FileRead::TooManyItems => &silent,
            };
            let trace = open(list, &file, line, observe)?;
            let mut trace = Some(trace);
            take(&file, &mut |emit| {
                trace.take().map_or(Ok(()), |trace| trace.read(threads, interner, emit))
            })
        },
    );
    end.map(drop)
}

impl Job {
    fn read_small(&mut self, list: &FileList, interner: &Interner, observe: &Observe<'_>) {
        let Some((file, line)) = &self.file else { return };
        let is_compressed = compressed::by_name(file.as_os_str().as_encoded_bytes()).is_some();
        let large = if is_compressed { LARGE_COMPRESSED } else { LARGE };
        if regular_file::size(file).is_ok_and(|size| size > large) {
            return;
        }
        let (items, mut bytes) = (&mut self.items, 0);
        let stopped = || ImportError::File { file: file.clone(), message: "stopped".to_owned() };
        let read = open(list, file, *line, observe).and_then(|trace| {
            trace.read(1, interner, &mut |item| {
                // Blocks without records are many, too, if a line says so.
                bytes += size_of_val(&item);
                if let ImportItem::Block(_, block) = &item {
                    bytes += block.bytes();
                }
                items.push(item);
                if bytes > SMALL_ITEMS { Err(stopped()) } else { Ok(()) }
            })
        });
        self.read = FileRead::Ended(read);
        if bytes > SMALL_ITEMS {
            (self.read, self.items) = (FileRead::TooManyItems, Vec::new());
        }
    }
}

/// Opens a file that the list names on line `line`.
fn open<'o>(
    list: &FileList,
    file: &'o Path,
    line: u64,
    observe: &'o Observe<'o>,
) -> Result<Trace<'o>, ImportError> {
    let wrong =
        |what: &dyn std::fmt::Display| list.error(line, format!("{}: {what}", file.display()));
    let (input, _) = regular_file::open(file)
        .map_err(|error| wrong(&format_args!("cannot be read: {error}")))?;
    observe(ImportEvent::Opened(file, &input));
    let seekable = input.try_clone().ok();
    match ImportSource::open(input, seekable, file, observe)? {
        ImportSource::Trace(trace) => Ok(trace),
        ImportSource::List(_) => {
            Err(wrong(&"a list of kernels inside a list of kernels; expected a trace"))
        }
    }
}
