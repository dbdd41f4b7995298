//! The instructions: one enum over the layouts, with decode, encode, text and description.
//!
//! To add an instruction: its rows in [`crate::layout`], its text in `syntax.rs`,
//! and its name in the list at the end of this file.

mod syntax;

use core::fmt;

use crate::control::Control;
use crate::layout::{Ld, Ldc, Ldg, Ldl, Lds};
use crate::operand::{Address, Guard, InvalidSize, MemorySpace, Reg, Size, SizeField};
use crate::parts::LoadParts;
use crate::table::{FieldReading, LayoutRow, Word, WordLayout};
use crate::text::{Cursor, Expected, ParseError, ParseErrorKind, Text};

/// What the file of an instruction defines: how it is written and read, and what it addresses.
pub(crate) trait Syntax: WordLayout {
    /// Appends the modifiers, in canonical form.
    fn write_modifiers(&self, out: &mut Text);

    /// Reads the modifiers after the mnemonic; the operands remain `RZ`, `PT` and 0.
    fn parse_modifiers(cursor: &mut Cursor<'_>) -> Result<Self, ParseError>;

    /// Appends the operands after the destination, in canonical form: `[address]`.
    #[inline]
    fn write_operands(&self, out: &mut Text) {
        out.push_address(self.address());
    }

    /// Reads the operands after the destination.
    fn parse_operands(&mut self, cursor: &mut Cursor<'_>) -> Result<(), ParseError>;

    fn space(&self) -> MemorySpace;

    fn address(&self) -> Address;
}

/// Returns the reading of every field of `word`, most significant first, or `None` if the word is not
/// a known load.
#[must_use]
pub fn describe(word: u64) -> Option<impl Iterator<Item = FieldReading>> {
    Some(FieldReading::all(rows(word)?, word))
}

macro_rules! instructions {
    (loads: $($type:ident),+) => {
        /// A load instruction, stored as its word; [`Word::fields`] extracts the fields.
        ///
        /// Guarantees:
        /// - [`encode`](Self::encode) returns the word that [`decode`](Self::decode) accepted, in
        ///   all 64 bits.
        /// - [`parse_line`](crate::parse_line) parses [`text`](Self::text) as an instruction with
        ///   the same text. Its word is the same except for the
        ///   [`unread_bits`](Self::unread_bits), which are 0.
        /// - The exception is an instruction without a [`size`](Self::size). Its text contains
        ///   `INVALIDSIZE`, which is rejected with
        ///   [`ParseErrorKind::InvalidSize`](crate::ParseErrorKind::InvalidSize).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Instruction {
            $(
                #[doc = concat!("`", stringify!($type), "`.")]
                $type(Word<$type>),
            )+
        }

        impl Instruction {
            /// The mnemonics, without modifiers.
            pub const MNEMONICS: &'static [&'static str] = &[$(<$type as WordLayout>::NAME),+];

            /// Decodes `word`, or returns `None` if it is not a known load.
            #[inline]
            pub fn decode(word: u64) -> Option<Self> {
                $(
                    if <$type as WordLayout>::matches(word) {
                        return Some(Self::$type(Word::new(word)));
                    }
                )+
                None
            }

            /// Returns the instruction word, the inverse of [`decode`](Self::decode).
            #[inline]
            pub fn encode(self) -> u64 {
                match self {
                    $(Self::$type(load) => load.bits(),)+
                }
            }

            /// Returns the canonical text, which is that of nvdisasm without the semicolon. It shows
            /// all bits of the word except the [`unread_bits`](Self::unread_bits).
            pub fn text(&self) -> Text {
                let mut out = Text::new();
                match self {
                    $(Self::$type(load) => {
                        let load = load.fields();
                        out.push_guard(Guard { pred: load.guard, negated: load.guard_negated });
                        out.push_str(<$type as WordLayout>::NAME);
                        load.write_modifiers(&mut out);
                        out.push_destination(load.destination);
                        load.write_operands(&mut out);
                    })+
                }
                out
            }

            /// Returns the bits of the word that neither the disassembler reads nor the text shows,
            /// as a mask: those of the rows of [`describe`] that [are not read](LayoutRow::is_read).
            /// `LD` has none.
            ///
            /// ```
            /// use warpload_encoding::{Instruction, parse_line};
            ///
            /// let load = Instruction::decode(0xeed0_1000_0007_0001);
            /// let load = load.ok_or("no load")?;
            /// assert_eq!(load.unread_bits(), 1 << 44);
            /// let parsed = parse_line(&load.text())?.instruction;
            /// assert_eq!(parsed.encode(), 0xeed0_0000_0007_0001);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub fn unread_bits(&self) -> u64 {
                let rows = match self {
                    $(Self::$type(_) => <$type as WordLayout>::ROWS,)+
                };
                let unread = rows.iter().filter(|row| !row.is_read());
                unread.fold(0, |mask, row| mask | row.field.mask())
            }

            /// Returns the mnemonic with its modifiers, `LDG.E.CI.64`.
            pub fn opcode(&self) -> Text {
                let mut out = Text::new();
                match self {
                    $(Self::$type(load) => {
                        out.push_str(<$type as WordLayout>::NAME);
                        load.fields().write_modifiers(&mut out);
                    })+
                }
                out
            }

            /// Returns the mnemonic without modifiers.
            #[inline]
            pub fn mnemonic(&self) -> &'static str {
                match self {
                    $(Self::$type(_) => <$type as WordLayout>::NAME,)+
                }
            }

