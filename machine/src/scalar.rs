//! [`ScalarType`]: the types of values, including packed and narrow ones.

/// Defines the enum and the width of a value in bits.
macro_rules! scalar_types {
    ($($variant:ident $name:literal $bits:literal,)*) => {
        crate::named! {
            /// The type of a value. Its name is that of PTX, without a dot.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum ScalarType: "a type such as `u32`" {
                $(
                    #[doc = concat!("A `", $name, "`: ", $bits, " bits.")]
                    $variant = $name,
                )*
            }
        }

        impl ScalarType {
            /// The width of a value in bits.
            #[must_use]
            pub const fn bits(self) -> u32 {
                match self {
                    $(Self::$variant => $bits,)*
                }
            }
        }
    };
}

// The types of registers come first, up to `.f64`.
scalar_types! {
    Pred "pred" 1, B8 "b8" 8, B16 "b16" 16, B32 "b32" 32, B64 "b64" 64, B128 "b128" 128,
    U8 "u8" 8, U16 "u16" 16, U32 "u32" 32, U64 "u64" 64,
    S8 "s8" 8, S16 "s16" 16, S32 "s32" 32, S64 "s64" 64,
    F16 "f16" 16, F16x2 "f16x2" 32, F32 "f32" 32, F64 "f64" 64,
    B1 "b1" 1, B2 "b2" 2, B4 "b4" 4, U2 "u2" 2, U4 "u4" 4, S2 "s2" 2, S4 "s4" 4,
    U16x2 "u16x2" 32, S16x2 "s16x2" 32, U8x4 "u8x4" 32, S8x4 "s8x4" 32,
    Bf16 "bf16" 16, Bf16x2 "bf16x2" 32, Tf32 "tf32" 32, F32x2 "f32x2" 64,
    E4m3 "e4m3" 8, E5m2 "e5m2" 8, E4m3x2 "e4m3x2" 16, E5m2x2 "e5m2x2" 16,
    E4m3x4 "e4m3x4" 32, E5m2x4 "e5m2x4" 32, E2m3 "e2m3" 8, E2m3x2 "e2m3x2" 16,
    E2m3x4 "e2m3x4" 32, E3m2 "e3m2" 8, E3m2x2 "e3m2x2" 16, E3m2x4 "e3m2x4" 32,
    E2m1 "e2m1" 4, E2m1x2 "e2m1x2" 8, E2m1x4 "e2m1x4" 16, Ue4m3 "ue4m3" 8, Ue4m3x2 "ue4m3x2" 16,
    Ue8m0 "ue8m0" 8, Ue8m0x2 "ue8m0x2" 16, S2f6 "s2f6" 8, S2f6x2 "s2f6x2" 16,
    Texref "texref" 64, Samplerref "samplerref" 64, Surfref "surfref" 64, Unknown "?" 32,
}

impl ScalarType {
    /// The size of a value in memory in bytes.
    #[must_use]
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// The width of a register of this type; `None` if no register is of it. [PTX ISA, Fundamental Types]
    #[must_use]
    pub fn register_bits(self) -> Option<u32> {
        (self as usize <= Self::F64 as usize).then_some(self.bits())
    }

    /// The size of a variable of this type in bytes; `None` for predicates, and if no register is of it.
    #[must_use]
    pub fn variable_bytes(self) -> Option<u32> {
        self.register_bits().map(|bits| bits / 8).filter(|bytes| *bytes > 0)
    }

    /// Whether only texture and surface instructions read it.
    #[must_use]
    pub fn is_opaque(self) -> bool {
        matches!(self, Self::Texref | Self::Samplerref | Self::Surfref)
    }

    /// Whether values are uninterpreted bits of a register.
    #[must_use]
    pub fn is_bits(self) -> bool {
        matches!(self, Self::B8 | Self::B16 | Self::B32 | Self::B64 | Self::B128)
    }

    /// Whether a register of this type holds one integer or bits.
    #[must_use]
    pub fn is_integer(self) -> bool {
        self.variable_bytes().is_some() && !self.is_float()
    }

    /// Whether values are signed integers, also packed ones.
    #[must_use]
    pub fn is_signed(self) -> bool {
        use ScalarType::{S2, S4, S8, S8x4, S16, S16x2, S32, S64};
        matches!(self, S2 | S4 | S8 | S16 | S32 | S64 | S16x2 | S8x4)
    }

    /// Whether values are floats or fixed-point numbers, also packed ones.
    #[must_use]
    pub fn is_float(self) -> bool {
        use ScalarType::{Bf16, E2m1, E2m3, E3m2, E4m3, E5m2, F16, F32, F64, S2f6, Tf32, Ue8m0};
        matches!(
            self.parts().0,
            F16 | Bf16 | Tf32 | F32 | F64 | E4m3 | E5m2 | E2m3 | E3m2 | E2m1 | Ue8m0 | S2f6
        )
    }

    /// The type of one number in a packed type, and how many there are; other types are one number.
    #[must_use]
    pub fn parts(self) -> (Self, u32) {
        use ScalarType as T;
        match self {
            T::F16x2 => (T::F16, 2),
            T::Bf16x2 => (T::Bf16, 2),
            T::F32x2 => (T::F32, 2),
            T::E4m3x2 => (T::E4m3, 2),
            T::E5m2x2 => (T::E5m2, 2),
            T::E2m3x2 => (T::E2m3, 2),
            T::E3m2x2 => (T::E3m2, 2),
            T::E2m1x2 => (T::E2m1, 2),
            T::Ue8m0x2 => (T::Ue8m0, 2),
            T::S2f6x2 => (T::S2f6, 2),
            T::E4m3x4 => (T::E4m3, 4),
            T::E5m2x4 => (T::E5m2, 4),
            T::E2m3x4 => (T::E2m3, 4),
            T::E3m2x4 => (T::E3m2, 4),
            T::E2m1x4 => (T::E2m1, 4),
            _ => (self, 1),
        }
    }
}
