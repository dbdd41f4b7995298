//! [`Answers`]: what `warpload answer` answers.

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::step::{self, cargo};

/// The command, which answers questions.
pub(crate) struct Answers {
    root: PathBuf,
}

impl Answers {
    /// Builds the command.
    pub(crate) fn new(root: &Path) -> Result<Self> {
        step::command(root, cargo("build --quiet --locked -p warpload-cli"))?;
        Ok(Self { root: root.to_owned() })
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
        let mut answer =
            cargo("run --quiet --locked -p warpload-cli -- answer --executor reference");
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
