//! General and predicate registers.

use core::fmt;

use crate::field::Bits;

/// A general register: `R0`..=`R254`, or `RZ`, which reads as zero and discards writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(u8);

impl Reg {
    /// The zero register, number 255.
    pub const RZ: Reg = Reg(255);

    /// Creates the register with that number; 255 is [`Reg::RZ`].
    #[inline]
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// Returns the register's number, 255 for `RZ`.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns whether this is `RZ`.
    #[inline]
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == Self::RZ.0
    }
}

impl From<u8> for Reg {
    #[inline]
    fn from(number: u8) -> Self {
        Self::new(number)
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

/// A uniform register, one value for the whole warp: `UR0` and up, or `URZ`, which reads as zero and discards writes.
/// There are 63 before SM 10.0, and 255 from 10.0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UniformReg(u8);

impl UniformReg {
    /// The zero register. Its number is 255, whatever the width of the field.
    pub const URZ: UniformReg = UniformReg(255);

    /// Creates the register with that number; 255 is [`UniformReg::URZ`].
    #[inline]
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// Returns the register's number, 255 for `URZ`.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns whether this is `URZ`.
    #[inline]
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == Self::URZ.0
    }

    /// In a field, all ones are `URZ`.
    #[inline]
    pub(crate) const fn from_field(bits: u64, width: u32) -> Self {
        if bits == (1 << width) - 1 { Self::URZ } else { Self(bits as u8) }
    }

    /// `None` if the number is too high for the field.
    pub(crate) const fn to_field(self, width: u32) -> Option<u64> {
        let zero = (1 << width) - 1;
        match self.0 as u64 {
            255 => Some(zero),
            number if number < zero => Some(number),
            _ => None,
        }
    }
}

impl Default for UniformReg {
    /// `URZ`.
    fn default() -> Self {
        Self::URZ
    }
}

impl fmt::Display for UniformReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() { f.write_str("URZ") } else { write!(f, "UR{}", self.0) }
    }
}

/// A predicate register: `P0`..=`P6`, or `PT`, which is always true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pred(u8);

impl Pred {
    /// `P0`.
    pub const P0: Pred = Pred(0);
    /// `P1`.
    pub const P1: Pred = Pred(1);
    /// `P2`.
    pub const P2: Pred = Pred(2);
    /// `P3`.
    pub const P3: Pred = Pred(3);
    /// `P4`.
    pub const P4: Pred = Pred(4);
    /// `P5`.
    pub const P5: Pred = Pred(5);
    /// `P6`.
    pub const P6: Pred = Pred(6);
    /// The predicate that is always true, number 7.
    pub const PT: Pred = Pred(7);

    /// All predicates, in numeric order.
    pub const ALL: [Pred; 8] =
        [Self::P0, Self::P1, Self::P2, Self::P3, Self::P4, Self::P5, Self::P6, Self::PT];

    /// Creates the predicate with that number; 7 is [`Pred::PT`]. `TryFrom<u8>` checks a whole byte.
    #[inline]
    #[must_use]
    pub const fn new(number: Bits<3>) -> Self {
        Self(number.get())
    }

    /// Ignores all but the lowest 3 bits.
    #[inline]
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits as u8 & 7)
    }

    /// Returns the predicate's number, 0..=7.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns whether this is `PT`.
    #[inline]
    #[must_use]
    pub const fn is_true(self) -> bool {
        self.0 == Self::PT.0
    }
}

impl TryFrom<u8> for Pred {
    type Error = InvalidPred;

    #[inline]
    fn try_from(number: u8) -> Result<Self, InvalidPred> {
        Bits::new(number).map(Self::new).ok_or(InvalidPred(number))
    }
}

/// The number of a predicate that does not exist, 8 or above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InvalidPred(u8);

impl fmt::Display for InvalidPred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid predicate number {}; expected 0..=7", self.0)
    }
}

impl core::error::Error for InvalidPred {}

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

/// The guard predicate of an instruction: `@P0`, `@!P3`. `@PT` is not printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// The predicate.
    pub pred: Pred,
    /// Whether the instruction executes if the predicate is false.
    pub negated: bool,
}

impl Guard {
    /// No guard: every active lane executes.
    pub const ALWAYS: Guard = Guard { pred: Pred::PT, negated: false };
}
