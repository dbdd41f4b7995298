//! What `replay` counts of accesses whose opcode or address is less usual, in every output.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::Ran;
use serde_json::{Value, json};

/// The bases of the windows that the traces here have.
const SHARED: u64 = 0x7f3c_1500_0000;
const LOCAL: u64 = 0x7f3c_1300_0000;

/// Writes a trace of one warp, and returns its file.
fn traced(folder: &Path, name: &str, instructions: &[String]) -> String {
    let text = format!(
        "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n\
         -shmem base_addr = {SHARED:#x}\n-local mem base_addr = {LOCAL:#x}\n-binary version = 100\n\
         -accelsim tracer version = 5\n#traces format = x\n#BEGIN_TB\nthread block = 0,0,0\n\
         warp = 0\ninsts = {}\n{}#END_TB\n",
        instructions.len(),
        instructions.concat()
    );
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// An access of all lanes, each `stride` bytes after the one before.
fn access(pc: u32, opcode: &str, width: u32, base: u64, stride: u64) -> String {
    format!("{pc:04x} ffffffff 1 R4 {opcode} 1 R2 {width} 1 {base:#x} {stride} 0\n")
}

fn run(arguments: &[&str]) -> Ran {
    crate::common::warpload().args(arguments).output().unwrap().into()
}

fn replay(arguments: &[&str]) -> String {
    crate::common::succeeded(crate::common::warpload().arg("replay").args(arguments))
}

fn summary(trace: &str) -> Value {
    serde_json::from_str(&replay(&[trace, "--format", "json"])).unwrap()
}

/// Returns a row's counts by the headings of CSV.
fn csv_row(csv: &str, pc: &str) -> impl Fn(&str) -> String {
    let mut lines = csv.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let headings = lines.next().unwrap();
    let place = headings.iter().position(|heading| heading == "pc").unwrap();
    let row = lines.find(|row| row[place] == pc).unwrap();
    move |heading| row[headings.iter().position(|one| one == heading).unwrap()].clone()
}

#[test]
fn accesses_of_256_bits_and_reductions_have_their_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let global = 0x7f3b_c000_0000;
    let trace = traced(
        folder.path(),
        "wide.traceg",
        &[
            access(0x10, "LDG.E.ENL2.256", 32, global, 32),
            access(0x20, "LDG.E.EL.ENL2.256.CONSTANT", 32, global, 32),
            access(0x30, "STG.E.ENL2.256", 32, global, 32),
            access(0x40, "REDG.E.ADD.F32.FTZ.RN.STRONG.GPU", 4, global, 4),
            access(0x50, "RED.E.ADD.F32x4.RN.STRONG.GPU", 16, global, 16),
            access(0x60, "REDG.E.ADD.F32x2.FTZ.RN.STRONG.GPU", 8, global, 8),
        ],
    );
    let whole = summary(&trace);
    for (kind, accesses, lanes, bytes, sectors) in [
        ("loads", 2, 64, 2048, 64),
        ("stores", 1, 32, 1024, 32),
        ("atomics", 0, 0, 0, 0),
        ("reductions", 3, 96, 896, 28),
    ] {
        let of = &whole[kind];
        let counts = ["accesses", "lanes", "bytes"].map(|key| of[key].as_u64().unwrap());
        assert_eq!(counts, [accesses, lanes, bytes], "{kind}");
        assert_eq!(of["global"]["sectors"]["sum"].as_u64().unwrap_or(0), sectors, "{kind}");
        assert_eq!(of["global"]["ideal_sectors"].as_u64().unwrap_or(0), sectors, "{kind}");
        assert_eq!(of.get("width_disagreements"), None, "{kind}");
    }
    // The binary trace and the export have 32 bytes too.
    let binary = folder.path().join("wide.wlt");
    let export = folder.path().join("wide.jsonl");
    let [binary, export] = [&binary, &export].map(|path| path.to_str().unwrap());
    assert_eq!(run(&["import", &trace, "-o", binary]).status, 0);
    assert_eq!(run(&["export", binary, "--format", "jsonl", "-o", export]).status, 0);
    for copy in [binary, export] {
        assert_eq!(summary(copy), whole);
    }
    // Eight registers of each lane are loaded.
    let digest = |fill: &str| -> Value {
        serde_json::from_str(&replay(&[&trace, "--fill", fill, "--format", "json"])).unwrap()
    };
    assert_ne!(digest("address")["digest"], digest("zero")["digest"]);
}

