//! Plans: run task by task, again, and after outputs were damaged.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod imports;

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

use serde_json::Value;

use crate::common::{Ran, succeeded, warpload};

const TRACE: &str = "traces/generic.wlt";
const LIST: &str = "tests/data/cmd/kernelslist.g";

fn run(arguments: &[&str]) -> String {
    succeeded(warpload().args(arguments))
}

/// The tasks of a plan.
fn plan(arguments: &[&str]) -> Vec<Value> {
    let text = run(&[&["plan", "--format", "json"], arguments].concat());
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn output(task: &Value) -> &str {
    task["output"].as_str().unwrap()
}

/// Runs tasks level by level, two at a time; what they read must be there before. Returns what each said.
fn run_tasks(tasks: &[Value]) -> Vec<String> {
    let levels = 1 + tasks.iter().map(|task| task["level"].as_u64().unwrap()).max().unwrap();
    let said = Mutex::new(vec![String::new(); tasks.len()]);
    for level in 0..levels {
        let of_level = tasks.iter().enumerate().filter(|(_, task)| task["level"] == level);
        for (_, task) in of_level.clone() {
            let is_there = |input: &&str| Path::new(crate::common::ROOT).join(input).is_file();
            assert!(strings(&task["inputs"]).iter().all(is_there), "{task}");
        }
        let queue = Mutex::new(of_level);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    loop {
                        let Some((i, task)) = queue.lock().unwrap().next() else { return };
                        let argv = strings(&task["argv"]);
                        assert_eq!(argv[0], "warpload");
                        assert_eq!(argv[1], task["step"]);
                        said.lock().unwrap()[i] = run(&argv[1..]);
                    }
                });
            }
        });
    }
    said.into_inner().unwrap()
}

/// Returns which outputs are done already in a run of all tasks.
fn done(tasks: &[Value]) -> Vec<bool> {
    let said = run_tasks(tasks);
    let is_done = |(said, task): (&String, &Value)| {
        assert!(said.starts_with(output(task)), "{said}");
        said.ends_with(" is done already\n")
    };
    said.iter().zip(tasks).map(is_done).collect()
}

/// What a file has that is written again.
#[cfg(unix)]
fn identity(path: &str) -> (u64, SystemTime) {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(path).unwrap();
    (metadata.ino(), metadata.modified().unwrap())
}

#[cfg(not(unix))]
fn identity(path: &str) -> SystemTime {
    fs::metadata(path).unwrap().modified().unwrap()
}

/// Runs a plan of a replay, again, and after outputs were lost, cut off and replaced.
fn check_replay(trace: &str, options: &[&str], folder: &Path) {
    let whole = run(&[&["replay", trace, "--format", "json"], options].concat());
    let folder = folder.join("it's out");
    let folder = folder.to_str().unwrap();
    let arguments =
        [&[trace, "--shards", "7", "--fan-in", "3", "-o", folder][..], options].concat();
    let tasks = plan(&arguments);
    let steps = |step: &str| tasks.iter().filter(|task| task["step"] == step).count();
    // Seven summaries, then two of three and one alone, then one.
    assert_eq!((steps("replay"), steps("merge"), tasks.len()), (7, 3, 10));
    assert_eq!(tasks, plan(&arguments), "a plan is always the same");
    let result = output(&tasks[9]);
    let check = |what: &str| assert_eq!(fs::read_to_string(result).unwrap(), whole, "{what}");

    assert_eq!(done(&tasks), [false; 10]);
    check("first run");
    let before: Vec<_> = tasks.iter().map(|task| identity(output(task))).collect();
    assert_eq!(done(&tasks), [true; 10]);
    let after: Vec<_> = tasks.iter().map(|task| identity(output(task))).collect();
    assert_eq!(before, after, "written again");

    let shard = output(&tasks[2]);
    check_cut(&tasks);
    check_changes(&tasks);
    // Another shard under its name; another replay of it; another kernel; the whole.
    let good = fs::read(shard).unwrap();
    let other_shard = fs::read(output(&tasks[3])).unwrap();
    let other_replay =
        run(&["replay", trace, "--shard", "2/7", "--format", "json", "--space", "global"]);
    let other_names =
        String::from_utf8(good.clone()).unwrap().replace("\"name\":\"", "\"name\":\"_");
    for other in
        [&other_shard[..], other_replay.as_bytes(), other_names.as_bytes(), whole.as_bytes()]
    {
        fs::write(shard, other).unwrap();
        let mut expected = [true; 10];
        expected[2] = false;
        assert_eq!(done(&tasks), expected);
        assert_eq!(fs::read(shard).unwrap(), good);
    }
    // A merge that is of other shards; a whole that is another.
    fs::copy(output(&tasks[8]), output(&tasks[7])).unwrap();
    fs::write(result, &other_replay).unwrap();
    fs::remove_file(output(&tasks[6])).unwrap();
    let mut expected = [true; 10];
    (expected[6], expected[7], expected[9]) = (false, false, false);
    assert_eq!(done(&tasks), expected);
    check("after all damages");
}

