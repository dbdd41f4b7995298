//! Faults of loads on an H100, and loads that the project refuses; `tests/data/README.md` describes the files.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use warpload::load::{Executor, LaneFaultKind, Outcome};
use warpload_suite::vector::Vector;

use crate::vectors::unpacked;

fn kind_of(outcome: &Outcome) -> &'static str {
    let faults = &outcome.lane_faults;
    let mut kinds = faults.iter().map(|fault| fault.kind());
    match outcome.warp_fault {
        Some(_) => "illegal_instruction",
        None if kinds.any(|kind| kind == LaneFaultKind::MisalignedAddress) => "misaligned_address",
        None if !faults.is_empty() => "illegal_address",
        None => "values",
    }
}

/// Where the GPU does otherwise, the case is in the table of `h100-decisions.txt`, and in no other.
#[test]
fn decisions_are_measured() {
    let text = unpacked("h100-decisions");
    let mut rows: BTreeMap<String, u32> = BTreeMap::new();
    for line in text.lines() {
        let mut case: Value = serde_json::from_str(line).unwrap();
        let measured = case.as_object_mut().unwrap().remove("measured").unwrap();
        let measured = measured.as_str().unwrap_or("values").to_owned();
        let name = case["name"].as_str().unwrap();
        let ours = match Vector::from_json(&case.to_string()) {
            Ok(vector) => {
                let outcomes = [Executor::Reference, Executor::Fast].map(|executor| {
                    vector.run(executor).map_or("refused", |(_, outcome)| kind_of(&outcome))
                });
                assert_eq!(outcomes[0], outcomes[1], "{name}");
                outcomes[0]
            }
            Err(error) => {
                assert!(error.to_string().ends_with("is no load"), "{name}: {error}");
                "refused"
            }
        };
        let is_outside = measured == "invalid_address_space" && ours == "illegal_address";
        if measured != ours && !is_outside {
            let kind = name.split(" #").next().unwrap();
            *rows.entry(format!("{kind} | {measured} | {ours}")).or_default() += 1;
        }
    }
    let rows: BTreeSet<String> =
        rows.iter().map(|(row, cases)| format!("{row} | {cases}")).collect();
    let known = std::fs::read_to_string("../tests/data/h100-decisions.txt").unwrap();
    let known = known.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert_eq!(rows, known.map(str::to_owned).collect());
}
