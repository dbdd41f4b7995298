//! `set`: makes trace sets of binary traces. Also the file names of `import --split`, on which `plan` and `set --list`
//! rely.

use std::io::Write;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};

use crate::destination::{self, OutputTarget};
use crate::io::{self, Output};
use crate::name::plural;
use crate::process::Status;
use crate::trace::Input;
use warpload_trace::output::real_folder;
use warpload_trace::{SetBuilder, TraceSet};

/// Put binary traces together as a trace set
///
/// A set is a small file that names its parts. It stands for one trace of all of them, in the given order: `replay`,
/// `info` and `export` take it like any trace. With `--shard`, `replay` opens only the parts that the shard needs; the
/// others need not exist.
///
/// Parts are named relative to the set's file. They must not change afterwards. Only the beginning and the end of each
/// part are read here, so damage in between is found later, for example by `replay`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  warpload set first.wlt second.wlt -o app.set.json
  warpload set --list kernelslist.g -o parts/trace.set.json
  warpload replay app.set.json --fill address")]
pub(crate) struct Arguments {
    /// The binary traces, in the order of their instructions
    #[arg(required_unless_present = "list", conflicts_with = "list")]
    trace: Vec<PathBuf>,

    /// Use the parts that `import --split` makes of this list, under their names and beside the set, because the names
    /// of a long list do not fit into a command
    #[arg(long)]
    list: Option<PathBuf>,

    /// File of the set to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Skip the work if the output is the set of these traces already
    #[arg(long)]
    resume: bool,
}

pub(crate) fn execute(arguments: Arguments, output: &mut Output) -> anyhow::Result<Status> {
    let Arguments { trace: mut traces, list, output: to, resume } = arguments;
    if io::is_stdin(&to) {
        bail!("parts are named relative to the file of the set; expected a file, not `-`");
    }
    if let Some(list) = list {
        let list = Input::new(&list)?.list()?;
        traces = part_files(to.parent().unwrap_or(Path::new("")), list.len());
    }
    let target = destination::target(&to)?;
    let set = put_together(&traces, &target)?;
    write(target, &to, &set, resume, output)
}

/// Writes the file of a set. With `resume`, first checks whether it is complete already, and notes that.
pub(crate) fn write(
    target: OutputTarget,
    to: &Path,
    set: &TraceSet,
    resume: bool,
    output: &mut Output,
) -> anyhow::Result<Status> {
    let json = set.to_json();
    if resume && destination::existing(to).is_some_and(|bytes| bytes == json.as_bytes()) {
        destination::say_done(to, output)?;
        return Ok(Status::Done);
    }
    let mut file = target.create()?;
    file.write_all(json.as_bytes()).map_err(|error| file.target().write_error(error))?;
    destination::persist(file, &format!(", {}", plural(set.parts().len() as u64, "part")), output)?;
    Ok(Status::Done)
}

/// Makes the set of these binary traces, to be written to `to`. Errors name the trace.
pub(crate) fn put_together(traces: &[PathBuf], to: &OutputTarget) -> anyhow::Result<TraceSet> {
    // Names are relative to the real place of the file, even if a link led to it.
    let folder = real_folder(to.path())
        .with_context(|| format!("{}: cannot be written", to.asked().display()))?;
    let mut set = SetBuilder::new();
    for path in traces {
        let name = || io::name(path);
        if io::is_stdin(path) {
            bail!("a part of a set has a name; expected a file, not `-`");
        }
        let input = Input::new(path)?;
        if input.is_set() {
            bail!("{}: is a trace set; expected a binary trace", name());
        }
        if !input.is_binary() {
            bail!("{}: not a binary trace; `warpload import` makes one", name());
        }
        let trace = input.open_file()?;
        let file = relative(&folder, path).with_context(name)?;
        set.add(file, &trace).with_context(name)?;
    }
    set.finish().with_context(|| to.asked().display().to_string())
}

/// The name of a file relative to a folder without symbolic links, with `/` between names.
fn relative(folder: &Path, file: &Path) -> anyhow::Result<String> {
    let real = real_folder(file).context("cannot be read")?;
    let pairs = folder.components().zip(real.components());
    let common = pairs.take_while(|(one, other)| one == other).count();
    let last = file.file_name().unwrap_or_default();
    if common == 0 {
        // The file is on another drive.
        return Ok(text(real.join(last).as_os_str())?.to_owned());
    }
    let mut names = vec![".."; folder.components().count() - common];
    for name in real.components().skip(common).map(Component::as_os_str).chain([last]) {
        names.push(text(name)?);
    }
    Ok(names.join("/"))
}

fn text(name: &std::ffi::OsStr) -> anyhow::Result<&str> {
    name.to_str().context("the name is not UTF-8, as the name of a part must be")
}

/// The file name of the set.
pub(crate) const SET_FILE: &str = "trace.set.json";

/// The names of `count` parts in a folder.
pub(crate) fn part_files(folder: &Path, count: usize) -> Vec<PathBuf> {
    let last = count.saturating_sub(1);
    let digits = last.checked_ilog10().map_or(1, |log| log as usize + 1).max(4);
    (0..count).map(|i| folder.join(format!("part-{i:0digits$}.wlt"))).collect()
}
