//! What failures have in common.

use warpload_encoding::{Instruction, Sm};
use warpload_suite::case::CaseAbout;
use warpload_suite::explain::CaseSubject;
use warpload_suite::outcome::{CaseFailure, CaseFailureKind, CaseOutcome, CaseVerdict};
use warpload_suite::tally::CaseTally;

/// Adds passing and failing cases with these flags.
fn add(tally: &mut CaseTally, flags: &[&str], passed: u64, failed: u64) {
    add_of(tally, flags, None, passed, failed);
}

/// Adds cases about an instruction of an SM.
fn add_of(
    tally: &mut CaseTally,
    flags: &[&str],
    of: Option<(&str, u32)>,
    passed: u64,
    failed: u64,
) {
    let subject = of.and_then(|(text, sm)| {
        let load = Instruction::parse(text, Sm::new(sm)?).ok()?;
        Some(CaseSubject::new(&load))
    });
    for i in 0..passed + failed {
        let differences = vec!["wrong".to_owned()];
        let failure =
            CaseFailure { kind: CaseFailureKind::Difference, differences, stderr: Vec::new() };
        let verdict = if i < passed { CaseVerdict::Passed } else { CaseVerdict::Failed(failure) };
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let about = CaseAbout { flags, subject: subject.clone(), ..CaseAbout::default() };
        tally.add(&CaseOutcome { family: Some("execute"), about, verdict, answered: Some(true) });
    }
}

fn ranked(tally: &CaseTally) -> Vec<(String, u64)> {
    let rows = tally.summary().flags.into_iter();
    rows.map(|row| (row.flag, (100.0 * row.explains).round() as u64)).collect()
}

fn row(flag: &str, percent: u64) -> (String, u64) {
    (flag.to_owned(), percent)
}

#[test]
fn the_flag_of_the_failures_comes_first() {
    let mut tally = CaseTally::default();
    add(&mut tally, &["all", "misaligned"], 0, 8);
    add(&mut tally, &["all", "misaligned", "rare"], 0, 1);
    add(&mut tally, &["all", "other"], 90, 0);
    assert_eq!(
        ranked(&tally),
        [row("misaligned", 100), row("rare", 20), row("all", 17), row("other", 0)]
    );
    assert_eq!(
        tally.sentences(),
        ["execute: cases fail where the flag `misaligned` is shown: 9 of 9"]
    );
}

#[test]
fn sentences_say_how_far_a_flag_explains() {
    let mut tally = CaseTally::default();
    add(&mut tally, &["rare"], 2, 6);
    add(&mut tally, &["other"], 20, 2);
    assert_eq!(
        tally.sentences(),
        ["execute: cases fail where the flag `rare` is shown: 6 of 8; 2 other failures"]
    );
    let mut tally = CaseTally::default();
    add(&mut tally, &["rare"], 0, 1);
    add(&mut tally, &["other"], 20, 0);
    assert_eq!(tally.sentences(), ["execute: cases fail where the flag `rare` is shown: 1 of 1"]);
}

#[test]
fn sentences_say_instructions_and_sms() {
    const LDG: &str = "LDG.E.ENL2.256 R12, R8, desc[UR4][R2.64]";
    const LDS: &str = "LDS.64 R4, [R2]";
    let mut tally = CaseTally::default();
    add_of(&mut tally, &["octet"], Some((LDG, 89)), 3, 0);
    add_of(&mut tally, &["octet"], Some((LDG, 100)), 0, 3);
    add_of(&mut tally, &["octet", "guard"], Some((LDG, 120)), 0, 2);
    add_of(&mut tally, &["guard"], Some((LDS, 100)), 9, 0);
    assert_eq!(tally.sentences(), ["execute: `LDG` of 256 bits from sm_100 on fails: 5 of 5"]);
    // A second mistake, in cases of one flag and instruction.
    add_of(&mut tally, &["guard"], Some((LDS, 75)), 0, 3);
    add_of(&mut tally, &["pair"], Some((LDS, 75)), 4, 0);
    assert_eq!(
        tally.sentences(),
        ["execute: `LDG` of 256 bits from sm_100 on fails: 5 of 5; 3 other failures",]
    );
    // Sizes are named as such, not as flags.
    let mut tally = CaseTally::default();
    add_of(&mut tally, &["multiple", "pair"], Some((LDS, 50)), 0, 3);
    add_of(&mut tally, &["multiple", "quad"], Some(("LDS.128 R4, [R2]", 50)), 5, 0);
    assert_eq!(tally.sentences(), ["execute: `LDS` of 64 bits of sm_50 fails: 3 of 3"]);
    let mut tally = CaseTally::default();
    add(&mut tally, &["multiple"], 0, 3);
    add(&mut tally, &["word"], 5, 0);
    assert_eq!(tally.sentences(), ["execute: cases of 64 bits or more fail: 3 of 3"]);
    // `all-lanes` is a plain flag, so it explains no failure.
    let mut tally = CaseTally::default();
    add(&mut tally, &["all-lanes"], 0, 3);
    add(&mut tally, &["all-lanes", "rare"], 0, 3);
    add(&mut tally, &["other"], 9, 0);
    assert_eq!(
        tally.sentences(),
        ["execute: cases fail where the flag `rare` is shown: 3 of 3; 3 other failures"]
    );
}

#[test]
fn flags_explain_neither_everything_nor_nothing() {
    let mut tally = CaseTally::default();
    add(&mut tally, &["quad"], 0, 5);
    add(&mut tally, &["pair"], 0, 5);
    assert_eq!(tally.sentences(), ["execute: all 10 cases fail"]);
    let mut tally = CaseTally::default();
    for flag in ["a", "b", "c", "d", "e"] {
        add(&mut tally, &[flag], 3, 1);
    }
    assert_eq!(tally.sentences(), [""; 0]);
    let mut twice = CaseTally::default();
    add(&mut twice, &["a", "a"], 1, 0);
    assert_eq!(twice.summary().flags[0].counts.passed, 1);
}
