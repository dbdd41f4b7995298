//! `conform`: checks an emulator, any program, against the conformance suite (docs/conformance.md).

mod case;
mod junit;
mod outcome;
#[cfg(unix)]
mod pipes;
mod program;
mod progress;
mod report;
mod stream;
mod tally;
#[cfg(any(not(unix), test))]
mod threads;
mod worker;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::builder::PossibleValuesParser;

use super::destination::{Destination, Pieces};
use super::families::FAMILIES;
use super::io::{self, Output};
use super::options::Progress;
use super::status::Status;
use super::{diagnostic, inputs};
use outcome::{File, Line, Outcome, Verdict};
use program::Program;
use progress::Asked;
use report::{Format, Report};
use worker::{Choice, Worker};

/// Check an emulator against the conformance suite
///
/// Runs your program, asks it the cases of the suite one by one, and says which answers are wrong and
/// what those cases have in common. The program reads questions from its standard input, one JSON object
/// a line, and writes the answer to each to its standard output, one line, before it reads the next (flush
/// after each line). A question is a case without what it expects, `final` or `expect`; the answer is that
/// `final` or `expect`, or {"skip": "why"} for what the program does not do.
///
/// If the program ends or does not answer in time, that case fails, and the program is started again for the
/// next one. Results are in the order of the cases, whatever `--jobs` is.
///
/// Exit status: 0 if no case failed, 1 if one did or all were skipped, 2 if the program cannot be started, has answered none
/// of the first 10 questions, or a file cannot be read.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload conform --command ./my-emulator vectors/v1
  warpload conform --command 'python3 adapter.py --model b' --family execute vectors/v1
  warpload conform --command ./my-emulator --flag misaligned --failures 100 vectors/v1
  warpload conform --command ./my-emulator --format junit -o report.xml vectors/v1
  warpload conform --command 'warpload answer' vectors/v1

`warpload answer` is such a program. docs/conformance.md has the questions and answers of each family.")]
pub(crate) struct Arguments {
    /// Files of cases, one JSON object a line, or folders: every .jsonl file in them but those in `schema`
    /// and `files`; `-` is standard input
    #[arg(required = true)]
    suite: Vec<PathBuf>,

    /// The program with its arguments, quoted as for a shell. No shell runs it: `sh -c '…'` is one that does
    #[arg(long, value_name = "COMMAND")]
    command: String,

    /// How many instances of the program to run at the same time
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=MAX_JOBS)
    )]
    jobs: u16,

    /// How long the program may take for an answer, in seconds; then it is killed, on Unix with its process group
    #[arg(
        long,
        value_name = "S",
        default_value = "10",
        value_parser = seconds,
        allow_negative_numbers = true
    )]
    timeout: Duration,

    /// Only cases of this family; can be given several times
    #[arg(long, value_name = "F", value_parser = PossibleValuesParser::new(FAMILIES.map(|family| family.name)))]
    family: Vec<String>,

    /// Only cases with this flag; if given several times, cases with any of them
    #[arg(long, value_name = "F")]
    flag: Vec<String>,

    /// Skip cases that no public source decides
    #[arg(long)]
    skip_decisions: bool,

    /// How many failures to show as text
    #[arg(long, value_name = "N", default_value_t = 20)]
    failures: usize,

    /// How the result is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// The file to write the result to, or `-` for standard output, the default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const MAX_JOBS: i64 = 1024;

fn seconds(text: &str) -> Result<Duration, String> {
    // A year, as good as forever.
    const MOST: f64 = 31_536_000.0;
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= MOST);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|timeout| !timeout.is_zero())
        .ok_or_else(|| format!("expected a number of seconds above 0, at most {MOST}"))
}

