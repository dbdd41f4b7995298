//! How one table of rows becomes a struct, its decoder, its encoder and its description.
//!
//! [`layout!`](macro@layout) takes the rows as they stand in a hardware manual, most
//! significant bit first, and writes
//! - a struct with one public, documented member a row,
//! - [`Layout`]: the rows as data, `unpack` and `pack`,
//! - a check, made when the table is compiled, that the rows cover every bit of the word
//!   exactly once and that each row is as wide as its type.

use core::fmt;
use core::marker::PhantomData;

use crate::field::Field;

/// One row of a layout: a field, its names and what it is for.
#[derive(Clone, Copy)]
pub struct Row {
    /// The bits.
    pub field: Field,
    /// The field's name in the architecture's documents.
    pub name: &'static str,
    /// What the field decides, in one line.
    pub purpose: &'static str,
    /// The value every word of this layout has here: the opcode's.
    pub fixed: Option<u64>,
    pub(crate) meaning: fn(u64, &mut fmt::Formatter<'_>) -> fmt::Result,
}

/// A word's layout as data.
pub trait Layout: Copy {
    /// The instruction's mnemonic without modifiers, or the name of what is laid out.
    const NAME: &'static str;
    /// How many bits the word has.
    const WIDTH: u32;
    /// The rows, most significant first; together they cover all `WIDTH` bits once.
    const ROWS: &'static [Row];

    /// The fields of `word`. The opcode is not looked at.
    fn unpack(word: u64) -> Self;

    /// The word, opcode included. `unpack(w).pack() == w` for every word with that opcode.
    fn pack(self) -> u64;

    /// Whether `word` has this layout's opcode.
    fn matches(word: u64) -> bool;
}

/// A word of a layout. Its fields are read off it where they are asked for, so that decoding and
/// encoding move nothing but the word.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Word<L>(u64, PhantomData<L>);

impl<L: Layout> Word<L> {
    /// `word` must have the layout's opcode.
    #[inline]
    pub(crate) fn new(word: u64) -> Self {
        debug_assert!(L::matches(word));
        Self(word, PhantomData)
    }

    /// The fields.
    #[inline]
    pub fn fields(self) -> L {
        L::unpack(self.0)
    }

    /// The bits.
    #[inline]
    pub fn bits(self) -> u64 {
        self.0
    }
}

impl<L: Layout> From<L> for Word<L> {
    #[inline]
    fn from(fields: L) -> Self {
        Self::new(fields.pack())
    }
}

impl<L: Layout + fmt::Debug> fmt::Debug for Word<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fields().fmt(f)
    }
}

/// One field of one word: the row and the bits that stand there. Displays as the meaning.
#[derive(Clone, Copy)]
pub struct FieldReading {
    /// The row.
    pub row: &'static Row,
    /// The field's bits, unsigned.
    pub raw: u64,
}

impl Row {
    /// Returns whether the disassembler ignores the field, so that no text shows it.
    pub fn is_unread(&self) -> bool {
        self.name == "-"
    }
}

impl FieldReading {
    /// The readings of `word` along `rows`, most significant first.
    pub fn all(rows: &'static [Row], word: u64) -> impl Iterator<Item = FieldReading> {
        rows.iter().map(move |row| FieldReading { row, raw: row.field.get(word) })
    }
}

impl fmt::Display for FieldReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.row.meaning)(self.raw, f)
    }
}

/// Whether `rows` cover bits `width - 1` down to 0 exactly once, in order.
pub(crate) const fn covers(rows: &[Row], width: u32) -> bool {
    let mut next = width;
    let mut i = 0;
    while i < rows.len() {
        if rows[i].field.high() as u32 + 1 != next {
            return false;
        }
        next = rows[i].field.low() as u32;
        i += 1;
    }
    next == 0
}

macro_rules! field {
    ($bit:literal) => {
        $crate::field::Field::new($bit, $bit)
    };
    ($high:literal $low:literal) => {
        $crate::field::Field::new($high, $low)
    };
}

macro_rules! layout {
    (
        $(#[$attribute:meta])*
        $type:ident = $name:literal, $width:literal bits;
        $( opcode $ohigh:literal $(: $olow:literal)? = $opcode:expr; )?
        $(
            $high:literal $(: $low:literal)? $member:ident: $value:ty,
            $label:literal, $purpose:literal;
        )+
    ) => {
        $(#[$attribute])*
        ///
        /// | bits | field | decides |
        /// |---|---|---|
        $( #[doc = concat!(
            "| ", $ohigh, $(":", $olow,)? " | opcode | `", stringify!($opcode), "`: ", $name, " |"
        )] )?
        $( #[doc = concat!("| ", $high, $(":", $low,)? " | ", $label, " | ", $purpose, " |")] )+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $type {
            $(
                #[doc = concat!($label, ", bits ", $high, $(":", $low,)? ": ", $purpose, ".")]
                pub $member: $value,
            )+
        }

        impl $crate::table::Layout for $type {
            const NAME: &'static str = $name;
            const WIDTH: u32 = $width;
            const ROWS: &'static [$crate::table::Row] = &[
                $( $crate::table::Row {
                    field: $crate::table::field!($ohigh $($olow)?),
                    name: "opcode",
                    purpose: "which instruction this is",
                    fixed: Some($opcode),
                    meaning: |_, f| f.write_str($name),
                }, )?
                $( $crate::table::Row {
                    field: $crate::table::field!($high $($low)?),
                    name: $label,
                    purpose: $purpose,
                    fixed: None,
                    meaning: |bits, f| {
                        <$value as $crate::field::FieldValue>::fmt_meaning(
                            <$value as $crate::field::FieldValue>::from_bits(bits),
                            f,
                        )
                    },
                }, )+
            ];

            #[inline]
            fn unpack(word: u64) -> Self {
                Self { $(
                    $member: {
                        const FIELD: $crate::field::Field = $crate::table::field!($high $($low)?);
                        <$value as $crate::field::FieldValue>::from_bits(FIELD.get(word))
                    },
                )+ }
            }

            #[inline]
            fn pack(self) -> u64 {
                let mut word = 0;
                $( {
                    const FIELD: $crate::field::Field = $crate::table::field!($ohigh $($olow)?);
                    word |= FIELD.place($opcode);
                } )?
                $( {
                    const FIELD: $crate::field::Field = $crate::table::field!($high $($low)?);
                    word |= FIELD.place($crate::field::FieldValue::to_bits(self.$member));
                } )+
                word
            }

            #[inline]
            fn matches(word: u64) -> bool {
                let _ = word;
                true $( && {
                    const FIELD: $crate::field::Field = $crate::table::field!($ohigh $($olow)?);
                    FIELD.get(word) == $opcode
                } )?
            }
        }

        const _: () = {
            assert!(
                $crate::table::covers(<$type as $crate::table::Layout>::ROWS, $width),
                "the rows must cover every bit once, from the top down"
            );
            $( assert!(
                $crate::table::field!($high $($low)?).width()
                    == <$value as $crate::field::FieldValue>::WIDTH,
                "a row must be as wide as its type"
            ); )+
        };
    };
}

pub(crate) use field;
pub(crate) use layout;
