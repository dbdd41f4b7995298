//! The tasks that import a list of traces.

use std::path::Path;

use anyhow::{anyhow, bail};
use warpload_trace::ImportError;

use super::task::{Task, argument};
use crate::io;
use crate::options::Progress;
use crate::part_names;
use crate::trace::Input;

/// What a plan is made of.
const EXPECTED: &str = "a trace set, a binary trace or a list of traces";

/// Returns the import of each trace of a list, and the set of all of them, under the names that
/// `import --split` writes.
pub(super) fn tasks(
    input: Input<'_>,
    path: &Path,
    folder: &Path,
    threads: Option<usize>,
) -> anyhow::Result<Vec<Task>> {
    if input.is_manifest() {
        bail!("{}: a memory image; expected {EXPECTED}", io::name(path));
    }
    let list = input.list(Progress::Never).map_err(|error| match error.downcast_ref() {
        Some(ImportError::NotAList { file }) => anyhow!(
            "{}: a text trace; expected {EXPECTED}. `warpload import` makes a binary trace of it",
            file.display()
        ),
        _ => error,
    })?;
    if list.len() == 0 {
        bail!("{}: names no trace; expected at least one", io::name(path));
    }
    let name = argument(path)?;
    let mut tasks = Vec::new();
    for (i, (file, part)) in list.files().zip(part_names::parts(folder, list.len())).enumerate() {
        let mut arguments = vec![name.clone(), "--only".to_owned(), i.to_string()];
        arguments.extend(threads.map(|threads| format!("--threads={threads}")));
        let inputs = vec![name.clone(), io::utf8(&file)?.to_owned()];
        tasks.push(Task::new("import", arguments, inputs, argument(&part)?, 0));
    }
    let parts = tasks.iter().map(|task| task.output.clone());
    let inputs = [name.clone()].into_iter().chain(parts).collect();
    let set = argument(&folder.join(part_names::SET))?;
    // Not the names of all parts, which need not fit into a command.
    tasks.push(Task::new("set", ["--list".to_owned(), name], inputs, set, 1));
    Ok(tasks)
}
