//! What a launch does not know is never shown as if it were known: in texts, JSON, dumps, traces and statuses.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::{Ran, warpload};

/// A texture is not executed. One word of `out` depends on it, and none of `known`.
const TEXTURE: &str = ".version 8.0
.target sm_80
.address_size 64
.const .align 4 .u32 factors[3] = {1, 2, 3};
.global .align 4 .u32 result[2];
.global .align 4 .u32 lost;
.visible .entry k(.param .u64 t, .param .u64 out, .param .u64 known) {
    .reg .b32 %r<8>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [t];
    ld.param.u64 %rd2, [out];
    ld.param.u64 %rd3, [known];
    mov.u32 %r5, 0;
    tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5}];
    st.global.u32 [%rd2+4], %r1;
    ld.global.u32 %r6, [%rd2];
    ld.global.u32 %r7, [%rd2+4];
    st.global.u32 [lost], %r7;
    ld.const.u32 %r7, [factors+4];
    add.u32 %r6, %r6, %r7;
    st.global.u32 [%rd3], %r6;
    st.global.u32 [result], %r6;
    ret;
}";

const TEX: &str = "tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5}]";

/// A folder with a module.
struct Module {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Module {
    fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.ptx");
        fs::write(&path, source).unwrap();
        Self { folder, path }
    }

    fn at(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let launch = warpload().args(["ptx", "run"]).arg(&self.path).args(arguments).output();
        launch.unwrap().into()
    }

    /// Launches with the three arguments of [`TEXTURE`].
    fn fetch(&self, more: &[&str]) -> Ran {
        let arguments = ["--block", "1", "--arg", "0", "--arg", "zeros:16", "--arg", "zeros:4"];
        self.run(&[&arguments[..], more].concat())
    }
}

fn read(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap()
}

/// The instruction, the argument and the exit status are the same in text and JSON.
#[test]
fn an_instruction_that_is_not_executed_is_a_finding() {
    let module = Module::new(TEXTURE);
    let text = module.fetch(&[]);
    assert_eq!((text.status, &*text.stderr), (1, ""));
    let of_line = format!("line 13: not executed, 1 time: {TEX}\n");
    assert!(text.stdout.contains(&of_line), "{}", text.stdout);
    let unknown = format!(
        "argument 1 `out`: 4 of 16 bytes are unknown, the first at offset 4: `{TEX}` in line 13 is not executed\n"
    );
    assert!(text.stdout.contains(&unknown), "{}", text.stdout);
    let ran = module.fetch(&["--format", "json"]);
    assert_eq!((ran.status, &*ran.stderr), (1, ""));
    let report = read(&ran);
    let listed = json!([{"instruction": TEX, "line": 13, "count": 1}]);
    assert_eq!(report["not_executed"], listed);
    let cause = format!("`{TEX}` in line 13 is not executed");
    let unknown = json!([
        {"argument": 1, "name": "out", "bytes": 4, "first": 4, "cause": cause},
        {"argument": null, "name": "lost", "bytes": 4, "first": 0, "cause": cause},
    ]);
    assert_eq!(report["unknown_bytes"], unknown);
    assert_eq!((&report["faults"], &report["launch"]["ended"]), (&json!([]), &json!(true)));
}

/// The status is that of a finding even if nothing depends on the instruction, and if only a register was never
/// written, without any such instruction.
#[test]
fn each_kind_of_finding_has_the_status() {
    let unused = Module::new(&TEXTURE.replace("st.global.u32 [%rd2+4], %r1;", ""));
    let report = unused.fetch(&["--format", "json"]);
    assert_eq!((report.status, &read(&report)["unknown_bytes"]), (1, &json!([])));
    let module = Module::new(&TEXTURE.replace(TEX, "mov.u32 %r2, 0"));
    let report = module.fetch(&["--format", "json"]);
    assert_eq!((report.status, &read(&report)["not_executed"]), (1, &json!([])));
    assert_eq!(read(&report)["unknown_bytes"][0]["cause"], "nothing has written `%r1`");
    let clean = Module::new(&TEXTURE.replace(TEX, "mov.u32 %r1, 0"));
    let report = clean.fetch(&["--format", "json"]);
    assert_eq!((report.status, &read(&report)["unknown_bytes"]), (0, &json!([])));
}

