//! Parquet files, read back.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::sync::Arc;

use crate::common::{bytes, file, open, samples};
use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, RecordBatch, StringArray};
use warpload::memory::Fill;
use warpload_arrow::{AccessBatches, AccessOptions, BatchError, access_schema, write_parquet};
use warpload_replay::{ReplayData, ReplayOptions};
use warpload_trace::BinaryTrace;

fn options<'a>() -> AccessOptions<'a> {
    AccessOptions::new(ReplayOptions::new(ReplayData::Fill(Fill::Address))).values(true)
}

fn written(trace: &Arc<BinaryTrace>) -> File {
    let file = tempfile::tempfile().unwrap();
    let blocks: u64 = trace.blocks().iter().map(|block| u64::from(block.length)).sum();
    let progress = Cell::new(0);
    let batches = AccessBatches::new(Arc::clone(trace), options()).unwrap();
    write_parquet(batches, &file, |bytes| progress.set(progress.get() + bytes)).unwrap();
    assert!(progress.get() <= blocks && (trace.accesses().unwrap() == 0 || progress.get() > 0));
    file
}

/// Compares two rows of batches; dictionaries by their texts.
fn assert_equal(name: &str, found: &RecordBatch, expected: &RecordBatch) {
    assert_eq!(found.num_rows(), expected.num_rows(), "{name}");
    for (found, expected) in found.columns().iter().zip(expected.columns()) {
        let texts = |column: &dyn Array| {
            let column = column.as_any_dictionary_opt()?.as_any().downcast_ref()?;
            let column: &arrow_array::DictionaryArray<Int32Type> = column;
            let texts = column.downcast_dict::<StringArray>()?;
            Some(texts.into_iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>())
        };
        match (texts(found), texts(expected)) {
            (None, None) => assert!(found == expected, "{name}"),
            (found, expected) => assert_eq!(found, expected, "{name}"),
        }
    }
}

#[test]
fn every_sample_comes_back() {
    let mut rows = 0;
    for (name, trace) in samples() {
        let file = written(&trace);
        let metadata = ArrowReaderMetadata::load(&file, Default::default()).unwrap();
        assert_eq!(**metadata.schema(), *access_schema(&trace, &options()), "{name}");
        // Batches as long as the blocks.
        for expected in AccessBatches::new(Arc::clone(&trace), options()).unwrap() {
            let expected = expected.unwrap();
            let builder = ParquetRecordBatchReaderBuilder::try_new(file.try_clone().unwrap());
            let mut reader = builder
                .unwrap()
                .with_offset(rows)
                .with_limit(expected.num_rows())
                .with_batch_size(expected.num_rows())
                .build()
                .unwrap();
            assert_equal(&name, &reader.next().unwrap().unwrap(), &expected);
            assert!(reader.next().is_none());
            rows += expected.num_rows();
        }
        let all = metadata.metadata().file_metadata().num_rows();
        assert_eq!((all, rows as u64), (rows as i64, trace.accesses().unwrap()), "{name}");
        rows = 0;
    }
}

#[test]
fn a_damaged_trace_is_named_as_such() {
    let mut damaged = bytes(&file("traces/bfs-v3-kernel-14.traceg"));
    let offset = open(damaged.clone()).blocks()[0].offset as usize;
    damaged[offset] ^= 1;
    let batches = AccessBatches::new(open(damaged), options()).unwrap();
    let result = write_parquet(batches, io::sink(), |_| ());
    assert!(matches!(result, Err(BatchError::Trace(_))), "{result:?}");
}

#[test]
fn an_output_that_fails_is_named_as_such() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let trace = open(bytes(&file("traces/bfs-v3-kernel-14.traceg")));
    let batches = AccessBatches::new(trace, options()).unwrap();
    let result = write_parquet(batches, Full, |_| ());
    assert!(matches!(result, Err(BatchError::Parquet(_))), "{result:?}");
}
