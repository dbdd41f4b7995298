//! The kinds of loads of SM 7.0 and later.

use std::collections::BTreeMap;

use warpload::encoding::{Instruction, LoadDestination, LoadSize};
use warpload::load::{ExecuteError, Outcome};

use crate::executors::both;
use crate::executors::choices::Random;
use crate::executors::loads::{Case, NUMBERS};

/// Each kind of load and its least count among 12,000 loads, half of the actual count.
const WANTED: &[(&str, u32)] = &[
    ("LD, both: all lanes load", 26),
    ("LD, both: some lanes load", 24),
    ("LD, no register: all lanes load", 6),
    ("LD, register: all lanes load", 118),
    ("LD, register: some lanes load", 107),
    ("LD, uniform register: all lanes load", 5),
    ("LD: misaligned_register", 56),
    ("LD: no lane loads", 126),
    ("LD: nobody executes", 75),
    ("LD: out_of_range_register", 45),
    ("LD: refused", 54),
    ("LDC, no register: all lanes load", 7),
    ("LDC, register: all lanes load", 146),
    ("LDC, register: some lanes load", 104),
    ("LDC: no lane loads", 100),
    ("LDC: nobody executes", 61),
    ("LDC: out_of_range_register", 23),
    ("LDC: refused", 116),
    ("LDCU 256: all lanes load", 11),
    ("LDCU: all lanes load", 53),
    ("LDCU: misaligned_register", 97),
    ("LDCU: no lane loads", 39),
    ("LDCU: nobody executes", 63),
    ("LDCU: out_of_range_register", 2),
    ("LDCU: refused", 202),
    ("LDG 256, both: all lanes load", 6),
    ("LDG 256, both: some lanes load", 7),
    ("LDG 256, register: all lanes load", 3),
    ("LDG 256, register: some lanes load", 3),
    ("LDG 256, uniform register: all lanes load", 2),
    ("LDG, both: all lanes load", 16),
    ("LDG, both: some lanes load", 10),
    ("LDG, no register: all lanes load", 1),
    ("LDG, register: all lanes load", 76),
    ("LDG, register: some lanes load", 70),
    ("LDG, uniform register: all lanes load", 3),
    ("LDG: misaligned_register", 319),
    ("LDG: no lane loads", 252),
    ("LDG: nobody executes", 115),
    ("LDG: out_of_range_register", 46),
    ("LDG: refused", 99),
    ("LDGSTS: refused", 122),
    ("LDL, both: all lanes load", 57),
    ("LDL, both: some lanes load", 58),
    ("LDL, no register: all lanes load", 20),
    ("LDL, register: all lanes load", 163),
    ("LDL, register: some lanes load", 145),
    ("LDL, uniform register: all lanes load", 9),
    ("LDL: misaligned_register", 21),
    ("LDL: no lane loads", 98),
    ("LDL: nobody executes", 89),
    ("LDL: out_of_range_register", 28),
    ("LDL: refused", 20),
    ("LDS, both: all lanes load", 67),
    ("LDS, both: some lanes load", 77),
    ("LDS, no register: all lanes load", 14),
    ("LDS, register: all lanes load", 138),
    ("LDS, register: some lanes load", 113),
    ("LDS, uniform register: all lanes load", 9),
    ("LDS: misaligned_register", 23),
    ("LDS: no lane loads", 115),
    ("LDS: nobody executes", 93),
    ("LDS: out_of_range_register", 34),
    ("LDS: refused", 10),
    ("LDSM transposed, both: all lanes load", 12),
    ("LDSM transposed, both: some lanes do not execute", 7),
    ("LDSM transposed, both: some lanes load", 22),
    ("LDSM transposed, no register: all lanes load", 0),
    ("LDSM transposed, no register: some lanes do not execute", 1),
    ("LDSM transposed, no register: some lanes load", 1),
    ("LDSM transposed, register: all lanes load", 13),
    ("LDSM transposed, register: some lanes do not execute", 6),
    ("LDSM transposed, register: some lanes load", 21),
    ("LDSM transposed, uniform register: all lanes load", 4),
    ("LDSM transposed, uniform register: some lanes do not execute", 0),
    ("LDSM transposed, uniform register: some lanes load", 1),
    ("LDSM, both: all lanes load", 64),
    ("LDSM, both: some lanes do not execute", 46),
    ("LDSM, both: some lanes load", 122),
    ("LDSM, no register: all lanes load", 6),
    ("LDSM, no register: some lanes do not execute", 4),
    ("LDSM, no register: some lanes load", 9),
    ("LDSM, register: all lanes load", 84),
    ("LDSM, register: some lanes do not execute", 44),
    ("LDSM, register: some lanes load", 103),
    ("LDSM, uniform register: all lanes load", 9),
    ("LDSM, uniform register: some lanes do not execute", 3),
    ("LDSM, uniform register: some lanes load", 12),
    ("LDSM: misaligned_register", 60),
    ("LDSM: no lane loads", 9),
    ("LDSM: nobody executes", 49),
    ("LDSM: out_of_range_register", 30),
    ("LDSM: refused", 326),
    ("LDTM: refused", 56),
    ("ULDC: all lanes load", 112),
    ("ULDC: no lane loads", 104),
    ("ULDC: nobody executes", 69),
    ("ULDC: out_of_range_register", 0),
    ("ULDC: refused", 113),
];

