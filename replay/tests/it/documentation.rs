//! The tables of counters in docs/counters.md are those of the list. `UPDATE_EXPECT=1` renews them.

use std::fs;
use std::path::Path;

use warpload_replay::{CounterRow, access_counters, trace_counters};

fn table(rows: &[CounterRow]) -> String {
    let mut text = "| key | unit | adds | what it counts |\n|---|---|---|---|\n".to_owned();
    for CounterRow { path, unit, addition, documentation, .. } in rows {
        text += &format!("| `{path}` | {unit} | {addition} | {documentation} |\n");
    }
    text
}

/// The counters of a trace. Those of its accesses have a table of their own.
fn of_trace() -> Vec<CounterRow> {
    let is_shown = |row: &CounterRow| match row.path.split_once('.') {
        Some((object, _)) => matches!(object, "footprint" | "transfers"),
        None => true,
    };
    trace_counters().into_iter().filter(is_shown).collect()
}

#[test]
fn tables_of_counters_are_the_list() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/counters.md");
    let found = fs::read_to_string(&path).unwrap();
    let mut expected = found.clone();
    for (mark, rows) in [("counters", of_trace()), ("counters of rows", access_counters())] {
        let mark = format!("<!-- {mark} -->\n");
        let start = expected.find(&mark).unwrap() + mark.len();
        let end = start + expected[start..].find("<!-- end -->").unwrap();
        expected.replace_range(start..end, &table(&rows));
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &expected).unwrap();
        return;
    }
    assert!(found == expected, "docs/counters.md: UPDATE_EXPECT=1 renews its tables of counters");
}

#[test]
fn every_counter_has_a_sentence_and_a_place_of_its_own() {
    for rows in [trace_counters(), access_counters()] {
        let mut paths: Vec<&str> = rows.iter().map(|row| &*row.path).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), rows.len());
        for row in &rows {
            assert!(row.documentation.ends_with('.'), "{}", row.path);
            let is_object = row.addition.is_empty();
            assert_eq!(row.unit.is_empty(), is_object, "{}", row.path);
        }
    }
    assert!(trace_counters().iter().any(|row| row.addition == "sum by name"));
}
