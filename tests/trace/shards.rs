//! Threads and shards change nothing: not a byte of the summary.

use warpload::trace::{BinaryTrace, MergeError, Shard, Summary};

use crate::random::Random;
use crate::samples::{Form, Item, Record, json, open, random_items, summary, write};

fn with_threads(trace: &BinaryTrace, threads: usize) -> String {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    json(&pool.install(|| summary(trace, None)).unwrap())
}

/// The shards' summaries, as a file would bring them.
fn shards(trace: &BinaryTrace, count: u64) -> Vec<Summary> {
    let shard = |i| json(&summary(trace, Some(Shard::new(i, count).unwrap())).unwrap());
    (0..count).map(|i| serde_json::from_str(&shard(i)).unwrap()).collect()
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
    for (indices, shards) in [(&[0, 2][..], &[0, 2][..]), (&[0, 1, 1, 2], &[0, 1, 1, 2])] {
        let given = given(indices);
        let expected = MergeError::Incomplete { given: shards.to_vec(), of: 3, last: 2 };
        assert_eq!(given, Err(expected));
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
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            bytes[at] = if bytes[at].is_ascii_digit() && !random.is_one_in(4) {
                b'0' + random.below(10) as u8
            } else {
                random.one_of(b"0123456789\",:{}[]-.enull ")
            };
        }
        if let Ok(changed) = serde_json::from_slice::<Summary>(&bytes) {
            let _ = Summary::merge(vec![parts[0].clone(), changed]);
        }
    }
    let mut most: Vec<Summary> = shards(&trace, 2);
    for part in &mut most {
        part.counts.records = u64::MAX;
        part.kernels[0].counts.records = u64::MAX;
        let partial = part.partial.as_mut().unwrap();
        partial.lines[0] = vec![(0, u64::MAX), (5, u64::MAX)];
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
        |part| part.partial.as_mut().unwrap().per_pc[0].2 += 1,
        |part| part.partial.as_mut().unwrap().per_pc[0].0 = usize::MAX,
    ];
    for (i, change) in changes.iter().enumerate() {
        let mut parts = shards(&trace, 2);
        change(&mut parts[1]);
        let error = Summary::merge(parts).unwrap_err();
        assert!(matches!(error, MergeError::Inconsistent { index: 1, .. }), "{i}: {error}");
    }
}
