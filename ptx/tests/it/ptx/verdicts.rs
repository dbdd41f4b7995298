//! Every row gets the verdict of ptxas, and for the same reason.

use std::collections::{BTreeMap, BTreeSet};

use warpload_ptx::rules::{Rule, Violation};
use warpload_ptx::{check, read};

use super::corpus::{Row, rows};

const NARROW_V8: &str = "`.v8` of 8- or 16-bit elements, which documents do not have and on which \
                         ptxas crashes in some runs";
const WIDE_V8: &str = "`.v8` into registers wider than its elements, on which ptxas crashes in some \
                       runs";

/// Rows with another verdict than ptxas's, each with the reason.
const DISAGREEMENTS: [(&str, &str); 17] = [
    ("ld-00095", "no load: `add.f16x2` on sm_50, which is not judged here"),
    ("tc-02685", "refused for the -arch of the command line, which the module does not say"),
    ("tc-02690", "refused for the -arch of the command line, which the module does not say"),
    ("tc-03131", "refused for the -arch of the command line, which the module does not say"),
    ("s1-135", NARROW_V8),
    ("s1-172", NARROW_V8),
    ("s2-306", WIDE_V8),
    ("s2-525", NARROW_V8),
    ("s2-533", WIDE_V8),
    ("s2-746", WIDE_V8),
    ("s2-773", WIDE_V8),
    ("s2-841", NARROW_V8),
    ("s2-923", NARROW_V8),
    ("s2-1062", WIDE_V8),
    ("s2-1104", WIDE_V8),
    ("s2-1264", NARROW_V8),
    ("s2-1444", WIDE_V8),
];

/// Rows refused for several reasons. We report another one than ptxas's first.
const SECOND_REASONS: [(&str, &str); 5] = [
    ("s2-212", "a syntax error after an index: nothing is said of the array"),
    ("s2-237", "a message of ptxas 13.5 in a version that 12.9 compiles as well"),
    ("s2-520", "a syntax error in the address: nothing is said of the destination"),
    ("s2-1266", "a syntax error in the destination: nothing is said of the target"),
    ("s2-1480", "a syntax error after an index: nothing is said of the array"),
];

/// The violations of a module in the order of its text.
fn violations(module: &str) -> Vec<Violation> {
    let module = read(module).unwrap_or_else(|error| panic!("{error}\n{module}"));
    check(&module).flat_map(|verdict| verdict.violations).collect()
}

#[test]
fn every_verdict_is_that_of_ptxas() {
    let reasons = Reasons::read(include_str!("../../ptx/errors.tsv"));
    let mut used = BTreeSet::new();
    let mut by_verdict = BTreeMap::<bool, usize>::new();
    let mut wrong = Vec::new();
    let mut second = Vec::new();
    for row in rows() {
        *by_verdict.entry(row.is_accepted).or_default() += 1;
        let found = violations(&row.module);
        let names: Vec<&str> = found.iter().map(|violation| violation.rule.name()).collect();
        let complaint = if row.is_accepted != found.is_empty() {
            Some(format!("accepted by ptxas: {}", row.is_accepted))
        } else if row.is_accepted {
            None
        } else {
            match reasons.compare(&row, &found, &mut used) {
                Ok(0) => None,
                Ok(_) => {
                    second.push(row.id.clone());
                    None
                }
                Err(complaint) => Some(complaint),
            }
        };
        if let Some(complaint) = complaint {
            let Row { id, instruction, error, .. } = row;
            wrong.push((id, format!("{complaint}; {instruction}; `{error}`; here {names:?}")));
        }
    }
    let total: usize = by_verdict.values().sum();
    println!("{total} rows, accepted and refused {by_verdict:?}, disagreements {}", wrong.len());
    assert_eq!(total, 14_368);
    let ids: Vec<&str> = wrong.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, DISAGREEMENTS.map(|(id, _)| id), "{wrong:#?}");
    assert_eq!(second, SECOND_REASONS.map(|(id, _)| id));
    let rows = reasons.0.iter().enumerate();
    let unused: Vec<_> = rows
        .filter(|(row, reason)| used.contains(row) != reason.is_in_corpora)
        .map(|(_, reason)| reason.message)
        .collect();
    assert!(unused.is_empty(), "rows of errors.tsv in the wrong part: {unused:?}");
}

