//! Loads that an H100 executed, word for word: `tests/data/README.md`.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use serde_json::Value;
use warpload::load::{Executor, LaneFaultKind, Outcome};
use warpload_suite::vector::Vector;

use crate::vectors::unpacked;

/// What both executors and the GPU did otherwise: the kind of case, the GPU's outcome, ours, and the number of cases.
/// docs/load-sm70.md has the reasons, under "Measured".
const DIFFERENT: &str = "";

fn outcome(run: &Result<Outcome, String>) -> String {
    let Ok(outcome) = run else { return "refused".to_owned() };
    let lanes =
        |is: fn(&LaneFaultKind) -> bool| outcome.lane_faults.iter().any(|fault| is(&fault.kind()));
    match outcome {
        _ if outcome.warp_fault.is_some() => "illegal_instruction",
        _ if lanes(|kind| matches!(kind, LaneFaultKind::MisalignedAddress)) => "misaligned_address",
        _ if !outcome.lane_faults.is_empty() => "illegal_address",
        _ => "values",
    }
    .to_owned()
}

#[test]
fn decisions_are_measured() {
    let text = unpacked("h100-decisions");
    let mut rows: BTreeMap<String, u32> = BTreeMap::new();
    for line in text.lines() {
        let mut case: Value = serde_json::from_str(line).unwrap();
        let measured = case.as_object_mut().unwrap().remove("measured").unwrap();
        let measured = measured.as_str().unwrap_or("values").to_owned();
        let vector = Vector::from_json(&case.to_string()).unwrap();
        let kind = vector.name.split(" #").next().unwrap().to_owned();
        let ours = [Executor::Reference, Executor::Fast].map(|executor| {
            outcome(
                &vector
                    .run(executor)
                    .map(|(_, outcome)| outcome)
                    .map_err(|error| error.to_string()),
            )
        });
        assert_eq!(ours[0], ours[1], "{}", vector.name);
        let is_outside = measured == "invalid_address_space" && ours[0] == "illegal_address";
        if measured != ours[0] && !is_outside {
            *rows.entry(format!("{kind} | {measured} | {}", ours[0])).or_default() += 1;
        }
    }
    let rows: String = rows.iter().map(|(row, cases)| format!("{row} | {cases}\n")).collect();
    assert_eq!(rows, DIFFERENT);
}
