//! The reports of launched kernels: rows of counts, faults in text, JSON and on the page, and what was not counted.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::{Value, json};
use warpload_ptx::launch::{
    AccessStatements, AllocationUse, DeviceMemory, Kernel, KernelLaunch, LaunchTrace, MemoryAccess,
    MemoryObserver,
};

use crate::common::{Ran, warpload};

/// A module with one kernel, `k`.
fn module(body: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out) {{
.shared .align 16 .b8 s[8192]; .reg .pred %p<9>; .reg .b32 %r<90>; .reg .b64 %rd<90>; .reg .b32 x,y;
ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; setp.eq.u32 %p1, 0, 0; setp.eq.u32 %p2, 0, 1;
shl.b32 %r1, %r0, 7; mov.u32 %r2, s; add.u32 %r1, %r1, %r2;\n{body}\nret;\n}}"
    )
}

/// Launches a kernel of 32 threads with a buffer of 4,096 bytes.
fn run(source: &str, arguments: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    fs::write(&path, source).unwrap();
    let run = ["ptx", "run", path.to_str().unwrap(), "--block", "32", "--arg", "zeros:4096"];
    warpload().args(run).args(arguments).output().unwrap().into()
}

fn run_json(source: &str) -> Value {
    let ran = run(source, &["--format", "json"]);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr))
}

/// The rows, without the keys that tell where an instruction is.
fn counts(report: &Value) -> Vec<Value> {
    let rows = report["rows"].as_array().unwrap().iter().cloned();
    let without = |mut row: Value| {
        for key in ["pc", "ptx", "ptx_line", "ptx_column"] {
            row.as_object_mut().unwrap().remove(key);
        }
        row
    };
    rows.map(without).collect()
}

/// One instruction, however it is written, has one count: opcode and space are in the tree, not in its text. ptxas 12.9
/// accepts each.
#[test]
fn spellings_do_not_change_counts() {
    let plain = counts(&run_json(&module("@%p1 ld.shared.b64 %rd5, [%r1];")));
    assert_eq!(plain.len(), 1);
    assert_eq!((&plain[0]["opcode"], &plain[0]["accesses"]), (&json!("ld.shared.b64"), &json!(1)));
    // 32 lanes, 128 bytes apart: all in the same two banks.
    assert_eq!(plain[0]["shared"]["wavefronts"]["sum"], json!(32));
    for written in [
        "@ %p1 ld.shared.b64 %rd5, [%r1];",
        "@%p1 ld .shared .b64 %rd5, [%r1];",
        "@%p1 ld.shared/* 8 bytes */.b64 %rd5, [%r1];",
        "@%p1 ld.shared.b64%rd5,[%r1];",
        "@!%p2 ld.shared.b64 %rd5, [%r1];",
        "@ ! %p2 ld.shared.b64 %rd5, [%r1];",
        "@%p1\n\tld\n\t.shared\n\t.b64\n\t%rd5,\n\t[%r1]\n\t;",
        "@%p1\r\nld.shared // of 8 bytes\r\n.b64 %rd5, [%r1];\r\n",
        "L: @%p1 ld.shared.b64 %rd5, [%r1];",
        "L:@%p1/**/ld.shared.b64/**/%rd5,[%r1+0];",
        "{ { @%p1 ld.shared.b64 %rd5, [ %r1 ]; } }",
        "@%p1 /* @ %p2 st.global.b32 */ ld.shared.b64 %rd5, [%r1];",
    ] {
        assert_eq!(counts(&run_json(&module(written))), plain, "{written}");
    }
    // The same for a store, an atomic operation and a copy.
    for (plain, written) in [
        ("st.global.u32 [%rd1], %r0;", "@ %p1 st .global /* x */ .u32 [%rd1], %r0;"),
        ("atom.global.add.u32 %r5, [%rd1], 1;", "@ %p1 atom .global .add .u32 %r5, [%rd1], 1;"),
        ("red.shared.add.u32 [%r1], 1;", "@ ! %p2 red\n.shared\n.add .u32 [%r1], 1;"),
        (
            "cp.async.ca.shared.global [%r1], [%rd1], 16;",
            "cp .async/**/.ca .shared .global [%r1], [%rd1], 16;",
        ),
    ] {
        let counts = [plain, written].map(|written| counts(&run_json(&module(written))));
        // A copy has two sides.
        assert_eq!(counts[0].len(), if plain.starts_with("cp") { 2 } else { 1 }, "{plain}");
        assert_eq!(counts[0], counts[1], "{written}");
    }
}

