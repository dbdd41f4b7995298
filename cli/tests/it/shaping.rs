//! What `replay` counts if it is asked for a part of the loads, how its tables are shaped, and `compare`.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::Ran;
use serde_json::{Value, json};

const LIST: &str = "tests/data/cmd/kernelslist.g";
const TILE: &str = "tests/data/cmd/tile.g";
const PADDED: &str = "tests/data/cmd/tile-padded.g";
const BTREE: &str = "traces/btree-v5-kernel-1.traceg";

fn run(arguments: &[&str]) -> Ran {
    crate::common::warpload().args(arguments).output().unwrap().into()
}

fn replay(trace: &str, more: &[&str]) -> String {
    let arguments = ["replay", trace, "--fill", "address", "--format"];
    crate::common::succeeded(crate::common::warpload().args(arguments).args(more))
}

fn summary(trace: &str, more: &[&str]) -> Value {
    serde_json::from_str(&replay(trace, &[&["json"], more].concat())).unwrap()
}

fn digest(summary: &Value) -> u64 {
    u64::from_str_radix(summary["digest"].as_str().unwrap(), 16).unwrap()
}

fn rows(summary: &Value) -> &Vec<Value> {
    summary["rows"].as_array().unwrap()
}

fn pc(row: &Value) -> u64 {
    u64::from_str_radix(&row["pc"].as_str().unwrap()[2..], 16).unwrap()
}

/// The accesses of all kinds.
fn accesses(summary: &Value) -> u64 {
    let kinds = ["loads", "stores", "atomics", "reductions", "copies"];
    kinds.iter().map(|kind| summary[kind]["accesses"].as_u64().unwrap()).sum()
}

#[test]
fn a_selection_counts_its_accesses_alone() {
    let whole = summary(LIST, &[]);
    type Chosen = fn(&Value) -> bool;
    let cases: [(&[&str], Chosen); 6] = [
        (&["--kernel", "^win"], |row| row["kernel"] == "windows"),
        (&["--pc", "16..0x30"], |row| (0x10..=0x30).contains(&pc(row))),
        (&["--pc", "32"], |row| pc(row) == 0x20),
        (&["--opcode", "LDG*"], |row| row["opcode"].as_str().unwrap().starts_with("LDG")),
        (&["--opcode", "LDG.E"], |row| row["opcode"] == "LDG.E"),
        (&["--kernel", "gather", "--opcode", "*.{64,U8}"], |row| {
            row["kernel"] == "gather"
                && ["LDG.E.64", "LDG.E.U8"].contains(&row["opcode"].as_str().unwrap())
        }),
    ];
    for (options, is_chosen) in cases {
        let chosen = summary(LIST, options);
        let expected: Vec<&Value> = rows(&whole).iter().filter(|row| is_chosen(row)).collect();
        assert!(!expected.is_empty() && expected.len() < rows(&whole).len(), "{options:?}");
        assert_eq!(rows(&chosen).iter().collect::<Vec<_>>(), expected, "{options:?}");
        let expected: u64 = expected.iter().map(|row| row["accesses"].as_u64().unwrap()).sum();
        assert_eq!(accesses(&chosen), expected, "{options:?}");
        for same in ["instructions", "others"] {
            assert_eq!(chosen[same], whole[same], "{options:?} {same}");
        }
        let unselected = accesses(&whole) - accesses(&chosen);
        assert_eq!(chosen["unselected"], unselected, "{options:?}");
    }
    assert_eq!(whole.get("selected"), None);
    let selected = &summary(LIST, &["--pc", "0x20..48", "--opcode", "L*"])["selected"];
    let expected = json!({"kernel": null, "pc": "0x20..0x30", "opcode": "L*", "space": null});
    assert_eq!(*selected, expected);
}

#[test]
fn the_memories_add_up_to_the_whole() {
    let whole = summary(LIST, &[]);
    let (mut sum, mut all) = (0u64, 0);
    for space in ["global", "local", "shared", "constant", "unresolved"] {
        let part = summary(LIST, &["--space", space]);
        let of = |summary: &Value| summary["loads"]["by_space"][space].as_u64().unwrap_or(0);
        assert_eq!((part["loads"]["accesses"].as_u64(), of(&part)), (Some(of(&whole)), of(&whole)));
        sum = sum.wrapping_add(digest(&part));
        all += accesses(&part);
    }
    assert_eq!((sum, accesses(&whole)), (digest(&whole), all));
}

