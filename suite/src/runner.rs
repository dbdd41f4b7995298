//! [`Runner`]: asks and judges cases, for all families and all kinds of examinees.
//!
//! An [`Examinee`] answers the cases: [functions](crate::asking::FunctionExaminee), or another
//! [program](crate::program::ProgramExaminee). Several examinees share the work. The outcomes are always in the order of
//! the cases.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use std::io::BufRead;
use std::sync::Arc;

use warpload_binary::lines::{LineError, Lines};

use crate::case::{CaseFile, CaseLine};
use crate::outcome::{CaseOutcome, CaseVerdict};

/// Answers the cases of a suite: an emulator under test, or our own executors.
pub trait Examinee: Send {
    /// The most lines that [`Self::examine`] gets at once.
    const MAX_LINES: usize;

    /// Asks the case of a line and judges the answer.
    ///
    /// # Errors
    /// Returns [`AskError`] if the examinee cannot be asked at all.
    fn judge(&mut self, line: &CaseLine) -> Result<CaseOutcome, AskError>;

    /// Forgets the places of lines, because a new batch begins.
    fn forget(&mut self) {}

    /// Judges lines, as long as `next` returns another place among them. If a place occurs twice in the result, the
    /// later outcome counts. `is_last` says that no lines follow.
    ///
    /// # Errors
    /// As [`Self::judge`].
    fn examine(
        &mut self,
        lines: &[CaseLine],
        _is_last: bool,
        next: NextPlace<'_>,
    ) -> Result<Vec<(usize, CaseOutcome)>, AskError> {
        let mut outcomes = Vec::new();
        while let Some(place) = next(outcomes.last().map(|(_, outcome)| outcome)) {
            outcomes.push((place, self.judge(&lines[place])?));
        }
        Ok(outcomes)
    }
}

/// Returns the place of the next line for an examinee. Its argument is the examinee's last outcome.
pub type NextPlace<'n> = &'n mut dyn FnMut(Option<&CaseOutcome>) -> Option<usize>;

