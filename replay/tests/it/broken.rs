//! Traces whose checksums are right and whose contents are not: what a checksum does not show is
//! checked before it is used.

use warpload::memory::Arena;
use warpload_replay::{ReplayError, Summary};
use warpload_trace::{BinaryTrace, Compression, OperationKind, TraceError, WarpPosition};

use crate::allocator::largest;
use crate::damage::outcome;
use crate::parts::{Column, Parts, id, seal};
use crate::random::Random;
use crate::replays::{json, shards, summary};
use crate::samples::{Form, Item, Record, random_items, write, write_with};

fn apart(items: &[Item]) -> Parts {
    Parts::of(&write_with(items, Compression::None))
}

/// Two kernels of one block each. The first has five memory instructions and one other, of two warps.
fn sample() -> Parts {
    let load = |form| Item::Record(Record { values: vec![7; 32], ..Record::new("LDG.E", form) });
    let warp =
        |warp| Item::Place(Some(WarpPosition { warp: Some(warp), ..WarpPosition::default() }));
    apart(&[
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
        Item::Record(Record { mask: 7, ..Record::new("LD.E", Form::deltas(64, &[4, 8])) }),
    ])
}

/// The message of a trace that must not be accepted.
fn refused(parts: &Parts) -> String {
    match outcome(&parts.together()) {
        Ok(summary) => panic!("accepted: {summary}"),
        Err(error @ TraceError::Malformed { .. }) => error.to_string(),
        Err(error) => panic!("{error}"),
    }
}

/// Changes of a trace that must not be accepted, and how their messages begin.
fn all_refused(changes: &[fn(&mut Parts)], start: &str) {
    for (i, change) in changes.iter().enumerate() {
        let mut parts = sample();
        change(&mut parts);
        let message = refused(&parts);
        assert!(message.starts_with(start), "{i}: {message}");
    }
}

const BLOCK: &str = "malformed: the block at byte offset ";
const FOOTER: &str = "malformed: the footer at byte offset ";

#[test]
fn taking_apart_changes_nothing() {
    let items = random_items(9, 300);
    let bytes = write_with(&items, Compression::None);
    assert!(Parts::of(&bytes).together() == bytes);
    assert_eq!(outcome(&bytes).unwrap(), outcome(&write(&items)).unwrap());
}

/// What says the same has the same identity, and only that.
#[test]
fn the_content_hash_is_of_what_is_said() {
    let items = random_items(11, 300);
    let hash = |bytes: Vec<u8>| BinaryTrace::new(Arena::from(bytes)).unwrap().content_hash();
    let expected = hash(write(&items));
    for compression in [Compression::None, Compression::Zstd(1), Compression::Zstd(19)] {
        assert_eq!(hash(write_with(&items, compression)), expected);
    }
    for i in 0..items.len() {
        let mut others = items.clone();
        others.remove(i);
        assert!(hash(write(&others)) != expected || matches!(items[i], Item::Place(_)), "{i}");
    }
}

/// A later version can add columns that may be ignored, and such that must be understood.
#[test]
fn files_from_the_future() {
    let expected = outcome(&sample().together()).unwrap();
    for column in [15, 34, 200, 255] {
        let mut parts = sample();
        for chunk in parts.blocks.iter_mut().chain([&mut parts.footer]) {
            let at = chunk.0.iter().position(|known| known.id > column).unwrap_or(chunk.0.len());
            // Nothing of it need be valid.
            chunk.0.insert(at, Column { id: column, encoding: 0x7f, bytes: vec![9; 3] });
        }
        assert_eq!(outcome(&parts.together()).unwrap(), expected, "{column}");
        for in_footer in [false, true] {
            let mut parts = parts.clone();
            let chunk = if in_footer { &mut parts.footer } else { &mut parts.blocks[1] };
            chunk.0.iter_mut().for_each(|known| known.encoding |= 0x80);
            let error = outcome(&parts.together()).unwrap_err();
            let message = error.to_string();
            let part = if in_footer { "footer" } else { "block" };
            assert!(message.starts_with(&format!("the {part} at byte offset ")), "{message}");
            let expected =
                format!(" has the required column {column}, which is unknown here; warpload ");
            assert!(message.contains(&expected), "{message}");
            assert!(
                matches!(error, TraceError::UnknownColumn { column: found, .. } if found == column)
            );
        }
    }
}

