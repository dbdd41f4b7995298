//! [`Answers`]: what `warpload answer` answers.

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::step;

/// The command, which answers questions.
pub(crate) struct Answers {
    program: PathBuf,
    root: PathBuf,
}

impl Answers {
    /// Builds the command, unless the environment names one.
    pub(crate) fn new(root: &Path) -> Result<Self> {
        Ok(Self { program: step::warpload(root)?, root: root.to_owned() })
    }

    /// Returns the answers to questions, which are objects of one line each, as JSON.
    ///
    /// # Errors
    /// Returns an error if a question is not answered.
    pub(crate) fn of(&self, questions: &[String]) -> Result<Vec<String>> {
        let mut asked = tempfile::tempfile()?;
        for question in questions {
            writeln!(asked, "{question}")?;
        }
        asked.rewind()?;
        let mut answer = Command::new(&self.program);
        answer.args(["answer", "--executor", "reference"]);
        let output = answer.current_dir(&self.root).stdin(asked).output()?;
        ensure!(output.status.success(), "`warpload answer`: {}", output.status);
        let answers = String::from_utf8(output.stdout).context("an answer that is not UTF-8")?;
        let answers: Vec<String> = answers.lines().map(str::to_owned).collect();
        ensure!(answers.len() == questions.len(), "not one answer to each question");
        for (question, answer) in questions.iter().zip(&answers) {
            let is_answer =
                !answer.starts_with(r#"{"skip":"#) && !answer.starts_with(r#"{"error":"#);
            ensure!(is_answer, "{question}: {answer}");
        }
        Ok(answers)
    }
}