/// Pairs of the place and the text of all rows, by program counter.
fn places(report: &Value) -> Vec<(Value, Value, String)> {
    let rows = report["rows"].as_array().unwrap().iter();
    let pc = |row: &Value| u64::from_str_radix(&row["pc"].as_str().unwrap()[2..], 16).unwrap();
    let mut rows: Vec<&Value> = rows.collect();
    rows.sort_by_key(|row| pc(row));
    let pcs: BTreeSet<u64> = rows.iter().map(|row| pc(row)).collect();
    assert_eq!(pcs.len(), rows.len(), "a program counter of two instructions");
    let place = |row: &&Value| {
        let text = row["ptx"].as_str().unwrap().to_owned();
        (row["ptx_line"].clone(), row["ptx_column"].clone(), text)
    };
    rows.iter().map(place).collect()
}

/// A row of counts is an instruction. The lines of a block of inline assembly, of a macro, and of a module that is one line
/// have several.
#[test]
fn instructions_of_one_line_have_rows_of_their_own() {
    let body = "{ ld.global.u32 %r5, [%rd1]; st.shared.u32 [s], %r5; ld.shared.u32 %r6, [s]; st.global.u32 [%rd1], %r6; }
ld.global.u32 %r7, [%rd1];
ld.global.u32
    %r8, [%rd1+4]; ld.global.u32 %r8, [%rd1+4];";
    let report = run_json(&module(body));
    let row = |line: u32, column: Option<u32>, text: &str| {
        (json!(line), column.map_or(Value::Null, Value::from), text.to_owned())
    };
    let expected = [
        row(8, Some(3), "ld.global.u32 %r5, [%rd1]"),
        row(8, Some(30), "st.shared.u32 [s], %r5"),
        row(8, Some(54), "ld.shared.u32 %r6, [s]"),
        row(8, Some(78), "st.global.u32 [%rd1], %r6"),
        row(9, None, "ld.global.u32 %r7, [%rd1]"),
        // It begins alone in its line.
        row(10, None, "ld.global.u32 %r8, [%rd1+4]"),
        row(11, None, "ld.global.u32 %r8, [%rd1+4]"),
    ];
    assert_eq!(places(&report), expected);
    // The whole module in one line.
    let report = run_json(&module(body).replace('\n', " "));
    let texts: Vec<String> = places(&report).into_iter().map(|place| place.2).collect();
    assert_eq!(texts, expected.clone().map(|row| row.2));
    // The text names the places, and the trace carries them.
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (trace, json, again) = (at("t.wlt"), at("t.jsonl"), at("again.wlt"));
    let ran = run(&module(body), &["--trace", &trace]);
    for shown in [" line 8:3  ld.global.u32 %r5", "line 8:54  ld.shared", "line 8:78  st.global"] {
        assert!(ran.stdout.contains(shown), "{shown}: {}", ran.stdout);
    }
    for arguments in [["export", &trace, "-o", &json], ["import", &json, "-o", &again]] {
        let ran: Ran = warpload().args(arguments).output().unwrap().into();
        assert_eq!((ran.status, &*ran.stderr), (0, ""), "{arguments:?}");
    }
    let replay = warpload().args(["replay", &again, "--format", "json"]).output().unwrap();
    let replayed: Value = serde_json::from_str(&Ran::from(replay).stdout).unwrap();
    assert_eq!(places(&replayed), expected);
}

