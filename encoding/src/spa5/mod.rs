//! [`Spa5Instruction`]: every instruction of SM 5.0 to 6.2 (Maxwell, Pascal).
//!
//! `language` has the types of rows, `rows_*` the rows, `write` and `read` the text. All of nvdisasm's texts of these SMs
//! are printed as it prints them, and its refusals are refused.

mod language;
mod number;
mod read;
mod rows;
mod write;

use core::fmt;

use self::language::{Class, Form, Kind, Mark, Name, NamedField, Operand, Place, Sms, hold};
use self::rows::{COUNT, FORMS};
use crate::operand::{Guard, Pred, Reg};
use crate::sm::{Group, Sm};

pub use self::read::{Spa5TextError, Spa5TextErrorKind};
pub use self::write::Spa5Text;

/// An instruction word of SM 5.0 to 6.2, with its form. Each word that nvdisasm prints has one; a word that it refuses has
/// none.
///
/// ```
/// use warpload_encoding::{Sm, Spa5Instruction};
///
/// let sm: Sm = "61".parse()?;
/// let add = Spa5Instruction::decode(0x5c10_0000_0027_0100, sm).expect("an instruction");
/// assert_eq!(add.text_at(8).to_string(), "IADD R0, R1, R2");
/// assert_eq!(Spa5Instruction::parse("IADD R0, R1, R2", sm, 8)?.word(), add.word());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Spa5Instruction {
    word: u64,
    sm: Sm,
    /// The index of the form in [`FORMS`].
    form: u16,
    class: Class,
}

/// A field of a word, for explanations.
#[derive(Clone, Copy, Debug)]
pub struct Spa5Field {
    name: &'static str,
    purpose: &'static str,
    place: Place,
    number: u64,
    shown: Name,
}

impl Spa5Field {
    /// The name of the field.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What the field is for.
    #[must_use]
    pub fn purpose(&self) -> &'static str {
        self.purpose
    }

    /// The number in the field.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The bits of the field: `48`, `46:39`, `56,38:20`.
    #[must_use]
    pub fn bits(&self) -> impl fmt::Display + use<> {
        self.place
    }

    /// What the text shows for the number; an empty text if nothing.
    #[must_use]
    pub fn shown(&self) -> impl fmt::Display + use<> {
        self.shown
    }
}

/// An operand of an instruction. Those that the text leaves out are operands, too: `RZ`, `PT` or 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spa5Operand {
    /// The value.
    pub value: Spa5Value,
    /// `-R1`, `1.5.NEG`.
    pub is_negated: bool,
    /// `|R1|`, `1.5.ABS`.
    pub is_absolute: bool,
    /// `~R1`, `!P0`, `0x1.INV`.
    pub is_inverted: bool,
    /// What follows after dots, one of each suffix field: `H1`, `CC`. Empty ones show nothing.
    suffixes: [&'static str; MAX_SUFFIXES],
}

const MAX_SUFFIXES: usize = 2;

impl Spa5Operand {
    /// Whether a suffix follows: `H1` in `R1.H1`.
    #[must_use]
    pub fn has(&self, suffix: &str) -> bool {
        self.suffixes.contains(&suffix)
    }

    /// The operand without its minus sign.
    #[must_use]
    pub const fn positive(self) -> Self {
        Self { is_negated: false, ..self }
    }

    /// The operand with another value.
    #[must_use]
    pub const fn with_value(self, value: Spa5Value) -> Self {
        Self { value, ..self }
    }

    /// The first suffix that is not `CC`; empty if there is none.
    #[must_use]
    pub fn part(&self) -> &'static str {
        let mut parts = self.suffixes.iter().filter(|part| !part.is_empty() && **part != "CC");
        parts.next().copied().unwrap_or_default()
    }
}

