//! [`Task`]: a step of a plan.

use std::path::Path;

use anyhow::bail;
use serde::Serialize;

use crate::io;
use crate::name::is_invisible;

/// One command, and what it reads and writes.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Task {
    pub(super) step: &'static str,
    pub(super) argv: Vec<String>,
    /// The files that must be there.
    pub(super) inputs: Vec<String>,
    pub(super) output: String,
    /// The length of the longest chain of tasks that it depends on.
    pub(super) level: u32,
}

impl Task {
    /// Creates a task; `arguments` are those of the subcommand, before where the output goes.
    pub(super) fn new(
        step: &'static str,
        arguments: impl IntoIterator<Item = String>,
        inputs: Vec<String>,
        output: String,
        level: u32,
    ) -> Self {
        let mut argv = vec!["warpload".to_owned(), step.to_owned()];
        argv.extend(arguments);
        argv.extend(["-o".to_owned(), output.clone(), "--resume".to_owned()]);
        Self { step, argv, inputs, output, level }
    }

    /// Returns the command as one line of a POSIX shell.
    pub(super) fn command(&self) -> anyhow::Result<String> {
        // Escaped it would be another argument.
        let is_unwritable = |c: char| c != '\t' && is_invisible(c);
        if let Some(argument) = self.argv.iter().find(|argument| argument.contains(is_unwritable)) {
            bail!(
                "{argument:?}: has a line break or another control character, and a command is a line \
                 of text; use `--format json`"
            );
        }
        Ok(self.argv.iter().map(|argument| quoted(argument)).collect::<Vec<_>>().join(" "))
    }
}

/// Returns a path as an argument that is not taken for an option.
pub(super) fn argument(path: &Path) -> anyhow::Result<String> {
    let text = io::utf8(path)?;
    Ok(if text.starts_with('-') { format!("./{text}") } else { text.to_owned() })
}

/// Quotes an argument for a POSIX shell, if it needs that.
fn quoted(argument: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"%+,-./:=@_".contains(&byte);
    if !argument.is_empty() && argument.bytes().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_what_was_quoted() {
        assert_eq!(quoted("--image=a/b.json"), "--image=a/b.json");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        for plain in
            ["a b", "*", "$HOME", "a;b", "`x`", "~", "\\", "\"", "é", "a\tb", "#", "!", "{}"]
        {
            assert_eq!(quoted(plain), format!("'{plain}'"));
        }
        let task =
            |argument: &str| Task::new("merge", [argument.to_owned()], vec![], "o".into(), 1);
        assert_eq!(task("a b").command().unwrap(), "warpload merge 'a b' -o o --resume");
        for character in ['\n', '\0', '\r', '\u{1b}', '\u{7f}', '\u{9b}', '\u{202e}'] {
            assert!(task(&format!("a{character}b")).command().is_err(), "{character:?}");
        }
    }
}
