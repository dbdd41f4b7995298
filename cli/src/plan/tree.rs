//! [`Tree`]: the tasks that replay a trace in shards and merge their summaries.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::bail;
use sha2::{Digest, Sha256};
use warpload_replay::{ReplayRequest, Selection};
use warpload_trace::{Shard, TraceSet};

use super::{Task, argument};
use crate::options::Progress;
use crate::replaying::{self, Read};
use crate::trace::Input;

/// The replay of a trace in shards.
pub(super) struct Tree<'p> {
    /// The trace, as an argument.
    trace: PathBuf,
    /// The set and the folder of its parts, if the trace is a set.
    set: Option<(TraceSet, PathBuf)>,
    shards: u64,
    /// The options of each replay, and the files that they name.
    options: Vec<OsString>,
    files: Vec<PathBuf>,
    /// Identifies the trace and the options, for the names of outputs.
    identity: String,
    folder: &'p Path,
}

/// The summary of the shards `first` to `last`, and the level after its task. It does not store the output's name, so a
/// plan of a million shards takes little memory.
struct Node {
    first: u64,
    last: u64,
    level: u32,
}

impl<'p> Tree<'p> {
    pub(super) fn new(
        input: Input,
        path: &Path,
        shards: u64,
        request: &ReplayRequest,
        folder: &'p Path,
    ) -> anyhow::Result<Self> {
        if replaying::has_stdin(request) {
            bail!("the tasks read files by their names; expected a file, not `-`");
        }
        let read = Read::new(request)?;
        let (hash, records, set) = if input.is_set() {
            let (set, folder) = input.read_set()?;
            (set.content_hash(), set.records(), Some((set, folder)))
        } else {
            let trace = input.open(Progress::Never, 1)?;
            (trace.content_hash(), trace.records(), None)
        };
        // The kernels with such a name are known only after reading them.
        let selected = request.selected();
        let selection = selected.map(|selected| Selection { selected, ..Selection::default() });
        let options = request.options(read.image(), read.functions.as_ref(), selection.as_ref());
        let replay = options.identity(hash);
        Ok(Self {
            trace: argument(path),
            set,
            shards,
            options: request.arguments(),
            files: read.files,
            identity: format!("{replay}, {records} instructions"),
            folder,
        })
    }

    /// Passes on the replay of each shard, then the merges of at most `fan_in` summaries; only one level if it is
    /// given.
    pub(super) fn each_task(
        &self,
        fan_in: usize,
        level: Option<u32>,
        mut each: impl FnMut(Task) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        steps(self.shards, fan_in, |step| {
            if level.is_some_and(|level| level != step.level()) {
                return Ok(());
            }
            each(match step {
                Step::Replay(index) => self.replay(index, self.output_of(index, index)),
                Step::Merge { given, is_last } => self.merge(given, is_last),
            })
        })
    }

    pub(super) fn levels(&self, fan_in: usize) -> anyhow::Result<u32> {
        let mut levels = 0;
        steps(self.shards, fan_in, |step| {
            levels = levels.max(step.level() + 1);
            Ok(())
        })?;
        Ok(levels)
    }

    fn replay(&self, index: u64, output: PathBuf) -> Task {
        let mut arguments = vec![self.trace.clone().into()];
        arguments.extend_from_slice(&self.options);
        let shard = Shard::new(index, self.shards);
        let shard_of = format!("{index}/{}", self.shards);
        arguments.extend(["--shard", &shard_of, "--format", "json"].map(OsString::from));
        let mut inputs = vec![self.trace.clone()];
        if let Some((set, folder)) = &self.set {
            let needed = set.parts_of(shard);
            for part in set.parts().get(needed).unwrap_or_default() {
                inputs.push(folder.join(&part.file));
            }
        }
        inputs.extend_from_slice(&self.files);
        Task::new("replay", arguments, inputs, output, 0)
    }

    /// The task that merges neighbouring summaries into a larger one, or into the whole.
    fn merge(&self, given: &[Node], is_last: bool) -> Task {
        let inputs = given.iter().map(|node| self.output_of(node.first, node.last));
        let inputs: Vec<PathBuf> = inputs.collect();
        let output = match given {
            [Node { first, .. }, .., Node { last, .. }] if !is_last => {
                self.output_of(*first, *last)
            }
            _ => self.output("whole"),
        };
        let option = (!is_last).then(|| "--partial".into());
        let files = inputs.iter().map(|file| file.clone().into());
        let arguments: Vec<_> = option.into_iter().chain(files).collect();
        Task::new("merge", arguments, inputs, output, level(given))
    }

    /// The name of a summary of shards.
    fn output_of(&self, first: u64, last: u64) -> PathBuf {
        self.output(&format!("shards {first}-{last} of {}", self.shards))
    }

    /// The name of an output. It depends only on the contents, so that every plan for the same work has the same names.
    fn output(&self, what: &str) -> PathBuf {
        let hash = Sha256::digest(format!("{}, {what}", self.identity));
        let digits: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        argument(&self.folder.join(format!("{digits}.json")))
    }
}

/// A task before its names are made.
enum Step<'n> {
    /// The replay of a shard.
    Replay(u64),
    /// The merge of summaries; the last one makes the whole.
    Merge { given: &'n [Node], is_last: bool },
}

impl Step<'_> {
    fn level(&self) -> u32 {
        match self {
            Self::Replay(_) => 0,
            Self::Merge { given, .. } => level(given),
        }
    }
}

/// The level of the task that merges these summaries.
fn level(given: &[Node]) -> u32 {
    given.iter().map(|node| node.level).max().unwrap_or(0)
}

/// Passes on the steps of a replay in shards, in an order that works.
fn steps(
    shards: u64,
    fan_in: usize,
    mut each: impl FnMut(Step<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for index in 0..shards {
        each(Step::Replay(index))?;
    }
    let mut nodes: Vec<_> =
        (0..shards).map(|index| Node { first: index, last: index, level: 1 }).collect();
    while nodes.len() > fan_in {
        let mut merged = Vec::with_capacity(nodes.len().div_ceil(fan_in));
        for given in nodes.chunks(fan_in) {
            merged.push(match given {
                [Node { first, .. }, .., Node { last, .. }] => {
                    each(Step::Merge { given, is_last: false })?;
                    Node { first: *first, last: *last, level: level(given) + 1 }
                }
                // A single summary needs no merge.
                [Node { first, last, level }] => Node { first: *first, last: *last, level: *level },
                [] => continue,
            });
        }
        nodes = merged;
    }
    each(Step::Merge { given: &nodes, is_last: true })
}
