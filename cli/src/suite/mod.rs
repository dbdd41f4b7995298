//! Runs of cases as the subcommands make them: reads the files, and reports the results. `conform` asks a program,
//! `test` and `tmem test` our own executors; a new output format is one of [`Report`].

mod junit;
mod progress;
mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use warpload::json::JsonError;
use warpload_suite::case::{CaseFile, CaseLine, files_in};
use warpload_suite::families::CheckedCase;
use warpload_suite::outcome::CaseOutcome;
use warpload_suite::runner::{Examinee, InProcess, Runner};

pub(crate) use self::progress::Asked;
pub(crate) use self::report::{CaseKind, Format, Report};
use super::destination::Destination;
use super::io::{self, Output};
use super::options::{self, Progress};
use crate::process::Status;

/// What ends a run, not a file of it.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
struct Stopped(anyhow::Error);

/// Asks examinees the cases of files; a bar shows how much of them is read. Returns [`Status::Unreadable`] if a file
/// cannot be read, which the report has as a failure.
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
            match read(&mut runner, report, &file, reading).map_err(anyhow::Error::downcast) {
                Ok(()) => {}
                Err(Ok(Stopped(error))) => return Err(error),
                Err(Err(error)) => status = fail_input(&mut runner, report, &file, error)?,
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
    // The bar shows the bytes that were read.
    let asked = Asked::new(Progress::Never, family);
    let mut report = Report::new(kind, format, to, output, &asked);
    let status = run(vec![InProcess::new(family, check)], paths, progress, &mut report)?;
    let failed = report.tally.counts.failed;
    report.finish()?;
    Ok(status.max(if failed > 0 { Status::Failed } else { Status::Done }))
}

/// Returns the files of cases that a path names: itself, or those in the folder if it is a suite.
fn files(path: &Path, kind: CaseKind) -> anyhow::Result<Vec<PathBuf>> {
    if kind.key.is_some() || io::is_stdin(path) || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    files_in(path).with_context(|| io::name(path))
}

/// Asks the cases of a file. Errors other than [`Stopped`] are those of the file.
fn read<E: Examinee>(
    runner: &mut Runner<'_, E>,
    report: &mut Report<'_>,
    path: &Path,
    reading: Progress,
) -> anyhow::Result<()> {
    let (name, one) = (io::name(path), report.kind.one);
    let file = Arc::new(CaseFile::new(&name, Some(path).filter(|path| !io::is_stdin(path))));
    let mut is_empty = true;
    io::each_line(path, reading, |number, text| {
        is_empty = false;
        let text = text.map(str::to_owned).map_err(|error| error.to_string());
        let judged = runner.line(CaseLine { file: Arc::clone(&file), number, text });
        let added = judged.map_err(anyhow::Error::from).and_then(|judged| match judged.len() {
            0 => Ok(()),
            _ => report.add(&judged),
        });
        added.map_err(|error| Stopped(error).into())
    })?;
    if is_empty {
        return Err(anyhow!("no {one}s; expected one JSON object a line").context(name));
    }
    Ok(())
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
