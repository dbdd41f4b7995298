//! The language of the table's rows.
//!
//! A [`Form`] has a mnemonic, an opcode, the fields that follow the mnemonic, and the operands. Fields and operands know
//! their bits, so that a row lists no bit twice; bits that none of them has are not read. What a field prints can depend on
//! other bits: see [`Condition`].

use core::fmt;

/// The bits of a number in a word: up to four pieces, the most significant first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The lowest bit and the number of bits of each piece.
    pieces: [(u8, u8); 4],
    width: u8,
    mask: u64,
}

impl Place {
    pub(crate) const NONE: Self = Self { pieces: [(0, 0); 4], width: 0, mask: 0 };

    /// Reads `48`, `46:39` or `56,38:20`. Called by the compiler only.
    #[expect(clippy::indexing_slicing, clippy::panic, reason = "evaluated by the compiler")]
    pub(crate) const fn new(text: &str) -> Self {
        let text = text.as_bytes();
        let mut place = Self::NONE;
        let (mut high, mut low, mut is_range) = (0, 0, false);
        let (mut at, mut piece) = (0, 0);
        while at < text.len() {
            match text[at] {
                digit @ b'0'..=b'9' => low = 10 * low + (digit - b'0'),
                b':' => (high, low, is_range) = (low, 0, true),
                b',' => {}
                _ => panic!("not bits"),
            }
            at += 1;
            if at == text.len() || text[at] == b',' {
                let top = if is_range { high } else { low };
                let width = top - low + 1;
                let mask = u64::MAX >> (64 - width) << low;
                assert!(place.mask & mask == 0);
                place.pieces[piece] = (low, width);
                (place.width, place.mask) = (place.width + width, place.mask | mask);
                (piece, low, is_range) = (piece + 1, 0, false);
            }
        }
        place
    }

    pub(crate) const fn width(&self) -> u32 {
        self.width as u32
    }

    pub(crate) const fn mask(&self) -> u64 {
        self.mask
    }

    /// The number in a word.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "the index is below the length")]
    pub(crate) const fn get(&self, word: u64) -> u64 {
        let [(low, width), ..] = self.pieces;
        let mut value = word >> low & !(u64::MAX << width);
        if self.width > width {
            let mut at = 1;
            while at < self.pieces.len() {
                let (low, width) = self.pieces[at];
                value = value << width | word >> low & !(u64::MAX << width);
                at += 1;
            }
        }
        value
    }

    /// The number in a word, with the sign of its highest bit.
    pub(crate) const fn get_signed(&self, word: u64) -> i64 {
        let unused = 64 - self.width as u32;
        if unused == 64 { 0 } else { (self.get(word) << unused) as i64 >> unused }
    }

    /// A word with a number in the place, and zeros elsewhere.
    #[expect(clippy::indexing_slicing, reason = "the index is below the length")]
    pub(crate) const fn put(&self, value: u64) -> u64 {
        let (mut word, mut left, mut at) = (0, value, self.pieces.len());
        while at > 0 {
            at -= 1;
            let (low, width) = self.pieces[at];
            word |= (left & !(u64::MAX << width)) << low;
            left >>= width;
        }
        word
    }
}

/// Displays as in rows: `56,38:20`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (low, width)) in self.pieces.iter().filter(|piece| piece.1 > 0).enumerate() {
            f.write_str(if at > 0 { "," } else { "" })?;
            match width {
                1 => write!(f, "{low}")?,
                _ => write!(f, "{}:{low}", low + width - 1)?,
            }
        }
        Ok(())
    }
}

/// A set of SMs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sms(u8);

/// The SMs with 64-bit words, in the order of the bits of [`Sms`].
const NUMBERS: [u32; 6] = [50, 52, 53, 60, 61, 62];

impl Sms {
    pub(crate) const ALL: Self = Self(0x3f);

    /// The SMs from one to another, both included.
    #[expect(clippy::indexing_slicing, reason = "the index is below the length")]
    pub(crate) const fn new(first: u32, last: u32) -> Self {
        let (mut set, mut at) = (0, 0);
        while at < NUMBERS.len() {
            if first <= NUMBERS[at] && NUMBERS[at] <= last {
                set |= 1 << at;
            }
            at += 1;
        }
        Self(set)
    }

