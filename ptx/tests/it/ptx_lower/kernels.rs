//! Whole kernels at four levels. Each load that differs from ptxas's is listed with its reason.

use std::collections::BTreeMap;

use crate::ptx_lower::corpus::{Row, level, lowered, rows, sorted_forms};

/// The reasons for differences. docs/ptx-lower.md explains each.
const CLASSES: [&str; 4] = ["merged", "narrowed", "removed", "jump-table"];

/// A load that only one side has: the side, its text, and the class.
type Difference = (String, String, String);

/// The loads that differ, by kernel and level.
fn listed() -> BTreeMap<(String, String), Vec<Difference>> {
    let mut listed: BTreeMap<_, Vec<Difference>> = BTreeMap::new();
    for line in include_str!("../../ptx_lower/differences.tsv").lines() {
        let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let [kernel, level, side, load, class] = <[String; 5]>::try_from(fields).unwrap();
        assert!(CLASSES.contains(&class.as_str()), "{line}");
        listed.entry((kernel, level)).or_default().push((side, load, class));
    }
    listed
}

/// The rest of `loads` after removing one equal load for each of `others`.
fn without(loads: &[String], others: &[String]) -> Vec<String> {
    let mut left = loads.to_vec();
    for other in others {
        if let Some(at) = left.iter().position(|load| load == other) {
            left.remove(at);
        }
    }
    left
}

/// Compares each row, and removes its differences from `listed`. The result is the agreement by level, in percent of
/// ptxas's loads.
fn compare(
    rows: &[Row],
    listed: &mut BTreeMap<(String, String), Vec<Difference>>,
) -> BTreeMap<String, f64> {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for row in rows {
        let (kernel, flag) = row.id.rsplit_once('-').unwrap();
        let kernel = kernel.strip_prefix("kernel-").unwrap_or(kernel);
        let ptxas = sorted_forms(&row.loads);
        let here = sorted_forms(&lowered(&row.module, level(row).unwrap()));
        let missing = without(&ptxas, &here);
        let mut differences: Vec<(String, String)> = Vec::new();
        let of = |side: &str, load| (side.to_owned(), load);
        differences.extend(without(&here, &ptxas).into_iter().map(|load| of("here", load)));
        differences.extend(missing.iter().map(|load| of("ptxas", load.clone())));
        let mut expected: Vec<(String, String)> = listed
            .remove(&(kernel.to_owned(), flag.to_owned()))
            .unwrap_or_default()
            .into_iter()
            .map(|(side, load, _)| (side, load))
            .collect();
        expected.sort();
        assert_eq!(differences, expected, "{}", row.id);
        let count = counts.entry(flag.to_owned()).or_default();
        *count = (count.0 + ptxas.len() - missing.len(), count.1 + ptxas.len());
    }
    let share = |(same, all): (usize, usize)| 100.0 * same as f64 / all as f64;
    counts.into_iter().map(|(flag, count)| (flag, share(count))).collect()
}

#[test]
fn loads_of_kernels_are_those_of_ptxas_but_for_listed_ones() {
    let mut listed = listed();
    let corpora: [&[u8]; 2] = [
        include_bytes!("../../ptx_lower/kernels_to_sm50.jsonl.xz"),
        include_bytes!("../../ptx_lower/own_kernels.jsonl.xz"),
    ];
    for packed in corpora {
        let rows = rows(packed);
        assert!(rows.len() >= 52, "{}", rows.len());
        for (flag, share) in compare(&rows, &mut listed) {
            let enough = if flag == "O0" { 90.0 } else { 80.0 };
            assert!(share >= enough, "{flag}: {share:.1} %");
        }
    }
    assert!(listed.is_empty(), "no such kernel or level: {listed:?}");
}
