//! The streams: endless standard input, output that is not read, what goes to which stream.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Stdio};

use crate::{CUBIN, checked, run, warpload};

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
        (&["test", "-"], "0 passed, 1 failed\n"),
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
        (&["test", &at("vectors")][..], 1),
        (&["test", "--format", "json", &at("vectors")], 1),
        (&["tmem", "test", &at("vectors")], 1),
        (&["run", "--all", "--format", "json", &at("vectors")], 1),
        (&["decode", "--format", "json", "--word", "what"], 1),
        (&["encode", "--format", "json", "what"], 1),
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
        if arguments[0] == "test" {
            assert_eq!(stderr, "");
        }
    }
}

/// A module whose only load is illegal.
const MODULE: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n\
    .reg .b64 %rd<2>;\n.reg .f32 %f<2>;\nld.global.nope.f32 %f1, [%rd1];\nret;\n}\n";

/// A full disk is an error of the output, not of the input, and is reported once.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    for arguments in [
        &["man"][..],
        &["decode", CUBIN, CUBIN],
        &["test", "tests/data/cmd/pass.jsonl"],
        &["--help"],
        &["replay", "-h"],
        &["--version"],
        &["help", "ptx"],
    ] {
        let full =
            std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let output = warpload(arguments).stdout(full).output().expect("the command starts");
        let (_, stderr) = checked(arguments[0], &output, 2);
        assert!(stderr.starts_with("error: standard output cannot be written: "), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn no_colour_without_a_terminal() {
    let arguments = ["encode", "LD R255, [R1]"];
    let expected = checked("plain", &run(&arguments), 1);
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "xterm-256color"), ("COLUMNS", "20")] {
        let output = warpload(&arguments).env(name, value).output().expect("it starts");
        assert_eq!(checked(name, &output, 1), expected, "{name}");
    }
    // NO_COLOR overrides CLICOLOR_FORCE.
    let mut forced = warpload(&arguments);
    forced.env("NO_COLOR", "1").env("CLICOLOR_FORCE", "1");
    assert_eq!(checked("both", &forced.output().expect("it starts"), 1), expected);
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
        (&["decode", "--word", "0x9c90000123470200", "0x0", "\"\\\u{1}"], 1),
        (&["encode", "LD R0, [R1]", "LD \"R0\\"], 1),
        (&["encode", "--bundle", "LD R0, [R1]", "LD R2, [R1]"], 0),
        (&["decode", "--all", "tests/data/cmd/no-words.txt"], 0),
        (&["decode", "--all", "--raw", "tests/data/cmd/absolute.bin"], 0),
        (&["explain", "LD R0, [R1]"], 0),
        (&["test", "tests/data/cmd/fail.jsonl", "tests/data/cmd/malformed.jsonl", "missing"], 2),
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
        for name in ["decode", "encode", "explain", "test", "run", "--control", "--executor"] {
            let name = name.trim_start_matches("--");
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
}
