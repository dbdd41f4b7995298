//! `named!`, a macro for enums whose variants have names in a text, and [`ParseNameError`], the error of parsing them.

/// A text that is not the name of a type, a state space, a target and so on, or a number that is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("expected {expected}")]
pub struct ParseNameError {
    expected: &'static str,
}

impl ParseNameError {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(expected: &'static str) -> Self {
        Self { expected }
    }
}

/// Makes an enum with `ALL`, `name`, `Display` and `FromStr`. The literal after the colon describes the expected text.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    (
        $(#[$of_type:meta])*
        pub enum $type:ident: $expected:literal {
            $($(#[$of_variant:meta])* $variant:ident = $name:literal,)*
        }
    ) => {
        $(#[$of_type])*
        pub enum $type {
            $($(#[$of_variant])* $variant,)*
        }

        impl $type {
            /// All variants.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Returns the name as written, without a dot.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::ParseNameError;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.into_iter().find(|known| known.name() == name);
                found.ok_or($crate::ParseNameError::new($expected))
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
