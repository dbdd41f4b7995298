//! Sets of binary traces: as one, they are the one trace of the same instructions.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use warpload::memory::Arena;
use warpload_replay::{PartialSummary, Summary};
use warpload_trace::{
    BinaryTrace, MemoryOperation, SetBuilder, Shard, TraceContents, TraceError, TraceSet,
    TraceWriter, export_jsonl,
};

use crate::random::Random;
use crate::replays::{changed, json, partial, summary};
use crate::samples::{Item, open, random_items, records, write};
use crate::shards::{merge_at_random, read};

/// A set and its files.
struct Made {
    set: TraceSet,
    files: BTreeMap<String, Vec<u8>>,
}

impl Made {
    /// Puts parts together; what is in the file of the set is read again.
    fn new(parts: Vec<Vec<u8>>) -> Self {
        let (mut builder, mut files) = (SetBuilder::new(), BTreeMap::new());
        for (i, bytes) in parts.into_iter().enumerate() {
            builder.add(format!("{i}.wlt"), &open(&bytes)).unwrap();
            files.insert(format!("{i}.wlt"), bytes);
        }
        let set = builder.finish().unwrap();
        let set = TraceSet::from_json(set.to_json().as_bytes()).unwrap();
        Self { set, files }
    }

    /// Opens the parts of a shard, which are the only ones that are there.
    fn open(&self, shard: Option<Shard>) -> Result<BinaryTrace, TraceError> {
        let needed = self.set.parts_of(shard);
        let mut there = self.set.parts()[needed].iter();
        let trace = self.set.open(shard, Path::new("folder"), |path| {
            let name = path.strip_prefix("folder").unwrap().to_str().unwrap();
            assert_eq!(name, there.next().unwrap().file);
            let bytes = self.files.get(name).ok_or(io::ErrorKind::NotFound)?;
            Ok(Arena::from(bytes.clone()))
        });
        assert!(trace.is_err() || there.next().is_none());
        trace
    }
}

/// Cuts items before some of their kernels.
fn cut(items: &[Item], random: &mut Random) -> Vec<Vec<u8>> {
    let mut parts = vec![Vec::new()];
    for item in items {
        let is_kernel = matches!(item, Item::Kernel(_));
        if is_kernel && !parts.last().unwrap().is_empty() && !random.is_one_in(3) {
            parts.push(Vec::new());
            if random.is_one_in(8) {
                // A part without anything.
                parts.push(Vec::new());
            }
        }
        parts.last_mut().unwrap().push(item.clone());
    }
    parts.iter().map(|items| write(items)).collect()
}

fn export(trace: &BinaryTrace) -> Vec<u8> {
    let mut output = Vec::new();
    export_jsonl(trace, &mut output, |_| ()).unwrap();
    output
}

/// The summary of a shard of a whole trace, as it is if only some kernels are known.
fn of_kernels(mut whole: Summary, trace: &BinaryTrace) -> Summary {
    let (first, count) = (trace.first_kernel(), trace.contents().kernels.len());
    let others = whole.kernels.iter().enumerate();
    let others = others.filter(|(i, _)| !(first..first + count).contains(i));
    assert!(others.into_iter().all(|(_, kernel)| kernel.counts.records == 0));
    whole.kernels = whole.kernels.drain(..).skip(first).take(count).collect();
    whole
}

fn check(items: &[Item], random: &mut Random) {
    let whole = open(&write(items));
    let made = Made::new(cut(items, random));
    let joined = made.open(None).unwrap();
    assert_eq!(joined.contents(), whole.contents());
    assert_eq!(joined.first_kernel(), 0);
    let totals = |trace: &BinaryTrace| (trace.records(), trace.memory_records(), trace.loads());
    assert_eq!(totals(&joined), totals(&whole));
    assert_eq!(records(&joined), records(&whole));
    assert_eq!(export(&joined), export(&whole));
    let expected = json(&summary(&whole, None).unwrap());
    assert_eq!(json(&summary(&joined, None).unwrap()), expected);
    for count in [1, 2, 3, 7, 40] {
        let (mut merged, mut partials) = (Vec::new(), Vec::new());
        for index in 0..count {
            let shard = Shard::new(index, count);
            merged.push(partial(&joined, shard.unwrap()).unwrap());
            // The same from a trace of which only that is there.
            let trace = made.open(shard).unwrap();
            assert_eq!(totals(&trace), totals(&whole));
            assert_eq!(trace.kernels(), whole.contents().kernels.len());
            let of_whole = of_kernels(summary(&whole, shard).unwrap(), &trace);
            let of_part = summary(&trace, shard).unwrap();
            partials.push(json(&partial(&trace, shard.unwrap()).unwrap()));
            assert_eq!(json(&of_part), json(&of_whole), "{index}/{count}");
        }
        assert_eq!(json(&Summary::merge(merged).unwrap()), expected, "{count} shards");
        // Their kernels are those of their parts alone, and add up.
        let at_once = PartialSummary::merge(partials.iter().map(read).collect()).unwrap();
        let root = merge_at_random(random, &partials, 5);
        assert_eq!(root, json(&at_once), "{count} shards");
        assert_eq!(json(&Summary::merge(vec![at_once]).unwrap()), expected, "{count} shards");
    }
}

