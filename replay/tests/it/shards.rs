//! Threads and shards change nothing: not a byte of the summary.

use serde_json::{Value, json as value};
use warpload::memory::Fill;
use warpload_replay::{
    MergeError, PartialError, PartialSummary, ReplayData, ReplayOptions, Selected, Selection,
    Summary, pc_counters, replay,
};
use warpload_trace::{BinaryTrace, Shard};

use crate::random::Random;
use crate::replays::{changed, json, partials, summary};
use crate::samples::{Form, Item, Record, open, random_items, write};

fn with_threads(trace: &BinaryTrace, threads: usize) -> String {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    json(&pool.install(|| summary(trace, None)).unwrap())
}

/// A partial summary, as a file would bring it.
pub(crate) fn read(json: &String) -> PartialSummary {
    PartialSummary::from_json(json.as_bytes()).unwrap()
}

/// The shards' summaries, as a file would bring them.
fn shards(trace: &BinaryTrace, count: u64) -> Vec<PartialSummary> {
    partials(trace, count).iter().map(|part| read(&json(part))).collect()
}

/// The keys of a partial summary, in the order in which they are written.
const KEYS: &str = "partial replay first last of of_kernels counters pc_counters about digest complete notes selected \
    first_faults first_mismatches operations record kernel pc lane kind address register \
    expected got operation kernels number name demangled counts others lines rows sass \
    source source_line checksum";

