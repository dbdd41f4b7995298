//! What is collected for the page, compared with counts one by one.

use std::collections::{BTreeMap, BTreeSet};

use warpload_replay::{ReplayData, ReplayOptions};
use warpload_report::{BankUse, HeatMap, Survey, survey};
use warpload_trace::{BinaryTrace, Shard};

use crate::html::made::{scattered, transposes};

/// Counts the sectors of each load where they belong in a map, one by one.
fn one_by_one(trace: &BinaryTrace, map: &HeatMap) -> Vec<u64> {
    let mut sectors = vec![0; map.sectors.len()];
    for raw in trace.blocks() {
        let block = trace.block(raw).unwrap();
        for i in 0..raw.memory_records as usize {
            let load = block.record(i).unwrap();
            let record = raw.first_record + u64::from(load.index);
            if !map.records.contains(&record) {
                continue;
            }
            let count = map.records.end - map.records.start;
            let column = (record - map.records.start) as usize * map.columns / count as usize;
            let touched: BTreeSet<u64> = load.addresses().to_array().map(|at| at / 32).into();
            for sector in touched {
                let row = map.rows.partition_point(|row| row.first <= sector * 32) - 1;
                sectors[row * map.columns + column] += 1;
            }
        }
    }
    sectors
}

#[test]
fn a_heat_map_misses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scattered.wlt");
    // With fewer pages than are counted apart, and with more.
    for (bytes, is_exact) in [(1 << 20, true), (1 << 30, false)] {
        scattered(&path, bytes);
        let trace = BinaryTrace::open(&path).unwrap();
        for shard in [None, Shard::new(1, 4)] {
            let options = ReplayOptions::new(ReplayData::Absent).shard(shard);
            let (replayed, survey) = survey(&trace, &options).unwrap();
            let summary = replayed.summary();
            assert!(survey_by(&trace, shard, 3) == survey);
            assert_eq!(survey.whole.sectors.iter().sum::<u64>(), summary.counts.sectors);
            for (kernel, map) in &survey.kernels {
                let counted = summary.kernels[*kernel].counts.sectors;
                assert_eq!(map.sectors.iter().sum::<u64>(), counted, "kernel {kernel}");
                assert_eq!(map.sectors, one_by_one(&trace, map), "kernel {kernel}");
            }
            if is_exact {
                assert!(survey.whole.sectors == one_by_one(&trace, &survey.whole));
            }
            assert_eq!(survey.whole.is_exact, is_exact || shard.is_some());
        }
    }
}

fn survey_by(trace: &BinaryTrace, shard: Option<Shard>, threads: usize) -> Survey {
    let options = ReplayOptions::new(ReplayData::Absent).shard(shard);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| survey(trace, &options)).unwrap().1
}

/// Each bank of the worst accesses is counted once, in whatever parts.
#[test]
fn banks_are_counted_in_any_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transposes.wlt");
    // Fewer kernels with conflicts than are kept, so that all parts keep the same.
    transposes(&path, 25, 40);
    let trace = BinaryTrace::open(&path).unwrap();
    let whole = survey_by(&trace, None, 1);
    assert_eq!(whole.banks.len(), 13);
    for (i, uses) in whole.banks.iter().enumerate() {
        // A column for each of 40 warps, eight of them twice.
        let words: [u64; 32] = std::array::from_fn(|bank| if bank < 8 { 64 } else { 32 });
        assert_eq!((uses.kernel, uses.pc, uses.accesses), (2 * i, 0x40, 40));
        assert_eq!((uses.wavefronts, uses.ideal_wavefronts, uses.conflicts), (1280, 40, 1240));
        assert_eq!(uses.words, words);
    }
    for threads in [2, 5] {
        assert_eq!(survey_by(&trace, None, threads), whole);
    }
    let mut sums: BTreeMap<usize, BankUse> = BTreeMap::new();
    for part in 0..7 {
        for uses in survey_by(&trace, Shard::new(part, 7), 2).banks {
            let words = uses.words;
            let sum = sums.entry(uses.kernel).or_insert(BankUse { words: [0; 32], ..uses });
            sum.words.iter_mut().zip(words).for_each(|(sum, words)| *sum += words);
        }
    }
    assert!(sums.values().map(|uses| uses.words).eq(whole.banks.iter().map(|uses| uses.words)));
}
