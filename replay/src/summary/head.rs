//! [`PartialHead`]: what a partial summary is of.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use serde::Deserialize;

use super::{PartialSummary, Summary};

/// What a partial summary is of: the replay, the shards and the kernels. Reading it from JSON takes less
/// than reading the [`Summary`], whose counts it leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PartialHead {
    kernels: Vec<Names>,
    partial: Shards,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Names {
    name: Arc<str>,
    #[serde(default)]
    demangled: Option<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Shards {
    first: u64,
    last: u64,
    of: u64,
    replay: String,
    kernels: Vec<usize>,
    of_kernels: usize,
}

impl PartialHead {
    /// Returns that of a summary; `None` if it is not a partial one.
    #[must_use]
    pub fn of(summary: &Summary) -> Option<Self> {
        let partial = summary.partial.as_ref()?;
        let names = summary.kernels.iter().map(|kernel| Names {
            name: Arc::clone(&kernel.name),
            demangled: kernel.demangled.clone(),
        });
        let (first, last) = partial.shards().into_inner();
        let PartialSummary { of, of_kernels, replay, kernels, .. } = partial.clone();
        let partial = Shards { first, last, of, replay, kernels, of_kernels };
        Some(Self { kernels: names.collect(), partial })
    }

    /// Returns what the merged summaries are of; `None` if they are not of neighbouring shards
    /// of one replay.
    #[must_use]
    pub fn join(mut heads: Vec<Self>) -> Option<Self> {
        heads.sort_by_key(|head| head.partial.first);
        let mut heads = heads.into_iter();
        let mut all = heads.next()?;
        let mut names = BTreeMap::new();
        all.put_names(&mut names)?;
        for mut head in heads {
            head.put_names(&mut names)?;
            let Shards { first, last, of, replay, kernels: _, of_kernels } = head.partial;
            let to = &mut all.partial;
            let is_next = first == to.last.checked_add(1)?;
            if !is_next || (of, of_kernels, &replay) != (to.of, to.of_kernels, &to.replay) {
                return None;
            }
            to.last = last;
        }
        (all.partial.kernels, all.kernels) = names.into_iter().unzip();
        Some(all)
    }

    /// Moves the names of its kernels to those of all; `None` if one has another name there.
    fn put_names(&mut self, all: &mut BTreeMap<usize, Names>) -> Option<()> {
        let (numbers, names) = (&self.partial.kernels, std::mem::take(&mut self.kernels));
        if numbers.len() != names.len() {
            return None;
        }
        for (number, names) in numbers.iter().zip(names) {
            match all.entry(*number) {
                Entry::Vacant(place) => drop(place.insert(names)),
                Entry::Occupied(known) if *known.get() == names => {}
                Entry::Occupied(_) => return None,
            }
        }
        Some(())
    }
}
