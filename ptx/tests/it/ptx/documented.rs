//! The tables of docs/ptx.md agree with the rules.

use warpload_ptx::rules::{Rule, features};

const DOCUMENT: &str = include_str!("../../../../docs/ptx.md");

/// The rows of the table with a header that begins with `heading`.
fn table(heading: &str) -> Vec<&'static str> {
    let lines = DOCUMENT.lines().skip_while(|line| !line.starts_with(heading));
    lines.skip(2).take_while(|line| line.starts_with('|')).collect()
}

#[test]
fn the_documented_features_are_those_of_the_rules() {
    let rows: Vec<String> = features()
        .map(|feature| {
            let version = feature.version.map_or(String::new(), |version| format!(" {version}"));
            let target = feature.sm.map_or(String::new(), |sm| format!(" sm_{sm}"));
            format!("| {} |{version} |{target} |", feature.name)
        })
        .collect();
    let loads = table("| feature ");
    let (of_loads, of_declarations) = rows.split_at(loads.len());
    assert_eq!(of_loads, loads);
    // The table also has declarations with rules of their own.
    let declarations = table("| declaration ");
    assert!(!of_declarations.is_empty());
    for row in of_declarations {
        assert!(declarations.contains(&row.as_str()), "{row}");
    }
}

#[test]
fn the_documented_rules_are_all_rules() {
    let names: Vec<&str> = table("| rule ")
        .iter()
        .map_while(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let rules: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(names, rules);
}