/// Rows name the file and the line of the user's code.
#[test]
fn rows_have_sources() {
    let body = ".loc 1 20 5\nld.global.u32 %r5, [%rd1];
.loc 2 113 7, function_name f, inlined_at 1 21 5\nld.global.u32 %r5, [%rd1];
.loc 3 9 1\nld.global.u32 %r5, [%rd1];\n.loc 1 0 0\nld.global.u32 %r5, [%rd1];";
    let source = module(body) + "\n.file 1 \"/home/u/k.cu\"\n.file 2 \"/usr/f.h\"\n";
    let report = run_json(&source);
    let rows = report["rows"].as_array().unwrap();
    let sources: Vec<Value> =
        rows.iter().map(|row| json!([row["source_file"], row["source_line"]])).collect();
    let file = "/home/u/k.cu";
    assert_eq!(
        sources,
        [json!([file, 20]), json!([file, 21]), json!([null, 9]), json!([null, null])]
    );
    let text = run(&source, &[]).stdout;
    assert!(text.contains("k.cu:20\n") && text.contains("k.cu:21\n"), "{text}");
    assert!(text.contains("line 9\n"), "{text}");
}

/// All lanes of the first load fault, one lane of the second; a store is misaligned.
const FAULTY: &str = "ld.global.u32 %r5, [%rd1+4096];
mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd1, %rd2; add.u64 %rd2, %rd2, 3972;
ld.global.u32 %r6, [%rd2]; st.global.u32 [%rd1+2], %r6;
setp.eq.u32 %p3, %r0, 31; @%p3 trap;";

