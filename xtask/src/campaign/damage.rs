//! Damaged samples through the command: each is refused, has the answer of before, or says what is
//! wrong. A changed answer without a word is a finding for forms that have checksums.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;

use super::mutate::{Random, below, mutant};
use super::seeds::Seed;
use anyhow::Result;

use super::Campaign;
use super::command::{self, Ended, LIMITS, first_line, limited};
use super::report::Faults;
use super::samples::{FORMS, Form, arguments};
use super::text;

/// How many damaged files run.
const CASES: usize = 10_000;

/// How the command took a damaged file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    RefusedWithPlace,
    Refused,
    Same,
    Reported,
    Another,
}

impl Outcome {
    const ALL: [(Self, &'static str); 5] = [
        (Self::RefusedWithPlace, "refused with a place"),
        (Self::Refused, "refused without one"),
        (Self::Same, "the same answer"),
        (Self::Reported, "an answer that says what is wrong"),
        (Self::Another, "another answer"),
    ];
}

/// A sample that is accepted, and what its commands answer.
struct Sample {
    name: String,
    answers: Vec<Ended>,
}

/// The accepted samples of a form; `bytes` has their contents.
struct Samples {
    samples: Vec<Sample>,
    bytes: Vec<Seed>,
}

/// Runs damaged files of all forms.
///
/// # Errors
/// Returns an error if the command cannot be started.
pub(super) fn run(campaign: &Campaign) -> Result<Vec<Faults>> {
    let mut all = Vec::new();
    for form in FORMS {
        all.push(accepted(campaign, form)?);
    }
    // By form; `None` is a finding.
    let counts = Mutex::new(BTreeMap::<(usize, Option<Outcome>), u64>::new());
    campaign.each(CASES, |number| {
        let which = number % FORMS.len();
        let outcome = case(campaign, &FORMS[which], &all[which], number)?;
        if let Ok(mut counts) = counts.lock() {
            *counts.entry((which, outcome)).or_default() += 1;
        }
        Ok(())
    })?;
    let counts = counts.into_inner().unwrap_or_default();
    let count = |which, outcome| counts.get(&(which, outcome)).copied().unwrap_or_default();
    let faults = FORMS.iter().enumerate().map(|(which, form)| {
        let mut faults = Faults::new(format!("damaged {}", form.name));
        for (outcome, name) in Outcome::ALL {
            faults.add(name, count(which, Some(outcome)));
        }
        faults.findings = count(which, None);
        faults.runs += faults.findings;
        faults
    });
    Ok(faults.collect())
}

/// Runs the commands of a form on its samples; those that a command refuses undamaged are left out.
fn accepted(campaign: &Campaign, form: &Form) -> Result<Samples> {
    let mut accepted = Samples { samples: Vec::new(), bytes: Vec::new() };
    for seed in form.samples()? {
        let name = seed.name.rsplit('/').next().unwrap_or_default().to_owned();
        let mut answers = Vec::new();
        for command in form.commands {
            answers.push(answer(campaign, form, command, &name, &seed.bytes)?);
        }
        if answers.iter().any(|answer| matches!(answer.code(), Some(0 | 1))) {
            accepted.samples.push(Sample { name, answers });
            accepted.bytes.push(seed);
        }
    }
    anyhow::ensure!(!accepted.samples.is_empty(), "{}: no sample is accepted", form.name);
    Ok(accepted)
}

/// Runs a command of a form on a file with these contents.
fn answer(
    campaign: &Campaign,
    form: &Form,
    command: &[&str],
    name: &str,
    bytes: &[u8],
) -> Result<Ended> {
    let (folder, scratch) = (tempfile::tempdir()?, tempfile::tempdir()?);
    form.copy_beside(&campaign.root, folder.path())?;
    fs::write(folder.path().join(name), bytes)?;
    let command = limited(&campaign.program, folder.path(), LIMITS, &arguments(command, name));
    command::run(command, scratch.path())
}

/// Runs one damaged file; returns `None` for a finding.
fn case(campaign: &Campaign, form: &Form, all: &Samples, number: usize) -> Result<Option<Outcome>> {
    let mut random = Random::new(campaign.seed, &[number as u64]);
    let which = below(&mut random, all.samples.len());
    let sample = &all.samples[which];
    let bytes = damaged(form, &all.bytes, which, &mut random);
    let command = below(&mut random, form.commands.len());
    let ended = answer(campaign, form, form.commands[command], &sample.name, &bytes)?;
    let before = &sample.answers[command];
    let found = match ended.broken() {
        Some(what) => what,
        None => {
            let outcome = outcome(&ended, before);
            let is_silent = outcome == Outcome::Another && before.code() == Some(0);
            if !(is_silent && form.has_checksum) {
                return Ok(Some(outcome));
            }
            "another answer without a word".to_owned()
        }
    };
    let folder = campaign.kept(&format!("damage-{}-{number}", campaign.seed))?;
    fs::write(folder.join(&sample.name), &bytes)?;
    let arguments = arguments(form.commands[command], &sample.name).join(" ");
    campaign.found(format!("{}: `{arguments}`: {found}; see {}", form.name, folder.display()));
    Ok(None)
}

/// Returns changed contents of a sample.
fn damaged(form: &Form, samples: &[Seed], which: usize, random: &mut Random) -> Vec<u8> {
    let whole = &samples[which].bytes;
    loop {
        let mut bytes = whole.clone();
        let at = below(random, bytes.len());
        match below(random, if form.is_text { 8 } else { 5 }) {
            0 => bytes.truncate(at),
            1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << below(random, 8)),
            2 => {
                let other = &samples[below(random, samples.len())].bytes;
                bytes.truncate(at);
                bytes.extend_from_slice(&other[below(random, other.len())..]);
            }
            3 => drop(bytes.drain(at..(at + 1 + below(random, 512)).min(whole.len()))),
            4 => bytes = mutant(samples, which, random),
            _ => (0..=below(random, 3)).for_each(|_| text::change(&mut bytes, random)),
        }
        if bytes != *whole {
            return bytes;
        }
    }
}

