//! [`Remark`]: a hint about an unusual load.

use std::borrow::Cow;
use std::fmt;

use super::step::BaseRegisters;

/// A load that deserves a look. Displays as a sentence without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Remark {
    /// The offset of the load, the first one if there are several; `None` if it is unknown.
    pub offset: Option<u64>,
    /// The kind of remark.
    pub kind: RemarkKind,
}

/// The kinds of [`Remark`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemarkKind {
    /// This load and others have consecutive addresses, so that one wider load could serve.
    Vectorizable {
        /// The mnemonic.
        kind: &'static str,
        /// The offsets of the other loads, ascending.
        others: Vec<u64>,
        /// The number of bits of all of them together.
        bits: u32,
        /// The base of the displacements.
        base: BaseRegisters,
    },
    /// The load is not served by caches and not combined with others.
    Volatile {
        /// The cache operator.
        cache: Cow<'static, str>,
    },
    /// The displacement is not a multiple of the access size.
    Misaligned {
        /// The displacement.
        displacement: i64,
        /// The access size in bits.
        bits: u32,
        /// The base of the displacement.
        base: BaseRegisters,
    },
}

impl RemarkKind {
    /// Returns `vectorizable`, `volatile` or `misaligned`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Vectorizable { .. } => "vectorizable",
            Self::Volatile { .. } => "volatile",
            Self::Misaligned { .. } => "misaligned",
        }
    }
}

/// The offset in hexadecimal, the name of the kind, and the sentence.
#[cfg(feature = "serde")]
impl serde::Serialize for Remark {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut object = serializer.serialize_struct("Remark", 3)?;
        object.serialize_field("offset", &self.offset.map(|offset| format!("{offset:#x}")))?;
        object.serialize_field("kind", self.kind.name())?;
        object.serialize_field("text", &self.to_string())?;
        object.end()
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            RemarkKind::Vectorizable { kind, others, bits, base } => {
                f.write_str("with ")?;
                for (i, other) in others.iter().enumerate() {
                    let separator = match i {
                        0 => "",
                        _ if i + 1 == others.len() => " and ",
                        _ => ", ",
                    };
                    write!(f, "{separator}{other:#x}")?;
                }
                let bytes = bits / 8;
                write!(f, ": {bytes} consecutive bytes, which one {bits}-bit {kind} could load")?;
                if !base.is_none() {
                    write!(f, " if {base} is a multiple of {bytes}")?;
                }
                Ok(())
            }
            RemarkKind::Volatile { cache } => {
                let what =
                    if cache == "CV" { "is volatile" } else { "is ordered with the whole system" };
                write!(f, ".{cache} {what}: fetched again by each load, past the caches")
            }
            RemarkKind::Misaligned { displacement, bits, base } => {
                let (sign, size) = (if *displacement < 0 { "-" } else { "" }, bits / 8);
                let displacement = displacement.unsigned_abs();
                if base.is_none() {
                    return write!(f, "address {displacement:#x} is not a multiple of {size}");
                }
                write!(
                    f,
                    "displacement {sign}{displacement:#x} is not a multiple of {size}: misaligned \
                     unless {base} makes up for it"
                )
            }
        }
    }
}
