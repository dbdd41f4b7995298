//! Summaries under the keys of the independent models whose counts `tests/data/` has: loads by themselves, and what is
//! not a load as skipped.

use serde_json::{Map, Value, json};
use warpload_replay::{
    AccessCounts, AccessFault, AccessKind, Row, RowSpace, SharedCounts, Summary, TraceCounts,
};

/// The counts of a summary under the keys of the models, without footprints.
pub(crate) fn of_model(summary: &Summary) -> Value {
    let rows = |kinds: &[&str]| -> Vec<Value> {
        let rows = summary.rows.iter().filter(|row| kinds.contains(&row.kind.name()));
        rows.map(row).collect()
    };
    let mut all = counts(&summary.counts, summary.rows.iter());
    all["per_pc"] = json!(rows(&["load"]));
    all["per_pc_stores"] = json!(rows(&["store", "atomic", "reduction"]));
    all["per_pc_copies"] = json!(copied(summary));
    all["digest"] = json!(summary.digest);
    all["complete"] = json!(summary.complete);
    all["notes"] = json!(summary.notes);
    let is_load = |fault: &&AccessFault| {
        let mut loads = summary.rows.iter().filter(|row| row.kind == AccessKind::Load);
        loads.any(|row| (row.pc, &row.kernel) == (fault.pc, &fault.kernel))
    };
    let faults: Vec<&AccessFault> = summary.first_faults.iter().filter(is_load).collect();
    all["first_faults"] = of_records(json!(faults));
    all["first_mismatches"] = of_records(json!(summary.first_mismatches));
    all["kernels"] = summary
        .launches
        .iter()
        .map(|launch| {
            let rows = summary.rows.iter().filter(|row| row.launch == launch.launch);
            let mut counts = counts(&launch.counts, rows);
            counts["name"] = json!(launch.kernel);
            counts
        })
        .collect();
    all
}

/// The models name the instruction's index `record`.
fn of_records(mut list: Value) -> Value {
    for one in list.as_array_mut().unwrap() {
        let one = one.as_object_mut().unwrap();
        let number = one.remove("instruction").unwrap();
        one.insert("record".to_owned(), number);
    }
    list
}

/// The footprint of loads: of a replay that selects nothing else.
pub(crate) fn add_footprints(all: &mut Value, of_loads: &Summary) {
    all["footprint"] = json!(of_loads.counts.footprint);
    for (kernel, launch) in
        all["kernels"].as_array_mut().unwrap().iter_mut().zip(&of_loads.launches)
    {
        kernel["footprint"] = json!(launch.counts.footprint);
    }
}

/// Copies. The counts of a side that the trace does not have are null.
fn copies<'r>(counts: &AccessCounts, rows: impl Iterator<Item = &'r Row>) -> Value {
    let is_none = counts.accesses == 0;
    let bytes = rows
        .filter(|row| row.kind == AccessKind::Copy && row.space == RowSpace::Global)
        .map(|row| row.counts.bytes)
        .sum::<u64>();
    let global = counts.global.unwrap_or_default();
    let shared = counts.shared.as_deref().copied().unwrap_or_default();
    let of_global = |number: u64| (is_none || global.accesses > 0).then_some(number);
    let of_shared = |number: u64| (is_none || shared.accesses > 0).then_some(number);
    json!({
        "records": counts.accesses,
        "lanes": counts.lanes,
        "bytes": of_global(bytes),
        "sectors": of_global(global.sectors.sum),
        "ideal_sectors": of_global(global.ideal_sectors),
        "wavefronts": of_shared(shared.wavefronts.sum),
        "conflicts": of_shared(shared.conflicts),
    })
}

