//! Runs of cases as the subcommands make them: reads the files, and reports the results. `conform` asks a program,
//! `test` and `tmem test` our own executors; a new output format is one of [`Report`].

mod junit;
mod progress;
mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use warpload::json::JsonError;
use warpload_suite::case::{CaseFile, files_in};
use warpload_suite::outcome::CaseOutcome;
use warpload_suite::runner::{CheckedCase, Examinee, InProcess, Runner};
use warpload_suite::tally::CaseTally;

pub(crate) use self::progress::Asked;
pub(crate) use self::report::{Format, Kind, Report};
use super::destination::Destination;
use super::io::{self, Output};
use super::options::{self, Progress};
use super::status::Status;

/// A file of cases that is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("{0:#}")]
struct Unreadable(anyhow::Error);

/// Asks examinees the cases of files, of which a bar shows how much is read. Returns the report without its end,
/// the counts, and [`Status::Unreadable`] if a file was.
pub(crate) fn run<'o, E: Examinee>(
    examinees: Vec<E>,
    paths: &[PathBuf],
    reading: Progress,
    report: Report<'o>,
) -> anyhow::Result<(Report<'o>, CaseTally, Status)> {
    let (kind, asked) = (report.kind, report.asked);
    let on_outcome = |outcome: &CaseOutcome| asked.add(outcome);
    let mut runner = Runner::new(examinees, report, &on_outcome);
    let mut status = Status::Done;
    for path in paths {
        let files = match files(path, kind) {
            Ok(files) => files,
            Err(error) => {
                status = fail_input(&mut runner, path, error)?;
                continue;
            }
        };
        for file in files {
            if let Err(error) = read(&mut runner, &file, reading, kind) {
                let Unreadable(error) = error.downcast()?;
                status = fail_input(&mut runner, &file, error)?;
            }
        }
    }
    let (report, tally) = runner.finish()?;
    Ok((report, tally, status))
}

/// Checks tests with our own executors, and writes the results to standard output.
pub(crate) fn test(
    family: &'static str,
    kind: Kind<'_>,
    paths: &[PathBuf],
    format: options::Format,
    progress: Progress,
    output: &mut Output,
    check: impl FnMut(&str) -> Result<Option<CheckedCase>, JsonError> + Send,
) -> anyhow::Result<Status> {
    let format = Format::from(format);
    let to = Destination::new(None)?.pieces(format.escapes())?;
    // The bar shows the bytes that were read.
    let asked = Asked::new(Progress::Never);
    let report = Report::new(kind, format, to, output, &asked);
    let (report, tally, status) =
        run(vec![InProcess::new(family, check)], paths, progress, report)?;
    report.finish(&tally)?;
    Ok(status.max(if tally.counts.failed > 0 { Status::Failed } else { Status::Done }))
}

/// Returns the files of cases that a path names: itself, or those in the folder if it is a suite.
fn files(path: &Path, kind: Kind<'_>) -> anyhow::Result<Vec<PathBuf>> {
    if kind.key.is_some() || io::is_stdin(path) || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    files_in(path).with_context(|| io::name(path))
}

fn read<E: Examinee>(
    runner: &mut Runner<'_, E, Report<'_>>,
    path: &Path,
    reading: Progress,
    kind: Kind<'_>,
) -> anyhow::Result<()> {
    let name = io::name(path);
    let file = Arc::new(CaseFile::new(&name, Some(path).filter(|path| !io::is_stdin(path))));
    let mut is_empty = true;
    let mut failed = None;
    let read = io::each_line(path, reading, |number, text| {
        is_empty = false;
        let text = text.map(str::to_owned).map_err(|error| error.to_string());
        runner.line(&file, number, text).map_err(|error| {
            failed = Some(error);
            anyhow!("stopped")
        })
    });
    match (failed, read) {
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(Unreadable(error).into()),
        (None, Ok(())) if is_empty => {
            let error = anyhow!("no {}s; expected one JSON object a line", kind.one);
            Err(Unreadable(error.context(name)).into())
        }
        (None, Ok(())) => Ok(()),
    }
}

/// Reports an input that cannot be read, which counts as a failure: `0 failed` always means that all is well.
fn fail_input<E: Examinee>(
    runner: &mut Runner<'_, E, Report<'_>>,
    path: &Path,
    error: anyhow::Error,
) -> anyhow::Result<Status> {
    runner.unreadable(&io::name(path), &format!("{error:#}"))?;
    let report = runner.report();
    report.asked.hidden(|| report.output.fail_input(error))
}