/// A file with zeros in place of unknown bytes is not written unless it is asked for, and others are.
#[test]
fn dumps_of_unknown_bytes_are_asked_for() {
    let module = Module::new(TEXTURE);
    let outputs = ["out", "known", "lost", "result"].map(|name| module.at(name));
    let dumps: Vec<String> = ["1", "2", "lost", "result"]
        .iter()
        .zip(&outputs)
        .flat_map(|(what, path)| ["--dump".to_owned(), format!("{what}={path}")])
        .collect();
    let dumps: Vec<&str> = dumps.iter().map(String::as_str).collect();
    let ran = module.fetch(&dumps);
    assert_eq!(ran.status, 1);
    for (what, named) in [("1", "argument 1 `out`"), ("lost", "`lost`")] {
        let error = format!("--dump {what}=");
        let line = ran.stderr.lines().find(|line| line.contains(&error)).unwrap();
        assert!(line.contains(&format!("not written: {named}: 4 of ")), "{line}");
        assert!(line.contains(TEX) && line.contains("`--dump-unknown`"), "{line}");
    }
    let [out, known, lost, result] = outputs.map(PathBuf::from);
    assert!(!out.exists() && !lost.exists());
    assert_eq!(fs::read(known).unwrap(), [2, 0, 0, 0]);
    assert_eq!(fs::read(result).unwrap(), [2, 0, 0, 0, 0, 0, 0, 0]);
    let ran = module.fetch(&[&dumps[..], &["--dump-unknown"]].concat());
    assert_eq!((ran.status, &*ran.stderr), (1, ""));
    assert_eq!((fs::read(out).unwrap(), fs::read(lost).unwrap()), (vec![0; 16], vec![0; 4]));
}

/// The values of a trace are those that the machine knows: an unknown one would replay as a known zero.
#[test]
fn traces_have_no_unknown_values() {
    let module = Module::new(TEXTURE);
    let trace = module.at("k.wlt");
    assert_eq!(module.fetch(&["--trace", &trace]).status, 1);
    let exported: Ran = warpload().args(["export", &trace, "-o", "-"]).output().unwrap().into();
    let records = exported.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let records = records.filter(|line| line.get("opcode").is_some());
    let values: Vec<(String, Option<String>)> = records
        .map(|record| {
            let value = record["values"][0][0].as_str().map(str::to_owned);
            (record["opcode"].as_str().unwrap().to_owned(), value)
        })
        .collect();
    // The store of the result, its load, and the store of what was loaded are not known.
    let expected = [
        ("st.global.u32", None),
        ("ld.global.u32", Some("0x0")),
        ("ld.global.u32", None),
        ("st.global.u32", None),
        ("ld.const.u32", Some("0x2")),
        ("st.global.u32", Some("0x2")),
        ("st.global.u32", Some("0x2")),
    ];
    let expected = expected.map(|(opcode, value)| (opcode.to_owned(), value.map(str::to_owned)));
    assert_eq!(values, expected);
    let replay = ["replay", &trace, "--format", "json"];
    let replayed: Ran = warpload().args(replay).output().unwrap().into();
    let loads = &read(&replayed)["loads"];
    assert_eq!((&loads["accesses"], &loads["values"]["accesses"]), (&3.into(), &2.into()));
}

/// A vector with one unknown element, a narrow load, and an atomic operation on unknown bytes.
#[test]
fn unknown_parts_of_wider_accesses_are_not_traced_either() {
    let body = "
    st.global.v2.u32 [%rd2+8], {%r5, %r1};
    ld.global.u8 %r6, [%rd2+12];
    ld.global.u8 %r6, [%rd2+8];
    atom.global.add.u32 %r7, [%rd2+12], 1;
    ld.global.u32 %r6, [%rd2+12];
    st.global.u32 [%rd2+12], %r5;
    ld.global.u32 %r6, [%rd2+12];";
    let module = Module::new(&TEXTURE.replace("st.global.u32 [%rd2+4], %r1;", body));
    let trace = module.at("k.wlt");
    assert_eq!(module.fetch(&["--trace", &trace]).status, 1);
    let exported: Ran = warpload().args(["export", &trace, "-o", "-"]).output().unwrap().into();
    let records = exported.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let records = records.filter(|line| line.get("opcode").is_some());
    let has_values: Vec<bool> = records.map(|record| record["values"][0][0].is_string()).collect();
    // Values of atomic operations are not traced.
    assert_eq!(has_values[..7], [false, false, true, false, false, true, true]);
}

