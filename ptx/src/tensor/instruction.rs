//! The instruction and what its qualifiers allow.

use std::fmt;
use std::str::FromStr;

use super::judge::{IllegalLoadError, Parts};
use super::reduction::Reduction;
use super::shape::Shape;
use crate::syntax::ParseError;
use warpload::impossible::OrImpossible;

/// The most data registers that one load fills in a thread.
pub const MAX_REGISTERS: usize = 128;

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
    type Error = ParseError;

    fn try_from(num: u32) -> Result<Self, ParseError> {
        let is_repeat = num.is_power_of_two() && num <= 128;
        if is_repeat { Ok(Self(num as u8)) } else { Err(REPEATS) }
    }
}

impl FromStr for Repeat {
    type Err = ParseError;

    /// Reads a repeat without its dot: `x4`.
    fn from_str(name: &str) -> Result<Self, ParseError> {
        let digits = name.strip_prefix('x').filter(|digits| !digits.starts_with(['0', '+']));
        digits.and_then(|digits| digits.parse::<u32>().ok()).ok_or(REPEATS)?.try_into()
    }
}

const REPEATS: ParseError = ParseError::new("a repeat: x1, x2, x4 and so on to x128");

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.0)
    }
}

/// The parts of an instruction, in any combination; [`TensorLoad::new`] accepts the legal ones.
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

    /// Returns every rule that the combination breaks, in the order of [`IllegalLoadError`]; none
    /// for a legal one.
    pub fn problems(self) -> impl Iterator<Item = IllegalLoadError> {
        Parts::from(self).combinations()
    }
}

/// A legal `tcgen05.ld` or `tcgen05.ld.red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorLoad {
    shape: Shape,
    repeat: Repeat,
    pack: bool,
    split: Option<i64>,
    reduction: Option<Reduction>,
}

impl TensorLoad {
    /// Makes the instruction of these parts.
    ///
    /// # Errors
    /// Returns the first of [`Form::problems`].
    pub fn new(form: Form) -> Result<Self, IllegalLoadError> {
        if let Some(problem) = form.problems().next() {
            return Err(problem);
        }
        let Form { shape, num, pack, split, reduction } = form;
        let repeat = Repeat::try_from(num).ok();
        let repeat = repeat.or_impossible(Repeat::largest(shape), "the judge checks the repeat");
        Ok(Self { shape, repeat, pack, split, reduction })
    }

    /// Returns the shape.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns how often the shape is repeated along the columns.
    #[must_use]
    pub const fn repeat(&self) -> Repeat {
        self.repeat
    }

    /// Whether two neighbouring columns make one register.
    #[must_use]
    pub const fn is_packed(&self) -> bool {
        self.pack
    }

    /// Returns the half offset: always `Some` for `.16x32bx2`, never for other shapes. Executing
    /// faults on one that is negative or wider than 32 bits.
    #[must_use]
    pub const fn split(&self) -> Option<i64> {
        self.split
    }

    /// Returns the reduction of a `tcgen05.ld.red`.
    #[must_use]
    pub const fn reduction(&self) -> Option<Reduction> {
        self.reduction
    }

    /// Returns the data registers of each thread, 1..=128. The result of a reduction is one more.
    #[must_use]
    pub const fn registers(&self) -> usize {
        self.shape.registers_per_repeat() * self.repeat.get()
    }

    /// Returns the columns of Tensor Memory that the load, or each of its halves, covers: 1..=512.
    #[must_use]
    pub const fn columns(&self) -> usize {
        let packed = if self.pack { 2 } else { 1 };
        self.shape.layout().repeat_columns * self.repeat.get() * packed
    }

    /// Whether hardware requires the column of the address to be even: measured by one public project
    /// for `.16x64b`, `.16x128b`, packed `.16x32bx2` and reductions of `.32x32b`, assumed for
    /// `.16x256b`, other packed loads and other reductions.
    #[must_use]
    pub const fn needs_even_column(&self) -> bool {
        let any_column = matches!(self.shape, Shape::S32x32b | Shape::S16x32bx2);
        !any_column || self.pack || self.reduction.is_some()
    }
}

impl fmt::Display for TensorLoad {
    /// The opcode with its qualifiers, the operation of a reduction before its type:
    /// `tcgen05.ld.sync.aligned.16x64b.x2.pack::16b.b32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let red = if self.reduction.is_some() { ".red" } else { "" };
        write!(f, "tcgen05.ld{red}.sync.aligned.{}.{}", self.shape, self.repeat)?;
        if self.pack {
            f.write_str(".pack::16b")?;
        }
        match self.reduction {
            Some(reduction) => reduction.fmt(f),
            None => f.write_str(".b32"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reduction::{Operation, ReductionType};
    use super::*;

    #[test]
    fn the_table_of_register_counts() {
        // Rows of Table 49: .num, then registers of 32x32b, 16x128b and 16x256b.
        for (num, counts) in [
            (1, [Some(1), Some(2), Some(4)]),
            (2, [Some(2), Some(4), Some(8)]),
            (4, [Some(4), Some(8), Some(16)]),
            (8, [Some(8), Some(16), Some(32)]),
            (16, [Some(16), Some(32), Some(64)]),
            (32, [Some(32), Some(64), Some(128)]),
            (64, [Some(64), Some(128), None]),
            (128, [Some(128), None, None]),
        ] {
            let found = [Shape::S32x32b, Shape::S16x128b, Shape::S16x256b]
                .map(|shape| TensorLoad::new(Form::plain(shape, num)).ok().map(|l| l.registers()));
            assert_eq!(found, counts, "x{num}");
        }
    }

    #[test]
    fn every_rule() {
        let plain = Form::plain(Shape::S32x32b, 2);
        let max = Reduction::new(Operation::Max, ReductionType::U32);
        let red = Form { reduction: Some(max), ..plain };
        let of = |shape| Form { shape, ..red };
        let absolute = Reduction { absolute: true, ..max };
        for (form, code) in [
            (Form { num: 0, ..plain }, "num"),
            (Form { num: 3, ..plain }, "num"),
            (Form { num: 256, ..plain }, "num"),
            (Form { split: Some(1), ..plain }, "split-operand"),
            (of(Shape::S16x32bx2), "split-operand"),
            (of(Shape::S16x64b), "red-shape"),
            (Form { num: 1, ..red }, "red-num"),
            (Form { pack: true, ..red }, "red-pack"),
            (Form { reduction: Some(absolute), ..plain }, "red-modifier"),
        ] {
            assert_eq!(
                TensorLoad::new(form).map_err(IllegalLoadError::code),
                Err(code),
                "{form:?}"
            );
        }
        let kind = ReductionType::F32;
        let form = Form { reduction: Some(Reduction { kind, ..absolute }), ..plain };
        let text = TensorLoad::new(form).map(|load| load.to_string());
        assert_eq!(text.as_deref(), Ok("tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.f32"));
    }
}
