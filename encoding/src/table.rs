//! How one table of rows becomes a struct, its decoder, its encoder and its description.
//!
//! [`layout!`](macro@layout) takes the rows in the order of a hardware manual, most significant bit
//! first, and generates
//! - a struct with one public, documented member per row,
//! - its [`WordLayout`]: the rows as data, `unpack` and `pack`,
//! - a compile-time check that the rows cover every bit of the word exactly once and that each row
//!   is as wide as its type.
//!
//! The word is a `u64` or a `u128`, see [`WordBits`]. The opcode may be the first row, the last one,
//! or both.

use core::fmt;
use core::marker::PhantomData;

use crate::field::{Field, WordBits};

/// One row of a layout: a field, its names and its purpose.
#[derive(Clone, Copy)]
pub struct LayoutRow<W = u64> {
    /// The bits.
    pub field: Field<W>,
    /// The name of the field in the documents of the architecture.
    pub name: &'static str,
    /// What the field decides, in one line.
    pub purpose: &'static str,
    /// The value that every word of this layout has here, if there is one: the opcode.
    pub fixed: Option<u64>,
    pub(crate) meaning: fn(u64, &mut fmt::Formatter<'_>) -> fmt::Result,
}

impl<W> LayoutRow<W> {
    /// Returns whether the disassembler reads these bits. Bits that it does not read survive
    /// decoding and encoding, but no text shows them.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.name != "-"
    }
}

/// The layout of a word as data.
pub trait WordLayout: Copy {
    /// The integer that holds a word.
    type Word: WordBits;
    /// The mnemonic of the instruction without modifiers, or the name of what is laid out.
    const NAME: &'static str;
    /// The width of the word in bits.
    const WIDTH: u32;
    /// The rows, most significant first; together they cover all `WIDTH` bits once.
    const ROWS: &'static [LayoutRow<Self::Word>];

    /// Returns the fields of `word`. Does not check the opcode.
    fn unpack(word: Self::Word) -> Self;

    /// Returns the word, including the opcode. `unpack(w).pack() == w` for every word with that
    /// opcode.
    fn pack(self) -> Self::Word;

    /// Returns whether `word` has the opcode of this layout.
    fn matches(word: Self::Word) -> bool;
}

/// A word of a layout. The fields are extracted only on request, so that decoding and encoding only
/// move the word.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Word<L: WordLayout>(L::Word, PhantomData<L>);

impl<L: WordLayout> Word<L> {
    /// `word` must have the opcode of the layout.
    #[inline]
    pub(crate) fn new(word: L::Word) -> Self {
        debug_assert!(L::matches(word));
        Self(word, PhantomData)
    }

    /// Returns the fields.
    #[inline]
    #[must_use]
    pub fn fields(self) -> L {
        L::unpack(self.0)
    }

    /// Returns the bits.
    #[inline]
    #[must_use]
    pub fn bits(self) -> L::Word {
        self.0
    }
}

impl<L: WordLayout> From<L> for Word<L> {
    #[inline]
    fn from(fields: L) -> Self {
        Self::new(fields.pack())
    }
}

impl<L: WordLayout + fmt::Debug> fmt::Debug for Word<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fields().fmt(f)
    }
}

/// One field of one word: the row and its bits. Displays as what the bits mean.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct FieldReading<W: 'static = u64> {
    /// The row.
    pub row: &'static LayoutRow<W>,
    /// The bits of the field, unsigned.
    pub raw: u64,
}

impl<W: WordBits> FieldReading<W> {
    /// Returns one reading of `word` per row, most significant first.
    pub fn all(rows: &'static [LayoutRow<W>], word: W) -> impl Iterator<Item = Self> {
        rows.iter().map(move |row| FieldReading { row, raw: row.field.get(word) })
    }
}

impl<W> fmt::Display for FieldReading<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.row.meaning)(self.raw, f)
    }
}