#[test]
fn a_set_is_the_one_trace() {
    let mut random = Random(30);
    for seed in 30..33 {
        check(&random_items(seed, 400), &mut random);
    }
    check(&random_items(36, 4000), &mut random);
}

/// The operations of a part are numbered by itself.
#[test]
fn operations_of_another_order() {
    let load = |opcode| Item::of(opcode);
    let mut items = Vec::new();
    for opcodes in [["LDG.E", "LDS"], ["LDS", "LDG.E"], ["LDL", "STG.E"], ["STG.E", "LDG.E"]] {
        items.push(Item::Kernel("k"));
        items.extend(opcodes.map(load));
    }
    check(&items, &mut Random(1));
    let parts = items.chunks(3).map(write).collect();
    let joined = Made::new(parts).open(None).unwrap();
    let opcodes: Vec<_> = records(&joined).into_iter().map(|record| record.opcode).collect();
    assert_eq!(opcodes, ["LDG.E", "LDS", "LDS", "LDG.E", "LDL", "STG.E", "STG.E", "LDG.E"]);
}

#[test]
fn parts_without_memory_instructions() {
    let mut random = Random(2);
    let skips = |count| vec![Item::Skip; count];
    let load = || vec![Item::of("LDG.E"); 3];
    let kernel = |name| vec![Item::Kernel(name)];
    let long = 0x18000;
    for _ in 0..3 {
        check(&[kernel("none"), kernel("nothing")].concat(), &mut random);
        check(&[kernel("a"), skips(2), kernel("b"), load()].concat(), &mut random);
        check(&[kernel("a"), load(), skips(long), kernel("b")].concat(), &mut random);
        let both = [kernel("a"), load(), skips(long), kernel("b"), skips(long)].concat();
        check(&[both.clone(), kernel("c"), load(), kernel("d")].concat(), &mut random);
        check(&[kernel("c"), skips(1), both].concat(), &mut random);
    }
}

/// What readers of results should know is that of the one trace.
#[test]
fn notes_tools_and_allocations() {
    let write = |notes: std::ops::Range<u32>, own: &[(u64, u64)], is_whole: bool| {
        let mut writer =
            TraceWriter::new(io::Cursor::new(Vec::new()), "a test".to_owned()).unwrap();
        writer.allocations([(0x1000, 1), (0x2000, 2), (0x1000, 1)]);
        for note in notes {
            writer.note(&format!("note {note}"));
            writer.tool(&format!("tool {}", note % 3));
        }
        writer.allocations(own.iter().copied());
        if !is_whole {
            writer.end_is_unknown();
        }
        writer.finish().unwrap().into_inner()
    };
    let one = |notes, own: &[(u64, u64)], is_whole| open(&write(notes, own, is_whole));
    let made = Made::new(vec![write(0..9, &[], true), write(5..80, &[(0x3000, 3)], false)]);
    let joined = made.open(None).unwrap();
    let whole = one(0..80, &[(0x3000, 3)], false);
    assert_eq!(joined.contents(), whole.contents());
    assert_eq!(joined.contents().notes.len(), 64);
    let made = Made::new(vec![write(0..2, &[], true), write(1..3, &[], true)]);
    assert_eq!(made.open(None).unwrap().contents(), one(0..3, &[], true).contents());
}

fn error(made: &Made) -> String {
    let error = anyhow(made.open(None).unwrap_err());
    assert!(error.starts_with("folder/1.wlt: "), "{error}");
    error
}

