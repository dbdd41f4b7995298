//! Vectors that are drawn: always the same, right, and of every kind there is.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use warpload::encoding::{LoadSize, Sm};
use warpload::load::Executor;
use warpload_suite::flags::{Flag, flags_of};
use warpload_suite::generate::{self, GenerateError, Generator, lines};
use warpload_suite::vector::Vector;

const SPA5: [&str; 5] = ["LD", "LDG", "LDL", "LDS", "LDC"];

fn sm(name: &str) -> Sm {
    name.parse().unwrap()
}

fn flag(name: &str) -> &'static Flag {
    Flag::named(name).unwrap()
}

/// Returns the checksum of 300 lines with their ends.
fn checksum(instruction: &str, sm: Sm) -> String {
    let mut hasher = Sha256::new();
    for line in lines(instruction, sm, 0, 300).unwrap() {
        hasher.update(line.unwrap() + "\n");
    }
    hasher.finalize().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

/// Checksums of 300 vectors of seed 0. They change with the recipes and the table of flags, and are then
/// recorded again; a change of the executors must not change them.
const CHECKSUMS: &[(&str, &str, &str)] = &[
    ("LD", "50", "b0aa967ffc728e69a8b53ac0b1de6b1a8c0ac8fb4e19d9e41ac2462e278a7749"),
    ("LDG", "50", "14976854bdebd7f7c229a7dfdf9613c5ab7d4a59e5d918ea505d189094986ea1"),
    ("LDL", "50", "c1c6d18015b4740eccf62f10c985b019e8c228ba44a00e17eef012dbcc5d1504"),
    ("LDS", "50", "ca70652703cae18ad34cc463a37255f8ecf54a9f7b7c360b1d705ca1fe35a511"),
    ("LDC", "50", "2aeafc1992ef8a3a1d8545f9d667c11cec1b4a69880330792e4bd31cc8578115"),
    ("LD", "90", "fcc0b63360e4beca7aa5aac20fd19bbd63009e5810ba9fad8b52c0e83d7c69d9"),
    ("LDG", "100", "b1346fde88a5aa8e1c9bedac4f4f6e9c452c63d85e8cf96d10d7cbfed7adc544"),
    ("LDL", "80", "68cb996e0fa46e908fb40cea6a937bd22f13486b6f4f1920ec4aeae54dc5d4c1"),
    ("LDS", "75", "9aff0ca2e793eb2a0636e83b76e9e6eb347de6f9e509b44a92ff91c6c496e5e5"),
    ("LDC", "70", "fb1bb46fb6054a4f2b0223fbc647aee3641c7c868555f3152cd74114315996b0"),
    ("ULDC", "80", "ee49667c9f13b67b4055ec8d4cefe3fc23384442c537a6889a02cc86f7be4a9f"),
    ("LDCU", "120", "9b38caa4fe4173e05b7f27f6a292165e110bead5e46475139371b754ecec2638"),
    ("LDSM", "90", "7f805c8f13a9d3d76c9e1cbe7680db79bbb8352d9c6a3d0e34102c48da099a6c"),
];

#[test]
fn a_seed_makes_the_same_bytes() {
    let made: Vec<(&str, &str, String)> = CHECKSUMS
        .iter()
        .map(|(instruction, name, _)| (*instruction, *name, checksum(instruction, sm(name))))
        .collect();
    let expected: Vec<(&str, &str, String)> = CHECKSUMS
        .iter()
        .map(|(instruction, sm, sum)| (*instruction, *sm, (*sum).to_owned()))
        .collect();
    assert_eq!(made, expected);
}

#[test]
fn a_case_depends_on_its_seed_and_number_alone() {
    let generator = Generator::new("LDS", Sm::SPA5, 3).unwrap();
    let line = |number| generator.case(number).unwrap().line();
    let few: Vec<String> = lines("lds", Sm::SPA5, 3, 10).unwrap().map(Result::unwrap).collect();
    let more: Vec<String> = lines("LDS", Sm::SPA5, 3, 40).unwrap().map(Result::unwrap).collect();
    assert_eq!(few, more[..10]);
    assert_eq!(line(39), more[39]);
    assert_ne!(Generator::new("LDS", Sm::SPA5, 4).unwrap().case(39).unwrap().line(), more[39]);
    // Numbers without an end.
    assert!(line(u64::MAX).contains("-18446744073709551615"));
}

/// Every line is a vector with a name of its own that both executors pass, and has the flags that are
/// computed from it.
fn check_lines(instruction: &str, sm: Sm, count: u64) {
    let generator = Generator::new(instruction, sm, 1).unwrap();
    let mut ids = BTreeSet::new();
    for number in 0..count {
        let case = generator.case(number).unwrap();
        let line = &case.line();
        let vector = Vector::from_json(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for executor in [Executor::Reference, Executor::Fast] {
            assert_eq!(vector.check(executor).unwrap(), [], "{line}");
        }
        let (_, outcome) = vector.run(Executor::Reference).unwrap();
        assert_eq!(flags_of(&vector, &outcome), case.flags, "{line}");
        assert!(line.len() < 8000, "{}: {line}", line.len());

        let json: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(ids.insert(json["id"].as_str().unwrap().to_owned()));
        let names: Vec<&str> = case.flags.iter().map(|flag| flag.name).collect();
        assert_eq!(json["flags"], serde_json::json!(names));
        assert_eq!(json["source"], "document");
        let decision = case.flags.is_decision(sm.has_wide_words());
        assert_eq!(json.get("decision"), decision.then_some(&true.into()), "{line}");
        let text = vector.instruction.text();
        assert_eq!(json["name"], text.as_str());
    }
}

#[test]
fn lines_are_vectors_that_both_executors_pass() {
    for instruction in SPA5 {
        check_lines(instruction, Sm::SPA5, 150);
    }
}

#[test]
fn lines_of_128_bits_are_vectors_that_both_executors_pass() {
    for sm in Sm::all().filter(|sm| sm.has_wide_words()) {
        for instruction in generate::instructions(sm) {
            check_lines(instruction, sm, 20);
        }
    }
}

/// The flags that the loads of SPA 5.0 can show, and their pairs of which 300 vectors show how many.
#[test]
fn few_vectors_cover_all_flags_and_most_pairs() {
    for (instruction, flags, all, least) in [
        ("LD", 60, 1770, 1320),
        ("LDG", 48, 1128, 835),
        ("LDL", 42, 861, 640),
        ("LDS", 40, 780, 570),
        ("LDC", 38, 703, 530),
    ] {
        let generator = Generator::new(instruction, Sm::SPA5, 0).unwrap();
        let mut coverage = generator.coverage();
        for number in 0..300 {
            coverage.add(generator.case(number).unwrap().flags);
        }
        let counts: BTreeMap<&str, u64> =
            coverage.flags().map(|(flag, count)| (flag.name, count)).collect();
        assert_eq!(counts.len(), flags, "{instruction}");
        assert!(counts.values().all(|count| *count >= 2), "{instruction}: {counts:?}");
        assert_eq!(coverage.pairs(), all, "{instruction}");
        let missing: BTreeSet<[&str; 2]> =
            coverage.missing().map(|pair| pair.map(|flag| flag.name)).collect();
        assert!(all - missing.len() >= least, "{instruction}: {} missing", missing.len());
        // Impossible pairs.
        for pair in
            [["misaligned", "no-lane"], ["all-lanes", "outside-allocation"], ["byte", "word"]]
        {
            assert!(missing.contains(&pair), "{instruction}: {pair:?}");
        }
    }
}

#[test]
fn all_flags_are_covered_on_all_sms() {
    for name in ["70", "75", "90", "120"] {
        for instruction in generate::instructions(sm(name)) {
            let generator = Generator::new(instruction, sm(name), 0).unwrap();
            let mut coverage = generator.coverage();
            for number in 0..200 {
                coverage.add(generator.case(number).unwrap().flags);
            }
            let missing: Vec<&str> =
                coverage.flags().filter(|(_, n)| *n == 0).map(|(flag, _)| flag.name).collect();
            assert!(missing.is_empty(), "{instruction} of sm_{name}: {missing:?}");
        }
    }
}

/// Every size, alignment that is forced and one that is reported, and 128 bits with `.U` and without.
#[test]
fn vectors_have_all_sizes() {
    let sizes = ["U8", "S8", "U16", "S16", "32", "64", "128", "U.128"];
    for (instruction, count) in [("LD", 8), ("LDG", 8), ("LDL", 7), ("LDS", 7), ("LDC", 6)] {
        let mut found = BTreeSet::new();
        for line in lines(instruction, Sm::SPA5, 0, 200).unwrap() {
            let vector = Vector::from_json(&line.unwrap()).unwrap();
            let Ok(LoadSize::Lane(size)) = vector.instruction.parts().size else { continue };
            let (_, outcome) = vector.run(Executor::Reference).unwrap();
            let flags = flags_of(&vector, &outcome);
            let shows = |name| flags.iter().any(|flag| flag.name == name);
            found.insert(size.name());
            if shows("misaligned") {
                let is_reported = shows("misaligned-reported");
                found.insert(if is_reported { "reported" } else { "forced" });
            }
        }
        let wanted = sizes[..count].iter().copied().chain(["forced", "reported"]);
        assert_eq!(found, wanted.collect(), "{instruction}");
    }
}

#[test]
fn flags_that_are_asked_for_are_shown() {
    let wanted = [flag("misaligned-reported"), flag("one-lane-outside"), flag("guarded-off")];
    let generator = Generator::new("LD", Sm::SPA5, 9).unwrap().with_flags(&wanted).unwrap();
    for number in 0..20 {
        let flags = generator.case(number).unwrap().flags;
        assert!(wanted.iter().all(|flag| flags.iter().any(|shown| shown.name == flag.name)));
    }
}

/// Without a base only Rd can break rules, but it can break two of them.
#[test]
fn register_faults_occur_with_a_base_beyond_the_limit() {
    for fault in ["misaligned-register", "register-limit", "two-register-faults", "unfaulted"] {
        for (instruction, name) in [("LD", "50"), ("LDG", "50"), ("LDS", "75"), ("LDG", "90")] {
            let wanted = [flag("base-beyond-limit"), flag(fault)];
            let generator = Generator::new(instruction, sm(name), 0).unwrap();
            let case = generator.with_flags(&wanted).unwrap().case(0);
            assert!(case.is_ok(), "{fault}: {case:?}");
        }
    }
}

#[test]
fn flags_that_cannot_be_are_errors() {
    let generator = || Generator::new("LDG", Sm::SPA5, 0).unwrap();
    let never = generator().with_flags(&[flag("predicate-argument")]).unwrap_err();
    assert_eq!(never.to_string(), "LDG of sm_50 never shows the flag `predicate-argument`");
    // Recipes that exclude each other, and ones that do not.
    for [one, other] in [["no-lane", "misaligned"], ["byte", "word"], ["all-outside", "all-lanes"]]
    {
        let generator = generator().with_flags(&[flag(one), flag(other)]).unwrap();
        let error = generator.case(0).unwrap_err();
        assert!(matches!(error, GenerateError::NotFound { .. }), "{error}");
    }
    // One rounded address is in one memory at most: Plg only says whether the lane may load from it.
    let wanted = [flag("rounds-to-one"), flag("several-spaces")];
    let generator = Generator::new("LD", Sm::SPA5, 0).unwrap().with_flags(&wanted).unwrap();
    assert!(matches!(generator.case(0), Err(GenerateError::NotFound { .. })));
    for (name, sm_name) in
        [("LDX", "50"), ("ULDC", "50"), ("LDTM", "100"), ("LDSM", "70"), ("", "90")]
    {
        let error = Generator::new(name, sm(sm_name), 0).unwrap_err();
        assert!(matches!(error, GenerateError::UnknownInstruction { .. }), "{error}");
    }
}