    pub(crate) const fn from(first: u32) -> Self {
        Self::new(first, u32::MAX)
    }

    /// Whether both have an SM.
    pub(crate) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// A condition on other bits of the word, or on the SM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub(crate) place: Place,
    /// The numbers that the bits must have, or must not have.
    pub(crate) numbers: &'static [u16],
    pub(crate) is: bool,
    pub(crate) sms: Sms,
}

/// These bits are one of the numbers.
pub(crate) const fn is(bits: &str, numbers: &'static [u16]) -> Condition {
    Condition { place: Place::new(bits), numbers, is: true, sms: Sms::ALL }
}

/// These bits are none of the numbers.
pub(crate) const fn not(bits: &str, numbers: &'static [u16]) -> Condition {
    Condition { is: false, ..is(bits, numbers) }
}

/// The SM is one of these.
pub(crate) const fn on(sms: Sms) -> Condition {
    Condition { place: Place::NONE, numbers: &[0], is: true, sms }
}

impl Condition {
    #[inline]
    pub(crate) fn holds(&self, word: u64, sm: Sms) -> bool {
        self.allows(self.place.get(word)) && self.sms.meets(sm)
    }

    pub(crate) const fn allows(&self, number: u64) -> bool {
        let mut numbers = self.numbers;
        while let [first, rest @ ..] = numbers {
            if *first as u64 == number {
                return self.is;
            }
            numbers = rest;
        }
        !self.is
    }
}

pub(crate) fn hold(conditions: &[Condition], word: u64, sm: Sms) -> bool {
    conditions.iter().all(|condition| condition.holds(word, sm))
}

/// The encoding of the second source of a family of rows, and of the third.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Class {
    /// Two registers.
    Registers,
    /// The second source is a constant.
    Constant,
    /// The second source is an immediate number.
    Immediate,
    /// The third source is a constant.
    ThirdConstant,
}

/// Classes of one family.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classes(pub(crate) u8);

pub(crate) const TWO_REGISTERS: Classes = Classes(1);
pub(crate) const NO_NUMBER: Classes = Classes(3);
pub(crate) const NUMBER: Classes = Classes(4);
/// Registers, a constant, or an immediate number.
pub(crate) const RCI: Classes = Classes(7);
/// The same, or a constant as third source.
pub(crate) const RCIX: Classes = Classes(15);

impl Classes {
    pub(crate) const fn has(self, class: Class) -> bool {
        self.0 >> class as u8 & 1 != 0
    }
}

/// What a field prints for numbers without a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Otherwise {
    /// `???3`.
    Unnamed,
    /// The word is refused.
    Refused,
    /// The text and the number.
    Invalid(&'static str),
    /// The text and the number in hexadecimal digits.
    InvalidHex(&'static str),
}

/// Printed for a number of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Known(&'static str),
    Numbered(&'static str, u64),
    Hexadecimal(&'static str, u64),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(name) => f.write_str(name),
            Self::Numbered(text, number) => write!(f, "{text}{number}"),
            Self::Hexadecimal(text, number) => write!(f, "{text}{number:X}"),
        }
    }
}

/// A field with named numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedField {
    pub(crate) name: &'static str,
    pub(crate) purpose: &'static str,
    pub(crate) place: Place,
    /// By number. An empty name prints nothing, [`REFUSED`] refuses the word, [`NAMELESS`] is as [`Self::otherwise`] says.
    names: &'static [&'static str],
    /// Other names on some SMs.
    sm_names: &'static [(Sms, u16, &'static str)],
    otherwise: Otherwise,
    pub(crate) when: &'static [Condition],
    classes: Classes,
}

pub(crate) const REFUSED: &str = "-";
pub(crate) const NAMELESS: &str = "?";

/// A field. Numbers beyond the names print `???` and the number.
pub(crate) const fn field(
    name: &'static str,
    bits: &str,
    names: &'static [&'static str],
    purpose: &'static str,
) -> NamedField {
    NamedField {
        name,
        purpose,
        place: Place::new(bits),
        names,
        sm_names: &[],
        otherwise: Otherwise::Unnamed,
        when: &[],
        classes: RCIX,
    }
}

