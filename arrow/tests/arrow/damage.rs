//! Damaged and hostile traces become errors, or rows, but not panics.

use std::num::NonZero;
use std::sync::Arc;

use crate::common::{bytes, file, open};
use bytemuck::{Pod, bytes_of, pod_read_unaligned};
use warpload::memory::{Arena, Fill, mix};
use warpload_arrow::{BatchError, LoadBatches, LoadOptions};
use warpload_replay::{ReplayData, ReplayOptions};
use warpload_trace::binary::{Header, RawBlock, RawSection};
use warpload_trace::{BinaryTrace, TraceError};

/// Reads all rows; returns how many there are before the error, if there is one.
fn read(trace: &Arc<BinaryTrace>, threads: usize) -> (usize, Option<BatchError>) {
    let options =
        LoadOptions::new(ReplayOptions::new(ReplayData::Fill(Fill::Address))).values(true);
    let threads = NonZero::new(threads).unwrap();
    let mut batches = match LoadBatches::new(Arc::clone(trace), options.threads(threads)) {
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
        assert_eq!(rows, blocks[0].loads as usize);
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
    // Only padding can change unnoticed.
    assert!(errors > 950 && expected > 0, "{errors}");
}

fn at<T: Pod>(bytes: &[u8], offset: usize) -> T {
    pod_read_unaligned(&bytes[offset..][..size_of::<T>()])
}

fn put<T: Pod>(bytes: &mut [u8], offset: usize, part: &T) {
    bytes[offset..][..size_of::<T>()].copy_from_slice(bytes_of(part));
}

/// Makes all checksums match the bytes.
fn sign(bytes: &mut [u8]) {
    let mut header: Header = at(bytes, 0);
    let table = header.sections_offset as usize;
    let rows = header.section_count as usize * size_of::<RawSection>();
    for row in (table..table + rows).step_by(size_of::<RawSection>()) {
        let mut section: RawSection = at(bytes, row);
        let held = section.offset as usize..(section.offset + section.length) as usize;
        // The block index is the last of the kinds.
        if section.kind == 3 {
            for row in held.clone().step_by(size_of::<RawBlock>()) {
                let mut block: RawBlock = at(bytes, row);
                let (start, length) = (block.offset as usize, block.length as usize);
                block.crc = crc32fast::hash(&bytes[start..start + length]);
                put(bytes, row, &block);
            }
        }
        section.crc = crc32fast::hash(&bytes[held]);
        put(bytes, row, &section);
    }
    header.sections_crc = crc32fast::hash(&bytes[table..table + rows]);
    header.crc = crc32fast::hash(&bytes_of(&header)[..size_of::<Header>() - 4]);
    put(bytes, 0, &header);
}

#[test]
fn blocks_of_any_bytes_with_right_checksums_do_not_panic() {
    let sample = bytes(&file("tests/data/traces2/v6.traceg.xz"));
    let mut again = sample.clone();
    sign(&mut again);
    assert!(again == sample);
    let blocks = open(sample.clone()).blocks().to_vec();
    let (mut errors, mut rows) = (0, 0);
    for i in 0..1500u64 {
        let mut changed = sample.clone();
        for change in 0..=i % 3 {
            let random = mix(i * 8 + change);
            let block = &blocks[random as usize % blocks.len()];
            let place = block.offset + mix(random) % u64::from(block.length);
            changed[place as usize] = mix(random + 1) as u8;
        }
        sign(&mut changed);
        let (found, error) = read(&open(changed), 1);
        errors += u64::from(error.is_some());
        rows += found;
    }
    assert!(errors > 40 && rows > 0, "{errors} errors, {rows} rows");
}