/// Cuts a shard off at several places, also by the last byte alone.
fn check_cut(tasks: &[Value]) {
    let shard = output(&tasks[2]);
    let good = fs::read(shard).unwrap();
    for length in [0, 1, good.len() / 2, good.len() - 2, good.len() - 1] {
        fs::write(shard, &good[..length]).unwrap();
        let mut expected = [true; 10];
        expected[2] = false;
        assert_eq!(done(tasks), expected, "{length} bytes");
        assert_eq!(fs::read(shard).unwrap(), good);
    }
}

/// Makes changes that no sum contradicts, in a shard and in the merge of several; a merge refuses the shard.
fn check_changes(tasks: &[Value]) {
    for (number, is_refused) in [(2, true), (7, false)] {
        let path = output(&tasks[number]);
        let good = fs::read_to_string(path).unwrap();
        let changes = [
            (r#""first_faults":["#, r#""first_faults":[ "#),
            (r#""complete":"#, r#""unknown":1,"complete":"#),
            (r#""notes":[""#, r#""notes":["-"#),
            (r#""of_kernels":"#, r#""of_kernels":1"#),
            (r#""checksum":""#, r#""checksum":"A"#),
        ];
        for (from, to) in changes {
            let damaged = good.replacen(from, to, 1);
            fs::write(path, &damaged).unwrap();
            if is_refused && from.contains("kernels") {
                let ran = warpload().args(["merge", "--partial", path]).output().unwrap();
                let error = String::from_utf8(ran.stderr).unwrap();
                let file = format!("{path}: the summary is inconsistent: ");
                assert!(error.contains(&file), "{error}");
                assert!(error.contains("it has changed since it was written"), "{error}");
            }
            let mut expected = [true; 10];
            expected[number] = damaged == good;
            assert_eq!(done(tasks), expected, "{from}");
            assert_eq!(fs::read_to_string(path).unwrap(), good);
        }
    }
}

#[test]
fn a_plan_of_a_trace_makes_the_whole_replay() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--image", "traces/generic.image.json", "--opcode", "LD*.E*"];
    check_replay(TRACE, &options, folder.path());
}

#[test]
fn a_plan_of_a_list_makes_a_set_and_that_of_the_set_the_whole_replay() {
    let folder = tempfile::tempdir().unwrap();
    let parts = folder.path().join("parts");
    let tasks = plan(&[LIST, "-o", parts.to_str().unwrap()]);
    let steps: Vec<_> = tasks.iter().map(|task| task["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["import", "import", "set"]);
    assert_eq!(done(&tasks), [false; 3]);
    assert_eq!(done(&tasks), [true; 3]);
    let part = output(&tasks[1]);
    let good = fs::read(part).unwrap();
    fs::write(part, &good[..good.len() - 1]).unwrap();
    assert_eq!(done(&tasks), [true, false, true]);
    assert_eq!(fs::read(part).unwrap(), good);

    let set = output(&tasks[2]);
    check_replay(set, &["--fill", "address"], folder.path());
    let whole = |trace| run(&["replay", trace, "--fill", "address", "--format", "json"]);
    assert_eq!(whole(set), whole(LIST));
    // Of the parts, a shard's task reads those that it needs.
    let tasks = plan(&[set, "--shards", "2", "-o", folder.path().to_str().unwrap()]);
    let inputs = |i: usize| strings(&tasks[i]["inputs"]).len();
    assert!(inputs(0) + inputs(1) < 6, "{tasks:?}");
}

/// What is not of the import is said to be for the set.
#[test]
fn options_of_the_plan_of_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["plan", LIST, "-o", folder.path().to_str().unwrap(), "--threads", "3"];
    let ran = Ran::from(warpload().args(arguments).output().unwrap());
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[..2].iter().all(|line| line.contains(" --threads=3 ")), "{lines:?}");
    assert!(!lines[2].contains("--threads"), "{lines:?}");
    let others = ["--fill", "zero", "--space", "global", "--shards", "4", "--fan-in", "2"];
    let with_others = Ran::from(warpload().args(arguments).args(others).output().unwrap());
    assert_eq!((with_others.status, with_others.stdout), (0, ran.stdout));
    assert_eq!(
        with_others.stderr,
        "note: a list of traces is imported first; `--fill`, `--space`, `--shards`, \
         `--fan-in` are for the plan of the set\n"
    );
}

/// No command of a plan grows with the list: a shell takes 128 KiB as one argument, the system 2 MiB in all.
#[test]
fn a_plan_of_a_long_list_has_short_commands() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("kernelslist.g");
    fs::write(&list, "kernel-1.traceg\n".repeat(7000)).unwrap();
    let arguments = [list.to_str().unwrap(), "-o", folder.path().to_str().unwrap()];
    let tasks = plan(&arguments);
    assert_eq!(tasks.len(), 7001);
    // What is read is named all the same: the parts and the list.
    assert_eq!(strings(&tasks[7000]["inputs"]).len(), 7001);
    let text = run(&[&["plan"][..], &arguments].concat());
    assert!(text.lines().all(|line| line.len() < 1000));
}

/// Returns a shell that finds the command.
#[cfg(unix)]
fn shell(script: &str) -> std::process::Command {
    let bin = Path::new(env!("CARGO_BIN_EXE_warpload")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script]).env("PATH", path);
    shell
}

/// As the help says: a line is a command of a shell, whatever the names of files.
#[cfg(unix)]
#[test]
fn commands_of_a_plan_run_in_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("it's a $(trace) `x` \\ \"y\".wlt");
    run(&["import", "traces/samples.kernelslist.g", "-o", trace.to_str().unwrap()]);
    let (trace, out) = (trace.to_str().unwrap(), folder.path().join("out &"));
    let options = ["--fill", "zero", "--kernel", "a|.*", "--pc", "0..0xffff", "--no-demangle"];
    let arguments = [
        &[trace, "--shards", "5", "--fan-in", "2", "-o", out.to_str().unwrap()][..],
        &options,
        &["--local-window", "0xd0000000,0x1000000", "--address-bits", "48", "--threads", "1"],
    ]
    .concat();
    let mut printed = 0;
    for level in ["0", "1", "2", "3"] {
        let of_level = [&["plan", "--level", level][..], &arguments].concat();
        for line in run(&of_level).lines() {
            succeeded(shell(line).current_dir(crate::common::ROOT));
            printed += 1;
        }
    }
    assert_eq!(printed, 5 + 2 + 1 + 1);
    let tasks = plan(&arguments);
    assert_eq!(tasks.len(), printed);
    let replay = [
        &["replay", trace, "--format", "json"][..],
        &options,
        &["--local-window", "0xd0000000,0x1000000", "--address-bits", "48"],
    ];
    let whole = run(&replay.concat());
    assert_eq!(fs::read_to_string(output(tasks.last().unwrap())).unwrap(), whole);
}

/// The loop of the help, and that of the documentation.
#[cfg(unix)]
#[test]
fn a_loop_over_levels_runs_a_plan() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(crate::common::file(TRACE), folder.path().join("app.wlt")).unwrap();
    succeeded(warpload().args(["set", TRACE, "-o"]).arg(folder.path().join("app.set.json")));
    let help = run(&["plan", "--help"]);
    let docs = fs::read_to_string(crate::common::file("docs/many-machines.md")).unwrap();
    for (text, end, trace, options) in [
        (help, "  done", "app.wlt", &["--shards", "7"][..]),
        (docs, "\ndone", "app.set.json", &["--shards", "64", "--fill", "address"][..]),
    ] {
        let script = &text[text.find("level=0").unwrap()..];
        let script = &script[..script.find(end).unwrap() + end.len()];
        let ran = Ran::from(shell(script).current_dir(folder.path()).output().unwrap());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("note: no level "), "{}", ran.stderr);
        let trace = folder.path().join(trace);
        let trace = trace.to_str().unwrap();
        let out = folder.path().join("out");
        let tasks = plan(&[&[trace, "-o", out.to_str().unwrap()], options].concat());
        let merged = fs::read_to_string(output(tasks.last().unwrap())).unwrap();
        let whole = [&["replay", trace, "--format", "json"], &options[2..]].concat();
        // Status 1: the values of the fill are not those of the trace.
        assert_eq!(merged, Ran::from(warpload().args(whole).output().unwrap()).stdout);
    }
    let ran = Ran::from(
        warpload().args(["plan", TRACE, "--shards", "2", "--level", "2"]).output().unwrap(),
    );
    assert_eq!((ran.status, &*ran.stdout), (1, ""));
    assert_eq!(ran.stderr, "note: no level 2: the plan has levels 0 to 1\n");
}

