//! A command that is ended by a signal leaves its output unchanged or complete, and no other files.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::random::Random;
use crate::trace::command::{command, names};
use crate::traces::grouped;

const INSTRUCTION: &str = "0010 ffffffff 1 R1 LDG.E 1 R2 4 2 0x7f0000000000 1 2 3 4 5 6 7 8 9 10 11 \
     12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 0";

/// Signals that end a process by default and are likely to occur.
const SIGNALS: [&str; 6] = ["TERM", "INT", "HUP", "ABRT", "XFSZ", "KILL"];

fn send(signal: &str, child: &Child) {
    let kill = format!("kill -{signal} {} 2> /dev/null", child.id());
    // The child may have ended already; it has not been waited for, so its id is still its own.
    Command::new("sh").args(["-c", &kill]).status().unwrap();
}

/// The commands wait for input when the signal arrives.
#[test]
fn a_signal_in_the_middle_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = grouped(5, "", &vec![INSTRUCTION; 30_000]);
    fs::write(at("old"), "old").unwrap();
    for signal in SIGNALS {
        for arguments in [
            ["import", "-", "-o", &at("old")],
            ["import", "-", "-o", &at("new")],
            ["export", "-", "-o", &at("old")],
            ["export", "-", "-o", &at("new")],
            ["replay", "-", "--html", &at("old")],
            ["replay", "-", "--html", &at("new")],
        ] {
            let mut child = command(&arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // More than fits into a pipe, so that blocks have been written when all of it is taken.
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(&text.as_bytes()[..text.len() / 2]).unwrap();
            send(signal, &child);
            // XFSZ alone does not end the command; the truncated input then does.
            drop(stdin);
            assert!(!child.wait().unwrap().success(), "{signal}: {arguments:?}");
            assert_eq!(names(folder.path()), ["old"], "{signal}: {arguments:?}");
            assert_eq!(fs::read(at("old")).unwrap(), b"old");
        }
    }
}

#[test]
fn a_signal_at_any_moment_leaves_no_part_of_an_output() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(at("trace"), grouped(5, "", &vec![INSTRUCTION; 10_000])).unwrap();
    let mut random = Random(30);
    for [verb, option] in [["import", "-o"], ["export", "-o"], ["replay", "--html"]] {
        let start = |output: &str| {
            let mut child = command(&[verb, &at("trace"), option, &at(output)]);
            child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let begin = Instant::now();
        assert!(start("whole").wait().unwrap().success());
        let undisturbed = begin.elapsed();
        let whole = fs::read(at("whole")).unwrap();
        for signal in SIGNALS {
            for before in [None, Some("old")] {
                let _ = fs::remove_file(at("out"));
                before.iter().for_each(|text| fs::write(at("out"), text).unwrap());
                let mut child = start("out");
                // Until shortly after the end: the last steps matter most.
                let moment = undisturbed.as_micros() as u64 * 11 / 10;
                sleep(Duration::from_micros(random.next() % moment));
                send(signal, &child);
                child.wait().unwrap();
                let is_whole = fs::read(at("out")).is_ok_and(|bytes| bytes == whole);
                let is_old = fs::read_to_string(at("out")).ok().as_deref() == before;
                assert!(is_whole || is_old, "{verb}, {signal}: a part of an output");
                let _ = fs::remove_file(at("out"));
                forget_what_a_kill_leaves(signal, folder.path());
                assert_eq!(names(folder.path()), ["trace", "whole"], "{verb}, {signal}");
            }
        }
        assert!(start("out").wait().unwrap().success());
        assert!(fs::read(at("out")).unwrap() == whole);
        fs::remove_file(at("out")).unwrap();
    }
}

/// Between two system calls an output has a temporary name, and KILL cannot be delayed.
fn forget_what_a_kill_leaves(signal: &str, folder: &Path) {
    for name in names(folder) {
        if signal == "KILL" && name.starts_with(".warpload-") {
            fs::remove_file(folder.join(name)).unwrap();
        }
    }
}
