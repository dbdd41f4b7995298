//! The types, state spaces, versions and targets of PTX.

use std::fmt;
use std::str::FromStr;

use super::ParseNameError;
use warpload_machine::named;

/// A type of PTX, written after a dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are PTX's own")]
#[non_exhaustive]
pub enum ScalarType {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    F32,
    F64,
    /// `.texref`, `.samplerref` and `.surfref`, which only texture and surface instructions read.
    Opaque,
    /// A packed or narrow type that no load has. Its size is unknown here.
    Other,
}

/// The interpretation of a type's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypeClass {
    /// `.pred`.
    Predicate,
    /// `.b8` to `.b128`, uninterpreted bits.
    Bits,
    /// `.u8` to `.u64`.
    Unsigned,
    /// `.s8` to `.s64`.
    Signed,
    /// `.f16` to `.f64`, and `.f16x2`.
    Float,
    /// Unknown here.
    Other,
}

/// Every type with its name, class and size in bits. [PTX ISA, Fundamental Types]
const TYPES: [(ScalarType, &str, TypeClass, u32); 18] = {
    use ScalarType as T;
    use TypeClass as C;
    [
        (T::Pred, "pred", C::Predicate, 1),
        (T::B8, "b8", C::Bits, 8),
        (T::B16, "b16", C::Bits, 16),
        (T::B32, "b32", C::Bits, 32),
        (T::B64, "b64", C::Bits, 64),
        (T::B128, "b128", C::Bits, 128),
        (T::U8, "u8", C::Unsigned, 8),
        (T::U16, "u16", C::Unsigned, 16),
        (T::U32, "u32", C::Unsigned, 32),
        (T::U64, "u64", C::Unsigned, 64),
        (T::S8, "s8", C::Signed, 8),
        (T::S16, "s16", C::Signed, 16),
        (T::S32, "s32", C::Signed, 32),
        (T::S64, "s64", C::Signed, 64),
        (T::F16, "f16", C::Float, 16),
        (T::F16x2, "f16x2", C::Float, 32),
        (T::F32, "f32", C::Float, 32),
        (T::F64, "f64", C::Float, 64),
    ]
};

/// Types known by name only.
const OTHER_TYPES: [&str; 35] = [
    "b1", "b2", "b4", "bf16", "bf16x2", "e2m1", "e2m1x2", "e2m1x4", "e2m3", "e2m3x2", "e2m3x4",
    "e3m2", "e3m2x2", "e3m2x4", "e4m3", "e4m3x2", "e4m3x4", "e5m2", "e5m2x2", "e5m2x4", "f32x2",
    "s16x2", "s2", "s2f6x2", "s4", "s8x4", "tf32", "u16x2", "u2", "u4", "u8x4", "ue4m3", "ue4m3x2",
    "ue8m0", "ue8m0x2",
];

const OPAQUE_TYPES: [&str; 3] = ["texref", "samplerref", "surfref"];

impl ScalarType {
    /// Returns the name without its dot; empty for [`ScalarType::Other`] and [`ScalarType::Opaque`].
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.1)
    }

    /// Returns the interpretation of its bits.
    #[must_use]
    pub fn class(self) -> TypeClass {
        self.row().map_or(TypeClass::Other, |row| row.2)
    }

    /// Returns the size of a value in bits; `None` if it is unknown here.
    #[must_use]
    pub fn bits(self) -> Option<u32> {
        self.row().map(|row| row.3)
    }

    /// Returns the size of a value in memory in bytes; `None` for predicates and types of unknown size.
    #[must_use]
    pub fn bytes(self) -> Option<u32> {
        self.bits().map(|bits| bits / 8).filter(|bytes| *bytes > 0)
    }

    /// All types, each with its name without a dot.
    pub(crate) fn names() -> impl Iterator<Item = (&'static str, Self)> {
        let other = OTHER_TYPES.into_iter().map(|name| (name, Self::Other));
        let opaque = OPAQUE_TYPES.into_iter().map(|name| (name, Self::Opaque));
        TYPES.into_iter().map(|row| (row.1, row.0)).chain(other).chain(opaque)
    }

    fn row(self) -> Option<&'static (Self, &'static str, TypeClass, u32)> {
        TYPES.iter().find(|row| row.0 == self)
    }
}

impl FromStr for ScalarType {
    type Err = ParseNameError;

    /// Reads the name of a type without its dot.
    fn from_str(name: &str) -> Result<Self, ParseNameError> {
        let known = Self::names().find(|known| known.0 == name).map(|known| known.1);
        known.ok_or(ParseNameError::new("a type such as `u32`"))
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

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

    #[test]
    fn every_type_has_its_name() {
        for (scalar, name, ..) in TYPES {
            assert_eq!(name.parse(), Ok(scalar));
            assert_eq!(scalar.to_string(), name);
        }
    }
}
