//! [`Runner`]: the one way in which cases are asked, compared, counted and reported.
//!
//! An [`Examinee`] answers the cases: [`InProcess`] for our own executors, which look at a line directly, or
//! [`ProgramExaminee`](crate::program::ProgramExaminee) for another program. Several examinees share the work; the
//! report has the outcomes in the order of the cases, however many there are.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::json::JsonError;

use crate::case::{CaseAbout, CaseFile, CaseLine};
use crate::outcome::{CaseFailure, CaseFailureKind, CaseOutcome, CaseVerdict};
use crate::tally::CaseTally;
use crate::text::with_column;

/// Something that is asked the cases of a suite.
pub trait Examinee: Send {
    /// How many lines it is passed together at most.
    const MAX_LINES: usize;

    /// Asks the case of a line, and judges the answer.
    ///
    /// # Errors
    /// Returns [`RunError`] if the examinee cannot be asked at all.
    fn judge(&mut self, line: &CaseLine) -> Result<CaseOutcome, RunError>;

    /// Forgets the places of lines: others come.
    fn forget(&mut self) {}

    /// Judges lines, for as long as `next` returns another place among them. A place may come twice in the result:
    /// the later outcome holds. No lines follow if `is_last`.
    ///
    /// # Errors
    /// As [`Self::judge`].
    fn examine(
        &mut self,
        lines: &[CaseLine],
        _is_last: bool,
        next: NextPlace<'_>,
    ) -> Result<Vec<(usize, CaseOutcome)>, RunError> {
        let mut outcomes = Vec::new();
        while let Some(place) = next(outcomes.last().map(|(_, outcome)| outcome)) {
            outcomes.push((place, self.judge(&lines[place])?));
        }
        Ok(outcomes)
    }
}

/// Returns the place of the next line that an examinee judges, and is passed the outcome before.
pub type NextPlace<'n> = &'n mut dyn FnMut(Option<&CaseOutcome>) -> Option<usize>;

/// Receives the outcomes of a run.
pub trait SuiteReport {
    /// Why it cannot be written.
    type Error: From<RunError>;

    /// Adds the outcome of a line. It is counted already.
    ///
    /// # Errors
    /// Returns the report's own error.
    fn add(
        &mut self,
        line: &CaseLine,
        outcome: &CaseOutcome,
        tally: &CaseTally,
    ) -> Result<(), Self::Error>;

    /// Adds a file that could not be read, a failure.
    ///
    /// # Errors
    /// Returns the report's own error.
    fn add_unreadable(&mut self, file: &str, error: &str) -> Result<(), Self::Error>;

    /// Is called when outcomes have been added and others may take a while.
    ///
    /// # Errors
    /// Returns the report's own error.
    fn flush(&mut self, tally: &CaseTally) -> Result<(), Self::Error>;

