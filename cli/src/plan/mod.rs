//! `plan`: the tasks to replay a trace on many machines, or to import a list of traces.

mod tree;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde::Serialize;

use self::tree::Tree;
use crate::io::{self, Output};
use crate::name::is_invisible;
use crate::options::{Format, number};
use crate::process::Status;
use crate::trace::Input;
use crate::{diagnostic, set};
use warpload_replay::ReplayRequest;
use warpload_trace::ImportError;

/// Print the tasks of a replay on many machines, or of an import
///
/// For a trace set or a binary trace, prints a `replay` for each shard, then the merges, as a tree; the last task
/// writes the same summary as a replay of the whole trace. For a kernelslist.g, prints the import of each trace, and
/// the set of all of them, which can then be planned in turn.
///
/// Tasks of one level depend only on tasks of lower levels. Outputs are named after their contents, and a task is
/// skipped if its output exists already, so a plan can be run again and tasks can be repeated. Planning runs none of
/// the tasks; it only creates the folder of the outputs.
#[derive(clap::Args)]
#[command(
    disable_help_flag = true,
    after_help = "\
Examples:
  warpload plan kernelslist.g -o parts
  warpload plan parts/trace.set.json --shards 64 --fill address -o out
  warpload plan app.wlt --shards 7 -o out --format json

All levels in turn, two tasks at a time; a level beyond the last one is exit status 1:
  level=0
  while tasks=$(warpload plan app.wlt --shards 7 -o out --level $level); do
      printf '%s\\n' \"$tasks\" | tr '\\n' '\\0' | xargs -0 -n 1 -P 2 sh -c
      level=$((level + 1))
  done"
)]
pub(crate) struct Arguments {
    /// The trace set, the binary trace, or the list of traces
    trace: PathBuf,

    /// Number of shards
    #[arg(long, value_name = "N", value_parser = number::<u64>(1..=MAX_SHARDS))]
    shards: Option<u64>,

    /// Maximum number of summaries that one task merges
    #[arg(
        long,
        value_name = "N",
        default_value_t = FAN_IN,
        value_parser = number::<u64>(2..=MAX_SHARDS)
    )]
    fan_in: u64,

    /// Folder of the outputs
    #[arg(short, long, value_name = "FOLDER", default_value = ".")]
    output: PathBuf,

    /// Output format; text is commands for a POSIX shell, JSON also has their inputs and outputs
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Print only the tasks of this level, from 0; exit status 1 if there are none
    #[arg(long, value_name = "N", value_parser = number::<u32>(0..=u32::MAX.into()))]
    level: Option<u32>,

    /// Print help; `warpload help plan` has more
    #[arg(short, long, action = clap::ArgAction::HelpShort)]
    help: Option<bool>,

    // Last, because its heading applies to all options after it.
    #[command(flatten)]
    request: ReplayRequest,
}

/// The default of `--fan-in`.
const FAN_IN: u64 = 16;

/// A plan takes some bytes of memory for each shard.
const MAX_SHARDS: u64 = 1 << 20;

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { trace: path, shards, fan_in, output: folder, format, level, request, .. } =
        arguments;
    if io::is_stdin(&path) {
        bail!("the tasks read the trace by its name; expected a file, not `-`");
    }
    // Outputs in the working folder are named without a folder.
    let place = if folder == Path::new(".") { Path::new("") } else { &folder };
    let input = Input::new(&path)?;
    let is_trace = input.is_binary() || input.is_set();
    let tasks = if is_trace {
        let Some(shards) = shards else {
            bail!("{}: a trace is replayed in shards; expected --shards N", io::name(&path));
        };
        Tasks::Replay(Box::new(Tree::new(input, &path, shards, &request, place)?), fan_in as usize)
    } else {
        let tasks = import_tasks(input, &path, place, request.threads)?;
        let name = |argument: OsString| {
            argument.to_string_lossy().split('=').next().unwrap_or_default().to_owned()
        };
        let mut of_set: Vec<String> = request.arguments().into_iter().map(name).collect();
        of_set.retain(|name| name != "--threads");
        of_set.dedup();
        of_set.extend(shards.map(|_| "--shards".to_owned()));
        of_set.extend((fan_in != FAN_IN).then(|| "--fan-in".to_owned()));
        if !of_set.is_empty() {
            let (names, are) = (of_set.join("`, `"), if of_set.len() == 1 { "is" } else { "are" });
            diagnostic::note(format!(
                "a list of traces is imported first; `{names}` {are} for the plan of the set"
            ));
        }
        Tasks::Import(tasks)
    };
    let levels = tasks.levels()?;
    if let Some(level) = level.filter(|level| *level >= levels) {
        // A note rather than an error, because scripts that loop over the levels end here.
        diagnostic::note(format!(
            "no level {level}: the plan has levels 0 to {}",
            levels.saturating_sub(1)
        ));
        return Ok(output.raise(Status::Failed));
    }
    fs::create_dir_all(&folder)
        .with_context(|| format!("{}: the folder cannot be created", folder.display()))?;
    tasks.each(level, |task| {
        match format {
            Format::Json => output.json(&task.json()?)?,
            Format::Text => output.line(task.command()?)?,
        }
        Ok(())
    })?;
    Ok(Status::Done)
}