/// Returns whether `rows` cover bits `width - 1` down to 0 exactly once, in order.
pub(crate) const fn covers<W: WordBits>(mut rows: &[LayoutRow<W>], width: u32) -> bool {
    let mut next = width;
    while let [row, rest @ ..] = rows {
        if row.field.high() as u32 + 1 != next {
            return false;
        }
        next = row.field.low() as u32;
        rows = rest;
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

/// The row of an opcode.
macro_rules! opcode_row {
    ($name:literal, $opcode:expr, $high:literal $($low:literal)?) => {
        $crate::table::LayoutRow {
            field: $crate::table::field!($high $($low)?),
            name: "opcode",
            purpose: "which instruction this is",
            fixed: Some($opcode),
            meaning: |_, f| f.write_str($name),
        }
    };
}

macro_rules! layout {
    (
        $(#[$attribute:meta])*
        $type:ident = $name:literal, $width:literal bits in $word:ty;
        $( opcode $ohigh:literal $(: $olow:literal)? = $opcode:expr; )?
        $(
            $high:literal $(: $low:literal)? $member:ident: $value:ty,
            $label:literal, $purpose:literal;
        )+
        $( last opcode $lhigh:literal $(: $llow:literal)? = $last:expr; )?
    ) => {
        $(#[$attribute])*
        ///
        /// | bits | field | decides |
        /// |---|---|---|
        $( #[doc = concat!(
            "| ", $ohigh, $(":", $olow,)? " | opcode | `", stringify!($opcode), "`: ", $name, " |"
        )] )?
        $( #[doc = concat!("| ", $high, $(":", $low,)? " | ", $label, " | ", $purpose, " |")] )+
        $( #[doc = concat!(
            "| ", $lhigh, $(":", $llow,)? " | opcode | `", stringify!($last), "`: ", $name, " |"
        )] )?
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $type {
            $(
                #[doc = concat!($label, ", bits ", $high, $(":", $low,)? ": ", $purpose, ".")]
                pub $member: $value,
            )+
        }

        impl $type {
            /// The opcode's fields and their values.
            const OPCODE: &'static [($crate::field::Field<$word>, u64)] = &[
                $( ($crate::table::field!($ohigh $($olow)?), $opcode), )?
                $( ($crate::table::field!($lhigh $($llow)?), $last), )?
            ];
        }

        impl $crate::table::WordLayout for $type {
            type Word = $word;
            const NAME: &'static str = $name;
            const WIDTH: u32 = $width;
            const ROWS: &'static [$crate::table::LayoutRow<$word>] = &[
                $( $crate::table::opcode_row!($name, $opcode, $ohigh $($olow)?), )?
                $( $crate::table::LayoutRow {
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
                $( $crate::table::opcode_row!($name, $last, $lhigh $($llow)?), )?
            ];

            #[inline]
            fn unpack(word: $word) -> Self {
                Self { $(
                    $member: {
                        const FIELD: $crate::field::Field<$word> =
                            $crate::table::field!($high $($low)?);
                        <$value as $crate::field::FieldValue>::from_bits(FIELD.get(word))
                    },
                )+ }
            }

            #[inline]
            fn pack(self) -> $word {
                let mut word = Self::OPCODE
                    .iter()
                    .fold(0, |word, (field, value)| word | field.place(*value));
                $( {
                    const FIELD: $crate::field::Field<$word> =
                        $crate::table::field!($high $($low)?);
                    word |= FIELD.place($crate::field::FieldValue::to_bits(self.$member));
                } )+
                word
            }

            #[inline]
            fn matches(word: $word) -> bool {
                Self::OPCODE.iter().all(|(field, value)| field.get(word) == *value)
            }
        }

        const _: () = {
            assert!(
                $crate::table::covers(<$type as $crate::table::WordLayout>::ROWS, $width),
                "the rows must cover every bit once, from the top down"
            );
            $( {
                const FIELD: $crate::field::Field<$word> = $crate::table::field!($high $($low)?);
                assert!(
                    FIELD.width() == <$value as $crate::field::FieldValue>::WIDTH,
                    "a row must be as wide as its type"
                );
            } )+
        };
    };
}

pub(crate) use field;
pub(crate) use layout;
pub(crate) use opcode_row;

#[cfg(test)]
#[expect(unreachable_pub, reason = "the macro makes public structs")]
mod tests {
    use std::format;
    use std::vec::Vec;

    use super::*;
    use crate::field::FieldValue;
    use crate::operand::{Immediate, Pred, Reg, Size};

    layout! {
        /// A made-up instruction of 128 bits, whose opcode has two parts.
        Wide = "WIDE", 128 bits in u128;
        opcode 127:92 = 0x8_0000_0001;
        91:84 third: Reg,               "Rc",  "a register above bit 63";
        83:81 size: Size,               "sz",  "how much is loaded";
        80    extended: bool,           "E",   "one bit above bit 63";
        79:48 immediate: Immediate<32>, "imm", "a number that crosses bit 64";
        47:24 offset: Immediate<24>,    "off", "a number below bit 63";
        23:16 destination: Reg,         "Rd",  "a register";
        15    negated: bool,            "!",   "a sign";
        14:12 guard: Pred,              "Pg",  "a predicate";
        last opcode 11:0 = 0x981;
    }

    /// `third` 5, `size` 5, `extended`, and so on down to the opcode.
    const WORD: u128 = 0x8000_0000_105b_89ab_cdef_1234_5607_b981;

    fn fields() -> Wide {
        Wide {
            third: Reg::new(5),
            size: Size::B64,
            extended: true,
            immediate: Immediate::from_bits(0x89ab_cdef),
            offset: Immediate::from_bits(0x12_3456),
            destination: Reg::new(7),
            negated: true,
            guard: Pred::from_bits(3),
        }
    }

    #[test]
    fn a_layout_can_have_128_bits() {
        assert_eq!(Wide::unpack(WORD), fields());
        assert_eq!(fields().pack(), WORD);
        assert_eq!(Word::from(fields()).bits(), WORD);
        assert_eq!(Word::<Wide>::new(WORD).fields(), fields());
    }

    #[test]
    fn both_parts_of_an_opcode_count() {
        assert!(Wide::matches(WORD));
        assert!(!Wide::matches(WORD ^ 1));
        assert!(!Wide::matches(WORD ^ 1 << 92));
        assert!(Wide::matches(WORD ^ 1 << 91) && Wide::matches(WORD ^ 1 << 12));
    }

    #[test]
    fn each_field_of_a_wide_word_is_independent() {
        for row in Wide::ROWS.iter().filter(|row| row.fixed.is_none()) {
            for word in [WORD, WORD & !row.field.mask(), WORD | row.field.mask()] {
                assert_eq!(Wide::unpack(word).pack(), word, "{}", row.name);
                for other in Wide::ROWS.iter().filter(|other| other.name != row.name) {
                    assert_eq!(other.field.get(word), other.field.get(WORD), "{}", other.name);
                }
            }
        }
    }

    #[test]
    fn wide_words_are_described() {
        let readings: Vec<_> = FieldReading::all(Wide::ROWS, WORD)
            .map(|reading| format!("{} {} {reading}", reading.row.field, reading.row.name))
            .collect();
        assert_eq!(
            readings,
            [
                "127:92 opcode WIDE",
                "91:84 Rc R5",
                "83:81 sz 64: 8 bytes, two registers",
                "80 E yes",
                "79:48 imm -1985229329 with a base, 0x89abcdef without",
                "47:24 off 1193046 with a base, 0x123456 without",
                "23:16 Rd R7",
                "15 ! yes",
                "14:12 Pg P3",
                "11:0 opcode WIDE",
            ]
        );
    }

    #[test]
    fn rows_that_do_not_cover_the_word_are_refused() {
        let [first, middle @ .., last] = Wide::ROWS else { panic!("at least two rows") };
        assert!(covers(Wide::ROWS, 128));
        assert!(!covers(Wide::ROWS, 127));
        // A gap at either end, a gap in the middle, a row twice.
        assert!(!covers(&Wide::ROWS[1..], 128));
        assert!(!covers(&[&[*first], middle].concat(), 128));
        assert!(!covers(&[*first, *last], 128));
        assert!(!covers(&[&[*first], Wide::ROWS].concat(), 128));
    }
}
