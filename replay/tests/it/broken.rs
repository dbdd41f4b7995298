//! Traces whose checksums are right and whose contents are not: what a checksum does not show is
//! checked before it is used.

use std::path::Path;

use bytemuck::{Pod, bytes_of, pod_read_unaligned};
use warpload::memory::Arena;
use warpload_replay::{ReplayError, Summary};
use warpload_trace::binary::{Header, RawBlock, RawRecord, RawRun, RawSection, SectionKind};
use warpload_trace::{
    BinaryTrace, OperationKind, SetBuilder, TraceContents, TraceError, WarpPosition,
};

use crate::allocator::largest;
use crate::damage::outcome;
use crate::random::Random;
use crate::replays::{json, partials, summary};
use crate::samples::{Form, Item, Record, random_items, write};

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
    fn contents(&mut self, change: impl FnOnce(&mut TraceContents)) {
        let mut contents: TraceContents = serde_json::from_slice(&self.contents).unwrap();
        change(&mut contents);
        self.contents = serde_json::to_vec(&contents).unwrap();
    }

    /// Changes a record of a block.
    fn record(&mut self, block: usize, i: usize, change: impl FnOnce(&mut RawRecord)) {
        let offset = self.index[block].offset as usize + i * size_of::<RawRecord>();
        self.part(offset, change);
    }

    /// Changes a run of a block.
    fn run(&mut self, block: usize, i: usize, change: impl FnOnce(&mut RawRun)) {
        let RawBlock { offset, memory_records, .. } = self.index[block];
        let runs = offset as usize + memory_records as usize * size_of::<RawRecord>();
        self.part(runs + i * size_of::<RawRun>(), change);
    }

    fn part<T: Pod>(&mut self, offset: usize, change: impl FnOnce(&mut T)) {
        let mut part: T = at(&self.bytes, offset as u64);
        change(&mut part);
        self.bytes[offset..][..size_of::<T>()].copy_from_slice(bytes_of(&part));
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
        for (kind, held) in [
            (SectionKind::Contents, &self.contents[..]),
            (SectionKind::BlockIndex, bytemuck::cast_slice(&index)),
        ] {
            let kind = kind as u32;
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

/// Two kernels of one block each. The first has five memory instructions and one other, of two warps.
fn sample() -> Parts {
    let load = |form| Item::Record(Record { values: vec![7; 32], ..Record::new("LDG.E", form) });
    let warp =
        |warp| Item::Place(Some(WarpPosition { warp: Some(warp), ..WarpPosition::default() }));
    Parts::of(write(&[
        Item::Kernel("one"),
        warp(0),
        load(Form::Stride(0x1000, 4)),
        Item::of("STG.E"),
        warp(1),
        Item::Skip,
        load(Form::List(vec![5; 32])),
        Item::of("ATOMG.E.ADD"),
        Item::Record(Record::new("UTMALDG.2D", Form::Transfer(3, 4096))),
        Item::Kernel("two"),
        Item::Record(Record { mask: 3, ..Record::new("LD.E", Form::Deltas(64, vec![4])) }),
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

#[test]
fn runs_ascend_and_say_what_is_known() {
    type Change = fn(&mut RawRun);
    let changes: &[(usize, Change)] = &[
        (0, |run| run.first = 2),
        (0, |run| run.first = u32::MAX),
        (1, |run| run.first = 0),
        (1, |run| run.first = 6),
        (1, |run| run.first = u32::MAX),
        (1, |run| run.known = 16),
        (0, |run| run.known |= 1 << 31),
    ];
    for (i, (run, change)) in changes.iter().enumerate() {
        let mut parts = sample();
        parts.run(0, *run, change);
        let message = refused(&parts);
        assert!(message.contains("at byte offset 64: run "), "{i}: {message}");
    }
    // What is not known may hold anything.
    let mut parts = sample();
    parts.run(0, 0, |run| run.cta = [u32::MAX; 3]);
    outcome(&parts.together()).unwrap();
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
        |parts| parts.index[1].first_memory_record += 1,
        |parts| parts.index[1].records = u32::MAX,
        |parts| parts.index[0].records = 4,
        |parts| parts.index[0].memory_records = u32::MAX,
        |parts| parts.index[0].memory_records = 4,
        |parts| parts.index[0].loads = u32::MAX,
        |parts| parts.index[0].loads = 1,
        |parts| parts.index[0].stores = u32::MAX,
        |parts| parts.index[0].atomics = 3,
        |parts| parts.index[0].runs = u32::MAX,
        |parts| parts.index[0].runs = 7,
        // More runs than the block has bytes for, or has.
        |parts| parts.index[0].runs = 6,
        |parts| parts.index[0].runs = 3,
        |parts| parts.index[0].kernel = 2,
        |parts| parts.index.clear(),
        |parts| parts.index.swap(0, 1),
        |parts| parts.header.records = u64::MAX,
        |parts| parts.header.memory_records = 0,
        |parts| parts.header.loads = 0,
        |parts| {
            parts.index[1].records = 0x10000;
            parts.header.records += 0xffff;
        },
        |parts| {
            // More records than the block has bytes for.
            parts.index[1].memory_records = 4096;
            parts.index[1].records = 4096;
            parts.header.memory_records += 4095;
            parts.header.records += 4095;
        },
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut parts = sample();
        change(&mut parts);
        let message = refused(&parts);
        assert!(message.starts_with("malformed: the block"), "{i}: {message}");
    }
}

/// The counts by kind are those of the operations.
#[test]
fn kinds_are_those_of_the_index() {
    let changes: &[fn(&mut Parts)] = &[
        |parts| {
            parts.index[0].loads -= 1;
            parts.header.loads -= 1;
        },
        |parts| {
            parts.index[0].loads += 1;
            parts.header.loads += 1;
        },
        |parts| parts.index[0].stores = 0,
        |parts| parts.index[0].stores = 2,
        |parts| parts.index[0].atomics = 0,
        |parts| (parts.index[0].stores, parts.index[0].atomics) = (2, 0),
        // A store that says it is a load, and the other way round.
        |parts| parts.record(0, 1, |record| record.operation = 0),
        |parts| parts.record(0, 0, |record| record.operation = 1),
        |parts| parts.contents(|contents| contents.operations.swap(0, 1)),
        |parts| parts.contents(|contents| contents.operations[2].kind = OperationKind::Other),
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut parts = sample();
        change(&mut parts);
        let message = refused(&parts);
        assert!(message.contains("not as many loads, stores and atomics"), "{i}: {message}");
    }
}

#[test]
fn records_fit_their_block() {
    let changes: &[fn(&mut RawRecord)] = &[
        |record| record.payload = u32::MAX,
        |record| record.payload += 1 << 20,
        |record| record.operation = 5,
        |record| record.form = 6,
        // How blocks are moved, on a load.
        |record| record.form = 5,
        |record| record.flags = 0x20,
        |record| record.index = u32::MAX,
        |record| record.index = 0,
        |record| record.index = 1,
        |record| record.index = 4,
        // Version 1 counted stores and atomics; now they have records.
        |record| record.stores = 0xffff,
        |record| record.stores = 1,
        |record| record.atomics = 1,
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut parts = sample();
        parts.record(0, 2, change);
        let message = refused(&parts);
        assert!(message.starts_with("malformed: the block at byte offset 64"), "{i}: {message}");
    }
    // Of the last record too: its counts are not those of the block.
    let changes: [fn(&mut RawRecord); 2] = [|record| record.stores = 1, |record| record.index = 6];
    for change in changes {
        let mut parts = sample();
        parts.record(0, 4, change);
        refused(&parts);
    }
    // Deltas are from the lane before: without a lane there are none.
    let mut parts = sample();
    parts.record(1, 0, |record| record.mask = 0);
    refused(&parts);
}

#[test]
fn contents_can_be_executed() {
    for bytes in [0, 3, 5, 64, u32::MAX] {
        let mut parts = sample();
        let mut contents: serde_json::Value = serde_json::from_slice(&parts.contents).unwrap();
        contents["operations"][0]["bytes"] = bytes.into();
        parts.contents = serde_json::to_vec(&contents).unwrap();
        let message = refused(&parts);
        assert!(message.ends_with("bytes; expected 1, 2, 4, 8, 16 or 32"), "{message}");
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
        let loads = loads.iter().map(|opcode| Item::of(opcode));
        let items: Vec<Item> = [Item::Kernel("one")].into_iter().chain(loads).collect();
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
    let no_sections = header(|header| {
        header.section_count = 0;
        header.sections_crc = 0;
    });
    assert!(no_sections.contains("no section of kind 1"));
    // The index of version 1 is another section.
    assert!(header(|header| header.version = 1).contains("no section of kind 2"));
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
                3 => poke(&mut bytemuck::bytes_of_mut(&mut parts.header)[32..56], &mut random),
                4 => {
                    let rows = parts.index.len();
                    let (one, other) = (random.below(rows), random.below(rows));
                    parts.index[one] = parts.index[other];
                }
                _ => {
                    let block = random.one_of(&parts.index);
                    let records = block.memory_records as usize * size_of::<RawRecord>();
                    let runs = block.runs as usize * size_of::<RawRun>();
                    let held = parts.bytes.get_mut(block.offset as usize..);
                    let held = held.and_then(|held| held.get_mut(..records + runs));
                    poke(held.unwrap_or_default(), &mut random);
                }
            }
        }
        let Ok(trace) = BinaryTrace::new(Arena::from(parts.together())) else { continue };
        let Ok(whole) = summary(&trace, None) else { continue };
        accepted += 1;
        assert_eq!(json(&Summary::merge(partials(&trace, 3)).unwrap()), json(&whole), "change {i}");
    }
    assert!(accepted > 50, "{accepted}");
    assert!(largest() < 256 << 20, "{} bytes at once", largest());
}

/// The number of an operation that only another part has is wrong in a set, too.
#[test]
fn operations_of_a_part_are_its_own() {
    let items = |opcodes: &[&'static str]| -> Vec<u8> {
        let kernel = [Item::Kernel("k")].into_iter();
        write(&kernel.chain(opcodes.iter().map(|opcode| Item::of(opcode))).collect::<Vec<_>>())
    };
    let first = items(&["LDG.E", "LDS"]);
    let mut second = Parts::of(items(&["LDG.E"]));
    second.record(0, 0, |record| record.operation = 1);
    let parts = [first, second.together()];
    let open = |bytes: &Vec<u8>| BinaryTrace::new(Arena::from(bytes.clone())).unwrap();
    let error = |trace: BinaryTrace| {
        let last = trace.blocks().last().copied().unwrap();
        let error = trace.block(&last).err().unwrap();
        std::error::Error::source(&error).map_or(error.to_string(), ToString::to_string)
    };
    let alone = error(open(&parts[1]));
    assert!(alone.starts_with("malformed: "), "{alone}");
    for order in [[0, 1], [1, 0]] {
        let mut set = SetBuilder::new();
        for i in order {
            set.add(i.to_string(), &open(&parts[i])).unwrap();
        }
        let read = |path: &Path| {
            Ok(Arena::from(parts[path.to_str().unwrap().parse::<usize>().unwrap()].clone()))
        };
        let whole = set.finish().unwrap().open(None, Path::new(""), read).unwrap();
        // A block a part.
        let row = whole.blocks()[order.iter().position(|i| *i == 1).unwrap()];
        let found = whole.block(&row).err().unwrap();
        let found = std::error::Error::source(&found).unwrap().to_string();
        assert_eq!(found, alone);
    }
}