#[test]
fn cutracer_has_accesses_of_32_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = json!({
        "type": "kernel_metadata", "mangled_name": "k", "grid": [1, 1, 1], "block": [32, 1, 1],
        "instructions": {"0": {"sass": "LDG.E.ENL2.256 R8, R4, desc[UR4][R2.64] ;"}},
    });
    let addresses: Vec<u64> = (0..32).map(|lane| 0x7f00_0000_1000 + 32 * lane).collect();
    let mut access = json!({
        "type": "mem_value_trace", "addrs": addresses, "cta": [0, 0, 0], "ctx": "0x1",
        "grid_launch_id": 0, "opcode_id": 0, "pc": "0x10", "warp": 0, "access_size": 32,
        "values": vec![[1, 2, 3, 4]; 32],
    });
    let file = folder.path().join("wide.ndjson");
    let replayed = |access: &Value| {
        fs::write(&file, format!("{kernel}\n{access}\n")).unwrap();
        run(&["replay", file.to_str().unwrap(), "--fill", "zero", "--format", "json"])
    };
    let ran = replayed(&access);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let whole: Value = serde_json::from_str(&ran.stdout).unwrap();
    let loads = &whole["loads"];
    assert_eq!((&loads["bytes"], &loads["global"]["sectors"]["sum"]), (&json!(1024), &json!(32)));
    // The tool keeps half of the values, so that they are not compared.
    let values = &loads["values"];
    assert_eq!((&values["accesses"], &values["checked"]), (&json!(1), &json!(0)));
    access["values"] = json!(vec![[1; 8]; 32]);
    let ran = replayed(&access);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("a value of 8 words; expected 4"), "{}", ran.stderr);
    access["access_size"] = json!(64);
    access["values"] = json!(vec![[1; 4]; 32]);
    let ran = replayed(&access);
    assert!(ran.stderr.contains("expected 1, 2, 4, 8, 16 or 32 bytes"), "{}", ran.stderr);
}

#[test]
fn a_wide_load_of_shared_memory_has_no_conflict_by_its_width() {
    let folder = tempfile::tempdir().unwrap();
    let trace = traced(
        folder.path(),
        "wide.traceg",
        &[
            access(0x10, "LDS.128", 16, 0, 0),
            access(0x20, "LDS.64", 8, 0, 0),
            access(0x30, "LDS.128", 16, 0, 32),
            access(0x40, "ATOMS.ADD", 4, 0x100, 0),
            access(0x50, "ATOMS.ADD", 4, 0x100, 4),
            access(0x60, "STS", 4, 0, 128),
        ],
    );
    let whole = summary(&trace);
    let shared = &whole["loads"]["shared"];
    let counts = ["accesses", "ideal_wavefronts", "conflicts"];
    assert_eq!(counts.map(|key| shared[key].as_u64().unwrap()), [3, 6, 4]);
    assert_eq!(shared["wavefronts"]["sum"], 14);
    let rows = whole["rows"].as_array().unwrap();
    let conflicts: Vec<&Value> = rows.iter().map(|row| &row["shared"]["conflicts"]).collect();
    assert_eq!(conflicts, [&json!(0), &json!(0), &json!(4), &json!(0), &json!(0), &json!(31)]);
    // How lanes of an atomic take turns at a word is not known, but these at different words do not.
    let atomic = |row: usize| {
        let shared = &rows[row]["shared"];
        (shared["accesses"].as_u64(), shared["unknown"].as_u64())
    };
    assert_eq!((atomic(3), atomic(4)), ((Some(0), Some(1)), (Some(1), None)));
    let text = replay(&[&trace]);
    let line = "shared 14 wavefronts, ideal 6 (43 %), 4 bank conflicts\n";
    assert!(text.contains(line), "{text}");
    let csv = replay(&[&trace, "--format", "csv", "--sort", "conflicts"]);
    let first = csv.lines().nth(1).unwrap();
    assert!(first.starts_with("0,store,shared,4,0x60,STS,"), "{first}");
    let row = csv_row(&csv, "0x40");
    assert_eq!(["shared_accesses", "shared_unknown"].map(row), ["0", "1"]);
    let row = csv_row(&csv, "0x30");
    let names = ["shared_wavefronts_sum", "shared_ideal_wavefronts", "shared_conflicts"];
    assert_eq!(names.map(row), ["8", "4", "4"]);
    let page = folder.path().join("page.html");
    replay(&[&trace, "--html", page.to_str().unwrap()]);
    let page = fs::read_to_string(page).unwrap();
    let row = page.split("<tr").find(|row| row.contains("<code>0x40</code>")).unwrap();
    assert!(row.contains("atomic"), "{row}");
    // Whichever shard has which, the merged rows are those of the whole.
    let shards: Vec<String> = (0..4)
        .map(|i| {
            let path = folder.path().join(format!("{i}.json"));
            let shard = format!("{i}/4");
            fs::write(&path, replay(&[&trace, "--shard", &shard, "--format", "json"])).unwrap();
            path.to_str().unwrap().to_owned()
        })
        .collect();
    let merged = crate::common::succeeded(
        crate::common::warpload().args(["merge", "--format", "json"]).args(&shards),
    );
    assert_eq!(merged, replay(&[&trace, "--format", "json"]));
}