/// A launch that is given up says what it found until then, and leaves no file.
#[test]
fn the_limit_of_steps_keeps_the_findings() {
    let module = Module::new(
        ".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a) {
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [a];
    ld.global.u32 %r1, [%rd1+64];
again:
    bra again;
}",
    );
    let (dump, trace) = (format!("0={}", module.at("a")), module.at("k.wlt"));
    let launch = ["--block", "1", "--arg", "zeros:64", "--steps", "1000"];
    let ran = module.run(&[&launch[..], &["--dump", &dump, "--trace", &trace]].concat());
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.starts_with("1 block, 1 warp: 1000 warp instructions, "), "{}", ran.stdout);
    assert!(ran.stdout.contains("line 7: out of bounds: "), "{}", ran.stdout);
    let limit = "line 9: 1000 warp instructions were executed, and the launch has not ended; its last jump back is \
                 `bra again`; no file is written";
    assert!(ran.stderr.contains(limit), "{}", ran.stderr);
    assert!(!Path::new(&module.at("a")).exists() && !Path::new(&trace).exists());
    let ran = module.run(&[&launch[..], &["--format", "json"]].concat());
    assert_eq!((ran.status, &read(&ran)["launch"]["ended"]), (1, &json!(false)));
    assert_eq!(read(&ran)["faults"][0]["kind"], "out_of_bounds");
    // Many blocks without a loop.
    let module = Module::new(TEXTURE);
    let ran = module.fetch(&["--grid", "100000", "--steps", "1000"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains(" of 100000 blocks, and the launch has not ended; it is at `"));
}

#[test]
fn variables_are_set_before_a_launch_and_read_after_it() {
    let module = Module::new(TEXTURE);
    let result = module.at("result");
    let dump = format!("result={result}");
    let value = |given: &str| {
        let ran = module.fetch(&["--dump", &dump, "--global", given]);
        assert!(ran.stderr.is_empty(), "{given}: {}", ran.stderr);
        fs::read(&result).unwrap()[0]
    };
    assert_eq!(value("factors=5,6,7"), 6);
    assert_eq!(value("factors=5"), 2, "the other elements keep their initial values");
    let bytes = module.at("factors.bin");
    fs::write(&bytes, [9, 0, 0, 0, 8, 0, 0, 0]).unwrap();
    assert_eq!(value(&format!("factors=@{bytes}")), 8);
    for (given, message) in [
        (
            "factor=1",
            "--global factor=1: no variable `factor`; the module has factors, result, lost",
        ),
        ("factors=1,2,3,4", "--global factors=1,2,3,4"),
        ("factors=x", "--global factors=x"),
        ("lost=@/nowhere", "--global lost=@/nowhere: cannot be read"),
    ] {
        let ran = module.fetch(&["--global", given]);
        assert_eq!(ran.status, 2, "{given}: {}", ran.stdout);
        assert!(ran.stderr.contains(message), "{given}: {}", ran.stderr);
    }
    let ran = module.fetch(&["--global", "lost=1", "--global", "lost=2"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("--global lost is given twice"), "{}", ran.stderr);
    fs::write(&bytes, [0; 16]).unwrap();
    let ran = module.fetch(&["--global", &format!("factors=@{bytes}")]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("`factors` has 12 bytes, 16 are given"), "{}", ran.stderr);
    let ran = module.fetch(&["--dump", "results=x"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("--dump results=x: no variable `results`"), "{}", ran.stderr);
}

/// A barrier in shared memory that only a skipped copy could complete: the wait ends at once, not after 2^30
/// instructions.
#[test]
fn a_wait_for_a_copy_that_is_not_executed_ends() {
    let copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16, [%r2]";
    let module = Module::new(&format!(
        ".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out) {{
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
    .shared .align 16 .b8 tile[16]; .shared .align 8 .b64 bar;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [out];
    mov.u32 %r1, tile; mov.u32 %r2, bar;
    mbarrier.init.shared.b64 [%r2], 1;
    mbarrier.arrive.expect_tx.shared.b64 %rd3, [%r2], 16;
    {copy};
again:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
    @!%p1 bra again;
    ld.shared.u32 %r3, [tile]; st.global.u32 [%rd2], %r3;
    ret;
}}"
    ));
    let ran = module.run(&[
        "--block", "1", "--arg", "zeros:16", "--arg", "zeros:4", "--format", "json", "--steps",
        "1000",
    ]);
    assert_eq!((ran.status, &*ran.stderr), (1, ""));
    let report = read(&ran);
    assert_eq!(report["launch"]["ended"], true);
    assert_eq!(report["not_executed"], json!([{"instruction": copy, "line": 11, "count": 1}]));
    let fault = &report["faults"][0];
    assert_eq!((&fault["line"], &fault["kind"]), (&13.into(), &"unknown_value".into()));
    assert!(fault["message"].as_str().unwrap().contains(copy), "{fault}");
}
