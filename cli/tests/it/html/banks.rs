//! The words that the banks of shared memory serve.

use warpload_replay::{PartialSummary, PcSummary, ReplayData, ReplayOptions, Summary, replay};
use warpload_trace::{BinaryTrace, Shard};

use crate::html::made::transposes;

fn on_threads(threads: usize, options: &ReplayOptions<'_>, trace: &BinaryTrace) -> Summary {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| replay(trace, options)).unwrap().summary()
}

/// Each bank is counted once, in whatever parts.
#[test]
fn banks_are_counted_in_any_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transposes.wlt");
    transposes(&path, 25, 40);
    let trace = BinaryTrace::open(&path).unwrap();
    let options = ReplayOptions::new(ReplayData::Absent);
    let whole = on_threads(1, &options, &trace);
    let conflicts = |row: &&PcSummary| {
        row.shared.as_ref().and_then(|shared| shared.conflicts).is_some_and(|all| all > 0)
    };
    let rows: Vec<_> = whole.per_pc.iter().filter(conflicts).collect();
    assert_eq!(rows.len(), 13);
    for row in rows {
        // A column for each of 40 warps, eight of them twice.
        let words: [u64; 32] = std::array::from_fn(|bank| if bank < 8 { 64 } else { 32 });
        let shared = row.shared.as_ref().unwrap();
        assert_eq!((row.pc.0, row.loads, shared.loads), (0x40, 40, 40));
        assert_eq!((shared.all_wavefronts(), shared.conflicts), (Some(1280), Some(1240)));
        assert_eq!(shared.ideal_wavefronts, 40);
        assert_eq!(**shared.bank_words.as_ref().unwrap(), words);
    }
    for threads in [2, 5] {
        assert_eq!(on_threads(threads, &options, &trace), whole);
    }
    let of_shard = |part| replay(&trace, &options.shard(Shard::new(part, 7))).unwrap();
    let parts: Vec<PartialSummary> = (0..7).map(|part| of_shard(part).partial().unwrap()).collect();
    assert_eq!(Summary::merge(parts).unwrap(), whole);
}
