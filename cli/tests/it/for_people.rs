//! What people type, and what they are told: numbers, names, options that do not go together.

use crate::common::{Ran, warpload};

fn run(arguments: &[&str]) -> Ran {
    warpload().args(arguments).output().unwrap().into()
}

/// Runs a command that must succeed without a message; returns its output.
fn output(arguments: &[&str]) -> String {
    let ran = run(arguments);
    assert_eq!((ran.status, &*ran.stderr), (0, ""), "{arguments:?}");
    ran.stdout
}

#[test]
fn an_sm_is_named_in_three_ways() {
    let text = "LDG.E R0, desc[UR4][R2.64+0x10]";
    for (names, command) in [
        (["90", "sm_90", "9.0"], &["encode", text][..]),
        (["90a", "sm_90a", "9.0a"], &["encode", text]),
        (["120", "SM_120", "12.0"], &["encode", text]),
        (["90", "sm_90", "9.0"], &["decode", "--word", "0x000fe2000c1e19000000100402007981"]),
        (["90", "sm_90", "9.0"], &["explain", text]),
        (["100", "sm_100", "10.0"], &["tmem", "map", "LDTM.x2 R4, tmem[UR4]"]),
        (["80", "sm_80", "8.0"], &["decode", "--list", "tests/data/fatbins/plain.fatbin"]),
        (["80", "sm_80", "8.0"], &["vectors", "generate", "--instruction", "LDG", "--count=2"]),
    ] {
        let [one, two, three] = names.map(|name| run(&[command, &["--sm", name]].concat()));
        assert_eq!(one.status, 0, "{}", one.stderr);
        assert_eq!((&one, &one), (&two, &three), "{command:?}");
    }
}

/// Decimal, or hexadecimal with `0x`.
#[test]
fn numbers_are_read_the_same_everywhere() {
    let vectors = "tests/data/cmd/several.jsonl";
    let load = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [taddr];";
    let ptx = ["ptx", "run", "tests/data/ptx/legal.ptx", "--set", "%rd3=64", "--parameter", "in=0"];
    for (command, decimal, hexadecimal) in [
        (&["decode", "tests/data/fatbins/plain.fatbin", "--image"][..], "2", "0x2"),
        (&["run", vectors, "--line"], "2", "0x2"),
        (&["plan", "traces/generic.wlt", "--shards"], "16", "0x10"),
        (&["plan", "traces/generic.wlt", "--shards=9", "--fan-in"], "3", "0x3"),
        (&["plan", "traces/generic.wlt", "--shards=9", "--level"], "1", "0x1"),
        (&["replay", "traces/generic.wlt", "--top"], "12", "0xc"),
        (&["replay", "traces/generic.wlt", "--threads"], "2", "0x2"),
        (&["replay", "traces/generic.wlt", "--shared-window"], "65536,4096", "0x10000,0x1000"),
        (&["banks", "lane * 16", "--bytes"], "16", "0x10"),
        (&["banks", "lane * 16", "--mask"], "255", "0xff"),
        (&["banks", "lane * n", "--let"], "n=16", "n=0x10"),
        (&["banks", "lane * n", "--for"], "n=0..16", "n=0..0x10"),
        (&["vectors", "generate", "--instruction=LD", "--count"], "10", "0xA"),
        (&["vectors", "generate", "--instruction=LD", "--count=3", "--seed"], "10", "0xA"),
        (&["tmem", "map", "16x256b"], "x4", "x0x4"),
        (&["tmem", "run", load, "--warp=0", "--taddr"], "16", "0x10"),
        (&["tmem", "run", load, "--taddr=0x600000", "--warp"], "11", "0xb"),
        (&[&ptx[..], &["--active"]].concat(), "255", "0xff"),
        (&["conform", "--command", "cat", "--failures"], "0", "0x0"),
    ] {
        let run = |number: &str| run(&[command, &[number]].concat());
        let (one, other) = (run(decimal), run(hexadecimal));
        assert_eq!(one, other, "{command:?}");
        assert!(one.status == 0 || matches!(command[0], "conform" | "ptx"), "{}", one.stderr);
        // A sign, or digits that are neither.
        for wrong in ["+1", "1f"] {
            assert_eq!(run(wrong).status, 2, "{command:?} {wrong}");
        }
    }
}

#[test]
fn what_is_encoded_says_for_which_sm() {
    let noted = |arguments: &[&str]| run(arguments).stderr;
    let note = "note: encoded for SM 5.x and 6.x, because `--sm` is not given; SM ";
    let all = format!("{note}7.0 and later also have a load with this text\n");
    assert_eq!(noted(&["encode", "LDG.E R0, [R2]"]), all);
    // Once, at the first text of both.
    assert_eq!(noted(&["encode", "LDL.CI R0, [R2]", "LDS R0, [R2]", "LDL R0, [R2]"]), all);
    let some = format!("{note}70, 72, 75 also have a load with this text\n");
    assert_eq!(noted(&["encode", "LDS.U R0, [R2]"]), some);
    for certain in [
        &["encode", "--sm", "50", "LDG.E R0, [R2]"][..],
        &["encode", "--sm", "70", "LDG.E R0, [R2]"],
        &["encode", "--bundle", "LDG.E R0, [R2]"],
        &["encode", "LDL.CI R0, [R2]"],
    ] {
        assert_eq!(noted(certain), "", "{certain:?}");
    }
}

#[test]
fn several_words_and_halves_of_words_are_explained() {
    let json = |arguments: &[&str]| {
        let shown = output(&[&["explain", "--format", "json"], arguments].concat());
        let word = |line: &str| line.split('"').nth(3).unwrap().to_owned();
        shown.lines().map(word).collect::<Vec<_>>()
    };
    let [one, other] = ["0x9c90000123470200", "0x84e0000000070104"];
    assert_eq!(json(&[one, other]), [one, other]);
    assert_eq!(json(&["LD.E R0, [R2+0x1234]", other]), [one, other]);
    let (low, high) = ("0x0000080402007981", "0x000ea2000c1e1900");
    let word = "0x000ea2000c1e19000000080402007981";
    for halves in [
        &[low, high][..],
        &["/* 0x0000080402007981 */", "/* 0x000ea2000c1e1900 */"],
        &["/* 0x0000080402007981 */\n/* 0x000ea2000c1e1900 */"],
    ] {
        assert_eq!(json(&[&["--sm", "90"], halves].concat()), [word], "{halves:?}");
    }
    assert_eq!(json(&["--sm", "90", low, high, word, low, high]), [word; 3]);
    let mut command = warpload();
    command.args(["explain", "--sm", "90", "--format", "json", "-"]);
    let ran = crate::common::piped(&mut command, format!("{low} {high}\n{word}\n").as_bytes(), 64);
    assert_eq!((ran.status, ran.stdout.matches(word).count()), (0, 2), "{}", ran.stderr);
    // The fields have headings.
    let shown = output(&["explain", one]);
    assert!(shown.contains("\n   bits    value  field   meaning"), "{shown}");
}
