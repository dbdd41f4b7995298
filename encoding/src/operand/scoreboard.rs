//! Scoreboards, with which instructions wait for one another.

use core::fmt;

use crate::field::Bits;

/// One of the six scoreboards, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scoreboard(Bits<3>);

impl Scoreboard {
    /// No scoreboard, encoded as 7.
    pub const NONE: Scoreboard = Scoreboard(Bits::<3>::MAX);

    /// Creates a scoreboard; `None` from 7 on. The hardware has 0..=5; 6 can be encoded, but no compiler emits it.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        match Bits::<3>::new(number) {
            Some(bits) if number != Self::NONE.0.get() => Some(Self(bits)),
            _ => None,
        }
    }

    /// Returns the number, 0..=6, or `None` for no scoreboard.
    #[must_use]
    pub const fn number(self) -> Option<u8> {
        if self.0.get() == Self::NONE.0.get() { None } else { Some(self.0.get()) }
    }
}

impl Scoreboard {
    /// Returns the scoreboard in the lowest 3 bits; ignores the others.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(Bits::from_bits(bits))
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0.get() as u64
    }

    pub(crate) fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            Some(number) => write!(f, "barrier {number}"),
            None => f.write_str("none"),
        }
    }
}

/// The scoreboards that an instruction waits for, one bit each; bit 0 is scoreboard 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct WaitMask(Bits<6>);

impl WaitMask {
    /// Creates a mask, or returns `None` if it is not below 64.
    #[must_use]
    pub const fn new(mask: u8) -> Option<Self> {
        match Bits::<6>::new(mask) {
            Some(bits) => Some(Self(bits)),
            None => None,
        }
    }

    /// Returns the bits, 0..=63.
    #[must_use]
    pub const fn mask(self) -> u8 {
        self.0.get()
    }

    /// Returns the scoreboards' numbers, ascending.
    pub fn scoreboards(self) -> impl Iterator<Item = u8> {
        (0..6).filter(move |n| self.mask() >> n & 1 != 0)
    }
}

impl WaitMask {
    /// Returns the mask in the lowest 6 bits; ignores the others.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(Bits::from_bits(bits))
    }

    pub(crate) fn fmt_meaning(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mask() == 0 {
            return f.write_str("wait for none");
        }
        f.write_str("wait for ")?;
        write_list(f, self.scoreboards())
    }
}

pub(crate) fn write_list(
    f: &mut fmt::Formatter<'_>,
    numbers: impl Iterator<Item = u8>,
) -> fmt::Result {
    for (i, number) in numbers.enumerate() {
        if i > 0 {
            f.write_str(",")?;
        }
        write!(f, "{number}")?;
    }
    Ok(())
}
