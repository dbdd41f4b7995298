//! The suite of `vectors/`: what warpload itself answers, the independent models in Python, and models with
//! mistakes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::{Ran, file, warpload};
use crate::conform::{own, run};

fn summary(ran: &Ran) -> Value {
    serde_json::from_str(ran.stdout.lines().last().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Returns the number of cases of a folder with that source; of all sources if it is empty.
fn count(folder: &Path, source: &str) -> u64 {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension() == Some("jsonl".as_ref()));
    let texts = files.map(|path| std::fs::read_to_string(path).unwrap());
    texts.map(|text| text.lines().filter(|line| is_of(line, source)).count() as u64).sum()
}

fn is_of(line: &str, source: &str) -> bool {
    source.is_empty() || line.contains(&format!(r#""source":"{source}""#))
}

#[test]
fn both_executors_answer_the_whole_suite() {
    let suite = file("vectors/v1");
    let manifest = std::fs::read_to_string(suite.join("MANIFEST.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    // A program and functions of this process are asked the same.
    let command = format!("{} --executor fast", own());
    for examinee in [["--command", &command], ["--executor", "both"]] {
        let mut conform = warpload();
        conform.arg("conform").args(examinee).args(["--format", "json", "--jobs", "2"]);
        let ran = Ran::from(conform.arg(&suite).output().unwrap());
        let summary = summary(&ran);
        assert_eq!(summary["passed"], manifest["cases"], "{ran:?}");
        assert_eq!((&summary["failed"], &summary["skipped"]), (&0.into(), &0.into()));
        assert_eq!(ran.status, 0);
    }
}

/// Returns a command that runs a program of the examples; `None` without Python.
fn python(program: &str) -> Option<String> {
    if !crate::common::has_python(program) {
        return None;
    }
    Some(format!("python3 '{}'", file(program).display()))
}

const ADAPTER: &str = "examples/conform/adapter.py";
const WRONG: &str = "examples/conform/wrong.py";

/// What the models do not answer.
const SKIPS: [&str; 4] = [
    "an order that is text only",
    "binary traces are not read",
    "this model reads no text of SM 7.0 and later",
    "this model launches no kernels",
];

/// Part of the reason why files compressed by zstd are skipped on some machines.
const ZSTD: &str = "needs Python 3.14 or the command `zstd`";

#[test]
fn independent_models_answer_the_same() {
    let Some(command) = python(ADAPTER) else { return };
    let folders = ["execute", "decode", "ptx-execute", "coalescing", "traces"];
    let suites = folders.map(|folder| file(&format!("vectors/v1/{folder}")));
    let ran = run(
        &command,
        &["--format", "json", "--jobs", "2"],
        &suites.each_ref().map(PathBuf::as_path),
    );
    let summary = summary(&ran);
    assert_eq!((&summary["failed"], ran.status), (&0.into(), 0), "{ran:?}");
    let skips = summary["skips"].as_array().unwrap().iter();
    let mut skips: BTreeMap<&str, u64> = skips
        .map(|skip| (skip["reason"].as_str().unwrap(), skip["cases"].as_u64().unwrap()))
        .collect();
    let before = skips.len();
    skips.retain(|reason, cases| !(reason.ends_with(ZSTD) && *cases == 1));
    if skips.len() < before {
        crate::common::missing(
            "a trace compressed by zstd, with the models: nothing here decompresses it",
        );
    }
    // What is skipped is what does not claim that the models answer the same.
    let [execute, decode, ptx_execute, _, traces] = &suites;
    assert_eq!(skips.remove(SKIPS[0]), Some(count(execute, "document")));
    assert_eq!(skips.remove(SKIPS[1]), Some(count(traces, "document")));
    assert_eq!(skips.remove(SKIPS[3]), Some(count(ptx_execute, "host")));
    let texts = std::fs::read_dir(decode).unwrap().map(|entry| entry.unwrap().path());
    let texts: Vec<String> = texts.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let encodes = texts
        .iter()
        .flat_map(|text| text.lines())
        .filter(|line| line.contains(r#""family":"encode""#) && !line.contains(r#""sm":"50""#));
    assert_eq!(skips.remove(SKIPS[2]), Some(encodes.count() as u64));
    assert!(skips.is_empty(), "{skips:?}");
    let all: u64 = suites.iter().map(|suite| count(suite, "")).sum();
    let judged = ["passed", "skipped"].map(|key| summary[key].as_u64().unwrap());
    assert_eq!(judged[0] + judged[1], all);
}

/// The offset of `LDSM` on SM 7.5 stays signed beside an Ra beyond the register limit, although it is unsigned
/// beside RZ (docs/load-sm70.md, section 10, clause 5).
#[test]
fn an_offset_of_ldsm_stays_signed_beyond_the_register_limit() {
    // All rows are at UR4 - 0x10.
    let memory: String = (0..128).map(|byte| format!("{byte:02x}")).collect();
    let words = ["0x23222120", "0x27262524", "0x2b2a2928", "0x2f2e2d2c"];
    let lanes: Vec<String> = (0..32).map(|lane| format!("\"{}\"", words[lane % 4])).collect();
    // LDSM.16.M88 R0, [R40+UR4+-0x10]
    let case = format!(
        r#"{{"instruction":"0x000fe20008000000fffff0042800783b","initial":{{"sm":"75","register_limit":26,"memory":{{"shared":{{"hex":"{memory}"}}}},"uniform_registers":{{"UR4":"0x30"}}}},"final":{{"registers":{{"R0":[{}]}},"lane_faults":{{}}}}}}"#,
        lanes.join(",")
    );
    let suite = crate::conform::Suite::new(1);
    suite.add("ldsm.jsonl", &case);
    for command in [Some(own()), Some(format!("{} --executor reference", own())), python(ADAPTER)] {
        let Some(command) = command else { continue };
        let ran = run(&command, &[], &[&suite.path("ldsm.jsonl")]);
        assert!(ran.stdout.ends_with("1 passed, 0 failed, 0 skipped\n"), "{command}: {ran:?}");
    }
}

/// Each mistake of an emulator of SPA 5.0 is found, and the flag of the first explanation names it.
fn mistakes_are_found_and_named(is_chosen: impl Fn(usize) -> bool) -> usize {
    let Some(command) = python(WRONG) else { return 0 };
    let listed = Command::new("python3").arg(file(WRONG)).arg("--list").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let suites = ["ld", "ldg", "ldl", "lds", "ldc"];
    let suites = suites.map(|name| file(&format!("vectors/v1/execute/{name}.jsonl")));
    let mut found = 0;
    for (i, line) in listed.lines().enumerate() {
        if !is_chosen(i) {
            continue;
        }
        let [number, name, flag, _] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let suites = suites.each_ref().map(PathBuf::as_path);
        let ran = run(&format!("{command} {number}"), &["--format", "json"], &suites);
        let summary = summary(&ran);
        assert_eq!(ran.status, 1, "{name}: {}", ran.stderr);
        assert_eq!(summary["flags"][0]["flag"], flag, "{name}: {}", summary["explanations"]);
        // Before it are the failures of a kind: lines that are no answers.
        let said = summary["explanations"].as_array().unwrap().iter();
        let said = said.filter_map(Value::as_str).find(|said| !said.contains("; the first: "));
        assert!(said.is_some_and(|said| said.contains(&format!("`{flag}`"))), "{name}: {said:?}");
        found += 1;
    }
    found
}

#[test]
fn two_mistakes_are_found_and_named() {
    assert!([0, 2].contains(&mistakes_are_found_and_named(|i| i % 10 == 0)));
}

#[test]
#[ignore = "runs an emulator in Python 20 times: `cargo xtask nightly`"]
fn twenty_mistakes_are_found_and_named() {
    assert!([0, 20].contains(&mistakes_are_found_and_named(|_| true)));
}
