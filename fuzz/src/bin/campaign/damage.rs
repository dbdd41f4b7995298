//! Runs damaged samples through the command, and texts with very long words and control characters. The command must
//! quickly refuse an input, give the same answer as before the damage, or report an error, and print only text. For
//! forms with checksums, an unreported change of the answer is a finding.

use std::fs;
use std::io::{Error, Result};

use warpload_fuzz::mutate::{Random, below, change, changed};
use warpload_fuzz::seeds::Seed;

use crate::Campaign;
use crate::command::{Ended, first_line, limited, run as run_command};
use crate::samples::{Form, arguments, forms};

/// The samples of a form that its commands accept, and the end of each command for each sample.
struct Samples {
    seeds: Vec<Seed>,
    ends: Vec<Vec<Ended>>,
}

/// Runs damaged files of all forms.
///
/// # Errors
/// Returns an error if the command cannot be started.
pub(crate) fn run(campaign: &mut Campaign) -> Result<()> {
    let mut forms = forms();
    let asked = &campaign.forms;
    forms.retain(|form| asked.is_empty() || asked.iter().any(|name| *name == form.name));
    if forms.is_empty() {
        return Err(Error::other(format!("--form {}: no such form", asked.join(", "))));
    }
    let all = forms.iter().map(|form| accepted(campaign, form));
    let all: Vec<Samples> = all.collect::<Result<_>>()?;
    for number in 0..campaign.cases {
        if campaign.left().is_zero() {
            break;
        }
        let which = number % forms.len();
        case(campaign, &forms[which], &all[which], number)?;
    }
    Ok(())
}

/// Runs the commands of a form on its samples. Samples that every command refuses undamaged are left out.
fn accepted(campaign: &Campaign, form: &Form) -> Result<Samples> {
    let mut accepted = Samples { seeds: Vec::new(), ends: Vec::new() };
    for seed in form.samples()? {
        let commands = form.commands.iter();
        let ends = commands.map(|command| ended(campaign, form, command, &seed.name, &seed.bytes));
        let ends: Vec<Ended> = ends.collect::<Result<_>>()?;
        if ends.iter().any(|end| matches!(end.code(), Some(0 | 1))) {
            accepted.seeds.push(seed);
            accepted.ends.push(ends);
        }
    }
    if accepted.seeds.is_empty() {
        return Err(Error::other(format!("{}: no sample is accepted", form.name)));
    }
    Ok(accepted)
}

/// Runs a command of a form on a file with the contents `bytes`.
fn ended(
    campaign: &Campaign,
    form: &Form,
    command: &str,
    name: &str,
    bytes: &[u8],
) -> Result<Ended> {
    let folder = tempfile::tempdir()?;
    form.copy_beside(folder.path())?;
    fs::write(folder.path().join(name), bytes)?;
    let arguments = arguments(command, "FILE", name);
    run_command(limited(&campaign.program, folder.path(), &campaign.limits, &arguments))
}

/// Runs one damaged file.
fn case(campaign: &mut Campaign, form: &Form, samples: &Samples, number: usize) -> Result<()> {
    let mut random = Random::new(campaign.seed, &[number as u64]);
    let which = below(&mut random, samples.seeds.len());
    let bytes = damaged(&samples.seeds, which, &mut random);
    let command = below(&mut random, form.commands.len());
    let name = &samples.seeds[which].name;
    let ended = ended(campaign, form, form.commands[command], name, &bytes)?;
    let before = &samples.ends[which][command];
    let outcome = match (ended.broken(), outcome(&ended, before)) {
        (Some(what), _) => Err(what),
        (None, ANOTHER) if form.has_checksum && before.code() == Some(0) => {
            Err("another answer without a word".to_owned())
        }
        (None, outcome) => Ok(outcome),
    };
    let run = arguments(form.commands[command], "FILE", name).join(" ");
    campaign.judge(&format!("damaged {}", form.name), &run, outcome, Some(&bytes))
}

/// Damages a sample. The result differs from it.
fn damaged(samples: &[Seed], which: usize, random: &mut Random) -> Vec<u8> {
    let whole = &samples[which].bytes;
    loop {
        let mut bytes = whole.clone();
        if str::from_utf8(whole).is_ok() && random.one_in(2) {
            (0..=below(random, 3)).for_each(|_| change(&mut bytes, random));
        } else {
            // Three in four inputs have a single change, which is the hardest to detect for a checksum.
            let changes = [1, 1, 1, 2 + below(random, 3)][below(random, 4)];
            bytes = changed(samples, which, changes, random);
        }
        if bytes != *whole {
            return bytes;
        }
    }
}

/// The outcome that is a finding if a checksum covers the file.
const ANOTHER: &str = "another answer";

/// Classifies the end of a run that broke no rule, compared with the undamaged file's.
fn outcome(ended: &Ended, before: &Ended) -> &'static str {
    match ended.code() {
        Some(0) if ended.stdout == before.stdout => "the same answer",
        Some(0) if !says_more(ended, before) => ANOTHER,
        Some(0 | 1) => "an answer that says what is wrong",
        _ if has_place(&ended.stderr) => "refused with a place",
        _ => "refused without one",
    }
}

/// Whether an answer has a warning, a note or an error that the other lacks.
fn says_more(ended: &Ended, before: &Ended) -> bool {
    let count = |ended: &Ended| {
        let text = String::from_utf8_lossy(&ended.stdout);
        let words = ["\"complete\":null", "\"error\"", "\"illegal\":true", "note", "unknown"];
        words.map(|word| text.matches(word).count()).iter().sum::<usize>()
    };
    first_line(&ended.stderr) != first_line(&before.stderr) || count(ended) > count(before)
}

/// Whether a message contains a line, a column or a byte offset.
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
            assert_ne!(damaged(&seeds, 0, &mut random), seeds[0].bytes);
        }
        assert!(!damaged(&seeds, 1, &mut Random::new(3, &[])).is_empty());
    }
}
