//! The mapping from threads and registers to cells: [`Shape`], and the [`Form`] and [`Repeat`] of a load.
//!
//! # One table
//! In each shape, every bit of the thread's number and of the register's number adds one fixed power of two to the lane
//! or the column of the cell, or selects the second half. All these steps are different. So a row of [`Shape::layout`]
//! lists the steps bit by bit, and everything else follows: the cell of a thread's register ([`Shape::cell`]) is the
//! sum of the steps of the set bits, and the inverse ([`Shape::owner`]) tests which steps the cell's place contains.

use std::fmt;
use std::str::FromStr;

use super::reduction::Reduction;
use crate::ParseNameError;
use crate::named;

named! {
    /// The `.shape` of a load: lanes by bits of one repeat.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Shape: "a shape: 16x64b, 16x128b, 16x256b, 32x32b or 16x32bx2" {
        /// `.32x32b`: each thread reads its own lane.
        S32x32b = "32x32b",
        /// `.16x64b`: even threads read lanes 0 to 7, odd threads lanes 8 to 15.
        S16x64b = "16x64b",
        /// `.16x128b`: four threads a lane. Odd registers are eight lanes further down.
        S16x128b = "16x128b",
        /// `.16x256b`: four threads a lane, two columns each: an accumulator fragment.
        S16x256b = "16x256b",
        /// `.16x32bx2`: two halves of 16 lanes, each with an address of its own.
        S16x32bx2 = "16x32bx2",
    }
}

/// The step that a set bit adds to the place of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellStep {
    /// A number of lanes, a power of two.
    Lanes(usize),
    /// A number of columns, a power of two.
    Columns(usize),
    /// A step to the second half. Its base is the address plus the half offset.
    SecondHalf,
}

/// A row of the table of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeLayout {
    /// The steps of bits 0 to 4 of the thread's number.
    pub thread: [CellStep; 5],
    /// The steps of the low bits of the register's number, which count within one repeat.
    pub register: &'static [CellStep],
    /// The columns from one repeat to the next. The bits of the register's number above [`register`](Self::register)
    /// count repeats.
    pub repeat_columns: usize,
}

/// The place of a cell relative to the base of the load or, in the second half, to the base of that half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct CellOffset {
    /// Whether the cell is in the second half of a `.16x32bx2`.
    pub second_half: bool,
    /// The lane, relative to the base.
    pub lane: usize,
    /// The column, relative to the base; a pair of columns under `.pack::16b`.
    pub column: usize,
}

/// The most data registers of a load, per thread.
pub const MAX_REGISTERS: usize = 128;

