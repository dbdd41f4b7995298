//! Which thread gets which cell in which register: [`Shape`], and the [`Form`] and [`Repeat`] of a load.
//!
//! # One table
//! In each shape a bit of a thread's number, or of a register's, adds one fixed power of two to
//! the lane or to the column of the cell, or moves on to the second half; all these steps differ.
//! So a row of [`Shape::layout`] lists the steps bit by bit, and everything else follows from it:
//! the cell of a thread's register ([`Shape::cell`]) is the sum of the steps of the bits that are
//! set, and the way back ([`Shape::owner`]) is to see which of them are in it.

use std::fmt;
use std::str::FromStr;

use super::reduction::Reduction;
use crate::syntax::ParseNameError;
use crate::syntax::named::named;

named! {
    /// The `.shape` of a load: lanes by bits of one repeat.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Shape: "a shape: 16x64b, 16x128b, 16x256b, 32x32b or 16x32bx2" {
        /// `.32x32b`: each thread reads its own lane.
        S32x32b = "32x32b",
        /// `.16x64b`: even threads read lanes 0 to 7, odd ones lanes 8 to 15.
        S16x64b = "16x64b",
        /// `.16x128b`: four threads a lane; odd registers are eight lanes further down.
        S16x128b = "16x128b",
        /// `.16x256b`: four threads a lane, two columns each: the fragment of an accumulator.
        S16x256b = "16x256b",
        /// `.16x32bx2`: two halves of 16 lanes, each with an address of its own.
        S16x32bx2 = "16x32bx2",
    }
}

/// What a bit that is set adds to the place of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellStep {
    /// This many lanes, a power of two.
    Lanes(usize),
    /// This many columns, a power of two.
    Columns(usize),
    /// The cell is in the second half, whose base is the address plus the half offset.
    SecondHalf,
}

/// A row of the table of shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeLayout {
    /// What bits 0 to 4 of the thread's number add.
    pub thread: [CellStep; 5],
    /// What the low bits of the register's number add: those that count within one repeat.
    pub register: &'static [CellStep],
    /// How many columns further the next repeat is. The bits of the register's number above
    /// [`register`](Self::register) count repeats.
    pub repeat_columns: usize,
}

/// The place of a cell, counted from the base of the load or, in the second half, from that of
/// the half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct CellOffset {
    /// Whether it is in the second half of a `.16x32bx2`.
    pub second_half: bool,
    /// Lanes from the base.
    pub lane: usize,
    /// Columns from the base; pairs of columns if `.pack::16b` makes one register of two.
    pub column: usize,
}

/// The most data registers that one load fills in a thread.
pub const MAX_REGISTERS: usize = 128;

impl Shape {
    /// Returns its row of the table: numeric layouts of CUTLASS (`copy_traits_sm100.hpp`, BSD-3), which agree with the
    /// formulas in the documentation of TVM and with the code of TileLang and Tilus.
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

    /// Returns the lanes that the load, or each of its halves, covers: 16 or 32.
    #[must_use]
    pub const fn lanes(self) -> usize {
        match self {
            Self::S32x32b => 32,
            _ => 16,
        }
    }

    /// Returns the number of rectangles that are read: 2 for `.16x32bx2`.
    #[must_use]
    pub const fn halves(self) -> usize {
        match self {
            Self::S16x32bx2 => 2,
            _ => 1,
        }
    }

    /// Returns the data registers of each thread for one repeat: 1, 2 or 4.
    #[must_use]
    pub const fn registers_per_repeat(self) -> usize {
        1 << self.layout().register.len()
    }

    /// Returns the cell that thread `thread` gets in its data register `register`. Threads are 0..=31 and
    /// registers 0..=127; higher bits of either number are ignored.
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

    /// Returns the thread, 0..=31, and its data register that get this cell: the inverse of
    /// [`cell`](Self::cell). The lane is one of [`lanes`](Self::lanes).
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