/// Writes JSON with the keys in their order.
fn ordered(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(key, _)| KEYS.split_whitespace().position(|known| known == *key));
            let fields =
                fields.into_iter().map(|(key, value)| format!("\"{key}\":{}", ordered(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Value::Array(list) => {
            format!("[{}]", list.iter().map(ordered).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// Returns JSON with a change, and the checksum of what it then says.
fn resealed(part: &PartialSummary, change: impl FnOnce(&mut Value)) -> String {
    let mut value = serde_json::to_value(part).unwrap();
    assert_eq!(ordered(&value), json(part));
    change(&mut value["partial"]);
    seal(&ordered(&value))
}

/// Returns JSON with the checksum of what it says.
fn seal(json: &str) -> String {
    let Some((start, _)) = json.rsplit_once(",\"checksum\":") else { return json.to_owned() };
    let Some(partial) = start.strip_prefix("{\"partial\":") else { return json.to_owned() };
    format!("{start},\"checksum\":\"{:08x}\"}}", crc32fast::hash(partial.as_bytes()))
}

fn check(items: &[Item]) {
    let trace = open(&write(items));
    let whole = with_threads(&trace, 1);
    assert_eq!(whole, with_threads(&trace, 2));
    let mut random = Random(9);
    for count in [1, 2, 3, 7, 64] {
        let mut parts = shards(&trace, count);
        for i in (1..parts.len()).rev() {
            parts.swap(i, random.below(i + 1));
        }
        assert_eq!(json(&Summary::merge(parts).unwrap()), whole, "{count} shards");
    }
}

#[test]
fn random_traces() {
    for seed in 10..14 {
        check(&random_items(seed, 400));
    }
}

#[test]
fn borders_inside_of_blocks_and_kernels() {
    check(&random_items(14, 9000));
}

#[test]
fn traces_without_loads() {
    let (skip, store) = (Item::Skip, Item::of("STG.E"));
    check(&[]);
    check(&[Item::Kernel("empty")]);
    check(&[Item::Kernel("nothing"), skip.clone(), skip.clone()]);
    check(&[Item::Kernel("stores"), store.clone(), skip.clone(), store.clone()]);
    check(&vec![skip; 0x18000]);
    check(&vec![store; 9000]);
}

#[test]
fn blocks_and_kernels_without_loads() {
    let load = Item::Record(Record::new("LDG.E", Form::Stride(64, 12)));
    let mut items = vec![Item::Kernel("no load"); 3];
    for other in ["STG.E", "LDSM", "ATOM.ADD"] {
        items.extend(vec![Item::Skip; 0x10000]);
        items.push(load.clone());
        items.push(Item::Kernel("others"));
        items.extend(vec![Item::of(other); 3]);
        items.push(Item::Kernel("loads"));
        items.extend(vec![load.clone(); 5]);
    }
    items.extend(vec![Item::of("STG.E"); 5000]);
    check(&items);
}

#[test]
fn what_does_not_belong_together_is_not_merged() {
    let trace = open(&write(&random_items(15, 100)));
    let parts = shards(&trace, 3);
    assert_eq!(Summary::merge(vec![]), Err(MergeError::Nothing));
    let given = |indices: &[usize]| {
        Summary::merge(indices.iter().map(|i| parts[*i].clone()).collect()).map(|_| ())
    };
    assert_eq!(given(&[0, 1, 2]), Ok(()));
    for indices in [&[0, 2][..], &[0, 1, 1, 2]] {
        let shards = indices.iter().map(|i| *i as u64..=*i as u64).collect();
        let expected = MergeError::Incomplete { given: shards, of: 3, last: 2 };
        assert_eq!(given(indices), Err(expected));
    }
    let whole = json(&summary(&trace, None).unwrap());
    let error = PartialSummary::from_json(whole.as_bytes()).unwrap_err();
    assert!(matches!(error, PartialError::Json(_)), "{error}");

    let other = open(&write(&random_items(16, 100)));
    let mixed = vec![parts[0].clone(), parts[1].clone(), shards(&other, 3).remove(2)];
    let error = Summary::merge(mixed).unwrap_err();
    assert!(matches!(error, MergeError::OfAnotherTrace { index: 2, .. }), "{error}");
    let mixed = vec![shards(&trace, 2).remove(0), parts[1].clone()];
    let error = Summary::merge(mixed).unwrap_err();
    assert!(matches!(error, MergeError::Inconsistent { index: 1, .. }), "{error}");
}

/// Summaries are text that anybody can write.
#[test]
fn made_up_summaries_do_no_harm() {
    let trace = open(&write(&random_items(17, 60)));
    let parts = shards(&trace, 2);
    let text = json(&parts[1]);
    let mut random = Random(18);
    let mut merged = 0;
    for _ in 0..1000 {
        let bytes = changed(&text, &mut random);
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if let Ok(changed) = PartialSummary::from_json(seal(&text).as_bytes()) {
            merged += u32::from(Summary::merge(vec![parts[0].clone(), changed]).is_ok());
        }
    }
    assert!(merged > 0);
    let most = |part| {
        let change = |part: &mut Value| part["kernels"][0]["counts"][0] = value!(u64::MAX);
        read(&resealed(part, change))
    };
    let most = parts.iter().map(most).collect();
    assert_eq!(Summary::merge(most).unwrap().counts.records, u64::MAX);
}

/// Sums of a kernel that disagree with those of its rows, and what is of other shards, or damaged.
#[test]
fn partials_that_disagree_are_not_merged() {
    let mut items = random_items(17, 200);
    items.retain(|item| !matches!(item, Item::Kernel(_)));
    let trace = open(&write(&items));
    let options = options(2);
    let shard = |i| replay(&trace, &options.shard(Shard::new(i, 2))).unwrap().partial().unwrap();
    let parts = [shard(0), shard(1)];
    let changes: &[(&str, Value)] = &[
        ("/first", value!(2)),
        ("/last", value!(2)),
        ("/of", value!(0)),
        ("/of_kernels", value!(0)),
        ("/of_kernels", value!(2)),
        ("/kernels/0/number", value!(1)),
        ("/kernels/0/number", value!(u32::MAX)),
        ("/kernels/0/number", value!(u64::MAX)),
        ("/kernels/0/name", value!("another")),
        ("/kernels/0/counts", value!([])),
        ("/kernels/0/counts", value!(vec![0; 200])),
        ("/kernels/0/counts/1", value!(1)),
        ("/kernels/0/rows", value!([])),
        ("/kernels/0/rows/0/operation", value!(u16::MAX)),
        ("/kernels/0/rows/0/pc", value!(u32::MAX)),
        ("/kernels/0/rows/0/counts/0", value!(1000)),
        ("/kernels/0/rows/0/counts/1", value!(1000)),
        ("/kernels/0/rows/0/counts/2", value!(1_000_000)),
        ("/kernels/0/rows/0/counts", value!([1, 0])),
        ("/kernels/0/lines", value!("")),
        ("/kernels/0/lines", value!("AAAAAAAAAAA=")),
        ("/kernels/0/lines", value!("//////////8=")),
        ("/kernels/0/lines", value!("no base64")),
        ("/about/digest", value!(null)),
        ("/operations", value!([])),
        ("/operations/0/3", value!("nowhere")),
        ("/replay", value!("another")),
    ];
    for (place, change) in changes {
        let changed = resealed(&parts[1], |part| {
            let part = part.pointer_mut(place).unwrap_or_else(|| panic!("{place} is not there"));
            *part = change.clone();
        });
        let changed = PartialSummary::from_json(changed.as_bytes()).ok();
        let merged = changed.map(|changed| Summary::merge(vec![parts[0].clone(), changed]));
        assert!(!matches!(merged, Some(Ok(_))), "{place} {change}");
    }
    // Each number of a row that its kernel has, too.
    let rows = serde_json::to_value(&parts[1]).unwrap()["partial"]["kernels"][0]["rows"].clone();
    let sums = ["loads", "lanes", "sectors.sum", "ideal_sectors", "lane_faults.misaligned_address"];
    let paths: Vec<String> = pc_counters().into_iter().map(|row| row.path).collect();
    let paths: Vec<&String> = paths
        .iter()
        .filter(|path| {
            !["sectors", "lane_faults", "shared", "shared.wavefronts"].contains(&&***path)
        })
        .collect();
    let row = (0..).zip(rows.as_array().unwrap());
    let (row, _) = row.max_by_key(|(_, row)| row["counts"].as_array().unwrap().len()).unwrap();
    for sum in sums {
        let place = paths.iter().position(|path| *path == sum).unwrap();
        let changed = resealed(&parts[1], |part| {
            let count = &mut part["kernels"][0]["rows"][row]["counts"][place];
            *count = value!(count.as_u64().unwrap() + 1);
        });
        let error = PartialSummary::from_json(changed.as_bytes()).unwrap_err().to_string();
        assert!(error.ends_with("are not the sums of its rows"), "{sum}: {error}");
    }
    assert!(Summary::merge(parts.to_vec()).is_ok());
}

/// Whatever is changed in the JSON of a shard, also what agrees with the rest.
#[test]
fn changed_summaries_are_not_merged() {
    let mut items = random_items(17, 200);
    items.retain(|item| !matches!(item, Item::Kernel(_)));
    let trace = open(&write(&items));
    let parts = shards(&trace, 2);
    let good = serde_json::to_value(&parts[1]).unwrap();
    let mut places = Vec::new();
    each_place(&good, &mut String::new(), &mut places);
    assert!(places.len() > 100, "{}", places.len());
    for place in &places {
        let mut changed = good.clone();
        let value = changed.pointer_mut(place).unwrap();
        *value = match value {
            Value::Number(number) => {
                number.as_u64().map_or(value!(0.125), |number| value!(number ^ 1))
            }
            Value::Bool(flag) => value!(!*flag),
            Value::String(text) => value!(match text.pop() {
                Some('1') => format!("{text}2"),
                _ => format!("{text}1"),
            }),
            _ => value!("1"),
        };
        let error = PartialSummary::from_json(changed.to_string().as_bytes()).expect_err(place);
        match error {
            PartialError::Json(_) => {}
            PartialError::OtherVersion { .. } => assert!(place.contains("counters"), "{place}"),
            error => {
                let (error, is_space) =
                    (error.to_string(), place.starts_with("/partial/operations"));
                let is_changed = error.ends_with("it has changed since it was written");
                let is_unknown = is_space && error.ends_with("an operation has an unknown space");
                assert!(is_changed || is_unknown, "{place}: {error}");
            }
        }
    }
    let mut text = serde_json::to_value(&parts[1]).unwrap();
    text.as_object_mut().unwrap().remove("checksum").unwrap();
    let error = PartialSummary::from_json(text.to_string().as_bytes()).unwrap_err();
    let PartialError::Json(error) = error else { panic!("{error}") };
    assert!(error.to_string().contains("missing field `checksum`"), "{error}");
}

/// Lists the places of all values that hold no others.
fn each_place(value: &Value, at: &mut String, places: &mut Vec<String>) {
    let length = at.len();
    let mut inner = |key: &str, value: &Value| {
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        each_place(value, at, places);
        at.truncate(length);
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| inner(key, value)),
        Value::Array(list) => (0..).zip(list).for_each(|(i, value)| inner(&i.to_string(), value)),
        _ => places.push(at.clone()),
    }
}

/// What shards are in all does not grow with kernels times shards.
#[test]
fn shards_carry_the_kernels_that_they_have() {
    for empty in [2, 3000] {
        let kernels = 400;
        let mut items = Vec::new();
        for kernel in 0..kernels {
            items.extend([Item::Kernel("a kernel"), Item::Skip]);
            items.extend([Item::of("LDG.E"), Item::of("STG.E")]);
            // Kernels without instructions, here and there.
            items.extend(vec![Item::Kernel("empty"); empty * (kernel % 7 / 6) / 57]);
        }
        items.extend(vec![Item::Kernel("empty too"); 2]);
        let trace = open(&write(&items));
        let of_trace = trace.contents().kernels.len();
        let whole = json(&summary(&trace, None).unwrap());
        for count in [2, 64] {
            let parts: Vec<String> = partials(&trace, count).iter().map(json).collect();
            let bytes: usize = parts.iter().map(String::len).sum();
            assert!(bytes < 2 * whole.len(), "{bytes} of {}", whole.len());
            let read: Vec<PartialSummary> = parts.iter().map(read).collect();
            // A border inside a kernel puts the kernel into two shards, so each border adds at most one.
            let carried: usize = read.iter().map(|part| part.kernels().count()).sum();
            assert!(carried < of_trace + parts.len(), "{carried}");
            assert_eq!(json(&Summary::merge(read).unwrap()), whole);
            let root = merge_at_random(&mut Random(36), &parts, 3);
            assert_eq!(json(&Summary::merge(vec![self::read(&root)]).unwrap()), whole);
        }
    }
}

/// Kernels and blocks without memory instructions, at the borders of shards too.
#[test]
fn shards_of_kernels_without_memory_instructions() {
    let mut random = Random(2);
    let skips = |count| vec![Item::Skip; count];
    let load = || vec![Item::of("LDG.E"); 3];
    let kernel = |name| vec![Item::Kernel(name)];
    let both = [kernel("a"), load(), skips(0x18000), kernel("b"), skips(0x18000)].concat();
    for items in [
        [kernel("none"), kernel("nothing")].concat(),
        [kernel("a"), skips(2), kernel("b"), load()].concat(),
        [both.clone(), kernel("c"), load(), kernel("d")].concat(),
        [kernel("c"), skips(1), both].concat(),
    ] {
        let trace = open(&write(&items));
        let whole = json(&summary(&trace, None).unwrap());
        for count in [1, 2, 3, 7, 40] {
            let parts: Vec<String> = partials(&trace, count).iter().map(json).collect();
            assert_eq!(json(&Summary::merge(parts.iter().map(read).collect()).unwrap()), whole);
            let root = merge_at_random(&mut random, &parts, 5);
            assert_eq!(json(&Summary::merge(vec![read(&root)]).unwrap()), whole, "{count} shards");
        }
    }
}

/// Kernels that no shard has, and one with two names.
#[test]
fn kernels_that_are_missing_or_differ_are_found() {
    let items = [Item::Kernel("one"), Item::of("LDG.E"), Item::of("LDG.E")];
    let trace = open(&write(&items));
    let parts = shards(&trace, 2);
    assert!(Summary::merge(parts.clone()).is_ok());
    let renamed = |part: &mut Value| part["kernels"][0]["name"] = value!("another");
    let renamed = read(&resealed(&parts[1], renamed));
    let error = Summary::merge(vec![parts[0].clone(), renamed]).unwrap_err();
    assert!(error.to_string().contains("inconsistent"), "{error}");
    let nothing = |part| read(&resealed(part, |part| part["kernels"] = value!([])));
    let error = Summary::merge(parts.iter().map(nothing).collect()).unwrap_err();
    assert!(error.to_string().ends_with("kernels of the trace are missing"), "{error}");
}

/// A version that is not this one is named, whatever else it has written.
#[test]
fn parts_of_another_version_are_refused_as_such() {
    let trace = open(&write(&random_items(15, 100)));
    let part = &shards(&trace, 2)[0];
    let own = format!("warpload {}, ", env!("CARGO_PKG_VERSION"));
    assert!(part.replay().starts_with(&own), "{}", part.replay());
    let error = |change: &dyn Fn(&mut Value)| {
        let mut part = serde_json::to_value(part).unwrap();
        change(&mut part["partial"]);
        match PartialSummary::from_json(part.to_string().as_bytes()) {
            Err(PartialError::OtherVersion { given, unknown, .. }) => (given, unknown.join(" ")),
            other => panic!("{other:?}"),
        }
    };
    let other = |part: &mut Value| part["replay"] = value!("warpload 9.0.1, trace 0");
    assert_eq!(error(&other), ("9.0.1".to_owned(), String::new()));
    // What is not read here, and counters that are not known.
    let newer = |part: &mut Value| {
        other(part);
        part["new"] = value!(0);
        part["counters"].as_array_mut().unwrap().push(value!("made_up"));
        part["pc_counters"].as_array_mut().unwrap().insert(3, value!("shared.words"));
        part["kernels"][0]["counts"] = value!(vec![1; 100]);
    };
    assert_eq!(error(&newer), ("9.0.1".to_owned(), "made_up per_pc.shared.words".to_owned()));
    let same = |part: &mut Value| part["counters"].as_array_mut().unwrap().push(value!("made_up"));
    assert_eq!(error(&same), (env!("CARGO_PKG_VERSION").to_owned(), "made_up".to_owned()));
    let mut newer_part = serde_json::to_value(part).unwrap();
    newer(&mut newer_part["partial"]);
    let error = PartialSummary::from_json(newer_part.to_string().as_bytes()).unwrap_err();
    let expected =
        "made by warpload 9.0.1, with unknown counters (made_up, per_pc.shared.words); warpload ";
    assert!(error.to_string().starts_with(expected), "{error}");
}

/// Returns options that add state to partial summaries, each with every other.
fn options(kind: usize) -> ReplayOptions<'static> {
    let data = [ReplayData::Absent, ReplayData::Fill(Fill::Zero), ReplayData::Fill(Fill::Address)]
        [kind % 3];
    ReplayOptions::new(data)
}

/// Merges neighbours at random until one is left; what is merged is read from its JSON, as a file would
/// bring it.
pub(crate) fn merge_at_random(random: &mut Random, leaves: &[String], fan_in: usize) -> String {
    let mut parts = leaves.to_vec();
    while parts.len() > 1 {
        let count = (2 + random.below(fan_in - 1)).min(parts.len());
        let start = random.below(parts.len() - count + 1);
        let mut given: Vec<_> = parts[start..start + count].iter().map(read).collect();
        let last = given.len() - 1;
        given.swap(0, random.below(last + 1));
        let merged = json(&PartialSummary::merge(given).unwrap());
        parts.splice(start..start + count, [merged]);
    }
    parts.swap_remove(0)
}

/// Whatever is merged first: a range of shards has the same bytes, and all shards have those of the whole.
#[test]
fn any_tree_of_merges_has_the_same_bytes() {
    let mut random = Random(21);
    for case in 0..8u64 {
        // Many kernels, and one that is in all shards.
        let length = [60, 300, 1200][case as usize % 3];
        let mut items = random_items(100 + case, length);
        if case % 4 == 0 {
            items.retain(|item| !matches!(item, Item::Kernel(_)));
        }
        let trace = open(&write(&items));
        let selection = Selection {
            pcs: Some(0..=0x2000),
            selected: Selected { pc: Some("0..2000".to_owned()), ..Selected::default() },
            ..Selection::default()
        };
        let options =
            options(case as usize).select((case % 5 == 0).then_some(&selection)).local_window(
                (case % 7 == 0)
                    .then_some(warpload::memory::Window { base: 0xd000_0000, size: 0x0100_0000 }),
            );
        let whole = json(&replay(&trace, &options).unwrap().summary());
        let partial = |shard| replay(&trace, &options.shard(shard)).unwrap().partial().unwrap();
        let count = 1 + random.below(40) as u64;
        let leaves: Vec<String> =
            (0..count).map(|i| json(&partial(Shard::new(i, count)))).collect();
        for _ in 0..3 {
            let start = random.below(leaves.len());
            let end = start + 1 + random.below(leaves.len() - start);
            let of = &leaves[start..end];
            let at_once = json(&PartialSummary::merge(of.iter().map(read).collect()).unwrap());
            for fan_in in [2, 16] {
                assert_eq!(merge_at_random(&mut random, of, fan_in), at_once, "case {case}");
            }
        }
        let root = merge_at_random(&mut random, &leaves, 5);
        let root = read(&root);
        assert_eq!((root.shards(), root.of()), (0..=count - 1, count));
        assert_eq!(json(&Summary::merge(vec![root]).unwrap()), whole, "case {case}");
    }
}

/// In whatever shards, the first fault of a row is its fault in the lowest record.
#[test]
fn rows_keep_their_first_fault() {
    let trace = open(&write(&random_items(30, 600)));
    let options = ReplayOptions::new(ReplayData::Absent).address_bits(40);
    let whole = replay(&trace, &options).unwrap().summary();
    let rows = || whole.per_pc.iter().chain(&whole.per_pc_stores).chain(&whole.per_pc_copies);
    assert!(rows().any(|row| row.first_fault.is_some()));
    assert!(rows().all(|row| row.first_fault.is_some() == (row.lane_faults.all() > 0)));
    let first = &whole.first_faults[0];
    let records = || rows().filter_map(|row| Some((row.first_fault?.record, row)));
    let (record, row) = records().min_by_key(|(record, _)| *record).unwrap();
    let fault = row.first_fault.unwrap();
    assert_eq!((record, fault.lane, fault.address), (first.record, first.lane, first.address));
    assert_eq!((fault.kind.name(), row.pc), (&*first.kind, first.pc));
    let of_shard = |shard| replay(&trace, &options.shard(shard)).unwrap().partial().unwrap();
    let parts = (0..9).map(|i| of_shard(Shard::new(i, 9))).collect();
    assert_eq!(Summary::merge(parts).unwrap(), whole);
}

#[test]
fn partials_are_of_neighbours() {
    let trace = open(&write(&random_items(15, 100)));
    let parts = shards(&trace, 5);
    let merge = |indices: &[usize]| {
        PartialSummary::merge(indices.iter().map(|i| parts[*i].clone()).collect())
    };
    let pair = merge(&[2, 1]).unwrap();
    assert_eq!(json(&merge(&[1]).unwrap()), json(&parts[1]));
    for indices in [&[0, 2][..], &[3, 3]] {
        let given = indices.iter().map(|i| *i as u64..=*i as u64).collect();
        assert_eq!(merge(indices), Err(MergeError::NotNeighbours { given, of: 5 }));
    }
    assert_eq!(merge(&[]), Err(MergeError::Nothing));
    let error = Summary::merge(vec![parts[0].clone(), pair.clone(), parts[4].clone()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "these are shards [0, 1-2, 4] of 5; expected each from 0 to 4 once"
    );
    let error = PartialSummary::merge(vec![parts[2].clone(), pair]).unwrap_err();
    assert_eq!(error.to_string(), "these are shards [1-2, 2] of 5; expected neighbours, each once");
}