/// The value of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spa5Value {
    /// A register.
    Register(Reg),
    /// A predicate.
    Predicate(Pred),
    /// The name of a special register, a scoreboard, a shape, or a set of registers.
    Name(&'static str),
    /// An immediate number. Signed ones are extended to 64 bits.
    Number(u64),
    /// The pattern of an immediate f32.
    Single(u32),
    /// The pattern of an immediate f64.
    Double(u64),
    /// The pattern of an immediate f16.
    Half(u16),
    /// The address that a jump goes to.
    Target(u64),
    /// A value in a constant bank.
    Constant {
        /// The number of the bank.
        bank: u8,
        /// The register that is added to the offset.
        base: Reg,
        /// The offset in bytes.
        offset: i32,
    },
    /// An address in memory: a register, or a pair, and an offset. The register of a jump is one, too.
    Address {
        /// The register; [`Reg::RZ`] if there is none.
        base: Reg,
        /// The offset in bytes.
        offset: i64,
    },
    /// The old and the new value of a compare-and-swap.
    Swap {
        /// The old value.
        compare: Reg,
        /// The new value.
        swap: Reg,
    },
    /// A set of numbers, as a mask.
    Set(u64),
    /// Two bits for each lane of a group of four: `PP` 0, `NP` 1, `PN` 2, `ZP` 3, lane 0 in the lowest.
    Pairs(u64),
    /// A text that is always the same.
    Text(&'static str),
}

/// The candidates for the highest 13 bits of a word: the first and the number of them in [`CANDIDATES`].
struct Lookup {
    ranges: [(u16, u8); 1 << 13],
}

const CLASSES: [Class; 4] =
    [Class::Registers, Class::Constant, Class::Immediate, Class::ThirdConstant];

/// Each form and class, those with the same opcode one after the other, in the order of the rows.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static CANDIDATES: [(u16, Class); COUNT] = {
    let mut candidates = [(0, Class::Registers); COUNT];
    let (mut count, mut class) = (0, 0);
    while class < CLASSES.len() {
        let mut form = 0;
        while form < FORMS.len() {
            if FORMS[form].classes.has(CLASSES[class]) {
                candidates[count] = (form as u16, CLASSES[class]);
                count += 1;
            }
            form += 1;
        }
        class += 1;
    }
    candidates
};

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
static LOOKUP: Lookup = {
    let mut ranges = [(0, 0); 1 << 13];
    let (mut at, mut class) = (0, 0);
    while class < CLASSES.len() {
        let mut form = 0;
        while form < FORMS.len() {
            if FORMS[form].classes.has(CLASSES[class]) {
                let (value, mask) = FORMS[form].opcode(CLASSES[class]);
                assert!(mask & 7 == 0 && value & !mask == 0, "13 bits decide");
                // All combinations of the bits that do not decide.
                let free = !mask & 0xfff8;
                let mut bits = free;
                loop {
                    let index = ((value | bits) >> 3) as usize;
                    let (first, count) = ranges[index];
                    if !may_hold(FORMS[form].when, (index as u64) << 51) {
                        // Another form has this opcode.
                    } else if count == 0 {
                        ranges[index] = (at, 1);
                    } else {
                        assert!(first + count as u16 == at, "rows of one opcode are not adjacent");
                        ranges[index] = (first, count + 1);
                    }
                    if bits == 0 {
                        break;
                    }
                    bits = (bits - 1) & free;
                }
                at += 1;
            }
            form += 1;
        }
        class += 1;
    }
    Lookup { ranges }
};

/// Whether conditions can hold for words with these highest 13 bits.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn may_hold(conditions: &[language::Condition], word: u64) -> bool {
    let mut at = 0;
    while at < conditions.len() {
        let place = &conditions[at].place;
        if place.mask() & ((1 << 51) - 1) == 0 && !conditions[at].allows(place.get(word)) {
            return false;
        }
        at += 1;
    }
    true
}

const GUARD: Operand = language::predicate("19:16");

impl Spa5Instruction {
    /// Decodes a word; `None` if nvdisasm refuses it, or if `sm` has no such words.
    #[must_use]
    pub fn decode(word: u64, sm: Sm) -> Option<Self> {
        let set = set_of(sm)?;
        let (first, count) = LOOKUP.ranges.get((word >> 51) as usize).copied()?;
        let range = usize::from(first)..usize::from(first) + usize::from(count);
        let mut candidates = CANDIDATES.get(range)?.iter();
        let (form, class) = *candidates.find(|(form, _)| {
            let form = FORMS.get(usize::from(*form));
            form.is_some_and(|form| form.sms.meets(set) && hold(form.when, word, set))
        })?;
        let decoded = Self { word, sm, form, class };
        (!decoded.is_refused()).then_some(decoded)
    }

    /// Returns the word.
    #[must_use]
    pub const fn word(&self) -> u64 {
        self.word
    }

    /// Returns the SM.
    #[must_use]
    pub const fn sm(&self) -> Sm {
        self.sm
    }

