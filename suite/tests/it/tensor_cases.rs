//! The cases of `ptx/tests/tensor_memory`.

use std::collections::BTreeMap;

use warpload_ptx::tensor::{IllegalLoadError, Shape, TensorRegisters};
use warpload_suite::tensor_case::{ExpectedTensorLoad, PatternMemories, TensorCase};

const CASES: &str = include_str!("../../../ptx/tests/tensor_memory/cases.jsonl");

fn cases() -> impl Iterator<Item = TensorCase> {
    CASES.lines().map(|line| TensorCase::from_json(line).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn every_case_holds() {
    let (memories, mut registers) = (PatternMemories::default(), TensorRegisters::new());
    let mut counts = BTreeMap::new();
    let mut failures = Vec::new();
    for case in cases() {
        for difference in case.check(&memories, &mut registers) {
            failures.push(format!("{}: {difference}", case.id));
        }
        let kind = case.id.split('-').next().unwrap().to_owned();
        *counts.entry(kind).or_insert(0) += 1;
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let counts: Vec<_> = counts.iter().map(|(kind, count)| (&**kind, *count)).collect();
    assert_eq!(counts, [("illegal", 12), ("ld", 250), ("ld_red", 32), ("undefined", 26)]);
}

#[test]
fn the_first_of_several_faults() {
    let (memories, mut registers) = (PatternMemories::default(), TensorRegisters::new());
    let mut codes = BTreeMap::new();
    for line in include_str!("../../../ptx/tests/tensor_memory/fault-order.jsonl").lines() {
        let case = TensorCase::from_json(line).unwrap();
        assert_eq!(case.check(&memories, &mut registers), [""; 0], "{}", case.id);
        let Some(ExpectedTensorLoad::Fault(code)) = case.expected else {
            panic!("{} is not a fault", case.id)
        };
        *codes.entry(code).or_insert(0) += 1;
    }
    let expected = [("column-align", 8), ("column-unallocated", 1)];
    assert_eq!(codes, expected.map(|(code, count)| (code.to_owned(), count)).into());
}

/// If the sources leave two readings of a reduction, the cases have both results, and the two differ. The reading by
/// threads is the expected one.
#[test]
fn reductions_of_halves_are_read_by_threads() {
    let mut both = 0;
    for case in cases() {
        let Some(ExpectedTensorLoad::Loaded(expected)) = &case.expected else { continue };
        let Some(by_lane) = expected.reduced_by_lane else { continue };
        assert_eq!(case.load.unwrap().shape(), Shape::S16x32bx2);
        let by_thread = expected.reduced.unwrap();
        assert_eq!(by_lane[..16], by_lane[16..], "{}", case.id);
        assert_ne!(by_thread, by_lane, "{}: the case cannot tell the readings apart", case.id);
        both += 1;
    }
    assert_eq!(both, 16);
}

/// A changed case fails, and the message has the place.
#[test]
fn failures_say_what_was_expected() {
    let (memories, mut registers) = (PatternMemories::default(), TensorRegisters::new());
    let find = |id: &str| CASES.lines().find(|line| line.contains(id)).unwrap();
    let mut differences = |text: &str| -> Vec<String> {
        let case = TensorCase::from_json(text).unwrap_or_else(|error| panic!("{error}"));
        case.check(&memories, &mut registers)
    };
    let loaded = find("\"ld-0006\"");
    assert_eq!(
        differences(&loaded.replace("2154266726", "2154266727")),
        ["thread 0 register 0: expected 0x80678067, got 0x80678066"]
    );
    let digest = differences(&loaded.replace("497d3a61", "497d3a62"));
    assert_eq!(digest.len(), 1);
    assert!(digest[0].contains("expected 497d3a62") && digest[0].contains("got 497d3a61"));
    let outcome = differences(&loaded.replace("\"warp\":6", "\"warp\":5"));
    assert_eq!(outcome, ["expected registers, got fault, lane-slab"]);
    let fault = find("\"undefined-0536\"");
    assert_eq!(
        differences(&fault.replace("column-range", "lane-slab")),
        ["expected fault, lane-slab, got fault, column-range"]
    );
    let shorter = differences(&fault.replace("\"num\":4", "\"num\":2"));
    assert_eq!(shorter, ["expected fault, column-range, got registers"]);
}

/// An unknown operation or type makes a case illegal rather than malformed, because refusing it is the assembler's job.
#[test]
fn a_reduction_that_does_not_exist_is_illegal() {
    let (memories, mut registers) = (PatternMemories::default(), TensorRegisters::new());
    let good = CASES.lines().find(|line| line.contains("\"illegal-0601\"")).unwrap();
    for (from, to) in [
        ("\"type\":\"u32\"", "\"type\":\"b32\""),
        ("\"op\":\"max\"", "\"op\":\"add\""),
        ("\"type\":\"u32\"", "\"type\":\"\""),
        ("\"op\":\"max\",", ""),
    ] {
        for code in ["red-kind", "red-type", "red-op"] {
            let changed = good.replace(from, to).replace("red-modifier", code);
            assert_ne!(changed, good);
            let case = TensorCase::from_json(&changed).unwrap();
            assert_eq!(case.load, Err(IllegalLoadError::ReductionKind));
            assert_eq!(case.check(&memories, &mut registers), [""; 0]);
        }
    }
    // An existing reduction that is illegal for another reason keeps its code.
    let wrong = TensorCase::from_json(&good.replace("red-modifier", "red-kind")).unwrap();
    let differences = wrong.check(&memories, &mut registers);
    assert_eq!(differences[0], "expected illegal, red-kind, got illegal, red-modifier");
    // It cannot have registers as its outcome.
    let loaded = CASES.lines().find(|line| line.contains("\"ld_red\"")).unwrap();
    for (key, valid, message) in [
        ("op", ["min", "max"].as_slice(), "op: no operation \"add\"; expected min or max"),
        ("type", &["u32", "s32", "f32"], "type: no type \"add\"; expected u32, s32 or f32"),
    ] {
        let changed = valid.iter().fold(loaded.to_owned(), |line, name| {
            line.replace(&format!("\"{key}\":\"{name}\""), &format!("\"{key}\":\"add\""))
        });
        let error = TensorCase::from_json(&changed).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn what_is_no_case() {
    let good = CASES.lines().find(|line| line.contains("\"ld-0006\"")).unwrap();
    assert!(TensorCase::from_json(good).is_ok());
    for (from, to, error) in [
        ("\"pack\"", "\"packed\"", "unknown key `packed`"),
        ("packid", "pack", "tmem.pattern: no pattern \"pack\"; expected one of lane*65536+col"),
        ("\"kind\":\"ld\"", "\"kind\":\"ld_red\"", "op: missing key"),
        ("\"kind\":\"ld\"", "\"kind\":\"illegal\"", "expect.error: not valid with this `kind`"),
        ("\"n\":1", "\"n\":2", "expect.regs: expected 32 arrays"),
        ("\"n\":1", "\"n\":129", "expect.n: expected 1 to 128"),
        ("497d3a61", "497D3A61", "expect.sha256: expected 64"),
        ("\"note\"", "\"alloc\":[[0,33]],\"note\"", "alloc[0]: 33 columns"),
        ("\"num\":1", "\"num\":-1", "num: invalid value"),
    ] {
        let good = good.replace("\"conf\"", "\"note\":null,\"conf\"");
        let changed = good.replacen(from, to, 1);
        assert_ne!(changed, good, "{from}");
        let message = TensorCase::from_json(&changed).unwrap_err().to_string();
        assert!(message.contains(error), "{message}");
    }
}
