//! Drawn vectors are reproducible and correct, and show most flags.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};
use warpload::encoding::Sm;
use warpload::load::Executor;
use warpload_suite::flags::{Flag, flags_of};
use warpload_suite::generate::{self, GenerateError, Generator};
use warpload_suite::vector::Vector;

fn sm(name: &str) -> Sm {
    name.parse().unwrap()
}

fn flag(name: &str) -> &'static Flag {
    Flag::named(name).unwrap()
}

fn lines(instruction: &str, sm: Sm, seed: u64, count: u64) -> Vec<String> {
    let generator = Generator::new(instruction, sm, seed).unwrap();
    (0..count).map(|number| generator.line(number).unwrap()).collect()
}

/// The names of the flags that the literal executor finds in a line's vector.
fn flags(line: &str) -> BTreeSet<&'static str> {
    let vector = Vector::from_json(line).unwrap();
    let (_, outcome) = vector.run(Executor::Reference).unwrap();
    flags_of(&vector, &outcome).iter().map(|flag| flag.name).collect()
}

/// The first 16 digits of the SHA-256 of 50 lines of each instruction of an SM. A change of the generator, or of the
/// table of flags, changes them, and they are recorded again. A change of the executors must not.
const DIGESTS: [&str; 5] = [
    "bb940b9ebd185c28",
    "e0bf9f0acfec8bcf",
    "cff6fc9e457fa78b",
    "99e8aafa2780b890",
    "cd0098e54c7b8d98",
];

#[test]
fn a_seed_makes_the_same_bytes() {
    let digest = |name| {
        let mut hasher = Sha256::new();
        for instruction in generate::instructions(sm(name)) {
            lines(instruction, sm(name), 0, 50).iter().for_each(|line| hasher.update(line));
        }
        hasher.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let made = ["50", "70", "80", "90", "120"].map(digest);
    assert_eq!(made, DIGESTS);
}

#[test]
fn a_case_depends_on_its_seed_and_number_alone() {
    let (few, more) = (lines("lds", Sm::SPA5, 3, 10), lines("LDS", Sm::SPA5, 3, 40));
    assert_eq!(few, more[..10]);
    let generator = Generator::new("LDS", Sm::SPA5, 3).unwrap();
    assert_eq!(generator.line(39).unwrap(), more[39]);
    assert_ne!(lines("LDS", Sm::SPA5, 4, 40)[39], more[39]);
    // Numbers have no limit.
    assert!(generator.line(u64::MAX).unwrap().contains("-18446744073709551615"));
}

/// Every line is a vector with a unique id, both executors pass it, and its flags are the ones computed from it.
#[test]
fn lines_are_vectors_that_both_executors_pass() {
    for sm in Sm::all() {
        for instruction in generate::instructions(sm) {
            let mut ids = BTreeSet::new();
            for line in lines(instruction, sm, 1, 20) {
                let vector =
                    Vector::from_json(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                for executor in [Executor::Reference, Executor::Fast] {
                    assert_eq!(vector.check(executor).unwrap(), [""; 0], "{line}");
                }
                let (_, outcome) = vector.run(Executor::Reference).unwrap();
                let flags = flags_of(&vector, &outcome);

                let json: serde_json::Value = serde_json::from_str(&line).unwrap();
                assert!(ids.insert(json["id"].as_str().unwrap().to_owned()));
                let names: Vec<&str> = flags.iter().map(|flag| flag.name).collect();
                assert_eq!(json["flags"], serde_json::json!(names));
                assert_eq!(json["source"], "document");
                let decision = flags.is_decision(sm.has_wide_words());
                assert_eq!(json.get("decision"), decision.then_some(&true.into()), "{line}");
                assert_eq!(json["name"], vector.instruction.text().as_str());
                assert_eq!(vector.instruction.mnemonic(), instruction);
            }
        }
    }
}

/// Nothing aims at a flag, so that a few rare ones are missing.
#[test]
fn random_vectors_show_nearly_all_flags() {
    for (instruction, name, least) in [("LD", "50", 97), ("LDG", "100", 90), ("LDC", "80", 55)] {
        let lines = lines(instruction, sm(name), 0, 2_000);
        let shown: BTreeSet<&str> = lines.iter().flat_map(|line| flags(line)).collect();
        assert!(shown.len() >= least, "{instruction}: {}: {shown:?}", shown.len());
    }
}

#[test]
fn flags_that_are_asked_for_are_shown() {
    for (instruction, name, wanted) in [
        ("LD", "50", ["misaligned-reported", "guarded-off"]),
        ("LDG", "90", ["descriptor", "misaligned"]),
        ("LDS", "75", ["base-beyond-limit", "register-limit"]),
        ("LDSM", "80", ["transposed", "matrix-fault"]),
    ] {
        let generator = Generator::new(instruction, sm(name), 9).unwrap();
        let generator = generator.with_flags(&wanted.map(flag));
        for number in 0..5 {
            let shown = flags(&generator.line(number).unwrap());
            assert!(wanted.iter().all(|name| shown.contains(name)), "{instruction}: {shown:?}");
        }
    }
}

#[test]
fn flags_that_cannot_be_are_errors() {
    // A flag of another instruction, and flags that exclude each other.
    let wanted = [flag("predicate-argument")];
    let generator = Generator::new("LDG", Sm::SPA5, 0).unwrap().with_flags(&wanted);
    let error = generator.line(0).unwrap_err();
    assert_eq!(error.to_string(), "no LDG of sm_50 with `predicate-argument` in 10000 draws");
    let wanted = [flag("misaligned"), flag("no-lane")];
    let generator = Generator::new("LDG", Sm::SPA5, 0).unwrap().with_flags(&wanted);
    assert!(matches!(generator.line(0), Err(GenerateError::NotFound { .. })));
    for (name, of) in [("LDX", "50"), ("ULDC", "50"), ("LDTM", "100"), ("LDSM", "70"), ("", "90")] {
        let error = Generator::new(name, sm(of), 0).unwrap_err();
        assert!(matches!(error, GenerateError::UnknownInstruction { .. }), "{error}");
    }
}