    /// Returns the mnemonic without modifiers.
    #[must_use]
    pub fn mnemonic(&self) -> &'static str {
        self.form().name
    }

    /// Returns the guard: [`Guard::ALWAYS`] for an instruction that has none.
    #[must_use]
    pub fn guard(&self) -> Guard {
        let bits = self.word >> 16 & 15;
        let bits = if self.form().has_guard { bits } else { 7 };
        Guard { pred: Pred::from_bits(bits & 7), negated: bits > 7 }
    }

    /// Returns the name that a modifier of the mnemonic shows, by the name of its field; an empty text if it shows nothing
    /// or the form lacks the field.
    #[must_use]
    pub fn modifier(&self, field: &str) -> &'static str {
        let set = self.set();
        let mut named = self.modifiers().filter(|known| known.name == field).filter_map(|known| {
            match known.shown(self.word, set) {
                Some(Name::Known(name)) if !name.is_empty() => Some(name),
                _ => None,
            }
        });
        named.next().unwrap_or_default()
    }

    /// Returns whether a modifier of the mnemonic is shown: `X` in `IADD.X`.
    #[must_use]
    pub fn has(&self, modifier: &str) -> bool {
        let set = self.set();
        self.modifiers().any(|known| match known.shown(self.word, set) {
            Some(Name::Known(name)) => name == modifier,
            _ => false,
        })
    }

    /// Returns the operands in the order of the text. `address` is that of the word, for the targets of jumps.
    pub fn operands_at(&self, address: u64) -> impl Iterator<Item = Spa5Operand> + use<> {
        let this = *self;
        this.present_operands().map(move |operand| this.value_of(&operand, address))
    }

    /// Returns the fields with names and the operands, for explanations.
    pub fn fields(&self) -> impl Iterator<Item = Spa5Field> + use<> {
        let (word, set, class) = (self.word, self.set(), self.class);
        let described = move |field: &'static NamedField| {
            let shown = field.shown(word, set).unwrap_or(Name::Known(""));
            let (name, purpose, place) = (field.name, field.purpose, field.place);
            Spa5Field { name, purpose, place, number: place.get(word), shown }
        };
        let suffixes = self.present_operands().flat_map(|operand| operand.suffixes.iter().copied());
        let all = self.modifiers().chain(suffixes.filter(move |field| field.is_in(class)));
        all.filter(|field| field.place.width() > 0).map(described)
    }

    /// Returns a mask of the bits that the text does not depend on.
    #[must_use]
    pub fn unread_bits(&self) -> u64 {
        let form = self.form();
        let conditions = |of: &[language::Condition]| {
            of.iter().fold(0, |mask, condition| mask | condition.place.mask())
        };
        let mark = |mark: &Mark| match mark {
            Mark::Never => 0,
            Mark::Bit(bit) => 1 << bit,
            Mark::When(condition) => condition.place.mask(),
        };
        let field = |field: &NamedField| field.place.mask() | conditions(field.when);
        let (_, mask) = form.opcode(self.class);
        let mut read = u64::from(mask) << 48 | conditions(form.when);
        read |= if form.has_guard { 15 << 16 } else { 0 };
        read |= form.refused.iter().fold(0, |mask, list| mask | conditions(list));
        read |= self.modifiers().fold(0, |mask, known| mask | field(known));
        for operand in self.operands_of_class() {
            read |= operand.place.mask() | operand.base.mask() | conditions(operand.when);
            read |= mark(&operand.negated) | mark(&operand.absolute) | mark(&operand.inverted);
            let suffixes = operand.suffixes.iter().filter(|suffix| suffix.is_in(self.class));
            read |= suffixes.fold(0, |mask, suffix| mask | field(suffix));
        }
        !read
    }

    /// Returns the text as nvdisasm prints it for a word at an address.
    #[must_use]
    pub fn text_at(&self, address: u64) -> Spa5Text {
        Spa5Text::new(*self, address)
    }

    /// Reads a text as nvdisasm prints it, of an instruction at an address.
    ///
    /// # Errors
    /// Returns the place and the reason if the text is not an instruction of `sm`.
    pub fn parse(text: &str, sm: Sm, address: u64) -> Result<Self, Spa5TextError> {
        read::parse(text, sm, address)
    }

    fn form(&self) -> &'static Form {
        let [first, ..] = &FORMS;
        FORMS.get(usize::from(self.form)).unwrap_or(first)
    }

    fn set(&self) -> Sms {
        set_of(self.sm).unwrap_or(Sms::ALL)
    }

    /// The fields behind the mnemonic.
    fn modifiers(&self) -> impl Iterator<Item = &'static NamedField> + use<> {
        let class = self.class;
        self.form().modifiers.iter().copied().filter(move |field| field.is_in(class))
    }

    fn operands_of_class(&self) -> impl Iterator<Item = Operand> + use<> {
        let class = self.class;
        let operands = self.form().operands.iter().filter(move |operand| operand.is_in(class));
        operands.map(move |operand| operand.in_class(class))
    }

    /// The operands that the word has.
    fn present_operands(&self) -> impl Iterator<Item = Operand> + use<> {
        let (word, set) = (self.word, self.set());
        self.operands_of_class().filter(move |operand| hold(operand.when, word, set))
    }

    /// Whether the disassembler prints nothing for the word.
    fn is_refused(&self) -> bool {
        let (word, set) = (self.word, self.set());
        let is_nameless = |field: &NamedField| field.shown(word, set).is_none();
        self.form().refused.iter().any(|list| hold(list, word, set))
            || self.modifiers().any(is_nameless)
            || self.present_operands().any(|operand| {
                let mut suffixes =
                    operand.suffixes.iter().filter(|suffix| suffix.is_in(self.class));
                suffixes.any(|suffix| is_nameless(suffix))
                    || match operand.kind {
                        Kind::Named => operand.field.is_some_and(is_nameless),
                        Kind::Swap => operand.base.get(word) & 3 == 3,
                        _ => false,
                    }
            })
    }

    fn value_of(&self, operand: &Operand, address: u64) -> Spa5Operand {
        let (word, set) = (self.word, self.set());
        let number = operand.place.get(word);
        let signed = operand.place.get_signed(word) << operand.scale;
        let register = |number: u64| Reg::new(number as u8);
        let value = match operand.kind {
            Kind::Register | Kind::Second(_) | Kind::Third => Spa5Value::Register(register(number)),
            Kind::Predicate => {
                Spa5Value::Predicate(Pred::from_bits(number ^ u64::from(operand.scale)))
            }
            Kind::Named => match operand.field.and_then(|field| field.name_of(number, set)) {
                Some(Name::Known(name)) => Spa5Value::Name(name),
                _ => Spa5Value::Number(number),
            },
            Kind::Unsigned | Kind::Magnitude => Spa5Value::Number(number << operand.scale),
            Kind::Signed => Spa5Value::Number(signed as u64),
            Kind::Target => Spa5Value::Target(target(address, signed)),
            Kind::Float(format) => match format {
                language::FloatFormat::Half => Spa5Value::Half((number << operand.scale) as u16),
                language::FloatFormat::Single => {
                    Spa5Value::Single((number << operand.scale) as u32)
                }
                language::FloatFormat::Double => Spa5Value::Double(number << operand.scale),
            },
            Kind::Constant => {
                let bank = operand.base.get(word) as u8;
                Spa5Value::Constant { bank, base: Reg::RZ, offset: signed as i32 }
            }
            Kind::IndexedConstant => {
                let base = operand.base.get(word);
                Spa5Value::Constant {
                    bank: (base >> 8) as u8,
                    base: register(base & 0xff),
                    offset: signed as i32,
                }
            }
            Kind::Address => {
                let base = match operand.base.width() {
                    0 => Reg::RZ,
                    _ => register(operand.base.get(word)),
                };
                let unsigned = (number << operand.scale) as i64;
                let offset = if base == Reg::RZ { unsigned } else { signed };
                Spa5Value::Address { base, offset }
            }
            Kind::Jump => {
                Spa5Value::Address { base: register(operand.base.get(word)), offset: signed }
            }
            Kind::Text => Spa5Value::Text(operand.prefix),
            Kind::Set => Spa5Value::Set(number),
            Kind::Pairs => Spa5Value::Pairs(number),
            Kind::Swap => {
                let (first, second) = swapped(number, operand.base.get(word));
                let named = |number: Option<u64>| number.map_or(Reg::RZ, register);
                Spa5Value::Swap { compare: named(first), swap: named(second) }
            }
        };
        let mut suffixes = [""; MAX_SUFFIXES];
        for (place, suffix) in suffixes.iter_mut().zip(operand.suffixes) {
            if let (true, Some(Name::Known(name))) =
                (suffix.is_in(self.class), suffix.shown(word, set))
            {
                *place = name;
            }
        }
        Spa5Operand {
            value,
            is_negated: operand.negated.holds(word, set),
            is_absolute: operand.absolute.holds(word, set),
            is_inverted: operand.inverted.holds(word, set),
            suffixes,
        }
    }
}

/// The address that a jump goes to.
fn target(address: u64, offset: i64) -> u64 {
    address.wrapping_add(8).wrapping_add_signed(offset)
}

/// The registers of both values of a compare-and-swap, from the first one and the bits that say whether one is zero;
/// `None` for a register that does not exist.
fn swapped(register: u64, bits: u64) -> (Option<u64>, Option<u64>) {
    let known = |number: u64| Some(number).filter(|number| *number <= 254);
    match bits & 3 {
        0 => (known(register), known(register + 1 + (bits >> 2))),
        1 => (Some(register), Some(255)),
        _ => (Some(255), known(register)),
    }
}

/// The set with an SM; `None` for SMs with other words.
fn set_of(sm: Sm) -> Option<Sms> {
    (sm.group() == Group::Spa5).then(|| Sms::new(sm.number(), sm.number()))
}

impl fmt::Debug for Spa5Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#018x} {}", self.word, self.text_at(8))
    }
}
