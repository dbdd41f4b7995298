//! The state spaces, versions and targets of PTX.

use std::fmt;
use std::str::FromStr;

use super::ParseNameError;
use warpload_machine::named;

named! {
    /// The state space of a variable.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum StateSpace: "a state space such as `global`" {
        /// `.reg`.
        Register = "reg",
        /// `.const`.
        Const = "const",
        /// `.global`.
        Global = "global",
        /// `.local`.
        Local = "local",
        /// `.param`.
        Param = "param",
        /// `.shared`.
        Shared = "shared",
        /// `.tex`, which loads do not read.
        Texture = "tex",
    }
}

/// The sub-qualifier of a state space, the part after `::`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SubQualifier {
    /// `.shared::cta`.
    Cta,
    /// `.shared::cluster`.
    Cluster,
    /// `.param::entry`.
    Entry,
    /// `.param::func`.
    Func,
}

/// A version of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The number before the dot.
    pub major: u8,
    /// The number after the dot.
    pub minor: u8,
}

/// The last version of known instructions and directives.
pub(crate) const LATEST: Version = Version::new(9, 5);

/// The first version that only ptxas 13.5 compiles. From it on a module is judged as 13.5 does, including errors that
/// 12.9 does not report.
pub(crate) const LATER_ASSEMBLER: Version = Version::new(9, 0);

/// The first version whose kernels have a parameter list after their names. Earlier ones declare parameters in their
/// bodies.
pub(crate) const KERNEL_PARAMETER_LISTS: Version = Version::new(1, 4);

impl Version {
    /// Makes a version of its two numbers.
    #[must_use]
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }
}

impl FromStr for Version {
    type Err = ParseNameError;

    /// Reads `8.8`.
    fn from_str(text: &str) -> Result<Self, ParseNameError> {
        let parts = text.split_once('.');
        let numbers = parts.and_then(|(major, minor)| {
            Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        numbers.ok_or(ParseNameError::new("a version, two numbers with a dot between"))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A target of compilation, as `.target` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The number after `sm_`: ten times the major plus the minor compute capability.
    pub sm: u32,
    /// The machines that run the code.
    pub reach: Reach,
}

/// The machines that run the code of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reach {
    /// `sm_100`: this architecture and later ones.
    Onward,
    /// `sm_100a`: this architecture only.
    ArchitectureSpecific,
    /// `sm_100f`: this architecture's family.
    FamilySpecific,
}

impl Target {
    /// The placeholder before a target is read.
    pub(crate) const EARLIEST: Self = Self { sm: 0, reach: Reach::Onward };
}

impl FromStr for Target {
    type Err = ParseNameError;

    /// Reads `sm_90`, `sm_100a` or `sm_100f`. `compute_90`, the virtual architecture, is read as `sm_90`.
    fn from_str(text: &str) -> Result<Self, ParseNameError> {
        const ERROR: ParseNameError =
            ParseNameError::new("a target such as `sm_90`, `sm_100a` or `sm_100f`");
        let number = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_"));
        let number = number.ok_or(ERROR)?;
        let (number, reach) = match (number.strip_suffix('a'), number.strip_suffix('f')) {
            (Some(number), _) => (number, Reach::ArchitectureSpecific),
            (_, Some(number)) => (number, Reach::FamilySpecific),
            _ => (number, Reach::Onward),
        };
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        let sm = if is_number { number.parse().ok() } else { None };
        Ok(Self { sm: sm.ok_or(ERROR)?, reach })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.reach {
            Reach::Onward => "",
            Reach::ArchitectureSpecific => "a",
            Reach::FamilySpecific => "f",
        };
        write!(f, "sm_{}{suffix}", self.sm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_versions_are_read_and_written() {
        for name in ["sm_10", "sm_90a", "sm_100f", "sm_121"] {
            assert_eq!(name.parse::<Target>().map(|t| t.to_string()).as_deref(), Ok(name));
        }
        for name in ["sm_", "sm_a", "sm_+9", "compute_", "compute_x", "arch_90", "sm_99999999999"] {
            assert!(name.parse::<Target>().is_err(), "{name}");
        }
        let compute = ["compute_80", "compute_90a"].map(|name| name.parse::<Target>());
        assert_eq!(compute, ["sm_80", "sm_90a"].map(|name| name.parse()));
        assert_eq!("9.5".parse::<Version>().map(|v| v.to_string()).as_deref(), Ok("9.5"));
        assert!(Version::new(9, 0) > Version::new(8, 8));
        assert!("9".parse::<Version>().is_err());
    }
}
