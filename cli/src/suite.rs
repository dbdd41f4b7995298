//! Files of tests, one JSON object a line: reading them, counting, and reporting what failed.

use std::path::{Path, PathBuf};

use serde::ser::{SerializeMap, Serializer};
use warpload::json::JsonError;

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

/// Returns what is wrong with a line, and in which column.
pub(super) fn with_column(error: &JsonError) -> String {
    match error.position {
        Some((_, column)) => format!("column {column}: {error}"),
        None => error.to_string(),
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
            status = output.fail_input(error)?;
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
        let mut is_empty = true;
        io::each_line(path, progress, |line, text| {
            is_empty = false;
            let tested = text
                .map_err(|error| error.to_string())
                .and_then(|text| (self.test)(text).map_err(|error| with_column(&error)));
            let (name, differences) = match tested {
                Ok(None) => return Ok(()),
                Ok(Some(Tested { name, differences })) => (Some(name), differences),
                Err(error) => (None, vec![error]),
            };
            if differences.is_empty() {
                self.passed += 1;
            } else {
                self.fail(&file, line, name.as_deref(), &differences, output)?;
            }
            Ok(())
        })?;
        if is_empty {
            anyhow::bail!("{file}: no {}; expected one JSON object a line", self.kind.many);
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
        let title = match name {
            Some("") => &format!("a {one} without a name"),
            Some(name) => name,
            None => &format!("not a {one}"),
        };
        output.text(&drawn((file, line), title, None, differences, shown))
    }
}

/// Returns a failure as text: where and what the test is, what else is known of it, and the first
/// differences.
pub(super) fn drawn(
    (file, line): (&str, u64),
    title: &str,
    detail: Option<&str>,
    differences: &[String],
    shown: usize,
) -> String {
    let mut text = format!("FAIL {}:{line}: {}\n", visible(file), visible(title));
    for detail in detail.into_iter().chain(differences.iter().take(shown).map(String::as_str)) {
        text += &format!("  {}\n", visible(detail));
    }
    if differences.len() > shown {
        text += &format!("  and {} more\n", differences.len() - shown);
    }
    text
}
