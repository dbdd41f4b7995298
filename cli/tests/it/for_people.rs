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
        (["80", "sm_80", "8.0"], &["images", "tests/data/fatbins/plain.fatbin"]),
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
    let ptx =
        ["ptx", "loads", "tests/data/ptx/legal.ptx", "--set", "%rd3=64", "--parameter", "in=0"];
    for (command, decimal, hexadecimal) in [
        (&["decode", "tests/data/fatbins/plain.fatbin", "--image"][..], "2", "0x2"),
        (&["run", vectors, "--line"], "2", "0x2"),
        (&["replay", "traces/generic.wlt", "--top"], "12", "0xc"),
        (&["replay", "traces/generic.wlt", "--threads"], "2", "0x2"),
        (&["replay", "traces/generic.wlt", "--shared-window"], "65536,4096", "0x10000,0x1000"),
        (&["access", "lane * 16", "--bytes"], "16", "0x10"),
        (&["access", "lane * 16", "--mask"], "255", "0xff"),
        (&["access", "lane * n", "--let"], "n=16", "n=0x10"),
        (&["access", "lane * n", "--for"], "n=0..16", "n=0..0x10"),
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

/// An option that would change nothing is most likely a mistake.
#[test]
fn options_that_are_ignored_together_are_refused() {
    let listing = "tests/data/cmd/listing.sass";
    let (cubin, module) = ("traces/rows.sm_50.cubin", "tests/data/ptx/legal.ptx");
    let word = ["decode", "--word", "0x9c90000123470200"];
    let summary = "tests/data/cmd/shard-0.json";
    for (arguments, together) in [
        (&["decode", cubin, "--format=json"][..], &["--control=maxas"][..]),
        (&["decode", "--check", listing], &["--control=maxas"]),
        (&["decode", "--check", listing], &["--no-demangle"]),
        (&["decode", "--raw", cubin], &["--function=f"]),
        (&["decode", "--raw", cubin], &["--no-demangle"]),
        (&["images", cubin], &["--force"]),
        (&["decode", cubin], &["--offset=8"]),
        (&word, &["--image=1"]),
        (&[&word[..], &["--format=json"]].concat(), &["--control=maxas"]),
        (&["access", "lane * 4", "--space=global"], &["--merge-pairs"]),
        (&["access", "lane * 4", "--svg=x.svg"], &["--format=json"]),
        (&["access", "lane * 4"], &["--let=n=1"]),
        (&["compare", summary, summary, "--format=json"], &["--top=3"]),
        (&["replay", "traces/generic.wlt", "--format=json"], &["--top=3"]),
        (&["replay", "traces/generic.wlt", "--format=json"], &["--sort=pc"]),
        (&["conform", "--command=cat", "--format=json", "vectors/v1"], &["--failures=3"]),
        (&["ptx", "check", module], &["--every-rule"]),
        (&["ptx", "run", module], &["--warp=1"]),
        (&["run", "tests/data/cmd/several.jsonl", "--all"], &["--line=1"]),
        (&["conform", "--serve"], &["--format=json"]),
        (&["conform", "--command=cat", "vectors/v1"], &["--executor=fast"]),
        (&["tmem", "map", "16x64b", "x2", "--svg=x.svg"], &["--format=json"]),
        (&["tmem", "map", "16x64b", "x2"], &["--sm=100"]),
    ] {
        let ran = run(&[arguments, together].concat());
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{arguments:?} {together:?}");
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
}

/// The table of docs/book/commands.md.
#[test]
fn exit_statuses_follow_one_table() {
    let load = "tcgen05.ld.sync.aligned.32x32b.x2.b32 {r0, r1}, [taddr];";
    for (status, arguments) in [
        (0, &["decode", "--word", "0"][..]),
        (0, &["decode", "tests/data/fatbins/plain.fatbin", "--image", "1"]),
        // Findings.
        (1, &["explain", "0x0"]),
        (1, &["decode", "--check", "tests/data/cmd/changed.cuobjdump.txt"]),
        (1, &["ptx", "check", "tests/data/ptx/illegal.ptx"]),
        (1, &["tmem", "run", load, "--warp=0", "--taddr=0x600000"]),
        // A choice that matches nothing.
        (2, &["decode", "tests/data/fatbins/plain.fatbin", "--image", "99"]),
        (2, &["decode", "tests/data/fatbins/plain.fatbin", "--sm", "53"]),
        (2, &["decode", "traces/rows.sm_50.cubin", "--function", "nosuch"]),
        (2, &["run", "tests/data/cmd/several.jsonl", "--line", "99"]),
        (2, &["replay", "tests/data/cmd/kernelslist.g", "--kernel", "nosuch"]),
        (2, &["ptx", "run", "tests/data/ptx/legal.ptx", "--function", "nosuch"]),
        // What cannot be read.
        (2, &["encode", "LD R0"]),
        (2, &["explain", "LD R0"]),
        (2, &["decode", "--word", "what"]),
        (2, &["conform", "tests/data/cmd/malformed.jsonl"]),
        (2, &["access", "lane *"]),
        (2, &["tmem", "map", "16x64b", "x3"]),
        (2, &["tmem", "map", "16x63b", "x2"]),
        (2, &["tmem", "run", "tcgen05.ld", "--warp=0", "--taddr=0"]),
        (2, &["decode", "nosuch.cubin"]),
        (2, &["decode", "--word", "0", "--sm", "99"]),
        (2, &["tmem", "map", "16x64b"]),
        (2, &["replay", "tests/data/ptx/legal.ptx"]),
        (2, &["vectors", "generate", "--instruction", "LDTM", "--sm", "50"]),
        (2, &["man", "nosuch"]),
        (2, &["nosuch"]),
    ] {
        let ran = run(arguments);
        assert_eq!(ran.status, status, "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn archives_say_how_they_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["package.whl", "package.zip"] {
        let path = folder.path().join(name);
        std::fs::write(&path, b"PK\x03\x04\x14\0\0\0").unwrap();
        let path = path.to_str().unwrap();
        for command in [
            &["decode"][..],
            &["images"],
            &["images", "--extract=x"],
            &["ptx", "check"],
            &["replay", "traces/rows-kernel-1.traceg", "--cubin"],
            &["replay"],
            &["show"],
        ] {
            let ran = run(&[command, &[path]].concat());
            let expected = "extract its files with `unzip`";
            assert!(
                ran.status == 2 && ran.stderr.contains(expected),
                "{command:?}: {}",
                ran.stderr
            );
        }
    }
}

#[test]
fn lowering_says_of_which_machine_it_is() {
    let module = |target: &str| {
        format!(
            ".version 8.0\n.target {target}\n.address_size 64\n.shared .u32 v;\n.entry k() {{ .reg .u32 %r; ld.shared.u32 %r, [v]; ret; }}\n"
        )
    };
    for (target, is_newer) in
        [("sm_50", false), ("sm_61", false), ("sm_70", true), ("sm_90a", true)]
    {
        let mut command = warpload();
        let ran = crate::common::piped(
            command.args(["ptx", "lower", "-"]),
            module(target).as_bytes(),
            4096,
        );
        let note = format!(
            "note: standard input: the target is {target}, but these are instructions of SM 5.x"
        );
        assert_eq!((ran.status, ran.stderr.starts_with(&note)), (0, is_newer), "{}", ran.stderr);
    }
}

#[test]
fn functions_are_named_as_people_type_them() {
    let decoded = |name: &str| run(&["decode", "traces/rows.sm_50.cubin", "--function", name]);
    let mangled = decoded("_Z6gatherIdEvPT_PKS0_PKi");
    assert!(mangled.stdout.contains("gather<double>") && !mangled.stdout.contains("column"));
    for name in [
        "void gather<double>(double*, double const*, int const*)",
        "gather<double>",
        "gather",
        "^_Z6gather",
        r"gather<.*>\(double\*",
    ] {
        assert_eq!(decoded(name), mangled, "{name}");
    }
    assert_eq!(decoded("gather|column"), run(&["decode", "traces/rows.sm_50.cubin"]));
    let module = ".version 8.0\n.target sm_50\n.address_size 64\n.shared .u32 v;\n".to_owned()
        + &["_Z5scalePfi", "_Z6scale2PfPFffE", "reset"]
            .map(|name| {
                format!(".entry {name}() {{ .reg .u32 %r; ld.shared.u32 %r, [v]; ret; }}\n")
            })
            .concat();
    let ran = |name: &str| {
        let mut command = warpload();
        command.args(["ptx", "run", "-", "--function", name]);
        let ran = crate::common::piped(&mut command, module.as_bytes(), 4096);
        (ran.status, ran.stdout.matches("[v]").count(), ran.stderr)
    };
    // A part that others have as well is not enough, but a whole name is.
    for name in [
        "_Z5scalePfi",
        "scale(float*, int)",
        "scale\\(",
        "reset",
        "scale2(float*, float (*)(float))",
        "2",
    ] {
        assert_eq!(ran(name), (0, 1, String::new()), "{name}");
    }
    let (status, _, error) = ran("scale");
    assert_eq!(
        (status, &*error),
        (
            2,
            "error: standard input: several functions; choose one with `--function`: _Z5scalePfi, \
             _Z6scale2PfPFffE\n"
        )
    );
    let nearest = "`--function scael`; the nearest are `scale(float*, int)`, ";
    assert!(matches!(ran("scael"), (2, 0, error) if error.contains(nearest)));
    let nothing = decoded("gathre");
    let nearest = "the nearest are `void gather<double>(double*, double const*, int const*)`, ";
    assert!(nothing.status == 2 && nothing.stderr.contains(nearest), "{}", nothing.stderr);
}

#[test]
fn help_of_a_replay_fits_two_screens() {
    let [short, shown] = ["-h", "--help"].map(|help| output(&["replay", help]));
    assert_eq!(short, shown);
    assert!(short.lines().count() <= 60, "{short}");
    let details = output(&["help", "replay"]);
    assert!(details.len() > short.len() && details.contains("splitmix64"), "{details}");
    let selection = "Which accesses are counted";
    for heading in ["Options", "Output", selection, "Messages", "Examples"] {
        assert!(shown.contains(&format!("\n{heading}:\n")), "{heading}");
    }
}

#[test]
fn notes_can_be_left_out() {
    let text = "LDG.E R0, [R2]";
    let [plain, quiet] = [&["encode", text][..], &["-q", "encode", text]].map(run);
    assert!(plain.stderr.starts_with("note: ") && quiet.stderr.is_empty());
    assert_eq!(plain.stdout, quiet.stdout);
    assert_eq!(run(&["encode", text, "--quiet"]), quiet);
    // What is wrong is said.
    for wrong in ["LD R0", "LDL.CI.64 R5, [R2]"] {
        let [plain, quiet] = [&["encode", wrong][..], &["encode", "-q", wrong]].map(run);
        assert_eq!(plain, quiet);
        assert!(!plain.stderr.is_empty());
    }
}

#[test]
fn colours_are_chosen() {
    let cases = [
        &["tmem", "map", "32x32b", "x1"][..],
        &["access", "lane * 4"],
        &["encode", "LD R0"],
        &["encode", "--nosuch"],
        &["access", "--help"],
    ];
    for arguments in cases {
        for (color, is_coloured) in [("always", true), ("never", false), ("auto", false)] {
            let ran = run(&[arguments, &["--color", color]].concat());
            let has = (ran.stdout + &ran.stderr).contains('\u{1b}');
            assert_eq!(has, is_coloured, "{arguments:?} {color}");
        }
    }
}

/// Names of commands before, and options of other tools.
#[test]
fn other_names_are_understood() {
    let (word, cubin) = ("0x9c90000123470200", "traces/rows.sm_50.cubin");
    for (other, ours) in [
        (
            &["disasm", "--word", word, "--json"][..],
            &["decode", "--word", word, "--format=json"][..],
        ),
        (&["asm", "--sm", "50", "LD R0, [R2]"], &["encode", "--sm", "50", "LD R0, [R2]"]),
        (
            &["info", "traces/generic.wlt", "--json"],
            &["show", "traces/generic.wlt", "--format=json"],
        ),
        (&["banks", "lane * 128"], &["access", "lane * 128"]),
        (&["test", "vectors/v1/decode"], &["conform", "vectors/v1/decode"]),
        (&["decode", word], &["decode", "--word", word]),
        (&["decode", cubin, "--kernel", "gather"], &["decode", cubin, "--function", "gather"]),
    ] {
        let ran = run(other);
        assert_eq!((ran.status, &*ran.stderr), (0, ""), "{other:?}");
        assert_eq!(ran.stdout, output(ours), "{other:?}");
    }
    // After `--` it is a name.
    assert!(run(&["decode", "--", "--json"]).stderr.contains("--json: cannot be read"));
}

/// `show` names a shard, prints a summary as its replay did, and recognizes an image.
#[test]
fn what_is_shown_is_named() {
    let shard = output(&["-q", "show", "tests/data/cmd/shard-0.json"]);
    assert!(shard.contains("shard 0 of 2"), "{shard}");
    let folder = tempfile::tempdir().unwrap();
    let summary = folder.path().join("summary.json");
    let replay = ["replay", "traces/generic.wlt", "--image", "traces/generic.image.json"];
    std::fs::write(&summary, output(&[&replay[..], &["--format", "json"]].concat())).unwrap();
    let shown = output(&["show", summary.to_str().unwrap()]);
    assert_eq!(shown.lines().last(), output(&replay).lines().last());
    let json = output(&["show", summary.to_str().unwrap(), "--format", "json"]);
    assert_eq!(json, std::fs::read_to_string(&summary).unwrap());
    assert!(output(&["show", "traces/generic.image.json"]).starts_with("memory image: "));
}

/// Options that every command understands, in its words.
#[test]
fn a_format_is_named_the_same_everywhere() {
    for (command, words) in [
        (&["decode"][..], "text, json"),
        (&["encode"], "text, json"),
        (&["explain"], "text, json"),
        (&["conform"], "text, json, junit"),
        (&["run"], "text, json"),
        (&["show"], "text, json"),
        (&["replay"], "text, json, csv"),
        (&["compare"], "text, json"),
        (&["access"], "text, json"),
        (&["export"], "jsonl, parquet"),
        (&["ptx", "check"], "text, json"),
        (&["ptx", "lower"], "text, json"),
        (&["ptx", "run"], "text, json"),
        (&["tmem", "map"], "text, json"),
        (&["tmem", "run"], "text, json"),
        (&["vectors", "flags"], "text, json"),
    ] {
        let shown = output(&[command, &["-h"]].concat());
        let (_, help) = shown.split_once("--format <FORMAT>").unwrap();
        let help: Vec<&str> = help.split_whitespace().take(40).collect();
        let help = help.join(" ");
        assert!(help.starts_with("Output format"), "{command:?}: {help}");
        assert!(help.contains(&format!("[possible values: {words}]")), "{command:?}: {help}");
    }
}

/// Systems other than Unix have names of UTF-16.
#[cfg(target_os = "linux")]
#[test]
fn folders_need_not_be_utf_8() {
    use std::os::unix::ffi::OsStrExt as _;

    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(std::ffi::OsStr::from_bytes(b"f\xff"));
    std::fs::create_dir(&folder).unwrap();
    let samples = ["kernelslist.g", "kernel-1.traceg", "kernel-2.traceg"]
        .map(|name| format!("tests/data/cmd/{name}"));
    let others = [
        "traces/gather.sm_50.cubin",
        "tests/data/fatbins/plain.fatbin",
        "tests/data/ptx/legal.ptx",
    ];
    let images = ["traces/generic.wlt", "traces/generic.image.json", "traces/generic.image.bin"];
    for sample in samples.iter().map(String::as_str).chain(others).chain(images) {
        let from = crate::common::file(sample);
        std::fs::copy(&from, folder.join(from.file_name().unwrap())).unwrap();
    }
    let names = |line: &str| -> Vec<std::ffi::OsString> {
        line.split(' ')
            .map(|word| match word.strip_prefix('/') {
                Some(name) => folder.join(name).into_os_string(),
                None => word.into(),
            })
            .collect()
    };
    for line in [
        "decode /gather.sm_50.cubin",
        "images /plain.fatbin",
        "images --extract /images /plain.fatbin",
        "ptx check /legal.ptx",
        "show /generic.wlt",
        "show /generic.image.json",
        "import /kernelslist.g -o /whole.wlt",
        "replay /whole.wlt --fill address --format json -o /replay.json --html /replay.html",
        "replay /whole.wlt --shard 0/1 --format json -o /shard.json",
        "merge /shard.json -o /merged.json",
        "replay /kernelslist.g --fill address",
        "replay /generic.wlt --image /generic.image.json --cubin /gather.sm_50.cubin",
        "compare /replay.json /replay.json --html /compared.html",
        "export /whole.wlt -o /whole.jsonl",
        "import /whole.jsonl -o /again.wlt",
        "vectors generate --instruction LD --count 3 -o /vectors.jsonl",
        "conform /vectors.jsonl",
        "vectors fill-in /vectors.jsonl -o /filled.jsonl",
        "access lane*4 --svg /access.svg",
    ] {
        crate::common::succeeded(warpload().args(names(line)));
    }
}

#[test]
fn program_counters_are_hexadecimal_everywhere() {
    let list = "tests/data/cmd/kernelslist.g";
    let is_pc = |text: &str| {
        text.strip_prefix("0x").is_some_and(|digits| u32::from_str_radix(digits, 16).is_ok())
    };
    let column = |table: &str, separator: fn(&str) -> Vec<String>| {
        let mut lines =
            table.lines().map(separator).skip_while(|line| !line.contains(&"pc".to_owned()));
        let at = lines.next().unwrap().iter().position(|name| name == "pc").unwrap();
        let rows = lines.take_while(|line| line.len() > at).map(|line| line[at].clone());
        let rows: Vec<String> = rows.take_while(|pc| pc != "and").collect();
        assert!(!rows.is_empty() && rows.iter().all(|pc| is_pc(pc)), "{rows:?}");
    };
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    let fields = |line: &str| line.split(',').map(str::to_owned).collect();
    let text = output(&["replay", list]);
    column(&text, words);
    column(&output(&["replay", list, "--format", "csv"]), fields);
    for format in ["text", "json"] {
        let shown = output(&["replay", list, "--format", format, "--fill", "zero"]);
        for (_, after) in
            shown.match_indices("\"pc\":\"").map(|(at, key)| shown.split_at(at + key.len()))
        {
            assert!(is_pc(after.split('"').next().unwrap()), "{after}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let summaries = ["tile.g", "tile-padded.g"].map(|trace| {
        let summary = folder.path().join(trace);
        let summary = summary.to_str().unwrap().to_owned();
        output(&["replay", &format!("tests/data/cmd/{trace}"), "--format=json", "-o", &summary]);
        summary
    });
    column(&output(&["compare", &summaries[0], &summaries[1]]), words);
    let exported = output(&["export", list, "-o", "-"]);
    for record in exported.lines().filter(|line| line.contains("\"pc\"")) {
        let (_, after) = record.split_once("\"pc\":\"").unwrap();
        assert!(is_pc(after.split('"').next().unwrap()), "{record}");
    }
}
