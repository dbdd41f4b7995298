//! Traces whose checksums are right and whose contents are not: what a checksum does not show is
//! checked before it is used.

use bytemuck::{Pod, bytes_of, pod_read_unaligned};
use warpload::memory::Arena;
use warpload::trace::binary::{Header, RawBlock, RawRecord, RawSection};
use warpload::trace::{BinaryTrace, Contents, ReplayError, Shard, Summary, TraceError};

use crate::allocator::largest;
use crate::damage::outcome;
use crate::random::Random;
use crate::samples::{Form, Item, Load, json, random_items, summary, write};

/// A trace taken apart, whose parts can be changed before it is put together again with
/// checksums that match.
#[derive(Clone)]
struct Parts {
    bytes: Vec<u8>,
    header: Header,
    contents: Vec<u8>,
    index: Vec<RawBlock>,
}

fn at<T: Pod>(bytes: &[u8], offset: u64) -> T {
    pod_read_unaligned(&bytes[offset as usize..][..size_of::<T>()])
}

impl Parts {
    fn of(bytes: Vec<u8>) -> Self {
        let header: Header = at(&bytes, 0);
        let section = |i: u64| -> RawSection {
            at(&bytes, header.sections_offset + i * size_of::<RawSection>() as u64)
        };
        let held = |section: RawSection| {
            bytes[section.offset as usize..][..section.length as usize].to_vec()
        };
        let rows = held(section(1));
        let index = rows.chunks_exact(size_of::<RawBlock>()).map(pod_read_unaligned).collect();
        let contents = held(section(0));
        Self { header, contents, index, bytes }
    }

    /// Changes the JSON beside the blocks.
    fn contents(&mut self, change: impl FnOnce(&mut Contents)) {
        let mut contents: Contents = serde_json::from_slice(&self.contents).unwrap();
        change(&mut contents);
        self.contents = serde_json::to_vec(&contents).unwrap();
    }

    /// Changes the first load of a block.
    fn record(&mut self, block: usize, load: usize, change: impl FnOnce(&mut RawRecord)) {
        let offset = self.index[block].offset as usize + load * size_of::<RawRecord>();
        let mut record: RawRecord = at(&self.bytes, offset as u64);
        change(&mut record);
        self.bytes[offset..][..size_of::<RawRecord>()].copy_from_slice(bytes_of(&record));
    }

    fn together(&self) -> Vec<u8> {
        let mut bytes = self.bytes[..self.header.sections_offset as usize].to_vec();
        let mut index = self.index.clone();
        for block in &mut index {
            let held = bytes.get(block.offset as usize..);
            let held = held.and_then(|held| held.get(..block.length as usize));
            block.crc = held.map_or(0, crc32fast::hash);
        }
        let mut sections = Vec::new();
        for (kind, held) in [(1, &self.contents[..]), (2, bytemuck::cast_slice(&index))] {
            let crc = crc32fast::hash(held);
            let (offset, length) = (bytes.len() as u64, held.len() as u64);
            sections.push(RawSection { kind, crc, offset, length });
            bytes.extend_from_slice(held);
        }
        let mut header = self.header;
        header.sections_offset = bytes.len() as u64;
        header.sections_crc = crc32fast::hash(bytemuck::cast_slice(&sections));
        bytes.extend_from_slice(bytemuck::cast_slice(&sections));
        seal(&mut header);
        bytes[..size_of::<Header>()].copy_from_slice(bytes_of(&header));
        bytes
    }
}

fn seal(header: &mut Header) {
    let bytes = bytes_of(header);
    header.crc = crc32fast::hash(&bytes[..bytes.len() - 4]);
}

fn sample() -> Parts {
    let load = |form| Item::Load(Load { expected: vec![7; 32], ..Load::new("LDG.E", form) });
    Parts::of(write(&[
        Item::Kernel("one"),
        load(Form::Stride(0x1000, 4)),
        Item::Skip(warpload::trace::Skipped::Store),
        Item::NotReplayed("LDSM", 1),
        load(Form::List(vec![5; 32])),
        Item::NotReplayed("LDGSTS", 3),
        Item::Kernel("two"),
        Item::Load(Load { mask: 3, ..Load::new("LD.E", Form::Deltas(64, vec![4])) }),
    ]))
}