#[test]
fn a_generic_load_has_the_columns_of_the_memories_that_it_reads() {
    let folder = tempfile::tempdir().unwrap();
    // A column of a tile, without and with padding; a spill; and a store to shared memory.
    let at = |stride| {
        [
            access(0x10, "LD.E", 4, SHARED, stride),
            access(0x20, "LD.E", 4, LOCAL + 64, 0),
            access(0x30, "LD.E", 4, 0x7f00_0000_0000, 4),
            access(0x40, "ST.E", 4, SHARED, stride),
        ]
    };
    let column = traced(folder.path(), "column.traceg", &at(128));
    let padded = traced(folder.path(), "padded.traceg", &at(132));
    let whole = summary(&column);
    let mut bank_words = [0; 32];
    bank_words[0] = 32;
    let shared = json!({
        "accesses": 1, "wavefronts": {"sum": 32, "min": 32, "max": 32}, "ideal_wavefronts": 1,
        "conflicts": 31, "bank_words": bank_words,
    });
    let local = json!({"accesses": 1, "sectors": 4, "ideal_sectors": 4});
    let row = |i: usize| whole["rows"][i].clone();
    assert_eq!(row(0)["shared"], shared);
    assert_eq!(row(1)["local"], local);
    assert_eq!(row(1).get("shared"), None);
    assert_eq!(row(2).get("shared").or(row(2).get("local")), None);
    assert_eq!(row(3)["shared"], shared);
    assert_eq!(
        (row(3)["kind"].as_str(), row(3)["space"].as_str()),
        (Some("store"), Some("generic"))
    );
    // Text.
    let text = replay(&[&column, "--sort", "conflicts"]);
    let row = text.lines().find(|line| line.trim_start().starts_with("0x10 ")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[2..].join(" "), "generic load 1 32.0 0.00 0.00 32.00 32..32 1.00 31.00 - -");
    let headings = text.lines().find(|line| line.contains("wavefronts each")).unwrap();
    assert!(headings.contains("conflicts each") && headings.contains("local each"), "{headings}");
    // CSV.
    let csv = replay(&[&column, "--format", "csv", "--sort", "conflicts"]);
    assert!(csv.lines().nth(1).unwrap().starts_with("0,load,generic,4,0x10,LD.E,"));
    let names = ["sum", "min", "max"].map(|of| format!("shared_wavefronts_{of}"));
    assert_eq!(names.each_ref().map(|name| csv_row(&csv, "0x10")(name)), ["32", "32", "32"]);
    let names = ["local_sectors", "local_ideal_sectors", "shared_wavefronts_sum"];
    assert_eq!(names.map(csv_row(&csv, "0x20")), ["4", "4", ""]);
    // The page.
    let page = folder.path().join("page.html");
    replay(&[&column, "--html", page.to_str().unwrap()]);
    let page = fs::read_to_string(page).unwrap();
    for finding in ["97 % of the load wavefronts", "97 % of the store wavefronts"] {
        assert!(page.contains(finding), "{finding}");
    }
    // What changed between two replays.
    let files = [&column, &padded].map(|trace| {
        let path = format!("{trace}.json");
        fs::write(&path, replay(&[trace, "--format", "json"])).unwrap();
        path
    });
    let compared = run(&["compare", &files[1], &files[0], "--format", "json"]);
    let compared: Value = serde_json::from_str(&compared.stdout).unwrap();
    assert_eq!(compared["kinds"][0]["kind"], "load");
    assert_eq!(compared["kinds"][0]["wavefronts"], json!([1, 32]));
    assert_eq!(compared["rows"][0]["wavefronts"], json!([1, 32]));
    assert_eq!(compared["rows"][0]["opcode"], "LD.E");
}

