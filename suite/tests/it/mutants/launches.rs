//! Mistakes of machines that run kernels. Our own machine makes each of them on a question that is changed: a barrier
//! that is removed is one that waits for nobody.

use std::path::Path;
use std::sync::Arc;

use warpload::load::Executor;
use warpload_suite::asking::{ChosenCases, FunctionExaminee};
use warpload_suite::case::{CaseChoice, CaseFile, CaseLine};
use warpload_suite::families::{Answerer, answer};
use warpload_suite::runner::Runner;
use warpload_suite::tally::CaseTally;

/// A mistake, the flag that names it, and the change of a question.
type LaunchMutant = (&'static str, &'static str, fn(&str) -> String);

const MUTANTS: [LaunchMutant; 18] = [
    ("barriers wait for nobody", "barrier", |question| {
        let reduced = r"bar.red.or.pred \t%p2, 0, %p1;";
        without(&question.replace(reduced, "mov.pred %p2, %p1;"), "bar.sync")
    }),
    ("arriving does not count", "barrier-arrive", |question| without(question, "bar.arrive")),
    ("all threads for any at a barrier", "barrier-reduction", |question| {
        question.replace("bar.red.or", "bar.red.and")
    }),
    ("guards are for branches alone", "guard", |question| {
        let mut parts = question.split('@');
        let first = parts.next().map(str::to_owned);
        let others = parts.map(|part| match part.split_once(' ') {
            Some((guard, rest))
                if guard.starts_with(['%', '!', 'q']) && !rest.starts_with("bra ") =>
            {
                rest.to_owned()
            }
            _ => format!("@{part}"),
        });
        first.into_iter().chain(others).collect()
    }),
    ("shuffles go down", "shuffle", |question| {
        question.replace("sync.up.", "sync.down.").replace("sync.bfly.", "sync.down.")
    }),
    ("votes are inverted", "vote", |question| {
        lines(question, |line| match line.contains("vote.") {
            true => line.replace(", %p", ", !%p"),
            false => line.to_owned(),
        })
    }),
    ("atomic operations happen twice", "atomic", |question| {
        lines(question, |line| match line.contains("atom.") {
            true => format!("{line}{END}{line}"),
            false => line.to_owned(),
        })
    }),
    ("matrices are not transposed", "matrix", |question| question.replace(".trans", "")),
    ("bit fields have no sign", "bit-field", |question| question.replace("bfe.s32", "bfe.u32")),
    ("copies do not end at the source's", "async-copy", |question| {
        question.replace(", 16, %r13;", ", 16;")
    }),
    ("nothing is clamped", "saturation", |question| question.replace(".sat.", ".")),
    ("doubles are rounded down", "double", |question| question.replace(".rn.f64", ".rm.f64")),
    ("numbers are truncated", "conversion", |question| question.replace("cvt.rni.", "cvt.rzi.")),
    ("every block is the first", "several-blocks", |question| question.replace("%ctaid.x", "0")),
    ("the launch's shared memory is missing", "dynamic-shared", |question| {
        question.replace("shared_bytes", "shared")
    }),
    ("the first target of a branch", "indirect-branch", |question| {
        question.replace("brx.idx ", "mov.u32 %r60, 0; brx.idx ")
    }),
    ("local memory keeps nothing", "local", |question| without(question, "st.local")),
    ("calls pass no arguments", "call", |question| without(question, "st.param")),
];

/// The end of a line within a text of JSON.
const END: &str = r"\n";

fn lines(question: &str, change: impl Fn(&str) -> String) -> String {
    question.split(END).map(change).collect::<Vec<_>>().join(END)
}

fn without(question: &str, instruction: &str) -> String {
    lines(question, |line| match line.contains(instruction) {
        true => String::new(),
        false => line.to_owned(),
    })
}

/// Asks all cases of a file, each changed.
pub(super) fn tally(cases: &str, change: fn(&str) -> String) -> CaseTally {
    let choice = CaseChoice::default();
    let chosen = ChosenCases { choice: &choice, on_file: &|_| {} };
    let mut answerer = Answerer::new(Executor::Fast);
    let function = |question: &str| Ok(Ok(answer(&change(question), &mut answerer)));
    let examinee = FunctionExaminee::new(vec![("machine", function)], chosen);
    let mut runner = Runner::new(vec![examinee], &|_| {});
    let file = Arc::new(CaseFile::new("kernel", None));
    let mut judged = Vec::new();
    for (number, text) in (1..).zip(cases.lines()) {
        let line = CaseLine { file: Arc::clone(&file), number, text: Ok(text.to_owned()) };
        judged.extend(runner.line(line).unwrap());
    }
    judged.extend(runner.judge(true).unwrap());
    let mut tally = CaseTally::default();
    judged.iter().for_each(|(_, outcome)| tally.add(outcome));
    tally
}

#[test]
fn mutants_of_launches_are_found_and_named() {
    let path = "../vectors/v1/ptx-execute/kernel.jsonl";
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let cases = std::fs::read_to_string(cases).unwrap();
    let right = tally(&cases, str::to_owned);
    assert_eq!((right.counts.passed, right.counts.failed), (20, 0), "{:?}", right.sentences());
    let wrong = MUTANTS.iter().filter_map(|(name, flag, change)| {
        let mutant = tally(&cases, *change);
        let sentences = mutant.sentences();
        let first = sentences.first().map_or("", String::as_str);
        let is_named = first.contains(&format!("`{flag}`"));
        let failed = mutant.counts.failed;
        (!is_named).then(|| format!("{name}: {failed} failures; expected {flag}: {sentences:?}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
