//! What stands in the fields: registers, predicates, cache operators, sizes, immediates.

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

/// How the load uses the caches. It never changes the value (docs/ld.md section 4, 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CacheOp {
    /// Cache at all levels; the default, never printed.
    Ca = 0,
    /// Cache at global level: L2 and below, not L1.
    Cg = 1,
    /// Inconsistent: for data that never change.
    Ci = 2,
    /// Volatile: fetch again.
    Cv = 3,
}

impl CacheOp {
    /// All of them, in the order of their encoding.
    pub const ALL: [CacheOp; 4] = [Self::Ca, Self::Cg, Self::Ci, Self::Cv];

    /// The modifiers without their dots, in the order of their encoding.
    pub(crate) const NAMES: [&'static str; 4] = ["CA", "CG", "CI", "CV"];

    /// The modifier without its dot: `CA`, `CG`, `CI` or `CV`.
    pub const fn name(self) -> &'static str {
        // As many names as values.
        Self::NAMES[self as usize]
    }
}

impl FieldValue for CacheOp {
    const WIDTH: u32 = 2;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        match bits & 3 {
            0 => Self::Ca,
            1 => Self::Cg,
            2 => Self::Ci,
            _ => Self::Cv,
        }
    }

    #[inline]
    fn to_bits(self) -> u64 {
        self as u64
    }

    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ca => "CA: cache at all levels",
            Self::Cg => "CG: cache at global level, L2 and below",
            Self::Ci => "CI: inconsistent, for data that never change",
            Self::Cv => "CV: volatile, fetch again",
        })
    }
}

/// How many bits are loaded, and how they fill the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Size {
    /// 8 bits, zero-extended.
    U8 = 0,
    /// 8 bits, sign-extended.
    S8 = 1,
    /// 16 bits, zero-extended.
    U16 = 2,
    /// 16 bits, sign-extended.
    S16 = 3,
    /// 32 bits; the default, never printed.
    B32 = 4,
    /// 64 bits in two registers.
    B64 = 5,
    /// 128 bits in four registers.
    B128 = 6,
    /// 128 bits in four registers, with the hint that all lanes share one address.
    U128 = 7,
}

impl Size {
    /// All of them, in the order of their encoding.
    pub const ALL: [Size; 8] =
        [Self::U8, Self::S8, Self::U16, Self::S16, Self::B32, Self::B64, Self::B128, Self::U128];

    /// The modifiers without their leading dots, in the order of their encoding.
    pub(crate) const NAMES: [&'static str; 8] =
        ["U8", "S8", "U16", "S16", "32", "64", "128", "U.128"];

    /// The modifier without its leading dot, `U.128` with the dot inside.
    pub const fn name(self) -> &'static str {
        // As many names as values.
        Self::NAMES[self as usize]
    }

    /// How many bytes each lane reads: 1, 2, 4, 8 or 16. Addresses are aligned to it.
    #[inline]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 => 2,
            Self::B32 => 4,
            Self::B64 => 8,
            Self::B128 | Self::U128 => 16,
        }
    }

    /// How many 32-bit destination registers are written: 1, 2 or 4. The first one's number
    /// must be a multiple of it.
    #[inline]
    pub const fn registers(self) -> u32 {
        match self {
            Self::U8 | Self::S8 | Self::U16 | Self::S16 | Self::B32 => 1,
            Self::B64 => 2,
            Self::B128 | Self::U128 => 4,
        }
    }

    /// Whether the value is sign-extended to 32 bits.
    #[inline]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16)
    }

    /// Whether this is `.U.128`.
    #[inline]
    pub const fn is_uniform(self) -> bool {
        matches!(self, Self::U128)
    }
}

impl FieldValue for Size {
    const WIDTH: u32 = 3;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        Self::ALL[bits as usize & 7]
    }

    #[inline]
    fn to_bits(self) -> u64 {
        self as u64
    }

    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::U8 => "U8: 1 byte, zero-extended",
            Self::S8 => "S8: 1 byte, sign-extended",
            Self::U16 => "U16: 2 bytes, zero-extended",
            Self::S16 => "S16: 2 bytes, sign-extended",
            Self::B32 => "32: 4 bytes",
            Self::B64 => "64: 8 bytes, two registers",
            Self::B128 => "128: 16 bytes, four registers",
            Self::U128 => "U.128: 16 bytes, four registers, uniform",
        })
    }
}

/// An immediate of `WIDTH` bits (at most 32), whose sign the rest of the instruction decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Immediate<const WIDTH: u32>(u32);

impl<const WIDTH: u32> Immediate<WIDTH> {
    /// The smallest signed value.
    pub const MIN_SIGNED: i64 = -(1 << (WIDTH - 1));
    /// The largest signed value.
    pub const MAX_SIGNED: i64 = (1 << (WIDTH - 1)) - 1;
    /// The largest unsigned value.
    pub const MAX_UNSIGNED: u64 = (1 << WIDTH) - 1;

    /// A signed number in two's complement, where it fits.
    pub const fn from_signed(value: i64) -> Option<Self> {
        if value < Self::MIN_SIGNED || value > Self::MAX_SIGNED {
            return None;
        }
        Some(Self(value as u32 & Self::MAX_UNSIGNED as u32))
    }

    /// An unsigned number, where it fits.
    pub const fn from_unsigned(value: u64) -> Option<Self> {
        if value > Self::MAX_UNSIGNED {
            return None;
        }
        Some(Self(value as u32))
    }

    /// The bits read as two's complement.
    #[inline]
    pub const fn signed(self) -> i32 {
        (self.0 << (32 - WIDTH)) as i32 >> (32 - WIDTH)
    }

    /// The bits read as an unsigned number.
    #[inline]
    pub const fn unsigned(self) -> u32 {
        self.0
    }
}

impl<const WIDTH: u32> FieldValue for Immediate<WIDTH> {
    const WIDTH: u32 = WIDTH;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        Self((bits & Self::MAX_UNSIGNED) as u32)
    }

    #[inline]
    fn to_bits(self) -> u64 {
        u64::from(self.0)
    }

    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with a base, {:#x} without", self.signed(), self.0)
    }
}

/// An instruction's immediate, read as the presence of a base in its text tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Offset {
    /// Bytes to add to the base register.
    Signed(i32),
    /// The whole address, in bytes.
    Absolute(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn immediates_know_their_range() {
        assert_eq!(Immediate::<24>::from_signed(-0x80_0000).map(|i| i.unsigned()), Some(0x80_0000));
        assert_eq!(Immediate::<24>::from_signed(-0x80_0001), None);
        assert_eq!(Immediate::<24>::from_signed(0x80_0000), None);
        assert_eq!(Immediate::<24>::from_unsigned(0xff_ffff).map(|i| i.signed()), Some(-1));
        assert_eq!(Immediate::<32>::from_unsigned(0x1_0000_0000), None);
        assert_eq!(Immediate::<32>::from_signed(-0x8000_0000).map(|i| i.signed()), Some(i32::MIN));
    }

    #[test]
    fn enums_follow_their_encoding() {
        for (bits, size) in Size::ALL.into_iter().enumerate() {
            assert_eq!(size.to_bits(), bits as u64);
            assert_eq!(Size::from_bits(bits as u64), size);
        }
        for (bits, cache) in CacheOp::ALL.into_iter().enumerate() {
            assert_eq!(cache.to_bits(), bits as u64);
            assert_eq!(CacheOp::from_bits(bits as u64), cache);
        }
    }
}