    /// Tells the user at once about an examinee that may never answer.
    fn warn(&mut self, message: &str);
}

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The program cannot be started.
    #[error("{program}: cannot be started{hint}")]
    Start {
        /// Its name.
        program: String,
        /// What may be wrong; may be empty.
        hint: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The system fails to pass on a question or an answer.
    #[error(transparent)]
    Stream(#[from] io::Error),
    /// No thread can be started for another examinee.
    #[error("a thread cannot be started")]
    Thread(#[source] io::Error),
    /// A thread has panicked.
    #[error("a job has panicked")]
    Panicked,
    /// The examinee does not answer.
    #[error("has answered none of the first {MAX_UNANSWERED} questions; {EXPECTED}: {last}")]
    Unanswered {
        /// How it failed last.
        last: String,
    },
}

/// How many bytes of lines are judged together.
const MAX_BYTES: usize = 8 << 20;
/// How many cases an examinee may leave unanswered before it answers the first one.
const MAX_UNANSWERED: usize = 10;
/// What a program that does not answer is told.
const EXPECTED: &str = "expected one line for each line of its standard input, flushed at once";

/// Asks examinees the cases of lines, in the order of the lines, and reports the outcomes in that order.
pub struct Runner<'a, E, R> {
    examinees: Vec<E>,
    report: R,
    tally: CaseTally,
    on_outcome: &'a (dyn Fn(&CaseOutcome) + Sync),
    /// Those that are to be judged.
    lines: Vec<CaseLine>,
    bytes: usize,
    /// How many cases were asked without an answer; `None` once there was one.
    unanswered: Option<usize>,
}

impl<'a, E: Examinee, R: SuiteReport> Runner<'a, E, R> {
    /// Creates a runner. `on_outcome` is told each outcome as soon as it is known, in no order.
    pub fn new(
        examinees: Vec<E>,
        report: R,
        on_outcome: &'a (dyn Fn(&CaseOutcome) + Sync),
    ) -> Self {
        let (tally, lines, unanswered) = (CaseTally::default(), Vec::new(), Some(0));
        Self { examinees, report, tally, on_outcome, lines, bytes: 0, unanswered }
    }

    /// Returns the report, for the caller's own messages.
    pub fn report(&mut self) -> &mut R {
        &mut self.report
    }

    /// Adds a line. An `Err` of `text` says why there is none.
    ///
    /// # Errors
    /// Returns the error of the run or of the report.
    pub fn line(
        &mut self,
        file: &Arc<CaseFile>,
        number: u64,
        text: Result<String, String>,
    ) -> Result<(), R::Error> {
        self.bytes += text.as_ref().map_or(0, String::len);
        self.lines.push(CaseLine { file: Arc::clone(file), number, text });
        if self.lines.len() >= E::MAX_LINES || self.bytes > MAX_BYTES {
            self.flush(false)?;
        }
        Ok(())
    }

    /// Adds a file that could not be read, which counts as a failure.
    ///
    /// # Errors
    /// Returns the error of the run or of the report.
    pub fn unreadable(&mut self, file: &str, error: &str) -> Result<(), R::Error> {
        self.flush(false)?;
        self.tally.counts.failed += 1;
        self.report.add_unreadable(file, error)
    }

    /// Judges the last lines, and returns the report with the counts.
    ///
    /// # Errors
    /// Returns the error of the run or of the report.
    pub fn finish(mut self) -> Result<(R, CaseTally), R::Error> {
        self.flush(true)?;
        Ok((self.report, self.tally))
    }

    fn flush(&mut self, is_last: bool) -> Result<(), R::Error> {
        let lines = std::mem::take(&mut self.lines);
        self.bytes = 0;
        let outcomes = self.judge(&lines, is_last)?;
        for (line, outcome) in lines.iter().zip(&outcomes) {
            if let Some(outcome) = outcome {
                self.tally.add(outcome);
                self.report.add(line, outcome, &self.tally)?;
            }
        }
        self.report.flush(&self.tally)
    }

    fn judge(
        &mut self,
        lines: &[CaseLine],
        is_last: bool,
    ) -> Result<Vec<Option<CaseOutcome>>, RunError> {
        self.examinees.iter_mut().for_each(Examinee::forget);
        let next = AtomicUsize::new(0);
        let take =
            || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|place| *place < lines.len());
        let mut found = self.until_answered(lines, take)?;
        let (is_stopped, on_outcome) = (AtomicBool::new(false), self.on_outcome);
        let work = |examinee: &mut E| {
            let mut next = |outcome: Option<&CaseOutcome>| {
                outcome.into_iter().for_each(on_outcome);
                take().filter(|_| !is_stopped.load(Ordering::Relaxed))
            };
            let result = examinee.examine(lines, is_last, &mut next);
            is_stopped.fetch_or(result.is_err(), Ordering::Relaxed);
            result
        };
        let results: Vec<Result<_, RunError>> = match &mut self.examinees[..] {
            [only] => vec![work(only)],
            examinees => thread::scope(|scope| {
                let work = &work;
                let start =
                    |examinee| thread::Builder::new().spawn_scoped(scope, move || work(examinee));
                let jobs: Vec<_> = examinees.iter_mut().map(start).collect();
                let joined = jobs.into_iter().map(|job| match job {
                    Ok(job) => job.join().unwrap_or(Err(RunError::Panicked)),
                    Err(error) => Err(RunError::Thread(error)),
                });
                joined.collect()
            }),
        };
        for result in results {
            found.extend(result?);
        }
        let mut outcomes: Vec<Option<CaseOutcome>> = lines.iter().map(|_| None).collect();
        for (place, outcome) in found {
            outcomes[place] = Some(outcome);
        }
        Ok(outcomes)
    }

    /// Asks the first examinee alone until it has answered once: whether it can does not depend on how many
    /// there are.
    ///
    /// # Errors
    /// Returns [`RunError::Unanswered`] if it has answered none of the first questions.
    fn until_answered(
        &mut self,
        lines: &[CaseLine],
        take: impl Fn() -> Option<usize>,
    ) -> Result<Vec<(usize, CaseOutcome)>, RunError> {
        let (Some(mut unanswered), [first, ..]) = (self.unanswered, &mut self.examinees[..]) else {
            return Ok(Vec::new());
        };
        let (report, on_outcome) = (&mut self.report, self.on_outcome);
        let mut is_answered = false;
        let found = first.examine(lines, false, &mut |outcome| {
            outcome.into_iter().for_each(on_outcome);
            match outcome.map(|outcome| (outcome.answered, &outcome.verdict)) {
                Some((Some(true), _)) => is_answered = true,
                Some((Some(false), verdict)) => {
                    unanswered += 1;
                    if unanswered == 1
                        && let CaseVerdict::Failed(failure) = verdict
                        && let CaseFailureKind::Timeout(timeout) = failure.kind
                    {
                        let seconds = timeout.as_secs_f64();
                        report.warn(&format!(
                            "no answer to the first question within {seconds} s; {EXPECTED}"
                        ));
                    }
                }
                _ => {}
            }
            if is_answered || unanswered >= MAX_UNANSWERED { None } else { take() }
        })?;
        self.unanswered = (!is_answered).then_some(unanswered);
        if !is_answered && unanswered >= MAX_UNANSWERED {
            let last = found.iter().rev().find_map(|(_, outcome)| match &outcome.verdict {
                CaseVerdict::Failed(failure) => Some(failure.lines().join("\n")),
                _ => None,
            });
            return Err(RunError::Unanswered { last: last.unwrap_or_default() });
        }
        Ok(found)
    }
}