#[test]
fn faults_are_in_the_json_and_on_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("p.html");
    let ran = run(&module(FAULTY), &["--format", "json", "--html", page.to_str().unwrap()]);
    assert_eq!(ran.status, 1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let counts = json!({"misaligned": 32, "out_of_bounds": 33, "trap": 1});
    assert_eq!(report["launch"]["fault_counts"], counts);
    assert_eq!(report["faults"].as_array().unwrap().len(), 20 + 1 + 20 + 1);
    let lanes = |of: &Value, kind: &str| {
        let faults = &of[kind]["lane_faults"];
        ["outside_allocation", "misaligned_address"].map(|key| faults[key].as_u64().unwrap_or(0))
    };
    for of in [&report, &report["launches"][0]] {
        assert_eq!([lanes(of, "loads"), lanes(of, "stores")], [[33, 0], [0, 32]]);
    }
    let totals = report["launch"]["fault_totals"].as_array().unwrap();
    let totals: Vec<(&Value, &Value, &Value)> =
        totals.iter().map(|one| (&one["line"], &one["kind"], &one["count"])).collect();
    assert_eq!(
        totals,
        [
            (&json!(8), &json!("out_of_bounds"), &json!(32)),
            (&json!(10), &json!("out_of_bounds"), &json!(1)),
            (&json!(10), &json!("misaligned"), &json!(32)),
            (&json!(11), &json!("trap"), &json!(1)),
        ]
    );
    // Instructions do not vanish because all of their lanes fault.
    let of = |kind: &str| -> Vec<(Value, Value, Value)> {
        let rows = report["rows"].as_array().unwrap().iter().filter(|row| row["kind"] == kind);
        let outside = |row: &Value| row["lane_faults"]["outside_allocation"].clone();
        rows.map(|row| (row["ptx_line"].clone(), row["lanes"].clone(), outside(row))).collect()
    };
    assert_eq!(of("load"), [(json!(8), json!(0), json!(32)), (json!(10), json!(31), json!(1))]);
    assert_eq!(of("store"), [(json!(10), json!(0), json!(0))]);
    let page = fs::read_to_string(page).unwrap();
    for shown in [
        "66 faults (32 misaligned, 33 out of bounds, 1 trap)",
        "id=\"fault-totals\"",
        "<code>line 8</code>",
        "out of bounds: 0x80001000 is the end of argument 0 (`out`)",
        "<code>line 10:28</code>",
        "<code>@%p3 trap</code>",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    let text = run(&module(FAULTY), &[]).stdout;
    for shown in [
        "line 8: out of bounds: 28 more\n",
        "line 10:28: misaligned: 28 more\n",
        "line 10:1: out of bounds: 0x80001000 is the end of argument 0 (`out`)\n",
        "\n66 faults (32 misaligned, 33 out of bounds, 1 trap)\n",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
}

/// A trace has no faults, so it says that there were some.
#[test]
fn the_trace_of_a_faulty_launch_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.wlt").display().to_string();
    assert_eq!(run(&module(FAULTY), &["--trace", &trace]).status, 1);
    let replay = warpload().args(["replay", &trace, "--format", "json"]).output().unwrap();
    let replayed: Value = serde_json::from_str(&Ran::from(replay).stdout).unwrap();
    let note = "the launch had 66 faults (32 misaligned, 33 out of bounds, 1 trap); the trace has the lanes without one";
    assert_eq!(replayed["notes"], json!([note]));
}

#[test]
fn a_clean_run_says_what_was_not_checked() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("p.html");
    let clean = module("st.global.u32 [%rd1], 5;");
    let ran = run(&clean, &["--html", page.to_str().unwrap()]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    let verdict = "no faults; races, synchronization and uninitialized memory were not checked";
    assert!(ran.stdout.contains(&format!("\n{verdict}\n")), "{}", ran.stdout);
    assert!(fs::read_to_string(page).unwrap().contains(verdict));
    let ran = run(&clean, &["--check"]);
    assert!(ran.stdout.contains("\nno faults\n"), "{}", ran.stdout);
    let report = run_json(&clean);
    let launch = &report["launch"];
    assert_eq!((&launch["verdict"], &launch["fault_counts"]), (&json!(verdict), &json!({})));
}

#[test]
fn one_block_of_a_large_grid() {
    let body =
        "mov.u32 %r5, %ctaid.x; mov.u32 %r6, %nctaid.x; st.global.v2.u32 [%rd1], {%r5, %r6};";
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("o");
    let dump = format!("0={}", out.display());
    let block = ["--grid", "4000000000,3", "--blocks", "3999999999,2", "--dump", &dump];
    let ran = run(&module(body), &block);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    assert!(
        ran.stdout.contains("only block (3999999999, 2, 0) of 4000000000 x 3 x 1 was run"),
        "{}",
        ran.stdout
    );
    let words: Vec<u8> =
        [3_999_999_999_u32, 4_000_000_000].iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(fs::read(&out).unwrap()[..8], words);
    let ran = run(&module(body), &["--grid", "4", "--blocks", "4"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("no block (4, 0, 0): the grid has 4 x 1 x 1"), "{}", ran.stderr);
}

/// A launch without `--trace` writes no file, so it runs and counts everything where no temporary file can be made.
#[test]
fn a_launch_needs_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    fs::write(&path, module("st.global.u32 [%rd1], %r0;")).unwrap();
    let launched = |more: &[&str]| -> Ran {
        let run = ["ptx", "run", path.to_str().unwrap(), "--block", "32", "--arg", "zeros:4096"];
        let none = Path::new("/nonexistent");
        warpload().args(run).args(more).env("TMPDIR", none).output().unwrap().into()
    };
    let ran = launched(&["--format", "json"]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["stores"]["global"]["sectors"]["sum"], 1);
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    // With a place that was asked for, an error stays one.
    let ran = launched(&["--trace", "/nonexistent/t.wlt"]);
    assert_eq!(ran.status, 2);
}

/// Gives no operation a number, as if there were too many.
struct Full<'m>(AccessStatements<'m>);

