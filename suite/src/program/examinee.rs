//! [`ProgramExaminee`]: asks one run of the program after the other, and judges the lines that come back.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use warpload_binary::lines::MAX_LINE_BYTES;

use super::stream::{MAX_CHARACTERS, shown};
use super::{Program, Running, Silence};
use crate::case::{CaseChoice, CaseFile, CaseLine, SuiteCase};
use crate::families::{JsonObject, Uncomparable};
use crate::outcome::{CaseFailure, CaseFailureKind, CaseOutcome, CaseVerdict};
use crate::runner::{AskError, Examinee, NextPlace};
use crate::text::{shortened, with_column};

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

/// A program that is asked, in one run of it after the other: a run goes on until it ends, takes too long or
/// writes a line too much.
pub struct ProgramExaminee<'p> {
    program: &'p Program,
    choice: &'p CaseChoice,
    on_file: &'p (dyn Fn(&Path) + Sync),
    running: Option<Running>,
    /// The cases of which the run has been asked, by their places among the lines.
    asked: Vec<usize>,
    waits: u32,
}

impl Examinee for ProgramExaminee<'_> {
    const MAX_LINES: usize = 1024;

    fn judge(&mut self, line: &CaseLine) -> Result<CaseOutcome, AskError> {
        let case = match line.text.as_deref().map_err(Clone::clone).and_then(SuiteCase::new) {
            Ok(case) => case,
            Err(message) => return Ok(CaseOutcome::not_a_case(message)),
        };
        // Whether the case is asked or not: an output in its place would be lost to other runs too.
        if let Some(file) = case.named_file(&line.file) {
            (self.on_file)(&file);
        }
        let skipped = self.choice.skip_decisions.as_ref().filter(|_| case.about.is_decision);
        let (verdict, answered) = if !self.choice.has(&case) {
            (CaseVerdict::Unchosen, None)
        } else if let Some(reason) = skipped {
            (CaseVerdict::Skipped(reason.clone()), None)
        } else {
            match self.ask(&case, &line.file)? {
                Ok(answer) => (judged(&case, &answer), Some(true)),
                Err(failure) => {
                    let is_line = failure.kind == CaseFailureKind::WrongLine;
                    (CaseVerdict::Failed(failure), Some(is_line))
                }
            }
        };
        Ok(CaseOutcome { family: Some(case.family.name), about: case.about, verdict, answered })
    }

    fn forget(&mut self) {
        self.asked.clear();
    }

    fn examine(
        &mut self,
        lines: &[CaseLine],
        is_last: bool,
        next: NextPlace<'_>,
    ) -> Result<Vec<(usize, CaseOutcome)>, AskError> {
        let mut outcomes = Vec::new();
        while let Some(place) = next(outcomes.last().map(|(_, outcome)| outcome)) {
            let outcome = self.judge(&lines[place])?;
            let has_failed = matches!(outcome.verdict, CaseVerdict::Failed(_));
            let was_asked = outcome.answered.is_some();
            outcomes.push((place, outcome));
            if !was_asked || self.running.is_none() {
                continue;
            }
            self.asked.push(place);
            // The answer to another question fails; the answer to this one comes after it.
            let is_waiting = has_failed && self.asked.len() > 1 && self.waits < MAX_WAITS;
            self.waits += u32::from(is_waiting);
            if self.has_more(is_waiting.then_some(WAIT)) {
                self.ask_again(lines, &mut outcomes)?;
            }
        }
        let has_more = match self.running.take() {
            Some(running) if is_last => running.finish()?.is_some(),
            running => {
                self.running = running;
                self.has_more(Some(LAST_WAIT))
            }
        };
        if has_more {
            self.ask_again(lines, &mut outcomes)?;
        }
        Ok(outcomes)
    }
}

impl<'p> ProgramExaminee<'p> {
    /// Creates an examinee that is asked the cases of a choice. `on_file` is told the files that cases name,
    /// whether these are asked or not.
    #[must_use]
    pub fn new(
        program: &'p Program,
        choice: &'p CaseChoice,
        on_file: &'p (dyn Fn(&Path) + Sync),
    ) -> Self {
        Self { program, choice, on_file, running: None, asked: Vec::new(), waits: 0 }
    }

    fn has_more(&mut self, wait: Option<Duration>) -> bool {
        self.running.as_mut().is_some_and(|running| running.has_more(wait))
    }

