//! The cases of a suite: their files, a [`CaseLine`] of a file, and the choice of cases.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::explain::CaseSubject;
use crate::json::JsonError;

use crate::families::{CaseExpectation, CaseFamily, JsonObject, family_of, quoted};
use crate::text::with_column;

/// A file of cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFile {
    /// Its name in reports.
    pub name: String,
    /// The absolute path of its folder. Files that its cases name are relative to it.
    folder: PathBuf,
}

impl CaseFile {
    /// Creates a file with this name in reports. Without a path, as for standard input, cases name files relative to
    /// the working folder.
    #[must_use]
    pub fn new(name: &str, path: Option<&Path>) -> Self {
        let folder = path.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        // Collected from components, which drops a `.` at the end.
        Self { name: name.to_owned(), folder: absolute.components().collect() }
    }
}

/// A line of a file of cases.
#[derive(Clone, Debug)]
pub struct CaseLine {
    /// The file.
    pub file: Arc<CaseFile>,
    /// Its number in the file, from 1.
    pub number: u64,
    /// The text, or the reason why there is none.
    pub text: Result<String, String>,
}

/// A case that was read.
pub(crate) struct SuiteCase<'t> {
    text: &'t str,
    object: JsonObject<'t>,
    pub(crate) family: &'static CaseFamily,
    expected: &'t str,
    pub(crate) about: CaseAbout,
}

/// The keys of a case that a report shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseAbout {
    /// Its name in its suite.
    pub id: Option<String>,
    /// Its title.
    pub name: Option<String>,
    /// Its flags.
    pub flags: Vec<String>,
    /// The instruction and the SM that it is about, if any.
    pub subject: Option<CaseSubject>,
    /// Whether the expectation is a decision of this project, because no public source settles it.
    pub is_decision: bool,
}

/// The cases that are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseChoice {
    /// Only cases of one of these families; all if it is empty.
    pub families: Vec<String>,
    /// Only cases with one of these flags; all if it is empty.
    pub flags: Vec<String>,
    /// The reason to skip decisions, for reports; `None` asks them too.
    pub skip_decisions: Option<String>,
}

impl CaseChoice {
    pub(crate) fn has(&self, case: &SuiteCase<'_>) -> bool {
        let is_family = |name: &String| *name == case.family.name;
        let is_flag = |name: &String| case.about.flags.contains(name);
        (self.families.is_empty() || self.families.iter().any(is_family))
            && (self.flags.is_empty() || self.flags.iter().any(is_flag))
    }
}

impl<'t> SuiteCase<'t> {
    /// Reads a case. The error is a message with the column.
    pub(crate) fn new(text: &'t str) -> Result<Self, String> {
        Self::read(text).map_err(|error| with_column(&error))
    }

    fn read(text: &'t str) -> Result<Self, JsonError> {
        let object = JsonObject::from_json(text)?;
        let family = family_of(&object)?;
        let expected = object.get(family.expectation).ok_or_else(|| {
            JsonError::at(family.expectation, "missing key; expected the right answer")
        })?;
        let about = CaseAbout {
            id: object.read("id")?,
            name: object.read("name")?,
            flags: object.read("flags")?.unwrap_or_default(),
            subject: family.subject.and_then(|subject| subject(&object)),
            is_decision: object.read("decision")?.unwrap_or_default()
                || object.get("conf") == Some("\"inferred\""),
        };
        Ok(Self { text, object, family, expected, about })
    }

    pub(crate) fn expected(&self) -> CaseExpectation<'t> {
        CaseExpectation { case: self.text, answer: self.expected }
    }

    /// The path of the file that the case names, in the folder of the case's own file.
    pub(crate) fn named_file(&self, file: &CaseFile) -> Option<PathBuf> {
        let name = self.object.get(self.family.file?)?;
        Some(file.folder.join(&*serde_json::from_str::<Cow<'_, str>>(name).ok()?))
    }

    /// The question: the case without its expectation. `file` replaces the name of the file. `None` if `file` is not
    /// UTF-8, because JSON cannot hold it.
    pub(crate) fn question(&self, file: Option<&Path>) -> Option<String> {
        let named = file.map(|file| file.to_str().map(quoted));
        if named == Some(None) {
            return None;
        }
        let named = named.flatten();
        Some(self.object.with(|key, value| match &named {
            Some(file) if Some(key) == self.family.file => Some(file.into()),
            _ => (key != self.family.expectation).then_some(value.into()),
        }))
    }
}

/// Folders of a suite without cases: the schemas, and the files that cases name.
const NO_CASES: [&str; 2] = ["schema", "files"];

/// The deepest nesting of folders.
const MAX_DEPTH: usize = 16;

/// The reason why a folder has no files of cases.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaseFolderError {
    /// It or a folder in it cannot be read.
    #[error("cannot be read")]
    Read(#[from] io::Error),
    /// Its folders are nested too deep.
    #[error("more than {MAX_DEPTH} nested folders")]
    Deep,
    /// It holds no files of cases.
    #[error("no cases; expected files whose names end in .jsonl")]
    Empty,
}

/// Returns the files of cases in a folder and the folders in it, sorted.
///
/// # Errors
/// Returns [`CaseFolderError`] if there is none, or a folder cannot be read.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>, CaseFolderError> {
    let mut files = Vec::new();
    collect(folder, 0, &mut files)?;
    if files.is_empty() {
        return Err(CaseFolderError::Empty);
    }
    files.sort();
    Ok(files)
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), CaseFolderError> {
    if depth > MAX_DEPTH {
        return Err(CaseFolderError::Deep);
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        // Links to folders are not followed, because they can form a cycle.
        if entry.file_type()?.is_dir() {
            if !NO_CASES.iter().any(|other| name == *other) {
                collect(&path, depth + 1, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}