impl MemoryObserver for Full<'_> {
    fn access(&mut self, access: &MemoryAccess<'_>) {
        assert_eq!(self.0.find(access, |_| None).operation, None);
    }
}

/// Parameters are left out by design, which needs no note.
#[test]
fn accesses_that_cannot_be_counted_are_told() {
    let source = module("st.global.u32 [%rd1], %r0; ld.global.u32 %r2, [%rd1];");
    let module = warpload_ptx::read(&source).unwrap();
    let kernel = Kernel::named(&module, "k").unwrap();
    let mut memory = DeviceMemory::new();
    let address = memory.allocate(vec![0; 4096], AllocationUse::Argument(0)).unwrap();
    let launch = KernelLaunch::new([1; 3], [64, 1, 1]).parameter(&address.to_le_bytes());
    let mut full = Full(AccessStatements::new(&kernel));
    assert_eq!(full.0.left_out(), None);
    kernel.run(&launch, &mut memory, Some(&mut full)).unwrap();
    let note = "the accesses of 2 instructions are left out, because there are more than 65536 different operations";
    assert_eq!(full.0.left_out().as_deref(), Some(note));
}

/// An output with room for some bytes.
struct Small(Cursor<Vec<u8>>, usize);

impl Write for Small {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_full = self.0.get_ref().len() + bytes.len() > self.1;
        if is_full { Err(io::ErrorKind::StorageFull.into()) } else { self.0.write(bytes) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Small {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// A full disk ends the trace, and not the launch.
#[test]
fn a_launch_goes_on_after_its_trace_fails() {
    let source = module(
        "mov.u32 %r5, 0;\nagain: ld.global.u32 %r6, [%rd1]; add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 20000;
        @%p3 bra again; st.global.u32 [%rd1], %r5;",
    );
    let module = warpload_ptx::read(&source).unwrap();
    let kernel = Kernel::named(&module, "k").unwrap();
    let mut memory = DeviceMemory::new();
    let address = memory.allocate(vec![0; 4096], AllocationUse::Argument(0)).unwrap();
    let launch = KernelLaunch::new([1; 3], [32, 1, 1]).parameter(&address.to_le_bytes());
    let output = Small(Cursor::default(), 200);
    let mut trace = LaunchTrace::new(&kernel, &launch, String::new(), output).unwrap();
    kernel.run(&launch, &mut memory, Some(&mut trace)).unwrap();
    assert_eq!(memory.bytes(address).unwrap()[..4], 20_000_u32.to_le_bytes());
    assert_eq!(trace.finish().err().unwrap().kind(), io::ErrorKind::StorageFull);
}

/// `--check` has a list or none, before and after the file.
#[test]
fn checks_are_chosen_by_a_list() {
    let source = module("st.global.u32 [%rd1], %r0; bar.warp.sync 1;");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    fs::write(&path, &source).unwrap();
    let ran = |before: &[&str], after: &[&str]| -> Ran {
        let mut command = warpload();
        command.args(["ptx", "run"]).args(before).arg(&path);
        command.args(["--block", "32", "--arg", "zeros:4096", "--format", "json"]).args(after);
        command.output().unwrap().into()
    };
    for (options, expected) in [
        (&[][..], &[][..]),
        (&["--check"], &["membermask", "race"]),
        (&["--check", "races,uninitialized"], &["race"]),
        (&["--check=sync"], &["membermask"]),
        // The store is to global memory.
        (&["--check", "races:shared"], &[]),
        (&["--check=races", "--check=sync"], &["membermask", "race"]),
        (&["--check=races:shared", "--check=sync", "--check=races"], &["membermask", "race"]),
        (&["--check=sync", "--check"], &["membermask", "race"]),
        (&["--check-races"], &["race"]),
        (&["--check-uninitialized"], &[]),
    ] {
        for ran in [ran(options, &[]), ran(&[], options)] {
            assert_eq!(ran.stderr, "", "{options:?}");
            let report: Value = serde_json::from_str(&ran.stdout).unwrap();
            let counts = report["launch"]["fault_counts"].as_object().unwrap();
            let kinds: Vec<&str> = counts.keys().map(String::as_str).collect();
            assert_eq!(kinds, expected, "{options:?}");
            assert_eq!(ran.status, i32::from(!expected.is_empty()), "{options:?}");
            // The store races with itself.
            for fault in report["faults"].as_array().unwrap() {
                let is_race = fault["kind"] == "race";
                assert_eq!(fault.get("other_line").is_some(), is_race, "{fault}");
                assert!(!is_race || fault["other_line"] == fault["line"], "{fault}");
                let place = [&fault["argument"], &fault["parameter"], &fault["offset"]];
                assert!(!is_race || place == [&json!(0), &json!("out"), &json!(0)], "{fault}");
            }
        }
    }
    // A mistake as a word of its own is no file, and nothing is launched.
    for wrong in ["--check=race", "--check race", "--check sync,uninit", "--check syncs"] {
        let options: Vec<&str> = wrong.split(' ').collect();
        let word = wrong.rsplit([' ', '=', ',']).next().unwrap();
        for ran in [ran(&options, &[]), ran(&[], &options)] {
            assert_eq!((ran.status, &*ran.stdout), (2, ""), "{wrong}");
            let expected = format!("no check \"{word}\"; the checks are races,");
            assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
        }
    }
    let file = folder.path().join("race");
    fs::copy(&path, &file).unwrap();
    let ran = ran(&["--check", file.to_str().unwrap()], &[]);
    assert_eq!((ran.status, &*ran.stderr), (1, ""));
}

/// What a race lets a thread read too early is also unwritten.
#[test]
fn races_are_shown_before_what_they_cause() {
    let source = module(
        "mad.lo.u32 %r5, %r0, 4, %r2; xor.b32 %r6, %r0, 31; mad.lo.u32 %r6, %r6, 4, %r2;
        ld.shared.u32 %r8, [%r6];\nst.shared.u32 [%r5], %r0;",
    );
    let text = run(&source, &["--check"]).stdout;
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{text}"));
    assert!(place(": race: `s`") < place(": uninitialized: nothing has written the bytes at `s`"));
    let ran = run(&source, &["--check", "--format", "json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let faults = report["faults"].as_array().unwrap();
    assert!(faults.iter().all(|fault| fault["variable"] == "s" && fault["offset"].is_u64()));
}

/// Unknown bytes are written to no file, and end with status 1.
#[test]
fn a_buffer_may_be_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let (path, dump) = (folder.path().join("k.ptx"), folder.path().join("out.bin"));
    fs::write(&path, module("st.global.u32 [%rd1+4], 7;")).unwrap();
    let ran = |bytes: &str| -> Ran {
        let mut command = warpload();
        command.args(["ptx", "run"]).arg(&path).args(["--block", "32", "--arg", bytes, "--dump"]);
        command.arg(format!("0={}", dump.display())).output().unwrap().into()
    };
    let unknown = ran("uninit:8");
    assert_eq!((unknown.status, dump.exists()), (1, false), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("the initial value has bytes without a value"));
    assert_eq!((ran("zeros:8").status, dump.exists()), (0, true));
}

#[test]
fn blocks_that_are_not_resident_are_named() {
    let source = module(
        "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p3, %r1, 0; @%p3 bra set;
        wait: ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p3, %r2, 0; @%p3 bra wait; bra.uni end;
        set: st.release.gpu.global.u32 [%rd1], 1; end:",
    );
    assert_eq!(run(&source, &["--grid", "2", "--resident", "2"]).status, 0);
    let ran = run(&source, &["--grid", "2", "--resident", "1"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stdout.contains("; block (1, 0, 0) never begins, because other blocks wait"));
}