fn counts<'r>(counts: &TraceCounts, rows: impl Iterator<Item = &'r Row>) -> Value {
    let TraceCounts { loads, stores, atomics, reductions, .. } = counts;
    let global = loads.global.unwrap_or_default();
    let shared = loads.shared.as_deref().copied().unwrap_or_default();
    let local = loads.local.as_deref().copied().unwrap_or_default();
    let constant = loads.constant.as_deref().copied().unwrap_or_default();
    let SharedCounts { ideal_wavefronts, conflicts, .. } = shared;
    let transfers = counts.transfers;
    let traffic = |of: &[&AccessCounts]| {
        let sum = |number: fn(&AccessCounts) -> u64| of.iter().map(|of| number(of)).sum::<u64>();
        json!({
            "count": sum(|of| of.accesses),
            "lanes": sum(|of| of.lanes),
            "bytes": sum(|of| of.bytes),
            "sectors": sum(|of| of.global.unwrap_or_default().sectors.sum),
            "ideal_sectors": sum(|of| of.global.unwrap_or_default().ideal_sectors),
        })
    };
    let mut by_space =
        json!({ "global": 0, "local": 0, "shared": 0, "constant": 0, "unresolved": 0 });
    add(&mut by_space, json!(loads.by_space));
    let mut uniform = json!({ "broadcast": 0, "divergent": 0 });
    add(&mut uniform, json!(loads.uniform));
    let by_opcode: Map<String, Value> = counts
        .by_opcode
        .iter()
        .filter(|(opcode, _)| opcode.starts_with("LD") && !opcode.starts_with("LDGSTS"))
        .map(|(opcode, accesses)| (opcode.to_string(), json!(accesses)))
        .collect();
    json!({
        "records": counts.instructions,
        "loads": loads.accesses,
        "skipped": {
            "store": stores.accesses,
            "atomic": atomics.accesses + reductions.accesses,
            "other": counts.others + counts.copies.accesses,
            "not_replayed": counts.not_replayed,
        },
        "lanes": loads.lanes,
        "bytes": loads.bytes,
        "by_opcode": by_opcode,
        "by_space": by_space,
        "sectors": global.sectors.sum,
        "lines": global.lines,
        "ideal_sectors": global.ideal_sectors,
        "lane_faults": loads.lane_faults,
        "uniform": uniform,
        "unattributable": loads.unattributable,
        "ldgsts": copies(&counts.copies, rows),
        "tma": {
            "records": transfers.instructions,
            "addresses": transfers.addresses,
            "bytes": transfers.bytes,
        },
        "width_disagreements": loads.width_disagreements,
        "valued_loads": loads.values.accesses,
        "checked": loads.values.checked,
        "mismatches": loads.values.mismatches,
        "checked_words": loads.values.checked_words,
        "mismatched_words": loads.values.mismatched_words,
        "shared": {
            "loads": shared.accesses,
            "wavefronts": shared.wavefronts.sum,
            "ideal_wavefronts": ideal_wavefronts,
            "conflicts": conflicts,
        },
        "local": { "loads": local.accesses, "sectors": local.sectors, "ideal_sectors": local.ideal_sectors },
        "constant": { "loads": constant.accesses, "addresses": constant.addresses },
        "stores": traffic(&[stores]),
        "atomics": traffic(&[atomics, reductions]),
    })
}

fn add(to: &mut Value, from: Value) {
    for (key, value) in from.as_object().unwrap() {
        to[key] = value.clone();
    }
}

fn row(row: &Row) -> Value {
    let counts = &row.counts;
    let sectors = counts.global.unwrap_or_default().sectors;
    json!({
        "kernel": row.kernel,
        "pc": row.pc,
        "opcode": row.opcode,
        "loads": counts.accesses,
        "lanes": counts.lanes,
        "sectors": {
            // Where the addresses are unknown, the models count none.
            "min": if counts.unattributable > 0 { 0 } else { sectors.min() },
            "mean": mean(sectors.sum, counts.accesses),
            "max": sectors.max,
        },
        "all_sectors": sectors.sum,
        "ideal_sectors": counts.global.unwrap_or_default().ideal_sectors,
        "lane_faults": counts.lane_faults,
        "shared": counts.shared.as_ref().map(|shared| if shared.unknown > 0 {
            json!({
                "loads": shared.accesses + shared.unknown, "wavefronts": null, "conflicts": null,
                "ideal_wavefronts": null,
            })
        } else { json!({
            "loads": shared.accesses,
            "wavefronts": {
                "min": shared.wavefronts.min(),
                "mean": mean(shared.wavefronts.sum, shared.accesses),
                "max": shared.wavefronts.max,
            },
            "ideal_wavefronts": shared.ideal_wavefronts,
            "conflicts": shared.conflicts,
        }) }),
        "local": counts.local.as_ref().map(|local| json!({
            "loads": local.accesses, "sectors": local.sectors, "ideal_sectors": local.ideal_sectors,
        })),
        "constant": counts.constant.as_ref().map(|constant| json!({
            "loads": constant.accesses, "addresses": constant.addresses,
        })),
    })
}

/// Copies by program counter: the accesses of the global side, and the cost of both.
fn copied(summary: &Summary) -> Vec<Value> {
    let mut rows: Vec<Value> = Vec::new();
    // The models have no row for copies without lanes.
    let is_copied = |row: &&Row| row.kind == AccessKind::Copy && row.counts.lanes > 0;
    for one in summary.rows.iter().filter(is_copied) {
        let is_same = |known: &&mut Value| {
            (&known["kernel"], &known["pc"], &known["opcode"])
                == (&json!(one.kernel), &json!(one.pc), &json!(one.opcode))
        };
        let side = row(one);
        let Some(known) = rows.iter_mut().find(is_same) else {
            let mut side = side;
            let global = one.counts.global.unwrap_or_default();
            side["loads"] = json!(global.accesses);
            side["sectors"]["mean"] = json!(mean(global.sectors.sum, global.accesses));
            if one.space == RowSpace::Shared {
                side["lanes"] = json!(0);
            }
            rows.push(side);
            continue;
        };
        // The global side comes first.
        known["shared"] = side["shared"].clone();
    }
    rows
}

fn mean(sum: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { sum as f64 / of as f64 }
}
