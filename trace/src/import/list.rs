//! [`TraceList`]: a list of traces, each of which becomes a binary trace of its own.

use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::error::ImportError;
use super::event::ImportEvent;
use super::file_list::FileList;
use super::source::ImportSource;
use super::{Import, Shared, in_order};
use crate::binary::{RawInput, TraceWriter};

/// A list of traces, as Accel-Sim's `kernelslist.g`. [`import`](super::import) makes one binary trace of
/// all that it names; here each becomes one, and together they are
/// [a set](crate::TraceSet) that is the same trace.
#[derive(Debug)]
pub struct TraceList {
    list: FileList,
    /// The file of the list.
    input: Option<RawInput>,
}

impl TraceList {
    /// Reads a list. Errors call it `name`, and the files that it names are relative to that.
    ///
    /// # Errors
    /// Returns [`ImportError`] if it cannot be read, or is not a list.
    pub fn new(
        input: impl Read + Send,
        name: &Path,
        observe: &(dyn Fn(ImportEvent<'_>) + Sync),
    ) -> Result<Self, ImportError> {
        match ImportSource::open(input, name, observe)? {
            ImportSource::List(list) => list.read().map(|(list, input)| Self { list, input }),
            ImportSource::Trace(_) => Err(ImportError::NotAList { file: name.to_owned() }),
        }
    }

    /// Returns the number of traces.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.files().len()
    }

    /// Returns whether the list names no traces.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the file of the list itself, as the traces that are [imported](Self::import) name it first among
    /// [their inputs](crate::BinaryTrace::inputs); `None` if it could not be read to the end.
    #[must_use]
    pub fn input(&self) -> Option<RawInput> {
        self.input
    }

    /// Returns the files with the traces, in order.
    #[must_use]
    pub fn files(&self) -> impl ExactSizeIterator<Item = PathBuf> {
        self.list.files().map(|(file, _)| file)
    }

    /// Returns the file with trace `number`, from 0; `None` if there are fewer.
    #[must_use]
    pub fn file(&self, number: usize) -> Option<PathBuf> {
        self.list.nth(number).map(|(file, _)| file)
    }

    /// Imports trace `number`, from 0, with the allocations that the list names.
    ///
    /// # Errors
    /// Returns [`ImportError`] if there is no such trace, and as [`import`](super::import) does.
    pub fn import<W: Write + Seek>(
        &self,
        number: usize,
        writer: &mut TraceWriter<W>,
        threads: usize,
        observe: &(dyn Fn(ImportEvent<'_>) + Sync),
    ) -> Result<(), ImportError> {
        let (file, line) = self.list.nth(number).ok_or_else(|| {
            let count = self.len();
            self.list.whole_error(format!("no trace {number}; it names {count}, from 0"))
        })?;
        self.input.into_iter().for_each(|input| writer.input(input));
        self.list.describe(writer);
        let trace = in_order::open(&self.list, &file, line, observe)?;
        let mut shared = Shared::default();
        let mut import = Import::new(writer, &file, &mut shared);
        trace.read(threads.max(1), &mut |found| import.take(found))
    }
}
