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
use crate::control::Control;
use crate::field::Bits;
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

    /// A mask of the bits of the field.
    #[must_use]
    pub fn mask(&self) -> u64 {
        self.place.mask()
    }

    /// What the text shows for the number; an empty text if nothing.
    #[must_use]
    pub fn shown(&self) -> impl fmt::Display + use<> {
        self.shown
    }
}

/// A line with an instruction and, possibly, its scheduling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spa5Line {
    /// The instruction.
    pub instruction: Spa5Instruction,
    /// The scheduling, if the line names one, with [`reuse`](Self::reuse).
    pub control: Option<Control>,
    /// Bits 20:17 of the scheduling, as far as the text shows them: `.reuse`, and the phase of a texture instruction.
    pub reuse: Bits<4>,
}

/// An operand of a word and its bits, for explanations.
#[derive(Clone, Copy, Debug)]
pub struct Spa5OperandField {
    /// The operand.
    pub operand: Spa5Operand,
    /// Its bits, and those of its marks.
    pub mask: u64,
    /// The number in its place, without marks, register of an address and bank.
    pub number: u64,
    /// Whether the text leaves it out.
    pub is_left_out: bool,
    text: Spa5Text,
    row: Operand,
}

impl fmt::Display for Spa5OperandField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt_operand(&self.row, f)
    }
}

/// What bits 20:17 of the scheduling are, by nvdisasm 12.8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reuse {
    /// The registers that stay in the reuse cache, `.reuse` behind them: a flag for each source. The flags of those at
    /// bits 27:20 and 46:39 depend on the form.
    Operands { second: u8, third: u8 },
    /// The phase of a texture instruction.
    Phase,
    /// Not shown.
    Nothing,
}

/// The phases of texture instructions.
const PHASES: [&str; 4] = ["", ".T", ".P", ".INVALIDPHASE3"];

fn reuse_of(form: &Form, class: Class) -> Reuse {
    let mut operands = form.operands.iter().filter(|operand| operand.is_in(class));
    let last = operands.next_back().map(|operand| operand.in_class(class).kind);
    // A second source leaves its place to a constant. A sum is a product with 1, and its second source the third one.
    let third = if last == Some(Kind::Constant) { 2 } else { 4 };
    match form.name {
        "DADD" | "FADD" | "FSWZADD" | "HADD2" => Reuse::Operands { second: 4, third },
        "BFE" | "BFI" | "CS2R" | "CSET" | "CSETP" | "DFMA" | "DMNMX" | "DMUL" | "DSET"
        | "DSETP" | "F2F" | "F2I" | "FADD32I" | "FCHK" | "FCMP" | "FFMA" | "FFMA32I" | "FMNMX"
        | "FMUL" | "FMUL32I" | "FSET" | "FSETP" | "HADD2_32I" | "HFMA2" | "HFMA2_32I" | "HMUL2"
        | "HMUL2_32I" | "HSET2" | "HSETP2" | "I2F" | "IADD" | "IADD3" | "IADD32I" | "ICMP"
        | "IDP" | "IMNMX" | "ISCADD" | "ISCADD32I" | "ISET" | "ISETP" | "LEA" | "LEPC" | "LOP"
        | "LOP3" | "LOP32I" | "MOV" | "MOV32I" | "NOP" | "P2R" | "PRMT" | "PSET" | "PSETP"
        | "R2P" | "RRO" | "SEL" | "SHF" | "SHL" | "SHR" | "VABSDIFF" | "VABSDIFF4" | "VADD"
        | "VMAD" | "VMNMX" | "VOTE" | "VSET" | "VSETP" | "VSHL" | "VSHR" | "XMAD" => {
            Reuse::Operands { second: 2, third }
        }
        "STP" | "TEX" | "TEXS" | "TLD" | "TLD4" | "TLD4S" | "TLDS" | "TMML" | "TXA" | "TXD"
        | "TXQ" => Reuse::Phase,
        _ => Reuse::Nothing,
    }
}

