//! The streams: endless standard input, output that is not read, what goes to which stream.

use std::io::{ErrorKind, Read, Write};
#[cfg(unix)]
use std::process::Command;
use std::process::{Child, Stdio};

use crate::bad_input::{CUBIN, checked, run, warpload};

fn spawn(arguments: &[&str]) -> Child {
    let mut command = warpload(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command starts")
}

/// Every subcommand that reads lines refuses an endless line after its first mebibytes.
#[test]
fn an_endless_line() {
    const OFFERED: usize = 2 << 30;
    const TAKEN: usize = 64 << 20;

    for (arguments, stdout) in [
        (&["decode", "-"][..], ""),
        (&["decode", "--word", "-"], ""),
        (&["encode"], ""),
        (&["encode", "--bundle"], ""),
        (&["run", "-"], ""),
        (&["run", "-", "--line", "2"], ""),
        (&["conform", "-"], "\n0 passed, 1 failed, 0 skipped\n"),
        (&["ptx", "check", "-"], ""),
        (&["ptx", "lower", "-"], ""),
    ] {
        let case = arguments.join(" ");
        let mut child = spawn(arguments);
        let mut stdin = child.stdin.take().expect("piped");
        let writer = std::thread::spawn(move || {
            let chunk = vec![b'x'; 1 << 16];
            let mut written = 0;
            while written < OFFERED {
                match stdin.write_all(&chunk) {
                    Ok(()) => written += chunk.len(),
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => break,
                    Err(error) => panic!("{error}"),
                }
            }
            written
        });
        let output = child.wait_with_output().expect("the command ends");
        let written = writer.join().expect("the writer ends");
        let (out, stderr) = checked(&case, &output, 2);
        assert!(written < TAKEN, "{case}: {written} bytes taken");
        let most = if case.starts_with("ptx") { 1 << 25 } else { 1 << 20 };
        let expected =
            format!("standard input: line 1 (byte offset 0) is longer than {most} bytes");
        assert!(stderr.contains(&expected), "{case}: {stderr}");
        assert_eq!(out, stdout, "{case}");
    }
}

/// `decode … | head -1`: a reader that stops early is not an error.
#[test]
fn a_closed_pipe_is_quiet() {
    let many = ["tests/data/listings/maxas-all-sm50.txt"; 400];
    let decode: Vec<&str> = ["decode"].into_iter().chain(many).collect();
    let words: Vec<&str> = ["decode", "--format", "json", "--word"]
        .into_iter()
        .chain(["0x9c90000123470200"; 1500])
        .collect();
    for arguments in [&decode[..], &words] {
        let mut child = spawn(arguments);
        drop(child.stdin.take());
        let mut stdout = child.stdout.take().expect("piped");
        stdout.read_exact(&mut [0; 1]).expect("it writes");
        drop(stdout);
        let output = child.wait_with_output().expect("the command ends");
        let (_, stderr) = checked(arguments[0], &output, 0);
        assert_eq!(stderr, "");
    }
    // Nor is one that never reads.
    let mut child = spawn(&["man"]);
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(checked("man", &output, 0).1, "");
}

/// A failure found before the reader closed the pipe is still the exit status, without a message.
#[test]
fn a_closed_pipe_hides_no_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    std::fs::write(at("vectors"), "{}\n".repeat(5000)).expect("a file");
    std::fs::write(at("module"), MODULE).expect("a file");
    for (arguments, status) in [
        (&["conform", &at("vectors")][..], 2),
        (&["conform", "--format", "json", &at("vectors")], 2),
        (&["run", "--all", "--format", "json", &at("vectors")], 2),
        (&["decode", "--format", "json", "--word", "what"], 2),
        (&["encode", "--format", "json", "what", "LD R0, [R1]"], 2),
        (&["ptx", "check", &at("module")], 1),
        (&["ptx", "check", "--format", "json", &at("module")], 1),
        (&["decode", "--word", "0x9c90000123470200"], 0),
        (&["--help"], 0),
        (&["--no-such-option"], 2),
    ] {
        let mut child = spawn(arguments);
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the command ends");
        let (_, stderr) = checked(arguments[0], &output, status);
        assert!(!stderr.contains("cannot be written"), "{stderr}");
        if arguments[0] == "conform" {
            assert_eq!(stderr, "");
        }
    }
}