#[test]
fn every_kind_of_wide_load_is_generated() {
    let mut random = Random(1);
    let mut counts = BTreeMap::<String, u32>::new();
    for _ in 0..12_000 {
        let numbers: Vec<u64> = (0..NUMBERS).map(|_| random.word()).collect();
        let Some(case) = Case::wide(&numbers) else { continue };
        let [fast, literal] = both(&case);
        assert_eq!(fast, literal, "{} on {:?}", case.instruction, case.machine);
        for kind in kinds(&case, &fast.1) {
            *counts.entry(kind).or_default() += 1;
        }
    }
    for &(kind, least) in WANTED {
        let count = counts.get(kind).copied().unwrap_or(0);
        assert!(count >= least, "{kind}: {count}, expected at least {least}; {counts:#?}");
    }
    let wanted = |kind: &String| WANTED.iter().any(|(wanted, _)| wanted == kind);
    let missing: Vec<_> = counts.iter().filter(|(kind, _)| !wanted(kind)).collect();
    assert!(missing.is_empty(), "not in the table: {missing:#?}");
}

/// The load, and how its lanes find the memory.
fn name(load: &Instruction) -> String {
    let parts = load.parts();
    let size = match parts.size {
        Ok(LoadSize::Bits256) => " 256",
        Ok(LoadSize::Matrices { transposed: true, .. }) => " transposed",
        _ => "",
    };
    let registers = match (parts.destination, parts.address.base.is_zero(), parts.address.uniform) {
        (LoadDestination::Uniform(_) | LoadDestination::UniformHalves { .. }, ..) => "",
        (_, true, None) => ", no register",
        (_, false, None) => ", register",
        (_, true, Some(_)) => ", uniform register",
        (_, false, Some(_)) => ", both",
    };
    format!("{}{size}{registers}", load.mnemonic())
}

fn kinds(case: &Case, outcome: &Result<Outcome, ExecuteError>) -> Vec<String> {
    let load = &case.instruction;
    let of = |kind: &str| vec![format!("{}: {kind}", name(load))];
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(ExecuteError::PartialWarp(_)) => return of("some lanes do not execute"),
        Err(_) => return vec![format!("{}: refused", load.mnemonic())],
    };
    if outcome.executing.is_empty() {
        return vec![format!("{}: nobody executes", load.mnemonic())];
    }
    if let Some(fault) = outcome.warp_fault {
        return vec![format!("{}: {}", load.mnemonic(), fault.name())];
    }
    let misaligned = case.machine.misaligned;
    let zeroed = outcome.lane_faults.iter().filter(|fault| fault.kind().zeroes(misaligned)).count();
    if zeroed == 0 {
        of("all lanes load")
    } else if zeroed < outcome.executing.count() as usize {
        of("some lanes load")
    } else {
        vec![format!("{}: no lane loads", load.mnemonic())]
    }
}
