//! What single accesses cost adds up to what a replay counts.

use std::collections::BTreeMap;

use warpload::memory::{AddressMap, Fill, MemoryBuilder};
use warpload_replay::{
    AccessCosts, AccessCounts, AccessExecutor, AccessKind, Digest, ReplayData, ReplayOptions,
    RowSpace, Selection, SharedRules, replay,
};
use warpload_trace::BinaryTrace;

use crate::samples::{OPCODES, grouped, import_bytes, open, random_items, write};

/// Sums of the accesses of one row, or of one kind.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    accesses: u64,
    lanes: u64,
    faults: u64,
    /// Of global memory: sectors, ideal sectors.
    sectors: [u64; 2],
    /// Of shared memory: accesses, wavefronts, ideal wavefronts.
    shared: [u64; 3],
    local: [u64; 3],
    /// Of constant memory: accesses, addresses.
    constant: [u64; 2],
    lines: u64,
}

impl Sums {
    fn of(counts: &AccessCounts) -> Self {
        let global = counts.global.unwrap_or_default();
        let shared = counts.shared.as_deref().copied().unwrap_or_default();
        let local = counts.local.as_deref().copied().unwrap_or_default();
        let constant = counts.constant.as_deref().copied().unwrap_or_default();
        Self {
            accesses: counts.accesses,
            lanes: counts.lanes,
            faults: counts.lane_faults.all(),
            sectors: [global.sectors.sum, global.ideal_sectors],
            shared: [shared.accesses, shared.wavefronts.sum, shared.ideal_wavefronts],
            local: [local.accesses, local.sectors, local.ideal_sectors],
            constant: [constant.accesses, constant.addresses],
            lines: global.lines,
        }
    }

    fn add(&mut self, costs: &AccessCosts) {
        if let Some(global) = costs.global {
            self.sectors[0] += global.sectors;
            self.sectors[1] += global.ideal_sectors;
            self.lines += global.lines;
        }
        for (sum, cost) in [(&mut self.shared, costs.shared), (&mut self.local, costs.local)] {
            if let Some(cost) = cost {
                *sum = [sum[0] + 1, sum[1] + cost.amount, sum[2] + cost.ideal];
            }
        }
        if let Some(cost) = costs.constant {
            self.constant = [self.constant[0] + 1, self.constant[1] + cost.amount];
        }
    }
}

/// Executes every access alone, and compares the sums with those of a replay. Adds the accesses of each kind to `all`.
fn check(trace: &BinaryTrace, options: &ReplayOptions<'_>, all: &mut BTreeMap<AccessKind, u64>) {
    let mut executor = AccessExecutor::new(trace, options).unwrap();
    let mut kinds = BTreeMap::<_, Sums>::new();
    let mut rows = BTreeMap::<_, Sums>::new();
    let (mut executed, mut has_values) = (0, false);
    for raw in trace.blocks() {
        let block = trace.block(raw).unwrap();
        for i in 0..raw.records as usize {
            let record = block.record(i).unwrap();
            let operation = record.operation();
            let Some(access) = executor.execute(&block, &record) else { continue };
            executed += 1;
            assert_eq!(Some(access.kind), AccessKind::of(operation));
            let registers = operation.registers() as usize;
            let is_known = executor.values(0).is_some();
            assert!(!is_known || access.kind == AccessKind::Load);
            assert_eq!(executor.values(registers - 1).is_some(), is_known);
            assert_eq!(executor.values(registers), None);
            has_values |= is_known;
            if access.kind != AccessKind::Copy {
                assert_eq!(access.space, operation.space.into());
            }
            let key = (
                raw.kernel.into(),
                record.pc.into(),
                operation.opcode.to_string(),
                access.kind,
                access.space,
                operation.bytes(),
            );
            for sums in [kinds.entry(access.kind).or_default(), rows.entry(key).or_default()] {
                sums.accesses += 1;
                sums.lanes += u64::from(access.executing.count());
                sums.faults += access.loaded.faults.iter().count() as u64;
                sums.add(&access.costs);
            }
        }
    }
    let summary = replay(trace, options).unwrap();
    if options.selection.is_none() {
        assert_eq!(trace.accesses().unwrap(), executed);
    }
    let loads = &summary.counts.loads;
    assert_eq!(has_values, summary.digest.is_some() && loads.accesses > 0);
    for kind in AccessKind::ALL {
        let sums = kinds.remove(&kind).unwrap_or_default();
        assert_eq!(sums, Sums::of(summary.counts.kind(kind)), "{kind:?}");
        *all.entry(kind).or_default() += sums.accesses;
    }
    let expected = summary.rows.iter().map(|row| {
        let opcode = row.opcode.to_string();
        let key = (row.launch, row.pc.0, opcode, row.kind, row.space, row.access_bytes);
        (key, Sums::of(&row.counts))
    });
    assert_eq!(rows, expected.collect());
}

