//! [`Width`]: 32 or 64 bits.

/// The width of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Bits32,
    Bits64,
}

impl Width {
    pub(super) fn of(bits: u32) -> Self {
        if bits > 32 { Self::Bits64 } else { Self::Bits32 }
    }

    /// A number, sign-extended from this width.
    pub(super) fn wrap(self, number: i64) -> i64 {
        match self {
            Self::Bits32 => i64::from(number as i32),
            Self::Bits64 => number,
        }
    }
}
