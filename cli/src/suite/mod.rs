//! Runs of cases for `conform`: reading the files, and reporting the results. A new output format belongs in [`Report`].

mod junit;
mod progress;
mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use warpload_suite::case::{CaseFile, files_in};
use warpload_suite::outcome::CaseOutcome;
use warpload_suite::runner::{Examinee, ReadCasesError, Runner};

pub(crate) use self::progress::Asked;
pub(crate) use self::report::{Format, Report};
use super::io;
use super::options::Progress;
use crate::process::Status;

/// Asks examinees the cases of files. Returns [`Status::Unreadable`] if a file
/// cannot be read; the report counts that as a failure.
pub(crate) fn run<E: Examinee>(
    examinees: Vec<E>,
    paths: &[PathBuf],
    report: &mut Report<'_>,
) -> anyhow::Result<Status> {
    let asked = report.asked;
    let on_outcome = |outcome: &CaseOutcome| asked.add(outcome);
    let mut runner = Runner::new(examinees, &on_outcome);
    let mut status = Status::Done;
    for path in paths {
        let files = match files(path) {
            Ok(files) => files,
            Err(error) => {
                status = fail_input(&mut runner, report, path, error)?;
                continue;
            }
        };
        for file in files {
            if let Some(error) = read(&mut runner, report, &file)? {
                status = fail_input(&mut runner, report, &file, error)?;
            }
        }
    }
    report.add(&runner.judge(true)?)?;
    Ok(status)
}

/// The files of cases at a path: the file itself, or the files in the folder of a suite.
fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if io::is_stdin(path) || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    files_in(path).with_context(|| io::name(path))
}

/// Asks the cases of a file. Returns the file's error, if there is one.
fn read<E: Examinee>(
    runner: &mut Runner<'_, E>,
    report: &mut Report<'_>,
    path: &Path,
) -> anyhow::Result<Option<anyhow::Error>> {
    let name = io::name(path);
    let file = Arc::new(CaseFile::new(&name, Some(path).filter(|path| !io::is_stdin(path))));
    let input = match io::open_text(path, Progress::Never, io::CASES) {
        Ok(input) => input,
        Err(error) => return Ok(Some(error)),
    };
    let error = match runner.read(&file, input, |judged| report.add(judged)) {
        Ok(()) => return Ok(None),
        Err(ReadCasesError::Add(error)) => return Err(error),
        Err(ReadCasesError::Ask(error)) => return Err(error.into()),
        Err(error) => anyhow!(error),
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
