//! General and predicate registers.

use core::fmt;

use crate::field::FieldValue;

/// A general register: `R0`..=`R254`, or `RZ`, which reads zero and swallows writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(u8);

impl Reg {
    /// The zero register, number 255.
    pub const RZ: Reg = Reg(255);

    /// The register of that number; 255 is [`Reg::RZ`].
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// The register's number, 255 for `RZ`.
    #[inline]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Whether this is `RZ`.
    #[inline]
    pub const fn is_zero(self) -> bool {
        self.0 == Self::RZ.0
    }
}

impl Default for Reg {
    /// `RZ`.
    #[inline]
    fn default() -> Self {
        Self::RZ
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() { f.write_str("RZ") } else { write!(f, "R{}", self.0) }
    }
}

impl FieldValue for Reg {
    const WIDTH: u32 = 8;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        Self(bits as u8)
    }

    #[inline]
    fn to_bits(self) -> u64 {
        u64::from(self.0)
    }

    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self, f)
    }
}

/// A predicate register: `P0`..=`P6`, or `PT`, which is always true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pred(u8);

impl Pred {
    /// The predicate that is always true, number 7.
    pub const PT: Pred = Pred(7);

    /// The predicate of that number, 7 for [`Pred::PT`]; nothing above 7.
    pub const fn new(number: u8) -> Option<Self> {
        if number <= Self::PT.0 { Some(Self(number)) } else { None }
    }

    /// The predicate's number, 0..=7.
    #[inline]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Whether this is `PT`.
    #[inline]
    pub const fn is_true(self) -> bool {
        self.0 == Self::PT.0
    }
}

impl Default for Pred {
    /// `PT`.
    #[inline]
    fn default() -> Self {
        Self::PT
    }
}

impl fmt::Display for Pred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_true() { f.write_str("PT") } else { write!(f, "P{}", self.0) }
    }
}

impl FieldValue for Pred {
    const WIDTH: u32 = 3;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        Self(bits as u8 & 7)
    }

    #[inline]
    fn to_bits(self) -> u64 {
        u64::from(self.0)
    }

    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self, f)
    }
}
