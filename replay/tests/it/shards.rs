//! Threads and shards change nothing: not a byte of the summary.

use serde_json::{Value, json as value};
use warpload::memory::Fill;
use warpload_replay::{
    MergeError, PartialHead, ReplayData, ReplayOptions, Selected, Selection, Summary, replay,
};
use warpload_trace::{BinaryTrace, Shard, kernels_of_shard};

use crate::random::Random;
use crate::replays::{changed, json, summary};
use crate::samples::{Form, Item, Record, open, random_items, write};

fn with_threads(trace: &BinaryTrace, threads: usize) -> String {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    json(&pool.install(|| summary(trace, None)).unwrap())
}

/// The shards' summaries, as a file would bring them.
fn shards(trace: &BinaryTrace, count: u64) -> Vec<Summary> {
    let shard = |i| json(&summary(trace, Some(Shard::new(i, count).unwrap())).unwrap());
    (0..count).map(|i| serde_json::from_str(&shard(i)).unwrap()).collect()
}

/// Returns a summary that was changed as if it had been written so, with the checksum of what it says.
fn rewritten(changed: &Summary) -> Summary {
    serde_json::from_str(&json(changed)).unwrap()
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
    let whole = summary(&trace, None).unwrap();
    assert_eq!(Summary::merge(vec![whole]), Err(MergeError::NotPartial { index: 0 }));

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
    for _ in 0..1000 {
        let bytes = changed(&text, &mut random);
        if let Ok(changed) = serde_json::from_slice::<Summary>(&bytes) {
            let _ = Summary::merge(vec![parts[0].clone(), rewritten(&changed)]);
        }
    }
    let mut most: Vec<Summary> = shards(&trace, 2);
    for part in &mut most {
        part.counts.records = u64::MAX;
        part.kernels[0].counts.records = u64::MAX;
        *part = rewritten(part);
    }
    assert_eq!(Summary::merge(most).unwrap().counts.records, u64::MAX);
}

/// Sums that disagree: of the whole with its kernels', of a kernel with its rows'.
#[test]
fn summaries_whose_sums_disagree_are_not_merged() {
    let trace = open(&write(&random_items(17, 60)));
    let changes: &[fn(&mut Summary)] = &[
        |part| part.counts.lanes += 1,
        |part| part.counts.skipped.store += 1,
        |part| part.counts.uniform.broadcast += 1,
        |part| part.counts.lane_faults.misaligned_address += 1,
        |part| *part.counts.by_opcode.values_mut().next().unwrap() += 1,
        |part| part.counts.ldgsts = None,
        |part| part.kernels[0].counts.bytes += 1,
        |part| part.per_pc[0].loads += 1,
        |part| part.per_pc[0].lanes += 1,
        |part| part.per_pc_stores[0].lanes += 1,
        |part| part.per_pc[0].kernel = "another".into(),
        |part| part.counts.footprint.pages += 1,
        |part| part.kernels[0].counts.footprint.lines += 1,
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut parts = shards(&trace, 2);
        change(&mut parts[1]);
        parts[1] = rewritten(&parts[1]);
        let error = Summary::merge(parts).unwrap_err();
        assert!(matches!(error, MergeError::Inconsistent { index: 1, .. }), "{i}: {error}");
    }
}