#[test]
fn runs_ascend_and_say_what_is_known() {
    fn run(parts: &mut Parts, id: u8, run: usize, number: u64) {
        parts.blocks[0].change(id, 2, run, |_| number);
    }
    all_refused(
        &[
            |parts| run(parts, id::RUN_GAP, 0, 6),
            |parts| run(parts, id::RUN_GAP, 1, 0),
            |parts| run(parts, id::RUN_GAP, 1, 6),
            |parts| run(parts, id::RUN_GAP, 0, u32::MAX.into()),
            |parts| run(parts, id::RUN_GAP, 0, u64::MAX),
            |parts| run(parts, id::RUN_KNOWN, 1, 16),
            |parts| run(parts, id::RUN_KNOWN, 0, 0x102),
            |parts| parts.blocks[0].set(id::RUN_GAP, &[0, 1, 1, 1, 1, 1, 1]),
            |parts| parts.blocks[0].set(id::RUN_KNOWN, &[1]),
            |parts| parts.blocks[0].set(id::RUN_CTA_X, &[1 << 32; 2]),
        ],
        BLOCK,
    );
    // What is not known may hold anything.
    let mut parts = sample();
    parts.blocks[0].set(id::RUN_CTA_X, &[u32::MAX.into(); 2]);
    assert_eq!(outcome(&parts.together()).unwrap(), outcome(&sample().together()).unwrap());
}

#[test]
fn rows_of_the_index_agree() {
    all_refused(
        &[
            |parts| parts.index(id::INSTRUCTIONS, 0, |_| u32::MAX.into()),
            |parts| parts.index(id::INSTRUCTIONS, 1, |_| 0x10000),
            |parts| parts.index(id::INSTRUCTIONS, 1, |_| 1 << 32),
            |parts| parts.index(id::INSTRUCTIONS, 0, |_| 4),
            |parts| parts.index(id::RECORDS, 0, |_| u32::MAX.into()),
            |parts| parts.index(id::RECORDS, 0, |_| 7),
            |parts| parts.index(id::LOADS, 0, |_| u32::MAX.into()),
            |parts| parts.index(id::LOADS, 0, |_| 4),
            |parts| parts.index(id::STORES, 0, |_| u32::MAX.into()),
            |parts| parts.index(id::ATOMICS, 0, |_| 3),
            |parts| parts.index(id::KERNEL, 0, |_| 2),
            |parts| parts.footer.set(id::LOADS, &[2]),
            |parts| parts.footer.set(id::LOADS, &[2, 1, 0]),
            |parts| {
                parts.keeps_lengths = true;
                parts.index(id::LENGTH, 0, |length| length + 1);
            },
            |parts| {
                parts.keeps_lengths = true;
                parts.index(id::LENGTH, 0, |length| length - 1);
            },
            |parts| {
                parts.keeps_lengths = true;
                parts.footer.set(id::LENGTH, &[1; 100_000]);
            },
            |parts| {
                parts.keeps_lengths = true;
                parts.footer.0.retain(|column| column.id != id::LENGTH);
            },
            |parts| {
                parts.keeps_lengths = true;
                parts.footer.set(id::LENGTH, &[]);
            },
            |parts| parts.footer.0.swap(1, 2),
            |parts| {
                let twice = parts.footer.0[2].clone();
                parts.footer.0.insert(2, twice);
            },
        ],
        FOOTER,
    );
    all_refused(
        &[
            // More or fewer records than the block has.
            |parts| parts.index(id::RECORDS, 1, |_| 2),
            |parts| {
                parts.index(id::RECORDS, 1, |_| 4096);
                parts.index(id::INSTRUCTIONS, 1, |_| 4096);
            },
            |parts| {
                parts.index(id::RECORDS, 0, |_| 4);
            },
            |parts| parts.index(id::INSTRUCTIONS, 0, |_| 5),
        ],
        "malformed: the ",
    );
}

/// The counts by kind are those of the operations.
#[test]
fn kinds_are_those_of_the_index() {
    let changes: &[fn(&mut Parts)] = &[
        |parts| parts.index(id::LOADS, 0, |loads| loads - 1),
        |parts| parts.index(id::LOADS, 0, |loads| loads + 1),
        |parts| parts.index(id::STORES, 0, |_| 0),
        |parts| parts.index(id::ATOMICS, 0, |_| 0),
        // A store that says it is a load, and the other way round.
        |parts| parts.blocks[0].change(id::SITE, 5, 1, |_| 0),
        |parts| parts.blocks[0].change(id::SITE_OPERATION, 4, 0, |_| 1),
        |parts| parts.contents(|contents| contents.operations.swap(0, 1)),
        |parts| parts.contents(|contents| contents.operations[2].kind = OperationKind::Other),
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut parts = sample();
        change(&mut parts);
        let message = refused(&parts);
        assert!(
            message.contains("loads, stores and atomics are not as many as in the index"),
            "{i}: {message}"
        );
    }
}

