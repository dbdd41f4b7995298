//! The samples in `traces/`: the replay of the generic loads agrees with the values in the trace, which the literal
//! executor computed; traces of other tools can be read.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used)]

use std::fs;

use serde_json::Value;
use warpload::machine::Machine;
use warpload::memory::{AddressMap, Window};
use warpload_replay::{ReplayData, ReplayOptions, Summary, replay};
use warpload_suite::image;
use warpload_trace::BinaryTrace;

const TRACE: &str = "generic.wlt";
const MANIFEST: &str = "generic.image.json";
const BYTES: &str = "generic.image.bin";

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

/// A replay by the fast executor finds the values in the trace, which the literal executor wrote.
#[test]
fn a_replay_finds_what_the_literal_executor_found() {
    let machine = image::open(&sample(MANIFEST)).unwrap();
    assert_eq!(machine.memory.map().shared(), Window::DEFAULT_SHARED);
    assert_eq!(machine.memory.map(), &AddressMap::default());
    let summary = summary(&machine);
    let found = &summary.counts;
    let loads = &found.loads;
    assert_eq!((found.instructions, loads.accesses, loads.lanes), (624, 306, 3779));
    let faults = &loads.lane_faults;
    let faults = [faults.outside_window, faults.outside_allocation, faults.misaligned_address];
    assert_eq!(faults, [101, 94, 442]);
    assert_eq!((loads.uniform.broadcast, loads.uniform.divergent), (22, 47));
    assert_eq!((loads.values.checked, loads.values.mismatches), (280, 0));
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
