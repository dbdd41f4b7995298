//! What single loads cost adds up to what a replay counts.

use std::collections::BTreeMap;

use warpload::memory::{AddressMap, Fill, MemoryBuilder};
use warpload_replay::{
    AccessCounts, AccessKind, Digest, LoadCosts, LoadExecutor, ReplayData, ReplayOptions,
    Selection, SharedRules, replay,
};
use warpload_trace::{BinaryTrace, OperationKind};

use crate::samples::{OPCODES, grouped, import_bytes, open, random_items, write};

/// Sums of the loads of one row.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    loads: u64,
    lanes: u64,
    faults: u64,
    /// Of global memory: sectors, ideal sectors.
    sectors: [u64; 2],
    /// Of shared memory: loads, wavefronts, ideal wavefronts.
    shared: [u64; 3],
    local: [u64; 3],
    /// Of constant memory: loads, addresses.
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
            loads: counts.accesses,
            lanes: counts.lanes,
            faults: counts.lane_faults.all(),
            sectors: [global.sectors.sum, global.ideal_sectors],
            shared: [shared.accesses, shared.wavefronts.sum, shared.ideal_wavefronts],
            local: [local.accesses, local.sectors, local.ideal_sectors],
            constant: [constant.accesses, constant.addresses],
            lines: global.lines,
        }
    }

    fn add(&mut self, costs: &LoadCosts) {
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

/// Executes every load alone, and compares the sums with those of a replay.
fn check(trace: &BinaryTrace, options: &ReplayOptions<'_>) -> u64 {
    let mut executor = LoadExecutor::new(trace, options).unwrap();
    let (mut whole, mut rows) = (Sums::default(), BTreeMap::<_, Sums>::new());
    let mut has_values = false;
    for raw in trace.blocks() {
        let block = trace.block(raw).unwrap();
        for i in 0..raw.memory_records as usize {
            let record = block.record(i).unwrap();
            let Some(load) = executor.execute(&block, &record) else { continue };
            let operation = record.operation();
            assert_eq!(operation.kind, OperationKind::Load);
            let registers = operation.registers() as usize;
            let is_known = executor.values(0).is_some();
            assert_eq!(executor.values(registers - 1).is_some(), is_known);
            assert_eq!(executor.values(registers), None);
            has_values |= is_known;
            let key = (
                raw.kernel.into(),
                record.pc.into(),
                operation.opcode.to_string(),
                operation.bytes(),
            );
            let of_pc = rows.entry(key).or_default();
            for sums in [&mut whole, of_pc] {
                sums.loads += 1;
                sums.lanes += u64::from(load.executing.count());
                sums.faults += load.loaded.faults.iter().count() as u64;
                sums.add(&load.costs);
            }
        }
    }
    let summary = replay(trace, options).unwrap();
    let loads = &summary.counts.loads;
    assert_eq!(has_values, summary.digest.is_some() && loads.accesses > 0);
    assert_eq!(whole, Sums::of(loads));
    let of_loads = summary.rows.iter().filter(|row| row.kind == AccessKind::Load);
    let expected = of_loads.map(|row| {
        let key = (row.launch, row.pc.0, row.opcode.to_string(), row.access_bytes);
        (key, Sums::of(&row.counts))
    });
    assert_eq!(rows, expected.collect());
    loads.accesses
}

#[test]
fn single_loads_add_up_to_the_replay() {
    let memory = MemoryBuilder::new(AddressMap::default())
        .global(0, &[1; 1 << 20])
        .shared(&[2; 1 << 16])
        .build()
        .unwrap();
    let mut all = 0;
    for seed in 20..24 {
        let trace = open(&write(&random_items(seed, 6000)));
        for data in
            [ReplayData::Absent, ReplayData::Fill(Fill::Address), ReplayData::Image(&memory)]
        {
            all += check(&trace, &ReplayOptions::new(data));
        }
        let operations = &trace.contents().operations;
        let chosen = operations.iter().map(|one| &*one.opcode == OPCODES[0]).collect();
        let selection = Selection { operations: Some(chosen), ..Selection::default() };
        all += check(
            &trace,
            &ReplayOptions {
                selection: Some(&selection),
                ..ReplayOptions::new(ReplayData::Absent)
            },
        );
    }
    assert!(all > 10_000, "{all}");
}

#[test]
fn values_are_those_that_the_replay_digests() {
    let trace = open(&write(&random_items(25, 3000)));
    let options = ReplayOptions::new(ReplayData::Fill(Fill::Address));
    let mut executor = LoadExecutor::new(&trace, &options).unwrap();
    let mut digest = 0u64;
    for raw in trace.blocks() {
        let block = trace.block(raw).unwrap();
        for i in 0..raw.memory_records as usize {
            let record = block.record(i).unwrap();
            let Some(load) = executor.execute(&block, &record) else { continue };
            let number = raw.first_record + u64::from(record.index);
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
        check(&trace, &options);
    }
    assert_ne!(plain.identity(trace.content_hash()), merging.identity(trace.content_hash()));
}
