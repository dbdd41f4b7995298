//! [`Checks`]: the judgements of a launch that cost time: races, synchronization, uninitialized memory,
//! schedules.

use std::str::FromStr;

/// The memories that a launch searches for data races.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedRaces {
    /// Shared memory alone.
    Shared,
    /// Shared and global memory.
    All,
}

/// The judgements of a launch beside faults of its accesses; none by default, because they cost time. As a text, a list of
/// `races`, `races:shared`, `sync`, `uninitialized` and `scoreboard`.
///
/// ```
/// use warpload_machine::{CheckedRaces, Checks};
///
/// let checks: Checks = "races:shared,sync".parse()?;
/// assert_eq!((checks.races, checks.sync), (Some(CheckedRaces::Shared), true));
/// assert!(!checks.uninitialized);
/// # Ok::<(), warpload_machine::ChecksError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Whether data races are faults: two threads access a byte, at least one writes, and no barrier, mbarrier or fence
    /// orders the accesses. Blocks then run on one thread.
    pub races: Option<CheckedRaces>,
    /// Whether it is a fault to use barriers and exchanges between lanes in a way that PTX leaves undefined.
    pub sync: bool,
    /// Whether it is a fault to use what nothing has written: loads of shared or local memory, and stores of registers to
    /// global memory.
    pub uninitialized: bool,
    /// Whether it is a fault if an instruction uses a register that an earlier one may still write or read, because the
    /// schedule in the control words of machine code does not wait for it. It means nothing for PTX, which has no schedule.
    pub scoreboard: bool,
}

impl Checks {
    /// All checks.
    pub const ALL: Self =
        Self { races: Some(CheckedRaces::All), sync: true, uninitialized: true, scoreboard: true };

    /// The names of the checks.
    pub const NAMES: [&str; 5] = ["races", "races:shared", "sync", "uninitialized", "scoreboard"];

    /// Returns the checks of both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let all = [self.races, other.races];
        Self {
            races: all
                .into_iter()
                .flatten()
                .find(|of| *of == CheckedRaces::All)
                .or(all[0])
                .or(all[1]),
            sync: self.sync || other.sync,
            uninitialized: self.uninitialized || other.uninitialized,
            scoreboard: self.scoreboard || other.scoreboard,
        }
    }
}

/// A word that is no check.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no check {0:?}; the checks are races, races:shared, sync, uninitialized and scoreboard")]
pub struct ChecksError(String);

impl FromStr for Checks {
    type Err = ChecksError;

    fn from_str(text: &str) -> Result<Self, ChecksError> {
        let mut checks = Self::default();
        for word in text.split(',').map(str::trim) {
            match word {
                "races" => checks.races = Some(CheckedRaces::All),
                "races:shared" => {
                    checks.races.get_or_insert(CheckedRaces::Shared);
                }
                "sync" => checks.sync = true,
                "uninitialized" => checks.uninitialized = true,
                "scoreboard" => checks.scoreboard = true,
                _ => return Err(ChecksError(word.to_owned())),
            }
        }
        Ok(checks)
    }
}
