//! What types, state spaces, versions and targets PTX knows.

use std::fmt;
use std::str::FromStr;

use super::ParseNameError;
use super::named::named;

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
    /// `.texref`, `.samplerref` and `.surfref`: what only texture and surface instructions read.
    Opaque,
    /// A type that no load has: packed or narrow ones. Its size is not known here.
    Other,
}

/// What the bits of a type mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TypeClass {
    /// `.pred`.
    Predicate,
    /// `.b8` to `.b128`: bits alone.
    Bits,
    /// `.u8` to `.u64`.
    Unsigned,
    /// `.s8` to `.s64`.
    Signed,
    /// `.f16` to `.f64`, and `.f16x2`.
    Float,
    /// Not known here.
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

/// Types that occur in modules and of which only the names are known here.
const OTHER_TYPES: [&str; 24] = [
    "b1", "b2", "b4", "bf16", "bf16x2", "e2m1", "e2m1x2", "e2m3", "e2m3x2", "e3m2", "e3m2x2",
    "e4m3", "e4m3x2", "e5m2", "e5m2x2", "s16x2", "s2", "s4", "tf32", "u16x2", "u2", "u4", "ue4m3",
    "ue8m0",
];

const OPAQUE_TYPES: [&str; 3] = ["texref", "samplerref", "surfref"];

impl ScalarType {
    /// Returns the name without its dot; empty for [`ScalarType::Other`] and [`ScalarType::Opaque`].
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.1)
    }

    /// Returns what its bits mean.
    #[must_use]
    pub fn class(self) -> TypeClass {
        self.row().map_or(TypeClass::Other, |row| row.2)
    }

    /// Returns the bits of a value; `None` if they are not known here.
    #[must_use]
    pub fn bits(self) -> Option<u32> {
        self.row().map(|row| row.3)
    }

    /// Returns the bytes of a value in memory; `None` for predicates and unknown types.
    #[must_use]
    pub fn bytes(self) -> Option<u32> {
        self.bits().map(|bits| bits / 8).filter(|bytes| *bytes > 0)
    }

    /// Returns every type by its name without a dot.
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
    /// Where a variable lies.
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
        /// `.tex`, which is not read by a load.
        Texture = "tex",
    }
}

/// The sub-qualifier of a state space, after its `::`.
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
    /// Before the dot.
    pub major: u8,
    /// After the dot.
    pub minor: u8,
}

/// The last version whose instructions and directives are known here.
pub(crate) const LATEST: Version = Version::new(9, 5);

/// The first version that only ptxas 13.5 compiles. What it refuses and 12.9 takes is refused from
/// this version on.
pub(crate) const LATER_ASSEMBLER: Version = Version::new(9, 0);

/// The first version in which kernels have a list of parameters after their names. Before it they
/// declare them in their bodies.
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

/// The machines that code is for, as `.target` names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The number after `sm_`: ten times the major number plus the minor number.
    pub sm: u32,
    /// Whether it is for that architecture, its family, or every later one.
    pub reach: Reach,
}

/// Which machines run the code of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reach {
    /// `sm_100`: this architecture and later ones.
    Onward,
    /// `sm_100a`: this architecture only.
    ArchitectureSpecific,
    /// `sm_100f`: its family.
    FamilySpecific,
}

impl Target {
    /// Where nothing names a target.
    pub(crate) const EARLIEST: Self = Self { sm: 0, reach: Reach::Onward };
}

impl FromStr for Target {
    type Err = ParseNameError;

    /// Reads `sm_90`, `sm_100a` or `sm_100f`; `compute_90`, the same machine's virtual architecture,
    /// is `sm_90`.
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
