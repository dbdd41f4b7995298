//! [`Worker`]: asks one run of the program after the other, and judges what comes back.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use warpload_binary::lines::MAX_LINE_BYTES;

use super::case::{About, Case};
use super::outcome::{Failure, FailureKind, Line, Outcome, Verdict};
use super::program::{Program, Running, Silence};
use super::stream::{MAX_CHARACTERS, shown};
use crate::families::{Object, Uncomparable};
use crate::name::shortened;
use crate::{inputs, suite};

/// Which cases are asked.
#[derive(Default)]
pub(super) struct Choice {
    pub(super) families: Vec<String>,
    pub(super) flags: Vec<String>,
    pub(super) skip_decisions: bool,
}

impl Choice {
    fn has(&self, case: &Case<'_>) -> bool {
        let is_family = |name: &String| *name == case.family.name;
        let is_flag = |name: &String| case.about.flags.contains(name);
        (self.families.is_empty() || self.families.iter().any(is_family))
            && (self.flags.is_empty() || self.flags.iter().any(is_flag))
    }
}

/// How many cases are asked again, each of a run of its own, if a run has written more lines than it was
/// asked: the line that is too much may be older than the last case.
const MAX_REASKED: usize = 64;
/// How many differences of a case are kept, and how many characters of each.
const MAX_DIFFERENCES: usize = 64;
const MAX_DIFFERENCE: usize = 1000;
/// How long, and how often at most, a failed case is followed by waiting for a line too much. Whether it is
/// seen then decides how many cases are asked again, not what becomes of them.
const WAIT: Duration = Duration::from_millis(20);
const MAX_WAITS: u32 = 100;
/// The same after the last case of many.
const LAST_WAIT: Duration = Duration::from_millis(1);

pub(super) struct Worker<'p> {
    program: &'p Program,
    choice: &'p Choice,
    running: Option<Running>,
    /// The cases of which the run has been asked, by their places among the lines.
    asked: Vec<usize>,
    waits: u32,
}

impl<'p> Worker<'p> {
    pub(super) fn new(program: &'p Program, choice: &'p Choice) -> Self {
        Self { program, choice, running: None, asked: Vec::new(), waits: 0 }
    }

    /// Forgets which cases the run has been asked: others come.
    pub(super) fn forget(&mut self) {
        self.asked.clear();
    }

    /// Judges lines, as long as `next` returns another place among them. A place may come twice: the
    /// later outcome holds.
    pub(super) fn work(
        &mut self,
        lines: &[Line],
        is_last: bool,
        mut next: impl FnMut(Option<&Outcome>) -> Option<usize>,
    ) -> anyhow::Result<Vec<(usize, Outcome)>> {
        let mut outcomes = Vec::new();
        while let Some(place) = next(outcomes.last().map(|(_, outcome)| outcome)) {
            let outcome = self.judge(&lines[place])?;
            let has_failed = matches!(outcome.verdict, Verdict::Failed(_));
            let was_asked = outcome.answered.is_some();
            outcomes.push((place, outcome));
            if !was_asked || self.running.is_none() {
                continue;
            }
            self.asked.push(place);
            // The answer to another question fails; the answer to this one comes after it.
            let is_waiting = has_failed && self.asked.len() > 1 && self.waits < MAX_WAITS;
            self.waits += u32::from(is_waiting);
            if self.has_more(is_waiting.then_some(WAIT))? {
                self.ask_again(lines, &mut outcomes)?;
            }
        }
        let has_more = match self.running.take() {
            Some(running) if is_last => running.finish()?.is_some(),
            running => {
                self.running = running;
                self.has_more(Some(LAST_WAIT))?
            }
        };
        if has_more {
            self.ask_again(lines, &mut outcomes)?;
        }
        Ok(outcomes)
    }

    fn has_more(&mut self, wait: Option<Duration>) -> anyhow::Result<bool> {
        self.running.as_mut().map_or(Ok(false), |running| Ok(running.has_more(wait)?))
    }

