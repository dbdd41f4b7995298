//! docs/ld.md says the same of the bits as the tables of the encoding.

use warpload::encoding::{Control, Layout, Ld};

const REFERENCE: &str = include_str!("../docs/ld.md");

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
