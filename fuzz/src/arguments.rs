//! The arguments of the command.

use std::ffi::OsString;
use std::path::PathBuf;

use warpload_fuzz::seeds::repository;
use warpload_fuzz::targets::TARGETS;

pub(crate) const HELP: &str = "\
Feed files to the targets: properties of warpload that hold for any input

Usage: warpload-fuzz [OPTIONS] [TARGET [FILE|FOLDER]...]

Without a target: all. Without files: the target's own seeds. Exit status: 1 if a target does not
hold for an input, which is then in a file of the target's name.

Options:
  --mutations N      Also N mutants of each input [default: 0]
  --seed S           Other mutants [default: 1]
  --failures FOLDER  Where the input is written [default: fuzz/target/failures]
  --keep             Write each input before it runs, for crashes that are not panics; slow
  --write-seeds FOLDER
                     Write the inputs to FOLDER/TARGET/, as a corpus of libFuzzer, and run nothing
  --list             List the targets
  --help             Show this
";

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) help: bool,
    pub(crate) list: bool,
    pub(crate) mutations: u64,
    pub(crate) seed: u64,
    pub(crate) failures: PathBuf,
    pub(crate) keep: bool,
    pub(crate) write_seeds: Option<PathBuf>,
    /// The name of one of the targets.
    pub(crate) target: Option<String>,
    pub(crate) paths: Vec<PathBuf>,
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            help: false,
            list: false,
            mutations: 0,
            seed: 1,
            failures: repository().join("fuzz/target/failures"),
            keep: false,
            write_seeds: None,
            target: None,
            paths: Vec::new(),
        }
    }
}

impl Arguments {
    /// # Errors
    /// Returns a message if they cannot be understood.
    pub(crate) fn read(given: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut arguments = Self::default();
        let mut given = given.peekable();
        while let Some(argument) = given.next() {
            let text = argument.to_string_lossy().into_owned();
            let mut value = || given.next().ok_or(format!("{text} without a value"));
            match text.as_str() {
                "--help" => arguments.help = true,
                "--list" => arguments.list = true,
                "--mutations" => arguments.mutations = number(value()?)?,
                "--seed" => arguments.seed = number(value()?)?,
                "--failures" => arguments.failures = value()?.into(),
                "--keep" => arguments.keep = true,
                "--write-seeds" => arguments.write_seeds = Some(value()?.into()),
                _ if text.starts_with("--") => return Err(format!("unknown option {text}")),
                _ if arguments.target.is_some() => arguments.paths.push(argument.into()),
                _ if TARGETS.iter().any(|target| target.name == text) => {
                    arguments.target = Some(text);
                }
                _ => return Err(format!("no target {text}; `--list` shows them")),
            }
        }
        Ok(arguments)
    }
}

fn number(text: OsString) -> Result<u64, String> {
    let text = text.to_string_lossy();
    text.parse().map_err(|_| format!("{text} is not a whole number"))
}
