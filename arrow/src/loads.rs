//! [`LoadBatches`]: the loads of a trace, a batch a block; its [`LoadOptions`], and why there are no batches.

use std::collections::VecDeque;
use std::fmt::Write;
use std::num::NonZero;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use rayon::prelude::*;

use crate::block::BlockReader;
use crate::columns::load_schema;
use warpload::memory::{Fill, Window};
use warpload_replay::{LoadExecutor, ReplayData, ReplayError, ReplayOptions, Selection};
use warpload_trace::{BinaryTrace, TraceError};

/// How many batches each thread makes before the first of them is handed out.
const BLOCKS_A_THREAD: usize = 4;

/// The loads of a trace as record batches: one of each block that has loads, made when it is asked for. With
/// several threads, a few are made ahead.
///
/// Ends after the first error.
#[derive(Debug)]
pub struct LoadBatches<'a> {
    trace: Arc<BinaryTrace>,
    reader: BlockReader<'a>,
    threads: usize,
    /// The number of the block that is read next.
    next: usize,
    bytes: u64,
    ready: VecDeque<RecordBatch>,
    /// What follows them.
    error: Option<BatchError>,
}

impl<'a> LoadBatches<'a> {
    /// Creates the batches of a trace.
    ///
    /// # Errors
    /// Returns [`BatchError`] if the windows of a kernel are invalid and it has loads that need them, or if a
    /// block that has to be read for that is damaged. Other damage is found when its block is read.
    pub fn new(trace: Arc<BinaryTrace>, options: LoadOptions<'a>) -> Result<Self, BatchError> {
        let executor = LoadExecutor::new(&trace, options.get_replay())?;
        let schema = load_schema(&trace, &options);
        let reader = BlockReader::new(Arc::clone(&trace), executor, schema, options.get_values());
        let threads = options.get_threads().get();
        Ok(Self { trace, reader, threads, next: 0, bytes: 0, ready: VecDeque::new(), error: None })
    }

    /// Selects the loads that become rows, in place of the options' selection. It is shared because the options borrow
    /// theirs, which then has to outlive the batches.
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

    /// Returns how many bytes of the trace's blocks have been read, for showing progress.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.bytes
    }

    /// Makes the batches of the next blocks; returns false if there are none.
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

impl Iterator for LoadBatches<'_> {
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

impl RecordBatchReader for LoadBatches<'_> {
    fn schema(&self) -> SchemaRef {
        self.schema()
    }
}

/// Which loads become rows, what memory holds, and what columns there are.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions<'a> {
    replay: ReplayOptions<'a>,
    has_values: bool,
    threads: NonZero<usize>,
}

impl<'a> LoadOptions<'a> {
    /// Creates options for rows with the costs of this replay. Its data, its addresses and its selection of
    /// loads apply; its shard does not.
    #[must_use]
    pub fn new(replay: ReplayOptions<'a>) -> Self {
        Self { replay, has_values: false, threads: NonZero::<usize>::MIN }
    }

    /// Sets whether there is a column of values, by default not.
    #[must_use]
    pub fn values(mut self, has_values: bool) -> Self {
        self.has_values = has_values;
        self
    }

    /// Sets how many threads of the current rayon pool make batches, by default one: the caller's own.
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

    /// Returns how many threads make batches.
    #[must_use]
    pub fn get_threads(&self) -> NonZero<usize> {
        self.threads
    }
}

/// Returns a replay's options as the command has them, such as `--fill address --address-bits 49`.
pub(crate) fn in_words(options: &ReplayOptions<'_>) -> String {
    let mut text = String::new();
    match options.get_data() {
        ReplayData::Image(_) => text += "--image",
        ReplayData::Fill(Fill::Address) => text += "--fill address",
        ReplayData::Fill(Fill::Zero) => text += "--fill zero",
        _ => {}
    }
    if !matches!(options.get_data(), ReplayData::Image(_)) {
        let _ = write!(text, " --address-bits {}", options.get_address_bits());
        let (shared, local) = (options.get_shared_window(), options.get_local_window());
        for (name, window) in [("shared", shared), ("local", local)] {
            if let Some(Window { base, size }) = window {
                let _ = write!(text, " --{name}-window {base:#x},{size:#x}");
            }
        }
    }
    if let Some(selection) = options.get_selection() {
        for (name, value) in selection.selected.words() {
            let _ = write!(text, " --{name} {value}");
        }
    }
    text.trim_start().to_owned()
}

/// Why a trace could not be turned into batches, or these not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A block is damaged.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The windows of a kernel are invalid, or a block that tells whether it needs them is damaged.
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
    /// Returns the error of this crate that [`ArrowError::ExternalError`] holds, if it does.
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