/// The tasks of a plan.
enum Tasks<'p> {
    Import(Vec<Task>),
    /// A replay, and the most summaries that one task merges.
    Replay(Box<Tree<'p>>, usize),
}

impl Tasks<'_> {
    fn levels(&self) -> anyhow::Result<u32> {
        match self {
            Self::Import(tasks) => Ok(tasks.iter().map(|task| task.level + 1).max().unwrap_or(0)),
            Self::Replay(tree, fan_in) => tree.levels(*fan_in),
        }
    }

    /// Passes on the tasks, or only those of one level. The tasks of a replay are made one by one.
    fn each(
        self,
        level: Option<u32>,
        mut each: impl FnMut(Task) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        match self {
            Self::Import(tasks) => tasks
                .into_iter()
                .filter(|task| level.is_none_or(|level| task.level == level))
                .try_for_each(each),
            Self::Replay(tree, fan_in) => tree.each_task(fan_in, level, &mut each),
        }
    }
}

/// One command, with its inputs and its output.
#[derive(Clone, Debug)]
struct Task {
    step: &'static str,
    argv: Vec<OsString>,
    /// The files that must exist before the task runs.
    inputs: Vec<PathBuf>,
    output: PathBuf,
    /// The length of the longest chain of tasks that it depends on.
    level: u32,
}

#[derive(Serialize)]
struct TaskJson<'t> {
    step: &'static str,
    argv: Vec<&'t str>,
    inputs: Vec<&'t str>,
    output: &'t str,
    level: u32,
}

impl Task {
    /// Creates a task. `arguments` belong to the subcommand and come before the output.
    fn new(
        step: &'static str,
        arguments: impl IntoIterator<Item = OsString>,
        inputs: Vec<PathBuf>,
        output: PathBuf,
        level: u32,
    ) -> Self {
        let mut argv = vec!["warpload".into(), step.into()];
        argv.extend(arguments);
        argv.extend(["-o".into(), output.clone().into(), "--resume".into()]);
        Self { step, argv, inputs, output, level }
    }

    fn json(&self) -> anyhow::Result<TaskJson<'_>> {
        let Self { step, argv, inputs, output, level } = self;
        Ok(TaskJson {
            step,
            argv: argv.iter().map(|argument| text(argument)).collect::<anyhow::Result<_>>()?,
            inputs: inputs
                .iter()
                .map(|file| text(file.as_os_str()))
                .collect::<anyhow::Result<_>>()?,
            output: text(output.as_os_str())?,
            level: *level,
        })
    }

    /// The command as one line for a POSIX shell.
    fn command(&self) -> anyhow::Result<String> {
        let quoted = self.argv.iter().map(|argument| quoted(argument));
        Ok(quoted.collect::<anyhow::Result<Vec<_>>>()?.join(" "))
    }
}

fn text(name: &OsStr) -> anyhow::Result<&str> {
    name.to_str().with_context(|| {
        format!(
            "{}: the name is not UTF-8, so JSON cannot hold it; use `--format text`",
            name.display()
        )
    })
}

/// A path that cannot be mistaken for an option.
pub(super) fn argument(path: &Path) -> PathBuf {
    let is_option = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    if is_option { Path::new(".").join(path) } else { path.to_owned() }
}

