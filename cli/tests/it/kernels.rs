//! Kernels launched by `ptx run`.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Ran, warpload};

const SAXPY: &str = "benches/kernels/saxpy.ptx";

fn run(arguments: &[&str]) -> Ran {
    let launch = ["ptx", "run", SAXPY, "--function", "saxpy"];
    warpload().args(launch).args(arguments).output().unwrap().into()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn buffers_are_files_and_are_dumped() {
    let folder = tempfile::tempdir().unwrap();
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
    assert!(ran.stdout.contains("0x0; a null pointer?"), "{}", ran.stdout);
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
        (
            run(&["--arg", "3"]),
            "the kernel has 4 parameters, 1 is given: saxpy_param_0: .u32, saxpy_param_1: .f32, saxpy_param_2: .u64",
        ),
        (with(&["--block", "2000"]), "a block of 2000 x 1 x 1 threads: 1 to 1024 are possible"),
        (with(&["--grid", "1,2,3,4"]), "expected one to three numbers"),
        (with(&["--shared-bytes", "2000000"]), "a block has at most 1048576"),
        (run(&["--arg", "hex:00"]), "the kernel has 4 parameters"),
        (run(&["--arg", "hex:0"]), "expected pairs of hexadecimal digits"),
        (run(&["--arg", "zeros:99999999999999"]), "at most 16 GiB"),
        (run(&["--arg", "random:f64:0xffffffffffffffff"]), "at most 16 GiB"),
        (run(&["--arg", "ones:4"]), "`ones` needs a type: `ones:f32:4`"),
        (run(&["--arg", "iota:f31:4"]), "`f31` is no type of elements"),
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
fn buffers_are_filled_by_a_rule() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.bin");
    let dump = format!("3={}", out.display());
    let fills = ["--arg", "3", "--arg", "2.5", "--arg", "iota:f32:3", "--arg", "ones:f32:3"];
    let ran = run(&[&fills[..], &["--dump", &dump]].concat());
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    assert_eq!(fs::read(&out).unwrap(), floats(&[1.0, 3.5, 6.0]));
}

/// A buffer that the system has no memory for is an error, and does not abort.
#[cfg(target_os = "linux")]
#[test]
fn buffers_beyond_the_memory_of_the_process_are_refused() {
    for fill in ["zeros:8000000000", "random:f32:2000000000"] {
        let command = format!(
            "ulimit -v 2000000; exec \"$0\" ptx run ../benches/kernels/saxpy.ptx --function saxpy --arg 3 --arg 2.5 \
             --arg {fill} --arg zeros:12"
        );
        let ran = std::process::Command::new("sh")
            .args(["-c", &command, env!("CARGO_BIN_EXE_warpload")])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{stderr}");
        let message = "8000000000 bytes cannot be allocated: this process has too little memory";
        assert!(stderr.contains(message), "{stderr}");
    }
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

/// The costs of a kernel of traces/textbook.ptx in the order of the text: the opcode of each memory instruction, with the
/// mean sectors or wavefronts of an access from the JSON.
fn costs(kernel: &str, launch: &[&str]) -> Vec<(String, f64)> {
    let run = ["ptx", "run", "traces/textbook.ptx", "--format", "json", "--function", kernel];
    let ran: Ran = warpload().args(run).args(launch).output().unwrap().into();
    assert_eq!((ran.status, &*ran.stderr), (0, ""), "{kernel}");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["faults"], json!([]));
    let cost = |row: &Value| {
        let of = match row["shared"].is_null() {
            true => &row["global"]["sectors"]["sum"],
            false => &row["shared"]["wavefronts"]["sum"],
        };
        let mean = of.as_f64().unwrap() / row["accesses"].as_f64().unwrap();
        (row["opcode"].as_str().unwrap().to_owned(), mean)
    };
    report["rows"].as_array().unwrap().iter().map(cost).collect()
}

/// The numbers of every textbook on CUDA: 4 sectors for a row of 32 floats, 32 for a column; 32 wavefronts for a column of a tile,
/// 1 if the tile is padded or swizzled; and 16 sectors for one float of 32 structures of 16 bytes.
#[test]
fn transposes_and_structures_cost_what_textbooks_say() {
    let square = ["--grid", "4,4", "--block", "32,8"];
    let square = [&square[..], &["--arg", "zeros:65536", "--arg", "zeros:65536", "--arg", "128"]];
    let square = square.concat();
    for (kernel, global, shared) in [
        ("copy", [4.0, 4.0], None),
        ("transpose_naive", [4.0, 32.0], None),
        ("transpose_tiled", [4.0, 4.0], Some([1.0, 32.0])),
        ("transpose_padded", [4.0, 4.0], Some([1.0, 1.0])),
        ("transpose_swizzled", [4.0, 4.0], Some([1.0, 1.0])),
    ] {
        let costs = costs(kernel, &square);
        let of = |opcode: &str| -> Vec<f64> {
            let of = costs.iter().filter(|(known, _)| known == opcode);
            of.map(|(_, cost)| *cost).collect()
        };
        let [loads, stores] = global;
        assert_eq!(of("ld.global.f32"), [loads; 4], "{kernel}");
        assert_eq!(of("st.global.f32"), [stores; 4], "{kernel}");
        if let Some([stores, loads]) = shared {
            assert_eq!(of("st.shared.f32"), [stores; 4], "{kernel}");
            assert_eq!(of("ld.shared.f32"), [loads; 4], "{kernel}");
        }
        assert_eq!(costs.len(), if shared.is_some() { 16 } else { 8 }, "{kernel}");
    }
    for (kernel, bytes, sectors) in
        [("array_of_structures", "zeros:16384", 16.0), ("structure_of_arrays", "zeros:4096", 4.0)]
    {
        let launch = ["--grid", "4", "--block", "256", "--arg", bytes, "--arg", "0.5"];
        let costs = costs(kernel, &[&launch[..], &["--arg", "1024"]].concat());
        let expected = ["ld.global.f32", "st.global.f32"].map(|op| (op.to_owned(), sectors));
        assert_eq!(costs, expected, "{kernel}");
    }
}

/// The counts of a launch equal the counts of a replay of its trace, except for the values, which only the trace has.
fn assert_counts_are_of_the_trace(launch: &Ran, trace: &str) -> Value {
    let replay = warpload().args(["replay", trace, "--format", "json"]).output().unwrap();
    let replay: Ran = replay.into();
    let [mut launched, replayed] =
        [launch, &replay].map(|ran| serde_json::from_str::<Value>(&ran.stdout).unwrap());
    assert_eq!(launched["launch"]["steps"], launched["launch"]["warp_instructions"]);
    let known = ["not_executed", "unknown_bytes", "printed", "printed_bytes"];
    let faults = ["faults", "fault_counts", "fault_totals", "verdict"];
    for key in ["file", "launch"].into_iter().chain(known).chain(faults) {
        launched.as_object_mut().unwrap().remove(key);
    }
    let mut counted = replayed.clone();
    remove_values(&mut counted);
    assert_eq!(launched, counted);
    replayed
}

fn remove_values(counts: &mut Value) {
    match counts {
        Value::Object(map) => {
            map.remove("values");
            map.values_mut().for_each(remove_values);
        }
        Value::Array(list) => list.iter_mut().for_each(remove_values),
        _ => {}
    }
}

/// Every kind of access in every space: of a row for each, a copy with two.
#[test]
fn a_launch_counts_as_a_replay_of_its_trace() {
    const MODULE: &str = "\
.version 8.4
.target sm_80
.address_size 64
.const .align 4 .b8 table[128];
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<20>;
    .reg .b64 %rd<20>;
    .reg .pred %p<3>;
    .shared .align 16 .b8 tile[4096];
    .local .align 8 .b8 stack[64];
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 72;
    add.s64 %rd3, %rd1, %rd2;
    setp.lt.u32 %p1, %r1, 21;
    mov.u32 %r2, 0;
    @%p1 ld.global.v2.u32 {%r2, %r3}, [%rd3];
    st.global.u16 [%rd3+6], %r2;
    atom.global.add.u32 %r4, [%rd1+8], %r1;
    @%p1 red.global.max.u32 [%rd1+4], %r1;
    mov.u32 %r5, tile;
    shl.b32 %r6, %r1, 5;
    add.s32 %r5, %r5, %r6;
    cp.async.ca.shared.global [%r5], [%rd3], 4;
    cp.async.wait_all;
    bar.warp.sync 0xffffffff;
    shl.b32 %r7, %r1, 4;
    mov.u32 %r8, tile;
    add.s32 %r8, %r8, %r7;
    st.shared.v4.u32 [%r8], {%r1, %r1, %r1, %r1};
    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r9, %r10}, [%r8];
    atom.shared.add.u32 %r11, [tile], 1;
    cvt.u64.u32 %rd5, %r8;
    cvta.shared.u64 %rd5, %rd5;
    selp.b64 %rd6, %rd5, %rd3, %p1;
    ld.u32 %r12, [%rd6];
    st.u8 [%rd6+1], %r12;
    st.local.u64 [stack+8], %rd1;
    ld.local.u32 %r13, [stack+12];
    shr.u32 %r14, %r1, 3;
    mul.wide.u32 %rd7, %r14, 4;
    mov.u64 %rd8, table;
    add.s64 %rd8, %rd8, %rd7;
    ld.const.u32 %r15, [%rd8];
    ret;
}
";
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (module, trace) = (at("k.ptx"), at("t.wlt"));
    fs::write(&module, MODULE).unwrap();
    let launch = ["ptx", "run", &module, "--block", "40", "--grid", "3", "--arg", "zeros:4096"];
    let outputs = ["--trace", &trace, "--format", "json"];
    let ran: Ran = warpload().args(launch).args(outputs).output().unwrap().into();
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    let replayed = assert_counts_are_of_the_trace(&ran, &trace);
    let rows = replayed["rows"].as_array().unwrap().iter();
    let mut kinds: Vec<String> =
        rows.map(|row| ["kind", "space"].map(|key| row[key].as_str().unwrap()).join(" ")).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let expected = [
        "atomic global",
        "atomic shared",
        "copy global",
        "copy shared",
        "load constant",
        "load generic",
        "load global",
        "load local",
        "load shared",
        "reduction global",
        "store generic",
        "store global",
        "store local",
        "store shared",
    ];
    assert_eq!(kinds, expected);
    // Without a trace the counts are the same, and no file is left.
    let without: Ran = warpload().args(launch).args(["--format", "json"]).output().unwrap().into();
    assert_eq!(without.stdout, ran.stdout);
}

