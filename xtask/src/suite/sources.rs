//! [`Sources`]: the inputs of the suite's generator.

use std::io::{Seek, Write};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::step;

/// The inputs of cases: files of the repository, and the command's answers to questions.
pub(crate) struct Sources {
    program: PathBuf,
}

impl Sources {
    /// Builds the command, unless the environment names it.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { program: step::warpload()? })
    }

    /// Reads a file of the repository, decompressed if it is an `.xz` file.
    pub(crate) fn text(&self, path: &str) -> Result<String> {
        let bytes = self.bytes(path)?;
        let text = match path.ends_with(".xz") {
            true => liblzma::decode_all(&*bytes).with_context(|| path.to_owned())?,
            false => bytes,
        };
        String::from_utf8(text).with_context(|| path.to_owned())
    }

    pub(crate) fn bytes(&self, path: &str) -> Result<Vec<u8>> {
        std::fs::read(step::root().join(path)).with_context(|| format!("cannot read {path}"))
    }

    /// The answers of `warpload conform --serve` to questions of a family. A question is the keys of an object in JSON, without
    /// braces.
    ///
    /// # Errors
    /// Returns an error if a question is skipped or refused.
    pub(crate) fn answers(&self, family: &str, questions: &[String]) -> Result<Vec<String>> {
        let mut asked = tempfile::tempfile()?;
        for question in questions {
            writeln!(asked, r#"{{"family":"{family}",{question}}}"#)?;
        }
        asked.rewind()?;
        let mut answer = Command::new(&self.program);
        answer.args(["conform", "--serve", "--executor", "reference"]);
        let output = answer.current_dir(step::root()).stdin(asked).output()?;
        ensure!(output.status.success(), "`warpload conform --serve`: {}", output.status);
        let answers = String::from_utf8(output.stdout).context("an answer that is not UTF-8")?;
        let answers: Vec<String> = answers.lines().map(str::to_owned).collect();
        ensure!(answers.len() == questions.len(), "not one answer to each question");
        for (question, answer) in questions.iter().zip(&answers) {
            let is_answer =
                !answer.starts_with(r#"{"skip":"#) && !answer.starts_with(r#"{"error":"#);
            ensure!(is_answer, "{family}: {question}: {answer}");
        }
        Ok(answers)
    }
}
