//! Damaged and hostile traces become errors, or rows, but not panics.

use std::num::NonZero;
use std::sync::Arc;

use crate::common::{bytes, file, imported, open};
use crate::parts::Parts;
use warpload::memory::{Arena, Fill, mix};
use warpload_arrow::{AccessBatches, AccessOptions, BatchError};
use warpload_replay::{ReplayData, ReplayOptions};
use warpload_trace::{BinaryTrace, Compression, TraceError};

/// Reads all rows; returns how many there are before the error, if there is one.
fn read(trace: &Arc<BinaryTrace>, threads: usize) -> (usize, Option<BatchError>) {
    let options =
        AccessOptions::new(ReplayOptions::new(ReplayData::Fill(Fill::Address))).values(true);
    let threads = NonZero::new(threads).unwrap();
    let mut batches = match AccessBatches::new(Arc::clone(trace), options.threads(threads)) {
        Ok(batches) => batches,
        Err(error) => return (0, Some(error)),
    };
    let mut rows = 0;
    while let Some(batch) = batches.next() {
        match batch {
            Ok(batch) => rows += batch.num_rows(),
            Err(error) => {
                assert!(batches.next().is_none());
                return (rows, Some(error.into()));
            }
        }
    }
    (rows, None)
}

#[test]
fn a_damaged_block_is_an_error_after_the_rows_before_it() {
    let mut damaged = bytes(&file("traces/btree-v5-kernel-1.traceg"));
    let whole = open(damaged.clone());
    let blocks = whole.blocks();
    assert!(blocks.len() > 2);
    damaged[blocks[1].offset as usize + 3] ^= 4;
    let trace = open(damaged);
    for threads in [1, 2] {
        let (rows, error) = read(&trace, threads);
        // All of its memory instructions are accesses.
        assert_eq!(rows, blocks[0].records as usize);
        let offset = match error {
            Some(BatchError::Trace(TraceError::Damaged { offset, .. })) => offset,
            other => panic!("{other:?}"),
        };
        assert_eq!(offset, blocks[1].offset);
    }
}

#[test]
fn bytes_of_any_kind_do_not_panic() {
    let sample = bytes(&file("tests/data/traces2/v6.traceg.xz"));
    let expected = read(&open(sample.clone()), 1).0;
    let mut errors = 0;
    for i in 0..1000 {
        let mut changed = sample.clone();
        let place = mix(i) as usize % changed.len();
        changed[place] ^= 1 << (i % 8);
        errors += match BinaryTrace::new(Arena::from(changed)) {
            Ok(trace) => u64::from(read(&Arc::new(trace), 1).1.is_some()),
            Err(_) => 1,
        };
    }
    assert!(errors == 1000 && expected > 0, "{errors}");
}

#[test]
fn blocks_of_any_bytes_with_right_checksums_do_not_panic() {
    let original =
        Parts::of(&imported(&file("tests/data/traces2/v6.traceg.xz"), Compression::None));
    let (mut errors, mut rows) = (0, 0);
    for i in 0..500u64 {
        let mut changed = original.clone();
        for change in 0..=i % 3 {
            let random = mix(i * 8 + change) as usize;
            let blocks = changed.blocks.len();
            let columns = &mut changed.blocks[random % blocks].0;
            let column = mix(random as u64) as usize % columns.len();
            let bytes = &mut columns[column].bytes;
            let place = mix(random as u64 + 1) as usize % bytes.len();
            bytes[place] = mix(random as u64 + 2) as u8;
        }
        let (found, error) = read(&open(changed.together()), 1);
        errors += u64::from(error.is_some());
        rows += found;
    }
    assert!(errors > 12 && rows > 0, "{errors} errors, {rows} rows");
}
