//! `conform`: checks an emulator, any program, against the conformance suite (docs/conformance.md).

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::ArgGroup;
use clap::builder::PossibleValuesParser;
use warpload::load::Executor;
use warpload_suite::asking::{ChosenCases, FunctionExaminee};
use warpload_suite::case::CaseChoice;
use warpload_suite::families::{self, FAMILIES};
use warpload_suite::program::{Program, ProgramExaminee, end_programs};
use warpload_suite::runner::{AskError, Examinee};

use super::destination::Destination;
use super::io::Output;
use super::options::{Progress, number};
use super::suite::{self, Asked, CaseKind, Executors, Format, Report};
use super::{answer, inputs, system};
use crate::process::Status;

/// Check an emulator against the conformance suite
///
/// Runs your program, asks it the cases of the suite one by one, and reports wrong answers and the common properties of
/// their cases. The program reads questions from its standard input, one JSON object a line, and writes each answer to
/// its standard output, one line, before it reads the next question (flush after each line). A question is a case
/// without its expected answer, `final` or `expect`; the answer is that `final` or `expect`, or {"skip": "why"} for an
/// unsupported case. `--executor` asks our own executors instead, in this process.
///
/// If the program ends or does not answer in time, the case fails, and the program is started again for the next one.
/// Results are in the order of the cases, regardless of `--jobs`.
///
/// Exit status: 0 if no case failed, 1 if one did or all were skipped, 2 if the program cannot be started, answers none
/// of the first 10 questions, or a file cannot be read.
#[derive(clap::Args)]
#[command(group = ArgGroup::new("examinee").required(true), after_help = "\
Examples:
  warpload conform --command ./my-emulator vectors/v1
  warpload conform --command 'python3 adapter.py --model b' --family execute vectors/v1
  warpload conform --command ./my-emulator --flag misaligned --failures 100 vectors/v1
  warpload conform --command ./my-emulator --format junit -o report.xml vectors/v1
  warpload conform --executor both vectors/v1

`warpload answer` is such a program, for `--command 'warpload answer'`. docs/conformance.md has the questions and answers of each family.")]
pub(crate) struct Arguments {
    /// Files of cases, one JSON object a line, or folders: every .jsonl file in them except in `schema` and `files`;
    /// `-` is standard input
    #[arg(required = true)]
    suite: Vec<PathBuf>,

    /// Program with its arguments, quoted as for a shell. It runs without a shell, unless it is one: `sh -c '…'`
    #[arg(long, value_name = "COMMAND", group = "examinee")]
    command: Option<String>,

    /// Ask our own executors instead of a program; `both` expects the right answer from each of the two
    #[arg(long, value_enum, group = "examinee")]
    executor: Option<Executors>,

    /// Number of instances of the program, or threads of our own executors, to run at the same time
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = number::<u16>(1..=MAX_JOBS)
    )]
    jobs: u16,

    /// Timeout for an answer, in seconds; then the program is killed, on Unix with its process group
    #[arg(
        long,
        value_name = "S",
        default_value = "10",
        value_parser = seconds,
        allow_negative_numbers = true,
        conflicts_with = "executor"
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

    /// Maximum number of failures to show as text; 20 by default
    #[arg(long, value_name = "N", value_parser = number::<usize>(0..=u64::MAX))]
    failures: Option<usize>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// File for the result, or `-` for standard output, the default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const MAX_JOBS: u64 = 1024;

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
    if arguments.failures.is_some() && arguments.format != Format::Text {
        bail!("--failures: JSON and JUnit XML have all failures");
    }
    let command = arguments.command.as_deref();
    let program = command.map(|command| program(command, arguments.timeout)).transpose()?;
    inputs::remember_named(program.iter().flat_map(Program::files));
    let to = Destination::new(arguments.output.as_deref())?;
    let to = to.pieces(arguments.format.escapes())?;
    let reason = "--skip-decisions: no public source decides";
    let choice = CaseChoice {
        families: arguments.family,
        flags: arguments.flag,
        skip_decisions: arguments.skip_decisions.then(|| reason.to_owned()),
    };
    let on_file = |file: &Path| inputs::remember_named([file]);
    let cases = ChosenCases { choice: &choice, on_file: &on_file };
    let kind =
        CaseKind { one: "case", key: None, shown: SHOWN, most: arguments.failures.unwrap_or(20) };
    let name = program.as_ref().map_or("warpload", Program::name);
    let asked = Asked::new(progress, name);
    let report = Report::new(kind, arguments.format, to, output, &asked);
    let (jobs, paths) = (arguments.jobs, &arguments.suite);
    let Some(program) = &program else {
        let executors = arguments.executor.unwrap_or_default().list();
        let function = |executor: &Executor| {
            let mut answerer = answer::answerer(*executor);
            let answer = move |question: &str| Ok(Ok(families::answer(question, &mut answerer)));
            (executor.name(), answer)
        };
        let examinee = |_| FunctionExaminee::new(executors.iter().map(function).collect(), cases);
        return examine((0..jobs).map(examinee).collect(), paths, &choice, report);
    };
    end_programs_on_signals();
    // Checked first, because a program that cannot be started is not the fault of a case.
    program.check_starts()?;
    let examinees = (0..jobs).map(|_| ProgramExaminee::new(program, cases)).collect();
    examine(examinees, paths, &choice, report).map_err(|error| match error.downcast_ref() {
        Some(AskError::Unanswered { .. }) => error.context(program.name().to_owned()),
        _ => error,
    })
}

fn examine<E: Examinee>(
    examinees: Vec<E>,
    paths: &[PathBuf],
    choice: &CaseChoice,
    mut report: Report<'_>,
) -> anyhow::Result<Status> {
    let ran = suite::run(examinees, paths, Progress::Never, &mut report);
    let status = ran.map_err(|error| match error.downcast_ref() {
        Some(AskError::Thread(_)) => error.context("--jobs"),
        _ => error,
    })?;
    let counts = report.tally.counts;
    if let Some(nothing) = report.tally.nothing_chosen(choice) {
        return Err(nothing.into());
    }
    let has_checked = counts.failed == 0 && counts.passed > 0;
    let status = status.max(if has_checked { Status::Done } else { Status::Failed });
    report.raise(status);
    report.finish()?;
    Ok(status)
}

/// The most differences of one case to show as text.
const SHOWN: usize = 8;

/// Splits the command into words as a shell would.
fn program(command: &str, timeout: Duration) -> anyhow::Result<Program> {
    let words = shlex::split(command).context("--command: a quotation is not closed")?;
    let mut words = words.into_iter();
    let name = words.next().context("--command: expected a program and its arguments")?;
    Ok(Program::new(name, words.collect(), timeout))
}

/// The programs have process groups of their own, so a signal that ends this process does not reach them.
fn end_programs_on_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| system::before_signals_end(end_programs));
}
