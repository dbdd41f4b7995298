//! [`Width`]: how many bytes a lane of a load reads.

use warpload_encoding::Size;

/// As many words of 32 bits as the widest access has; those after an access's own are 0.
pub type Words = [u32; Width::MAX_REGISTERS];

/// The number of bytes that each lane of a load reads. Addresses are rounded down to a multiple
/// of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Width {
    /// 1 byte.
    B1 = 1,
    /// 2 bytes.
    B2 = 2,
    /// 4 bytes.
    B4 = 4,
    /// 8 bytes.
    B8 = 8,
    /// 16 bytes.
    B16 = 16,
    /// 32 bytes: PTX loads of 256 bits.
    B32 = 32,
}

impl Width {
    /// All widths, ascending.
    pub const ALL: [Width; 6] = [Self::B1, Self::B2, Self::B4, Self::B8, Self::B16, Self::B32];
    /// The number of registers that the widest access fills.
    pub const MAX_REGISTERS: usize = 8;

    /// Returns the number of bytes: 1, 2, 4, 8, 16 or 32.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self as u32
    }

    /// Returns the number of 32-bit registers that a lane's value fills: 1, 2, 4 or 8.
    #[inline]
    #[must_use]
    pub const fn registers(self) -> u32 {
        self.bytes().div_ceil(4)
    }

    /// Returns the width of that many bytes, or `None` if no load has it.
    #[must_use]
    pub fn from_bytes(bytes: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.bytes() == bytes)
    }
}

impl From<Size> for Width {
    fn from(size: Size) -> Self {
        match size {
            Size::U8 | Size::S8 => Self::B1,
            Size::U16 | Size::S16 => Self::B2,
            Size::B32 => Self::B4,
            Size::B64 => Self::B8,
            Size::B128 | Size::U128 => Self::B16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_widths_agree() {
        for size in Size::ALL {
            let width = Width::from(size);
            assert_eq!((width.bytes(), width.registers()), (size.bytes(), size.registers()));
        }
        assert_eq!([0, 3, 8, 64].map(Width::from_bytes), [None, None, Some(Width::B8), None]);
    }
}
