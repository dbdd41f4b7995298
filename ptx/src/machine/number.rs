//! [`NumberType`]: the types of instructions, including packed and narrow ones.
//! [`ScalarType`](crate::syntax::ScalarType) lacks these, because it only has the types of loads.

use crate::module::Module;
use crate::syntax::load::{PtxInstruction, QualifierKind};

/// Defines the enum and its table: variant, name, and width of a value in bits.
macro_rules! number_types {
    ($($variant:ident $name:literal $bits:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(super) enum NumberType {
            $($variant,)*
        }

        const TABLE: &[(NumberType, &str, u32)] = &[$((NumberType::$variant, $name, $bits),)*];
    };
}

number_types! {
    Pred "pred" 1, B1 "b1" 1, B8 "b8" 8, B16 "b16" 16, B32 "b32" 32, B64 "b64" 64, B128 "b128" 128,
    U4 "u4" 4, U8 "u8" 8, U16 "u16" 16, U32 "u32" 32, U64 "u64" 64,
    S4 "s4" 4, S8 "s8" 8, S16 "s16" 16, S32 "s32" 32, S64 "s64" 64,
    U16x2 "u16x2" 32, S16x2 "s16x2" 32,
    F16 "f16" 16, F16x2 "f16x2" 32, Bf16 "bf16" 16, Bf16x2 "bf16x2" 32, Tf32 "tf32" 32,
    F32 "f32" 32, F64 "f64" 64,
    E4m3 "e4m3" 8, E5m2 "e5m2" 8, E4m3x2 "e4m3x2" 16, E5m2x2 "e5m2x2" 16,
}

impl NumberType {
    /// The types among the qualifiers of an instruction, in order.
    pub(super) fn of(module: &Module<'_>, instruction: &PtxInstruction<'_>) -> Vec<Self> {
        let types = instruction.qualifiers().filter(|q| matches!(q.kind, QualifierKind::Type(_)));
        let named = types.filter_map(|q| {
            let name = module.text(q.span).trim_start_matches('.');
            TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
        });
        named.collect()
    }

    fn row(self) -> (&'static str, u32) {
        let row = TABLE.iter().find(|row| row.0 == self);
        row.map_or(("", 32), |row| (row.1, row.2))
    }

    /// The inverse of a cast to `u32`, for types packed into an immediate.
    pub(super) fn of_number(number: u32) -> Self {
        TABLE.get(number as usize).map_or(Self::B32, |row| row.0)
    }

    /// The name in PTX, without a dot.
    pub(super) fn name(self) -> &'static str {
        self.row().0
    }

    /// The width of a value in bits.
    pub(super) fn bits(self) -> u32 {
        self.row().1
    }

    /// The size of a value in memory in bytes.
    pub(super) fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    pub(super) fn is_signed(self) -> bool {
        matches!(self, Self::S4 | Self::S8 | Self::S16 | Self::S32 | Self::S64 | Self::S16x2)
    }

    pub(super) fn is_float(self) -> bool {
        use NumberType::{Bf16, Bf16x2, E4m3, E4m3x2, E5m2, E5m2x2, F16, F16x2, F32, F64, Tf32};
        matches!(
            self,
            F16 | F16x2 | Bf16 | Bf16x2 | Tf32 | F32 | F64 | E4m3 | E5m2 | E4m3x2 | E5m2x2
        )
    }
}