/// Judges a run that ended as it may, by what the undamaged file's answer was.
fn outcome(ended: &Ended, before: &Ended) -> Outcome {
    match ended.code() {
        Some(0) if ended.stdout == before.stdout => Outcome::Same,
        Some(0) if !says_more(ended, before) => Outcome::Another,
        Some(0 | 1) => Outcome::Reported,
        _ if has_place(&ended.stderr) => Outcome::RefusedWithPlace,
        _ => Outcome::Refused,
    }
}

/// Returns whether an answer has a warning, a note or an error that the other does not have.
fn says_more(ended: &Ended, before: &Ended) -> bool {
    let count = |ended: &Ended| {
        let text = String::from_utf8_lossy(&ended.stdout);
        let words = ["\"complete\":null", "\"error\"", "\"illegal\":true", "note", "unknown"];
        words.map(|word| text.matches(word).count()).iter().sum::<usize>()
    };
    first_line(&ended.stderr) != first_line(&before.stderr) || count(ended) > count(before)
}

/// Returns whether a message names a line, a column or a byte offset.
fn has_place(message: &str) -> bool {
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let after = |words: &str| {
        message.match_indices(words).any(|(at, _)| is_number(&message[at + words.len()..]))
    };
    after("byte offset ") || after("line ") || after(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_recognized() {
        for message in ["a.g:3:7: expected x", "a: at byte offset 12: y", "a: line 3 is long"] {
            assert!(has_place(message), "{message}");
        }
        assert!(!has_place("error: a.wlt: the input is empty"));
    }

    #[test]
    fn every_kind_of_damage_changes_the_sample() {
        let seed = |text: &str| Seed { name: String::new(), bytes: text.as_bytes().to_vec() };
        let seeds = [seed("{\"a\": [1, 2]}\n"), seed("")];
        for number in 0..500 {
            let mut random = Random::new(3, &[number]);
            assert_ne!(damaged(&FORMS[1], &seeds, 0, &mut random), seeds[0].bytes);
        }
        assert!(!damaged(&FORMS[1], &seeds, 1, &mut Random::new(3, &[])).is_empty());
    }
}