            /// Returns what all loads have, for those who need several parts: the instruction is
            /// looked at once.
            #[inline]
            pub fn parts(&self) -> LoadParts {
                match self {
                    $(Self::$type(load) => {
                        let load = load.fields();
                        let guard = Guard { pred: load.guard, negated: load.guard_negated };
                        let (space, address) = (load.space(), load.address());
                        let size = load.size.size();
                        LoadParts::of_lanes(guard, load.destination, space, address, size)
                    })+
                }
            }

            /// Returns the guard predicate.
            #[inline]
            pub fn guard(&self) -> Guard {
                self.parts().guard
            }

            /// Returns the first destination register.
            #[inline]
            pub fn destination(&self) -> Reg {
                match self {
                    $(Self::$type(load) => load.fields().destination,)+
                }
            }

            /// Returns the instruction with another guard and first destination register.
            #[must_use]
            pub fn with(self, guard: Guard, destination: Reg) -> Self {
                let Guard { pred: guard, negated: guard_negated } = guard;
                match self {
                    $(Self::$type(load) => {
                        $type { guard, guard_negated, destination, ..load.fields() }.into()
                    })+
                }
            }

            /// Returns the memory that is addressed.
            #[inline]
            pub fn space(&self) -> MemorySpace {
                self.parts().space
            }

            /// Returns the address operand.
            #[inline]
            pub fn address(&self) -> Address {
                self.parts().address
            }

            /// Returns how much is loaded and how it fills the destination.
            ///
            /// # Errors
            /// Returns [`InvalidSize`] if the size field encodes no size.
            #[inline]
            pub fn size(&self) -> Result<Size, InvalidSize> {
                match self {
                    $(Self::$type(load) => load.fields().size.size(),)+
                }
            }

            /// Returns whether the load hints that all lanes share one address: the size `.U.128`.
            /// The `.U` of `LDS` is not such a hint; it has no observable effect
            /// (docs/load-family.md section 3).
            #[inline]
            pub fn is_uniform(&self) -> bool {
                self.size().is_ok_and(Size::is_uniform)
            }

            /// Reads a mnemonic and its modifiers.
            pub(crate) fn parse_opcode(
                guard: Guard,
                cursor: &mut Cursor<'_>,
            ) -> Result<Self, ParseError> {
                let mnemonic = cursor.word(Expected::Mnemonic)?;
                $(
                    if mnemonic.is(<$type as WordLayout>::NAME) {
                        let mut fields = <$type>::parse_modifiers(cursor)?;
                        (fields.guard, fields.guard_negated) = (guard.pred, guard.negated);
                        return Ok(fields.into());
                    }
                )+
                Err(mnemonic.error(ParseErrorKind::UnknownMnemonic))
            }

            /// Reads the operands.
            pub(crate) fn parse_operands(
                &mut self,
                cursor: &mut Cursor<'_>,
            ) -> Result<(), ParseError> {
                match self {
                    $(Self::$type(load) => {
                        let mut fields = load.fields();
                        fields.destination = cursor.destination()?;
                        fields.parse_operands(cursor)?;
                        *load = fields.into();
                    })+
                }
                Ok(())
            }
        }

        $(
            impl From<$type> for Instruction {
                fn from(load: $type) -> Self {
                    Self::$type(load.into())
                }
            }
        )+

        fn rows(word: u64) -> Option<&'static [LayoutRow]> {
            $(
                if <$type as WordLayout>::matches(word) {
                    return Some(<$type as WordLayout>::ROWS);
                }
            )+
            None
        }
    };
}

// Every instruction of this list is a load: it has a size, an address space and a first destination,
// which `Syntax` and the methods of `Instruction` rely on. Instructions of another kind need a list
// of their own. Decoding tries the loads in this order; their opcodes exclude one another.
instructions! { loads: Ld, Ldg, Ldl, Lds, Ldc }

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text().as_str())
    }
}

impl Control {
    /// Returns the reading of every field of this slot, most significant first.
    pub fn describe(self) -> impl Iterator<Item = FieldReading> {
        FieldReading::all(Self::ROWS, self.pack())
    }
}