/// An error with its causes.
fn anyhow(error: TraceError) -> String {
    let first: &dyn std::error::Error = &error;
    let causes = std::iter::successors(Some(first), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[test]
fn parts_that_are_not_as_the_set_says() {
    let parts: Vec<Vec<u8>> = (40..43).map(|seed| write(&random_items(seed, 60))).collect();
    let mut made = Made::new(parts.clone());
    let mut with = |bytes: Option<Vec<u8>>| {
        made.files.remove("1.wlt");
        made.files.extend(bytes.map(|bytes| ("1.wlt".to_owned(), bytes)));
        error(&made)
    };
    let part = &parts[1];
    let expect = |error: String, end: &str| assert!(error.contains(end), "{error}");
    expect(with(None), "cannot be read: ");
    expect(with(Some(Vec::new())), "not a binary trace");
    expect(with(Some(part[..part.len() - 1].to_vec())), "cut off: the file has ");
    expect(
        with(Some(parts[2].clone())),
        "not the part that the trace set names: its content hash is ",
    );
    expect(with(Some([&part[..], &[0; 8]].concat())), "its size in bytes is ");
    let mut damaged = part.clone();
    damaged[20] ^= 1;
    expect(with(Some(damaged)), "damaged: the header");
    // A damaged block is found when it is read.
    let mut damaged = part.clone();
    damaged[70] ^= 1;
    made.files.insert("1.wlt".to_owned(), damaged);
    let trace = made.open(None).unwrap();
    let before = made.set.parts()[0].records;
    let first = trace.blocks().iter().position(|block| block.first_record == before).unwrap();
    assert_eq!(
        records_error(&trace, first),
        "folder/1.wlt: damaged: the block at byte offset 52 does not match its checksum"
    );
    assert!(trace.block(&trace.blocks()[0]).is_ok());
}

fn records_error(trace: &BinaryTrace, block: usize) -> String {
    anyhow(trace.block(&trace.blocks()[block]).unwrap_err())
}

#[test]
fn sets_are_no_parts() {
    let bytes = write(&random_items(44, 60));
    let error =
        |trace: &BinaryTrace| anyhow(SetBuilder::new().add("a.wlt".to_owned(), trace).unwrap_err());
    let joined = Made::new(vec![bytes]).open(None).unwrap();
    assert_eq!(
        error(&joined),
        "not a part of a trace set: it is a trace set itself; expected a binary trace"
    );
    assert!(SetBuilder::new().finish().is_err());
}

/// Reads the text of a set as if its hash were right.
fn with_its_hash(bytes: &[u8]) -> Option<TraceSet> {
    let error = match TraceSet::from_json(bytes) {
        Ok(set) => return Some(set),
        Err(error) => error.to_string(),
    };
    let (_, hashes) = error.split_once("its content hash is ")?;
    let (found, right) = hashes.split_once(", but its contents and parts have ")?;
    let text = str::from_utf8(bytes).ok()?.replacen(found, right, 1);
    TraceSet::from_json(text.as_bytes()).ok()
}

/// Whatever a set says of the whole trace, its hash covers it, but not where the parts are.
#[test]
fn changes_of_a_set_are_found() {
    let made = Made::new((45..48).map(|seed| write(&random_items(seed, 60))).collect());
    let text = made.set.to_json();
    let set: serde_json::Value = serde_json::from_str(&text).unwrap();
    let refused = |changed: &serde_json::Value| {
        let error = TraceSet::from_json(changed.to_string().as_bytes()).unwrap_err().to_string();
        assert!(
            error.starts_with("not a valid trace set: damaged: its content hash is "),
            "{error}"
        );
    };
    for (key, value) in [
        ("source", "another".into()),
        ("tools", vec!["a tool"].into()),
        ("notes", vec!["a note"].into()),
        ("complete", (!made.set.contents().complete).into()),
        ("allocations", vec![vec![1, 2]].into()),
    ] {
        let mut changed = set.clone();
        assert_ne!(changed[key], value);
        changed[key] = value;
        refused(&changed);
    }
    let mut changed = set.clone();
    changed["operations"].as_array_mut().unwrap().reverse();
    refused(&changed);
    for key in ["bytes", "trailing_blocks"] {
        let mut changed = set.clone();
        let number = changed["parts"][1][key].as_u64().unwrap();
        changed["parts"][1][key] = (number + 1).into();
        refused(&changed);
    }
    let moved = text.replace("\"1.wlt\"", "\"elsewhere/1.wlt\"");
    let moved = TraceSet::from_json(moved.as_bytes()).unwrap();
    assert_eq!(moved.content_hash(), made.set.content_hash());
    // Spaces are of no interest.
    let spaced = serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let spaced = serde_json::to_string_pretty(&spaced).unwrap();
    assert_eq!(TraceSet::from_json(spaced.as_bytes()).unwrap(), made.set);
}

/// A trace that is refused leaves nothing behind.
#[test]
fn a_part_with_too_many_operations_is_not_added() {
    let trace = |numbers: std::ops::Range<u32>| {
        let mut writer =
            TraceWriter::new(io::Cursor::new(Vec::new()), "a test".to_owned()).unwrap();
        for number in numbers {
            writer.operation(&MemoryOperation::of_opcode(&format!("LDG.E.{number}"))).unwrap();
        }
        open(&writer.finish().unwrap().into_inner())
    };
    let mut set = SetBuilder::new();
    set.add("0".to_owned(), &trace(0..65_530)).unwrap();
    let message = "the set would have more than 65536 different memory instructions";
    let refused = set.add("1".to_owned(), &trace(65_530..65_540)).unwrap_err();
    assert!(anyhow(refused).ends_with(message));
    set.add("2".to_owned(), &trace(65_540..65_546)).unwrap();
    let refused = set.add("3".to_owned(), &trace(65_530..65_531)).unwrap_err();
    assert!(anyhow(refused).ends_with(message));
    let set = set.finish().unwrap();
    assert_eq!((set.parts().len(), set.contents().operations.len()), (2, 65_536));
}

/// Files of sets are text that anybody can write.
#[test]
fn made_up_sets_do_no_harm() {
    let mut random = Random(45);
    let made = Made::new((45..48).map(|seed| write(&random_items(seed, 60))).collect());
    let text = made.set.to_json();
    let mut opened = 0;
    for _ in 0..3000 {
        let bytes = changed(&text, &mut random);
        let Some(set) = with_its_hash(&bytes) else { continue };
        let shard = Shard::new(random.below(3) as u64, 3);
        let read = |path: &Path| {
            let name = path.to_str().unwrap_or_default();
            let bytes = made.files.get(name).ok_or(io::ErrorKind::NotFound)?;
            Ok(Arena::from(bytes.clone()))
        };
        if let Ok(trace) = set.open(shard, Path::new(""), read) {
            let _ = summary(&trace, shard);
            opened += 1;
        }
    }
    assert!(opened > 20, "{opened}");
    let part = made.set.parts()[0].clone();
    let refused = |change: &dyn Fn(&mut warpload_trace::SetPart), end: &str| {
        let mut part = part.clone();
        change(&mut part);
        let parts = vec![part, made.set.parts()[1].clone()];
        let error = TraceSet::new(TraceContents::default(), parts).unwrap_err().to_string();
        assert!(error.ends_with(end), "{error}");
    };
    refused(&|part| part.file.clear(), "expected the name of a file");
    refused(&|part| part.file.push('\0'), "expected the name of a file");
    refused(&|part| part.loads = part.memory_records + 1, "its counts contradict each other");
    refused(&|part| part.records = u64::MAX, "the totals exceed 64 bits");
    refused(&|part| part.kernels = 1 << 20, "it has more than 1048576 kernels");
    let error = TraceSet::from_json(br#"{"set":{"version":2,"news":1}}"#).unwrap_err().to_string();
    assert_eq!(error, "not a valid trace set: version 2; expected version 1");
    let error = TraceSet::from_json(text.replace(r#""loads":"#, r#""loads":1"#).as_bytes());
    assert!(error.is_err());
}

/// The bytes of a part can be anything that has the right hash.
#[test]
fn damaged_parts_do_no_harm() {
    let mut random = Random(48);
    let mut made = Made::new((48..50).map(|seed| write(&random_items(seed, 60))).collect());
    let part = made.files["1.wlt"].clone();
    for _ in 0..500 {
        let mut bytes = part.clone();
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
        made.files.insert("1.wlt".to_owned(), bytes);
        if let Ok(trace) = made.open(None) {
            let _ = summary(&trace, None);
        }
    }
}
