//! `conform`: checks an emulator, another program or our own, with cases (docs/conformance.md), and answers them.

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use warpload::load::Executor;
use warpload_suite::asking::{ChosenCases, FunctionExaminee};
use warpload_suite::case::CaseChoice;
use warpload_suite::families::traces::is_refusal;
use warpload_suite::families::{self, Answerer, CaseAnswer, FAMILIES, UnopenedTrace};
use warpload_suite::program::{Program, ProgramExaminee, end_programs};
use warpload_suite::runner::{AskError, Examinee};

use super::destination::{self, Destination, Form, JSON, TEXT, XML};
use super::io::{self, Output};
use super::options::{Progress, number};
use super::suite::{self, Asked, Format, Report};
use super::{inputs, system};
use crate::process::Status;
use crate::trace::Input;

/// Check an emulator with the conformance suite, test vectors or other cases
///
/// Runs your program, asks it the cases one by one, and reports wrong answers and the common properties of their cases.
/// The program reads questions from its standard input, one JSON object a line, and writes each answer to its standard
/// output, one line, before it reads the next question (flush after each line). A question is a case without its
/// expected answer, `final` or `expect`; the answer is that `final` or `expect`, or {"skip": "why"} for an unsupported
/// case. Without `--command` our own executors are asked, in this process. With `--serve` this command is such a
/// program.
///
/// If the program ends or does not answer in time, the case fails, and the program is started again for the next one.
/// Results are in the order of the cases, regardless of `--jobs`.
///
/// Exit status: 0 if no case failed, 1 if one did or all were skipped, 2 if the program cannot be started, answers none
/// of the first 10 questions, or a file cannot be read or has a line that is no case.
#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  warpload conform --command ./my-emulator vectors/v1
  warpload conform --command 'python3 adapter.py --model b' --family execute vectors/v1
  warpload conform --command ./my-emulator --flag misaligned --failures 100 vectors/v1
  warpload conform --command ./my-emulator --format junit -o report.xml vectors/v1
  warpload conform tests/data/ld-vectors.jsonl
  echo '{"family":"decode","sm":"50","word":"0x9c90000123470200"}' | warpload conform --serve

docs/conformance.md has the questions and answers of each family."#)]
pub(crate) struct Arguments {
    /// Files of cases, one JSON object a line: of a suite, test vectors, or loads from Tensor Memory; or folders: every
    /// .jsonl file in them except in `schema` and `files`; `-` is standard input
    #[arg(required_unless_present = "serve", value_name = "FILE")]
    suite: Vec<PathBuf>,

    /// Program with its arguments, quoted as for a shell. It runs without a shell, unless it is one: `sh -c '…'`
    #[arg(long, value_name = "COMMAND", conflicts_with = "executor")]
    command: Option<String>,

    /// Which of our own executors to ask; `both` expects the right answer from each of the two. [default: both, and
    /// fast with --serve]
    #[arg(long, value_enum)]
    executor: Option<Executors>,

    /// Answer questions on standard input, each at once; {"skip": "why"} for an unsupported one, {"error": "why"} for a
    /// line that is not a question
    #[arg(
        long,
        conflicts_with_all = [
            "suite", "command", "jobs", "timeout", "family", "flag", "skip_decisions", "failures", "format", "output",
        ]
    )]
    serve: bool,

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
        requires = "command",
        conflicts_with = "executor"
    )]
    timeout: Duration,

    /// Only cases of this family; can be given several times
    #[arg(long, value_name = "F", value_parser = PossibleValuesParser::new(FAMILIES.map(|family| family.name)))]
    family: Vec<String>,

    /// Only cases with this flag; if given several times, cases with any of them
    #[arg(long, value_name = "F")]
    flag: Vec<String>,

    /// Skip cases that no public source decides, and inferred ones
    #[arg(long)]
    skip_decisions: bool,

    /// Maximum number of failures to show as text; 20 by default
    #[arg(long, value_name = "N", value_parser = number::<u64>(0..=u64::MAX))]
    failures: Option<u64>,

    /// Output format; by default the one that the name of the output says, else text
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// File for the result, or `-` for standard output, the default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Which of our own executors.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Executors {
    Fast,
    /// The literal executor, lane by lane
    Reference,
    Both,
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
    if arguments.serve {
        return serve(arguments.executor.unwrap_or(Executors::Fast), output);
    }
    const FORMS: [(Format, Form); 3] =
        [(Format::Text, TEXT), (Format::Json, JSON), (Format::Junit, XML)];
    let format = destination::format_of(arguments.format, arguments.output.as_deref(), &FORMS)?;
    let format = format.unwrap_or_default();
    if arguments.failures.is_some() && format != Format::Text {
        bail!("--failures: JSON and JUnit XML have all failures");
    }
    let command = arguments.command.as_deref();
    let program = command.map(|command| program(command, arguments.timeout)).transpose()?;
    inputs::remember_named(program.iter().flat_map(Program::files));
    let to = Destination::new(arguments.output.as_deref())?;
    let to = to.pieces(format.escapes())?;
    let reason = "--skip-decisions: no public source decides";
    let choice = CaseChoice {
        families: arguments.family,
        flags: arguments.flag,
        skip_decisions: arguments.skip_decisions.then(|| reason.to_owned()),
    };
    let on_file = |file: &Path| inputs::remember_named([file]);
    let cases = ChosenCases { choice: &choice, on_file: &on_file };
    let name = program.as_ref().map_or("warpload", Program::name);
    let asked = Asked::new(progress, name);
    let most = arguments.failures.unwrap_or(20);
    let report = Report::new(format, most, to, output, &asked);
    let (jobs, paths) = (arguments.jobs, &arguments.suite);
    let Some(program) = &program else {
        let executors: &[Executor] = match arguments.executor {
            Some(Executors::Fast) => &[Executor::Fast],
            Some(Executors::Reference) => &[Executor::Reference],
            Some(Executors::Both) | None => &[Executor::Reference, Executor::Fast],
        };
        let function = |executor: &Executor| {
            let mut answerer = answerer(*executor);
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

/// Answers the questions on standard input.
fn serve(executor: Executors, output: &mut Output) -> anyhow::Result<Status> {
    let mut answerer = answerer(match executor {
        Executors::Fast => Executor::Fast,
        Executors::Reference => Executor::Reference,
        Executors::Both => bail!("--serve answers with one executor; expected fast or reference"),
    });
    io::each_line(Path::new("-"), Progress::Never, |_, question| {
        let answer = match question {
            Ok(question) => families::answer(question, &mut answerer),
            Err(error) => CaseAnswer::Error(error.to_string()),
        };
        output.json_text(&answer.into_json())?;
        // Flushed after each answer, because the asking program waits for it.
        Ok(output.flush()?)
    })?;
    Ok(Status::Done)
}

/// Our own executors, with `executor` for vectors.
fn answerer(executor: Executor) -> Answerer {
    Answerer::new(executor).opening(|file| {
        let opened = Input::new(file).and_then(|input| input.open(Progress::Never, 1));
        opened.map_err(|error| match is_refusal(error.as_ref()) {
            true => UnopenedTrace::Refused,
            false => UnopenedTrace::Failed(format!("{error:#}")),
        })
    })
}

fn examine<E: Examinee>(
    examinees: Vec<E>,
    paths: &[PathBuf],
    choice: &CaseChoice,
    mut report: Report<'_>,
) -> anyhow::Result<Status> {
    let ran = suite::run(examinees, paths, &mut report);
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
    let status = report.raise(status);
    report.finish()?;
    Ok(status)
}

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
