//! [`AccessBatches`]: the accesses of a trace, one batch per block. [`AccessOptions`] are its options, [`BatchError`]
//! its errors.

use std::collections::VecDeque;
use std::fmt::Write;
use std::num::NonZero;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use rayon::prelude::*;

use crate::block::BlockReader;
use crate::columns::access_schema;
use warpload::memory::{Fill, Window};
use warpload_replay::{AccessExecutor, ReplayData, ReplayError, ReplayOptions, Selection};
use warpload_trace::{BinaryTrace, TraceError};

/// The number of batches per thread that are made at once. They are held in memory until they are handed out.
const BLOCKS_A_THREAD: usize = 4;

/// The accesses of a trace as record batches, one for each block that has accesses. A batch is made on request; with
/// several threads, a few are made ahead.
///
/// Ends after the first error.
#[derive(Debug)]
pub struct AccessBatches<'a> {
    trace: Arc<BinaryTrace>,
    reader: BlockReader<'a>,
    threads: usize,
    /// The index of the next block.
    next: usize,
    bytes: u64,
    ready: VecDeque<RecordBatch>,
    /// The error after these batches.
    error: Option<BatchError>,
}

impl<'a> AccessBatches<'a> {
    /// Creates the batches of a trace.
    ///
    /// # Errors
    /// Returns [`BatchError`] if a kernel has invalid windows and loads that need them, or if a block read to find that
    /// out is damaged. Other damage is reported when its block is read.
    pub fn new(trace: Arc<BinaryTrace>, options: AccessOptions<'a>) -> Result<Self, BatchError> {
        let executor = AccessExecutor::new(&trace, options.get_replay())?;
        let schema = access_schema(&trace, &options);
        let reader = BlockReader::new(Arc::clone(&trace), executor, schema, options.get_values());
        let threads = options.get_threads().get();
        Ok(Self { trace, reader, threads, next: 0, bytes: 0, ready: VecDeque::new(), error: None })
    }

    /// Overrides the selection of accesses that become rows. Shared, because the selection in the options is borrowed
    /// and would have to outlive the batches.
    #[must_use]
    pub fn select(mut self, selection: impl Into<Option<Arc<Selection>>>) -> Self {
        self.reader.selection = selection.into();
        self
    }

    /// Returns the schema of all batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.reader.schema)
    }

    /// Returns the number of bytes of blocks read so far, to show progress.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.bytes
    }

    /// Makes the batches of the next blocks. False if there are none.
    fn read(&mut self) -> bool {
        let count =
            if self.threads == 1 { 1 } else { BLOCKS_A_THREAD.saturating_mul(self.threads) };
        let blocks = self.trace.blocks().get(self.next..).unwrap_or_default();
        let blocks = &blocks[..count.min(blocks.len())];
        if blocks.is_empty() {
            return false;
        }
        self.next += blocks.len();
        let reader = &self.reader;
        let batches: Vec<_> = match blocks {
            [block] => vec![reader.batch(block)],
            blocks => blocks.par_iter().map(|block| reader.batch(block)).collect(),
        };
        for (block, batch) in blocks.iter().zip(batches) {
            match batch {
                Ok(batch) if batch.num_rows() == 0 => {}
                Ok(batch) => self.ready.push_back(batch),
                Err(error) => {
                    self.error = Some(error);
                    self.next = usize::MAX;
                    break;
                }
            }
            self.bytes += u64::from(block.length);
        }
        true
    }
}

impl Iterator for AccessBatches<'_> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Some(Ok(batch));
            }
            if let Some(error) = self.error.take() {
                return Some(Err(error.into()));
            }
            if !self.read() {
                return None;
            }
        }
    }
}

impl RecordBatchReader for AccessBatches<'_> {
    fn schema(&self) -> SchemaRef {
        self.schema()
    }
}

/// The accesses that become rows, the contents of memory, and the columns.
#[derive(Clone, Copy, Debug)]
pub struct AccessOptions<'a> {
    replay: ReplayOptions<'a>,
    has_values: bool,
    threads: NonZero<usize>,
}

impl<'a> AccessOptions<'a> {
    /// Creates options for rows with the costs of this replay. Its data, addresses and selection apply; its shard does
    /// not.
    #[must_use]
    pub fn new(replay: ReplayOptions<'a>) -> Self {
        Self { replay, has_values: false, threads: NonZero::<usize>::MIN }
    }

    /// Sets whether there is a column of values. Off by default.
    #[must_use]
    pub fn values(mut self, has_values: bool) -> Self {
        self.has_values = has_values;
        self
    }

    /// Sets the number of threads of the current rayon pool that make batches. The default is one, which is the
    /// caller's own thread.
    #[must_use]
    pub fn threads(mut self, threads: NonZero<usize>) -> Self {
        self.threads = threads;
        self
    }

    /// Returns the options of the replay that determines the costs.
    #[must_use]
    pub fn get_replay(&self) -> &ReplayOptions<'a> {
        &self.replay
    }

    /// Returns whether there is a column of values.
    #[must_use]
    pub fn get_values(&self) -> bool {
        self.has_values
    }

    /// Returns the number of threads that make batches.
    #[must_use]
    pub fn get_threads(&self) -> NonZero<usize> {
        self.threads
    }
}

/// A replay's options as arguments of the command, such as `--fill address --address-bits 49`.
pub(crate) fn in_words(options: &ReplayOptions<'_>) -> String {
    let mut text = String::new();
    match options.data {
        ReplayData::Image(_) => text += "--image",
        ReplayData::Fill(Fill::Address) => text += "--fill address",
        ReplayData::Fill(Fill::Zero) => text += "--fill zero",
        _ => {}
    }
    if !matches!(options.data, ReplayData::Image(_)) {
        let _ = write!(text, " --address-bits {}", options.address_bits);
        let (shared, local) = (options.shared_window, options.local_window);
        for (name, window) in [("shared", shared), ("local", local)] {
            if let Some(Window { base, size }) = window {
                let _ = write!(text, " --{name}-window {base:#x},{size:#x}");
            }
        }
    }
    if let Some(selection) = options.selection {
        for (name, value) in selection.selected.words() {
            let _ = write!(text, " --{name} {value}");
        }
    }
    text.trim_start().to_owned()
}

/// The reason why batches could not be made or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A block is damaged.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A kernel has invalid windows, or a block read to find out whether it needs them is damaged.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A batch could not be made.
    #[error(transparent)]
    Arrow(ArrowError),
    /// The Parquet file could not be written.
    #[cfg(feature = "parquet")]
    #[error("the Parquet file cannot be written")]
    Parquet(#[from] parquet::errors::ParquetError),
}

impl From<ArrowError> for BatchError {
    /// Unwraps a [`BatchError`] from [`ArrowError::ExternalError`].
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::ExternalError(source) => match source.downcast::<Self>() {
                Ok(error) => *error,
                Err(source) => Self::Arrow(ArrowError::ExternalError(source)),
            },
            error => Self::Arrow(error),
        }
    }
}

impl From<BatchError> for ArrowError {
    fn from(error: BatchError) -> Self {
        match error {
            BatchError::Arrow(error) => error,
            error => Self::ExternalError(Box::new(error)),
        }
    }
}