/// The reuse flag of an operand.
fn reuse_flag_of(operand: &Operand, reuse: Reuse) -> u8 {
    const TARGET: u64 = 0xff;
    let Reuse::Operands { second, third } = reuse else { return 0 };
    let shift = operand.place.mask().trailing_zeros();
    let is_register = operand.kind == Kind::Register && operand.place.mask() == TARGET << shift;
    match shift {
        8 if is_register => 1,
        20 if is_register => second,
        39 if is_register => third,
        // The target as third source, which has a sign.
        0 if is_register && !matches!(operand.negated, Mark::Never) => 4,
        _ => 0,
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

    /// Returns the operands in the order of the text with their bits, for explanations.
    pub fn operand_fields_at(
        &self,
        address: u64,
    ) -> impl Iterator<Item = Spa5OperandField> + use<> {
        let this = *self;
        self.present_operands().map(move |row| Spa5OperandField {
            operand: this.value_of(&row, address),
            mask: operand_mask(&row),
            number: row.place.get(this.word),
            is_left_out: this.is_left_out(&row),
            text: this.text_at(address),
            row,
        })
    }

    /// Returns a mask of the bits that decide between instructions.
    #[must_use]
    pub fn opcode_mask(&self) -> u64 {
        let (_, mask) = self.form().opcode(self.class);
        u64::from(mask) << 48 | mask_of(self.form().when)
    }

    /// Returns a mask of the guard; 0 for an instruction that has none.
    #[must_use]
    pub fn guard_mask(&self) -> u64 {
        if self.form().has_guard { 15 << 16 } else { 0 }
    }

    /// Returns the mnemonics of an SM, without modifiers.
    pub fn mnemonics(sm: Sm) -> impl Iterator<Item = &'static str> {
        let set = set_of(sm);
        let known = move |form: &&Form| set.is_some_and(|set| form.sms.meets(set));
        let is_first = |at: usize| {
            let name = FORMS.get(at).map(|form| form.name);
            !FORMS.iter().take(at).any(|form| Some(form.name) == name)
        };
        let first = FORMS.iter().enumerate().filter(move |(at, _)| is_first(*at));
        first.map(|(_, form)| form).filter(known).map(|form| form.name)
    }

    /// Returns a mask of the bits that the text does not depend on.
    #[must_use]
    pub fn unread_bits(&self) -> u64 {
        let form = self.form();
        let mut read = self.opcode_mask() | self.guard_mask();
        read |= form.refused.iter().fold(0, |mask, list| mask | mask_of(list));
        read |= self.modifiers().fold(0, |mask, known| mask | field_mask(known));
        for operand in self.operands_of_class() {
            read |= operand_mask(&operand) | mask_of(operand.when);
            let suffixes = operand.suffixes.iter().filter(|suffix| suffix.is_in(self.class));
            read |= suffixes.fold(0, |mask, suffix| mask | field_mask(suffix));
        }
        !read
    }

    /// Returns the text as nvdisasm prints it for a word at an address.
    #[must_use]
    pub fn text_at(&self, address: u64) -> Spa5Text {
        Spa5Text::new(*self, address, Bits::default())
    }

    /// Returns the text as nvdisasm prints it for a word at an address in a program, with bits 20:17 of its scheduling:
    /// `.reuse` behind operands, or the phase of a texture instruction. `None` if it refuses these bits.
    ///
    /// ```
    /// use warpload_encoding::{Bits, Sm, Spa5Instruction};
    ///
    /// let add = Spa5Instruction::decode(0x5c10_0000_0027_0100, Sm::SPA5).expect("an instruction");
    /// let text = |reuse| add.text_with(8, Bits::from_bits(reuse)).map(|text| text.to_string());
    /// assert_eq!(text(2).as_deref(), Some("IADD R0, R1, R2.reuse"));
    /// assert_eq!(text(8), None);
    /// ```
    #[must_use]
    pub fn text_with(&self, address: u64, reuse: Bits<4>) -> Option<Spa5Text> {
        let is_refused = match self.reuse() {
            Reuse::Operands { third, .. } => {
                // Most instructions of halves print bit 20 as if it were 0.
                let is_silent = match self.mnemonic() {
                    "HADD2" | "HADD2_32I" | "HMUL2" | "HMUL2_32I" | "HSET2" => true,
                    "HFMA2" => third == 4,
                    _ => false,
                };
                reuse.get() & 8 != 0 && !is_silent
            }
            _ => false,
        };
        (!is_refused).then_some(Spa5Text::new(*self, address, reuse))
    }

    /// Returns the bits 20:17 of the scheduling that the text can show.
    #[must_use]
    pub fn shown_reuse(&self) -> Bits<4> {
        let flags = self.present_operands().fold(0, |flags, row| flags | self.reuse_flag(&row));
        Bits::from_bits(if self.reuse() == Reuse::Phase { 3 } else { flags.into() })
    }

    /// Returns the bits 20:17 of the scheduling with which the word at an address prints a text; `None` if the text is
    /// another one. Blanks and the case of letters do not matter.
    #[must_use]
    pub fn reuse_in(&self, text: &str, address: u64) -> Option<Bits<4>> {
        let shown = u64::from(self.shown_reuse().get());
        let mut flags = (0..8).filter(|flags| flags & !shown == 0).map(Bits::from_bits);
        flags.find(|flags| self.text_with(address, *flags).is_some_and(|known| known.is(text)))
    }

    /// Reads a text as nvdisasm prints it, of an instruction at an address.
    ///
    /// # Errors
    /// Returns the place and the reason if the text is not an instruction of `sm`.
    pub fn parse(text: &str, sm: Sm, address: u64) -> Result<Self, Spa5TextError> {
        read::parse(text, 0, sm, address, false).map(|(instruction, _)| instruction)
    }

    /// Reads a line: an instruction as in a program, with `.reuse`, and with scheduling before or after it in any
    /// notation. A comment can follow.
    ///
    /// ```
    /// use warpload_encoding::{Sm, Spa5Instruction};
    ///
    /// let line = Spa5Instruction::parse_line("01:-:-:Y:6  IADD R0, R1.reuse, R2; // x", Sm::SPA5, 8)?;
    /// assert_eq!((line.instruction.word(), line.reuse.get()), (0x5c10_0000_0027_0100, 1));
    /// assert_eq!(line.control.map(|control| control.stall.get()), Some(6));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns the place and the reason if the line is not an instruction of `sm`.
    pub fn parse_line(text: &str, sm: Sm, address: u64) -> Result<Spa5Line, Spa5TextError> {
        read::parse_line(text, sm, address)
    }

    /// What bits 20:17 of the scheduling are. Conversions of 64 bits and small VMADs are not on the units that the others
    /// of their names are on.
    fn reuse(&self) -> Reuse {
        let bits = |low: u32, width: u32| self.word >> low & ((1 << width) - 1);
        let (target, source) = (bits(8, 2), bits(10, 2));
        let is_on_other_unit = match self.mnemonic() {
            "F2F" => source != 3 && (target != 3 || source == 0),
            "F2I" | "I2F" => source != 3 && (target != 3 || source == 1),
            "VMAD" => bits(36, 3) > 5 || bits(50, 1) == 1 && bits(28, 3) > 5,
            _ => false,
        };
        if is_on_other_unit { Reuse::Nothing } else { reuse_of(self.form(), self.class) }
    }

    fn reuse_flag(&self, operand: &Operand) -> u8 {
        reuse_flag_of(operand, self.reuse())
    }

    /// Whether the text leaves out an operand, because it has the number of no operand.
    fn is_left_out(&self, operand: &Operand) -> bool {
        let (word, set) = (self.word, self.set());
        let number = operand.place.get(word);
        if operand.kind == Kind::Named {
            let name = operand.field.and_then(|field| field.name_of(number, set));
            return name == Some(Name::Known(""));
        }
        operand.optional.is_some_and(|optional| u64::from(optional) == number)
            && !operand.inverted.holds(word, set)
            && !operand.negated.holds(word, set)
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

fn mask_of(conditions: &[language::Condition]) -> u64 {
    conditions.iter().fold(0, |mask, condition| mask | condition.place.mask())
}

fn field_mask(field: &NamedField) -> u64 {
    field.place.mask() | mask_of(field.when)
}

/// The bits of an operand and of its marks.
fn operand_mask(operand: &Operand) -> u64 {
    let mark = |mark: &Mark| match mark {
        Mark::Never => 0,
        Mark::Bit(bit) => 1 << bit,
        Mark::When(condition) => condition.place.mask(),
    };
    let marks = mark(&operand.negated) | mark(&operand.absolute) | mark(&operand.inverted);
    operand.place.mask() | operand.base.mask() | marks
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