/// Memory of `malloc` is beyond 40 bits. Lanes of a copy that ignore their source read no sector, like a null pointer
/// that is not read.
#[test]
fn heaps_and_ignored_sources_count_as_in_a_replay() {
    const MODULE: &str = "\
.version 8.3
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.visible .entry k(.param .u64 a)
{
    .reg .b64 %rd<9>;
    .reg .b32 %r<9>;
    .reg .pred %p<2>;
    .shared .align 16 .b8 tile[256];
    ld.param.u64 %rd1, [a];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    { .param .b64 n; .param .b64 r; st.param.b64 [n], 256; call (r), malloc, (n); ld.param.b64 %rd3, [r]; }
    st.global.u32 [%rd3], %r1;
    ld.u32 %r3, [%rd3];
    setp.lt.u32 %p1, %r1, 16;
    selp.b64 %rd4, %rd1, 0, %p1;
    selp.u32 %r4, 4, 0, %p1;
    mov.u32 %r5, tile;
    shl.b32 %r6, %r1, 2;
    add.u32 %r5, %r5, %r6;
    cp.async.ca.shared.global [%r5], [%rd4], 4, %r4;
    cp.async.wait_all;
    ret;
}
";
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (module, trace) = (at("k.ptx"), at("t.wlt"));
    fs::write(&module, MODULE).unwrap();
    let launch = ["ptx", "run", &module, "--block", "32", "--arg", "zeros:128"];
    let outputs = ["--trace", &trace, "--format", "json"];
    let ran: Ran = warpload().args(launch).args(outputs).output().unwrap().into();
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    let replayed = assert_counts_are_of_the_trace(&ran, &trace);
    let rows = replayed["rows"].as_array().unwrap().iter();
    let sectors: Vec<&Value> = rows.map(|row| &row["global"]["sectors"]["sum"]).collect();
    assert_eq!(sectors, [&json!(32), &json!(32), &json!(2), &Value::Null]);
}