/// Quotes an argument for a POSIX shell, if necessary. A line of text has neither control characters nor bytes that are
/// not UTF-8, so `printf` produces these; not all POSIX shells know `$'…'`.
fn quoted(argument: &OsStr) -> anyhow::Result<String> {
    let bytes = argument.as_encoded_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"%+,-./:=@_".contains(byte);
    let is_unwritable = |c: char| c != '\t' && is_invisible(c);
    match argument.to_str() {
        Some(text) if !text.is_empty() && bytes.iter().all(is_plain) => Ok(text.to_owned()),
        Some(text) if !text.contains(is_unwritable) => {
            Ok(format!("'{}'", text.replace('\'', r"'\''")))
        }
        // Command substitution removes line breaks at the end.
        _ if bytes.ends_with(b"\n") || bytes.contains(&0) => bail!(
            "{argument:?}: ends with a line break, which a shell command loses; use `--format json`"
        ),
        _ => {
            let mut format = String::new();
            for (i, byte) in bytes.iter().enumerate() {
                match byte {
                    b'%' => format += "%%",
                    b'-' if i == 0 => format += r"\055",
                    b' ' => format.push(' '),
                    byte if is_plain(byte) => format.push(char::from(*byte)),
                    byte => format += &format!(r"\{byte:03o}"),
                }
            }
            Ok(format!("\"$(printf '{format}')\""))
        }
    }
}

/// The inputs that can be planned, for messages.
const EXPECTED: &str = "a trace set, a binary trace or a list of traces";

/// The tasks that import each trace of a list, and the task that makes the set of all of them. Outputs have the same
/// names as with `import --split`.
fn import_tasks(
    input: Input,
    path: &Path,
    folder: &Path,
    threads: Option<NonZero<usize>>,
) -> anyhow::Result<Vec<Task>> {
    if input.is_manifest() {
        bail!("{}: a memory image; expected {EXPECTED}", io::name(path));
    }
    let list = input.list().map_err(|error| match error.downcast_ref() {
        Some(ImportError::NotAList { file }) => anyhow!(
            "{}: a text trace; expected {EXPECTED}. `warpload import` makes a binary trace of it",
            file.display()
        ),
        _ => error,
    })?;
    if list.is_empty() {
        bail!("{}: names no trace; expected at least one", io::name(path));
    }
    let name = argument(path);
    let mut tasks = Vec::new();
    for (i, (file, part)) in list.files().zip(set::part_files(folder, list.len())).enumerate() {
        let mut arguments: Vec<OsString> =
            vec![name.clone().into(), "--only".into(), i.to_string().into()];
        arguments.extend(threads.map(|threads| format!("--threads={threads}").into()));
        tasks.push(Task::new("import", arguments, vec![name.clone(), file], argument(&part), 0));
    }
    let parts = tasks.iter().map(|task| task.output.clone());
    let inputs = [name.clone()].into_iter().chain(parts).collect();
    let set = argument(&folder.join(set::SET_FILE));
    // The set task gets the list rather than the names of all parts, which might not fit into a command.
    tasks.push(Task::new("set", ["--list".into(), name.into()], inputs, set, 1));
    Ok(tasks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_what_was_quoted() {
        let quoted = |argument: &str| super::quoted(OsStr::new(argument)).unwrap();
        assert_eq!(quoted("--image=a/b.json"), "--image=a/b.json");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        for plain in
            ["a b", "*", "$HOME", "a;b", "`x`", "~", "\\", "\"", "é", "a\tb", "#", "!", "{}"]
        {
            assert_eq!(quoted(plain), format!("'{plain}'"));
        }
        let task = |argument: &str| Task::new("merge", [argument.into()], vec![], "o".into(), 1);
        assert_eq!(task("a b").command().unwrap(), "warpload merge 'a b' -o o --resume");
        assert_eq!(quoted("-a\n%\\'\u{9b}b"), r#""$(printf '\055a\012%%\134\047\302\233b')""#);
        assert!(task("a\n").command().is_err() && task("a\0b").command().is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_makes_the_bytes_that_are_not_text() {
        use std::os::unix::ffi::{OsStrExt, OsStringExt};
        let mut bytes: Vec<u8> = (1..=255).collect();
        bytes.splice(0..0, *b"-%s\\n$(x)`x`\"'");
        let line = quoted(OsStr::from_bytes(&bytes)).unwrap();
        assert!(line.is_ascii() && !line.contains(|c: char| c.is_control()));
        let ran =
            std::process::Command::new("sh").args(["-c", &format!("printf %s {line}")]).output();
        assert_eq!(ran.unwrap().stdout, bytes);
        let task = Task::new("merge", [OsString::from_vec(bytes)], vec![], "o".into(), 1);
        assert!(task.json().is_err() && task.command().is_ok());
    }
}
