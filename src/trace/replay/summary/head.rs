//! [`PartialHead`]: what a partial summary is of.

use std::sync::Arc;

use serde::Deserialize;

use super::{Partial, Summary};

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
    first_kernel: usize,
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
        let &Partial { first_kernel, of_kernels, .. } = partial;
        let replay = partial.replay.clone();
        let partial = Shards { first, last, of: partial.of, replay, first_kernel, of_kernels };
        Some(Self { kernels: names.collect(), partial })
    }

    /// Returns what the merged summaries are of; `None` if they are not of neighbouring shards
    /// of one replay.
    #[must_use]
    pub fn join(mut heads: Vec<Self>) -> Option<Self> {
        heads.sort_by_key(|head| head.partial.first);
        let mut heads = heads.into_iter();
        let mut all = heads.next()?;
        for Self { kernels, partial } in heads {
            let Shards { first, last, of, replay, first_kernel, of_kernels } = partial;
            let to = &mut all.partial;
            let is_next = first == to.last.checked_add(1)?;
            if !is_next || (of, of_kernels, &replay) != (to.of, to.of_kernels, &to.replay) {
                return None;
            }
            to.last = last;
            if kernels.is_empty() {
                continue;
            }
            if all.kernels.is_empty() {
                to.first_kernel = first_kernel;
            }
            let end = to.first_kernel.checked_add(all.kernels.len())?;
            let shared = end.checked_sub(first_kernel)?;
            let start = all.kernels.len().checked_sub(shared)?;
            if kernels.get(..shared)? != &all.kernels[start..] {
                return None;
            }
            all.kernels.extend(kernels.into_iter().skip(shared));
        }
        Some(all)
    }
}