/// The message of a trace that must not be accepted.
fn refused(parts: &Parts) -> String {
    match outcome(&parts.together()) {
        Ok(summary) => panic!("accepted: {summary}"),
        Err(error @ TraceError::Malformed { .. }) => error.to_string(),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn taking_apart_changes_nothing() {
    let parts = sample();
    assert_eq!(outcome(&parts.together()).unwrap(), outcome(&parts.bytes).unwrap().as_str());
}

/// Instructions that are not replayed: after the 64 bytes of two loads, 8 bytes each.
#[test]
fn instructions_that_are_not_replayed_agree() {
    let row = |parts: &mut Parts, i: usize| parts.index[0].offset as usize + 64 + 8 * i;
    let changes: &[fn(&mut Parts, usize, usize)] = &[
        // The first one is not before the second, the second is past the block's end.
        |parts, first, second| parts.bytes[first] = parts.bytes[second],
        |parts, _, second| parts.bytes[second] = 5,
        |parts, first, _| parts.bytes[first + 3] = 0xff,
        // A name that is not there.
        |parts, first, _| parts.bytes[first + 4] = 2,
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut parts = sample();
        let (first, second) = (row(&mut parts, 0), row(&mut parts, 1));
        change(&mut parts, first, second);
        let message = refused(&parts);
        assert!(message.contains("of those not replayed is inconsistent"), "{i}: {message}");
    }
}

#[test]
fn rows_of_the_index_agree() {
    let changes: &[fn(&mut Parts)] = &[
        |parts| parts.index[0].offset = u64::MAX,
        |parts| parts.index[0].offset += 4,
        |parts| parts.index[0].length = u32::MAX,
        |parts| parts.index[0].length -= 4,
        |parts| parts.index[1].offset = parts.index[0].offset,
        |parts| parts.index[1].first_record = u64::MAX,
        |parts| parts.index[1].first_load += 1,
        |parts| parts.index[1].records = u32::MAX,
        |parts| parts.index[0].loads = u32::MAX,
        |parts| parts.index[0].loads = 1,
        |parts| parts.index[0].stores = u32::MAX,
        |parts| parts.index[0].atomics = 3,
        |parts| parts.index[0].not_replayed = u32::MAX,
        |parts| parts.index[0].not_replayed = 3,
        // Version 1 has none.
        |parts| parts.header.version = 1,
        |parts| parts.index[0].kernel = 2,
        |parts| parts.index.clear(),
        |parts| parts.index.swap(0, 1),
        |parts| parts.header.records = u64::MAX,
        |parts| parts.header.loads = 0,
        |parts| {
            parts.index[1].records = 0x10000;
            parts.header.records += 0xffff;
        },
        |parts| {
            // More loads than the block has bytes for.
            parts.index[1].loads = 4096;
            parts.index[1].records = 4096;
            parts.header.records += 4095;
            parts.header.loads += 4095;
        },
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut parts = sample();
        change(&mut parts);
        let message = refused(&parts);
        assert!(message.starts_with("malformed: the block"), "{i}: {message}");
    }
}

#[test]
fn records_fit_their_block() {
    let changes: &[fn(&mut RawRecord)] = &[
        |record| record.payload = u32::MAX,
        |record| record.payload += 1 << 20,
        |record| record.operation = 2,
        |record| record.form = 4,
        |record| record.flags = 0x10,
        |record| record.index = u32::MAX,
        |record| record.index = 0,
        |record| record.index = 1,
        |record| record.index = 2,
        |record| record.index = 5,
        |record| record.stores = 0xffff,
        |record| record.stores = 2,
        |record| record.atomics = 1,
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut parts = sample();
        parts.record(0, 1, change);
        let message = refused(&parts);
        assert!(message.starts_with("malformed: the block at byte offset 64"), "{i}: {message}");
    }
    // Deltas are from the lane before: without a lane there are none.
    let mut parts = sample();
    parts.record(1, 0, |record| record.mask = 0);
    refused(&parts);
}

#[test]
fn contents_can_be_executed() {
    for bytes in [0, 3, 5, 32, u32::MAX] {
        let mut parts = sample();
        let mut contents: serde_json::Value = serde_json::from_slice(&parts.contents).unwrap();
        contents["operations"][0]["bytes"] = bytes.into();
        parts.contents = serde_json::to_vec(&contents).unwrap();
        let message = refused(&parts);
        assert!(message.ends_with("bytes; expected 1, 2, 4, 8 or 16"), "{message}");
    }
    let mut parts = sample();
    parts.contents(|contents| contents.kernels.truncate(1));
    refused(&parts);
    let mut parts = sample();
    parts.contents(|contents| contents.operations.clear());
    refused(&parts);
    for json in ["", "{}", "[]", "{\"source\":\"\",\"kernels\":[],\"operations\":[],\"more\":1}"] {
        let mut parts = sample();
        parts.contents = json.into();
        assert!(refused(&parts).starts_with("malformed: the contents at byte offset"));
    }
}

/// Windows come from the trace too; those that cannot be are an error of their kernel.
#[test]
fn windows_of_a_trace_are_checked() {
    for (shared, local) in [
        (Some(u64::MAX), None),
        (Some(u64::MAX - 15), None),
        (Some(1), None),
        (None, Some(1 << 49)),
        (Some(0x1000), Some(0x2000)),
    ] {
        let mut parts = sample();
        parts.contents(|contents| {
            contents.kernels[1].shared_base = shared;
            contents.kernels[1].local_base = local;
        });
        let trace = BinaryTrace::new(Arena::from(parts.together())).unwrap();
        let error = summary(&trace, None).unwrap_err();
        assert_eq!(error.to_string(), "kernel 1 (two)");
        assert!(std::error::Error::source(&error).is_some());
    }
}

/// Some tracers write a base of 0 for both windows. Offsets into shared and local memory do not
/// depend on where the windows lie, but for the fill; generic addresses do.
#[test]
fn windows_that_no_generic_address_needs() {
    let replayed = |loads: &[&'static str], base| {
        let load = |opcode: &&'static str| Item::Load(Load::new(opcode, Form::Stride(0x100, 4)));
        let items: Vec<Item> =
            [Item::Kernel("one")].into_iter().chain(loads.iter().map(load)).collect();
        let mut parts = Parts::of(write(&items));
        parts.contents(|contents| {
            contents.kernels[0].shared_base = base;
            contents.kernels[0].local_base = base;
        });
        summary(&BinaryTrace::new(Arena::from(parts.together())).unwrap(), None)
    };
    for base in [0, 7, u64::MAX] {
        let offsets = replayed(&["LDS", "LDL.64", "LDG.E", "LDC"], Some(base)).unwrap();
        assert_eq!((offsets.counts.loads, offsets.counts.by_space.shared), (4, 1));
        let error = replayed(&["LDS", "LD.E"], Some(base)).unwrap_err();
        assert!(matches!(error, ReplayError::Windows { index: 0, .. }), "{error}");
    }
    // Shared memory at 0 holds what global memory at the same address does.
    let at_0 = replayed(&["LDS"], Some(0)).unwrap();
    assert_eq!(at_0.digest, replayed(&["LDG.E"], None).unwrap().digest);
    assert_ne!(at_0.digest, replayed(&["LDS"], None).unwrap().digest);
}

#[test]
fn sections_and_versions() {
    let header = |change: fn(&mut Header)| {
        let mut bytes = sample().bytes;
        let mut header: Header = at(&bytes, 0);
        change(&mut header);
        seal(&mut header);
        bytes[..size_of::<Header>()].copy_from_slice(bytes_of(&header));
        outcome(&bytes).unwrap_err().to_string()
    };
    assert_eq!(
        header(|header| header.version = 3),
        "a binary trace of version 3; expected version 1 to 2"
    );
    assert_eq!(
        header(|header| header.byte_order = 0x0403_0201),
        "a binary trace of the other byte order"
    );
    assert!(header(|header| header.byte_order = 5).starts_with("malformed: the header"));
    assert!(header(|header| header.section_count = u32::MAX).contains("outside the file"));
    assert!(header(|header| header.sections_offset = u64::MAX).contains("outside the file"));
    assert!(header(|header| header.section_count = 1).starts_with("damaged: the section table"));
    assert!(
        header(|header| {
            header.section_count = 0;
            header.sections_crc = 0;
        })
        .contains("no section of kind 1")
    );
}

/// Replaces a field by a number that tends to break things.
fn poke(bytes: &mut [u8], random: &mut Random) {
    let width = random.one_of(&[1, 2, 4, 8]);
    if bytes.len() < width {
        return;
    }
    let offset = random.below(bytes.len() / width) * width;
    let mut number = [0; 8];
    number[..width].copy_from_slice(&bytes[offset..offset + width]);
    let old = u64::from_le_bytes(number);
    let new = match random.below(6) {
        0 => 0,
        1 => u64::MAX,
        2 => old.wrapping_add(1),
        3 => old.wrapping_sub(1),
        4 => old ^ 1 << random.below(8 * width),
        _ => random.next(),
    };
    bytes[offset..offset + width].copy_from_slice(&new.to_le_bytes()[..width]);
}

/// Whatever is accepted adds up: the shards of it merge to the whole.
#[test]
fn random_changes_with_checksums_that_match() {
    let original = Parts::of(write(&random_items(7, 120)));
    let mut random = Random(8);
    let mut accepted = 0;
    for i in 0..1000 {
        let mut parts = original.clone();
        for _ in 0..=random.below(2) {
            match random.below(8) {
                0 => poke(&mut parts.contents, &mut random),
                1 | 2 => poke(bytemuck::cast_slice_mut(&mut parts.index), &mut random),
                3 => poke(&mut bytemuck::bytes_of_mut(&mut parts.header)[32..48], &mut random),
                4 => {
                    let rows = parts.index.len();
                    let (one, other) = (random.below(rows), random.below(rows));
                    parts.index[one] = parts.index[other];
                }
                _ => {
                    let block = random.one_of(&parts.index);
                    let records = block.loads as usize * size_of::<RawRecord>();
                    let held = &mut parts.bytes[block.offset as usize..];
                    poke(&mut held[..records], &mut random);
                }
            }
        }
        let Ok(trace) = BinaryTrace::new(Arena::from(parts.together())) else { continue };
        let Ok(whole) = summary(&trace, None) else { continue };
        accepted += 1;
        let shards = (0..3).map(|n| summary(&trace, Shard::new(n, 3)).unwrap()).collect();
        assert_eq!(json(&Summary::merge(shards).unwrap()), json(&whole), "change {i}");
    }
    assert!(accepted > 50, "{accepted}");
    assert!(largest() < 256 << 20, "{} bytes at once", largest());
}
