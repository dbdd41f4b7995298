//! Kernels launched by `ptx run`.

use std::fs;

use crate::common::{Ran, warpload};

const SAXPY: &str = "ptx/benches/kernels/saxpy.ptx";

fn run(arguments: &[&str]) -> Ran {
    let launch = ["ptx", "run", SAXPY, "--function", "saxpy"];
    warpload().args(launch).args(arguments).output().unwrap().into()
}

#[test]
fn buffers_are_files_and_are_dumped() {
    let folder = tempfile::tempdir().unwrap();
    let floats =
        |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let (x, out) = (folder.path().join("x.bin"), folder.path().join("y.bin"));
    fs::write(&x, floats(&[1.0, 2.0, 3.0])).unwrap();
    let x = format!("@{}", x.display());
    let dump = format!("3={}", out.display());
    let y = format!("hex:{}", "00".repeat(8));
    let ran = run(&["--arg", "3", "--arg", "2.5", "--arg", &x, "--arg", &x, "--dump", &dump]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    assert_eq!(fs::read(&out).unwrap(), floats(&[3.5, 7.0, 10.5]));
    // A null pointer, and a dump of what is no buffer.
    let ran = run(&["--arg", "3", "--arg", "2.5", "--arg", &x, "--arg", &y]);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains("0x0 is 2147483648 bytes before argument 2"), "{}", ran.stdout);
    let ran = run(&["--arg", "3", "--arg", "2.5", "--arg", &x, "--arg", &y, "--dump", &dump]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("argument 3 is no buffer"), "{}", ran.stderr);
    // An input is not written over.
    let over = format!("2={}", &x[1..]);
    let ran = run(&["--arg", "3", "--arg", "2.5", "--arg", &x, "--arg", &x, "--dump", &over]);
    assert_eq!(ran.status, 2);
    assert_eq!(fs::read(&x[1..]).unwrap(), floats(&[1.0, 2.0, 3.0]));
}

#[test]
fn wrong_launches_are_refused() {
    let good = ["--arg", "3", "--arg", "2.5", "--arg", "zeros:12", "--arg", "zeros:12"];
    let with = |more: &[&str]| run(&[&good[..], more].concat());
    for (ran, message) in [
        (run(&["--arg", "3"]), "the kernel has 4 parameters, 1 are given"),
        (with(&["--block", "2000"]), "a block of 2000 x 1 x 1 threads: 1 to 1024 are possible"),
        (with(&["--grid", "1,2,3,4"]), "expected one to three numbers"),
        (with(&["--shared-bytes", "2000000"]), "a block has at most 1048576"),
        (run(&["--arg", "hex:00"]), "the kernel has 4 parameters"),
        (run(&["--arg", "hex:0"]), "expected pairs of hexadecimal digits"),
        (run(&["--arg", "zeros:99999999999999"]), "at most 16 GiB"),
        (run(&["--arg", "x"]), "--arg x (parameter 0)"),
    ] {
        assert_eq!(ran.status, 2, "{message}: {}", ran.stdout);
        assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
    }
    let ran = with(&["--steps", "5"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("5 warp instructions were executed"), "{}", ran.stderr);
}

#[test]
fn json_has_the_launch_and_its_faults() {
    let ran = run(&[
        "--grid",
        "2",
        "--arg",
        "40",
        "--arg",
        "2.5",
        "--arg",
        "zeros:160",
        "--arg",
        "zeros:156",
        "--format",
        "json",
    ]);
    assert_eq!(ran.status, 1);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["launch"]["blocks"], 2);
    let faults = json["faults"].as_array().unwrap();
    // The load and the store of one thread.
    assert_eq!(faults.len(), 2);
    let fault = &faults[0];
    assert_eq!(
        (&fault["kind"], &fault["argument"], &fault["distance"]),
        (&"out_of_bounds".into(), &3.into(), &0.into())
    );
    assert_eq!(fault["block"], serde_json::json!([1, 0, 0]));
    assert_eq!(fault["thread"], serde_json::json!([7, 0, 0]));
}