/// What is under `partial` and what it is of disagree, or it is damaged.
#[test]
fn partials_that_disagree_are_not_merged() {
    let mut items = random_items(17, 200);
    items.retain(|item| !matches!(item, Item::Kernel(_)));
    let trace = open(&write(&items));
    let options = options(2, true);
    let shard = |i| replay(&trace, &options.shard(Shard::new(i, 2))).unwrap().summary();
    let parts = [shard(0), shard(1)];
    let good = serde_json::to_value(&parts[1]).unwrap();
    let changes: &[(&str, Value)] = &[
        ("/partial/first", value!(2)),
        ("/partial/last", value!(2)),
        ("/partial/of", value!(0)),
        ("/partial/kernels/0", value!(1)),
        ("/partial/of_kernels", value!(0)),
        ("/partial/of_kernels", value!(2)),
        ("/partial/kernels/0", value!(u32::MAX)),
        ("/partial/kernels/0", value!(u64::MAX)),
        ("/partial/kernels", value!([])),
        ("/partial/kernels", value!([0, 1])),
        ("/partial/kernels", value!([0, 0])),
        ("/partial/per_pc/0/0", value!(usize::MAX)),
        ("/partial/per_pc/0/2", value!(u64::MAX)),
        ("/partial/per_pc_stores/0/0", value!(usize::MAX)),
        ("/partial/per_pc_stores/0/2", value!(u64::MAX)),
        ("/partial/wavefronts", value!([])),
        ("/partial/pages/0", value!("")),
        ("/partial/lines/0", value!("")),
        ("/partial/lines/0", value!("AAAAAAAAAAA=")),
        ("/partial/lines/0", value!("//////////8=")),
        ("/partial/lines/0", value!("no base64")),
        ("/partial/lines", value!([])),
        ("/partial/reuse", value!([])),
        ("/partial/reuse/0/loads", value!(0)),
        ("/partial/reuse/0/touches", value!("")),
        ("/partial/reuse/0/touches", value!("AA==")),
        ("/partial/replay", value!("another")),
    ];
    for (place, change) in changes {
        let mut changed = good.clone();
        *changed.pointer_mut(place).unwrap_or_else(|| panic!("{place} is not there")) =
            change.clone();
        let changed = serde_json::from_value::<Summary>(changed);
        let changed = changed.ok().map(|changed| rewritten(&changed));
        let merged = changed.map(|changed| Summary::merge(vec![parts[0].clone(), changed]));
        assert!(!matches!(merged, Some(Ok(_))), "{place} {change}");
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
        let Ok(changed) = serde_json::from_value::<Summary>(changed) else { continue };
        for given in [vec![changed.clone()], vec![parts[0].clone(), changed]] {
            let error = Summary::merge_partial(given).expect_err(place).to_string();
            assert!(error.ends_with("it has changed since it was written"), "{place}: {error}");
        }
    }
    // A mean is exact to its last digit.
    let mut part = parts[1].clone();
    part.per_pc[0].sectors.mean = part.per_pc[0].sectors.mean.next_up();
    assert!(Summary::merge_partial(vec![part]).is_err());
    let mut text = serde_json::to_value(&parts[1]).unwrap();
    text["partial"].as_object_mut().unwrap().remove("checksum").unwrap();
    let error = serde_json::from_value::<Summary>(text).unwrap_err().to_string();
    assert!(error.contains("missing field `checksum`"), "{error}");
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

/// What heads are of has to agree as what is merged.
#[test]
fn heads_join_as_summaries_merge() {
    let trace = open(&write(&random_items(15, 100)));
    let parts = shards(&trace, 2);
    let join = |change: fn(&mut Value)| {
        let mut later = serde_json::to_value(&parts[1]).unwrap();
        change(&mut later);
        let later = serde_json::from_value(later).unwrap();
        PartialHead::join(vec![PartialHead::of(&parts[0]).unwrap(), later])
    };
    let merged = Summary::merge_partial(parts.clone()).unwrap();
    assert_eq!(join(|_| ()), PartialHead::of(&merged));
    let changes: [fn(&mut Value); 4] = [
        |part| part["kernels"][0]["name"] = value!("another"),
        |part| part["kernels"] = value!([part["kernels"][0]]),
        |part| part["partial"]["of_kernels"] = value!(1000),
        |part| part["partial"]["kernels"] = value!([]),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        assert_eq!(join(change), None, "{i}");
    }
}

/// Returns the JSON of a shard's summary, as it is written for merging.
pub(crate) fn carried(
    trace: &BinaryTrace,
    shard: Option<Shard>,
    summary: impl Fn(Option<Shard>) -> Summary,
) -> String {
    let kernels = kernels_of_shard(trace, shard.unwrap());
    json(&summary(shard).for_merging(&kernels))
}

/// What shards are in all does not grow with kernels times shards.
#[test]
fn shards_carry_the_kernels_that_they_have() {
    let kernels = 400;
    let mut items = Vec::new();
    for _ in 0..kernels {
        items.extend([Item::Kernel("a kernel"), Item::Skip, Item::of("LDG.E"), Item::of("STG.E")]);
    }
    // Two that have no instructions.
    items.extend([Item::Kernel("empty"), Item::Kernel("empty too")]);
    let trace = open(&write(&items));
    let whole = json(&summary(&trace, None).unwrap());
    let all = |count: u64| -> Vec<String> {
        let shards = (0..count).map(|i| Shard::new(i, count));
        shards
            .map(|shard| carried(&trace, shard, |shard| summary(&trace, shard).unwrap()))
            .collect()
    };
    let bytes = |parts: &[String]| parts.iter().map(String::len).sum::<usize>();
    let (few, many) = (all(2), all(64));
    assert!(bytes(&many) < 2 * bytes(&few), "{} and {}", bytes(&few), bytes(&many));
    for parts in [few, many] {
        let read: Vec<Summary> =
            parts.iter().map(|part| serde_json::from_str(part).unwrap()).collect();
        let carried = |part: &Summary| part.kernels.len();
        // One more in each whose border is inside a kernel, and those without instructions.
        assert!(read.iter().map(carried).sum::<usize>() <= kernels + 4 * parts.len());
        assert_eq!(json(&Summary::merge(read).unwrap()), whole);
        let root = merge_at_random(&mut Random(36), &parts, 3);
        let root = serde_json::from_str(&root).unwrap();
        assert_eq!(json(&Summary::merge(vec![root]).unwrap()), whole);
    }
}

/// Kernels that no shard has, and one with two names.
#[test]
fn kernels_that_are_missing_or_differ_are_found() {
    let items = [Item::Kernel("one"), Item::of("LDG.E"), Item::Kernel("other"), Item::of("LDG.E")];
    let trace = open(&write(&items));
    let part = |i, kernels: &[usize]| {
        let shard = Shard::new(i, 2);
        rewritten(&summary(&trace, shard).unwrap().for_merging(kernels))
    };
    assert!(Summary::merge(vec![part(0, &[0]), part(1, &[1])]).is_ok());
    let error = Summary::merge(vec![part(0, &[0]), part(1, &[0, 1])]);
    assert!(error.is_ok());
    let renamed = |mut part: Summary| {
        part.kernels[0].name = "another".into();
        rewritten(&part)
    };
    let error = Summary::merge(vec![part(0, &[0, 1]), renamed(part(1, &[1]))]).unwrap_err();
    assert!(error.to_string().contains("inconsistent"), "{error}");
    let nothing = |i| {
        let mut part = serde_json::to_value(part(i, &[])).unwrap();
        part["per_pc"] = value!([]);
        part["partial"]["per_pc"] = value!([]);
        part["partial"]["wavefronts"] = value!([]);
        serde_json::from_value::<Summary>(part).map(|part| Summary::merge(vec![rewritten(&part)]))
    };
    assert!(nothing(0).is_ok_and(|merged| merged.is_err()));
}

/// A version that is not this one is named, whatever else it has written.
#[test]
fn parts_of_another_version_are_refused_as_such() {
    let trace = open(&write(&random_items(15, 100)));
    let mut part = serde_json::to_value(&shards(&trace, 2)[0]).unwrap();
    let replay = part["partial"]["replay"].as_str().unwrap().to_owned();
    let own = format!("warpload {}, ", env!("CARGO_PKG_VERSION"));
    assert!(replay.starts_with(&own), "{replay}");
    part["partial"]["replay"] = value!(replay.replace(&own, "warpload 9.0.1, "));
    // Its checksum covers a key that is not read here.
    part["new_counter"] = value!(0);
    let error = Summary::merge_partial(vec![serde_json::from_value(part).unwrap()]).unwrap_err();
    assert!(matches!(&error, MergeError::OtherVersion { given, .. } if given == "9.0.1"));
    assert!(
        error.to_string().starts_with("summary 0 is made by warpload 9.0.1; expected "),
        "{error}"
    );
}

/// Returns options that add state to partial summaries, each with every other.
fn options(kind: usize, counts_reuse: bool) -> ReplayOptions<'static> {
    let data = [ReplayData::Absent, ReplayData::Fill(Fill::Zero), ReplayData::Fill(Fill::Address)]
        [kind % 3];
    ReplayOptions::new(data).reuse(counts_reuse)
}

