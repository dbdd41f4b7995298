//! The flags of vectors: the properties that a vector is a case of, computed from the vector and its outcome on the
//! literal executor. `table.rs` is their list; to add one, add a row, a [`Flag`].

mod facts;
mod table;

use warpload::load::Outcome;

use self::facts::Facts;
pub(crate) use self::facts::{destinations, fills_uniform};
use super::vector::Vector;
use crate::text::similar;

impl Flag {
    /// Returns the flag with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        all().iter().find(|flag| flag.name == name)
    }

    /// Returns the flag with a name that a user has typed.
    ///
    /// # Errors
    /// Returns [`UnknownFlag`], with the name that may be meant, if there is no such flag.
    pub fn parse(name: &str) -> Result<&'static Self, UnknownFlag> {
        let names = || all().iter().map(|flag| flag.name);
        Self::named(name).ok_or_else(|| UnknownFlag { similar: similar(name, names()) })
    }
}

/// There is no flag of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFlag {
    similar: Option<&'static str>,
}

impl std::fmt::Display for UnknownFlag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // First, because the list fills a screen.
        if let Some(similar) = self.similar {
            write!(f, "did you mean `{similar}`? ")?;
        }
        let names: Vec<&str> = all().iter().map(|flag| flag.name).collect();
        write!(f, "expected one of {}", names.join(", "))
    }
}

impl std::error::Error for UnknownFlag {}

/// Returns all flags, by name.
#[must_use]
pub fn all() -> &'static [Flag] {
    table::TABLE
}

/// A set of flags. Bit n is `all()[n]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct FlagSet(u128);

const _: () = assert!(table::TABLE.len() <= 128, "a set has 128 bits");

impl FlagSet {
    /// Returns the flags, by name.
    pub fn iter(self) -> impl Iterator<Item = &'static Flag> {
        self.numbers().filter_map(|number| all().get(number))
    }

    /// Returns the numbers of the flags in [`all`].
    pub(crate) fn numbers(self) -> impl Iterator<Item = usize> {
        (0..128).filter(move |number| self.0 >> number & 1 != 0)
    }

    /// Adds the flag with this number in [`all`].
    pub(crate) fn insert(&mut self, number: usize) {
        self.0 |= 1 << (number & 127);
    }

    /// Returns whether all flags of `other` are in the set.
    #[must_use]
    pub const fn is_superset(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Returns whether the expectation of a vector with these flags is a decision of this project, because no public
    /// source settles it. `is_later` says that its instruction is of SM 7.0 or later.
    #[must_use]
    pub fn is_decision(self, is_later: bool) -> bool {
        self.iter().any(|flag| flag.is_decision(is_later))
    }
}

/// Returns the flags of a vector. `outcome` is its outcome on the literal executor. Empty if the vector cannot be
/// executed.
#[must_use]
pub fn flags_of(vector: &Vector, outcome: &Outcome) -> FlagSet {
    let mut set = FlagSet::default();
    let Some(facts) = Facts::new(vector, outcome) else { return set };
    for (number, flag) in all().iter().enumerate() {
        if (flag.is_shown)(&facts) {
            set.insert(number);
        }
    }
    set
}

/// One property of vectors.
pub struct Flag {
    /// The name, in lower case with hyphens.
    pub name: &'static str,
    /// Its meaning in one sentence, with the clause of docs/ld.md, docs/load-family.md or docs/load-sm70.md.
    pub note: &'static str,
    pub(super) decided: Decided,
    pub(super) is_shown: fn(&Facts<'_>) -> bool,
}

/// The SMs on which a flag is about a decision of this project, because no public source settles the point. The
/// documents mark these points with †.
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
    /// Returns whether the expectations of vectors with this flag are decisions of this project: on all SMs, or from SM
    /// 7.0 on if `is_later`.
    #[must_use]
    pub fn is_decision(&self, is_later: bool) -> bool {
        match self.decided {
            Decided::Nowhere => false,
            Decided::Here => true,
            Decided::Later => is_later,
        }
    }
}