/// A module whose only load is illegal.
const MODULE: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n\
    .reg .b64 %rd<2>;\n.reg .f32 %f<2>;\nld.global.nope.f32 %f1, [%rd1];\nret;\n}\n";

/// A way to call each subcommand, which then writes to standard output. `FOLDER` is a folder with a summary.
#[cfg(unix)]
const EVERY_SUBCOMMAND: [&[&str]; 31] = [
    &["decode", CUBIN],
    &["images", "tests/data/fatbins/plain.fatbin"],
    &["stats", CUBIN],
    &["encode", "LD R0, [R1]"],
    &["explain", "LD R0, [R1]"],
    &["conform", "tests/data/cmd/pass.jsonl"],
    &["vectors", "fill-in", "tests/data/cmd/pass.jsonl", "-o", "FOLDER/filled"],
    &["vectors", "generate", "--instruction", "LD", "--count", "1"],
    &["vectors", "flags"],
    &["conform", "--command", "warpload conform --serve", "cli/tests/conform/suite/decode"],
    &["conform", "--serve"],
    &["run", "tests/data/cmd/one.json"],
    &["import", "traces/rows-kernel-1.traceg", "-o", "FOLDER/rows.wlt"],
    &["export", "traces/generic.wlt", "-o", "-"],
    &["show", "traces/generic.wlt"],
    &["replay", "traces/generic.wlt"],
    &["replay", "traces/generic.wlt", "--format", "csv"],
    &["merge", "tests/data/cmd/shard-0.json", "tests/data/cmd/shard-1.json"],
    &["compare", "FOLDER/summary", "FOLDER/summary"],
    &["access", "lane * 16"],
    &["ptx", "check", "tests/data/ptx/legal.ptx"],
    &["ptx", "lower", "tests/data/ptx/legal.ptx"],
    &["ptx", "loads", "tests/data/ptx/table.ptx"],
    &[
        "ptx",
        "run",
        "benches/kernels/saxpy.ptx",
        "--function=saxpy",
        "--arg=0",
        "--arg=0",
        "--arg=0",
        "--arg=0",
    ],
    &["tmem", "map", "16x256b", "x4"],
    &["tmem", "run", "tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [t];", "--warp=0", "--taddr=0"],
    &["conform", "tests/data/cmd/tmem-cases.jsonl"],
    &["completions", "bash"],
    &["man"],
    &["--help"],
    &["--version"],
];

/// Returns the words before the options of each subcommand, as the help lists them.
#[cfg(unix)]
fn subcommands(words: &[String]) -> Vec<Vec<String>> {
    let arguments: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let (help, _) = checked("help", &run(&arguments), 0);
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return vec![words.to_vec()] };
    let lines = list.lines().take_while(|line| !line.is_empty());
    // The descriptions of others go on in lines that are indented more.
    let lines =
        lines.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let names =
        lines.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.flat_map(|name| subcommands(&[words, &[name.to_owned()]].concat())).collect()
}

#[cfg(unix)]
#[test]
fn every_subcommand_is_called() {
    let all = subcommands(&[]);
    assert!(all.len() > 20, "{all:?}");
    for words in all {
        let is_called = EVERY_SUBCOMMAND.iter().any(|call| {
            call.len() >= words.len() && call.iter().zip(&words).all(|(one, other)| one == other)
        });
        assert!(is_called, "{words:?}");
    }
}

