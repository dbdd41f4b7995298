//! The legality of loads of Tensor Memory: [`PartialForm::problems`] is the only judge of how their parts go together.

use super::reduction::ReductionType;
use super::shape::{Form, Repeat, Shape};

/// An illegal combination, by the rule of the grammar that it breaks (PTX ISA, "tcgen05.ld", syntax and Table 49).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IllegalLoadError {
    /// The shape does not exist.
    #[error("invalid shape; expected 16x64b, 16x128b, 16x256b, 32x32b or 16x32bx2")]
    Shape,
    /// The number of repeats is invalid, or too high for the shape.
    #[error(".{shape} does not support .x{num}; expected a power of two from .x1 to .{largest}")]
    Num {
        /// The number given.
        num: u32,
        /// The shape.
        shape: Shape,
        /// The most repeats of this shape.
        largest: Repeat,
    },
    /// `.16x32bx2` without a half offset.
    #[error(".16x32bx2 needs a half offset after the address: an integer constant")]
    SplitMissing,
    /// A half offset with another shape.
    #[error("only .16x32bx2 takes a half offset, .{shape} does not")]
    SplitSurplus {
        /// The shape.
        shape: Shape,
    },
    /// A reduction with a shape other than `.32x32b` and `.16x32bx2`.
    #[error(".red takes .32x32b and .16x32bx2, not .{shape}")]
    ReductionShape {
        /// The shape.
        shape: Shape,
    },
    /// A reduction of `.x1`.
    #[error(".red needs .x2 or more")]
    ReductionNum,
    /// A reduction of packed registers.
    #[error(".red does not support .pack::16b")]
    ReductionPack,
    /// A reduction with an invalid operation or type.
    #[error("invalid reduction; expected min or max of u32, s32 or f32")]
    ReductionKind,
    /// `.abs` or `.NaN` with an integer type.
    #[error(".abs and .NaN are only valid with .f32, not with .{kind}")]
    ReductionModifier {
        /// The type.
        kind: ReductionType,
    },
}

impl IllegalLoadError {
    /// Returns the code of the rule: `shape`, `num`, `split-operand`, `red-shape`, `red-num`,
    /// `red-pack`, `red-kind` or `red-modifier`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::Num { .. } => "num",
            Self::SplitMissing | Self::SplitSurplus { .. } => "split-operand",
            Self::ReductionShape { .. } => "red-shape",
            Self::ReductionNum => "red-num",
            Self::ReductionPack => "red-pack",
            Self::ReductionKind => "red-kind",
            Self::ReductionModifier { .. } => "red-modifier",
        }
    }
}

/// The parts of a load in any combination. Some may be missing, as in a text that is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartialForm {
    /// `.shape`.
    pub shape: Option<Shape>,
    /// `.num`.
    pub num: Option<u32>,
    /// `.pack::16b`.
    pub pack: bool,
    /// Whether there is a half offset; `None` if that is not known.
    pub split: Option<bool>,
    /// `.red`.
    pub is_reduction: bool,
    /// `.abs` or `.NaN`.
    pub modifier: bool,
    /// The type of a reduction.
    pub kind: Option<ReductionType>,
}

impl From<Form> for PartialForm {
    fn from(form: Form) -> Self {
        let Form { shape, num, pack, split, reduction } = form;
        Self {
            shape: Some(shape),
            num: Some(num),
            pack,
            split: Some(split.is_some()),
            is_reduction: reduction.is_some(),
            modifier: reduction.is_some_and(|red| red.absolute || red.propagates_nan),
            kind: reduction.map(|red| red.kind),
        }
    }
}

impl Form {
    /// Returns all rules that the combination breaks, in the order of [`IllegalLoadError`]; none if it is legal.
    pub fn problems(self) -> impl Iterator<Item = IllegalLoadError> {
        PartialForm::from(self).problems()
    }
}

impl PartialForm {
    /// Returns the rules that the parts break, in the order of [`IllegalLoadError`]. Rules that depend on a missing part
    /// are not checked.
    pub fn problems(self) -> impl Iterator<Item = IllegalLoadError> {
        let of_reduction = self.reduction_problems().into_iter().filter(move |_| self.is_reduction);
        [self.num_problem(), self.split_problem()].into_iter().chain(of_reduction).flatten()
    }

    fn num_problem(self) -> Option<IllegalLoadError> {
        let (shape, num) = (self.shape?, self.num?);
        let largest = Repeat::largest(shape);
        let is_legal = Repeat::try_from(num).is_ok_and(|repeat| repeat <= largest);
        (!is_legal).then_some(IllegalLoadError::Num { num, shape, largest })
    }

    fn split_problem(self) -> Option<IllegalLoadError> {
        match (self.shape?, self.split?) {
            (Shape::S16x32bx2, false) => Some(IllegalLoadError::SplitMissing),
            (Shape::S16x32bx2, true) | (_, false) => None,
            (shape, true) => Some(IllegalLoadError::SplitSurplus { shape }),
        }
    }

    /// The errors of a `tcgen05.ld.red`.
    fn reduction_problems(self) -> [Option<IllegalLoadError>; 4] {
        let shape = self.shape.filter(|s| !matches!(s, Shape::S32x32b | Shape::S16x32bx2));
        let integer = self.kind.filter(|kind| self.modifier && *kind != ReductionType::F32);
        [
            shape.map(|shape| IllegalLoadError::ReductionShape { shape }),
            self.num.filter(|num| *num < 2).map(|_| IllegalLoadError::ReductionNum),
            self.pack.then_some(IllegalLoadError::ReductionPack),
            integer.map(|kind| IllegalLoadError::ReductionModifier { kind }),
        ]
    }
}
