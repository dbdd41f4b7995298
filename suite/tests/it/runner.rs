//! Cases that are asked of our own executors.

use std::sync::Arc;

use warpload::load::Executor;
use warpload_suite::case::{CaseFile, CaseLine};
use warpload_suite::families::{Answerer, CaseAnswer, answer, execute};
use warpload_suite::outcome::{CaseFailureKind, CaseVerdict};
use warpload_suite::runner::{InProcess, Runner};
use warpload_suite::tally::CaseTally;

#[test]
fn outcomes_are_in_the_order_of_the_lines() {
    let check = |line: &str| execute::check(line, &[Executor::Reference, Executor::Fast]).map(Some);
    let mut runner = Runner::new(vec![InProcess::new("execute", check)], &|_| {});
    let file = Arc::new(CaseFile::new("vectors", None));
    let texts = [
        Ok(
            r#"{"name":"good","instruction":"LD.U.128 RZ, [RZ]","final":{"registers":{},"lane_faults":{"outside_allocation":"0xffffffff"},"broadcast":false}}"#,
        ),
        Err("not UTF-8".to_owned()),
        Ok("{}"),
        Ok(r#"{"name":"open","instruction":"LD R0, [R2]"}"#),
    ];
    let mut judged = Vec::new();
    for (number, text) in (1..).zip(texts) {
        let line = CaseLine { file: Arc::clone(&file), number, text: text.map(str::to_owned) };
        judged.extend(runner.line(line).unwrap());
    }
    judged.extend(runner.judge(true).unwrap());
    let mut tally = CaseTally::default();
    let kinds = judged.iter().map(|(line, outcome)| {
        tally.add(outcome);
        let kind = match &outcome.verdict {
            CaseVerdict::Failed(failure) => Some((failure.kind, failure.differences[0].clone())),
            _ => None,
        };
        (line.number, outcome.title("vector"), kind)
    });
    let not_a_case = |message: &str| Some((CaseFailureKind::NotACase, message.to_owned()));
    let open = "final: missing key; expected the state after".to_owned();
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [
            (1, "good".to_owned(), None),
            (2, "not a vector".to_owned(), not_a_case("not UTF-8")),
            (3, "not a vector".to_owned(), not_a_case("column 2: missing key `instruction`")),
            (4, "open".to_owned(), Some((CaseFailureKind::Difference, open))),
        ]
    );
    assert_eq!((tally.counts.passed, tally.counts.failed), (1, 3));
}

/// The answers of a command are the command's to give.
#[test]
fn families_without_an_executor_are_skipped() {
    let mut answerer = Answerer::new(Executor::Fast);
    let question = r#"{"family":"traces","file":"trace"}"#;
    let skipped = CaseAnswer::Skip("no executor for the family traces".to_owned());
    assert_eq!(answer(question, &mut answerer), skipped);
    let mut answerer =
        answerer.answering("traces", |_| Ok(CaseAnswer::Known(r#"{"refused":true}"#.to_owned())));
    assert_eq!(answer(question, &mut answerer).into_json(), r#"{"refused":true}"#);
}
