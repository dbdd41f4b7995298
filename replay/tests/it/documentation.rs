//! The tables of counters in docs/counters.md are those of the list. `UPDATE_EXPECT=1` renews them.

use std::fs;
use std::path::Path;

use warpload_replay::{Addition, CounterRow, counters, pc_counters};

fn table(rows: &[CounterRow]) -> String {
    let mut text = "| key | unit | adds | what it counts |\n|---|---|---|---|\n".to_owned();
    for CounterRow { path, unit, addition, documentation, .. } in rows {
        let adds = addition.map_or("", Addition::name);
        text += &format!("| `{path}` | {unit} | {adds} | {documentation} |\n");
    }
    text
}

#[test]
fn tables_of_counters_are_the_list() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/counters.md");
    let found = fs::read_to_string(&path).unwrap();
    let mut expected = found.clone();
    for (mark, rows) in [("counters", counters()), ("counters of rows", pc_counters())] {
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
    for rows in [counters(), pc_counters()] {
        let mut paths: Vec<&str> = rows.iter().map(|row| &*row.path).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), rows.len());
        for row in &rows {
            assert!(row.documentation.ends_with('.'), "{}", row.path);
            let is_object = row.addition.is_none();
            assert_eq!(row.unit.is_empty(), is_object, "{}", row.path);
        }
    }
    assert!(counters().iter().any(|row| row.addition == Some(Addition::ByName)));
}