impl Shape {
    /// Returns the shape's row of the table. The numbers are CUTLASS's layouts (`copy_traits_sm100.hpp`, BSD-3), and
    /// agree with the formulas in TVM's documentation and with the code of TileLang and Tilus.
    #[must_use]
    pub const fn layout(self) -> &'static ShapeLayout {
        use CellStep::{Columns, Lanes, SecondHalf};
        match self {
            Self::S32x32b => &ShapeLayout {
                thread: [Lanes(1), Lanes(2), Lanes(4), Lanes(8), Lanes(16)],
                register: &[],
                repeat_columns: 1,
            },
            Self::S16x64b => &ShapeLayout {
                thread: [Lanes(8), Columns(1), Lanes(1), Lanes(2), Lanes(4)],
                register: &[],
                repeat_columns: 2,
            },
            Self::S16x128b => &ShapeLayout {
                thread: [Columns(1), Columns(2), Lanes(1), Lanes(2), Lanes(4)],
                register: &[Lanes(8)],
                repeat_columns: 4,
            },
            Self::S16x256b => &ShapeLayout {
                thread: [Columns(2), Columns(4), Lanes(1), Lanes(2), Lanes(4)],
                register: &[Columns(1), Lanes(8)],
                repeat_columns: 8,
            },
            Self::S16x32bx2 => &ShapeLayout {
                thread: [Lanes(1), Lanes(2), Lanes(4), Lanes(8), SecondHalf],
                register: &[],
                repeat_columns: 1,
            },
        }
    }

    /// Returns the number of lanes that the load, or each of its halves, covers: 16 or 32.
    #[must_use]
    pub const fn lanes(self) -> usize {
        match self {
            Self::S32x32b => 32,
            _ => 16,
        }
    }

    /// Returns the number of rectangles that are read: 2 for `.16x32bx2`, otherwise 1.
    #[must_use]
    pub const fn halves(self) -> usize {
        match self {
            Self::S16x32bx2 => 2,
            _ => 1,
        }
    }

    /// Returns the number of data registers of each thread for one repeat: 1, 2 or 4.
    #[must_use]
    pub const fn registers_per_repeat(self) -> usize {
        1 << self.layout().register.len()
    }

    /// Returns the cell for data register `register` of thread `thread`. Threads are 0..=31 and registers 0..=127;
    /// higher bits are ignored.
    #[must_use]
    pub const fn cell(self, thread: usize, register: usize) -> CellOffset {
        let layout = self.layout();
        let register = register % MAX_REGISTERS;
        let mut cell = CellOffset {
            second_half: false,
            lane: 0,
            column: (register >> layout.register.len()) * layout.repeat_columns,
        };
        let mut bit = 0;
        while bit < layout.thread.len() {
            if thread >> bit & 1 != 0 {
                cell = cell.moved(layout.thread[bit]);
            }
            bit += 1;
        }
        bit = 0;
        while bit < layout.register.len() {
            if register >> bit & 1 != 0 {
                cell = cell.moved(layout.register[bit]);
            }
            bit += 1;
        }
        cell
    }

    /// Returns the thread, 0..=31, and its data register for a cell: the inverse of [`cell`](Self::cell). The lane must
    /// be below [`lanes`](Self::lanes).
    #[must_use]
    pub fn owner(self, cell: CellOffset) -> (usize, usize) {
        let layout = self.layout();
        let number = |steps: &[CellStep]| -> usize {
            steps.iter().enumerate().map(|(bit, step)| usize::from(cell.has(*step)) << bit).sum()
        };
        let repeat = cell.column / layout.repeat_columns;
        (number(&layout.thread), number(layout.register) | repeat << layout.register.len())
    }
}

impl CellOffset {
    const fn moved(mut self, step: CellStep) -> Self {
        match step {
            CellStep::Lanes(lanes) => self.lane += lanes,
            CellStep::Columns(columns) => self.column += columns,
            CellStep::SecondHalf => self.second_half = true,
        }
        self
    }

    const fn has(self, step: CellStep) -> bool {
        match step {
            CellStep::Lanes(lanes) => self.lane & lanes != 0,
            CellStep::Columns(columns) => self.column & columns != 0,
            CellStep::SecondHalf => self.second_half,
        }
    }
}

impl fmt::Display for CellStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lanes(1) => f.write_str("1 lane"),
            Self::Lanes(lanes) => write!(f, "{lanes} lanes"),
            Self::Columns(1) => f.write_str("1 column"),
            Self::Columns(columns) => write!(f, "{columns} columns"),
            Self::SecondHalf => f.write_str("the second half"),
        }
    }
}

/// The `.num` of a load, the number of repeats of the shape along the columns: 1, 2, 4, 8, 16, 32, 64 or 128.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Repeat(u8);

impl Repeat {
    /// All repeats, ascending.
    pub const ALL: [Self; 8] =
        [Self(1), Self(2), Self(4), Self(8), Self(16), Self(32), Self(64), Self(128)];

    /// The most repeats of a shape, limited by the registers of a thread.
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

/// The parts of an instruction in any combination. [`TensorLoad::new`](super::TensorLoad::new) accepts the legal
/// combinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// `.shape`.
    pub shape: Shape,
    /// `.num`.
    pub num: u32,
    /// `.pack::16b`: the low halves of two neighbouring columns share one register.
    pub pack: bool,
    /// `immHalfSplitoff`: the offset from the address to the second half of `.16x32bx2`.
    pub split: Option<i64>,
    /// `.red` with its operation; `None` for a plain load.
    pub reduction: Option<Reduction>,
}

impl Form {
    /// Makes the form of a load without pack, half offset and reduction.
    #[must_use]
    pub const fn plain(shape: Shape, num: u32) -> Self {
        Self { shape, num, pack: false, split: None, reduction: None }
    }
}
