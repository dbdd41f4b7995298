//! Damaged traces: changed, cut, doubled, with blocks swapped. Their checksums tell.

use std::ops::Range;

use warpload::memory::Arena;
use warpload_trace::binary::HEADER_BYTES;
use warpload_trace::{BinaryTrace, TraceError};

use crate::allocator::largest;
use crate::random::Random;
use crate::replays::{json, summary};
use crate::samples::{open, random_items, write};

/// The summary as JSON, or why there is none.
pub(crate) fn outcome(bytes: &[u8]) -> Result<String, TraceError> {
    let trace = BinaryTrace::new(Arena::from(bytes.to_vec()))?;
    match summary(&trace, None) {
        Ok(summary) => Ok(json(&summary)),
        Err(warpload_replay::ReplayError::Trace(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

/// The parts of a file, which have checksums for every byte, with the offset that an error names if it is a block.
fn parts(bytes: &[u8]) -> Vec<(Range<usize>, Option<u64>)> {
    let trace = open(bytes);
    let range = |offset: u64, length: u64| offset as usize..(offset + length) as usize;
    let mut parts = vec![(0..HEADER_BYTES, None)];
    for block in trace.blocks() {
        parts.push((range(block.offset, u64::from(block.length)), Some(block.offset)));
    }
    let end = parts.last().map_or(HEADER_BYTES, |(range, _)| range.end);
    parts.push((end..bytes.len(), None));
    parts
}

/// A change of one byte is found, at the place of its block.
fn change(bytes: &[u8], parts: &[(Range<usize>, Option<u64>)], at: usize, by: u8) {
    let mut changed = bytes.to_vec();
    changed[at] ^= by;
    let (_, block) = parts.iter().find(|(range, _)| range.contains(&at)).unwrap();
    match (block, outcome(&changed)) {
        (_, Ok(_)) => panic!("byte {at} changed unseen"),
        (Some(block), Err(error)) => match error {
            TraceError::Damaged { part: "block", offset } => assert_eq!(offset, *block),
            error => panic!("byte {at}: {error}"),
        },
        (None, Err(_)) => {}
    }
}

#[test]
fn any_changed_byte_of_a_small_trace_is_found() {
    let bytes = write(&random_items(1, 24));
    let parts = parts(&bytes);
    for at in 0..bytes.len() {
        for by in [0x01, 0x80, 0xff] {
            change(&bytes, &parts, at, by);
        }
    }
}

#[test]
fn changed_bytes_of_a_larger_trace_are_found() {
    let bytes = write(&random_items(2, 6000));
    let parts = parts(&bytes);
    let mut random = Random(3);
    for _ in 0..60 {
        let (at, by) = (random.below(bytes.len()), 1 << random.below(8));
        change(&bytes, &parts, at, by);
    }
}

/// One random damage of any kind.
fn damage(bytes: &mut Vec<u8>, blocks: &[Range<usize>], random: &mut Random) {
    let length = bytes.len();
    let at = random.below(length);
    let some = at..(at + 1 + random.below(200)).min(length);
    match random.below(6) {
        0 => {
            for _ in 0..=random.below(8) {
                let at = random.below(length);
                bytes[at] = random.next() as u8;
            }
        }
        1 => bytes.truncate(at),
        2 => {
            bytes.drain(some);
        }
        3 => {
            let copy = bytes[some.clone()].to_vec();
            bytes.splice(some.end..some.end, copy);
        }
        4 => bytes[some].fill(random.one_of(&[0, 0xff])),
        _ => {
            let (one, other) = (random.one_of_range(blocks), random.one_of_range(blocks));
            let copy = bytes[one.clone()].to_vec();
            let length = one.len().min(other.len());
            bytes.copy_within(other.start..other.start + length, one.start);
            bytes[other.start..other.start + length].copy_from_slice(&copy[..length]);
        }
    }
}

impl Random {
    fn one_of_range(&mut self, ranges: &[Range<usize>]) -> Range<usize> {
        ranges[self.below(ranges.len())].clone()
    }
}

#[test]
fn random_damage_is_found_or_harmless() {
    let bytes = write(&random_items(4, 300));
    let whole = outcome(&bytes).unwrap();
    let blocks: Vec<Range<usize>> = parts(&bytes)
        .into_iter()
        .filter(|(_, block)| block.is_some())
        .map(|(range, _)| range)
        .collect();
    assert!(blocks.len() > 2);
    let mut random = Random(5);
    for i in 0..1000 {
        let mut damaged = bytes.clone();
        damage(&mut damaged, &blocks, &mut random);
        if let Ok(same) = outcome(&damaged) {
            assert_eq!(same, whole, "damage {i}");
        }
    }
    assert!(largest() < 256 << 20, "{} bytes at once", largest());
}

#[test]
fn every_cut_is_found() {
    let bytes = write(&random_items(6, 20));
    for length in 0..bytes.len() {
        assert!(outcome(&bytes[..length]).is_err(), "cut to {length} bytes");
    }
}

/// A trace that is cut off says so, with what is missing.
#[test]
fn a_cut_says_what_is_missing() {
    let bytes = write(&random_items(5, 300));
    let footer = u64::from_le_bytes(bytes[16..24].try_into().unwrap());
    for length in 0..bytes.len() {
        let error = outcome(&bytes[..length]).unwrap_err();
        match (length, &error) {
            (0, TraceError::NotATrace) => {}
            (
                1..HEADER_BYTES,
                TraceError::CutOff { part: "header", offset: 0, length: 52, size },
            ) => {
                assert_eq!(*size, length as u64);
            }
            (HEADER_BYTES.., TraceError::CutOff { part: "footer", offset, size, .. }) => {
                assert_eq!((*offset, *size), (footer, length as u64));
            }
            _ => panic!("{length} bytes: {error}"),
        }
    }
    assert_eq!(
        outcome(&bytes[..40]).unwrap_err().to_string(),
        "cut off: the file has 40 bytes; its header has 52 bytes from byte offset 0 on"
    );
}