/// What is replayed and how decides the names, where it is planned does not.
#[test]
fn outputs_are_named_after_what_they_are_of() {
    let names = |arguments: &[&str]| -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().to_str().unwrap();
        let tasks = plan(&[arguments, &["--shards", "3", "-o", folder]].concat());
        let name = |task: &Value| output(task).strip_prefix(folder).unwrap().to_owned();
        tasks.iter().map(name).collect()
    };
    let copy = tempfile::NamedTempFile::new().unwrap();
    fs::copy(crate::common::file(TRACE), copy.path()).unwrap();
    let plain = names(&[TRACE]);
    assert_eq!(plain, names(&[copy.path().to_str().unwrap(), "--threads", "1"]));
    let others: &[&[&str]] = &[
        &["tests/data/cmd/example.wlt"],
        &[TRACE, "--fill", "zero"],
        &[TRACE, "--merge-pairs"],
        &[TRACE, "--space", "global"],
        &[TRACE, "--no-demangle"],
        &[TRACE, "--address-bits", "40"],
        &[TRACE, "--cubin", "traces/rows.sm_50.cubin"],
    ];
    let mut all = plain;
    all.extend(others.iter().flat_map(|arguments| names(arguments)));
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count, "two outputs have one name");
}

#[test]
fn what_cannot_be_planned_or_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.json");
    let out = out.to_str().unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["plan", TRACE], "a trace is replayed in shards; expected --shards N"),
        (&["plan", TRACE, "--shards", "0"], "expected a number from 1 to 1048576"),
        (&["plan", TRACE, "--shards", "2", "--fan-in", "1"], "expected a number from 2 to 1048576"),
        (&["plan", "-", "--shards", "2"], "expected a file, not `-`"),
        (&["plan", TRACE, "--shards", "2", "--cubin", "-"], "expected a file, not `-`"),
        (
            &["plan", "tests/data/cmd/kernel-1.traceg", "--shards", "2"],
            "error: tests/data/cmd/kernel-1.traceg: a text trace; expected a trace set, a binary trace or \
             a list of traces. `warpload import` makes a binary trace of it\n",
        ),
        (
            &["plan", "traces/generic.image.json"],
            "a memory image; expected a trace set, a binary trace or a list of traces\n",
        ),
        (&["replay", TRACE, "-o", out, "--resume"], "--shard <I/N>"),
        (
            &["replay", TRACE, "-o", out, "--resume", "--shard", "0/2"],
            "`--resume` needs `--format json`",
        ),
        (&["merge", "--resume", "tests/data/cmd/shard-0.json"], "--output <FILE>"),
        (
            &["replay", TRACE, "-o", "-", "--resume", "--shard", "0/2", "--format", "json"],
            "expected a file, not `-`",
        ),
        (
            &["merge", "--partial", "--resume", "tests/data/cmd/shard-0.json", "-o", "-"],
            "expected a file, not `-`",
        ),
    ];
    for (arguments, expected) in cases {
        let ran = Ran::from(warpload().args(*arguments).output().unwrap());
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("note: "), "{arguments:?}: {}", ran.stderr);
    }
    assert!(!Path::new(out).exists());
}