#[test]
fn records_fit_their_block() {
    fn record(parts: &mut Parts, id: u8, i: usize, number: u64) {
        parts.blocks[0].change(id, 5, i, |_| number);
    }
    all_refused(
        &[
            |parts| record(parts, id::SITE, 2, 5),
            |parts| record(parts, id::SITE, 2, u16::MAX.into()),
            |parts| record(parts, id::SITE, 2, 1 << 16),
            |parts| parts.blocks[0].change(id::SITE_OPERATION, 4, 0, |_| 5),
            |parts| parts.blocks[0].change(id::SITE_OPERATION, 4, 0, |_| 1 << 16),
            |parts| record(parts, id::FORM, 2, 7),
            // How blocks are moved, on a load; lanes without their addresses.
            |parts| record(parts, id::FORM, 2, 6),
            |parts| record(parts, id::FORM, 0, 1),
            |parts| record(parts, id::FLAGS, 2, 0x20),
            |parts| record(parts, id::FLAGS, 2, 0x100),
            // Values of a store that has none, and values of no record.
            |parts| record(parts, id::FLAGS, 1, 4),
            |parts| record(parts, id::FLAGS, 2, 0),
            |parts| record(parts, id::GAP, 2, 2),
            |parts| record(parts, id::GAP, 0, u32::MAX.into()),
            |parts| parts.blocks[0].set(id::GAP, &[0; 4]),
            |parts| parts.blocks[0].set(id::GAP, &[0; 6]),
            |parts| parts.blocks[0].set(id::BASE, &[0; 5]),
            |parts| parts.blocks[0].set(id::INACTIVE, &[1 << 32; 5]),
            // Encodings: no width, a wide one, a shift, a frame that is none.
            |parts| parts.blocks[0].0[0].encoding = 0x80,
            |parts| parts.blocks[0].0[0].encoding = 0x89,
            |parts| parts.blocks[0].0[0].encoding |= 0x10,
            |parts| parts.blocks[0].0[0].encoding |= 0x40,
            |parts| parts.blocks[0].0.swap(0, 1),
        ],
        BLOCK,
    );
    // Differences are from the lane before: without a lane there are none.
    let mut parts = sample();
    parts.blocks[1].set(id::INACTIVE, &[u32::MAX.into()]);
    refused(&parts);
}

/// Directories that are cut off, or longer than their block.
#[test]
fn directories_fit_their_block() {
    let original = sample();
    for length in 0..original.blocks[0].write().len() {
        let mut parts = original.clone();
        let block = parts.blocks[0].write();
        // As one column of a block without a directory: its bytes follow the count.
        let mut bytes = parts.together();
        bytes.splice(52..52 + block.len(), block[..length].iter().copied());
        parts.keeps_lengths = true;
        parts.index(id::LENGTH, 0, |_| length as u64);
        parts.index(id::CRC, 0, |_| crc32fast::hash(&block[..length]).into());
        let footer = parts.footer.write();
        let at = 52 + length + parts.blocks[1].write().len();
        bytes.truncate(at);
        bytes.extend(&footer);
        bytes[16..24].copy_from_slice(&(at as u64).to_le_bytes());
        bytes[24..28].copy_from_slice(&(footer.len() as u32).to_le_bytes());
        bytes[28..32].copy_from_slice(&crc32fast::hash(&footer).to_le_bytes());
        seal(&mut bytes);
        let error = outcome(&bytes).unwrap_err();
        // Of a row without bytes the index is to blame.
        let is_malformed = matches!(error, TraceError::Malformed { .. });
        assert!(is_malformed || matches!(error, TraceError::Damaged { .. }), "{length}: {error}");
    }
}