/// A case that our own executors have run: how the result differs from the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedCase {
    /// Its name; may be empty.
    pub name: String,
    /// The differences, one line each; empty if there are none.
    pub differences: Vec<String>,
}

/// Our own executors, which check the line of a case instead of answering its question: without an answer in
/// JSON between them, differences are told value by value.
pub struct InProcess<F> {
    family: &'static str,
    check: F,
}

impl<F> InProcess<F>
where
    F: FnMut(&str) -> Result<Option<CheckedCase>, JsonError> + Send,
{
    /// Creates an examinee of a family. `check` runs the case of a line; `None` if it is not one of those that are
    /// chosen.
    pub fn new(family: &'static str, check: F) -> Self {
        Self { family, check }
    }
}

impl<F> Examinee for InProcess<F>
where
    F: FnMut(&str) -> Result<Option<CheckedCase>, JsonError> + Send,
{
    // All differences of a case are kept, and they can be many.
    const MAX_LINES: usize = 1;

    fn judge(&mut self, line: &CaseLine) -> Result<CaseOutcome, RunError> {
        let text = line.text.as_deref().map_err(Clone::clone);
        let checked = text.and_then(|text| (self.check)(text).map_err(|error| with_column(&error)));
        let (name, verdict) = match checked {
            Err(message) => return Ok(CaseOutcome::not_a_case(message)),
            Ok(None) => (None, CaseVerdict::Unchosen),
            Ok(Some(CheckedCase { name, differences })) if differences.is_empty() => {
                (Some(name), CaseVerdict::Passed)
            }
            Ok(Some(CheckedCase { name, differences })) => {
                let kind = CaseFailureKind::Difference;
                let failure = CaseFailure { kind, differences, stderr: Vec::new() };
                (Some(name), CaseVerdict::Failed(failure))
            }
        };
        let about = CaseAbout { name, ..CaseAbout::default() };
        Ok(CaseOutcome { family: Some(self.family), about, verdict, answered: Some(true) })
    }
}
