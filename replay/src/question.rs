//! [`AccessQuestion`]: the cost of an access that a person describes, by a [`LanePattern`]. The command and the page ask
//! it.

use std::ops::Range;

use super::costs::{AccessCosts, SharedRules};
use super::pattern::{LanePattern, PatternError};
use warpload::lane::LaneMask;
use warpload::load::LaneAddresses;
use warpload::memory::{Space, Width};

/// An access of the lanes of a warp.
#[derive(Clone, Debug)]
pub struct AccessQuestion {
    /// The addresses.
    pub pattern: LanePattern,
    /// The memory.
    pub space: Space,
    /// Bytes that each lane accesses.
    pub width: Width,
    /// Bytes of an element, the unit of layouts; by default the bytes of the access.
    pub element: Option<u32>,
    /// The values of names in the formula.
    pub values: Vec<(String, i64)>,
    /// A name that counts, with its values.
    pub range: Option<(String, Range<i64>)>,
    /// The lanes that take part.
    pub mask: LaneMask,
    /// The number of matrices, 1, 2 or 4, if the access is an LDSM. It then has its own memory, bytes and lanes.
    pub matrices: Option<u32>,
    /// Whether two groups of 8 lanes are served at once, as on SM 7.0 to 7.5.
    pub merge_pairs: bool,
}

/// Why the parts of a question do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// A formula has no elements.
    #[error("the bytes of an element are for layouts; a formula counts bytes")]
    Element,
    /// Pairs of groups are a matter of shared memory.
    #[error("pairs of groups are merged for wavefronts of shared memory only")]
    MergePairs,
    /// A value is given for a name that is not there.
    #[error("there is no `{0}` in the access")]
    Unused(String),
    /// A name has two values.
    #[error("`{0}` has two values; expected one")]
    Twice(String),
}

impl AccessQuestion {
    /// Creates the question of an access of 4 bytes in shared memory by all lanes.
    #[must_use]
    pub fn new(pattern: LanePattern) -> Self {
        Self {
            pattern,
            space: Space::Shared,
            width: Width::Bytes4,
            element: None,
            values: Vec::new(),
            range: None,
            mask: LaneMask::ALL,
            matrices: None,
            merge_pairs: false,
        }
    }

    /// Sets the matrices of an LDSM: 8 lanes for each, with the address of a row of 16 bytes.
    #[must_use]
    pub fn matrices(self, matrices: Option<u32>) -> Self {
        let Some(count) = matrices else { return self };
        let mask = LaneMask::from_bits(u32::MAX >> (32 - 8 * count.clamp(1, 4)));
        Self { matrices, space: Space::Shared, width: Width::Bytes16, mask, ..self }
    }

    /// Checks that no name has two values.
    ///
    /// # Errors
    /// Returns [`QuestionError::Twice`] if one has.
    pub fn check_values(&self) -> Result<(), QuestionError> {
        let names = self.given();
        let twice = (1..names.len()).find(|number| names[..*number].contains(&names[*number]));
        twice.map_or(Ok(()), |number| Err(QuestionError::Twice(names[number].clone())))
    }

    /// The names that have values.
    fn given(&self) -> Vec<&String> {
        let counted = self.range.iter().map(|(name, _)| name);
        self.values.iter().map(|(name, _)| name).chain(counted).collect()
    }

    /// Checks that the parts go together.
    ///
    /// # Errors
    /// Returns [`QuestionError`] if one has no effect, or a name has two values.
    pub fn check(&self) -> Result<(), QuestionError> {
        self.check_values()?;
        if self.element.is_some() && !self.pattern.is_layout() {
            return Err(QuestionError::Element);
        }
        if self.merge_pairs && self.space != Space::Shared {
            return Err(QuestionError::MergePairs);
        }
        let known = self.pattern.names();
        let unused = self.given().into_iter().find(|name| !known.contains(&name.as_str()));
        unused.map_or(Ok(()), |name| Err(QuestionError::Unused(name.clone())))
    }

    /// Returns the rules of shared memory.
    #[must_use]
    pub fn rules(&self) -> SharedRules {
        SharedRules::default().merging_pairs(self.merge_pairs)
    }

    /// Returns the access for each value of the counted name, or the only access.
    ///
    /// # Errors
    /// Returns [`PatternError`] for the first access without addresses.
    pub fn accesses(&self) -> Result<Vec<CountedAccess>, PatternError> {
        match &self.range {
            None => Ok(vec![self.access(None)?]),
            Some((_, range)) => range.clone().map(|value| self.access(Some(value))).collect(),
        }
    }

    fn access(&self, value: Option<i64>) -> Result<CountedAccess, PatternError> {
        let counting = self.range.as_ref().map(|(name, _)| name.as_str());
        let known = |name: &str| {
            let given = self.values.iter().find(|(known, _)| known == name);
            value.filter(|_| counting == Some(name)).or(given.map(|(_, value)| *value))
        };
        let mut lanes =
            self.pattern.addresses(self.element.unwrap_or(self.width.bytes()), &known)?;
        lanes.executing = lanes.executing & self.mask;
        Ok(CountedAccess {
            value,
            ..CountedAccess::new(self.space, self.width, self.rules(), lanes)
        })
    }

    /// Describes the access: `shared memory, 4 bytes a lane`.
    #[must_use]
    pub fn described(&self) -> String {
        match (self.matrices, self.width.bytes()) {
            (Some(1), _) => "LDSM of 1 matrix".to_owned(),
            (Some(matrices), _) => format!("LDSM of {matrices} matrices"),
            (None, 1) => format!("{} memory, 1 byte a lane", self.space.name()),
            (None, bytes) => format!("{} memory, {bytes} bytes a lane", self.space.name()),
        }
    }
}

/// One access, with its cost.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CountedAccess {
    /// The value of the counted name.
    pub value: Option<i64>,
    /// The memory.
    pub space: Space,
    /// Bytes that each lane accesses.
    pub width: Width,
    /// The rules of shared memory.
    pub rules: SharedRules,
    /// The executing lanes and their addresses.
    pub lanes: LaneAddresses,
    /// The cost.
    pub costs: AccessCosts,
}

impl CountedAccess {
    /// Counts the cost of an access.
    #[must_use]
    pub fn new(space: Space, width: Width, rules: SharedRules, lanes: LaneAddresses) -> Self {
        let LaneAddresses { executing, addresses, .. } = &lanes;
        let costs = AccessCosts::of_access_by(rules, space, width, *executing, addresses);
        Self { value: None, space, width, rules, lanes, costs }
    }

    /// Returns the worst of several accesses, the first of several equally bad ones.
    #[must_use]
    pub fn worst(accesses: &[Self]) -> Option<&Self> {
        // Reversed, because `max_by_key` returns the last of several maxima.
        accesses.iter().rev().max_by_key(|access| access.costs.amount())
    }

    /// Returns a remark on the first lane with a misaligned address, if there is one.
    #[must_use]
    pub fn misaligned(&self) -> Option<String> {
        let bytes = u64::from(self.width.bytes());
        let address = |lane| self.lanes.addresses.of(lane);
        let mut lanes = self.lanes.executing.lanes();
        let lane = lanes.find(|lane| !address(*lane).is_multiple_of(bytes))?;
        Some(format!(
            "the address {:#x} of lane {lane} is no multiple of {bytes}: rounded down, as on SM 5.x; later \
             GPUs report an error",
            address(lane)
        ))
    }
}