pub(crate) fn execute(
    arguments: Arguments,
    progress: Progress,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let program = Program::new(&arguments.command, arguments.timeout)?;
    inputs::remember_named(program.files());
    let to = Destination::new(arguments.output.as_deref())?;
    let choice = Choice {
        families: arguments.family,
        flags: arguments.flag,
        skip_decisions: arguments.skip_decisions,
    };
    let workers = (0..arguments.jobs).map(|_| Worker::new(&program, &choice)).collect();
    let report = Report::new(arguments.format, arguments.failures);
    let mut run = Run {
        program: &program,
        to: to.pieces(report.escapes())?,
        workers,
        asked: Asked::new(progress),
        report,
        lines: Vec::new(),
        bytes: 0,
        unanswered: Some(0),
    };
    // A program that cannot be started is not the fault of a case.
    drop(program.start()?);
    let mut status = Status::Done;
    for path in &arguments.suite {
        let files = match case::files(path) {
            Ok(files) => files,
            Err(error) => {
                status = run.fail_input(&io::name(path), error, output)?;
                continue;
            }
        };
        for file in files {
            if let Err(error) = run.file(&file, output) {
                let Unreadable(error) = error.downcast()?;
                status = run.fail_input(&io::name(&file), error, output)?;
            }
        }
    }
    run.flush(true, output)?;
    let counts = run.report.tally.counts;
    if counts.all() == 0 {
        bail!(nothing_chosen(&choice, &run.report.tally.unchosen));
    }
    let has_checked = counts.failed == 0 && counts.passed > 0;
    let status = status.max(if has_checked { Status::Done } else { Status::Failed });
    output.raise(status);
    run.finish(output)?;
    Ok(status)
}

/// Says that no case is one of those that are chosen; the others have these flags.
fn nothing_chosen(choice: &Choice, known: &BTreeSet<String>) -> String {
    let any = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(" or ")
    };
    let mut message = "no case".to_owned();
    if !choice.families.is_empty() {
        message += &format!(" of the family {}", any(&choice.families));
    }
    if !choice.flags.is_empty() {
        message += &format!(" has the flag {}", any(&choice.flags));
    }
    for flag in choice.flags.iter().filter(|flag| !known.contains(*flag)) {
        let near = known.iter().map(|name| (strsim::levenshtein(name, flag), name)).min();
        if let Some((0..=MAX_TYPOS, name)) = near {
            message += &format!("; did you mean `{name}`?");
        }
    }
    message
}

/// A flag with more wrong letters is not taken for another.
const MAX_TYPOS: usize = 3;

/// A file of cases that is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
struct Unreadable(anyhow::Error);

/// How many lines, and how many bytes of them, are judged together.
const MAX_LINES: usize = 1024;
const MAX_BYTES: usize = 8 << 20;
/// How many cases the program may leave unanswered before it answers the first one.
const MAX_UNANSWERED: usize = 10;
/// What a program that does not answer is told.
const EXPECTED: &str = "expected one line for each line of its standard input, flushed at once";

struct Run<'p> {
    program: &'p Program,
    workers: Vec<Worker<'p>>,
    asked: Asked,
    report: Report,
    /// Those that are to be judged.
    lines: Vec<Line>,
    bytes: usize,
    /// How many cases the program was asked without an answer; `None` once it has answered one.
    unanswered: Option<usize>,
    /// Where results are written as they come.
    to: Pieces,
}

