//! [`Case`]: one line of a suite; and where the files of a suite are.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use warpload::json::JsonError;

use crate::families::{Expected, Family, Object, family_of, quoted};
use crate::{io, suite};

/// A case that was read.
pub(super) struct Case<'t> {
    text: &'t str,
    object: Object<'t>,
    pub(super) family: &'static Family,
    expected: &'t str,
    pub(super) about: About,
}

/// What a report says of a case.
#[derive(Default)]
pub(super) struct About {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) flags: Vec<String>,
    /// Whether no public source decides what is expected.
    pub(super) is_decision: bool,
}

impl<'t> Case<'t> {
    /// Reads a case. The error says what is wrong, and where.
    pub(super) fn new(text: &'t str) -> Result<Self, String> {
        Self::read(text).map_err(|error| suite::with_column(&error))
    }

    fn read(text: &'t str) -> Result<Self, JsonError> {
        let object = Object::from_json(text)?;
        let family = family_of(&object)?;
        let expected = object.get(family.expectation).ok_or_else(|| {
            JsonError::at(family.expectation, "missing key; expected what the answer should be")
        })?;
        let about = About {
            id: object.read("id")?,
            name: object.read("name")?,
            flags: object.read("flags")?.unwrap_or_default(),
            is_decision: object.read("decision")?.unwrap_or_default(),
        };
        Ok(Self { text, object, family, expected, about })
    }

    pub(super) fn expected(&self) -> Expected<'t> {
        Expected { case: self.text, answer: self.expected }
    }

    /// Returns the file that the case names, relative to `folder`.
    pub(super) fn file(&self, folder: &Path) -> Option<PathBuf> {
        let name = self.object.get(self.family.file?)?;
        Some(folder.join(&*serde_json::from_str::<Cow<'_, str>>(name).ok()?))
    }

    /// Returns the question, a line with its end: the case without what it expects. A file that it names is
    /// relative to `folder`.
    pub(super) fn question(&self, folder: &Path) -> String {
        let Family { expectation, file, .. } = self.family;
        let mut question = self.object.with(|key, value| {
            if Some(key) == *file
                && let Some(file) = self.file(folder)
            {
                return Some(quoted(&file.to_string_lossy()).into());
            }
            (key != *expectation).then_some(value.into())
        });
        question.push('\n');
        question
    }
}

/// Returns the folder of a file, absolute.
pub(super) fn folder_of(file: &Path) -> PathBuf {
    let folder = if io::is_stdin(file) { None } else { file.parent() };
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    // Without the `.` that may be at the end.
    absolute.components().collect()
}

/// Folders of a suite that hold no cases: schemas, and what cases name.
const NO_CASES: [&str; 2] = ["schema", "files"];

/// How many folders lie in each other at most.
const MAX_DEPTH: usize = 16;

/// Returns the files of cases that a path names: itself, or those in the folder, sorted.
pub(super) fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if io::is_stdin(path) || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    collect(path, 0, &mut files).with_context(|| io::name(path))?;
    if files.is_empty() {
        let error = anyhow!("no cases; expected files whose names end in .jsonl");
        return Err(error.context(io::name(path)));
    }
    files.sort();
    Ok(files)
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if depth > MAX_DEPTH {
        bail!("more than {MAX_DEPTH} folders in each other");
    }
    for entry in fs::read_dir(folder).context("cannot be read")? {
        let entry = entry.context("cannot be read")?;
        let (path, name) = (entry.path(), entry.file_name());
        // Links to folders are not followed: they may lead back.
        if entry.file_type().context("cannot be read")?.is_dir() {
            if !NO_CASES.iter().any(|other| name == *other) {
                collect(&path, depth + 1, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
