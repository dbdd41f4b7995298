//! The texts of operands, cut into pieces: punctuation, then a text that a field selects from a table. The compiler
//! works them out for each form and each group of SMs, so that the writer only copies texts.

use crate::operand::Pred;
use crate::plan::{Halves, SlotPlace};
use crate::ready::Ready;
use crate::table::grammar::{Alternative, Part};

/// A part of an operand with the punctuation before it.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) before: Ready<8>,
    pub(crate) kind: PieceKind,
    pub(crate) place: SlotPlace,
    texts: &'static [Ready<8>],
    pub(crate) part: &'static Part,
    /// The highest bit of the place is the predicate's sign.
    pub(crate) is_signed: bool,
    /// With the zero register here, another alternative applies.
    pub(crate) excludes_zero: bool,
    /// The only piece of its operand.
    pub(crate) is_alone: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// The field selects one of the texts.
    Text,
    /// `+0x10` after a register.
    Offset,
    /// `0x3`
    Number,
    /// Needs more than a table: an address without a register, a split field, a register that does not exist.
    Part,
}

pub(crate) const MAX_PIECES: usize = 4;

/// Everything that an alternative prints.
#[derive(Clone, Copy)]
pub(crate) struct Pieces {
    pieces: [Piece; MAX_PIECES],
    count: u8,
    /// The text after the last piece.
    pub(crate) after: Ready<8>,
    /// `after` with the comma before the next operand.
    pub(crate) end: Ready<8>,
}

impl Pieces {
    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.get(..usize::from(self.count)).unwrap_or_default().iter()
    }

    /// `places` has the place of each token.
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
    pub(crate) const fn of(row: &'static Alternative, places: &[SlotPlace]) -> Self {
        static NO_PART: Part = Part::Unknown(crate::table::row::Slot::Base);
        let none = Piece {
            before: Ready::EMPTY,
            kind: PieceKind::Part,
            place: SlotPlace::NOWHERE,
            texts: &[],
            part: &NO_PART,
            is_signed: false,
            excludes_zero: false,
            is_alone: false,
        };
        let mut pieces =
            Self { pieces: [none; MAX_PIECES], count: 0, after: Ready::EMPTY, end: Ready::EMPTY };
        let (mut n, mut count, mut before) = (0, 0, Ready::EMPTY);
        while n < row.tokens.len() {
            let mut token = &row.tokens[n];
            let (mut place, mut is_signed) = (places[n], false);
            before = before.with(token.before);
            // The negation bit lies above the predicate, so that both select one of sixteen texts.
            if let Part::Not(_) = token.part
                && n + 1 < row.tokens.len()
                && let Some(both) = places[n + 1].joined_with(place)
            {
                assert!(token.after.is_empty() && row.tokens[n + 1].before.is_empty());
                n += 1;
                (token, place, is_signed) = (&row.tokens[n], both, true);
            }
            let (kind, texts) = printed(&token.part, place);
            let excludes_zero = row.excludes_zero(&token.part);
            let is_alone = row.tokens.len() == 1;
            let part = &token.part;
            pieces.pieces[count] =
                Piece { before, kind, place, texts, part, is_signed, excludes_zero, is_alone };
            count += 1;
            before = Ready::EMPTY.with(token.after);
            n += 1;
        }
        pieces.count = count as u8;
        pieces.after = before;
        pieces.end = before.with(", ");
        pieces
    }
}

impl Piece {
    #[inline(always)]
    pub(crate) fn text(&self, word: Halves) -> Option<&'static Ready<8>> {
        self.texts.get(self.place.get(word) as usize)
    }
}

const fn printed(part: &Part, place: SlotPlace) -> (PieceKind, &'static [Ready<8>]) {
    match part {
        Part::Register(_) => (PieceKind::Text, registers(place)),
        Part::Predicate(_) => (PieceKind::Text, predicates(place)),
        Part::Offset(_) if !place.is_split() => (PieceKind::Offset, &[]),
        Part::Number(_) if !place.is_split() => (PieceKind::Number, &[]),
        _ => (PieceKind::Part, &[]),
    }
}

const fn registers(place: SlotPlace) -> &'static [Ready<8>] {
    assert!(!place.is_split());
    match (place.is_uniform(), place.width) {
        (false, _) => &REGISTERS,
        (true, 6) => &UNIFORM_REGISTERS_63,
        (true, width) => {
            assert!(width == 8);
            &UNIFORM_REGISTERS
        }
    }
}

const fn predicates(place: SlotPlace) -> &'static [Ready<8>] {
    assert!(!place.is_split());
    match (place.is_uniform(), place.is_inverted()) {
        (true, _) => &UNIFORM_PREDICATES,
        (false, true) => &INVERTED_PREDICATES,
        (false, false) => &PREDICATES,
    }
}

/// `R0` to `RZ`, and `UR0` to `URZ`.
static REGISTERS: [Ready<8>; 256] = numbered("R");
pub(crate) static UNIFORM_REGISTERS: [Ready<8>; 256] = numbered("UR");
/// For SMs with 63 uniform registers.
static UNIFORM_REGISTERS_63: [Ready<8>; 64] = numbered("UR");

/// `P0` to `PT`, then `!P0` to `!PT`.
static PREDICATES: [Ready<8>; 16] = predicated("", "P", "", false);
static INVERTED_PREDICATES: [Ready<8>; 16] = predicated("", "P", "", true);
static UNIFORM_PREDICATES: [Ready<8>; 16] = predicated("", "UP", "", false);

/// `@P0 ` to `@!PT `, negated ones last; empty for `@PT`.
pub(crate) static GUARDS: [Ready<8>; 16] = guards("P");
pub(crate) static UNIFORM_GUARDS: [Ready<8>; 16] = guards("UP");

/// Register names by number, the zero register last.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn numbered<const COUNT: usize>(file: &str) -> [Ready<8>; COUNT] {
    let mut registers = [Ready::EMPTY.with(file); COUNT];
    let mut number = 0;
    while number < COUNT - 1 {
        let mut text = registers[number];
        if number >= 100 {
            text = text.with_digit((number / 100) as u8);
        }
        if number >= 10 {
            text = text.with_digit((number / 10 % 10) as u8);
        }
        registers[number] = text.with_digit((number % 10) as u8);
        number += 1;
    }
    registers[number] = registers[number].with("Z");
    registers
}

/// Predicate names by number, or by 7 minus the number; negated ones last.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn predicated(before: &str, file: &str, after: &str, is_inverted: bool) -> [Ready<8>; 16] {
    let mut predicates = [Ready::EMPTY.with(before); 16];
    let mut i = 0;
    while i < 16 {
        let number = if is_inverted { 7 - (i as u8 & 7) } else { i as u8 & 7 };
        let text = predicates[i].with(if i < 8 { "" } else { "!" }).with(file);
        let is_last = number == Pred::PT.number();
        predicates[i] = if is_last { text.with("T") } else { text.with_digit(number) }.with(after);
        i += 1;
    }
    predicates
}

const fn guards(file: &str) -> [Ready<8>; 16] {
    let mut guards = predicated("@", file, " ", false);
    let [_, _, _, _, _, _, _, always, ..] = &mut guards;
    *always = Ready::EMPTY;
    guards
}