#[test]
fn single_accesses_add_up_to_the_replay() {
    let memory = MemoryBuilder::new(AddressMap::default())
        .global(0, &[1; 1 << 20])
        .shared(&[2; 1 << 16])
        .build()
        .unwrap();
    let mut all = BTreeMap::new();
    for seed in 20..24 {
        let trace = open(&write(&random_items(seed, 6000)));
        for data in
            [ReplayData::Absent, ReplayData::Fill(Fill::Address), ReplayData::Image(&memory)]
        {
            check(&trace, &ReplayOptions::new(data), &mut all);
        }
        let operations = &trace.contents().operations;
        for opcode in [OPCODES[0], "STG.E", "LDGSTS.E.128"] {
            let chosen = operations.iter().map(|one| &*one.opcode == opcode).collect();
            let selection = Selection { operations: Some(chosen), ..Selection::default() };
            let options = ReplayOptions::new(ReplayData::Absent);
            check(&trace, &ReplayOptions { selection: Some(&selection), ..options }, &mut all);
        }
    }
    assert!(AccessKind::ALL.iter().all(|kind| all[kind] > 500), "{all:?}");
    assert!(all[&AccessKind::Load] > 10_000, "{all:?}");
}

/// The replay counts such atomics apart.
#[test]
fn wavefronts_of_atomics_that_share_a_word_are_unknown() {
    let lines = [
        "0010 ffffffff 1 R2 ATOMS.ADD 2 R4 R6 4 1 0x100 0",
        "0020 ffffffff 1 R2 ATOMS.ADD 2 R4 R6 4 1 0x100 8",
    ];
    let trace = open(&import_bytes(grouped(3, "", &lines)).unwrap());
    let options = ReplayOptions::new(ReplayData::Absent);
    let mut executor = AccessExecutor::new(&trace, &options).unwrap();
    let block = trace.block(&trace.blocks()[0]).unwrap();
    let mut wavefronts = |i| {
        let access = executor.execute(&block, &block.record(i).unwrap()).unwrap();
        (access.kind, access.costs.wavefronts())
    };
    assert_eq!(wavefronts(0), (AccessKind::Atomic, None));
    assert_eq!(wavefronts(1), (AccessKind::Atomic, Some(2)));
    let shared = replay(&trace, &options).unwrap().counts.atomics.shared.unwrap();
    assert_eq!((shared.accesses, shared.wavefronts.sum, shared.unknown), (1, 2, 1));
    check(&trace, &options, &mut BTreeMap::new());
}

#[test]
fn a_copy_has_a_space_for_each_side() {
    let lines = [
        "0010 ffffffff 0 LDGSTS.E.128 1 R4 16 1 0x100 16",
        "0010 ffffffff 0 LDGSTS.E.128 1 R4 16 1 0x7f0000001000 64",
    ];
    let trace = open(&import_bytes(grouped(3, "", &lines)).unwrap());
    let options = ReplayOptions::new(ReplayData::Fill(Fill::Address));
    let mut executor = AccessExecutor::new(&trace, &options).unwrap();
    let block = trace.block(&trace.blocks()[0]).unwrap();
    let mut sides = Vec::new();
    for i in 0..2 {
        let access = executor.execute(&block, &block.record(i).unwrap()).unwrap();
        sides.push((access.space, access.costs.sectors(), access.costs.wavefronts()));
        assert_eq!((access.kind, executor.values(0)), (AccessKind::Copy, None));
    }
    assert_eq!(sides, [(RowSpace::Shared, None, Some(4)), (RowSpace::Global, Some(32), None)]);
    check(&trace, &options, &mut BTreeMap::new());
}

#[test]
fn values_are_those_that_the_replay_digests() {
    let trace = open(&write(&random_items(25, 3000)));
    let options = ReplayOptions::new(ReplayData::Fill(Fill::Address));
    let mut executor = AccessExecutor::new(&trace, &options).unwrap();
    let mut digest = 0u64;
    for raw in trace.blocks() {
        let block = trace.block(raw).unwrap();
        for i in 0..raw.records as usize {
            let record = block.record(i).unwrap();
            let Some(load) = executor.execute(&block, &record) else { continue };
            let number = raw.first_instruction + u64::from(record.index);
            for register in 0..4 {
                let Some(values) = executor.values(register) else { continue };
                for lane in load.executing {
                    // docs/traces.md, "The digest".
                    let place = (number << 13) + ((lane as u64) << 8) + register as u64;
                    let term = warpload::memory::mix(place).wrapping_add(values[lane].into());
                    digest = digest.wrapping_add(warpload::memory::mix(term));
                }
            }
        }
    }
    assert_eq!(replay(&trace, &options).unwrap().digest, Some(Digest(digest)));
}

/// Pairs of lanes with one address take a wavefront for two groups where SM 7.0 to 7.5 are asked for, in a replay as in
/// `shared_wavefronts`; such a replay is another one for shards.
#[test]
fn pairs_are_merged_if_that_is_asked_for() {
    let addresses: String = (0..32).map(|lane| format!(" {:#x}", 0x100 + lane / 2 * 16)).collect();
    let line = format!("0010 ffffffff 1 R2 LDS.128 1 R6 16 0{addresses}");
    let trace = open(&import_bytes(grouped(3, "", &[&line])).unwrap());
    let plain = ReplayOptions::new(ReplayData::Absent);
    let merging =
        ReplayOptions { shared_rules: SharedRules::default().merging_pairs(true), ..plain };
    for (options, wavefronts) in [(plain, 4), (merging, 2)] {
        let shared = replay(&trace, &options).unwrap().counts.loads.shared.unwrap();
        assert_eq!((shared.accesses, shared.wavefronts.sum, shared.conflicts), (1, wavefronts, 0));
        check(&trace, &options, &mut BTreeMap::new());
    }
    assert_ne!(plain.identity(trace.content_hash()), merging.identity(trace.content_hash()));
}