#[test]
fn kernels_are_selected_by_either_name() {
    let whole = summary(BTREE, &[]);
    let name = whole["launches"][0]["kernel"].as_str().unwrap();
    let demangled = "find_key_kernel(knode const*, int, int const*, int*, int)";
    assert_eq!(whole["launches"][0]["demangled"], demangled);
    for pattern in [name, demangled, r"^find_key_kernel\(knode const\*", "key"] {
        let chosen = summary(BTREE, &["--kernel", pattern, "--no-demangle"]);
        assert_eq!(chosen["loads"], whole["loads"], "{pattern}");
        assert_eq!(chosen["launches"][0].get("demangled"), None);
    }
    assert_eq!(summary(LIST, &[])["launches"][0].get("demangled"), None);
    let text = |more: &[&str]| replay(BTREE, &[&["text"], more].concat());
    assert!(text(&[]).contains(demangled) && !text(&[]).contains(name));
    assert!(text(&["--no-demangle"]).contains(name));
}

#[test]
fn a_selection_without_loads_is_refused() {
    for (options, expected) in [
        (
            &["--kernel", "gathr"][..],
            "error: no kernel name matches `gathr`; the nearest are `gather`, ",
        ),
        (
            &["--opcode", "LDG"],
            "error: no opcode of a memory access matches `LDG`; the nearest are `LDG.E`, ",
        ),
        (
            &["--opcode", "STL*"],
            "error: no opcode of a memory access matches `STL*`; the nearest are `STG.E`, ",
        ),
        (
            &["--pc", "17"],
            "error: no memory access is at program counter 0x11; the nearest are at 0x10 and 0x20\n",
        ),
        (
            &["--kernel", "gather", "--opcode", "LDS*"],
            "error: nothing is selected: no memory access has kernel gather, opcode LDS*\n",
        ),
        (
            &["--pc", "17", "--space", "global"],
            "error: no memory access is at program counter 0x11; ",
        ),
    ] {
        for format in ["text", "json", "csv"] {
            let ran = run(&[&["replay", LIST, "--format", format], options].concat());
            assert_eq!((ran.status, &*ran.stdout), (2, ""), "{options:?}");
            assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
        }
    }
    // That no load is in a memory is an answer.
    let ran = run(&["replay", LIST, "--kernel", "gather", "--space", "shared"]);
    assert_eq!((ran.status, &*ran.stderr), (0, "note: no memory access is selected\n"));
    // A shard need not have the loads, but one of all has.
    let folder = tempfile::tempdir().unwrap();
    let shards = |pc: &str| {
        let shard = |i: usize| {
            let shard = format!("{i}/2");
            let ran = run(&["replay", LIST, "--pc", pc, "--shard", &shard, "--format", "json"]);
            assert_eq!(ran.status, 0, "{}", ran.stderr);
            write(folder.path(), &format!("{pc}-{i}"), &ran.stdout)
        };
        let [one, other] = [shard(0), shard(1)];
        run(&["merge", "--format", "json", &one, &other])
    };
    assert_eq!(shards("0x10").status, 0);
    let ran = shards("0x11");
    assert_eq!((ran.status, &*ran.stdout), (2, ""));
    assert_eq!(ran.stderr, "error: nothing is selected: no memory access has pc 0x11\n");
}

#[test]
fn wrong_selections_are_wrong_use() {
    for options in [
        &["--pc", "20..10"][..],
        &["--pc", "1a0"],
        &["--opcode", "["],
        &["--top", "0"],
        &["--sort", "size"],
    ] {
        assert_eq!(run(&[&["replay", LIST], options].concat()).status, 2, "{options:?}");
    }
    let ran = run(&["replay", LIST, "--space", "share"]);
    let names = "possible values: global, local, shared, constant, unresolved";
    assert!(ran.status == 2 && ran.stderr.contains(names), "{}", ran.stderr);
}

