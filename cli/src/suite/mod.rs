//! Runs of cases for the subcommands: reading the files, and reporting the results. `conform` asks a program, `test`
//! and `tmem test` ask our own executors. A new output format belongs in [`Report`].

mod junit;
mod progress;
mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use clap::ValueEnum;
use warpload::json::JsonError;
use warpload::load::Executor;
use warpload_suite::case::{CaseFile, files_in};
use warpload_suite::families::CheckedCase;
use warpload_suite::outcome::CaseOutcome;
use warpload_suite::runner::{Examinee, InProcess, ReadCasesError, Runner};

pub(crate) use self::progress::Asked;
pub(crate) use self::report::{CaseKind, Format, Report};
use super::destination::Destination;
use super::io::{self, Output};
use super::options::{self, Progress};
use crate::process::Status;

/// Which of our own executors.
#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum Executors {
    Fast,
    Reference,
    #[default]
    Both,
}

impl Executors {
    pub(crate) fn list(self) -> &'static [Executor] {
        match self {
            Self::Fast => &[Executor::Fast],
            Self::Reference => &[Executor::Reference],
            Self::Both => &[Executor::Reference, Executor::Fast],
        }
    }
}

/// Asks examinees the cases of files, with a progress bar over the files. Returns [`Status::Unreadable`] if a file
/// cannot be read; the report counts that as a failure.
pub(crate) fn run<E: Examinee>(
    examinees: Vec<E>,
    paths: &[PathBuf],
    reading: Progress,
    report: &mut Report<'_>,
) -> anyhow::Result<Status> {
    let asked = report.asked;
    let on_outcome = |outcome: &CaseOutcome| asked.add(outcome);
    let mut runner = Runner::new(examinees, &on_outcome);
    let mut status = Status::Done;
    for path in paths {
        let files = match files(path, report.kind) {
            Ok(files) => files,
            Err(error) => {
                status = fail_input(&mut runner, report, path, error)?;
                continue;
            }
        };
        for file in files {
            if let Some(error) = read(&mut runner, report, &file, reading)? {
                status = fail_input(&mut runner, report, &file, error)?;
            }
        }
    }
    report.add(&runner.judge(true)?)?;
    Ok(status)
}

/// Checks tests with our own executors, and writes the results to standard output.
pub(crate) fn test(
    family: &'static str,
    kind: CaseKind,
    paths: &[PathBuf],
    format: options::Format,
    progress: Progress,
    output: &mut Output,
    check: impl FnMut(&str) -> Result<Option<CheckedCase>, JsonError> + Send,
) -> anyhow::Result<Status> {
    let format = Format::from(format);
    let to = Destination::new(None)?.pieces(format.escapes())?;
    // The bar over the bytes of the files is enough.
    let asked = Asked::new(Progress::Never, family);
    let mut report = Report::new(kind, format, to, output, &asked);
    let status = run(vec![InProcess::new(family, check)], paths, progress, &mut report)?;
    let failed = report.tally.counts.failed;
    report.finish()?;
    Ok(status.max(if failed > 0 { Status::Failed } else { Status::Done }))
}

/// The files of cases at a path: the file itself, or the files in the folder of a suite.
fn files(path: &Path, kind: CaseKind) -> anyhow::Result<Vec<PathBuf>> {
    if kind.key.is_some() || io::is_stdin(path) || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    files_in(path).with_context(|| io::name(path))
}

/// Asks the cases of a file. Returns the file's error, if there is one.
fn read<E: Examinee>(
    runner: &mut Runner<'_, E>,
    report: &mut Report<'_>,
    path: &Path,
    reading: Progress,
) -> anyhow::Result<Option<anyhow::Error>> {
    let (name, one) = (io::name(path), report.kind.one);
    let file = Arc::new(CaseFile::new(&name, Some(path).filter(|path| !io::is_stdin(path))));
    let input = match io::open_text(path, reading) {
        Ok(input) => input,
        Err(error) => return Ok(Some(error)),
    };
    let error = match runner.read(&file, input, |judged| report.add(judged)) {
        Ok(()) => return Ok(None),
        Err(ReadCasesError::Add(error)) => return Err(error),
        Err(ReadCasesError::Ask(error)) => return Err(error.into()),
        Err(ReadCasesError::Empty) => anyhow!("no {one}s; expected one JSON object a line"),
        Err(ReadCasesError::Line(error)) => error.into(),
    };
    Ok(Some(error.context(name)))
}

fn fail_input<E: Examinee>(
    runner: &mut Runner<'_, E>,
    report: &mut Report<'_>,
    path: &Path,
    error: anyhow::Error,
) -> anyhow::Result<Status> {
    report.add(&runner.judge(false)?)?;
    report.fail_input(&io::name(path), error)
}