/// The messages of a row: a single one, or several as `line 7; error   : A; line 9; fatal   : B`.
fn messages(error: &str) -> Vec<&str> {
    let starts = error.match_indices("line ").chain(error.match_indices("ptxas "));
    let is_start = |at: usize| at == 0 || error[..at].ends_with("; ");
    let mut starts: Vec<usize> = starts.map(|found| found.0).filter(|at| is_start(*at)).collect();
    starts.sort_unstable();
    if starts.is_empty() {
        return vec![error];
    }
    let ends = starts.iter().skip(1).map(|at| at - "; ".len()).chain([error.len()]);
    let message = |(start, end): (&usize, usize)| {
        let part = &error[*start..end];
        part.split_once(": ").map_or(part, |(_, message)| message).trim()
    };
    starts.iter().zip(ends).map(message).collect()
}

#[test]
fn messages_are_taken_apart() {
    let two = "line 7; error   : Illegal bank number: 11; line 9; fatal   : Parsing error near ';'";
    assert_eq!(messages(two), ["Illegal bank number: 11", "Parsing error near ';'"]);
    assert_eq!(messages("ptxas fatal   :  32-Bit ABI"), ["32-Bit ABI"]);
    assert_eq!(messages("Illegal vector size: 9"), ["Illegal vector size: 9"]);
}

/// Maps ptxas's messages to rules.
struct Reasons(Vec<Reason>);

struct Reason {
    families: Vec<&'static str>,
    message: &'static str,
    rules: Vec<&'static str>,
    is_in_corpora: bool,
}

impl Reasons {
    fn read(table: &'static str) -> Self {
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        let others =
            table.lines().skip_while(|line| !line.ends_with("no row of these corpora has."));
        let others: BTreeSet<&str> = others.collect();
        let rows: Vec<Reason> = lines
            .map(|line| {
                let columns: Vec<&str> = line.split('\t').collect();
                let [families, message, rules] = columns[..] else { panic!("{line}") };
                let rules: Vec<&str> = rules.split(',').collect();
                let is_known = |name| Rule::ALL.iter().any(|rule| rule.name() == name);
                let limit = if message.starts_with("Arguments mismatch") { 8 } else { 3 };
                assert!(rules.len() <= limit && rules.iter().all(|name| is_known(*name)), "{line}");
                let families = families.split(',').collect();
                Reason { families, message, rules, is_in_corpora: !others.contains(line) }
            })
            .collect();
        Self(rows)
    }

    /// The first message of a row that agrees with one of the rules found.
    fn compare(
        &self,
        row: &Row,
        found: &[Violation],
        used: &mut BTreeSet<usize>,
    ) -> Result<usize, String> {
        let messages = messages(&row.error);
        let results: Vec<Result<(), String>> = messages
            .iter()
            .map(|message| self.compare_message(&row.family, message, found, used))
            .collect();
        let first = results.iter().position(Result::is_ok);
        first.ok_or_else(|| format!("{results:?}"))
    }

    fn compare_message(
        &self,
        family: &str,
        message: &str,
        found: &[Violation],
        used: &mut BTreeSet<usize>,
    ) -> Result<(), String> {
        let fits = |reason: &Reason| {
            let is_family = |known: &&str| *known == "*" || *known == family;
            reason.families.iter().any(is_family) && is_like(message, reason.message)
        };
        let place = self.0.iter().position(fits).ok_or("no row of errors.tsv fits")?;
        used.insert(place);
        let rules = &self.0[place].rules;
        let number = number(message);
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

/// The version or target that a message requires, as our messages write it.
fn number(error: &str) -> Option<String> {
    if let Some((_, rest)) = error.split_once(".version ") {
        let version = rest.strip_suffix(" or later")?;
        return Some(format!("`.version {version}`"));
    }
    let (_, rest) = error.split_once("requires .target ")?;
    Some(format!("`.target {}`", rest.strip_suffix(" or higher")?))
}

/// Whether a text matches a pattern: `*` is any text and `?` any character.
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
