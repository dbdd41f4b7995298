//! [`LoadBatches`]: the loads of a trace, a batch a block.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use rayon::prelude::*;
use warpload_replay::LoadExecutor;
use warpload_trace::BinaryTrace;

use crate::block::BlockReader;
use crate::error::BatchError;
use crate::options::LoadOptions;
use crate::schema::load_schema;

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
        let reader = &mut self.reader;
        let batches: Vec<_> = match blocks {
            [block] => vec![reader.batch(block)],
            blocks => {
                let each = blocks.par_iter();
                each.map_init(|| reader.clone(), |reader, block| reader.batch(block)).collect()
            }
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
