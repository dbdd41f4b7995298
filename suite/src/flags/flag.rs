//! [`Flag`]: one row of the table.

use super::facts::Facts;
use crate::draft::{Draft, DraftStep, Ending};

/// One property of vectors.
pub struct Flag {
    /// The name, in lower case with hyphens.
    pub name: &'static str,
    /// What it means, in one sentence, and the clause of docs/ld.md, docs/load-family.md or
    /// docs/load-sm70.md.
    pub note: &'static str,
    pub(super) decided: Decided,
    pub(super) ending: Ending,
    pub(super) is_shown: fn(&Facts<'_>) -> bool,
    pub(super) recipe: DraftStep,
}

/// Where this project decided what happens, because no public source does: the points marked with †.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    Nowhere,
    /// On all SMs.
    Here,
    /// From SM 7.0 on.
    Later,
}

impl std::fmt::Debug for Flag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Flag {
    /// Returns how loads end that show the flag, a bit for each [`Ending`].
    pub(crate) fn endings(&self) -> u8 {
        self.ending as u8
    }

    /// Lets a draft show the flag; false, and the draft as it was, if it cannot.
    pub(crate) fn apply(&self, draft: &mut Draft<'_>) -> bool {
        draft.apply(self.ending, self.recipe)
    }

    /// Returns whether no public source decides what vectors with this flag expect: on all SMs, or from
    /// SM 7.0 on if `is_later`.
    #[must_use]
    pub fn is_decision(&self, is_later: bool) -> bool {
        match self.decided {
            Decided::Nowhere => false,
            Decided::Here => true,
            Decided::Later => is_later,
        }
    }
}
