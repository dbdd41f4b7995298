//! The coverage of vectors, as a table and as JSON.

use std::collections::BTreeMap;

use serde::Serialize;
use warpload_suite::flags::Flag;
use warpload_suite::generate::Coverage;

use crate::name::plural;
use crate::table::{self, Column, Value};

#[derive(Serialize)]
pub(super) struct CoverageJson {
    instruction: &'static str,
    sm: String,
    seed: u64,
    cases: u64,
    flags: BTreeMap<&'static str, u64>,
    pairs: PairsJson,
}

#[derive(Serialize)]
struct PairsJson {
    /// The number of flags that the instruction can show.
    all: usize,
    covered: usize,
    /// The pairs that no vector shows; some cannot occur together.
    missing: Vec<[&'static str; 2]>,
}

impl CoverageJson {
    pub(super) fn new(
        instruction: &'static str,
        sm: String,
        seed: u64,
        coverage: &Coverage,
    ) -> Self {
        let missing: Vec<_> = coverage.missing().map(|pair| pair.map(|flag| flag.name)).collect();
        let all = coverage.pairs();
        Self {
            instruction,
            sm,
            seed,
            cases: coverage.cases(),
            flags: coverage.flags().map(|(flag, count)| (flag.name, count)).collect(),
            pairs: PairsJson { all, covered: all - missing.len(), missing },
        }
    }
}

type Row = (&'static Flag, u64);

const COLUMNS: [Column<Row>; 2] = [
    Column { heading: "flag", value: |row| Value::Text(row.0.name.into()) },
    Column { heading: "vectors", value: |row| Value::Count(row.1) },
];

/// The counts of flags, and the pairs of flags that no vector shows, one line for each first flag. If there are few
/// vectors, the list of pairs is too long to be useful, and is left out.
pub(super) fn text(coverage: &Coverage) -> String {
    let rows: Vec<Row> = coverage.flags().collect();
    let mut missing: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut count = 0;
    for [one, other] in coverage.missing() {
        missing.entry(one.name).or_default().push(other.name);
        count += 1;
    }
    let all = coverage.pairs();
    let covered = all - count;
    let vectors = plural(coverage.cases(), "vector");
    let mut text = table::text(&COLUMNS, &rows);
    text += &format!("\n{vectors}; {covered} of {all} pairs of flags\n");
    if count > all / 2 {
        return text;
    }
    if count > 0 {
        text += "pairs that no vector shows (many cannot occur together):\n";
    }
    for (one, others) in missing {
        text += &format!("  {one}: {}\n", others.join(" "));
    }
    text
}