impl Run<'_> {
    fn file(&mut self, path: &Path, output: &mut Output) -> anyhow::Result<()> {
        let file = Arc::new(File { name: io::name(path), folder: case::folder_of(path) });
        let mut is_empty = true;
        let mut failed = None;
        let read = io::each_line(path, Progress::Never, |number, text| {
            is_empty = false;
            let text = text.map(str::to_owned).map_err(|error| error.to_string());
            self.bytes += text.as_ref().map_or(0, String::len);
            self.lines.push(Line { file: Arc::clone(&file), number, text });
            if self.lines.len() == MAX_LINES || self.bytes > MAX_BYTES {
                self.flush(false, output).map_err(|error| {
                    failed = Some(error);
                    anyhow!("stopped")
                })?;
            }
            Ok(())
        });
        match (failed, read) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(Unreadable(error).into()),
            (None, Ok(())) if is_empty => {
                let error = anyhow!("no cases; expected one JSON object a line");
                Err(Unreadable(error.context(file.name.clone())).into())
            }
            (None, Ok(())) => Ok(()),
        }
    }

    /// Reports an input that cannot be read, which counts as a failure.
    fn fail_input(
        &mut self,
        name: &str,
        error: anyhow::Error,
        output: &mut Output,
    ) -> anyhow::Result<Status> {
        self.flush(false, output)?;
        self.report.add_unreadable(name, &format!("{error:#}"))?;
        self.asked.hidden(|| output.fail_input(error))
    }

    /// Judges the lines that were read, and reports them.
    fn flush(&mut self, is_last: bool, output: &mut Output) -> anyhow::Result<()> {
        let lines = std::mem::take(&mut self.lines);
        self.bytes = 0;
        let outcomes = self.judge(&lines, is_last)?;
        for (line, outcome) in lines.iter().zip(&outcomes) {
            if let Some(outcome) = outcome {
                self.report.add(line, outcome)?;
            }
        }
        if self.report.tally.counts.failed > 0 {
            output.raise(Status::Failed);
        }
        // Only now are the files of these cases known as inputs.
        self.to.check()?;
        let report = self.report.take();
        self.asked.hidden(|| {
            self.to.add(&report, output)?;
            Ok(output.flush()?)
        })
    }

    /// Writes what comes at the end.
    fn finish(self, output: &mut Output) -> anyhow::Result<()> {
        let Self { asked, report, mut to, .. } = self;
        asked.hidden(|| {
            report.finish(|piece| to.add(piece, output))?;
            to.finish(output)
        })
    }

    fn judge(&mut self, lines: &[Line], is_last: bool) -> anyhow::Result<Vec<Option<Outcome>>> {
        self.workers.iter_mut().for_each(Worker::forget);
        let next = AtomicUsize::new(0);
        let take =
            || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|place| *place < lines.len());
        let mut found = self.until_answered(lines, take)?;
        let (is_stopped, asked) = (AtomicBool::new(false), &self.asked);
        let work = |worker: &mut Worker<'_>| {
            let next = |outcome: Option<&Outcome>| {
                asked.add(outcome);
                take().filter(|_| !is_stopped.load(Ordering::Relaxed))
            };
            let result = worker.work(lines, is_last, next);
            is_stopped.fetch_or(result.is_err(), Ordering::Relaxed);
            result
        };
        let results: Vec<anyhow::Result<_>> = match &mut self.workers[..] {
            [only] => vec![work(only)],
            workers => thread::scope(|scope| {
                let work = &work;
                let start =
                    |worker| thread::Builder::new().spawn_scoped(scope, move || work(worker));
                let jobs: Vec<_> = workers.iter_mut().map(start).collect();
                let joined = jobs.into_iter().map(|job| match job {
                    Ok(job) => job.join().unwrap_or_else(|_| bail!("a job has panicked")),
                    Err(error) => Err(error).context("--jobs: a thread cannot be started"),
                });
                joined.collect()
            }),
        };
        for result in results {
            found.extend(result?);
        }
        let mut outcomes: Vec<Option<Outcome>> = lines.iter().map(|_| None).collect();
        for (place, outcome) in found {
            outcomes[place] = Some(outcome);
        }
        Ok(outcomes)
    }

    /// Asks one run of the program alone until it has answered once: whether it can does not depend on the
    /// jobs.
    ///
    /// # Errors
    /// Returns an error if it has answered none of the first questions.
    fn until_answered(
        &mut self,
        lines: &[Line],
        take: impl Fn() -> Option<usize>,
    ) -> anyhow::Result<Vec<(usize, Outcome)>> {
        let (Some(mut unanswered), [first, ..]) = (self.unanswered, &mut self.workers[..]) else {
            return Ok(Vec::new());
        };
        let asked = &self.asked;
        let mut is_answered = false;
        let found = first.work(lines, false, |outcome| {
            asked.add(outcome);
            match outcome.map(|outcome| (outcome.answered, &outcome.verdict)) {
                Some((Some(true), _)) => is_answered = true,
                Some((Some(false), verdict)) => {
                    unanswered += 1;
                    if unanswered == 1 && verdict.is_timeout() {
                        let message = format!(
                            "{}: no answer to the first question within {} s; {EXPECTED}",
                            self.program.name(),
                            self.program.timeout.as_secs_f64()
                        );
                        asked.hidden(|| diagnostic::warning(message));
                    }
                }
                _ => {}
            }
            if is_answered || unanswered >= MAX_UNANSWERED { None } else { take() }
        })?;
        self.unanswered = (!is_answered).then_some(unanswered);
        if !is_answered && unanswered >= MAX_UNANSWERED {
            bail!(self.silent(&found));
        }
        Ok(found)
    }

    /// Says that the program does not answer, and how it failed last.
    fn silent(&self, found: &[(usize, Outcome)]) -> String {
        let last = found.iter().rev().find_map(|(_, outcome)| match &outcome.verdict {
            Verdict::Failed(failure) => Some(failure.lines().join("\n")),
            _ => None,
        });
        format!(
            "{}: has answered none of the first {MAX_UNANSWERED} questions; {EXPECTED}: {}",
            self.program.name(),
            last.unwrap_or_default()
        )
    }
}
