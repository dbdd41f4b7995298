//! The samples in `traces/`: the generated one is up to date, and its replay agrees with the literal
//! executor; those of other tools can be read.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used)]

#[path = "../../../xtask/src/samples/generic/mod.rs"]
mod generic;

use std::fs;

use serde_json::Value;
use warpload::machine::Machine;
use warpload::memory::{AddressMap, Window};
use warpload_replay::{ReplayData, ReplayOptions, Summary, replay};
use warpload_suite::image;
use warpload_trace::BinaryTrace;

use generic::{BYTES, MANIFEST, TRACE, generate};

fn sample(name: &str) -> std::path::PathBuf {
    crate::common::file("traces").join(name)
}

/// Returns the JSON of a replay by the command, and the exit status.
fn replay_by_command(arguments: &[&str]) -> (Value, i32) {
    let mut command = crate::common::warpload();
    command.args(["replay", "--format", "json"]).args(arguments);
    let ran = crate::common::Ran::from(command.output().unwrap());
    let summary = serde_json::from_str(&ran.stdout);
    (summary.unwrap_or_else(|_| panic!("{}", ran.stderr)), ran.status)
}

fn summary(machine: &Machine) -> Summary {
    let trace = BinaryTrace::open(&sample(TRACE)).unwrap();
    let options = ReplayOptions::new(ReplayData::Image(&machine.memory));
    replay(&trace, &options).unwrap()
}

#[test]
fn the_generic_sample_is_as_generated() {
    for (name, bytes) in generate().unwrap().files {
        assert!(fs::read(sample(name)).unwrap() == bytes, "{name}: run `cargo xtask samples`");
    }
}

#[test]
fn the_generic_sample_covers_everything() {
    let kinds = generate().unwrap().counts.kinds;
    let mut wanted: Vec<String> = [
        "outside_window by Plg",
        "outside_window too high",
        "outside_allocation global",
        "outside_allocation local",
        "outside_allocation shared",
        "misaligned_address global",
        "misaligned_address local",
        "misaligned_address shared",
        "Broadcast global",
        "Broadcast global, misaligned",
        "Broadcast shared",
        "Broadcast shared, misaligned",
        "Divergent local",
        "Divergent local, misaligned",
        "no lane active",
        "one lane active",
        "some lanes active",
        "all lanes active",
        "guarded off",
    ]
    .map(str::to_owned)
    .into();
    for size in ["U8", "S8", "U16", "S16", "32", "64", "128", "U.128"] {
        wanted.extend(["Uniform", "Stride", "Deltas", "List"].map(|form| format!("{form} {size}")));
    }
    wanted.extend(["CA", "CG", "CI", "CV"].map(str::to_owned));
    let missing: Vec<_> = wanted.iter().filter(|kind| !kinds.contains(*kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The fast executor replays what the literal one recorded.
#[test]
fn a_replay_finds_what_the_literal_executor_found() {
    let counts = generate().unwrap().counts;
    let machine = image::open(&sample(MANIFEST)).unwrap();
    assert_eq!(machine.memory.map().shared(), Window::DEFAULT_SHARED);
    assert_eq!(machine.memory.map(), &AddressMap::default());
    let summary = summary(&machine);
    let found = &summary.counts;
    let loads = &found.loads;
    assert_eq!(loads.accesses, counts.loads);
    assert_eq!(found.instructions, counts.loads + counts.skipped);
    assert_eq!(loads.lanes, counts.lanes);
    let faults = &loads.lane_faults;
    let faults = [faults.outside_window, faults.outside_allocation, faults.misaligned_address];
    assert_eq!(faults, counts.lane_faults);
    assert_eq!(loads.uniform.broadcast, counts.broadcast);
    assert_eq!(loads.uniform.divergent, counts.divergent);
    assert_eq!((loads.values.checked, loads.values.mismatches), (counts.checked, 0));
    let space = &loads.by_space;
    for count in [
        loads.values.checked,
        space.global,
        space.local,
        space.shared,
        space.unresolved,
        found.stores.accesses,
        found.atomics.accesses + found.reductions.accesses,
        found.others,
        counts.broadcast,
        counts.divergent,
        faults[0],
        faults[1],
        faults[2],
    ] {
        assert!(count > 0, "{found:?}");
    }
    assert_eq!(summary.launches.len(), 3);

    let (by_command, status) = replay_by_command(&[
        sample(TRACE).to_str().unwrap(),
        "--image",
        sample(MANIFEST).to_str().unwrap(),
    ]);
    assert_eq!(by_command, serde_json::to_value(&summary).unwrap());
    assert_eq!(status, 0);
}

#[test]
fn one_changed_byte_of_the_image_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join(MANIFEST);
    fs::copy(sample(MANIFEST), &manifest).unwrap();
    let bytes = fs::read(sample(BYTES)).unwrap();
    let trace = sample(TRACE);
    let (trace, manifest) = (trace.to_str().unwrap(), manifest.to_str().unwrap());
    let replay = |changed: Option<usize>| {
        let mut bytes = bytes.clone();
        changed.iter().for_each(|at| bytes[*at] ^= 1);
        fs::write(folder.path().join(BYTES), bytes).unwrap();
        replay_by_command(&[trace, "--image", manifest])
    };
    let (whole, status) = replay(None);
    assert_eq!((&whole["loads"]["values"]["mismatches"], status), (&Value::from(0), 0));
    // The sixteen bytes at 0x10000040 and at the shared 0xfe000040: absolute loads read them.
    for read in [0x40, 0x4f, 3072 + 0x40] {
        let (changed, status) = replay(Some(read));
        assert_ne!(changed["digest"], whole["digest"], "byte {read}");
        assert!(changed["loads"]["values"]["mismatches"].as_u64() > Some(0), "byte {read}");
        assert!(!changed["first_mismatches"].as_array().unwrap().is_empty());
        assert_eq!(status, 1);
    }
}

/// The numbers were counted in the texts with grep and awk.
#[test]
fn samples_of_other_tools_are_read() {
    for (name, instructions, loads) in [
        ("bfs-v3-kernel-14.traceg", 1694, 128),
        ("btree-v5-kernel-1.traceg", 21832, 10408),
        ("vecadd-v3-sm61-head.trace.xz", 19985, 1281),
        ("samples.kernelslist.g", 1694 + 21832, 128 + 10408),
    ] {
        let path = sample(name);
        let (summary, status) = replay_by_command(&[path.to_str().unwrap(), "--fill", "address"]);
        assert_eq!(
            (&summary["instructions"], &summary["loads"]["accesses"]),
            (&instructions.into(), &loads.into())
        );
        assert!(summary["digest"].is_string());
        assert_eq!(status, 0, "{name}");
    }
}
