//! [`TensorLoad`], a legal instruction.

use std::ops::Range;

use std::fmt;

use super::judge::IllegalLoadError;
use super::reduction::Reduction;
use super::shape::{Form, Repeat, Shape};

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
    /// Returns the columns of Tensor Memory that make up column `column` of the registers, counted from the base: one,
    /// or two if packed.
    #[must_use]
    pub fn memory_columns(&self, column: usize) -> Range<usize> {
        let width = if self.is_packed() { 2 } else { 1 };
        column * width..(column + 1) * width
    }

    /// Makes the instruction from its parts.
    ///
    /// # Errors
    /// Returns the first of [`Form::problems`].
    pub fn new(form: Form) -> Result<Self, IllegalLoadError> {
        if let Some(problem) = form.problems().next() {
            return Err(problem);
        }
        let Form { shape, num, pack, split, reduction } = form;
        let repeat = Repeat::try_from(num);
        debug_assert!(repeat.is_ok(), "the judge checks the repeat");
        let repeat = repeat.unwrap_or(Repeat::largest(shape));
        Ok(Self { shape, repeat, pack, split, reduction })
    }

    /// Returns the shape.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns how often the shape repeats along the columns.
    #[must_use]
    pub const fn repeat(&self) -> Repeat {
        self.repeat
    }

    /// Whether two neighbouring columns are packed into one register.
    #[must_use]
    pub const fn is_packed(&self) -> bool {
        self.pack
    }

    /// Returns the half offset: always `Some` for `.16x32bx2`, never for other shapes. Execution faults if it is
    /// negative or wider than 32 bits.
    #[must_use]
    pub const fn split(&self) -> Option<i64> {
        self.split
    }

    /// Returns the reduction of a `tcgen05.ld.red`.
    #[must_use]
    pub const fn reduction(&self) -> Option<Reduction> {
        self.reduction
    }

    /// Returns the number of data registers of each thread, 1..=128. The result of a reduction is in one more.
    #[must_use]
    pub const fn registers(&self) -> usize {
        self.shape.registers_per_repeat() * self.repeat.get()
    }

    /// Returns the number of Tensor Memory columns that the load, or each of its halves, covers: 1..=512.
    #[must_use]
    pub const fn columns(&self) -> usize {
        let packed = if self.pack { 2 } else { 1 };
        self.shape.layout().repeat_columns * self.repeat.get() * packed
    }

    /// Whether hardware requires an even column in the address. One public project measured it for `.16x64b`,
    /// `.16x128b`, packed `.16x32bx2` and reductions of `.32x32b`. It is assumed for `.16x256b`, other packed loads and
    /// other reductions.
    #[must_use]
    pub const fn needs_even_column(&self) -> bool {
        let any_column = matches!(self.shape, Shape::S32x32b | Shape::S16x32bx2);
        !any_column || self.pack || self.reduction.is_some()
    }
}

impl fmt::Display for TensorLoad {
    /// Writes the opcode with its qualifiers, the operation of a reduction before its type:
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
    use super::super::reduction::{ReductionOperation, ReductionType};
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
        let max = Reduction::new(ReductionOperation::Max, ReductionType::U32);
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