#[test]
fn values_are_compared_on_an_image_alone() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = json!({
        "type": "kernel_metadata", "mangled_name": "k", "grid": [1, 1, 1], "block": [32, 1, 1],
        "instructions": {"0": {"sass": "LDG.E R8, desc[UR4][R2.64] ;"},
                         "1": {"sass": "STG.E desc[UR4][R2.64], R8 ;"}},
    });
    let access = |opcode: u32, base: u64| {
        let addresses: Vec<u64> = (0..32).map(|lane| base + 4 * lane).collect();
        json!({
            "type": "mem_value_trace", "addrs": addresses, "cta": [0, 0, 0], "ctx": "0x1",
            "grid_launch_id": 0, "opcode_id": opcode, "pc": format!("{:#x}", 16 * opcode),
            "warp": 0, "access_size": 4, "values": vec![[0x0403_0201]; 32],
        })
    };
    let (load, store) = (access(0, 0x1000), access(1, 0x9000));
    let trace = folder.path().join("values.ndjson");
    fs::write(&trace, format!("{kernel}\n{load}\n{store}\n")).unwrap();
    fs::write(folder.path().join("image.bin"), [1, 2, 3, 4].repeat(32)).unwrap();
    let manifest = json!({"memory": {"global": [{"base": "0x1000", "file": "image.bin"}]}});
    let image = folder.path().join("image.json");
    fs::write(&image, manifest.to_string()).unwrap();
    let [trace, image] = [&trace, &image].map(|path| path.to_str().unwrap());
    for fill in ["address", "zero"] {
        let ran = run(&["replay", trace, "--fill", fill, "--format", "json"]);
        assert_eq!((ran.status, &*ran.stderr), (0, ""), "{fill}");
        let whole: Value = serde_json::from_str(&ran.stdout).unwrap();
        let values = &whole["loads"]["values"];
        assert_eq!((&values["checked"], &values["mismatches"]), (&json!(0), &json!(0)));
        assert_eq!(whole["stores"]["global"]["sectors"]["sum"], 4);
    }
    let ran = run(&["replay", trace, "--image", image, "--format", "json"]);
    let whole: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let checked = &whole["loads"]["values"]["checked"];
    assert_eq!((ran.status, checked), (0, &json!(1)), "{}", ran.stderr);
    // The image has only what loads read.
    assert_eq!(whole["stores"]["global"]["sectors"]["sum"], 0);
    let note = "note: 32 lanes of stores, atomics and copies outside the image: sectors and \
                wavefronts are counted without them\n";
    assert_eq!(ran.stderr, note);
}

/// Source lines of the trace's own, which name no file.
#[test]
fn source_lines_of_the_trace_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let source = "tests/data/traces2/v4-lineinfo.trace.xz";
    let expected = replay(&[source, "--format", "csv"]);
    let row = csv_row(&expected, expected.lines().nth(1).unwrap().split(',').nth(4).unwrap());
    assert_eq!(row("source_file"), "");
    assert!(row("source_line").parse::<u32>().is_ok(), "{expected}");
    let json = summary(source);
    for one in json["rows"].as_array().unwrap() {
        let row = csv_row(&expected, one["pc"].as_str().unwrap());
        assert_eq!(row("source_line"), one["source_line"].to_string());
    }
    assert!(replay(&[source]).contains("  line "));
    let [binary, export] = ["a.wlt", "a.jsonl"].map(|name| folder.path().join(name));
    let [binary, export] = [&binary, &export].map(|path| path.to_str().unwrap());
    assert_eq!(run(&["import", source, "-o", binary]).status, 0);
    assert_eq!(run(&["export", binary, "--format", "jsonl", "-o", export]).status, 0);
    for copy in [binary, export] {
        assert_eq!(replay(&[copy, "--format", "csv"]), expected);
    }
    // The same instructions, grouped by warps.
    let page = folder.path().join("page.html");
    replay(&["tests/data/traces2/v4-lineinfo.trace.xz", "--html", page.to_str().unwrap()]);
    assert!(fs::read_to_string(page).unwrap().contains(">line "));
}

/// The name of a kernel is in each of its rows.
#[cfg(target_os = "linux")]
#[test]
fn csv_is_not_held_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let rows = 500;
    let name = "n".repeat(60_000);
    let mut text = format!(
        "-kernel name = {name}\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-binary version = 80\n\
         -accelsim tracer version = 5\n#traces format = x\n#BEGIN_TB\nthread block = 0,0,0\n\
         warp = 0\ninsts = {rows}\n"
    );
    for pc in 0..rows {
        text += &format!("{:04x} 00000001 1 R4 LDG.E 1 R2 4 1 0x1000 4 0\n", 16 * pc);
    }
    let trace = folder.path().join("long.traceg");
    fs::write(&trace, text + "#END_TB\n").unwrap();
    let trace = trace.to_str().unwrap();
    let csv = folder.path().join("long.csv");
    // 30 MB of CSV, whose text alone would take more than that.
    let command = format!(
        "ulimit -v 55000; exec \"$0\" replay \"$1\" --threads 1 --format csv --top {rows} > \"$2\""
    );
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &command]).arg(env!("CARGO_BIN_EXE_warpload")).arg(trace).arg(&csv);
    let ran = Ran::from(shell.output().unwrap());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let bytes = fs::metadata(&csv).unwrap().len();
    assert!(bytes > rows as u64 * name.len() as u64, "{bytes}");
}
