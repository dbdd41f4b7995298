//! Vectors that are drawn: always the same, right, and of every kind there is.

#![cfg(feature = "json")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use warpload::encoding::{LoadInstruction, LoadSize, Sm};
use warpload::load::Executor;
use warpload::suite::flags::{Flag, flags_of};
use warpload::suite::generate::{self, GenerateError, Generator, lines};
use warpload::suite::vector::Vector;

const SPA5: [&str; 5] = ["LD", "LDG", "LDL", "LDS", "LDC"];

fn sm(name: &str) -> Sm {
    name.parse().unwrap()
}

fn flag(name: &str) -> &'static Flag {
    Flag::named(name).unwrap()
}

/// Returns the checksum of 1,000 lines with their ends.
fn checksum(instruction: &str, sm: Sm) -> String {
    let mut hasher = Sha256::new();
    for line in lines(instruction, sm, 0, 1000).unwrap() {
        hasher.update(line.unwrap() + "\n");
    }
    hasher.finalize().iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

/// Checksums of 1,000 vectors of seed 0. They change with the recipes and the table of flags, and are then
/// recorded again; a change of the executors must not change them.
const CHECKSUMS: &[(&str, &str, &str)] = &[
    ("LD", "50", "a765bb17555c387958c3fd780e81eaee2843c1afc019419109080bf11699d474"),
    ("LDG", "50", "13870dc62e0bfa183ab675183579ecae51b74b7fed6bbe28a9eef5ec2aa61c60"),
    ("LDL", "50", "6a718473f997ca3b931da440891af48570579440cecfdad3d95dee769a7f575d"),
    ("LDS", "50", "2444b58e3b3cdc3db309be045d4a26e384622a90bc98bf627f8516691aa2dcf3"),
    ("LDC", "50", "240f327ff34f7e78a148120dce138be0db3d04fa3b25757d9f43d66c0371bc62"),
    ("LD", "90", "a621aeda3b07b59d00825e17ba3aec2a0a0b98f92c8be9916892faa1a82bb604"),
    ("LDG", "100", "a51349d96131bed0e4061cfb3c8e5bb19327596e6047464fea952537c230aad8"),
    ("LDL", "80", "e7d180e48f1fad5a84f74b2702645f8ef5f03190e38f456df671194a4abb7725"),
    ("LDS", "75", "d5517cb8f67a1e713186da960b2ee4f0cec5e3d9c27b55f30cc8cdde73d7e246"),
    ("LDC", "70", "ad3cd1bc2d32a5da964e2ea18ceeb8731f8f5a52964e2f9ad68b9f4ab0f2f908"),
    ("ULDC", "80", "2e13748c1287ef4dc864e318f6d3c7eace9b5ea531851e0f10e48c1417e001bc"),
    ("LDCU", "120", "df9d759db9ae87bc57016b28cb9360e2673197addfd16454366b86c59b008acf"),
    ("LDSM", "90", "3b9790ee800868548d534a0c2af8152d8a4690b7d11fb8dae7a46b064f29ff6f"),
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
        ("LD", 60, 1770, 1390),
        ("LDG", 48, 1128, 880),
        ("LDL", 43, 903, 700),
        ("LDS", 41, 820, 630),
        ("LDC", 38, 703, 540),
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
    for name in ["70", "75", "89", "90", "107", "120"] {
        for instruction in generate::instructions(sm(name)) {
            let generator = Generator::new(instruction, sm(name), 0).unwrap();
            let mut coverage = generator.coverage();
            for number in 0..300 {
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
