//! Traces of version 1, which have records of loads only: made from those of version 2.

use bytemuck::{bytes_of, cast_slice};
use warpload::memory::Arena;
use warpload_replay::Summary;
use warpload_trace::binary::{Header, RawRecord, RawRun, RawSection};
use warpload_trace::{BinaryTrace, OperationKind, WarpPosition};

use crate::damage::outcome;
use crate::random::Random;
use crate::replays::{json, partials, summary};
use crate::samples::{Form, Item, loads, open, random_items, records, skipped, write};

/// Returns the bytes that a writer of version 1 would have written.
pub(crate) fn version_1(trace: &BinaryTrace, bytes: &[u8]) -> Vec<u8> {
    let kind = |record: &RawRecord| trace.contents().operations[usize::from(record.operation)].kind;
    let mut file = vec![0; size_of::<Header>()];
    let (mut index, mut loads) = (Vec::new(), 0u64);
    for raw in trace.blocks() {
        let held = &bytes[raw.offset as usize..][..raw.length as usize];
        let (records, rest) = held.split_at(raw.memory_records as usize * size_of::<RawRecord>());
        let payload = &rest[raw.runs as usize * size_of::<RawRun>()..];
        let (mut stores, mut atomics) = (0, 0);
        let mut block = Vec::new();
        for record in records.chunks_exact(size_of::<RawRecord>()) {
            let record: RawRecord = bytemuck::pod_read_unaligned(record);
            match kind(&record) {
                OperationKind::Load => {
                    block.extend_from_slice(bytes_of(&RawRecord { stores, atomics, ..record }));
                }
                OperationKind::Store => stores += 1,
                OperationKind::Atomic => atomics += 1,
                _ => {}
            }
        }
        block.extend_from_slice(payload);
        for number in [file.len() as u64, raw.first_record, loads] {
            index.extend(number.to_le_bytes());
        }
        let (length, crc) = (block.len() as u32, crc32fast::hash(&block));
        let counts = [raw.records, raw.loads, raw.kernel, stores.into(), atomics.into(), 0];
        for number in [length, crc].into_iter().chain(counts) {
            index.extend(number.to_le_bytes());
        }
        file.extend(block);
        loads += u64::from(raw.loads);
    }
    let mut contents = serde_json::to_value(trace.contents()).unwrap();
    contents.as_object_mut().unwrap().remove("tools");
    for operation in contents["operations"].as_array_mut().unwrap() {
        operation.as_object_mut().unwrap().remove("kind");
    }
    let contents = serde_json::to_vec(&contents).unwrap();
    let mut sections = Vec::new();
    for (kind, held) in [(1, contents), (2, index)] {
        let (crc, offset, length) = (crc32fast::hash(&held), file.len() as u64, held.len() as u64);
        sections.push(RawSection { kind, crc, offset, length });
        file.extend(held);
    }
    let mut header: Header = bytemuck::pod_read_unaligned(&bytes[..size_of::<Header>()]);
    header.version = 1;
    header.memory_records = 0;
    header.sections_offset = file.len() as u64;
    header.sections_crc = crc32fast::hash(cast_slice(&sections));
    header.crc = crc32fast::hash(&bytes_of(&header)[..60]);
    file.extend_from_slice(cast_slice(&sections));
    file[..size_of::<Header>()].copy_from_slice(bytes_of(&header));
    file
}

/// What version 1 could hold: loads whose addresses are known.
fn items(seed: u64, count: usize) -> Vec<Item> {
    let mut items = random_items(seed, count);
    items.retain(|item| match item {
        Item::Record(record) => record.form != Form::Unknown && !record.is_valued,
        _ => true,
    });
    items
}

