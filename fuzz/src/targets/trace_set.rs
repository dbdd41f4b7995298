use std::io::{Error, ErrorKind};
use std::path::Path;

use warpload::memory::{Arena, Fill};
use warpload_replay::{ReplayData, ReplayOptions, Summary, replay};
use warpload_trace::{BinaryTrace, SetBuilder, Shard, TraceSet};

use crate::made_trace::{CONTENTS, contents, made_trace};

/// The parts that a set's text can name.
const PARTS: [(&str, &[u8]); 2] = [
    ("generic.wlt", include_bytes!("../../../traces/generic.wlt")),
    ("example.wlt", include_bytes!("../../../tests/data/cmd/example.wlt")),
];

/// Any text is refused, or is a set that is unchanged after writing and reading; opening it may fail but not panic. Any
/// binary traces that can be replayed form a set that can be replayed, and its counts are the sums of theirs.
///
/// The input is the text of a set, or two binary traces of equal length.
pub fn trace_set_does_not_panic(input: &[u8]) {
    if TraceSet::is_set(input) {
        return text(input);
    }
    let (one, other) = input.split_at(input.len() / 2);
    let parts = [made_trace(CONTENTS, one), made_trace(&in_other_order(), other)];
    let traces = parts.each_ref().map(|bytes| BinaryTrace::new(Arena::from(bytes.clone())));
    let [Ok(one), Ok(other)] = traces else { return };
    let mut set = SetBuilder::new();
    let added = set.add("0".to_owned(), &one).and_then(|()| set.add("1".to_owned(), &other));
    if added.is_err() {
        return;
    }
    let set = set.finish().unwrap_or_else(|error| panic!("two parts are a set: {error}"));
    same_when_read_again(&set);
    let read = |path: &Path| {
        let part = &parts[usize::from(path == Path::new("1"))];
        Ok(Arena::from(part.clone()))
    };
    let whole = set.open(None, Path::new(""), read);
    let whole = whole.unwrap_or_else(|error| panic!("the parts are those of the set: {error}"));
    let (one, other, whole) = (counts(&one), counts(&other), counts(&whole));
    let sum = one.zip(other).map(|(one, other)| std::array::from_fn(|i| one[i] + other[i]));
    assert_eq!(whole, sum);
}

/// Replays a trace and sums up some counts of all its kernels; `None` if it is damaged.
fn counts(trace: &BinaryTrace) -> Option<[u64; 5]> {
    let found = replay(trace, &ReplayOptions::new(ReplayData::Fill(Fill::Address))).ok()?;
    let Summary { counts, .. } = found.summary();
    let skipped = counts.skipped.store + counts.skipped.atomic + counts.skipped.other;
    Some([counts.records, counts.loads, skipped, counts.lanes, counts.sectors])
}

/// The contents with their operations in another order. Loads still come first, and each has as many registers as the
/// load that it replaces.
fn in_other_order() -> Vec<u8> {
    let mut contents = contents();
    if let Some(operations) = contents["operations"].as_array_mut() {
        operations.swap(1, 4);
        operations.swap(3, 5);
    }
    contents.to_string().into_bytes()
}

fn text(input: &[u8]) {
    let Some(set) = with_its_content_hash(input) else { return };
    same_when_read_again(&set);
    let mut needed = vec![false; set.parts().len()];
    for index in 0..3 {
        let shard = Shard::new(index, 3);
        set.parts_of(shard).for_each(|part| needed[part] = true);
        if let Ok(trace) = set.open(shard, Path::new(""), part) {
            let _ = replay(&trace, &ReplayOptions::new(ReplayData::Absent).shard(shard));
        }
    }
    assert!(needed.into_iter().all(|is_needed| is_needed), "a part is in no shard");
}

/// Reads one of [`PARTS`].
fn part(path: &Path) -> Result<Arena, Error> {
    let part = PARTS.iter().find(|(name, _)| path == Path::new(name));
    part.map(|(_, bytes)| Arena::from(bytes.to_vec())).ok_or(Error::from(ErrorKind::NotFound))
}

/// Reads the text of a set with its content hash corrected, because after a change it is almost always wrong.
fn with_its_content_hash(input: &[u8]) -> Option<TraceSet> {
    let error = match TraceSet::from_json(input) {
        Ok(set) => return Some(set),
        Err(error) => error.to_string(),
    };
    let (_, hashes) = error.split_once("its content hash is ")?;
    let (found, right) = hashes.split_once(", but its contents and parts have ")?;
    let text = std::str::from_utf8(input).ok()?.replacen(found, right, 1);
    TraceSet::from_json(text.as_bytes()).ok()
}

fn same_when_read_again(set: &TraceSet) {
    let again = TraceSet::from_json(set.to_json().as_bytes());
    let again = again.unwrap_or_else(|error| panic!("the written set cannot be read: {error}"));
    assert_eq!(&again, set);
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpload::memory::mix;

    const SEEDS: [&[u8]; 2] = [
        include_bytes!("../../seeds/trace_set_does_not_panic/two.set.json"),
        include_bytes!("../../seeds/trace_set_does_not_panic/three.set.json"),
    ];

    /// Seeds must be valid sets. Otherwise they, and all their mutants, would only test errors. `warpload set` renews
    /// them.
    #[test]
    fn seeds_are_sets_of_the_parts() -> Result<(), Box<dyn std::error::Error>> {
        for seed in SEEDS {
            TraceSet::from_json(seed)?.open(None, Path::new(""), part)?;
        }
        Ok(())
    }

    /// Changed sets must get past the content hash. Otherwise only the unchanged seeds would be opened.
    #[test]
    fn most_changed_sets_are_read() {
        let (mut changed, mut read) = (0, 0);
        for (seed, i) in SEEDS
            .into_iter()
            .zip(0..)
            .flat_map(|(seed, i)| (0..100).map(move |j| (seed, 100 * i + j)))
        {
            let mut text = seed.to_vec();
            let digits: Vec<usize> =
                (0..text.len()).filter(|at| text[*at].is_ascii_digit()).collect();
            let at = digits[mix(i) as usize % digits.len()];
            text[at] = b'0' + (text[at] - b'0' + 1) % 10;
            changed += usize::from(TraceSet::from_json(&text).is_err());
            read += usize::from(with_its_content_hash(&text).is_some());
        }
        assert!(changed > 190 && read > 100, "{changed} {read}");
    }
}
