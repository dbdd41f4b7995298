//! Programs that crash, hang, or write what they should not.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::common::{self, Ran};
use crate::conform::{Suite, run};

const COUNT: usize = 12;

/// Runs the emulator that goes wrong in that way.
fn emulate(suite: &Suite, how: &str, options: &[&str]) -> Ran {
    let script = common::file("cli/tests/conform/emulator.sh");
    let command = format!("sh '{}' {how} '{}'", script.display(), suite.path("answers").display());
    suite.run(&command, options)
}

/// Returns the objects of JSON lines, the summary last.
fn objects(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Checks that exactly the cases with the fault fail, all in this way, whatever the jobs.
fn only_faults_fail(how: &str, kind: &str, difference: &str) {
    only_faults_of(COUNT, how, kind, difference);
}

/// As [`only_faults_fail`], of `count` cases, of which every fourth is faulty.
fn only_faults_of(count: usize, how: &str, kind: &str, difference: &str) {
    let suite = Suite::new(count);
    let ran = emulate(&suite, how, &["--format", "json", "--timeout", "100"]);
    let objects = objects(&ran);
    let (summary, failures) = objects.split_last().unwrap();
    let ids: Vec<&str> = failures.iter().map(|failure| failure["id"].as_str().unwrap()).collect();
    let faulty: Vec<String> = (3..count).step_by(4).map(|i| format!("c{i}-fault")).collect();
    assert_eq!(ids, faulty, "{how}: {}{}", ran.stdout, ran.stderr);
    let (all, passed) = (faulty.len(), count - faulty.len());
    for failure in failures {
        assert_eq!(failure["kind"], kind, "{how}: {failure}");
        let first = failure["differences"][0].as_str().unwrap();
        assert!(first.starts_with(difference), "{how}: {first}");
        assert_eq!(failure["flags"], serde_json::json!(["faulty", "some"]));
    }
    assert_eq!((&summary["passed"], &summary["failed"]), (&passed.into(), &all.into()), "{how}");
    let mut explanations =
        vec![format!("coalescing: cases fail where the flag `faulty` is shown: {all} of {all}")];
    if kind != "difference" {
        let first = failures[0]["differences"][0].as_str().unwrap();
        let sentence =
            format!("coalescing: {all} of {all} failures are `{kind}`; the first: {first}");
        explanations.insert(0, sentence);
    }
    assert_eq!(summary["explanations"], serde_json::json!(explanations));
    assert_eq!(summary["flags"][0]["flag"], "faulty");
    assert_eq!(summary["flags"][0]["explains"], 1.0);
    assert_eq!(ran.status, 1, "{how}");
    for jobs in ["2", "5"] {
        let again = emulate(&suite, how, &["--format", "json", "--timeout", "100", "--jobs", jobs]);
        assert_eq!(again, ran, "{how}, {jobs} jobs");
    }
}

#[test]
fn wrong_answers() {
    only_faults_fail("wrong", "difference", "sectors: expected ");
    only_faults_fail("error", "error", "the question cannot be read: what is this?");
}

#[test]
fn a_program_that_ends() {
    only_faults_fail("crash", "crash", "the program ended with status 3 before it answered");
    only_faults_fail(
        "signal",
        "crash",
        "the program ended with signal 11 (SIGSEGV) before it answered",
    );
    only_faults_fail("half", "crash", "the program ended with status 0 before it answered");
}

#[test]
fn a_program_that_leaves_others_behind() {
    only_faults_fail("child", "crash", "the program ended with status 4 before it answered");
    if Command::new("setsid").arg("true").status().is_err() {
        crate::common::missing("a program with a daemon: no setsid");
        return;
    }
    only_faults_fail("daemon", "crash", "the program ended with status 0 before it answered");
}

#[test]
fn a_program_that_closes_its_output() {
    // Each of them is given seconds to end.
    only_faults_of(8, "mute", "crash", "the program closed its standard output before its answer");
}

#[test]
fn lines_that_are_not_answers() {
    only_faults_fail("garbage", "wrong-line", "answer: column 1: expected value");
    only_faults_fail(
        "list",
        "wrong-line",
        "answer: column 1: invalid type: array, expected an object",
    );
    only_faults_fail(
        "empty",
        "wrong-line",
        "answer: column 1: the text ends while reading a value",
    );
    only_faults_fail("missing", "wrong-line", "answer: column 13: missing key `lines`");
    only_faults_fail("unknown", "wrong-line", "answer: column 66: banks: unknown key `banks`");
    only_faults_fail("binary", "wrong-line", "answer: column 3: not UTF-8");
    only_faults_fail("oddskip", "wrong-line", "answer: skip: expected the reason, a text");
}

/// What is kept of an answer is bounded, and so is the memory that a run takes.
#[test]
fn of_a_long_answer_the_beginning_is_shown() {
    let suite = Suite::new(1);
    let text =
        r#"{"family":"decode","sm":"50","word":"0x9c90000123470200","expect":{"text":"LD"}}"#;
    suite.add("cases.jsonl", text);
    let ran = emulate(&suite, "verbose", &["--format", "json"]);
    let shown = objects(&ran)[0]["differences"][0].as_str().unwrap().to_owned();
    assert!(shown.starts_with("expected `LD`, got `xxx"), "{shown}");
    assert_eq!(shown.chars().count(), 1001);
}

#[test]
fn lines_that_are_too_long_or_never_end() {
    only_faults_fail("long", "wrong-line", "the line is longer than 1048576 bytes");
    only_faults_fail("endless", "wrong-line", "the line is longer than 1048576 bytes");
}

/// The case whose question got two lines is found, although the second one may come after the next
/// question.
#[test]
fn more_lines_than_questions() {
    only_faults_fail("two", "wrong-line", "more than one line");
    only_faults_fail("late", "wrong-line", "more than one line");
}

#[test]
fn a_program_that_does_not_answer_in_time() {
    // One case hangs; the others have as long.
    let suite = Suite::new(4);
    let hangs = |how| {
        let ran = emulate(&suite, how, &["--timeout", "4", "--jobs", "2"]);
        assert!(
            ran.stdout.contains("c3-fault\n  flags: faulty, some\n  no answer within 4 s\n"),
            "{ran:?}"
        );
        assert!(ran.stdout.ends_with("\n3 passed, 1 failed, 0 skipped\n"), "{}", ran.stdout);
        assert_eq!(ran.status, 1);
    };
    // Each of them waits.
    std::thread::scope(|scope| {
        scope.spawn(|| hangs("hang"));
        scope.spawn(|| hangs("deaf"));
        let ran = emulate(&suite, "open", &["--timeout", "4"]);
        let expected = "  no answer within 4 s\n  a line without its end: {\"sectors\":";
        assert!(ran.stdout.contains(expected), "{ran:?}");
    });
}

/// A program that says something before it is asked, as with a banner, or that never stops.
#[test]
fn lines_that_are_no_answers_are_shown() {
    let suite = Suite::new(4);
    let banner =
        "sh -c 'echo ready; while read -r line; do echo \"{\\\"skip\\\":\\\"x\\\"}\"; done'";
    let ran = suite.run(banner, &["--failures", "1", "--timeout", "100"]);
    let expected = "  more than one line; expected one line for each question\n  answer: column 1: expected value\n  \
                    the line: ready\n  the next line: {\"skip\":\"x\"}\n";
    assert!(ran.stdout.contains(expected), "{ran:?}");
    let ran = emulate(&suite, "garbage", &[]);
    let expected = "  answer: column 1: expected value\n  the line: Segmentation fault\n";
    assert!(ran.stdout.contains(expected), "{ran:?}");
}

#[test]
fn the_end_of_standard_error_is_part_of_a_crash() {
    let suite = Suite::new(COUNT);
    let ran = emulate(&suite, "crash", &[]);
    let expected = "c3-fault\n  flags: faulty, some\n  the program ended with status 3 before it answered\n  \
                    the end of its standard error:\n  | assertion failed at c3-fault\n";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
}

#[test]
fn a_program_that_writes_much_to_standard_error_is_not_held_up() {
    let suite = Suite::new(4);
    let ran = emulate(&suite, "noise", &["--timeout", "100"]);
    assert_eq!((ran.status, ran.stdout.lines().last()), (0, Some("4 passed, 0 failed, 0 skipped")));
}

#[test]
fn skipped_cases_have_reasons() {
    let suite = Suite::new(COUNT);
    let ran = emulate(&suite, "skip", &[]);
    assert!(
        ran.stdout.ends_with("3 skipped: not implemented\n\n9 passed, 0 failed, 3 skipped\n"),
        "{ran:?}"
    );
    assert_eq!(ran.status, 0);
    let all = suite.run(r#"sh -c 'while read -r line; do echo "{\"skip\":\"later\"}"; done'"#, &[]);
    let end = "12 skipped: later\n\nevery case was skipped: nothing was checked\n\
               0 passed, 0 failed, 12 skipped\n";
    assert!(all.stdout.ends_with(end), "{all:?}");
    // A program that does nothing has not passed.
    assert_eq!(all.status, 1);
}

#[test]
fn as_many_failures_are_shown_as_are_asked_for() {
    let suite = Suite::new(COUNT);
    for (most, shown) in [("0", 0), ("2", 2), ("3", 3), ("9", 3)] {
        let ran = emulate(&suite, "wrong", &["--failures", most]);
        assert_eq!(ran.stdout.matches("FAIL ").count(), shown, "{}", ran.stdout);
        assert_eq!(ran.stdout.contains("more failures"), shown < 3);
    }
}

/// One that never answers is not asked everything.
#[test]
fn a_program_that_cannot_answer_ends_the_run() {
    let suite = Suite::new(32);
    let message = "it must write one line for each question, flushed at once";
    for command in ["true", "sh -c 'echo no >&2; exit 3'", "sh -c 'exec >&-; exit 1'"] {
        for jobs in ["1", "4"] {
            let ran = suite.run(command, &["--jobs", jobs]);
            assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{command}");
            assert!(ran.stderr.contains(message), "{}", ran.stderr);
        }
    }
    // What waits for its time is told of before the end of the run.
    let ran = suite.run("sleep 600", &["--timeout", "0.01"]);
    let warning =
        "warning: sleep: no answer to the first question within 0.01 s; it must write one line";
    assert_eq!(ran.stderr.matches(warning).count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.find(warning) < ran.stderr.find("error: sleep: "), "{}", ran.stderr);
    let unknown = suite.run("./no-such-emulator", &[]);
    assert_eq!((unknown.status, unknown.stdout.as_str()), (2, ""));
    assert!(unknown.stderr.contains("./no-such-emulator: cannot be started"), "{}", unknown.stderr);
    // Once it has answered, each crash is that of a case.
    let once = "sh -c 'read -r line; echo \"{\\\"skip\\\":\\\"once\\\"}\"; read -r line; exit 1'";
    let ran = suite.run(once, &[]);
    assert!(ran.stdout.ends_with("\n0 passed, 16 failed, 16 skipped\n"), "{ran:?}");
}

/// No program is left when the run has ended.
#[test]
fn programs_end_with_the_run() {
    let suite = Suite::new(4);
    let file = suite.path("pids");
    let answer = "while read -r line; do echo '{\"skip\":\"x\"}'; done";
    let script = format!("echo $$ >> '{}'; {answer}; sleep 600", file.display());
    suite.add("emulator.sh", &script);
    let command = format!("sh '{}'", suite.path("emulator.sh").display());
    let ran = run(&command, &["--jobs", "3"], &[&suite.path("cases.jsonl")]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let started = std::fs::read_to_string(&file).unwrap();
    let started: BTreeSet<&str> = started.lines().collect();
    assert!(!started.is_empty());
    for pid in started {
        let asked =
            Command::new("sh").args(["-c", &format!("kill -0 {pid} 2> /dev/null")]).status();
        assert!(!asked.unwrap().success(), "{pid} is left");
    }
}