/// A part of the mnemonic that every word of the row has.
pub(crate) const fn fixed(names: &'static [&'static str; 1], purpose: &'static str) -> NamedField {
    field("", "", names, purpose)
}

impl NamedField {
    /// Numbers without a name print this text and the number.
    pub(crate) const fn invalid(self, text: &'static str) -> Self {
        Self { otherwise: Otherwise::Invalid(text), ..self }
    }

    pub(crate) const fn invalid_hex(self, text: &'static str) -> Self {
        Self { otherwise: Otherwise::InvalidHex(text), ..self }
    }

    /// Words with a number without a name are refused.
    pub(crate) const fn or_refused(self) -> Self {
        Self { otherwise: Otherwise::Refused, ..self }
    }

    pub(crate) const fn on_sms(self, sm_names: &'static [(Sms, u16, &'static str)]) -> Self {
        Self { sm_names, ..self }
    }

    pub(crate) const fn when(self, when: &'static [Condition]) -> Self {
        Self { when, ..self }
    }

    pub(crate) const fn only(self, classes: Classes) -> Self {
        Self { classes, ..self }
    }

    pub(crate) const fn at(self, bits: &str) -> Self {
        Self { place: Place::new(bits), ..self }
    }

    pub(crate) fn is_in(&self, class: Class) -> bool {
        self.classes.has(class)
    }

    /// The name of a number; `None` if the word is refused.
    #[inline]
    pub(crate) fn name_of(&self, number: u64, sm: Sms) -> Option<Name> {
        let on_sm =
            self.sm_names.iter().find(|(sms, of, _)| u64::from(*of) == number && sms.meets(sm));
        let name = match on_sm {
            Some((_, _, name)) => name,
            None => self.names.get(number as usize).copied().unwrap_or(NAMELESS),
        };
        match name {
            REFUSED => None,
            NAMELESS => match self.otherwise {
                Otherwise::Unnamed => Some(Name::Numbered("???", number)),
                Otherwise::Refused => None,
                Otherwise::Invalid(text) => Some(Name::Numbered(text, number)),
                Otherwise::InvalidHex(text) => Some(Name::Hexadecimal(text, number)),
            },
            name => Some(Name::Known(name)),
        }
    }

    /// The name that a word shows: an empty one if the field does not apply; `None` if the word is refused.
    #[inline]
    pub(crate) fn shown(&self, word: u64, sm: Sms) -> Option<Name> {
        if hold(self.when, word, sm) {
            self.name_of(self.place.get(word), sm)
        } else {
            Some(Name::Known(""))
        }
    }
}

/// The format of a floating-point immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatFormat {
    Half,
    Single,
    Double,
}

/// The kind of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A register: `R1`, `RZ`.
    Register,
    /// A predicate: `P1`, `PT`, with all bits of the place and `scale` exchanged.
    Predicate,
    /// A value of a named field.
    Named,
    /// A number in hexadecimal digits.
    Unsigned,
    /// The same with a sign.
    Signed,
    /// An unsigned number, with a sign before it unless it is zero.
    Magnitude,
    /// The target of a jump, relative to the next word.
    Target,
    Float(FloatFormat),
    /// `c[0x0][0x10]`: the bank is in `base`, the offset is signed.
    Constant,
    /// `c[0x0][R1+0x10]`: bank and register are in `base`.
    IndexedConstant,
    /// `[R1+0x10]`: signed with a register, unsigned without.
    Address,
    /// `R1 0x10`: a register and a signed number.
    Jump,
    /// The text before it alone.
    Text,
    /// `{5,0}`: the bits that are set.
    Set,
    /// Two letters for each pair of bits, the highest pair first.
    Pairs,
    /// The values of a compare-and-swap, `R2, R3`: 64 bits and position are in `base`.
    Swap,
    /// The second source of a family. In class [`Class::Immediate`], an operand of this format.
    Second(Immediate),
    /// The third source of a family.
    Third,
}

/// The format of an immediate second source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Immediate {
    Signed,
    Unsigned,
    Float(FloatFormat),
}

/// When a mark stands at an operand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    Never,
    Bit(u8),
    When(&'static Condition),
}

