//! `conform` with programs that go wrong in every way, and `--serve`, which does not.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod adapter;
#[cfg(unix)]
mod signals;
mod suites;
mod whole;
#[cfg(unix)]
mod wrong;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::common::{Ran, warpload};

/// Returns a case of `lanes` lanes a line of memory apart, and the right answer.
fn case(id: &str, flags: &[&str], lanes: usize) -> (String, String) {
    let address =
        |lane: usize| if lane < lanes { format!("\"{:#x}\"", 128 * lane) } else { "null".into() };
    let addresses: Vec<String> = (0..32).map(address).collect();
    let active = u32::MAX >> (32 - lanes);
    let ideal = (4 * lanes).div_ceil(32);
    let answer = format!(
        r#"{{"sectors":{lanes},"lines":{lanes},"ideal_sectors":{ideal},"wavefronts":null}}"#
    );
    let case = format!(
        r#"{{"id":"{id}","family":"coalescing","flags":{flags:?},"source":"document","opcode":"LDG.E","bytes":4,"space":"global","active":"{active:#x}","addresses":[{}],"expect":{answer}}}"#,
        addresses.join(",")
    );
    (case, answer)
}

/// A suite in a folder of its own, and the right answers in a file beside it.
struct Suite {
    folder: tempfile::TempDir,
}

impl Suite {
    /// Makes a suite of `count` cases; every fourth one has the flag `faulty`.
    fn new(count: usize) -> Self {
        let (mut cases, mut answers) = (String::new(), String::new());
        for i in 1..=count {
            let (id, flags) = match i % 4 {
                3 => (format!("c{i}-fault"), vec!["faulty", "some"]),
                2 => (format!("c{i}"), vec!["some"]),
                _ => (format!("c{i}"), Vec::new()),
            };
            let (case, answer) = case(&id, &flags, i);
            writeln!(cases, "{case}").unwrap();
            writeln!(answers, "{id}\t{answer}").unwrap();
        }
        let suite = Self { folder: tempfile::tempdir().unwrap() };
        suite.add("cases.jsonl", &cases);
        suite.add("answers", &answers);
        suite
    }

    fn add(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `conform` on the suite.
    fn run(&self, command: &str, options: &[&str]) -> Ran {
        run(command, options, &[self.folder.path()])
    }
}

fn run(command: &str, options: &[&str], suites: &[&Path]) -> Ran {
    let mut conform = warpload();
    conform.args(["conform", "--command", command]).args(options).args(suites);
    conform.output().unwrap().into()
}

/// Returns `warpload conform --serve`, quoted for `--command`.
fn own() -> String {
    format!("'{}' conform --serve", env!("CARGO_BIN_EXE_warpload"))
}
