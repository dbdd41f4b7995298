//! Very long words and control characters in every field of text: refused or shortened, quickly, and
//! never printed as they are.

use std::collections::BTreeSet;
use std::fs;
use std::io::Result;
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::Campaign;
use crate::command::{LIMITS, limited, run as run_command};
use crate::samples::{FORMS, Form, arguments};
use crate::text::{line, words};

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
pub(crate) fn run(campaign: &mut Campaign) -> Result<()> {
    for form in FORMS.iter().filter(|form| form.is_text) {
        let long = format!("long words in {}", form.name);
        let evil = format!("control characters in {}", form.name);
        let samples = form.samples()?;
        let small = samples.iter().filter(|seed| seed.bytes.len() <= MAX_SAMPLE);
        for seed in small.take(MAX_SAMPLES) {
            for (number, field) in fields(&seed.bytes).into_iter().enumerate() {
                let mut changed = |place: Range<usize>, word: &[u8], fault: &str| {
                    let mut bytes = seed.bytes.clone();
                    drop(bytes.splice(place, word.iter().copied()));
                    case(campaign, form, (&seed.name, &bytes), number, fault)
                };
                for length in LENGTHS {
                    let word = vec![LETTERS[number % LETTERS.len()]; length];
                    changed(field.clone(), &word, &long)?;
                }
                for word in CONTROL_CHARACTERS {
                    changed(field.end..field.end, word.as_bytes(), &evil)?;
                }
            }
        }
        if let Some(seed) = samples.first() {
            let name = format!("name{}.txt", CONTROL_CHARACTERS[0]);
            case(campaign, form, (&name, &seed.bytes), 0, &evil)?;
        }
    }
    Ok(())
}

fn case(
    campaign: &mut Campaign,
    form: &Form,
    (name, bytes): (&str, &[u8]),
    number: usize,
    fault: &str,
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    form.copy_beside(folder.path())?;
    fs::write(folder.path().join(name), bytes)?;
    let arguments = arguments(form.commands[number % form.commands.len()], "FILE", name);
    let start = Instant::now();
    let ended = run_command(limited(&campaign.program, folder.path(), LIMITS, &arguments))?;
    let takes = start.elapsed();
    let wrong = ended.broken().or_else(|| {
        let raw = ended.raw_character().map(|raw| format!("{raw:?} in the output"));
        let is_long = ended.stderr.len() > MAX_MESSAGE;
        raw.or_else(|| is_long.then(|| format!("messages of {} bytes", ended.stderr.len())))
            .or_else(|| (takes > SLOW).then(|| format!("{:.0} s", takes.as_secs_f64())))
    });
    let outcome = if ended.code() == Some(0) { "accepted" } else { "refused" };
    campaign.judge(fault, &arguments.join(" "), wrong.map_or(Ok(outcome), Err), Some(bytes))
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