impl Mark {
    #[inline]
    pub(crate) fn holds(&self, word: u64, sm: Sms) -> bool {
        match self {
            Self::Never => false,
            Self::Bit(bit) => word >> bit & 1 != 0,
            Self::When(condition) => condition.holds(word, sm),
        }
    }
}

/// An operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) kind: Kind,
    pub(crate) place: Place,
    pub(crate) base: Place,
    /// The left shift of the number.
    pub(crate) scale: u8,
    pub(crate) negated: Mark,
    pub(crate) absolute: Mark,
    pub(crate) inverted: Mark,
    /// Printed after a dot behind the operand.
    pub(crate) suffixes: &'static [&'static NamedField],
    /// The number with which it is left out, unless it has a mark.
    pub(crate) optional: Option<u16>,
    pub(crate) when: &'static [Condition],
    classes: Classes,
    /// Printed before the operand; between bank and offset of a constant; for an indexed constant, instead of no
    /// register and no offset.
    pub(crate) prefix: &'static str,
    /// The field of a [`Kind::Named`] or [`Kind::Pairs`] operand.
    pub(crate) field: Option<&'static NamedField>,
}

pub(crate) const fn operand(kind: Kind, bits: &str) -> Operand {
    Operand {
        kind,
        place: Place::new(bits),
        base: Place::NONE,
        scale: 0,
        negated: Mark::Never,
        absolute: Mark::Never,
        inverted: Mark::Never,
        suffixes: &[],
        optional: None,
        when: &[],
        classes: RCIX,
        prefix: "",
        field: None,
    }
}

pub(crate) const fn register(bits: &str) -> Operand {
    operand(Kind::Register, bits)
}

/// A predicate; the first of four bits inverts it.
pub(crate) const fn predicate(bits: &str) -> Operand {
    let mut predicate = operand(Kind::Predicate, bits);
    if predicate.place.width == 4 {
        let (low, _) = predicate.place.pieces[0];
        predicate.inverted = Mark::Bit(low + 3);
        predicate.place.pieces[0] = (low, 3);
        (predicate.place.width, predicate.place.mask) = (3, 7 << low);
    }
    predicate
}

pub(crate) const fn named(field: &'static NamedField) -> Operand {
    Operand { place: field.place, field: Some(field), ..operand(Kind::Named, "") }
}

/// The second source of a family.
pub(crate) const fn second(immediate: Immediate) -> Operand {
    operand(Kind::Second(immediate), "")
}

pub(crate) const THIRD: Operand = operand(Kind::Third, "");

impl Operand {
    pub(crate) const fn base(self, bits: &str) -> Self {
        Self { base: Place::new(bits), ..self }
    }

    pub(crate) const fn scaled(self, scale: u8) -> Self {
        Self { scale, ..self }
    }

    pub(crate) const fn neg(self, bit: u8) -> Self {
        Self { negated: Mark::Bit(bit), ..self }
    }

    pub(crate) const fn neg_when(self, condition: &'static Condition) -> Self {
        Self { negated: Mark::When(condition), ..self }
    }

    pub(crate) const fn abs(self, bit: u8) -> Self {
        Self { absolute: Mark::Bit(bit), ..self }
    }

    pub(crate) const fn inv(self, bit: u8) -> Self {
        Self { inverted: Mark::Bit(bit), ..self }
    }