/// Standard output that cannot be written, because it is closed or its disk is full, is an error of the output, not of
/// the input, and is reported once. No file takes its place.
#[cfg(unix)]
#[test]
fn standard_output_that_cannot_be_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().to_str().expect("UTF-8");
    let summary = format!("{folder}/summary");
    checked("replay", &run(&["replay", "traces/generic.wlt", "--format=json", "-o", &summary]), 0);
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_warpload"));
    let path = bin.parent().expect("a folder").to_str().expect("UTF-8");
    let path = format!("{path}:{}", std::env::var("PATH").expect("a path"));
    let redirections: &[&str] =
        if cfg!(target_os = "linux") { &[">&-", "> /dev/full", "1< /dev/null"] } else { &[">&-"] };
    for call in EVERY_SUBCOMMAND {
        let call: Vec<String> = call.iter().map(|word| word.replace("FOLDER", folder)).collect();
        for redirection in redirections {
            let case = format!("{} {redirection}", call.join(" "));
            let mut shell = Command::new("sh");
            let script = format!(r#"echo '{QUESTION}' | "$0" "$@" {redirection}"#);
            shell.args(["-c", &script]).arg(bin).args(&call).env("PATH", &path);
            shell.current_dir(crate::common::ROOT);
            let output = shell.output().expect("a shell");
            let (_, stderr) = checked(&case, &output, 2);
            let failed = "error: standard output cannot be written: ";
            assert!(stderr.starts_with(failed), "{case}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "{case}: {stderr}");
        }
    }
    // By its name too.
    for redirection in redirections {
        let script = format!(
            r#""$0" info traces/generic.wlt > /dev/null &&
            "$0" replay traces/generic.wlt -o /dev/stdout {redirection}"#
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).arg(bin).current_dir(crate::common::ROOT);
        let (_, stderr) = checked(redirection, &shell.output().expect("a shell"), 2);
        assert!(stderr.starts_with("error: /dev/stdout: cannot be written: "), "{stderr}");
    }
}

/// What `answer` is asked.
#[cfg(unix)]
const QUESTION: &str = r#"{"family":"decode","sm":"50","word":"0x9c90000123470200"}"#;

#[test]
fn no_colour_without_a_terminal() {
    let arguments = ["encode", "LD R255, [R1]"];
    let expected = checked("plain", &run(&arguments), 2);
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "xterm-256color"), ("COLUMNS", "20")] {
        let output = warpload(&arguments).env(name, value).output().expect("it starts");
        assert_eq!(checked(name, &output, 2), expected, "{name}");
    }
    // NO_COLOR overrides CLICOLOR_FORCE.
    let mut forced = warpload(&arguments);
    forced.env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1");
    assert_eq!(checked("both", &forced.output().expect("it starts"), 2), expected);
}

#[test]
fn progress_is_only_on_a_terminal() {
    let (expected, quiet) = checked("auto", &run(&["decode", CUBIN]), 0);
    assert_eq!(quiet, "");
    for when in ["never", "auto", "always"] {
        let output = run(&["decode", CUBIN, "--progress", when]);
        assert_eq!(checked(when, &output, 0), (expected.clone(), String::new()), "{when}");
    }
}

/// Every line of `--format json` is JSON, also on failure.
#[test]
fn json_is_json() {
    for (arguments, status) in [
        (&["decode", CUBIN][..], 0),
        (&["decode", "--check", "tests/data/cmd/changed.cuobjdump.txt"], 1),
        (&["decode", "--word", "0x9c90000123470200", "0x0", "\"\\\u{1}"], 2),
        (&["encode", "LD R0, [R1]", "LD \"R0\\"], 2),
        (&["encode", "--bundle", "LD R0, [R1]", "LD R2, [R1]"], 0),
        (&["decode", "--all", "tests/data/cmd/no-words.txt"], 0),
        (&["decode", "--all", "--raw", "tests/data/cmd/absolute.bin"], 0),
        (&["explain", "LD R0, [R1]"], 0),
        (&["conform", "tests/data/cmd/fail.jsonl", "tests/data/cmd/malformed.jsonl", "missing"], 2),
        (&["run", "tests/data/cmd/one.json"], 0),
    ] {
        let arguments = [arguments, &["--format", "json"]].concat();
        let case = arguments.join(" ");
        let (stdout, _) = checked(&case, &run(&arguments), status);
        assert_ne!(stdout, "", "{case}");
        for line in stdout.lines() {
            let value = serde_json::from_str::<serde_json::Value>(line);
            assert!(
                value.is_ok_and(|value| value.is_object() || value.is_null()),
                "{case}: {line}"
            );
        }
    }
}

#[test]
fn completions_know_every_subcommand() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (script, stderr) = checked(shell, &run(&["completions", shell]), 0);
        assert_eq!(stderr, "");
        for name in ["decode", "encode", "explain", "conform", "run", "--control", "--executor"] {
            let name = name.trim_start_matches("--");
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
}
