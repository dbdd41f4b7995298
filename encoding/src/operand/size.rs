//! [`Size`]: how much is loaded.

use core::fmt;

use super::named::named_values;
use crate::field::FieldValue;
use crate::impossible::OrImpossible;
use crate::ready::{Modifier, Name};

named_values! {
    /// How many bits are loaded, and how they fill the destination.
    Size, 3 bits, default B32;
    U8, "U8", "1 byte, zero-extended";
    S8, "S8", "1 byte, sign-extended";
    U16, "U16", "2 bytes, zero-extended";
    S16, "S16", "2 bytes, sign-extended";
    B32, "32", "4 bytes";
    B64, "64", "8 bytes, two registers";
    B128, "128", "16 bytes, four registers";
    U128, "U.128", "16 bytes, four registers, uniform";
}

impl Size {
    /// Returns the access size in bytes: 1, 2, 4, 8 or 16. Addresses are aligned to it.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 => 2,
            Self::B32 => 4,
            Self::B64 => 8,
            Self::B128 | Self::U128 => 16,
        }
    }

    /// Returns the number of 32-bit destination registers: 1, 2 or 4. The number of the first one
    /// must be a multiple of it.
    #[inline]
    #[must_use]
    pub const fn registers(self) -> u32 {
        match self {
            Self::U8 | Self::S8 | Self::U16 | Self::S16 | Self::B32 => 1,
            Self::B64 => 2,
            Self::B128 | Self::U128 => 4,
        }
    }

    /// Returns whether the value is sign-extended to 32 bits.
    #[inline]
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16)
    }

    /// Returns whether this is `.U.128`.
    #[inline]
    #[must_use]
    pub const fn is_uniform(self) -> bool {
        matches!(self, Self::U128)
    }
}

/// The encoding of a size that an instruction does not have, 6 or 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InvalidSize(u8);

impl InvalidSize {
    /// The beginning of the text of every such size.
    pub(crate) const PREFIX: &'static str = "INVALIDSIZE";

    /// Returns the number, 6 or 7.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns the modifier that a disassembler prints: `INVALIDSIZE6` or `INVALIDSIZE7`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        if self.0 == 6 { "INVALIDSIZE6" } else { "INVALIDSIZE7" }
    }
}

impl fmt::Display for InvalidSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl core::error::Error for InvalidSize {}

/// The size of an instruction that has only the first `COUNT` of the 8 sizes, 6 or 7. The other
/// numbers encode no size, but survive decoding and encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct LimitedSize<const COUNT: u8>(Size);

impl<const COUNT: u8> LimitedSize<COUNT> {
    /// The modifiers without leading dots, in the order of their encoding.
    pub(crate) const NAMES: &'static [Name] = Size::NAMES.split_at(COUNT as usize).0;

    /// Creates the size, or returns `None` if the instruction does not have it.
    #[must_use]
    pub const fn new(size: Size) -> Option<Self> {
        if (size as u8) < COUNT { Some(Self(size)) } else { None }
    }

    /// Returns the size.
    ///
    /// # Errors
    /// Returns [`InvalidSize`] if the number encodes no size.
    #[inline]
    pub const fn get(self) -> Result<Size, InvalidSize> {
        if (self.0 as u8) < COUNT { Ok(self.0) } else { Err(InvalidSize(self.0 as u8)) }
    }

    /// Returns the modifier with its dot.
    #[inline]
    pub(crate) fn modifier(self) -> &'static Modifier {
        const SIX: &Modifier = &Modifier::of(InvalidSize(6).name());
        const SEVEN: &Modifier = &Modifier::of(InvalidSize(7).name());
        match self.get() {
            Ok(size) => size.modifier(),
            Err(InvalidSize(6)) => SIX,
            Err(InvalidSize(_)) => SEVEN,
        }
    }

    /// Returns the modifier without its leading dot.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.get() {
            Ok(size) => size.name(),
            Err(invalid) => invalid.name(),
        }
    }
}

/// Writes the name.
impl<const COUNT: u8> fmt::Display for LimitedSize<COUNT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl<const COUNT: u8> FieldValue for LimitedSize<COUNT> {
    const WIDTH: u32 = Size::WIDTH;

    #[inline]
    fn from_bits(bits: u64) -> Self {
        Self(Size::from_bits(bits))
    }

    #[inline]
    fn to_bits(self) -> u64 {
        self.0.to_bits()
    }

    fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Ok(size) => size.fmt_meaning(f),
            Err(invalid) => write!(f, "{invalid}: no size, not to be executed"),
        }
    }
}

/// The size field of any instruction.
pub(crate) trait SizeField: Copy {
    /// Returns the size if the number encodes one.
    fn size(self) -> Result<Size, InvalidSize>;
}

impl SizeField for Size {
    #[inline]
    fn size(self) -> Result<Size, InvalidSize> {
        Ok(self)
    }
}

impl<const COUNT: u8> SizeField for LimitedSize<COUNT> {
    #[inline]
    fn size(self) -> Result<Size, InvalidSize> {
        self.get()
    }
}