/// The reason why no more cases can be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The program cannot be started.
    #[error("{program}: cannot be started{hint}")]
    Start {
        /// Its name.
        program: String,
        /// The likely mistake; may be empty.
        hint: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// A question or an answer cannot be passed on.
    #[error(transparent)]
    Stream(#[from] io::Error),
    /// No thread can be started for another examinee.
    #[error("a thread cannot be started")]
    Thread(#[source] io::Error),
    /// A thread has panicked.
    #[error("a job has panicked")]
    Panicked,
    /// Asking was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// The examinee does not answer.
    #[error("{reason}; {EXPECTED_LINES}{more}")]
    Unanswered {
        /// Why it has not answered the last of the first questions.
        reason: String,
        /// The further lines of its last failure, each after a line break.
        more: String,
    },
}

/// The reason why not all cases of a file were asked. The file is at fault, the examinee, or the caller's function that
/// adds outcomes.
#[derive(Debug, thiserror::Error)]
pub enum ReadCasesError<X> {
    /// A line of the file cannot be read, which ends reading.
    #[error(transparent)]
    Line(LineError),
    /// The file has no case.
    #[error("no cases; expected one JSON object a line")]
    Empty,
    /// The first line of the file is something else.
    #[error("not a suite: line {0} is not a JSON object; a suite has one in each line")]
    NotASuite(u64),
    /// No more cases can be asked.
    #[error(transparent)]
    Ask(AskError),
    /// Outcomes cannot be added.
    #[error("outcomes cannot be added")]
    Add(X),
}

/// The bytes of lines that are judged together.
const MAX_BYTES: usize = 8 << 20;
/// The number of cases that an examinee may leave unanswered before its first answer.
const MAX_UNANSWERED: usize = 10;
/// The end of a message about a program that does not answer.
pub const EXPECTED_LINES: &str = "it must write one line for each question, flushed at once";

/// Asks examinees the cases of lines. Returns the outcomes in the order of the lines.
pub struct Runner<'a, E> {
    examinees: Vec<E>,
    on_outcome: &'a (dyn Fn(&CaseOutcome) + Sync),
    interrupt: Option<&'a AtomicBool>,
    /// The lines that are not judged yet.
    lines: Vec<CaseLine>,
    bytes: usize,
    /// The number of cases without an answer; `None` after the first answer.
    unanswered: Option<usize>,
}

impl<'a, E: Examinee> Runner<'a, E> {
    /// Creates a runner. `on_outcome` is called with each outcome as soon as it is known: unordered, and again if a
    /// case is asked again.
    pub fn new(examinees: Vec<E>, on_outcome: &'a (dyn Fn(&CaseOutcome) + Sync)) -> Self {
        let lines = Vec::new();
        Self { examinees, on_outcome, interrupt: None, lines, bytes: 0, unanswered: Some(0) }
    }

    /// Asks no further questions once this is true. Pending questions still have to be answered.
    #[must_use]
    pub fn interrupt(self, interrupt: &'a AtomicBool) -> Self {
        Self { interrupt: Some(interrupt), ..self }
    }

    /// Adds the lines of an input, except blank ones, and passes outcomes to `add` as they become known.
    ///
    /// # Errors
    /// Returns [`ReadCasesError`] if the input cannot be read to its end or has no line, or with an error of
    /// [`Self::judge`] or of `add`.
    pub fn read<X>(
        &mut self,
        file: &Arc<CaseFile>,
        input: impl BufRead,
        mut add: impl FnMut(&[(CaseLine, CaseOutcome)]) -> Result<(), X>,
    ) -> Result<(), ReadCasesError<X>> {
        let mut lines = Lines::new(input);
        let mut is_empty = true;
        while let Some(line) = lines.next_line() {
            let (number, text) = match line {
                Ok(line) if line.text.trim().is_empty() => continue,
                Ok(line) => (line.number, Ok(line.text.to_owned())),
                Err(error @ LineError::NotUtf8 { line, .. }) => (line, Err(error.to_string())),
                Err(error) => return Err(ReadCasesError::Line(error)),
            };
            if is_empty && text.as_ref().is_ok_and(|text| !text.trim_start().starts_with('{')) {
                return Err(ReadCasesError::NotASuite(number));
            }
            is_empty = false;
            let judged = self.line(CaseLine { file: Arc::clone(file), number, text });
            let judged = judged.map_err(ReadCasesError::Ask)?;
            if !judged.is_empty() {
                add(&judged).map_err(ReadCasesError::Add)?;
            }
        }
        if is_empty { Err(ReadCasesError::Empty) } else { Ok(()) }
    }

    /// Adds a line. Returns the outcomes that become known with it. Most calls return none, because lines are judged in
    /// batches.
    ///
    /// # Errors
    /// As [`Self::judge`].
    pub fn line(&mut self, line: CaseLine) -> Result<Vec<(CaseLine, CaseOutcome)>, AskError> {
        self.bytes += line.text.as_ref().map_or(0, String::len);
        self.lines.push(line);
        let is_full = self.lines.len() >= E::MAX_LINES || self.bytes > MAX_BYTES;
        if is_full { self.judge(false) } else { Ok(Vec::new()) }
    }

    /// Judges the lines that were added and returns their outcomes in order. `is_last` says that no lines follow.
    ///
    /// # Errors
    /// Returns [`AskError`] if an examinee cannot be asked at all, or has answered none of the first questions.
    pub fn judge(&mut self, is_last: bool) -> Result<Vec<(CaseLine, CaseOutcome)>, AskError> {
        let lines = std::mem::take(&mut self.lines);
        self.bytes = 0;
        let outcomes = self.outcomes(&lines, is_last)?;
        let judged = lines.into_iter().zip(outcomes);
        Ok(judged.filter_map(|(line, outcome)| Some((line, outcome?))).collect())
    }

    fn outcomes(
        &mut self,
        lines: &[CaseLine],
        is_last: bool,
    ) -> Result<Vec<Option<CaseOutcome>>, AskError> {
        self.examinees.iter_mut().for_each(Examinee::forget);
        let next = AtomicUsize::new(0);
        let interrupt = self.interrupt;
        let is_interrupted = || interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed));
        let take = || {
            let place = next.fetch_add(1, Ordering::Relaxed);
            (place < lines.len() && !is_interrupted()).then_some(place)
        };
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
        let results: Vec<Result<_, AskError>> = match &mut self.examinees[..] {
            [only] => vec![work(only)],
            examinees => thread::scope(|scope| {
                let work = &work;
                let start =
                    |examinee| thread::Builder::new().spawn_scoped(scope, move || work(examinee));
                let jobs: Vec<_> = examinees.iter_mut().map(start).collect();
                let joined = jobs.into_iter().map(|job| match job {
                    Ok(job) => job.join().unwrap_or(Err(AskError::Panicked)),
                    Err(error) => Err(AskError::Thread(error)),
                });
                joined.collect()
            }),
        };
        for result in results {
            found.extend(result?);
        }
        if is_interrupted() {
            return Err(AskError::Interrupted);
        }
        let mut outcomes: Vec<Option<CaseOutcome>> = lines.iter().map(|_| None).collect();
        for (place, outcome) in found {
            outcomes[place] = Some(outcome);
        }
        Ok(outcomes)
    }

    /// Asks the first examinee alone until it has answered once, so that the error for a silent examinee does not
    /// depend on how many there are.
    ///
    /// # Errors
    /// Returns [`AskError::Unanswered`] if it has answered none of the first questions.
    fn until_answered(
        &mut self,
        lines: &[CaseLine],
        take: impl Fn() -> Option<usize>,
    ) -> Result<Vec<(usize, CaseOutcome)>, AskError> {
        let (Some(mut unanswered), [first, ..]) = (self.unanswered, &mut self.examinees[..]) else {
            return Ok(Vec::new());
        };
        let on_outcome = self.on_outcome;
        let mut is_answered = false;
        let found = first.examine(lines, false, &mut |outcome| {
            outcome.into_iter().for_each(on_outcome);
            match outcome.and_then(|outcome| outcome.answered) {
                Some(true) => is_answered = true,
                Some(false) => unanswered += 1,
                None => {}
            }
            if is_answered || unanswered >= MAX_UNANSWERED { None } else { take() }
        })?;
        self.unanswered = (!is_answered).then_some(unanswered);
        if !is_answered && unanswered >= MAX_UNANSWERED {
            let last = found.iter().rev().find_map(|(_, outcome)| match &outcome.verdict {
                CaseVerdict::Failed(failure) => Some(failure.lines()),
                _ => None,
            });
            let mut lines = last.unwrap_or_default().into_iter();
            let reason = lines.next().unwrap_or_default();
            let reason = reason.strip_prefix("the program ").unwrap_or(&reason).to_owned();
            return Err(AskError::Unanswered {
                reason,
                more: lines.map(|line| format!("\n{line}")).collect(),
            });
        }
        Ok(found)
    }
}