    /// Asks the last cases again, each of a run that ends after it: the run has written a line too much.
    fn ask_again(
        &mut self,
        lines: &[Line],
        outcomes: &mut Vec<(usize, Outcome)>,
    ) -> anyhow::Result<()> {
        self.running = None;
        let asked = std::mem::take(&mut self.asked);
        let last = asked.last().copied();
        let mut is_found = false;
        for place in asked.into_iter().rev().take(MAX_REASKED) {
            let mut outcome = self.judge(&lines[place])?;
            if let Some(running) = self.running.take()
                && let Some(line) = running.finish()?
            {
                let mut failure = too_many();
                // If the first line is no answer, it is the one too much.
                if let Verdict::Failed(first) = &outcome.verdict
                    && first.kind == FailureKind::WrongLine
                {
                    failure.differences.extend_from_slice(&first.differences);
                }
                failure.differences.push(format!("the next line: {line}"));
                outcome.verdict = Verdict::Failed(failure);
                is_found = true;
            }
            outcomes.push((place, outcome));
        }
        // If runs of their own write one line each, it has to be the last one's.
        if let Some(place) = last.filter(|_| !is_found)
            && let Some((_, outcome)) = outcomes.iter_mut().rev().find(|(other, _)| *other == place)
        {
            outcome.verdict = Verdict::Failed(too_many());
        }
        Ok(())
    }

    /// Asks a case and judges the answer.
    fn judge(&mut self, line: &Line) -> anyhow::Result<Outcome> {
        let case = line.text.as_deref().map_err(Clone::clone).and_then(Case::new);
        let case = match case {
            Ok(case) => case,
            Err(message) => {
                let verdict = Verdict::Failed(Failure::new(FailureKind::NotACase, message));
                return Ok(Outcome {
                    family: None,
                    about: About::default(),
                    verdict,
                    answered: None,
                });
            }
        };
        // Whether the case is asked or not: an output in its place would be lost to other runs too.
        inputs::remember_named(case.file(&line.file.folder));
        let (verdict, answered) = if !self.choice.has(&case) {
            (Verdict::Unchosen, None)
        } else if self.choice.skip_decisions && case.about.is_decision {
            (Verdict::Skipped("--skip-decisions: no public source decides".to_owned()), None)
        } else {
            match self.ask(&case, &line.file.folder)? {
                Ok(answer) => (judged(&case, &answer), Some(true)),
                Err(failure) => {
                    let is_line = failure.kind == FailureKind::WrongLine;
                    (Verdict::Failed(failure), Some(is_line))
                }
            }
        };
        Ok(Outcome { family: Some(case.family.name), about: case.about, verdict, answered })
    }

    /// Asks the program, which is started if it does not run; after a failure it does not.
    fn ask(&mut self, case: &Case<'_>, folder: &Path) -> anyhow::Result<Result<Vec<u8>, Failure>> {
        let running = match &mut self.running {
            Some(running) => running,
            none => none.insert(self.program.start()?),
        };
        let silence = match running.ask(case.question(folder).as_bytes())? {
            Ok(answer) => return Ok(Ok(answer)),
            Err(silence) => silence,
        };
        let (kind, message) = match silence {
            Silence::Late => {
                let seconds = self.program.timeout.as_secs_f64();
                (FailureKind::Timeout, format!("no answer within {seconds} s"))
            }
            Silence::Ended(Some(status)) => (
                FailureKind::Crash,
                format!("the program ended before its answer: {}", how(status)),
            ),
            Silence::Ended(None) => (
                FailureKind::Crash,
                "the program closed its standard output before its answer".to_owned(),
            ),
            Silence::TooLong => {
                (FailureKind::WrongLine, format!("the line is longer than {MAX_LINE_BYTES} bytes"))
            }
        };
        let mut failure = Failure::new(kind, message);
        if kind != FailureKind::WrongLine {
            let unfinished = running.unfinished();
            failure
                .differences
                .extend(unfinished.map(|line| format!("a line without its end: {line}")));
            failure.stderr = running.last_errors();
        }
        self.running = None;
        self.asked.clear();
        Ok(Err(failure))
    }
}

/// Returns how a program ended: `exit status 3`, `signal 11 (SIGSEGV)`.
fn how(status: ExitStatus) -> String {
    let text = status.to_string().replacen(": ", " ", 1);
    text.strip_suffix(" (core dumped)").unwrap_or(&text).to_owned()
}

fn too_many() -> Failure {
    Failure::wrong_line("more than one line; expected one line for each question")
}

