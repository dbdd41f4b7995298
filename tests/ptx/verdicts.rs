//! The same verdict as ptxas on every row, and for the same reason.

use std::collections::{BTreeMap, BTreeSet};

use warpload::ptx::{Rule, Violation, check, read};

use super::corpus::{Row, rows};

/// Rows that are judged otherwise here, each with the reason.
const DISAGREEMENTS: [(&str, &str); 4] = [
    ("ld-00095", "no load: `add.f16x2` on sm_50, which is not judged here"),
    ("tc-02685", "refused for the -arch of the command line, which the module does not say"),
    ("tc-02690", "refused for the -arch of the command line, which the module does not say"),
    ("tc-03131", "refused for the -arch of the command line, which the module does not say"),
];

/// What is wrong with a module, in the order of its text.
fn violations(module: &str) -> Vec<Violation> {
    let module = read(module).expect("a module that can be read");
    check(&module).flat_map(|verdict| verdict.violations).collect()
}

#[test]
fn every_verdict_is_that_of_ptxas() {
    let reasons = Reasons::read(include_str!("errors.tsv"));
    let mut used = BTreeSet::new();
    let mut by_verdict = BTreeMap::<bool, usize>::new();
    let mut wrong = Vec::new();
    for row in rows() {
        *by_verdict.entry(row.is_accepted).or_default() += 1;
        let found = violations(&row.module);
        let names: Vec<&str> = found.iter().map(|violation| violation.rule.name()).collect();
        let complaint = if row.is_accepted != found.is_empty() {
            Some(format!("accepted by ptxas: {}", row.is_accepted))
        } else if row.is_accepted {
            None
        } else {
            reasons.compare(&row, &found, &mut used).err()
        };
        if let Some(complaint) = complaint {
            let Row { id, instruction, error, .. } = row;
            wrong.push((id, format!("{complaint}; {instruction}; `{error}`; here {names:?}")));
        }
    }
    let total: usize = by_verdict.values().sum();
    println!("{total} rows, accepted and refused {by_verdict:?}, disagreements {}", wrong.len());
    assert_eq!(total, 12_683);
    let ids: Vec<&str> = wrong.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, DISAGREEMENTS.map(|(id, _)| id), "{wrong:#?}");
    let unused: Vec<_> = (0..reasons.0.len()).filter(|row| !used.contains(row)).collect();
    assert!(unused.is_empty(), "rows of errors.tsv that fit nothing: {unused:?}");
}

/// From ptxas's messages to rules.
struct Reasons(Vec<Reason>);

struct Reason {
    families: Vec<&'static str>,
    message: &'static str,
    rules: Vec<&'static str>,
}

impl Reasons {
    fn read(table: &'static str) -> Self {
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        let rows: Vec<Reason> = lines
            .map(|line| {
                let columns: Vec<&str> = line.split('\t').collect();
                let [families, message, rules] = columns[..] else { panic!("{line}") };
                let rules: Vec<&str> = rules.split(',').collect();
                let is_known = |name| Rule::ALL.iter().any(|rule| rule.name() == name);
                assert!(rules.len() <= 3 && rules.iter().all(|name| is_known(*name)), "{line}");
                Reason { families: families.split(',').collect(), message, rules }
            })
            .collect();
        Self(rows)
    }

    /// Whether one of the rules that were found says what the message says.
    fn compare(
        &self,
        row: &Row,
        found: &[Violation],
        used: &mut BTreeSet<usize>,
    ) -> Result<(), String> {
        let fits = |reason: &Reason| {
            let is_family = |family: &&str| *family == "*" || *family == row.family;
            reason.families.iter().any(is_family) && is_like(&row.error, reason.message)
        };
        let place = self.0.iter().position(fits).ok_or("no row of errors.tsv fits")?;
        used.insert(place);
        let rules = &self.0[place].rules;
        let number = number(&row.error);
        let is_it = |violation: &&Violation| {
            rules.contains(&violation.rule.name())
                && number.as_ref().is_none_or(|number| violation.message.contains(number))
        };
        match found.iter().find(is_it) {
            Some(_) => Ok(()),
            None => Err(format!("expected one of {rules:?}, number {number:?}")),
        }
    }
}

/// The version or target that a message asks for, as it stands in messages here.
fn number(error: &str) -> Option<String> {
    if let Some((_, behind)) = error.split_once(".version ") {
        let version = behind.strip_suffix(" or later")?;
        return Some(format!("`.version {version}`"));
    }
    let (_, behind) = error.split_once("requires .target ")?;
    Some(format!("`.target {}`", behind.strip_suffix(" or higher")?))
}

/// Whether a text is like a pattern in which `*` stands for any text and `?` for any character.
fn is_like(text: &str, pattern: &str) -> bool {
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let (mut at, mut p) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, at));
                p += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[at] => {
                p += 1;
                at += 1;
            }
            _ => {
                let Some((back, from)) = star else { return false };
                star = Some((back, from + 1));
                (p, at) = (back + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[test]
fn patterns_are_compared_as_they_should_be() {
    assert!(is_like("Illegal vector size: 9", "Illegal vector size: *"));
    assert!(is_like("abcabd", "*ab?"));
    assert!(!is_like("abc", "ab"));
    assert!(!is_like("abc", "a*d"));
}
