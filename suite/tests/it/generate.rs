//! Drawn vectors are reproducible and correct, and cover every flag.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest, Sha256};
use warpload::encoding::{Instruction, LoadSize, Sm};
use warpload::load::Executor;
use warpload_suite::flags::{Flag, FlagSet, flags_of};
use warpload_suite::generate::{self, GenerateError, Generator, lines};
use warpload_suite::vector::Vector;

const SPA5: [&str; 5] = ["LD", "LDG", "LDL", "LDS", "LDC"];

fn sm(name: &str) -> Sm {
    name.parse().unwrap()
}

fn flag(name: &str) -> &'static Flag {
    Flag::named(name).unwrap()
}

/// The checksum of 300 lines with their ends.
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

/// Checksums of 300 vectors of seed 0. A change of the recipes or the table of flags changes them, and they are
/// recorded again. A change of the executors must not.
const CHECKSUMS: &[(&str, &str, &str)] = &[
    ("LD", "50", "d71292f6b9eb0f7306f57cc547976cc1319cbf1db58e9f0ddf2e3810e084eadb"),
    ("LDG", "50", "b42e63ce4c8dae78345428c2d5f0c74cf843bf46bd7f23a69e910c7fcbb76c1c"),
    ("LDL", "50", "d3d98f495dc8665f412c332a7d9d7e720516867c51a4e5eff40e3ec04013bfc2"),
    ("LDS", "50", "2639160745f0f1ca8ab33e64fdd2f80886ed0ac46aef1146d810e643917c11b6"),
    ("LDC", "50", "1cf09bec7918bce87696ab58c72792923b32b71c13a5e0aab6bc959340def8ed"),
    ("LD", "90", "bd83e0bfc765ada010da884f2d68a67168db3deb8a93085736175f6f63753fb1"),
    ("LDG", "100", "1755b226966d8430a3dda4ba1c962be2ff6f2252d2811dafa953bdfd0259b0ba"),
    ("LDL", "80", "66f777eacfd01203b216733badc817f67328f64b71a3738bc95750f792395d46"),
    ("LDS", "75", "b05069d415a12a494611c98a982a009af3515cf555a758de5b450cd4814fa10b"),
    ("LDC", "70", "9ded1780e4dc8c74412675efd02706095fc8c9e0e9dc1dc530ca9e28e6ad10ba"),
    ("ULDC", "80", "f83718cc62fa239b9bccc64160453f897beaa30eb781da3afb11d930dc2d17a0"),
    ("LDCU", "120", "4dffc78754956542e917fc0e13f8abef90adc408131de5469efa9ddb07e9ed27"),
    ("LDSM", "90", "f9844698e923bb97385dd6dba88f1675c3b9b7b758a5ebed782c9acce07731d5"),
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
    // Numbers have no limit.
    assert!(line(u64::MAX).contains("-18446744073709551615"));
}