#[test]
fn contents_can_be_executed() {
    for bytes in [0, 3, 5, 64, u32::MAX] {
        let mut parts = sample();
        let mut contents: serde_json::Value = serde_json::from_slice(parts.json()).unwrap();
        contents["operations"][0]["bytes"] = bytes.into();
        *parts.json() = serde_json::to_vec(&contents).unwrap();
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
        *parts.json() = json.into();
        assert!(refused(&parts).starts_with(FOOTER));
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
        let mut parts = apart(&items);
        parts.contents(|contents| {
            contents.kernels[0].shared_base = base;
            contents.kernels[0].local_base = base;
        });
        summary(&BinaryTrace::new(Arena::from(parts.together())).unwrap(), None)
    };
    for base in [0, 7, u64::MAX] {
        let offsets = replayed(&["LDS", "LDL.64", "LDG.E", "LDC"], Some(base)).unwrap();
        assert_eq!((offsets.counts.loads.accesses, offsets.counts.loads.by_space.shared), (4, 1));
        let error = replayed(&["LDS", "LD.E"], Some(base)).unwrap_err();
        assert!(matches!(error, ReplayError::Windows { index: 0, .. }), "{error}");
    }
    // Shared memory at 0 holds what global memory at the same address does.
    let at_0 = replayed(&["LDS"], Some(0)).unwrap();
    assert_eq!(at_0.digest, replayed(&["LDG.E"], None).unwrap().digest);
    assert_ne!(at_0.digest, replayed(&["LDS"], None).unwrap().digest);
}

#[test]
fn headers_and_versions() {
    let header = |change: fn(&mut Vec<u8>)| {
        let mut bytes = sample().together();
        change(&mut bytes);
        seal(&mut bytes);
        outcome(&bytes).unwrap_err().to_string()
    };
    let own = concat!("warpload ", env!("CARGO_PKG_VERSION"));
    for version in [1, 2] {
        let mut bytes = [&b"WARPLOAD"[..], &[version, 0, 0, 0, 4, 3, 2, 1]].concat();
        bytes.resize(64, 0);
        let expected = format!(
            "a binary trace of version {version}, which {own} no longer reads; import its source again"
        );
        assert_eq!(outcome(&bytes).unwrap_err().to_string(), expected);
    }
    assert_eq!(
        header(|bytes| (bytes[8], bytes[12], bytes[13], bytes[14]) = (4, 1, 2, 3)),
        format!("a binary trace of version 4, by warpload 1.2.3; {own} reads version 3")
    );
    assert!(header(|bytes| bytes[16..24].fill(0xff)).starts_with("cut off: the file has "));
    assert!(header(|bytes| bytes[24..28].fill(0xff)).starts_with("cut off: the file has "));
    assert!(header(|bytes| bytes[28] ^= 1).starts_with("damaged: the footer"));
}

/// Replaces a number by one that tends to break things.
fn poke(old: u64, random: &mut Random) -> u64 {
    match random.below(6) {
        0 => 0,
        1 => u64::MAX >> (8 * random.below(8)),
        2 => old.wrapping_add(1),
        3 => old.saturating_sub(1),
        4 => old ^ 1 << random.below(10),
        _ => random.next() >> (8 * random.below(8)),
    }
}

/// Whatever is accepted adds up: the shards of it merge to the whole.
#[test]
fn random_changes_with_checksums_that_match() {
    let original = apart(&random_items(7, 120));
    let mut random = Random(8);
    let mut accepted = 0;
    for i in 0..1000 {
        let mut parts = original.clone();
        for _ in 0..=random.below(2) {
            let (chunk, from) = match random.below(4) {
                0 => (&mut parts.footer, 1),
                _ => {
                    let block = random.below(parts.blocks.len());
                    (&mut parts.blocks[block], 0)
                }
            };
            let columns = chunk.0.len() - from;
            let column = chunk.0[from + random.below(columns)].clone();
            if random.is_one_in(8) {
                chunk.0.retain(|other| other.id != column.id);
                continue;
            }
            let mut numbers = chunk.numbers(column.id).unwrap();
            let at = random.below(numbers.len());
            numbers[at] = poke(numbers[at], &mut random);
            chunk.set(column.id, &numbers);
        }
        let Ok(trace) = BinaryTrace::new(Arena::from(parts.together())) else { continue };
        let Ok(whole) = summary(&trace, None) else { continue };
        accepted += 1;
        assert_eq!(json(&Summary::merge(shards(&trace, 3)).unwrap()), json(&whole), "change {i}");
    }
    assert!(accepted > 50, "{accepted}");
    assert!(largest() < 256 << 20, "{} bytes at once", largest());
}

/// The number of an operation that the trace does not have.
#[test]
fn unknown_operations_are_refused() {
    let mut file = apart(&[Item::Kernel("k"), Item::of("LDG.E")]);
    file.blocks[0].set(id::SITE_OPERATION, &[1]);
    let trace = BinaryTrace::new(Arena::from(file.together())).unwrap();
    let error = trace.block(&trace.blocks()[0]).unwrap_err().to_string();
    assert!(error.ends_with("it has an instruction of the unknown operation 1"), "{error}");
}
