//! Where lanes rejoin: kernels that store the mask of active lanes at numbered points.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;
use warpload_ptx::launch::KernelLaunch;

use super::unpacked;
use crate::machine::launch;

/// A word that no lane has written.
const UNTOUCHED: u32 = 0xdead_beef;

/// The points of a kernel at which the GPU stored other words. A point has a row with a word for each thread.
fn different_points(ours: &[u32], block: usize, measured: &[Value]) -> String {
    let row = |words: &[u32]| {
        let text = words.iter().map(|word| match *word {
            UNTOUCHED => ".".to_owned(),
            word => format!("{word:08x}"),
        });
        text.collect::<Vec<_>>().join(" ")
    };
    let rows = ours.chunks(block).map(row).zip(measured).enumerate();
    let different = rows.filter(|(_, (ours, measured))| measured.as_str() != Some(ours));
    different.map(|(point, _)| format!(" {point}")).collect()
}

/// Where the GPU does otherwise, the table of `flow.txt` has the kernel, the level and the points, and no others.
#[test]
fn lanes_rejoin_as_on_an_h100() {
    let text =
        String::from_utf8(unpacked(include_bytes!("../../h100/flow.jsonl.xz"))).expect("text");
    let (mut table, mut equal) = (String::new(), [0, 0]);
    for line in text.lines() {
        let kernel: Value = serde_json::from_str(line).expect("a kernel");
        let number = |key: &str| kernel[key].as_u64().expect("a number") as usize;
        let (name, block) = (kernel["name"].as_str().expect("a name"), number("block"));
        let untouched = UNTOUCHED.to_le_bytes().repeat(block * number("points"));
        let threads = (0..block as u32).flat_map(u32::to_le_bytes).collect();
        let source = kernel["ptx"].as_str().expect("a module");
        let options = KernelLaunch::new([1; 3], [block as u32, 1, 1]);
        let launched = launch(source, options, &[untouched, threads]);
        let faults: BTreeSet<_> =
            launched.result.faults.iter().map(|fault| fault.kind.name()).collect();
        for level in ["O0", "O1", "O3"] {
            let measured = &kernel[level];
            let Some(rows) = measured["out"].as_array() else {
                // It did not end.
                assert_eq!(faults, ["hang"].into(), "{name}");
                continue;
            };
            assert!(faults.is_empty(), "{name}: {faults:?}");
            let yields = measured["yields"] == true;
            let points = different_points(&launched.words(0), block, rows);
            if points.is_empty() {
                equal[usize::from(yields)] += 1;
            } else {
                let code = if yields { "yields" } else { "-" };
                writeln!(table, "{name} {level} {code}{points}").expect("a text");
            }
        }
    }
    let known = include_str!("../../h100/flow.txt").lines();
    let known: BTreeSet<&str> =
        known.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let found: BTreeSet<&str> = table.lines().collect();
    let differences: Vec<_> = found.symmetric_difference(&known).collect();
    assert!(differences.is_empty(), "{differences:#?}");
    // Without YIELD, and with it.
    assert_eq!(equal, [470, 9]);
}
