//! Very long words and control characters in every field of text: refused or shortened, quickly, and
//! never printed as they are.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::seeds::Seed;
use anyhow::Result;

use super::Campaign;
use super::command::{self, LIMITS, limited};
use super::report::Faults;
use super::samples::{FORMS, Form, arguments};
use super::text::{line, words};

/// How long the words are.
const LENGTHS: [usize; 3] = [1 << 16, 1 << 18, (1 << 20) - 1];

/// What they consist of.
const LETTERS: [u8; 3] = *b"A9f";

/// Characters that a terminal acts on, that forge lines, or that turn the direction of writing.
const CONTROL_CHARACTERS: [&str; 3] = [
    "\x1b[31m\x07\x7f\u{9b}31m\u{202e}\u{2066}",
    "a\r\0b\u{85}\u{2028}",
    "\\u001b[2J\\u0007\\u202e\\n",
];

/// The most fields of one sample.
const MAX_FIELDS: usize = 40;

/// The most samples of one form.
const MAX_SAMPLES: usize = 3;

/// Larger samples are left out: what is in them is in a smaller one, too.
const MAX_SAMPLE: usize = 1 << 17;

/// A message longer than this has something in it that was to be shortened.
const MAX_MESSAGE: usize = 1 << 14;

/// No time that such words take; a line has at most a mebibyte.
const SLOW: Duration = Duration::from_secs(20);

/// Runs the commands of text with words of each kind in each field.
///
/// # Errors
/// Returns an error if the command cannot be started.
pub(super) fn run(campaign: &Campaign) -> Result<Vec<Faults>> {
    let mut every = Vec::new();
    for form in FORMS.iter().filter(|form| form.is_text) {
        let mut long = Faults::new(format!("long words in {}", form.name));
        let mut evil = Faults::new(format!("control characters in {}", form.name));
        let samples = form.samples()?;
        let small = samples.iter().filter(|seed| seed.bytes.len() <= MAX_SAMPLE);
        for seed in small.take(MAX_SAMPLES) {
            for (number, field) in fields(&seed.bytes).into_iter().enumerate() {
                let letter = LETTERS[number % LETTERS.len()];
                for length in LENGTHS {
                    let word = vec![letter; length];
                    changed(campaign, form, seed, field.clone(), &word, number, &mut long)?;
                }
                for word in CONTROL_CHARACTERS {
                    let place = field.end..field.end;
                    changed(campaign, form, seed, place, word.as_bytes(), number, &mut evil)?;
                }
            }
        }
        if let Some(seed) = samples.first() {
            let name = format!("name{}.txt", CONTROL_CHARACTERS[0]);
            case(campaign, form, (&name, &seed.bytes), 0, &mut evil)?;
        }
        every.extend([long, evil]);
    }
    Ok(every)
}

/// Runs a command of the form on a sample with `word` in place of a part.
fn changed(
    campaign: &Campaign,
    form: &Form,
    seed: &Seed,
    place: Range<usize>,
    word: &[u8],
    number: usize,
    faults: &mut Faults,
) -> Result<()> {
    let name = seed.name.rsplit('/').next().unwrap_or_default();
    let mut bytes = seed.bytes.clone();
    drop(bytes.splice(place, word.iter().copied()));
    case(campaign, form, (name, &bytes), number, faults)
}

fn case(
    campaign: &Campaign,
    form: &Form,
    (name, bytes): (&str, &[u8]),
    number: usize,
    faults: &mut Faults,
) -> Result<()> {
    let (folder, scratch) = (tempfile::tempdir()?, tempfile::tempdir()?);
    form.copy_beside(&campaign.root, folder.path())?;
    fs::write(folder.path().join(name), bytes)?;
    let arguments = arguments(form.commands[number % form.commands.len()], name);
    let start = Instant::now();
    let ended = command::run(
        limited(&campaign.program, folder.path(), LIMITS, &arguments),
        scratch.path(),
    )?;
    let takes = start.elapsed();
    let wrong = ended.broken().or_else(|| {
        if let Some(raw) = ended.raw_character() {
            return Some(format!("{raw:?} in the output"));
        }
        if ended.stderr.len() > MAX_MESSAGE {
            return Some(format!("messages of {} bytes", ended.stderr.len()));
        }
        (takes > SLOW).then(|| format!("{:.0} s", takes.as_secs_f64()))
    });
    match (&wrong, ended.code()) {
        (None, Some(0)) => faults.add("accepted", 1),
        (None, _) => faults.add("refused", 1),
        (Some(what), _) => {
            (faults.runs, faults.findings) = (faults.runs + 1, faults.findings + 1);
            let kept = campaign.kept(&format!("tokens-{}", faults.key()))?;
            fs::write(kept.join("input"), bytes)?;
            campaign.found(format!(
                "{}: `{}`: {what}; see {}",
                faults.name,
                arguments.join(" ").escape_debug(),
                kept.display()
            ));
        }
    }
    Ok(())
}

/// Returns one word for each field: words after different keys of JSON, or at different places of lines
/// that begin with different words.
fn fields(text: &[u8]) -> Vec<Range<usize>> {
    let mut seen = BTreeSet::new();
    let mut fields = Vec::new();
    let (mut start, mut first, mut place): (usize, &[u8], usize) = (usize::MAX, b"", 0);
    for word in words(text) {
        let its_line = line(text, word.start).start;
        let is_key = text[word.end..].starts_with(b"\":");
        if its_line != start {
            (start, first, place) = (its_line, &text[word.clone()], 0);
        }
        // Numbers at the start of lines are not names of fields.
        let name = if first.first().is_some_and(u8::is_ascii_digit) { b"" } else { first };
        if seen.insert((name.to_vec(), place)) {
            fields.push(word.clone());
        }
        if is_key {
            (first, place) = (&text[word], 1);
        } else {
            place += 1;
        }
    }
    // All over the text, if there are many.
    let step = fields.len().div_ceil(MAX_FIELDS).max(1);
    fields.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_is_found_once() {
        let of = |text: &str| {
            let fields = fields(text.as_bytes());
            fields.into_iter().map(|word| text[word].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of("-grid = 1,2\n-grid = 3,4\nwarp = 0\n"), ["-grid", "1", "2", "warp", "0"]);
        assert_eq!(of("0010 ff LDG\n0020 0f LDS\n"), ["0010", "ff", "LDG"]);
        assert_eq!(of(r#"{"a": 1, "b": [2, 3]}"#), ["a", "1", "b", "2", "3"]);
        assert!(of(&"a b\n".repeat(100)).len() == 2);
    }
}
