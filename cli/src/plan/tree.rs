//! [`Tree`]: the tasks that replay a trace in shards and merge their summaries.

use std::path::Path;

use anyhow::bail;
use sha2::{Digest, Sha256};
use warpload::trace::{Selection, Shard, TraceSet};

use super::task::{Task, argument};
use crate::io;
use crate::options::Progress;
use crate::replaying::Replaying;
use crate::trace::Input;

/// The replay of a trace in shards.
pub(super) struct Tree<'p> {
    /// The trace, as an argument.
    trace: String,
    /// The set and the folder of its parts, if the trace is a set.
    set: Option<(TraceSet, &'p Path)>,
    shards: u64,
    /// The options of each replay, and the files that they name.
    options: Vec<String>,
    files: Vec<String>,
    /// What is replayed and how.
    identity: String,
    folder: &'p Path,
}

/// The summary of the shards from the first to the last, and the level after its task.
struct Node {
    first: u64,
    last: u64,
    output: String,
    level: u32,
}

impl<'p> Tree<'p> {
    pub(super) fn new(
        input: Input<'p>,
        path: &Path,
        shards: u64,
        options: &Replaying,
        folder: &'p Path,
    ) -> anyhow::Result<Self> {
        if options.has_stdin() {
            bail!("the tasks read files under their names; expected a file, not `-`");
        }
        let read = options.read()?;
        let (checksum, records, set) = if input.is_set() {
            let (set, folder) = input.read_set()?;
            (set.checksum(), set.records(), Some((set, folder)))
        } else {
            let trace = input.open(Progress::Never, 1)?;
            (trace.checksum(), trace.records(), None)
        };
        // Which kernels have such a name is known when they are read.
        let selected = options.choice.selected();
        let selection = selected.map(|selected| Selection { selected, ..Selection::default() });
        let replay = options.options(&read, None, selection.as_ref()).identity(checksum);
        let files = read.files.iter().map(|file| Ok(io::utf8(file)?.to_owned()));
        Ok(Self {
            trace: argument(path)?,
            set,
            shards,
            options: options.arguments()?,
            files: files.collect::<anyhow::Result<_>>()?,
            identity: format!("{replay}, {records} instructions"),
            folder,
        })
    }

    /// Returns the replay of each shard, then the merges of so many summaries at most.
    pub(super) fn tasks(&self, fan_in: usize) -> anyhow::Result<Vec<Task>> {
        let mut tasks = Vec::new();
        let mut nodes = Vec::new();
        for index in 0..self.shards {
            let output = self.output(&format!("shards {index}-{index} of {}", self.shards))?;
            tasks.push(self.replay(index, output.clone())?);
            nodes.push(Node { first: index, last: index, output, level: 1 });
        }
        while nodes.len() > fan_in {
            let mut merged = Vec::with_capacity(nodes.len().div_ceil(fan_in));
            let mut rest = nodes.into_iter().peekable();
            while rest.peek().is_some() {
                let mut given: Vec<Node> = rest.by_ref().take(fan_in).collect();
                let [Node { first, .. }, .., Node { last, .. }] = given[..] else {
                    // Alone it is its own sum.
                    merged.append(&mut given);
                    continue;
                };
                let output = self.output(&format!("shards {first}-{last} of {}", self.shards))?;
                let task = merge(&given, true, output.clone());
                merged.push(Node { first, last, output, level: task.level + 1 });
                tasks.push(task);
            }
            nodes = merged;
        }
        tasks.push(merge(&nodes, false, self.output("whole")?));
        Ok(tasks)
    }

    fn replay(&self, index: u64, output: String) -> anyhow::Result<Task> {
        let mut arguments = vec![self.trace.clone()];
        arguments.extend_from_slice(&self.options);
        arguments.extend(["--shard".to_owned(), format!("{index}/{}", self.shards)]);
        arguments.extend(["--format".to_owned(), "json".to_owned()]);
        let mut inputs = vec![self.trace.clone()];
        if let Some((set, folder)) = &self.set {
            let needed = set.parts_of(Shard::new(index, self.shards));
            for part in set.parts().get(needed).unwrap_or_default() {
                inputs.push(io::utf8(&folder.join(&part.file))?.to_owned());
            }
        }
        inputs.extend_from_slice(&self.files);
        Ok(Task::new("replay", arguments, inputs, output, 0))
    }

    /// Returns the name of an output: what it is of decides it, whoever plans it and whenever.
    fn output(&self, what: &str) -> anyhow::Result<String> {
        let hash = Sha256::digest(format!("{}, {what}", self.identity));
        let digits: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        argument(&self.folder.join(format!("{digits}.json")))
    }
}

/// Returns the task that merges summaries into that of their range, or of the whole.
fn merge(given: &[Node], is_partial: bool, output: String) -> Task {
    let inputs: Vec<String> = given.iter().map(|node| node.output.clone()).collect();
    let option = is_partial.then(|| "--partial".to_owned());
    let level = given.iter().map(|node| node.level).max().unwrap_or(0);
    Task::new("merge", option.into_iter().chain(inputs.clone()), inputs, output, level)
}
