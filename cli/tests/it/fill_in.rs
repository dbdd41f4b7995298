//! `vectors fill-in`: vectors with the result of the literal executor as their `final`.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use warpload::encoding::Sm;
use warpload_suite::generate::Generator;

fn fill_in(arguments: &[&str], folder: &Path) -> Output {
    let mut command = crate::common::warpload();
    command.current_dir(folder).args(["vectors", "fill-in"]).args(arguments).output().unwrap()
}

fn values(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What is filled in equals what fresh vectors expect.
#[test]
fn filled_in_vectors_are_the_fresh_ones() {
    let fresh = ["LDG", "LDL", "LDS", "LDC"].into_iter().flat_map(|instruction| {
        let generator = Generator::new(instruction, Sm::SPA5, 0).unwrap();
        (0..100).map(move |number| generator.line(number).unwrap() + "\n")
    });
    let recorded: String = fresh.collect();
    let folder = tempfile::tempdir().unwrap();
    let mut without = String::new();
    for mut vector in values(&recorded) {
        vector.as_object_mut().unwrap().remove("final").unwrap();
        without += &format!("{vector}\n");
    }
    fs::write(folder.path().join("without.jsonl"), without).unwrap();
    let output = fill_in(&["without.jsonl", "-o", "filled.jsonl"], folder.path());
    assert!(output.status.success(), "{output:?}");
    let filled = fs::read_to_string(folder.path().join("filled.jsonl")).unwrap();
    assert_eq!(values(&filled), values(&recorded));
}

/// All but `final` stays as written, including blanks and the order of keys.
#[test]
fn the_rest_of_a_line_stays() {
    let folder = tempfile::tempdir().unwrap();
    let line = "{ \"name\" : \"a \\u0022final\\u0022: {}\",\t\"final\" : { \"registers\" : {} } , \
                \"instruction\": \"LD.U.128 RZ, [RZ]\" }";
    fs::write(folder.path().join("in.jsonl"), line).unwrap();
    let output = fill_in(&["in.jsonl", "-o", "out.jsonl"], folder.path());
    assert!(output.status.success(), "{output:?}");
    let filled = "{\"registers\":{},\"fault\":null,\"lane_faults\":\
                  {\"outside_allocation\":\"0xffffffff\"},\"broadcast\":false}";
    let expected = line.replace("{ \"registers\" : {} }", filled) + "\n";
    assert_eq!(fs::read_to_string(folder.path().join("out.jsonl")).unwrap(), expected);
}

/// A broadcast of `LDS.U` cannot be observed, so it has no key.
#[test]
fn lds_u_says_nothing_of_a_broadcast() {
    let folder = tempfile::tempdir().unwrap();
    let vectors = "{\"instruction\": \"LDS.U R4, [R2]\"}\n{\"instruction\": \"LDS R4, [R2]\"}\n";
    fs::write(folder.path().join("in.jsonl"), vectors).unwrap();
    assert!(fill_in(&["in.jsonl", "-o", "out.jsonl"], folder.path()).status.success());
    let filled = values(&fs::read_to_string(folder.path().join("out.jsonl")).unwrap());
    assert_eq!(filled[0]["final"].get("broadcast"), None);
    assert_eq!(filled[1]["final"]["broadcast"], false);
}

#[test]
fn nothing_is_written_unless_all_lines_are_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.jsonl");
    fs::write(&out, "before").unwrap();
    for bad in ["{}", "nonsense", "{\"instruction\": \"LDC.IL R0, c[0x0][R1]\"}"] {
        let vectors = format!("{{\"instruction\": \"LD R4, [R2]\"}}\n{bad}\n");
        fs::write(folder.path().join("in.jsonl"), vectors).unwrap();
        let output = fill_in(&["in.jsonl", "-o", "out.jsonl"], folder.path());
        assert_eq!(output.status.code(), Some(2), "{bad}");
        assert!(output.stderr.starts_with(b"error: in.jsonl:2:"), "{bad}: {output:?}");
        assert_eq!(output.stdout, b"", "{bad}");
        assert_eq!(fs::read_to_string(&out).unwrap(), "before", "{bad}");
    }
    fs::write(folder.path().join("in.jsonl"), "\n{\"instruction\": 1}").unwrap();
    let output = fill_in(&["in.jsonl", "-o", "out.jsonl"], folder.path());
    assert!(output.stderr.starts_with(b"error: in.jsonl:2:17: instruction: "), "{output:?}");
    fs::write(folder.path().join("in.jsonl"), "\n").unwrap();
    let output = fill_in(&["in.jsonl", "-o", "out.jsonl"], folder.path());
    let expected = "error: in.jsonl: no vectors; expected one JSON object a line\n";
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(2), expected.as_bytes()));
    assert_eq!(fs::read_to_string(&out).unwrap(), "before");
}
