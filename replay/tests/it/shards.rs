//! Threads and shards change nothing: not a byte of the summary.

use serde_json::{Value, json as value};
use warpload::json::write_line;
use warpload::memory::Fill;
use warpload_replay::{
    MergeError, ReplayData, ReplayOptions, Selected, Selection, Summary, SummaryError, replay,
};
use warpload_trace::{BinaryTrace, Shard};

use crate::random::Random;
use crate::replays::{changed, json, shards, summary};
use crate::samples::{Form, Item, Record, open, random_items, write};

fn with_threads(trace: &BinaryTrace, threads: usize) -> String {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    json(&pool.install(|| summary(trace, None)).unwrap())
}

/// A summary, as a file would bring it.
fn read(json: &str) -> Summary {
    let summary = Summary::from_json(json.as_bytes()).unwrap();
    assert_eq!(self::json(&summary), *json);
    summary
}

/// The shards' summaries, as a file would bring them.
fn read_shards(trace: &BinaryTrace, count: u64) -> Vec<Summary> {
    shards(trace, count).iter().map(|part| read(&json(part))).collect()
}

fn check(items: &[Item]) {
    let trace = open(&write(items));
    let whole = with_threads(&trace, 1);
    assert_eq!(whole, with_threads(&trace, 2));
    read(&whole);
    let mut random = Random(9);
    for count in [1, 2, 3, 7, 64] {
        let mut parts = read_shards(&trace, count);
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
fn options_are_of_all_shards() {
    for case in 0..6 {
        let trace = open(&write(&random_items(100 + case, 300)));
        let selection = Selection {
            pcs: Some(0..=0x2000),
            selected: Selected { pc: Some("0..2000".to_owned()), ..Selected::default() },
            ..Selection::default()
        };
        let data =
            [ReplayData::Absent, ReplayData::Fill(Fill::Zero), ReplayData::Fill(Fill::Address)];
        let options = ReplayOptions {
            selection: (case % 2 == 0).then_some(&selection),
            ..ReplayOptions::new(data[case as usize % 3])
        };
        let whole = json(&replay(&trace, &options).unwrap());
        let shard =
            |i| replay(&trace, &ReplayOptions { shard: Shard::new(i, 5), ..options }).unwrap();
        let parts = (0..5).map(shard).collect();
        assert_eq!(json(&Summary::merge(parts).unwrap()), whole, "case {case}");
    }
}

#[test]
fn what_does_not_belong_together_is_not_merged() {
    let trace = open(&write(&random_items(15, 100)));
    let parts = read_shards(&trace, 3);
    assert_eq!(Summary::merge(vec![]), Err(MergeError::Nothing));
    let given = |indices: &[usize]| {
        let merged = Summary::merge(indices.iter().map(|i| parts[*i].clone()).collect());
        merged.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(given(&[0, 1, 2]), Ok(()));
    assert_eq!(given(&[0, 2]), Err("shard 1 of 3 is missing".to_owned()));
    assert_eq!(given(&[1]), Err("shards 0, 2 of 3 are missing".to_owned()));
    assert_eq!(given(&[2]), Err("shards 0, 1 of 3 are missing".to_owned()));
    assert_eq!(given(&[0, 1, 1, 2]), Err("summary 2 is shard 1 of 3, like another one".to_owned()));
    let other = open(&write(&random_items(16, 100)));
    let mixed = vec![parts[0].clone(), parts[1].clone(), read_shards(&other, 3).remove(2)];
    let error = Summary::merge(mixed).unwrap_err();
    assert_eq!(error.to_string(), "summary 2 is of a shard of another replay");
    let mixed = vec![read_shards(&trace, 2).remove(0), parts[1].clone()];
    let error = Summary::merge(mixed).unwrap_err();
    assert!(matches!(error, MergeError::Unfit { index: 1, .. }), "{error}");
}

/// Summaries of several traces follow each other, whole or in shards.
#[test]
fn whole_summaries_follow_each_other() {
    let traces = [20, 21].map(|seed| open(&write(&random_items(seed, 200))));
    let wholes = traces.each_ref().map(|trace| summary(trace, None).unwrap());
    let mut parts = read_shards(&traces[0], 3);
    parts.insert(1, wholes[1].clone());
    let merged = Summary::merge(parts).unwrap();
    assert_eq!(json(&merged), json(&Summary::merge(wholes.to_vec()).unwrap()));
    let [one, other] = &wholes;
    let (launches, rows) = (one.launches.len(), one.rows.len());
    assert_eq!(merged.launches.len(), launches + other.launches.len());
    assert_eq!(merged.rows[..rows], one.rows);
    assert_eq!(merged.launches[launches].launch, launches as u64);
    assert_eq!(merged.launches[launches].counts, other.launches[0].counts);
    let instructions = one.counts.instructions + other.counts.instructions;
    assert_eq!(merged.counts.instructions, instructions);
    assert_eq!((merged.counts.footprint, merged.digest), (None, None));
    read(&json(&merged));
}

/// Summaries are text that anybody can write.
#[test]
fn made_up_summaries_do_no_harm() {
    let trace = open(&write(&random_items(17, 60)));
    let text = json(&summary(&trace, None).unwrap());
    let mut random = Random(18);
    let mut merged = 0;
    for _ in 0..1000 {
        let bytes = changed(&text, &mut random);
        if let Ok(changed) = Summary::from_json(&bytes) {
            let _ = changed.by_kernel();
            merged += u32::from(Summary::merge(vec![changed.clone(), changed]).is_ok());
        }
    }
    assert!(merged > 0);
    let mut most: Value = serde_json::from_str(&text).unwrap();
    most["instructions"] = value!(u64::MAX);
    let most = Summary::from_json(most.to_string().as_bytes()).unwrap();
    let merged = Summary::merge(vec![most.clone(), most]).unwrap();
    assert_eq!(merged.counts.instructions, u64::MAX);
    // A summary of one launch, with the highest number.
    let trace = open(&write(&[Item::Record(Record::new("LDG.E", Form::Stride(0x1000, 4)))]));
    let text = json(&summary(&trace, None).unwrap());
    let text = text.replace("\"launch\":0", &format!("\"launch\":{}", u64::MAX));
    let last = Summary::from_json(text.as_bytes()).unwrap();
    let error = Summary::merge(vec![last.clone(), last]).unwrap_err();
    assert_eq!(error.to_string(), "summary 1 has launches with too high numbers");
}

/// Rows that belong to no launch, or are not what the sums are of.
#[test]
fn summaries_that_contradict_themselves_are_refused() {
    let trace = open(&write(&[Item::Record(Record::new("LDG.E", Form::Stride(0x1000, 4)))]));
    let text = json(&summary(&trace, None).unwrap());
    let whole: Value = serde_json::from_str(&text).unwrap();
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 4] = [
        ("rows of launches that it does not have", |all| all["rows"][0]["launch"] = value!(1)),
        ("rows of launches that it does not have", |all| all["rows"][0]["kernel"] = value!("x")),
        ("its sums are not those of its rows", |all| all["loads"]["accesses"] = value!(2)),
        ("its sums are not those of its rows", |all| {
            all["rows"][0]["global"]["sectors"]["sum"] = value!(1);
        }),
    ];
    for (expected, change) in changes {
        let mut changed = whole.clone();
        change(&mut changed);
        let error = Summary::from_json(changed.to_string().as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Whatever is changed in the JSON of a shard, also what agrees with the rest.
#[test]
fn changed_shards_are_not_read() {
    let mut items = random_items(17, 200);
    items.retain(|item| !matches!(item, Item::Kernel(_)));
    let trace = open(&write(&items));
    let part = &shards(&trace, 2)[1];
    let good = serde_json::to_value(part).unwrap();
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
        let error = Summary::from_json(changed.to_string().as_bytes()).expect_err(place);
        assert!(!matches!(error, SummaryError::OtherVersion { .. }), "{place}: {error}");
    }
    // The same in the line as it is written, where keys keep their order and only the checksum can tell.
    let line = json(part);
    let digits = || line.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit());
    let step = digits().count() / 200;
    for (place, digit) in digits().step_by(step) {
        let mut changed = line.clone().into_bytes();
        changed[place] = if digit == b'1' { b'2' } else { b'1' };
        Summary::from_json(&changed).expect_err(&format!("byte {place}"));
    }
    let mut text = good;
    text.as_object_mut().unwrap().remove("checksum").unwrap();
    let error = Summary::from_json(text.to_string().as_bytes()).unwrap_err().to_string();
    assert!(error.contains("its checksum does not match"), "{error}");
}

/// The checksum is of the line as it is written, with characters that do not appear as escapes.
#[test]
fn names_with_invisible_characters_have_checksums() {
    let trace =
        open(&write(&[Item::Kernel("a\u{2028}b\u{7f}"), Item::of("LDG.E"), Item::of("STG.E")]));
    let line = |summary: &Summary| {
        let mut line = Vec::new();
        write_line(&mut line, summary).unwrap();
        line
    };
    let parts: Vec<Vec<u8>> = shards(&trace, 2).iter().map(line).collect();
    assert!(parts.concat().is_ascii());
    let read = parts.iter().map(|part| Summary::from_json(part).unwrap()).collect();
    assert_eq!(line(&Summary::merge(read).unwrap()), line(&summary(&trace, None).unwrap()));
    // Written by another program, with the same contents.
    let spaced = String::from_utf8(parts[0].clone()).unwrap().replacen(',', ", ", 1);
    let error = Summary::from_json(spaced.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("its checksum does not match"), "{error}");
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
fn shards_carry_the_launches_that_they_have() {
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
            let parts: Vec<String> = shards(&trace, count).iter().map(json).collect();
            let bytes: usize = parts.iter().map(String::len).sum();
            assert!(bytes < 2 * whole.len(), "{bytes} of {}", whole.len());
            let read: Vec<Summary> = parts.iter().map(|part| read(part)).collect();
            // A border inside a kernel puts the kernel into two shards, so each border adds at most one.
            let carried: usize = read.iter().map(|part| part.launches.len()).sum();
            assert!(carried < of_trace + parts.len(), "{carried}");
            assert_eq!(json(&Summary::merge(read).unwrap()), whole);
        }
    }
}

/// Kernels and blocks without memory instructions, at the borders of shards too.
#[test]
fn shards_of_kernels_without_memory_instructions() {
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
        check(&items);
    }
}

/// A version that is not this one is named, whatever else it has written.
#[test]
fn shards_of_another_version_are_refused_as_such() {
    let trace = open(&write(&random_items(15, 100)));
    let part = &shards(&trace, 2)[0];
    let own = format!("warpload {}, ", env!("CARGO_PKG_VERSION"));
    assert!(part.shard.as_ref().unwrap().replay().starts_with(&own));
    for is_strange in [false, true] {
        let mut part = serde_json::to_value(part).unwrap();
        part["shard"]["replay"] = value!("warpload 9.0.1, trace 0");
        if is_strange {
            part["rows"] = value!("in another form");
        }
        let error = Summary::from_json(part.to_string().as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("made by warpload 9.0.1; warpload "), "{error}");
    }
}