/// The trace has values, replays to the same counts, and the page names lines of PTX and of the source.
#[test]
fn a_launch_leaves_a_trace_and_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (trace, page) = (at("t.wlt"), at("t.html"));
    let launch = ["ptx", "run", "traces/textbook.ptx", "--function", "transpose_tiled"];
    let shape = ["--block", "32,8", "--arg", "zeros:4096", "--arg", "zeros:4096", "--arg", "32"];
    let outputs = ["--trace", &trace, "--html", &page, "--format", "json"];
    let launch = warpload().args(launch).args(shape).args(outputs).output().unwrap();
    let launch: Ran = launch.into();
    assert_eq!((launch.status, &*launch.stderr), (0, ""));
    let replayed = assert_counts_are_of_the_trace(&launch, &trace);
    let loads = &replayed["loads"];
    assert_eq!(loads["values"]["accesses"], loads["accesses"]);
    // The trace survives its export.
    let (json, again) = (at("t.jsonl"), at("again.wlt"));
    for arguments in [["export", &trace, "-o", &json], ["import", &json, "-o", &again]] {
        let ran: Ran = warpload().args(arguments).output().unwrap().into();
        assert_eq!((ran.status, &*ran.stderr), (0, ""), "{arguments:?}");
    }
    let again = warpload().args(["replay", &again, "--format", "json"]).output().unwrap();
    let again: Ran = again.into();
    assert_eq!(serde_json::from_str::<Value>(&again.stdout).unwrap()["rows"], replayed["rows"]);
    let page = fs::read_to_string(page).unwrap();
    for shown in ["<code>line 182</code>", "ld.shared.f32 %f5, [%rd19]", "textbook.cu:26"] {
        assert!(page.contains(shown), "{shown}");
    }
}
