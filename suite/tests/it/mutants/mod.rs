//! Mistakes that the suite must find and name: a correct [`Emulator`], and [`MUTANTS`] and [`NARROW`] ones of it with one
//! wrong step each.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod emulator;
mod launches;
mod narrow;
mod table;
mod texts;

use std::collections::BTreeSet;
use std::thread;

use warpload_suite::case::CaseAbout;
use warpload_suite::explain::CaseSubject;
use warpload_suite::outcome::{CaseFailure, CaseFailureKind, CaseOutcome, CaseVerdict};
use warpload_suite::tally::CaseTally;
use warpload_suite::vector::Vector;

use self::emulator::{Emulator, Load, RIGHT};
use self::narrow::NARROW;
use self::table::{MUTANTS, Mutant};

/// The vectors of the suite, each with its keys for reports.
fn vectors() -> Vec<(Load, CaseAbout)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors/v1/execute");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let json: serde_json::Value = serde_json::from_str(line).unwrap();
            let flags = json["flags"].as_array().unwrap().iter();
            let flags = flags.map(|flag| flag.as_str().unwrap().to_owned()).collect();
            let id = json["id"].as_str().map(str::to_owned);
            let vector = Vector::from_json(line).unwrap();
            let subject = Some(CaseSubject::new(&vector.instruction));
            let about = CaseAbout { id, flags, subject, ..CaseAbout::default() };
            cases.push((Load::new(vector), about));
        }
    }
    cases
}

/// Executes all vectors and counts the outcomes.
fn tally(emulator: &Emulator, vectors: &[(Load, CaseAbout)]) -> CaseTally {
    let mut tally = CaseTally::default();
    for (load, about) in vectors {
        let after = emulator.execute(load);
        // A shortcut: most mutants leave an outcome as it is, and the correct emulator's outcomes differ from the
        // expectation only in registers that are written and keep their values.
        let differences = match after == load.right {
            true => Vec::new(),
            false => load.vector.compare(&after),
        };
        let verdict = match differences.first() {
            None => CaseVerdict::Passed,
            Some(first) => CaseVerdict::Failed(CaseFailure {
                kind: CaseFailureKind::Difference,
                differences: vec![first.clone()],
                stderr: Vec::new(),
            }),
        };
        let about = about.clone();
        tally.add(&CaseOutcome { family: Some("execute"), about, verdict, answered: Some(true) });
    }
    tally
}

#[test]
fn mutants_are_found_and_named() {
    let vectors = &vectors();
    for (load, about) in vectors {
        assert_eq!(load.vector.compare(&load.right), [""; 0], "{:?}", about.id);
    }
    let mutants: Vec<&Mutant> = MUTANTS.iter().chain(NARROW).collect();
    assert!(mutants.len() >= 200);
    let names: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.name).collect();
    assert_eq!(names.len(), mutants.len(), "a name is there twice");
    let wrong: Vec<String> = thread::scope(|scope| {
        let jobs = thread::available_parallelism().map_or(1, usize::from);
        let parts = mutants.chunks(mutants.len().div_ceil(jobs));
        let jobs: Vec<_> = parts
            .map(|part| {
                let wrong =
                    || part.iter().filter_map(|mutant| wrong(mutant, vectors)).collect::<Vec<_>>();
                scope.spawn(wrong)
            })
            .collect();
        jobs.into_iter().flat_map(|job| job.join().unwrap()).collect()
    });
    assert_eq!(wrong, [""; 0]);
}

/// A message if a mutant is not found, or not named.
fn wrong(mutant: &Mutant, vectors: &[(Load, CaseAbout)]) -> Option<String> {
    let mut emulator = RIGHT.clone();
    (mutant.change)(&mut emulator);
    let tally = tally(&emulator, vectors);
    let sentences = tally.sentences();
    let first = sentences.first().map_or("", String::as_str);
    let is_named = mutant.says.iter().any(|name| first.contains(name));
    let (name, failed) = (mutant.name, tally.counts.failed);
    (failed == 0 || !is_named).then(|| {
        format!("{name}: {failed} failures; expected one of {:?}, got {sentences:?}", mutant.says)
    })
}