/// Merges neighbours at random until one is left; what is merged is read from its JSON, as a file would
/// bring it.
pub(crate) fn merge_at_random(random: &mut Random, leaves: &[String], fan_in: usize) -> String {
    let read = |text: &String| serde_json::from_str(text).unwrap();
    let mut parts = leaves.to_vec();
    while parts.len() > 1 {
        let count = (2 + random.below(fan_in - 1)).min(parts.len());
        let start = random.below(parts.len() - count + 1);
        let mut given: Vec<Summary> = parts[start..start + count].iter().map(read).collect();
        let last = given.len() - 1;
        given.swap(0, random.below(last + 1));
        let merged = json(&Summary::merge_partial(given).unwrap());
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
        let counts_reuse = case % 2 == 0;
        let options = options(case as usize, counts_reuse)
            .select((case % 5 == 0).then_some(&selection))
            .local_window(
                (case % 7 == 0)
                    .then_some(warpload::memory::Window { base: 0xd000_0000, size: 0x0100_0000 }),
            );
        let summary = |shard| replay(&trace, &options.shard(shard)).unwrap().summary();
        let whole = json(&summary(None));
        let count = 1 + random.below(40) as u64;
        let leaves: Vec<String> =
            (0..count).map(|i| carried(&trace, Shard::new(i, count), summary)).collect();
        for _ in 0..3 {
            let start = random.below(leaves.len());
            let end = start + 1 + random.below(leaves.len() - start);
            let of = &leaves[start..end];
            let read = of.iter().map(|leaf| serde_json::from_str(leaf).unwrap()).collect();
            let at_once = json(&Summary::merge_partial(read).unwrap());
            for fan_in in [2, 16] {
                assert_eq!(merge_at_random(&mut random, of, fan_in), at_once, "case {case}");
            }
        }
        let root = merge_at_random(&mut random, &leaves, 5);
        let root: Summary = serde_json::from_str(&root).unwrap();
        let shards = root.partial.as_ref().unwrap();
        assert_eq!((shards.shards(), shards.of()), (0..=count - 1, count));
        assert_eq!(json(&Summary::merge(vec![root]).unwrap()), whole, "case {case}");
    }
}

#[test]
fn partials_are_of_neighbours() {
    let trace = open(&write(&random_items(15, 100)));
    let parts = shards(&trace, 5);
    let merge = |indices: &[usize]| {
        Summary::merge_partial(indices.iter().map(|i| parts[*i].clone()).collect())
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
    let error = Summary::merge_partial(vec![parts[2].clone(), pair]).unwrap_err();
    assert_eq!(error.to_string(), "these are shards [1-2, 2] of 5; expected neighbours, each once");
}