    /// Asks the last cases again, each of a run that ends after it: the run has written a line too much.
    fn ask_again(
        &mut self,
        lines: &[CaseLine],
        outcomes: &mut Vec<(usize, CaseOutcome)>,
    ) -> Result<(), AskError> {
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
                if let CaseVerdict::Failed(first) = &outcome.verdict
                    && first.kind == CaseFailureKind::WrongLine
                {
                    failure.differences.extend_from_slice(&first.differences);
                }
                failure.differences.push(format!("the next line: {line}"));
                outcome.verdict = CaseVerdict::Failed(failure);
                is_found = true;
            }
            outcomes.push((place, outcome));
        }
        // If runs of their own write one line each, it has to be the last one's.
        if let Some(place) = last.filter(|_| !is_found)
            && let Some((_, outcome)) = outcomes.iter_mut().rev().find(|(other, _)| *other == place)
        {
            outcome.verdict = CaseVerdict::Failed(too_many());
        }
        Ok(())
    }

    /// Asks the program, which is started if it does not run; after a failure it does not.
    fn ask(
        &mut self,
        case: &SuiteCase<'_>,
        file: &CaseFile,
    ) -> Result<Result<Vec<u8>, CaseFailure>, AskError> {
        let running = match &mut self.running {
            Some(running) => running,
            none => none.insert(self.program.start()?),
        };
        let silence = match running.ask(case.question(file).as_bytes())? {
            Ok(answer) => return Ok(Ok(answer)),
            Err(silence) => silence,
        };
        let (kind, message) = match silence {
            Silence::Late => {
                let timeout = self.program.timeout;
                let seconds = timeout.as_secs_f64();
                (CaseFailureKind::Timeout(timeout), format!("no answer within {seconds} s"))
            }
            Silence::Ended(Some(status)) => (
                CaseFailureKind::Crash,
                format!("the program ended before its answer: {}", how(status)),
            ),
            Silence::Ended(None) => (
                CaseFailureKind::Crash,
                "the program closed its standard output before its answer".to_owned(),
            ),
            Silence::TooLong => (
                CaseFailureKind::WrongLine,
                format!("the line is longer than {MAX_LINE_BYTES} bytes"),
            ),
        };
        let mut failure = CaseFailure::new(kind, message);
        if kind != CaseFailureKind::WrongLine {
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

fn too_many() -> CaseFailure {
    CaseFailure::wrong_line("more than one line; expected one line for each question")
}

/// Compares an answer with the expected one.
fn judged(case: &SuiteCase<'_>, answer: &[u8]) -> CaseVerdict {
    compared(case, answer).unwrap_or_else(|mut failure| {
        for difference in &mut failure.differences {
            *difference = shortened(difference, MAX_DIFFERENCE);
        }
        if failure.kind == CaseFailureKind::WrongLine {
            failure.differences.push(format!("the line: {}", shown(answer)));
        }
        CaseVerdict::Failed(failure)
    })
}

fn compared(case: &SuiteCase<'_>, answer: &[u8]) -> Result<CaseVerdict, CaseFailure> {
    let wrong = |error: &_| CaseFailure::wrong_line(format!("answer: {}", with_column(error)));
    let answer = std::str::from_utf8(answer).map_err(|error| {
        let column = error.valid_up_to() + 1;
        CaseFailure::wrong_line(format!("answer: column {column}: not UTF-8"))
    })?;
    let object = JsonObject::from_json(answer).map_err(|error| wrong(&error))?;
    if let Some(reason) = object.only("skip") {
        let reason: String = serde_json::from_str(reason)
            .map_err(|_| CaseFailure::wrong_line("answer: skip: expected the reason, a text"))?;
        return Ok(CaseVerdict::Skipped(shortened(&reason, MAX_CHARACTERS)));
    }
    if let Some(message) = object.only("error") {
        let message: String = serde_json::from_str(message)
            .map_err(|_| CaseFailure::wrong_line("answer: error: expected the message, a text"))?;
        let message = format!("the program cannot read the question: {message}");
        return Err(CaseFailure::new(
            CaseFailureKind::Error,
            shortened(&message, 2 * MAX_CHARACTERS),
        ));
    }
    // Most answers are the expected one, letter by letter.
    if is_same(case.expected().answer, answer) {
        return Ok(CaseVerdict::Passed);
    }
    let mut differences =
        (case.family.compare)(&case.expected(), answer).map_err(|error| match error {
            Uncomparable::Case(error) => {
                let message = with_column(&error);
                let key = case.family.expectation;
                CaseFailure::new(
                    CaseFailureKind::NotACase,
                    format!("not a case: `{key}`: {message}"),
                )
            }
            Uncomparable::Answer(error) => wrong(&error),
        })?;
    if differences.is_empty() {
        return Ok(CaseVerdict::Passed);
    }
    let excess = differences.len().saturating_sub(MAX_DIFFERENCES);
    if excess > 0 {
        differences.truncate(MAX_DIFFERENCES);
        differences.push(format!("and {excess} more"));
        // A batch of cases is held until it is reported.
        differences.shrink_to_fit();
    }
    Err(CaseFailure { kind: CaseFailureKind::Difference, differences, stderr: Vec::new() })
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
        let case = SuiteCase::new(r#"{"family":"ptx-execute","expect":{"loads":[]}}"#)?;
        let answer = format!(r#"{{"loads":[0{}]}}"#, ",0".repeat(9_999));
        let CaseVerdict::Failed(failure) = judged(&case, answer.as_bytes()) else {
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
