//! Enums in which every value has a number in a field and a name in the text: the macro that makes them, and the cache
//! operators.

use crate::impossible::OrImpossible;

/// One row per value, in the order of their numbers: `Variant, "NAME", "meaning";`. Generates the
/// enum, its [`FieldValue`](crate::field::FieldValue) and its names; the compiler checks that there
/// are as many rows as the field has values. An empty name is not printed. The default is what text
/// without a modifier means.
macro_rules! named_values {
    (
        $(#[$attribute:meta])*
        $type:ident, $width:literal bits, default $default:ident;
        $( $variant:ident, $name:literal, $meaning:literal; )+
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $type {
            $(
                #[doc = concat!($name, " ", $meaning, ".")]
                $variant,
            )+
        }

        impl $type {
            /// All of them, in the order of their encoding.
            pub const ALL: [$type; 1 << $width] = [$(Self::$variant),+];

            /// The modifiers without leading dots, in the order of their encoding.
            pub(crate) const NAMES: [$crate::ready::Name; 1 << $width] =
                [$($crate::ready::Name::of($name)),+];

            /// The modifiers with their dots, ready to be printed.
            const MODIFIERS: [$crate::ready::Modifier; 1 << $width] =
                [$($crate::ready::Modifier::of($name)),+];

            /// Returns the modifier with its dot.
            #[inline]
            pub(crate) fn modifier(self) -> &'static $crate::ready::Modifier {
                let modifier = Self::MODIFIERS.get(self as usize);
                modifier.or_impossible(&$crate::ready::Modifier::EMPTY, "each value has one")
            }

            /// Returns the modifier without its leading dot; empty if none is printed.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        /// Writes the name.
        impl core::fmt::Display for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }

        impl Default for $type {
            #[inline]
            fn default() -> Self {
                Self::$default
            }
        }

        impl $crate::field::FieldValue for $type {
            const WIDTH: u32 = $width;

            #[inline]
            fn from_bits(bits: u64) -> Self {
                let value = Self::ALL.get(bits as usize & (Self::ALL.len() - 1)).copied();
                value.or_impossible(Self::$default, "there are as many values as numbers")
            }

            #[inline]
            fn to_bits(self) -> u64 {
                self as u64
            }

            fn fmt_meaning(self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let meaning = match self {
                    $(Self::$variant => $meaning,)+
                };
                let separator = if self.name().is_empty() { "" } else { ": " };
                write!(f, "{self}{separator}{meaning}")
            }
        }
    };
}

pub(super) use named_values;

named_values! {
    /// How the load uses the caches. It never changes the value (docs/ld.md section 4, 9).
    CacheOp, 2 bits, default Ca;
    Ca, "CA", "cache at all levels";
    Cg, "CG", "cache at global level, L2 and below";
    Ci, "CI", "inconsistent, for data that never change";
    Cv, "CV", "volatile, fetch again";
}

named_values! {
    /// How `LDL` uses the caches: like [`CacheOp`], except that the second one is for memory whose
    /// contents are not needed again (docs/load-family.md section 1).
    LocalCacheOp, 2 bits, default Ca;
    Ca, "CA", "cache at all levels";
    Lu, "LU", "last use, the line need not be written back";
    Ci, "CI", "inconsistent, for data that never change";
    Cv, "CV", "volatile, fetch again";
}

#[cfg(test)]
mod tests {
    use crate::field::FieldValue;
    use crate::{CacheOp, ConstantMode, LocalCacheOp, Size};

    #[test]
    fn values_follow_their_encoding() {
        fn check<T: FieldValue + PartialEq + core::fmt::Debug>(all: &[T]) {
            assert_eq!(all.len(), 1 << T::WIDTH);
            for (bits, value) in all.iter().enumerate() {
                assert_eq!(value.to_bits(), bits as u64);
                assert_eq!(T::from_bits(bits as u64), *value);
            }
        }
        check(&Size::ALL);
        check(&CacheOp::ALL);
        check(&LocalCacheOp::ALL);
        check(&ConstantMode::ALL);
    }
}
