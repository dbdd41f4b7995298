//! The tasks that import a list of traces.

use std::path::Path;

use anyhow::bail;

use super::task::{Task, argument};
use crate::io;
use crate::options::Progress;
use crate::split;
use crate::trace::Input;

/// Returns the import of each trace of a list, and the set of all of them, under the names that
/// `import --split` writes.
pub(super) fn tasks(input: Input<'_>, path: &Path, folder: &Path) -> anyhow::Result<Vec<Task>> {
    let list = input.list(Progress::Never)?;
    if list.len() == 0 {
        bail!("{}: names no trace; expected at least one", io::name(path));
    }
    let name = argument(path)?;
    let mut tasks = Vec::new();
    for (i, (file, part)) in list.files().zip(split::parts(folder, list.len())).enumerate() {
        let arguments = [name.clone(), "--only".to_owned(), i.to_string()];
        let inputs = vec![name.clone(), io::utf8(&file)?.to_owned()];
        tasks.push(Task::new("import", arguments, inputs, argument(&part)?, 0));
    }
    let parts = tasks.iter().map(|task| task.output.clone());
    let inputs = [name.clone()].into_iter().chain(parts).collect();
    let set = argument(&folder.join(split::SET))?;
    // Not the names of all parts, which need not fit into a command.
    tasks.push(Task::new("set", ["--list".to_owned(), name], inputs, set, 1));
    Ok(tasks)
}
