//! What a signal that ends `conform` leaves behind.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use crate::conform::Suite;

/// The program, which ignores the end of its input, and what it started end with `conform`.
#[test]
fn a_signal_ends_the_programs_too() {
    let suite = Suite::new(4);
    let pipe = suite.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // The pipe ends when no process has it open.
    suite.add(
        "emulator.sh",
        "read -r question; exec 3>\"$1\"; (sleep 60; echo child >&3) & echo asked >&3; sleep 60; echo self >&3",
    );
    let command = format!("sh '{}' '{}'", suite.path("emulator.sh").display(), pipe.display());
    let mut conform = crate::common::warpload();
    conform.args(["conform", "--timeout", "1000", "--command", &command]);
    conform.arg(suite.path("cases.jsonl")).stdout(Stdio::null());
    let mut conform = conform.spawn().unwrap();
    let mut pipe = File::open(&pipe).unwrap();
    let mut asked = [0; 6];
    pipe.read_exact(&mut asked).unwrap();
    let kill = format!("kill -TERM {}", conform.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    assert_eq!(conform.wait().unwrap().signal(), Some(15));
    let mut left = String::new();
    pipe.read_to_string(&mut left).unwrap();
    assert_eq!((&asked, &*left), (b"asked\n", ""));
}