    pub(crate) const fn suffix(self, suffixes: &'static [&'static NamedField]) -> Self {
        Self { suffixes, ..self }
    }

    pub(crate) const fn optional(self, number: u16) -> Self {
        Self { optional: Some(number), ..self }
    }

    pub(crate) const fn when(self, when: &'static [Condition]) -> Self {
        Self { when, ..self }
    }

    pub(crate) const fn only(self, classes: Classes) -> Self {
        Self { classes, ..self }
    }

    pub(crate) const fn prefix(self, prefix: &'static str) -> Self {
        Self { prefix, ..self }
    }

    pub(crate) const fn of(self, field: &'static NamedField) -> Self {
        Self { field: Some(field), ..self }
    }

    pub(crate) fn is_in(&self, class: Class) -> bool {
        self.classes.has(class)
    }

    /// The operand in a class, without the kinds of families.
    #[inline]
    pub(crate) fn in_class(&self, class: Class) -> Self {
        const REGISTER: Place = Place::new("27:20");
        const THIRD: Place = Place::new("46:39");
        const OFFSET: Place = Place::new("33:20");
        const BANK: Place = Place::new("38:34");
        const NUMBER: Place = Place::new("56,38:20");
        const HALF: Place = Place::new("35:20");
        let register = |place| Self { kind: Kind::Register, place, prefix: "", ..*self };
        let constant = Self { kind: Kind::Constant, place: OFFSET, base: BANK, scale: 2, ..*self };
        let immediate = |kind, place, scale| Self { kind, place, scale, prefix: "", ..*self };
        match (self.kind, class) {
            (Kind::Second(_), Class::Registers) => register(REGISTER),
            (Kind::Second(_), Class::Constant) | (Kind::Third, Class::ThirdConstant) => constant,
            (Kind::Second(_), Class::ThirdConstant) | (Kind::Third, _) => register(THIRD),
            (Kind::Second(of), Class::Immediate) => match of {
                Immediate::Signed => immediate(Kind::Signed, NUMBER, 0),
                Immediate::Unsigned => immediate(Kind::Unsigned, NUMBER, 0),
                Immediate::Float(format @ FloatFormat::Half) => {
                    immediate(Kind::Float(format), HALF, 0)
                }
                Immediate::Float(format @ FloatFormat::Single) => {
                    immediate(Kind::Float(format), NUMBER, 12)
                }
                Immediate::Float(format @ FloatFormat::Double) => {
                    immediate(Kind::Float(format), NUMBER, 44)
                }
            },
            _ => *self,
        }
    }
}

/// A row of the table: an instruction with operands of certain kinds, or a family of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) name: &'static str,
    /// The highest 16 bits of a word, and those of them that decide.
    opcode: u16,
    mask: u16,
    /// The classes of a family; only registers for a single form.
    pub(crate) classes: Classes,
    pub(crate) modifiers: &'static [&'static NamedField],
    pub(crate) operands: &'static [Operand],
    pub(crate) when: &'static [Condition],
    /// The word is refused if all conditions of one list hold.
    pub(crate) refused: &'static [&'static [Condition]],
    pub(crate) has_guard: bool,
    pub(crate) sms: Sms,
}

/// A form whose opcode are the highest 13 bits.
pub(crate) const fn form(
    name: &'static str,
    opcode: u16,
    modifiers: &'static [&'static NamedField],
    operands: &'static [Operand],
) -> Form {
    Form {
        name,
        opcode,
        mask: 0xfff8,
        classes: TWO_REGISTERS,
        modifiers,
        operands,
        when: &[],
        refused: &[],
        has_guard: true,
        sms: Sms::ALL,
    }
}

/// A family of forms. The opcode is that of the registers.
pub(crate) const fn family(
    name: &'static str,
    opcode: u16,
    classes: Classes,
    modifiers: &'static [&'static NamedField],
    operands: &'static [Operand],
) -> Form {
    Form { classes, ..form(name, opcode, modifiers, operands) }
}

impl Form {
    pub(crate) const fn mask(self, mask: u16) -> Self {
        Self { mask, ..self }
    }

    pub(crate) const fn when(self, when: &'static [Condition]) -> Self {
        Self { when, ..self }
    }

    pub(crate) const fn refused(self, refused: &'static [&'static [Condition]]) -> Self {
        Self { refused, ..self }
    }

    pub(crate) const fn unguarded(self) -> Self {
        Self { has_guard: false, ..self }
    }

    pub(crate) const fn on(self, sms: Sms) -> Self {
        Self { sms, ..self }
    }

    /// Value and mask of the opcode in a class, as the highest 16 bits.
    pub(crate) const fn opcode(&self, class: Class) -> (u16, u16) {
        let (opcode, mask) = (self.opcode, self.mask);
        match class {
            Class::Registers => (opcode, mask),
            Class::Constant => (opcode - 0x1000, mask),
            // Bit 56 is the sign of the number.
            Class::Immediate => (((opcode >> 8) - 0x40) << 9 | opcode & 0xff, mask & 0xfeff),
            Class::ThirdConstant => (opcode - 0x800, mask),
        }
    }
}
