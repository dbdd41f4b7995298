//! The legality of Tensor Memory loads. [`Parts::problems`] is the only judge, both for instructions that a program
//! constructs ([`TensorLoad::new`](super::TensorLoad::new)) and for written ones (`written.rs`, `rules/tensor.rs`). The
//! readers of text only map a problem to its place.

use super::reduction::{ReductionOperation, ReductionType};
use super::shape::{Form, MAX_REGISTERS, Repeat, Shape};
use crate::syntax::ScalarType;

/// The parts of a `tcgen05.ld` or `tcgen05.ld.red`. Any of them may be missing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    /// Whether the opcode is `tcgen05.ld.red`.
    pub(crate) is_reduction: bool,
    pub(crate) sync: bool,
    pub(crate) aligned: bool,
    pub(crate) shape: Option<Shape>,
    pub(crate) num: Option<u32>,
    pub(crate) pack: bool,
    pub(crate) operation: Option<ReductionOperation>,
    /// `.abs` or `.NaN`.
    pub(crate) modifier: bool,
    pub(crate) scalar: Option<ScalarType>,
    /// Whether there is a half offset; `None` if the number of operands does not tell.
    pub(crate) split: Option<bool>,
    /// The number of data registers, if they are in braces.
    pub(crate) registers: Option<usize>,
}

/// An error in the parts of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// A required part is missing.
    Missing(RequiredPart),
    /// A `tcgen05.ld` with an operation, `.abs` or `.NaN`.
    ReductionWithoutRed,
    /// A type that the instruction does not have.
    Type,
    /// An illegal combination of legal parts.
    Combination(IllegalLoadError),
    /// The number of data registers does not match the shape and `.num`.
    RegisterCount { expected: usize, got: usize },
}

/// A part that every load must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredPart {
    Sync,
    Aligned,
    Shape,
    Repeat,
    Operation,
    Type,
}

impl RequiredPart {
    /// The name of the missing part, for messages.
    pub(crate) fn name(self, is_reduction: bool) -> &'static str {
        match self {
            Self::Sync => "`.sync`",
            Self::Aligned => "`.aligned`",
            Self::Shape => "a shape such as `.32x32b`",
            Self::Repeat => "a repeat such as `.x4`",
            Self::Operation => "`.min` or `.max`",
            Self::Type if is_reduction => "`.f32`, `.u32` or `.s32`",
            Self::Type => "`.b32`",
        }
    }
}

/// An illegal combination, by the rule of the grammar that it breaks (PTX ISA, "tcgen05.ld", syntax and Table 49).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
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

impl Form {
    /// Returns all rules that the combination breaks, in the order of [`IllegalLoadError`]; none if it is legal.
    pub fn problems(self) -> impl Iterator<Item = IllegalLoadError> {
        Parts::from(self).combinations()
    }
}

impl From<Form> for Parts {
    /// Parts that a form does not have are filled in legally.
    fn from(form: Form) -> Self {
        let Form { shape, num, pack, split, reduction } = form;
        Self {
            is_reduction: reduction.is_some(),
            sync: true,
            aligned: true,
            shape: Some(shape),
            num: Some(num),
            pack,
            operation: reduction.map(|red| red.operation),
            modifier: reduction.is_some_and(|red| red.absolute || red.propagates_nan),
            scalar: Some(reduction.map_or(ScalarType::B32, |red| red.kind.scalar())),
            split: Some(split.is_some()),
            registers: None,
        }
    }
}

impl Parts {
    /// All errors: missing parts first, then the rest in the order of [`IllegalLoadError`], the number of registers
    /// last. Rules that depend on a missing part are not checked.
    pub(crate) fn problems(self) -> impl Iterator<Item = Problem> {
        let missing = [
            (!self.sync, RequiredPart::Sync),
            (!self.aligned, RequiredPart::Aligned),
            (self.shape.is_none(), RequiredPart::Shape),
            (self.num.is_none(), RequiredPart::Repeat),
            (self.is_reduction && self.operation.is_none(), RequiredPart::Operation),
        ];
        let missing = missing.into_iter().filter(|part| part.0).map(|part| part.1);
        let without_red = !self.is_reduction && (self.operation.is_some() || self.modifier);
        missing
            .map(Problem::Missing)
            .chain(without_red.then_some(Problem::ReductionWithoutRed))
            .chain(self.type_problem())
            .chain(self.combinations().map(Problem::Combination))
            .chain(self.register_problem())
    }

    /// The illegal combinations, in the order of [`IllegalLoadError`].
    pub(crate) fn combinations(self) -> impl Iterator<Item = IllegalLoadError> {
        let of_reduction = self.reduction_problems().into_iter().filter(move |_| self.is_reduction);
        [self.num_problem(), self.split_problem()].into_iter().chain(of_reduction).flatten()
    }

    fn type_problem(self) -> Option<Problem> {
        match self.scalar {
            None => Some(Problem::Missing(RequiredPart::Type)),
            Some(scalar) if !is_type(self.is_reduction, scalar) => Some(Problem::Type),
            Some(_) => None,
        }
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
        let integer = self.scalar.and_then(ReductionType::of_scalar);
        let integer = integer.filter(|kind| self.modifier && *kind != ReductionType::F32);
        [
            shape.map(|shape| IllegalLoadError::ReductionShape { shape }),
            self.num.filter(|num| *num < 2).map(|_| IllegalLoadError::ReductionNum),
            self.pack.then_some(IllegalLoadError::ReductionPack),
            integer.map(|kind| IllegalLoadError::ReductionModifier { kind }),
        ]
    }

    fn register_problem(self) -> Option<Problem> {
        let (shape, num, got) = (self.shape?, self.num?, self.registers?);
        let expected = shape.registers_per_repeat() * num as usize;
        let is_wrong = expected <= MAX_REGISTERS && expected != got;
        is_wrong.then_some(Problem::RegisterCount { expected, got })
    }
}

/// Whether the type is valid: `.b32` for plain loads, and the types of [`ReductionType`] for reductions.
pub(crate) fn is_type(is_reduction: bool, scalar: ScalarType) -> bool {
    match is_reduction {
        true => ReductionType::of_scalar(scalar).is_some(),
        false => scalar == ScalarType::B32,
    }
}