/// Text has commands for a shell, whatever the bytes of names. JSON is text itself, and so are the names of a set's parts.
#[cfg(target_os = "linux")]
#[test]
fn names_need_not_be_utf_8() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join(OsStr::from_bytes(b"-\xfftr\x1b[31m aces%s\\n'\xc3"));
    fs::create_dir(&folder).unwrap();
    let at = |name: &[u8]| folder.join(OsStr::from_bytes(name));
    let refused = |command: &mut std::process::Command, message: &str| {
        let ran = Ran::from(command.output().unwrap());
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    };
    let run_plan = |arguments: &[OsString]| {
        let plan = || {
            let mut plan = warpload();
            plan.arg("plan").args(arguments).current_dir(&folder);
            plan
        };
        for line in succeeded(&mut plan()).lines() {
            succeeded(shell(line).current_dir(&folder));
        }
        refused(plan().args(["--format", "json"]), "the name is not UTF-8, so JSON cannot hold it");
    };
    let root = Path::new(crate::common::ROOT);
    for (from, to) in [
        (LIST, &b"kernelslist\xfe.g"[..]),
        ("tests/data/cmd/kernel-1.traceg", b"kernel-1.traceg"),
        ("tests/data/cmd/kernel-2.traceg", b"kernel-2.traceg"),
        ("traces/rows.sm_50.cubin", b"\xfdcubin"),
        (TRACE, b"app.wlt"),
        (TRACE, b"-part\xff.wlt"),
    ] {
        fs::copy(root.join(from), at(to)).unwrap();
    }
    run_plan(&[at(b"kernelslist\xfe.g").into(), "-o".into(), at(b"parts").into()]);
    let set = at(b"parts").join("trace.set.json");
    let mut cubin = OsString::from("--cubin=");
    cubin.push(at(b"\xfdcubin"));
    let options = ["--shards", "3", "--fill", "zero", "-o", "out"].map(OsString::from);
    run_plan(&[&[set.clone().into(), cubin.clone()][..], &options].concat());
    let mut replay = warpload();
    replay
        .arg("replay")
        .args([set.as_os_str(), &cubin])
        .args(["--fill", "zero", "--format", "json"]);
    let whole = succeeded(&mut replay);
    let outputs = fs::read_dir(at(b"out")).unwrap();
    let is_whole = |path: &Path| fs::read_to_string(path).unwrap() == whole;
    assert_eq!(outputs.filter(|output| is_whole(&output.as_ref().unwrap().path())).count(), 1);

    let mut set = warpload();
    succeeded(set.arg("set").arg(at(b"app.wlt")).arg("-o").arg(at(b"set.json")));
    assert!(fs::read_to_string(at(b"set.json")).unwrap().contains("\"file\":\"app.wlt\""));
    let mut set = warpload();
    set.current_dir(&folder).args(["set", "-o", "other.json", "--", "app.wlt"]);
    let message = "part\u{fffd}.wlt: the name is not UTF-8, as the name of a part must be";
    refused(set.arg(OsStr::from_bytes(b"-part\xff.wlt")), message);
    assert!(!at(b"other.json").exists());
}
