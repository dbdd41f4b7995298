//! docs/ld.md says the same of the bits as the tables of the encoding, and both executors cite its
//! clauses; the tests that docs/reliability.md names exist.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use std::collections::BTreeSet;
use std::path::Path;

use warpload::encoding::{Control, Ld, WordLayout};

const REFERENCE: &str = include_str!("../../docs/ld.md");

/// The first table of the section: the cells of its rows, without the heading.
fn table(section: &str) -> Vec<Vec<&'static str>> {
    REFERENCE
        .lines()
        .skip_while(|line| !line.starts_with(&format!("## {section}")))
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect()
}

/// A reader who searches for a clause of section 4 finds it in both executors.
#[test]
fn both_executors_cite_the_clauses() {
    let section = REFERENCE.lines().skip_while(|line| !line.starts_with("## 4."));
    let clauses = section.take_while(|line| !line.starts_with("### ")).filter_map(|line| {
        let (number, _) = line.split_once(". ")?;
        number.parse::<u32>().ok()
    });
    let clauses: Vec<u32> = clauses.collect();
    assert_eq!(clauses, (1..=10).collect::<Vec<u32>>());
    // Of an instruction and of a load.
    let fast = concat!(
        include_str!("../../src/load/prepared.rs"),
        include_str!("../../src/load/lanes.rs"),
        include_str!("../../src/load/fast.rs")
    );
    let literal = concat!(
        include_str!("../../src/load/reference/mod.rs"),
        include_str!("../../src/load/reference/lane.rs")
    );
    let executors = [fast, literal];
    for clause in clauses.iter().map(|number| format!("clause 4.{number}")) {
        for text in executors {
            let cites = |line: &str| line.contains("//") && cites(line, &clause);
            assert!(text.lines().any(cites), "{clause} is cited in one executor alone");
        }
    }
}

/// Whether a line has a clause, and not one of which its number is only the beginning.
fn cites(line: &str, clause: &str) -> bool {
    line.match_indices(clause)
        .any(|(at, _)| !line[at + clause.len()..].starts_with(|next: char| next.is_ascii_digit()))
}

#[test]
fn the_word() {
    let documented: Vec<String> =
        table("1.").iter().map(|row| format!("{} {}", row[0], row[1])).collect();
    let rows: Vec<String> =
        Ld::ROWS.iter().map(|row| format!("{} {}", row.field, row.name)).collect();
    assert_eq!(documented, rows);
}

#[test]
fn the_control_word() {
    let documented: Vec<&str> = table("5.").iter().map(|row| row[0]).collect();
    let rows: Vec<String> = Control::ROWS.iter().map(|row| row.field.to_string()).collect();
    assert_eq!(documented, rows);
}

/// All Rust sources under a folder, one after the other.
fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder of this repository") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension() == Some("rs".as_ref()) {
            *text += &std::fs::read_to_string(&path).expect("UTF-8");
        }
    }
}

#[test]
fn the_promises_of_reliability_have_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    for folder in ["src", "tests", "encoding", "ptx", "cli", "fuzz/src"] {
        sources(&root.join(folder), &mut text);
    }
    let known: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.trim_start().trim_start_matches("pub ").strip_prefix("fn "))
        .filter_map(|function| function.split('(').next())
        .collect();
    let page = include_str!("../../docs/reliability.md");
    // What is in backticks: names with an underscore are those of tests, names with a slash files.
    let quoted: BTreeSet<&str> = page.split('`').skip(1).step_by(2).collect();
    let is_name = |text: &&&str| {
        text.contains('_') && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    };
    let tests: Vec<&str> = quoted.iter().filter(is_name).copied().collect();
    let missing: Vec<&&str> = tests.iter().filter(|test| !known.contains(**test)).collect();
    assert!(missing.is_empty(), "docs/reliability.md names tests that do not exist: {missing:?}");
    assert!(tests.len() > 60, "{} tests", tests.len());
    for file in quoted.iter().filter(|name| name.ends_with(".rs")) {
        assert!(root.join(file).is_file(), "docs/reliability.md names {file}");
    }
}
