//! The instructions: one enum over the layouts, with decode, encode, text and description.
//!
//! To add an instruction: its rows in [`crate::layout`], its text in a file beside `ld.rs`,
//! and its name in the list at the end of this file.

mod ld;

use core::fmt;

use crate::control::Control;
use crate::layout::Ld;
use crate::operand::{Pred, Reg, Size};
use crate::table::{FieldReading, Layout, Row};
use crate::text::{Cursor, ParseError, Text};

/// What an instruction's own file says of it: how it is written and how it is read.
pub(crate) trait Syntax: Layout {
    /// Appends the canonical text.
    fn write_text(&self, out: &mut Text);

    /// Reads what stands after the mnemonic: modifiers and operands.
    fn parse(guard: Guard, cursor: &mut Cursor<'_>) -> Result<Self, ParseError>;
}

/// The predicate in front of an instruction: `@P0`, `@!P3`; `@PT` is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate.
    pub pred: Pred,
    /// Whether the instruction executes where the predicate is false.
    pub negated: bool,
}

impl Guard {
    /// No guard: every active lane executes.
    pub const ALWAYS: Guard = Guard { pred: Pred::PT, negated: false };
}

/// The readings of every field of `word`, most significant first, or nothing where the word
/// is no load that is known here.
pub fn describe(word: u64) -> Option<impl Iterator<Item = FieldReading>> {
    Some(FieldReading::all(rows(word)?, word))
}

macro_rules! instructions {
    ($($type:ident),+ $(,)?) => {
        /// A load instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Instruction {
            $(
                #[doc = concat!("`", stringify!($type), "`.")]
                $type($type),
            )+
        }

        impl Instruction {
            /// The mnemonics, without modifiers.
            pub const MNEMONICS: &'static [&'static str] = &[$(<$type as Layout>::NAME),+];

            /// The load that `word` encodes, or nothing where it encodes none that is known.
            #[inline]
            pub fn decode(word: u64) -> Option<Self> {
                $(
                    if <$type as Layout>::matches(word) {
                        return Some(Self::$type(<$type as Layout>::unpack(word)));
                    }
                )+
                None
            }

            /// The word. `Instruction::decode(w)` then `encode` gives `w` back.
            #[inline]
            pub fn encode(self) -> u64 {
                match self {
                    $(Self::$type(load) => load.pack(),)+
                }
            }

            /// The canonical text, as nvdisasm prints it, without the semicolon.
            pub fn text(&self) -> Text {
                let mut out = Text::new();
                match self {
                    $(Self::$type(load) => load.write_text(&mut out),)+
                }
                out
            }

            /// The guard predicate.
            pub fn guard(&self) -> Guard {
                match self {
                    $(Self::$type(load) => Guard {
                        pred: load.guard,
                        negated: load.guard_negated,
                    },)+
                }
            }

            /// The first destination register.
            pub fn destination(&self) -> Reg {
                match self {
                    $(Self::$type(load) => load.destination,)+
                }
            }

            /// The base register of the address, `RZ` for none.
            pub fn base(&self) -> Reg {
                match self {
                    $(Self::$type(load) => load.base,)+
                }
            }

            /// How many bits are loaded, and how they fill the destination.
            pub fn size(&self) -> Size {
                match self {
                    $(Self::$type(load) => load.size,)+
                }
            }

            pub(crate) fn parse(
                mnemonic: &str,
                guard: Guard,
                cursor: &mut Cursor<'_>,
            ) -> Option<Result<Self, ParseError>> {
                $(
                    if mnemonic.eq_ignore_ascii_case(<$type as Layout>::NAME) {
                        return Some(<$type as Syntax>::parse(guard, cursor).map(Self::$type));
                    }
                )+
                None
            }
        }

        $(
            impl From<$type> for Instruction {
                fn from(load: $type) -> Self {
                    Self::$type(load)
                }
            }
        )+

        fn rows(word: u64) -> Option<&'static [Row]> {
            $(
                if <$type as Layout>::matches(word) {
                    return Some(<$type as Layout>::ROWS);
                }
            )+
            None
        }
    };
}

// The order is the order in which decoding tries them; the opcodes exclude each other.
instructions!(Ld);

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text().as_str())
    }
}

impl Control {
    /// The readings of the fields of a control word's slot, most significant first.
    pub fn describe(self) -> impl Iterator<Item = FieldReading> {
        FieldReading::all(Self::ROWS, self.pack())
    }
}
