//! [`ProgramExaminee`]: asks a program, restarting it when needed, and judges the lines that come back.

use std::process::ExitStatus;
use std::time::Duration;

use warpload_binary::lines::MAX_LINE_BYTES;

use super::{Program, Running, Silence};
use crate::asking::{ChosenCases, judged_line};
use crate::case::CaseLine;
use crate::outcome::{CaseFailure, CaseFailureKind, CaseOutcome, CaseVerdict};
use crate::runner::{AskError, Examinee, NextPlace};

/// The number of cases that are asked again, each in a run of its own, if a run has written an extra line. The line can
/// belong to an earlier case than the last one.
const MAX_REASKED: usize = 64;
/// The time to wait for an extra line after a failed case, and the most such waits. Seeing the line early reduces the
/// number of cases that are asked again, and does not change their outcomes.
const WAIT: Duration = Duration::from_millis(20);
const MAX_WAITS: u32 = 100;
/// The time to wait after the last case of a batch.
const LAST_WAIT: Duration = Duration::from_millis(1);

/// A program that is asked cases. A run of it lasts until it ends, takes too long or writes an extra line. Then another
/// run is started.
pub struct ProgramExaminee<'p> {
    program: &'p Program,
    cases: ChosenCases<'p>,
    running: Option<Running>,
    /// The cases that this run has been asked, by their places among the lines.
    asked: Vec<usize>,
    waits: u32,
}

impl Examinee for ProgramExaminee<'_> {
    const MAX_LINES: usize = 1024;

    fn judge(&mut self, line: &CaseLine) -> Result<CaseOutcome, AskError> {
        let cases = self.cases;
        cases.judge(line, |case, question| {
            Ok(match self.ask(question)? {
                Ok(answer) => (judged_line(case, answer), true),
                Err(failure) => {
                    let is_line = failure.kind == CaseFailureKind::WrongLine;
                    (CaseVerdict::Failed(failure), is_line)
                }
            })
        })
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
            // After an extra line, answers are shifted: this case fails, because its line answers an earlier question,
            // and its own answer follows.
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
    /// Creates an examinee for these cases.
    #[must_use]
    pub fn new(program: &'p Program, cases: ChosenCases<'p>) -> Self {
        Self { program, cases, running: None, asked: Vec::new(), waits: 0 }
    }

    fn has_more(&mut self, wait: Option<Duration>) -> bool {
        self.running.as_mut().is_some_and(|running| running.has_more(wait))
    }

    /// Asks the last cases again, each in a run of its own, to find the case with an extra line.
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
                // If the first line is not an answer, it is the extra one.
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
        // If no single run writes an extra line, the last case is blamed.
        if let Some(place) = last.filter(|_| !is_found)
            && let Some((_, outcome)) = outcomes.iter_mut().rev().find(|(other, _)| *other == place)
        {
            outcome.verdict = CaseVerdict::Failed(too_many());
        }
        Ok(())
    }

    /// Asks the program, and starts it first if it is not running. After a failure it is ended.
    fn ask(&mut self, question: &str) -> Result<Result<Vec<u8>, CaseFailure>, AskError> {
        let running = match &mut self.running {
            Some(running) => running,
            none => none.insert(self.program.start()?),
        };
        let silence = match running.ask(format!("{question}\n").as_bytes())? {
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
                format!("the program ended with {} before it answered", how(status)),
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

/// The end of a program in words: `status 3`, `signal 11 (SIGSEGV)`.
fn how(status: ExitStatus) -> String {
    if let Some(code) = status.code() {
        return format!("status {code}");
    }
    let text = status.to_string().replacen(": ", " ", 1);
    text.strip_suffix(" (core dumped)").unwrap_or(&text).to_owned()
}

fn too_many() -> CaseFailure {
    CaseFailure::wrong_line("more than one line; expected one line for each question")
}
