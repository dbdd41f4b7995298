//! [`TraceFile`]: the bytes of one file of a trace.

use std::path::Path;

use crate::binary::error::TraceError;
use crate::binary::format::RawBlock;
use warpload::memory::Arena;

/// A file of a trace, with what its records' numbers mean in the trace.
#[derive(Debug)]
pub(super) struct TraceFile {
    pub(super) bytes: Arena,
    has_loads_only: bool,
    /// The number of the trace's kernels before its own.
    pub(super) first_kernel: u32,
    operations: Operations,
    /// Its name, if the trace has several files.
    pub(super) file: Option<Box<Path>>,
}

/// The trace's number of each operation of a part.
#[derive(Clone, Debug)]
pub(super) enum Operations {
    /// The same, of so many.
    Same(usize),
    Others(Box<[u16]>),
}

impl TraceFile {
    /// Creates the only part of a trace, with so many operations.
    pub(super) fn new(bytes: Arena, has_loads_only: bool, operations: usize) -> Self {
        let operations = Operations::Same(operations);
        Self { bytes, has_loads_only, first_kernel: 0, operations, file: None }
    }

    /// Makes it a part of a trace of several files.
    pub(super) fn join(self, file: &Path, first_kernel: u32, operations: Operations) -> Self {
        Self { first_kernel, operations, file: Some(file.into()), ..self }
    }

    /// Returns whether blocks have records of loads only.
    pub(super) fn has_loads_only(&self) -> bool {
        self.has_loads_only
    }

    /// Returns the bytes of a block; `None` if they lie outside the file.
    pub(super) fn block(&self, block: &RawBlock) -> Option<&[u8]> {
        let (start, length) = (usize::try_from(block.offset).ok()?, block.length as usize);
        self.bytes.bytes().get(start..)?.get(..length)
    }

    /// Returns the trace's number of an operation of the part; `None` if there is no such operation.
    #[inline]
    pub(super) fn operation(&self, number: u16) -> Option<u16> {
        match &self.operations {
            Operations::Same(count) => (usize::from(number) < *count).then_some(number),
            Operations::Others(numbers) => numbers.get(usize::from(number)).copied(),
        }
    }

    /// Returns an error of the part, with its name if the trace has several files.
    pub(super) fn error(&self, error: TraceError) -> TraceError {
        match &self.file {
            Some(file) => error.of_part(file),
            None => error,
        }
    }
}