#[test]
fn shards_of_a_selection_merge_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["json", "--pc", "0x100..0xa00", "--kernel", "find_key"];
    let whole = replay(BTREE, &options);
    let mut merge = ["merge", "--format", "json"].map(str::to_owned).to_vec();
    for i in 0..5 {
        let path = folder.path().join(format!("{i}.json"));
        let shard = format!("{i}/5");
        fs::write(&path, replay(BTREE, &[&options[..], &["--shard", &shard]].concat())).unwrap();
        merge.push(path.to_str().unwrap().to_owned());
    }
    assert!(whole.contains("\"demangled\":\"find_key_kernel("));
    assert_eq!(crate::common::succeeded(crate::common::warpload().args(merge)), whole);
}

/// Returns the fields of each line. Nothing in these traces is quoted but demangled names, at the end.
fn csv(trace: &str, more: &[&str]) -> Vec<Vec<String>> {
    let table = replay(trace, &[&["csv"], more].concat());
    let columns = table.split('\n').next().unwrap().split(',').count();
    let fields = |line: &str| line.splitn(columns, ',').map(str::to_owned).collect();
    table.lines().map(fields).collect()
}

#[test]
fn csv_has_the_numbers_of_json() {
    let summary = summary(TILE, &[]);
    let table = csv(TILE, &["--sort", "pc"]);
    let (heading, lines) = table.split_first().unwrap();
    let at = |line: &Vec<String>, key: &str| {
        line[heading.iter().position(|name| name == key).unwrap()].clone()
    };
    assert_eq!(lines.len(), rows(&summary).len());
    for (line, row) in lines.iter().zip(rows(&summary)) {
        let text = |value: &Value| value.to_string().trim_matches('"').to_owned();
        for key in ["launch", "kernel", "pc", "opcode", "kind", "space", "accesses", "lanes"] {
            assert_eq!(at(line, key), text(&row[key]), "{key}");
        }
        // The JSON keys of each number, joined by `_`, name its column.
        let mut numbers = Vec::new();
        each_number(row, String::new(), &mut numbers);
        for (key, number) in numbers {
            assert_eq!(at(line, &key), number.to_string(), "{key}");
        }
        if row.get("shared").is_none() {
            assert_eq!(at(line, "shared_wavefronts_sum"), "");
        }
    }
    let kinds: Vec<String> = lines.iter().map(|line| at(line, "kind")).collect();
    for (kind, count) in [("store", 2), ("reduction", 1), ("copy", 1)] {
        assert_eq!(kinds.iter().filter(|of| *of == kind).count(), count, "{kind}");
    }
    assert_eq!(at(&lines[0], "demangled"), "\"transpose(float*, float const*, int)\"");
}

/// Lists the numbers of a row with their keys.
fn each_number(value: &Value, at: String, numbers: &mut Vec<(String, u64)>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            let separator = if at.is_empty() { "" } else { "_" };
            if key != "first_fault" {
                each_number(value, format!("{at}{separator}{key}"), numbers);
            }
        }),
        Value::Number(number) => numbers.push((at, number.as_u64().unwrap())),
        _ => {}
    }
}

