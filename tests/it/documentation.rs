//! Compares docs/ld.md with the tables of the encoding, and checks that both executors cite its clauses.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]

use warpload::encoding::{Control, Instruction, Sm};

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
    // The executor of instructions, and the executor of loads below it.
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

/// Whether a line cites a clause, rather than one with a longer number.
fn cites(line: &str, clause: &str) -> bool {
    line.match_indices(clause)
        .any(|(at, _)| !line[at + clause.len()..].starts_with(|next: char| next.is_ascii_digit()))
}

#[test]
fn the_word() {
    let documented: Vec<String> =
        table("1.").iter().map(|row| format!("{} {}", row[0], row[1])).collect();
    let ld = Instruction::new("LD", Sm::SPA5).unwrap();
    let rows: Vec<String> =
        ld.describe().map(|row| format!("{} {}", row.field(), row.name())).collect();
    assert_eq!(documented, rows);
}

#[test]
fn the_control_word() {
    let documented: Vec<&str> = table("5.").iter().map(|row| row[0]).collect();
    let rows: Vec<String> =
        Control::default().describe().map(|row| row.field().to_string()).collect();
    assert_eq!(documented, rows);
}