/// Every line is a vector with a unique id, both executors pass it, and its flags are the ones computed from it.
fn check_lines(instruction: &str, sm: Sm, count: u64) {
    let generator = Generator::new(instruction, sm, 1).unwrap();
    let mut ids = BTreeSet::new();
    for number in 0..count {
        let case = generator.case(number).unwrap();
        let line = &case.line();
        let vector = Vector::from_json(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        for executor in [Executor::Reference, Executor::Fast] {
            assert_eq!(vector.check(executor).unwrap(), [""; 0], "{line}");
        }
        let (_, outcome) = vector.run(Executor::Reference).unwrap();
        assert_eq!(flags_of(&vector, &outcome), case.flags, "{line}");
        assert!(line.len() < 9000, "{}: {line}", line.len());

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

/// The number of flags that the loads of SPA 5.0 can show, of their pairs, and of the pairs that 300 vectors show.
#[test]
fn few_vectors_cover_all_flags_and_most_pairs() {
    for (instruction, flags, all, least) in [
        ("LD", 99, 4851, 2750),
        ("LDG", 83, 3403, 1920),
        ("LDL", 61, 1830, 1220),
        ("LDS", 58, 1653, 1100),
        ("LDC", 57, 1596, 1080),
    ] {
        let generator = Generator::new(instruction, Sm::SPA5, 0).unwrap();
        let mut coverage = generator.coverage();
        for number in 0..300 {
            coverage.add(generator.case(number).unwrap().flags);
        }
        let counts: BTreeMap<&str, u64> =
            coverage.flags().map(|(flag, count)| (flag.name, count)).collect();
        assert_eq!(counts.len(), flags, "{instruction}");
        assert!(counts.values().all(|count| *count >= 1), "{instruction}: {counts:?}");
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

/// The vectors of the suite with their flags, by instruction and SM.
fn suite() -> BTreeMap<(String, Sm), Vec<(Instruction, FlagSet)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/v1/execute");
    let mut vectors: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for file in std::fs::read_dir(folder).unwrap() {
        for line in std::fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            let vector = Vector::from_json(line).unwrap();
            let (_, outcome) = vector.run(Executor::Reference).unwrap();
            let flags = flags_of(&vector, &outcome);
            let of = (vector.instruction.mnemonic().to_owned(), vector.instruction.sm());
            vectors.entry(of).or_default().push((vector.instruction, flags));
        }
    }
    vectors
}

/// The required quotas: a flag, and the number of instructions of SM 5.0, 7.5, 8.0, 9.0 and 10.0 that have a quota for
/// it.
const QUOTAS: &[(&str, u64)] = &[
    ("distinct-words", 33),
    ("destination-alignment", 29),
    ("aligned-to-two", 25),
    ("destination-range", 29),
    ("destination-ends-in-rz", 29),
    ("last-destination", 29),
    ("base-alignment", 10),
    ("base-range", 10),
    ("base-ends-in-rz", 10),
    ("last-base", 29),
    ("order-destination", 30),
    ("order-base", 10),
    ("order-operands", 10),
    ("two-register-faults", 30),
    ("never-guard", 33),
    ("uniform-alignment", 12),
    ("uniform-range", 12),
    ("last-uniform", 24),
    ("high-uniform", 6),
    ("uniform-beyond-limit", 24),
    ("odd-descriptor", 9),
    ("descriptor-alone", 9),
    ("carry", 10),
    ("borrow", 10),
    ("high-word", 10),
    ("unaligned-allocation", 10),
    ("rounds-out", 10),
    ("first-access", 33),
    ("last-access", 33),
    ("misaligned-first", 33),
    ("misaligned-last", 33),
    ("just-before", 15),
    ("just-after", 33),
    ("above-windows", 5),
    ("between-windows", 5),
    ("rounded-broadcast", 2),
    ("misaligned-broadcast", 2),
    ("divergent-uniform", 2),
    ("local-uniform", 1),
    ("outside-uniform", 2),
];

#[test]
fn the_suite_meets_all_quotas() {
    let suite = suite();
    let mut of_flags: BTreeMap<&str, u64> = BTreeMap::new();
    let mut values = 0;
    for sm in Sm::all() {
        for instruction in generate::instructions(sm) {
            let generator = Generator::new(instruction, sm, 0).unwrap();
            let is_whole = ["50", "75", "80", "90", "100"].map(self::sm).contains(&sm);
            let quotas = if is_whole { generator.quotas() } else { generator.quotas_of_values() };
            values += generator.quotas_of_values().len();
            let vectors = &suite[&(instruction.to_owned(), sm)];
            for quota in quotas {
                let counts = |(instruction, flags): &&(Instruction, FlagSet)| {
                    quota.counts(instruction, *flags)
                };
                let found = vectors.iter().filter(counts).count() as u64;
                assert!(found >= quota.cases, "{instruction} of sm_{sm}: {found} of {quota:?}");
                if is_whole && quota.size.is_none() {
                    *of_flags.entry(quota.flag.name).or_default() += 1;
                }
            }
        }
    }
    // Each load, size and SM.
    assert_eq!(values, 946);
    let found: Vec<(&str, u64)> =
        QUOTAS.iter().map(|(flag, _)| (*flag, of_flags.get(flag).copied().unwrap_or(0))).collect();
    assert_eq!(found, QUOTAS);
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
