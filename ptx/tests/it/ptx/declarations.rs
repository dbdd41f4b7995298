//! Legal and illegal declarations and directives get the verdict of ptxas, and for the same reason.

use std::io::{BufRead, BufReader};

use serde_json::Value;
use warpload_ptx::rules::Rule;
use warpload_ptx::{check, read};

/// Modules with another verdict than ptxas's, each with the reason.
const DISAGREEMENTS: [(&str, &str); 10] = [
    ("d81", "the version of `texmode_independent`; refused here for another reason"),
    ("d373", "the version of `.section`, which is not judged"),
    ("d552", "the version of `.ptr`, which is not judged"),
    ("d808", "the version of a target that no load is for"),
    ("d998", "the version of a target that no load is for"),
    ("d1190", "the version of `texmode_independent`, which is not judged"),
    ("d1557", "the version of a target that no load is for"),
    ("d2123", "the version of `.ptr`, which is not judged"),
    ("d2647", "the version of `.minnctapersm`, which is not judged"),
    ("d2887", "the version of a target that no load is for"),
];

/// Parts of ptxas's messages, with the rules of the same meaning. The first match counts.
const REASONS: [(&str, &[Rule]); 30] = [
    ("non-ASCII", &[Rule::NonAscii]),
    ("requires PTX ISA .version", &[Rule::NeedsVersion]),
    ("requires .target", &[Rule::NeedsTarget]),
    ("Alignment must be", &[Rule::Alignment]),
    ("Duplicate definition", &[Rule::DuplicateName]),
    ("conflicts with '.extern'", &[Rule::Redefinition]),
    ("Inconsistent", &[Rule::Redefinition, Rule::DuplicateName]),
    ("Unresolved extern function", &[Rule::UnresolvedFunction]),
    ("requires call prototype", &[Rule::UnresolvedFunction]),
    ("Illegal call target", &[Rule::UnresolvedFunction]),
    ("Initial value type", &[Rule::InitialValue]),
    ("Greater number", &[Rule::InitialValue]),
    ("Incorrect number", &[Rule::InitialValue]),
    ("No initial value", &[Rule::InitialValue]),
    ("Invalid mask value", &[Rule::InitialValue]),
    ("Invalid initial value", &[Rule::Declaration, Rule::InitialValue]),
    ("Predicate", &[Rule::DeclarationSpace]),
    ("Module-scoped", &[Rule::DeclarationSpace]),
    ("Parameter variables may", &[Rule::DeclarationSpace]),
    ("state space", &[Rule::DeclarationSpace, Rule::NeedsVersion]),
    ("Unsupported .target", &[Rule::Directive]),
    ("Conflicting .target", &[Rule::Directive]),
    ("map_f64_to_f32", &[Rule::Directive]),
    ("only be used as an instruction type", &[Rule::Directive]),
    ("incomplete type", &[Rule::Declaration]),
    ("Constant banks", &[Rule::Declaration]),
    ("Vector type only", &[Rule::InitialValue]),
    ("does not support .target", &[]),
    ("Unexpected EOF", &[]),
    ("Parsing error", &[Rule::Directive, Rule::Syntax, Rule::InitialValue, Rule::Declaration]),
];

#[test]
fn every_verdict_is_that_of_ptxas() {
    let bytes: &[u8] = include_bytes!("../../ptx/declarations.jsonl.xz");
    let (mut accepted, mut refused, mut wrong) = (0, 0, Vec::new());
    for line in BufReader::new(liblzma::read::XzDecoder::new(bytes)).lines() {
        let row: Value = serde_json::from_str(&line.expect("a line")).expect("an object");
        let text = |name: &str| row[name].as_str().expect(name);
        let is_accepted = row["accept"].as_bool().expect("a verdict");
        *(if is_accepted { &mut accepted } else { &mut refused }) += 1;
        // A module that cannot be read counts as refused for any reason.
        let rules: Option<Vec<Rule>> = read(text("module")).ok().map(|module| {
            check(&module).flat_map(|verdict| verdict.violations).map(|found| found.rule).collect()
        });
        let error = text("error");
        let complaint = match &rules {
            Some(rules) if rules.is_empty() != is_accepted => Some(format!("here {rules:?}")),
            None if is_accepted => Some("here it cannot be read".to_owned()),
            Some(rules) if !is_accepted => {
                let reason = REASONS.iter().find(|(part, _)| error.contains(part));
                let (_, expected) = reason.unwrap_or_else(|| panic!("no reason for `{error}`"));
                let is_found = rules.iter().any(|rule| expected.contains(rule));
                (!is_found).then(|| format!("expected {expected:?}, here {rules:?}"))
            }
            _ => None,
        };
        if let Some(complaint) = complaint {
            wrong.push((text("id").to_owned(), format!("`{error}`: {complaint}")));
        }
    }
    println!("{accepted} accepted and {refused} refused modules");
    let ids: Vec<&str> = wrong.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, DISAGREEMENTS.map(|(id, _)| id), "{wrong:#?}");
}
