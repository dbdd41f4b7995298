//! The legality of written loads of Tensor Memory. The readers of text (`written.rs`, `rules/tensor.rs`) only map a
//! [`Problem`] to its place.

use crate::syntax::ScalarType;
use warpload_machine::tensor::{
    IllegalLoadError, MAX_REGISTERS, PartialForm, ReductionOperation, ReductionType,
};

/// The parts of a `tcgen05.ld` or `tcgen05.ld.red`. Any of them may be missing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    /// Those that must go together.
    pub(crate) form: PartialForm,
    pub(crate) sync: bool,
    pub(crate) aligned: bool,
    pub(crate) operation: Option<ReductionOperation>,
    pub(crate) scalar: Option<ScalarType>,
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

impl Parts {
    /// All errors: missing parts first, then the rest in the order of [`IllegalLoadError`], the number of registers
    /// last. Rules that depend on a missing part are not checked.
    pub(crate) fn problems(self) -> impl Iterator<Item = Problem> {
        let form = self.form;
        let missing = [
            (!self.sync, RequiredPart::Sync),
            (!self.aligned, RequiredPart::Aligned),
            (form.shape.is_none(), RequiredPart::Shape),
            (form.num.is_none(), RequiredPart::Repeat),
            (form.is_reduction && self.operation.is_none(), RequiredPart::Operation),
        ];
        let missing = missing.into_iter().filter(|part| part.0).map(|part| part.1);
        let without_red = !form.is_reduction && (self.operation.is_some() || form.modifier);
        missing
            .map(Problem::Missing)
            .chain(without_red.then_some(Problem::ReductionWithoutRed))
            .chain(self.type_problem())
            .chain(form.problems().map(Problem::Combination))
            .chain(self.register_problem())
    }

    fn type_problem(self) -> Option<Problem> {
        match self.scalar {
            None => Some(Problem::Missing(RequiredPart::Type)),
            Some(scalar) if !is_type(self.form.is_reduction, scalar) => Some(Problem::Type),
            Some(_) => None,
        }
    }

    fn register_problem(self) -> Option<Problem> {
        let (shape, num, got) = (self.form.shape?, self.form.num?, self.registers?);
        let expected = shape.registers_per_repeat() * num as usize;
        let is_wrong = expected <= MAX_REGISTERS && expected != got;
        is_wrong.then_some(Problem::RegisterCount { expected, got })
    }
}

/// Whether the type is valid: `.b32` for plain loads, and the types of [`ReductionType`] for reductions.
pub(crate) fn is_type(is_reduction: bool, scalar: ScalarType) -> bool {
    match is_reduction {
        true => reduction_type(scalar).is_some(),
        false => scalar == ScalarType::B32,
    }
}

/// The type of a reduction that this type names; `None` for other types.
pub(crate) fn reduction_type(scalar: ScalarType) -> Option<ReductionType> {
    Some(match scalar {
        ScalarType::U32 => ReductionType::U32,
        ScalarType::S32 => ReductionType::S32,
        ScalarType::F32 => ReductionType::F32,
        _ => return None,
    })
}