#[test]
fn the_first_rows_have_the_most() {
    let sum = |row: &Value, of: &str| row.pointer(of).and_then(Value::as_u64).unwrap_or(0);
    let sectors = |row: &Value| sum(row, "/global/sectors/sum") + sum(row, "/local/sectors");
    type Weight<'w> = &'w dyn Fn(&Value) -> u64;
    let weights: [(&str, Weight<'_>); 5] = [
        ("sectors", &sectors),
        ("accesses", &|row| sum(row, "/accesses")),
        ("lanes", &|row| sum(row, "/lanes")),
        ("conflicts", &|row| sum(row, "/shared/conflicts")),
        ("excess", &|row| {
            let ideal = sum(row, "/global/ideal_sectors") + sum(row, "/local/ideal_sectors");
            let wavefronts = sum(row, "/shared/wavefronts/sum");
            let repeats = sum(row, "/constant/addresses") - sum(row, "/constant/accesses");
            sectors(row) - ideal + wavefronts - sum(row, "/shared/ideal_wavefronts") + repeats
        }),
    ];
    let summary = summary(BTREE, &[]);
    for (key, weight) in weights {
        let mut expected: Vec<&Value> = rows(&summary).iter().collect();
        expected.sort_by_key(|row| std::cmp::Reverse(weight(row)));
        let expected: Vec<&str> = expected.iter().map(|row| row["pc"].as_str().unwrap()).collect();
        let table = csv(BTREE, &["--sort", key]);
        let pcs: Vec<&str> = table[1..].iter().map(|line| &*line[4]).collect();
        assert_eq!(pcs, expected, "{key}");
        assert_eq!(csv(BTREE, &["--sort", key, "--top", "3"]), table[..4]);
    }
    assert_eq!(csv(BTREE, &[]), csv(BTREE, &["--sort", "excess"]));
    let table = csv(BTREE, &["--sort", "pc"]);
    let sorted: Vec<u64> =
        table[1..].iter().map(|line| u64::from_str_radix(&line[4][2..], 16).unwrap()).collect();
    assert_eq!(sorted, rows(&summary).iter().map(pc).collect::<Vec<_>>());
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn what_changed_between_two_replays() {
    let folder = tempfile::tempdir().unwrap();
    let a = write(folder.path(), "a.json", &replay(TILE, &["json"]));
    let b = write(folder.path(), "b.json", &replay(PADDED, &["json"]));
    let compared = |a: &str, b: &str, more: &[&str]| {
        run(&[&["compare", a, b, "--format", "json"], more].concat())
    };
    let ran = compared(&b, &a, &[]);
    let comparison: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    let kinds = comparison["kinds"].as_array().unwrap();
    assert_eq!((&kinds[0]["kind"], &kinds[0]["accesses"]), (&json!("load"), &json!([7, 7])));
    // A column without padding is read from one bank.
    assert_eq!(kinds[0]["wavefronts"], json!([9, 40]));
    let first = json!({
        "kernel": "_Z9transposePfPKfi", "pc": "0x20", "opcode": "LDS", "kind": "load",
        "space": "shared", "accesses": [1, 1], "sectors": [0, 0], "wavefronts": [1, 32],
        "addresses": [0, 0], "unknown": [0, 0], "faults": [0, 0], "change": 3100.0,
    });
    assert_eq!(comparison["rows"][0], first);
    assert!(comparison["rows"].as_array().unwrap()[1..].iter().all(|row| row["change"] == 0.0));
    // 31 wavefronts more than the costs of all accesses.
    let first = |of: &Value| -> f64 {
        let costs = ["sectors", "wavefronts", "addresses"];
        costs.iter().map(|cost| of[cost][0].as_f64().unwrap()).sum()
    };
    let whole: f64 = kinds.iter().map(first).sum();
    let percent = 3100.0 / whole;
    assert!((comparison["change"].as_f64().unwrap() - percent).abs() < 1e-9);
    for (limit, status) in [(percent - 0.1, 1), (percent + 0.1, 0), (-1.0, 1)] {
        assert_eq!(compared(&b, &a, &["--fail-above", &limit.to_string()]).status, status);
    }
    assert_eq!(compared(&a, &b, &["--fail-above", "0"]).status, 0);
    assert_eq!(compared(&a, &a, &["--fail-above", "0"]).status, 0);
    assert_eq!(compared(&a, &a, &["--fail-above=-1"]).status, 1);
    assert_eq!(compared(&a, &a, &["--fail-above", "much"]).status, 2);
}

#[test]
fn the_page_of_a_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let a = write(folder.path(), "a<b>.json", &replay(TILE, &["json"]));
    let evil = replay(PADDED, &["json"]).replace("LDS.128", "LDS<script>");
    let b = write(folder.path(), "b.json", &evil);
    let ran = run(&["compare", &a, &b, "--html", &at("page.html")]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    let page = fs::read_to_string(at("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    for expected in [
        "-96.9 %",
        "a&lt;b&gt;.json",
        "transpose(float*, float const*, int)",
        "LDS&lt;script&gt;",
        "new",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains("<script") && !page.contains("http://"));
    for tag in ["table", "tr", "td", "th", "code", "section", "div"] {
        let open =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    // Neither an input nor standard output takes the page.
    for to in [&*a, "-"] {
        assert_eq!(run(&["compare", &a, &b, "--html", to]).status, 2, "{to}");
    }
    assert_eq!(fs::read_to_string(&a).unwrap(), replay(TILE, &["json"]));
    let names = run(&["compare", &a, &b, "--no-demangle"]).stdout;
    assert!(names.contains("_Z9transposePfPKfi") && !names.contains("transpose(float*"));
}

/// Returns a summary as if it were of the selection of another one, which is in a file.
fn nothing_but_selected(summary: &str, other: &str) -> String {
    let mut summary: Value = serde_json::from_str(summary).unwrap();
    let other: Value = serde_json::from_str(&fs::read_to_string(other).unwrap()).unwrap();
    summary["selected"] = other["selected"].clone();
    summary.to_string()
}

#[test]
fn program_counters_of_one_side() {
    let folder = tempfile::tempdir().unwrap();
    let both = write(folder.path(), "both", &replay(TILE, &["json"]));
    let second = write(folder.path(), "second", &replay("tests/data/cmd/tile-2.traceg", &["json"]));
    let compare = |a: &str, b: &str| -> Value {
        let ran = run(&["compare", a, b, "--format", "json"]);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let lost = compare(&both, &second);
    let row = lost["rows"].as_array().unwrap().iter().find(|row| row["opcode"] == "LDS").unwrap();
    assert_eq!(row["wavefronts"], json!([32, null]));
    assert_eq!((&row["accesses"], &row["change"]), (&json!([1, null]), &json!(-100.0)));
    let new = compare(&second, &both);
    // What came of nothing is first, and most of it.
    assert_eq!(new["rows"][0]["wavefronts"], json!([null, 32]));
    assert_eq!(new["rows"][0]["change"], Value::Null);
    // A comparison with a replay of nothing is above any limit.
    let local = ["json", "--space", "local"];
    let nothing = replay("tests/data/cmd/tile-2.traceg", &local);
    let nothing = write(folder.path(), "nothing", &nothing);
    let some = nothing_but_selected(&replay(TILE, &["json"]), &nothing);
    let some = write(folder.path(), "some", &some);
    assert_eq!(run(&["compare", &nothing, &some, "--fail-above", "1000000"]).status, 1);
    // Of different selections, one can have become better by what it leaves out.
    let ran = run(&["compare", &both, &nothing, "--fail-above", "0"]);
    assert_eq!((ran.status, &*ran.stdout), (2, ""));
    assert!(
        ran.stderr.starts_with("error: the replays counted different accesses: all in the first, "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("those of space local in the second"), "{}", ran.stderr);
}

#[test]
fn only_summaries_of_whole_replays_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let good = write(folder.path(), "good", &replay(TILE, &["json"]));
    for (name, text, expected) in [
        (
            "shard",
            replay(TILE, &["json", "--shard", "0/2"]),
            "shard: the summary of shard 0 of 2; ",
        ),
        ("text", replay(TILE, &["text"]), "text: not a summary of a replay: "),
        ("vector", "{\"loads\": 1}".to_owned(), "vector: not a summary of a replay: "),
        ("empty", String::new(), "empty: not a summary of a replay: "),
    ] {
        let bad = write(folder.path(), name, &text);
        for files in [[&good, &bad], [&bad, &good]] {
            let ran = run(&["compare", files[0], files[1], "--fail-above", "0"]);
            assert_eq!((ran.status, &*ran.stdout), (2, ""), "{name}");
            assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        }
    }
    assert_eq!(run(&["compare", "-", "-"]).status, 2);
}

/// A selection is about every access: the trace of two kernels has stores of both.
#[test]
fn selections_apply_to_stores_and_copies() {
    const ROWS: &str = "traces/rows.kernelslist.g";
    let stores = |options: &[&str]| {
        let summary = summary(ROWS, options);
        let stores = rows(&summary).iter().filter(|row| row["kind"] == "store");
        let name = |row: &serde_json::Value| {
            format!("{} {}", row["kernel"].as_str().unwrap(), row["pc"].as_str().unwrap())
        };
        stores.map(name).collect::<Vec<_>>()
    };
    let all = stores(&[]);
    let of_gather: Vec<String> = all.iter().filter(|row| row.contains("gather")).cloned().collect();
    assert!(!of_gather.is_empty() && of_gather.len() < all.len(), "{all:?}");
    assert_eq!(stores(&["--kernel", "gather"]), of_gather);
    let chosen = summary(ROWS, &["--kernel", "gather"]);
    let whole = summary(ROWS, &[]);
    // The number of instructions stays the trace's.
    assert_eq!(chosen["instructions"], whole["instructions"]);
    let sectors = |of: &Value| of["stores"]["global"]["sectors"]["sum"].as_u64();
    assert!(sectors(&chosen) < sectors(&whole));
    let lines = |of: &Value| of["footprint"]["lines"].as_u64();
    assert!(lines(&chosen) < lines(&whole));
    // A selection of stores alone is one.
    let (kernel, pc) = all[0].split_once(' ').unwrap();
    let only = stores(&["--kernel", kernel, "--pc", pc]);
    assert_eq!(only, [all[0].clone()]);
    assert_eq!(summary(ROWS, &["--kernel", kernel, "--pc", pc])["loads"]["accesses"], 0);
    assert_eq!(stores(&["--opcode", "LDG*"]), Vec::<String>::new());
    let csv = run(&["replay", ROWS, "--pc", pc, "--format", "csv"]);
    let rows: Vec<&str> = csv.stdout.lines().skip(1).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.contains(pc)), "{}", csv.stdout);
}

/// The store's lanes are 128 bytes apart instead of 4: 32 sectors instead of 4, and nothing else changes.
#[test]
fn a_store_that_got_worse_is_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let trace =
        std::fs::read_to_string(crate::common::file("traces/rows-kernel-1.traceg")).unwrap();
    let worse = trace.replace("4 1 0x7f3291000000 4 \n", "4 1 0x7f3291000000 128 \n");
    assert_ne!(trace, worse);
    let summary = |name: &str, text: &str| {
        let trace = write(folder.path(), &format!("{name}.traceg"), text);
        let ran = run(&["replay", &trace, "--format", "json"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        write(folder.path(), &format!("{name}.json"), &ran.stdout)
    };
    let (a, b) = (summary("a", &trace), summary("b", &worse));
    let compared = run(&["compare", &a, &b, "--fail-above", "0"]);
    assert_eq!(compared.status, 1, "{}", compared.stdout);
    assert!(compared.stdout.contains("4 -> 32"), "{}", compared.stdout);
    assert!(!compared.stdout.contains("no instruction has changed"));
    let ran = run(&["compare", &a, &b, "--format", "json"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let kinds: Vec<(&Value, &Value)> =
        json["kinds"].as_array().unwrap().iter().map(|of| (&of["kind"], &of["sectors"])).collect();
    let [(_, loads), stores] = kinds[..] else { panic!("{kinds:?}") };
    assert_eq!(stores, (&Value::from("store"), &serde_json::json!([4, 32])));
    assert_eq!(loads[0], loads[1]);
    let row = &json["rows"][0];
    assert_eq!((&row["pc"], &row["sectors"]), (&"0xa8".into(), &serde_json::json!([4, 32])));
    assert_eq!(run(&["compare", &a, &a, "--fail-above", "0"]).status, 0);
    // The page begins with the store.
    let page = folder.path().join("b.html").display().to_string();
    let b_trace = folder.path().join("b.traceg").display().to_string();
    assert_eq!(run(&["replay", &b_trace, "--html", &page]).status, 0);
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("88 % of the store sectors"), "the verdict");
    let text = run(&["replay", &b_trace]).stdout;
    assert!(text.contains("88 % of the store sectors are wasted: 0xa8\n"), "{text}");
}
