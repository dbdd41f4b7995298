//! The legality of written loads of Tensor Memory. The readers of text (`written.rs`, `rules/tensor.rs`) only map a
//! problem to its place.

use crate::syntax::ScalarType;
use crate::tensor::TensorLoadErrorKind as Problem;
use warpload_machine::tensor::{MAX_REGISTERS, PartialForm, ReductionOperation, ReductionType};

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

/// The name of a part that early versions do without, for messages.
pub(crate) const ALIGNED: &str = "`.aligned`";

/// The names of the types, for messages.
pub(crate) fn types(is_reduction: bool) -> &'static str {
    if is_reduction { "`.f32`, `.u32` or `.s32`" } else { "`.b32`" }
}

impl Parts {
    /// All errors: missing parts first, then the rest in the order of [`IllegalLoadError`], the number of registers
    /// last. Rules that depend on a missing part are not checked.
    pub(crate) fn problems(self) -> impl Iterator<Item = Problem> {
        let form = self.form;
        let parts = [
            (self.sync, "`.sync`"),
            (self.aligned, ALIGNED),
            (form.shape.is_some(), "a shape such as `.32x32b`"),
            (form.num.is_some(), "a repeat such as `.x4`"),
            (!form.is_reduction || self.operation.is_some(), "`.min` or `.max`"),
        ];
        let missing = parts.into_iter().filter(|part| !part.0).map(|part| part.1);
        let without_red = !form.is_reduction && (self.operation.is_some() || form.modifier);
        missing
            .map(Problem::Expected)
            .chain(without_red.then_some(Problem::ReductionWithoutRed))
            .chain(self.type_problem())
            .chain(form.problems().map(Problem::Illegal))
            .chain(self.register_problem())
    }

    fn type_problem(self) -> Option<Problem> {
        let types = types(self.form.is_reduction);
        match self.scalar {
            None => Some(Problem::Expected(types)),
            Some(scalar) if is_type(self.form.is_reduction, scalar) => None,
            Some(_) => Some(Problem::Type { types }),
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
    scalar.name().parse().ok()
}
