//! An import that is killed leaves no file under the output's name, or a whole one.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::command::{command, names};
use crate::import::grouped;
use crate::random::Random;

#[test]
fn a_killed_import_leaves_no_part_of_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let instruction = "0010 ffffffff 1 R1 LDG.E 1 R2 4 2 0x7f0000000000 1 2 3 4 5 6 7 8 9 10 11 \
                       12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 0";
    fs::write(at("trace"), grouped(5, "", &vec![instruction; 30_000])).unwrap();
    let import = |output: &str| {
        let mut import = command(&["import", &at("trace"), "-o", &at(output)]);
        import.stdout(Stdio::null()).spawn()
    };

    let begin = Instant::now();
    assert!(import("whole.wlt").unwrap().wait().unwrap().success());
    let undisturbed = begin.elapsed();
    let whole = fs::read(at("whole.wlt")).unwrap();

    let mut random = Random(30);
    let mut unfinished = 0;
    for _ in 0..20 {
        let mut child = import("killed.wlt").unwrap();
        // Up to somewhat behind the end: the last steps are what matters most.
        let moment = undisturbed.as_micros() as u64 * 11 / 10;
        sleep(Duration::from_micros(random.next() % moment));
        child.kill().unwrap();
        child.wait().unwrap();
        match fs::read(at("killed.wlt")) {
            Ok(bytes) => assert!(bytes == whole, "a part of a trace under the output's name"),
            Err(_) => unfinished += 1,
        }
        let _ = fs::remove_file(at("killed.wlt"));
    }
    assert!(unfinished > 0, "no import was killed before its end");
    assert_eq!(names(folder.path()), ["trace", "whole.wlt"]);
    assert!(import("killed.wlt").unwrap().wait().unwrap().success());
    assert!(fs::read(at("killed.wlt")).unwrap() == whole);
}
