//! Files of tests, one JSON object a line: reading them, counting, and reporting what failed.

use std::path::{Path, PathBuf};

use serde::ser::{SerializeMap, Serializer};
use warpload::lines::{LineError, Lines};
use warpload::suite::json::JsonError;

use super::diagnostic;
use super::io::{self, Output};
use super::name::visible;
use super::options::{Format, Progress};
use super::status::Status;

/// What the tests of a suite are called.
pub(super) struct Kind {
    pub(super) one: &'static str,
    pub(super) many: &'static str,
    /// The JSON key of a test's name.
    pub(super) key: &'static str,
    /// How many differences of one test are listed as text; JSON has all.
    pub(super) shown: usize,
}

/// A test that was run: its name, and how it differs from what it expects.
pub(super) struct Tested {
    pub(super) name: String,
    pub(super) differences: Vec<String>,
}

struct Failure<'f> {
    kind: &'f Kind,
    file: &'f str,
    line: u64,
    name: Option<&'f str>,
    differences: &'f [String],
}

impl serde::Serialize for Failure<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("file", self.file)?;
        map.serialize_entry("line", &self.line)?;
        map.serialize_entry(self.kind.key, &self.name)?;
        map.serialize_entry("differences", self.differences)?;
        map.end()
    }
}

#[derive(serde::Serialize)]
struct CountJson {
    passed: u64,
    failed: u64,
}

/// Runs every test of the files. `test` runs the one of a line; `None` if it is skipped.
pub(super) fn test_files(
    kind: Kind,
    files: &[PathBuf],
    format: Format,
    progress: Progress,
    output: &mut Output,
    test: impl FnMut(&str) -> Result<Option<Tested>, JsonError>,
) -> anyhow::Result<Status> {
    let mut suite = Suite { kind, format, test, passed: 0, failed: 0 };
    let mut status = Status::Done;
    for path in files {
        if let Err(error) = suite.file(path, progress, output) {
            if io::is_output_error(&error) {
                return Err(error);
            }
            status = output.raise(Status::Unreadable);
            output.flush()?;
            diagnostic::error(format_args!("{}: {error:#}", io::name(path)));
            // `0 failed` always means that all is well.
            suite.failed += 1;
        }
    }
    let Suite { passed, failed, .. } = suite;
    match format {
        Format::Text => output.line(format_args!("{passed} passed, {failed} failed"))?,
        Format::Json => output.json(&CountJson { passed, failed })?,
    }
    Ok(status.max(if failed > 0 { Status::Failed } else { Status::Done }))
}

struct Suite<Test> {
    kind: Kind,
    format: Format,
    test: Test,
    passed: u64,
    failed: u64,
}

impl<Test: FnMut(&str) -> Result<Option<Tested>, JsonError>> Suite<Test> {
    fn file(&mut self, path: &Path, progress: Progress, output: &mut Output) -> anyhow::Result<()> {
        let file = io::name(path);
        let mut lines = Lines::new(io::open_text(path, progress)?);
        let mut is_empty = true;
        while let Some(line) = lines.next_line() {
            let line = match line {
                Ok(line) => line,
                // A line that is not UTF-8 fails alone; after the other errors nothing can be read.
                Err(error @ LineError::NotUtf8 { line, .. }) => {
                    is_empty = false;
                    self.fail(&file, line, None, &[error.to_string()], output)?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if line.text.trim().is_empty() {
                continue;
            }
            is_empty = false;
            let (name, differences) = match (self.test)(line.text) {
                Ok(None) => continue,
                Ok(Some(Tested { name, differences })) => (Some(name), differences),
                Err(error) => {
                    let column = error
                        .position
                        .map_or(String::new(), |(_, column)| format!("column {column}: "));
                    (None, vec![format!("{column}{error}")])
                }
            };
            if differences.is_empty() {
                self.passed += 1;
            } else {
                self.fail(&file, line.number, name.as_deref(), &differences, output)?;
            }
        }
        if is_empty {
            anyhow::bail!("no {}; expected one JSON object a line", self.kind.many);
        }
        Ok(())
    }

    fn fail(
        &mut self,
        file: &str,
        line: u64,
        name: Option<&str>,
        differences: &[String],
        output: &mut Output,
    ) -> std::io::Result<()> {
        self.failed += 1;
        output.raise(Status::Failed);
        let Kind { one, shown, .. } = self.kind;
        if self.format == Format::Json {
            return output.json(&Failure { kind: &self.kind, file, line, name, differences });
        }
        // A name may be left out or empty.
        let name = match name {
            Some("") => format!("a {one} without a name"),
            Some(name) => visible(name).into_owned(),
            None => format!("not a {one}"),
        };
        output.line(format_args!("FAIL {}:{line}: {name}", visible(file)))?;
        for difference in differences.iter().take(shown) {
            output.line(format_args!("  {}", visible(difference)))?;
        }
        if differences.len() > shown {
            output.line(format_args!("  and {} more", differences.len() - shown))?;
        }
        Ok(())
    }
}
