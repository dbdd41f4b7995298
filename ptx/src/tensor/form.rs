//! The parts of an instruction: [`Repeat`] and [`Form`].

use std::fmt;
use std::str::FromStr;

use super::reduction::Reduction;
use super::shape::{MAX_REGISTERS, Shape};
use crate::syntax::ParseNameError;

/// The `.num` of a load: how often the shape is repeated along the columns. 1, 2, 4, 8, 16, 32, 64
/// or 128.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repeat(u8);

impl Repeat {
    /// All of them, ascending.
    pub const ALL: [Self; 8] =
        [Self(1), Self(2), Self(4), Self(8), Self(16), Self(32), Self(64), Self(128)];

    /// Returns the most repeats whose registers a thread can hold.
    pub(super) const fn largest(shape: Shape) -> Self {
        Self((MAX_REGISTERS / shape.registers_per_repeat()) as u8)
    }

    /// Returns the number, 1 to 128.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl TryFrom<u32> for Repeat {
    type Error = ParseNameError;

    fn try_from(num: u32) -> Result<Self, ParseNameError> {
        let is_repeat = num.is_power_of_two() && num <= 128;
        if is_repeat { Ok(Self(num as u8)) } else { Err(REPEATS) }
    }
}

impl FromStr for Repeat {
    type Err = ParseNameError;

    /// Reads a repeat without its dot: `x4`.
    fn from_str(name: &str) -> Result<Self, ParseNameError> {
        let digits = name.strip_prefix('x').filter(|digits| !digits.starts_with(['0', '+']));
        digits.and_then(|digits| digits.parse::<u32>().ok()).ok_or(REPEATS)?.try_into()
    }
}

const REPEATS: ParseNameError = ParseNameError::new("a repeat: x1, x2, x4 and so on to x128");

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.0)
    }
}

/// The parts of an instruction, in any combination; [`TensorLoad::new`](super::TensorLoad::new)
/// accepts the legal ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// `.shape`.
    pub shape: Shape,
    /// `.num`.
    pub num: u32,
    /// `.pack::16b`: the low halves of two neighbouring columns make one register.
    pub pack: bool,
    /// `immHalfSplitoff`: what is added to the address for the second half of `.16x32bx2`.
    pub split: Option<i64>,
    /// `.red` with its operation; `None` for a plain load.
    pub reduction: Option<Reduction>,
}

impl Form {
    /// Makes a plain load.
    #[must_use]
    pub const fn plain(shape: Shape, num: u32) -> Self {
        Self { shape, num, pack: false, split: None, reduction: None }
    }
}
