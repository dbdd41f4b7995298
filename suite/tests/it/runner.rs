//! Cases asked of our own executors.

use std::sync::Arc;

use warpload::load::Executor;
use warpload_suite::asking::{ChosenCases, FunctionExaminee};
use warpload_suite::case::{CaseChoice, CaseFile, CaseLine};
use warpload_suite::families::{Answerer, CaseAnswer, UnopenedTrace, answer};
use warpload_suite::outcome::{CaseFailureKind, CaseOutcome, CaseVerdict};
use warpload_suite::runner::Runner;
use warpload_suite::tally::CaseTally;

#[test]
fn outcomes_are_in_the_order_of_the_lines() {
    let choice = CaseChoice::default();
    let cases = ChosenCases { choice: &choice, on_file: &|_| {} };
    let mut answerer = Answerer::new(Executor::Reference);
    let ask = move |question: &str| Ok(Ok(answer(question, &mut answerer)));
    let examinee = FunctionExaminee::new(vec![("reference", ask)], cases);
    let mut runner = Runner::new(vec![examinee], &|_| {});
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
        (line.number, outcome.title(), kind)
    });
    let not_a_case = |message: &str| Some((CaseFailureKind::NotACase, message.to_owned()));
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [
            (1, "good".to_owned(), None),
            (2, "not a case".to_owned(), not_a_case("not UTF-8")),
            (
                3,
                "not a case".to_owned(),
                not_a_case("family: missing key, and no `instruction` as a vector has")
            ),
            (
                4,
                "not a case".to_owned(),
                not_a_case("final: missing key; expected the right answer")
            ),
        ]
    );
    assert_eq!((tally.counts.passed, tally.counts.failed), (1, 3));
}

/// Traces need a function that opens them, because the caller chooses the place for imported text.
#[test]
fn traces_are_skipped_unless_something_opens_them() {
    let mut answerer = Answerer::new(Executor::Fast);
    let question = format!(r#"{{"family":"traces","file":{:?}}}"#, file!().replace("suite/", ""));
    let skipped = CaseAnswer::Skip("traces are not opened here".to_owned());
    assert_eq!(answer(&question, &mut answerer), skipped);
    let mut answerer = answerer.opening(|_| Err(UnopenedTrace::Refused));
    assert_eq!(answer(&question, &mut answerer).into_json(), r#"{"refused":true}"#);
    let mut answerer = answerer.opening(|_| Err(UnopenedTrace::Failed("not now".to_owned())));
    assert_eq!(answer(&question, &mut answerer), CaseAnswer::Error("not now".to_owned()));
}

/// If there are several executors, a message names the wrong one.
#[test]
fn each_function_must_give_the_expected_answer() {
    let case =
        r#"{"id":"one","family":"encode","sm":"50","text":"LD R0, [R2]","expect":{"word":"0x1"}}"#;
    let choice = CaseChoice::default();
    let cases = ChosenCases { choice: &choice, on_file: &|_| {} };
    let function = |word: &'static str| {
        move |_: &str| {
            Ok(Ok(match word {
                "skip" => CaseAnswer::Skip("later".to_owned()),
                word => CaseAnswer::Known(format!(r#"{{"word":"{word}"}}"#)),
            }))
        }
    };
    let judge = |words: &[&'static str]| {
        let functions = words.iter().map(|word| (*word, function(word))).collect();
        let mut runner = Runner::new(vec![FunctionExaminee::new(functions, cases)], &|_| {});
        let file = Arc::new(CaseFile::new("cases", None));
        let mut outcomes = Vec::new();
        let add = |judged: &[(CaseLine, CaseOutcome)]| {
            outcomes.extend(judged.iter().map(|(_, outcome)| outcome.clone()));
            Ok::<_, std::convert::Infallible>(())
        };
        runner.read(&file, case.as_bytes(), add).unwrap();
        outcomes.extend(runner.judge(true).unwrap().into_iter().map(|(_, outcome)| outcome));
        match &outcomes[0].verdict {
            CaseVerdict::Failed(failure) => failure.differences.clone(),
            _ => Vec::new(),
        }
    };
    assert_eq!(judge(&["0x1"]), [""; 0]);
    assert_eq!(judge(&["0x01", "0x1"]), [""; 0]);
    assert_eq!(judge(&["0x2"]), ["expected `0x1`, got `0x2`"]);
    assert_eq!(judge(&["0x1", "0x2"]), ["0x2: expected `0x1`, got `0x2`"]);
    // A skip hides no failure.
    assert_eq!(judge(&["skip", "0x2"]), ["0x2: expected `0x1`, got `0x2`"]);
}

/// The verdict on an answer to a case.
fn verdict(case: &str, answer: &str) -> CaseVerdict {
    let choice = CaseChoice::default();
    let cases = ChosenCases { choice: &choice, on_file: &|_| {} };
    let function = |_: &str| Ok(Ok(CaseAnswer::Known(answer.to_owned())));
    let examinee = FunctionExaminee::new(vec![("one", function)], cases);
    let mut runner = Runner::new(vec![examinee], &|_| {});
    let file = Arc::new(CaseFile::new("cases", None));
    let mut judged = runner.line(CaseLine { file, number: 1, text: Ok(case.to_owned()) }).unwrap();
    judged.extend(runner.judge(true).unwrap());
    judged.remove(0).1.verdict
}

#[test]
fn space_between_parts_is_no_difference() {
    let case = |text: &str| {
        format!(
            r#"{{"family":"decode","sm":"50","word":"0x9c90000123470200","expect":{{"text":{text}}}}}"#
        )
    };
    assert_eq!(verdict(&case(r#""b c\" d""#), r#" { "text"	: "b c\" d" } "#), CaseVerdict::Passed);
    for (expected, answer) in [(r#""b c""#, r#""bc""#), (r#""\\\" b""#, r#""\\\"b""#)] {
        let answer = format!(r#"{{"text":{answer}}}"#);
        assert!(matches!(verdict(&case(expected), &answer), CaseVerdict::Failed(_)), "{expected}");
    }
}

#[test]
fn differences_that_are_left_out_take_no_memory() {
    let answer = format!(r#"{{"loads":[0{}]}}"#, ",0".repeat(9_999));
    let case = r#"{"family":"ptx-execute","expect":{"loads":[]}}"#;
    let CaseVerdict::Failed(failure) = verdict(case, &answer) else { panic!("passed") };
    assert_eq!(failure.differences.last().map(String::as_str), Some("and 9936 more"));
    assert!(failure.differences.capacity() < 1000);
}