/// Compares an answer with what the case expects.
fn judged(case: &Case<'_>, answer: &[u8]) -> Verdict {
    compared(case, answer).unwrap_or_else(|mut failure| {
        for difference in &mut failure.differences {
            *difference = shortened(difference, MAX_DIFFERENCE);
        }
        if failure.kind == FailureKind::WrongLine {
            failure.differences.push(format!("the line: {}", shown(answer)));
        }
        Verdict::Failed(failure)
    })
}

fn compared(case: &Case<'_>, answer: &[u8]) -> Result<Verdict, Failure> {
    let wrong = |error: &_| Failure::wrong_line(format!("answer: {}", suite::with_column(error)));
    let answer = std::str::from_utf8(answer).map_err(|error| {
        let column = error.valid_up_to() + 1;
        Failure::wrong_line(format!("answer: column {column}: not UTF-8"))
    })?;
    let object = Object::from_json(answer).map_err(|error| wrong(&error))?;
    if let Some(reason) = object.only("skip") {
        let reason: String = serde_json::from_str(reason)
            .map_err(|_| Failure::wrong_line("answer: skip: expected the reason, a text"))?;
        return Ok(Verdict::Skipped(shortened(&reason, MAX_CHARACTERS)));
    }
    if let Some(message) = object.only("error") {
        let message: String = serde_json::from_str(message)
            .map_err(|_| Failure::wrong_line("answer: error: expected the message, a text"))?;
        let message = format!("the program cannot read the question: {message}");
        return Err(Failure::new(FailureKind::Error, shortened(&message, 2 * MAX_CHARACTERS)));
    }
    // Most answers are what the case expects, letter by letter.
    if is_same(case.expected().answer, answer) {
        return Ok(Verdict::Passed);
    }
    let mut differences =
        (case.family.compare)(&case.expected(), answer).map_err(|error| match error {
            Uncomparable::Case(error) => {
                let message = suite::with_column(&error);
                let key = case.family.expectation;
                Failure::new(FailureKind::NotACase, format!("not a case: `{key}`: {message}"))
            }
            Uncomparable::Answer(error) => wrong(&error),
        })?;
    if differences.is_empty() {
        return Ok(Verdict::Passed);
    }
    let excess = differences.len().saturating_sub(MAX_DIFFERENCES);
    if excess > 0 {
        differences.truncate(MAX_DIFFERENCES);
        differences.push(format!("and {excess} more"));
        // A batch of cases is held until it is reported.
        differences.shrink_to_fit();
    }
    Err(Failure { kind: FailureKind::Difference, differences, stderr: Vec::new() })
}

/// Whether two JSON texts are the same but for space between their parts.
fn is_same(one: &str, other: &str) -> bool {
    parts(one).eq(parts(other))
}

/// Returns the bytes of a JSON text without the space between its parts.
fn parts(text: &str) -> impl Iterator<Item = u8> {
    let (mut is_string, mut is_escaped) = (false, false);
    text.bytes().filter(move |byte| {
        let is_kept = is_string || !matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let is_quote = *byte == b'"' && !is_escaped;
        is_escaped = is_string && *byte == b'\\' && !is_escaped;
        is_string ^= is_quote;
        is_kept
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_that_are_left_out_take_no_memory() -> Result<(), String> {
        let case = Case::new(r#"{"family":"ptx-execute","expect":{"loads":[]}}"#)?;
        let answer = format!(r#"{{"loads":[0{}]}}"#, ",0".repeat(9_999));
        let Verdict::Failed(failure) = judged(&case, answer.as_bytes()) else {
            return Err("passed".to_owned());
        };
        assert_eq!(failure.differences.last().map(String::as_str), Some("and 9936 more"));
        assert!(failure.differences.capacity() < 1000);
        Ok(())
    }

    #[test]
    fn space_between_parts_is_no_difference() {
        assert!(is_same(
            r#"{"a": [1, "b c\" d"], "e":null}"#,
            r#" {"a":[1,"b c\" d"],"e" : null} "#
        ));
        assert!(!is_same(r#"{"a":"b c"}"#, r#"{"a":"bc"}"#));
        assert!(!is_same(r#"{"a":"\\"  }"#, r#"{"a":"\\  "}"#));
        assert!(!is_same("[1]", "[1"));
    }
}