/// The same loads, and the same counts of what is known.
#[test]
fn loads_are_those_of_version_2() {
    for seed in 30..34 {
        let bytes = write(&items(seed, 6000));
        let new = open(&bytes);
        let old = open(&version_1(&new, &bytes));
        assert!(old.has_loads_only() && !new.has_loads_only());
        assert_eq!((old.records(), old.loads()), (new.records(), new.loads()));
        assert_eq!(old.memory_records(), old.loads());
        assert_eq!(skipped(&old), skipped(&new));
        let mut expected = loads(&new);
        expected.iter_mut().for_each(|load| load.place = warpload_trace::WarpPosition::default());
        assert_eq!(loads(&old), expected);

        let (whole, new) = (summary(&old, None).unwrap(), summary(&new, None).unwrap());
        let (old_counts, new_counts) = (&whole.counts, &new.counts);
        assert_eq!(whole.digest, new.digest);
        assert_eq!(old_counts.lanes, new_counts.lanes);
        assert_eq!(old_counts.bytes, new_counts.bytes);
        assert_eq!(old_counts.sectors, new_counts.sectors);
        assert_eq!(old_counts.by_opcode, new_counts.by_opcode);
        assert_eq!(old_counts.lane_faults, new_counts.lane_faults);
        assert_eq!(
            (old_counts.skipped.store, old_counts.skipped.atomic, old_counts.skipped.other),
            (new_counts.skipped.store, new_counts.skipped.atomic, new_counts.skipped.other)
        );
        assert_eq!((&old_counts.skipped.not_replayed, &old_counts.ldgsts), (&None, &None));
        assert_eq!(json(&Summary::merge(partials(&old, 5)).unwrap()), json(&whole));
    }
}

/// Changes of records with checksums that match: refused, or the shards add up.
#[test]
fn broken_traces_of_version_1() {
    let bytes = write(&items(35, 120));
    let original = version_1(&open(&bytes), &bytes);
    let blocks = open(&original).blocks().to_vec();
    assert!(blocks.iter().all(|block| block.loads > 0));
    let mut random = Random(36);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..400 {
        let mut bytes = original.clone();
        let block = random.below(blocks.len());
        let start = blocks[block].offset as usize;
        let records = blocks[block].loads as usize * size_of::<RawRecord>();
        let at = start + random.below(records);
        bytes[at] ^= 1 << random.below(8);
        reseal(&mut bytes, block);
        let Ok(trace) = BinaryTrace::new(Arena::from(bytes)) else { panic!("a block changed") };
        match summary(&trace, None) {
            Err(_) => refused += 1,
            Ok(whole) => {
                assert_eq!(json(&Summary::merge(partials(&trace, 3)).unwrap()), json(&whole));
                accepted += 1;
            }
        }
    }
    assert!(refused > 50 && accepted > 50, "{refused}, {accepted}");
    // Checksums cover all of it.
    for at in (0..original.len()).step_by(7) {
        let mut bytes = original.clone();
        bytes[at] ^= 0x10;
        assert!(outcome(&bytes).is_err(), "byte {at}");
    }
}

/// Makes the checksums match again after a change of a block.
fn reseal(bytes: &mut [u8], block: usize) {
    let header: Header = bytemuck::pod_read_unaligned(&bytes[..size_of::<Header>()]);
    let table = header.sections_offset as usize;
    let row = table + size_of::<RawSection>();
    let section: RawSection = bytemuck::pod_read_unaligned(&bytes[row..][..24]);
    let (index, length) = (section.offset as usize, section.length as usize);
    let of_block = index + 56 * block;
    let offset = u64::from_le_bytes(bytes[of_block..][..8].try_into().unwrap()) as usize;
    let size = u32::from_le_bytes(bytes[of_block + 24..][..4].try_into().unwrap()) as usize;
    let seal = |bytes: &mut [u8], at: usize, from: usize, length: usize| {
        let crc = crc32fast::hash(&bytes[from..from + length]);
        bytes[at..at + 4].copy_from_slice(&crc.to_le_bytes());
    };
    seal(bytes, of_block + 28, offset, size);
    seal(bytes, row + 4, index, length);
    seal(bytes, 28, table, 48);
    seal(bytes, 60, 0, 60);
}

/// Version 1 has records of loads only: what is not replayed is unknown, not zero.
#[test]
fn a_trace_of_version_1() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/cmd/example-v1.wlt");
    let trace = open(&std::fs::read(path).unwrap());
    assert!(trace.has_loads_only());
    assert_eq!((trace.records(), trace.memory_records(), trace.loads()), (2, 1, 1));
    assert_eq!(skipped(&trace), (1, 0));
    assert!(trace.contents().tools.is_empty());
    let all = records(&trace);
    assert_eq!(
        (all.len(), all[0].kind, all[0].place),
        (1, OperationKind::Load, WarpPosition::default())
    );
    let counts = summary(&trace, None).unwrap().counts;
    assert_eq!((counts.loads, counts.skipped.store), (1, 1));
    assert_eq!((counts.skipped.not_replayed, counts.ldgsts), (None, None));
}
