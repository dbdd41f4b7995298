//! [`Spa5Text`]: the text of an instruction, as nvdisasm prints it.

use core::fmt::{self, Write};

use super::language::{Kind, Name, NamedField, Operand};
use super::{GUARD, PHASES, Reuse, Spa5Instruction, number, swapped, target};
use crate::field::Bits;

/// The text of an instruction at an address. Displays without allocating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spa5Text {
    instruction: Spa5Instruction,
    address: u64,
    reuse: Bits<4>,
}

impl Spa5Text {
    pub(super) fn new(instruction: Spa5Instruction, address: u64, reuse: Bits<4>) -> Self {
        Self { instruction, address, reuse }
    }

    /// Whether a text is this one, apart from blanks and from the case of letters.
    pub(super) fn is(&self, text: &str) -> bool {
        let mut compare = Compare { rest: text, is_equal: true };
        let written = write!(compare, "{self}");
        written.is_ok() && compare.is_equal && compare.rest.trim().is_empty()
    }

    pub(super) fn fmt_operand(&self, operand: &Operand, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instruction: of, address, reuse } = *self;
        Writer { of, address, reuse, out: f }.operand(operand)
    }
}

/// Compares a text with the one that is written.
struct Compare<'t> {
    rest: &'t str,
    is_equal: bool,
}

impl Write for Compare<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes().filter(|byte| *byte != b' ') {
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            match self.rest.split_at_checked(1) {
                Some((first, rest)) if first.as_bytes().eq_ignore_ascii_case(&[byte]) => {
                    self.rest = rest;
                }
                _ => self.is_equal = false,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Spa5Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instruction: of, address, reuse } = *self;
        Writer { of, address, reuse, out: f }.write()
    }
}

struct Writer<'w, 'f> {
    of: Spa5Instruction,
    address: u64,
    reuse: Bits<4>,
    out: &'w mut fmt::Formatter<'f>,
}

impl Writer<'_, '_> {
    fn write(mut self) -> fmt::Result {
        let form = self.of.form();
        if form.has_guard && self.of.word >> 16 & 15 != 7 {
            self.out.write_char('@')?;
            self.operand(&GUARD)?;
            self.out.write_char(' ')?;
        }
        self.out.write_str(form.name)?;
        for field in self.of.modifiers() {
            self.field(field)?;
        }
        if self.of.reuse() == Reuse::Phase {
            let phase = PHASES.get(usize::from(self.reuse.get() & 3));
            self.out.write_str(phase.copied().unwrap_or_default())?;
        }
        let mut is_first = true;
        for operand in self.of.present_operands() {
            if self.of.is_left_out(&operand) {
                continue;
            }
            // `CCTL.QRY1[R1]` has no blank.
            let is_glued = is_first && operand.prefix.starts_with('.');
            self.out.write_str(match is_first {
                true if is_glued => "",
                true => " ",
                false => ", ",
            })?;
            is_first = false;
            self.operand(&operand)?;
        }
        Ok(())
    }

    /// Writes the name of a field after a dot.
    fn field(&mut self, field: &NamedField) -> fmt::Result {
        match field.shown(self.of.word, self.of.set()) {
            None | Some(Name::Known("")) => Ok(()),
            Some(Name::Known(name)) => {
                self.out.write_char('.')?;
                self.out.write_str(name)
            }
            Some(name) => write!(self.out, ".{name}"),
        }
    }

    /// Writes an operand with its marks: those of immediates follow it.
    fn operand(&mut self, operand: &Operand) -> fmt::Result {
        let (word, set) = (self.of.word, self.of.set());
        let is_immediate = matches!(operand.kind, Kind::Float(_) | Kind::Unsigned | Kind::Signed);
        let marks = [&operand.negated, &operand.absolute, &operand.inverted];
        let [negated, absolute, inverted] = marks.map(|mark| mark.holds(word, set));
        let class = self.of.class;
        if is_immediate {
            self.value(operand)?;
            self.out.write_str(if negated { ".NEG" } else { "" })?;
            self.out.write_str(if absolute { ".ABS" } else { "" })?;
            self.out.write_str(if inverted { ".INV" } else { "" })?;
        } else {
            let is_zero = operand.kind == Kind::Magnitude && operand.place.get(word) == 0;
            self.out.write_str(if negated && !is_zero { "-" } else { "" })?;
            if inverted {
                self.out.write_char(if operand.kind == Kind::Predicate { '!' } else { '~' })?;
            }
            self.out.write_str(if absolute { "|" } else { "" })?;
            self.value(operand)?;
        }
        for suffix in operand.suffixes.iter().filter(|suffix| suffix.is_in(class)) {
            self.field(suffix)?;
        }
        self.out.write_str(if absolute && !is_immediate { "|" } else { "" })?;
        let is_reused = self.of.reuse_flag(operand) & self.reuse.get() != 0;
        self.out.write_str(if is_reused { ".reuse" } else { "" })
    }

    fn register(&mut self, number: u64) -> fmt::Result {
        match number {
            255 => self.out.write_str("RZ"),
            number => write!(self.out, "R{number}"),
        }
    }

    fn signed(&mut self, number: i64) -> fmt::Result {
        self.out.write_str(if number < 0 { "-" } else { "" })?;
        write!(self.out, "{:#x}", number.unsigned_abs())
    }

    fn value(&mut self, operand: &Operand) -> fmt::Result {
        let (word, set) = (self.of.word, self.of.set());
        let number = operand.place.get(word);
        let signed = operand.place.get_signed(word) << operand.scale;
        let scaled = number << operand.scale;
        match operand.kind {
            Kind::Register | Kind::Second(_) | Kind::Third => self.register(number),
            Kind::Predicate => match number ^ u64::from(operand.scale) {
                7 => self.out.write_str("PT"),
                number => write!(self.out, "P{number}"),
            },
            Kind::Named => match operand.field.and_then(|field| field.name_of(number, set)) {
                Some(name) => write!(self.out, "{name}"),
                None => Ok(()),
            },
            Kind::Unsigned | Kind::Magnitude => write!(self.out, "{scaled:#x}"),
            Kind::Signed => self.signed(signed),
            Kind::Target => self.signed(target(self.address, signed) as i64),
            Kind::Float(format) => number::write(scaled, format, self.out),
            Kind::Constant => {
                write!(self.out, "c[{:#x}]{}[", operand.base.get(word), operand.prefix)?;
                self.signed(signed)?;
                self.out.write_char(']')
            }
            Kind::IndexedConstant => {
                let base = operand.base.get(word);
                write!(self.out, "c[{:#x}][", base >> 8)?;
                match base & 0xff {
                    255 if signed == 0 && !operand.prefix.is_empty() => {
                        self.out.write_str(operand.prefix)?;
                    }
                    255 => self.signed(signed)?,
                    base => self.with_offset(base, signed)?,
                }
                self.out.write_char(']')
            }
            Kind::Address => {
                self.out.write_str(operand.prefix)?;
                self.out.write_char('[')?;
                match operand.base.get(word) {
                    _ if operand.base.width() == 0 => write!(self.out, "{scaled:#x}")?,
                    255 if scaled == 0 => self.out.write_str("RZ")?,
                    255 => write!(self.out, "{scaled:#x}")?,
                    base => self.with_offset(base, signed)?,
                }
                self.out.write_char(']')
            }
            Kind::Jump => {
                self.register(operand.base.get(word))?;
                if signed == 0 {
                    return Ok(());
                }
                self.out.write_char(' ')?;
                self.signed(signed)
            }
            Kind::Text => self.out.write_str(operand.prefix),
            Kind::Set => {
                let mut separator = '{';
                for bit in (0..64).rev().filter(|bit| number >> bit & 1 != 0) {
                    write!(self.out, "{separator}{bit}")?;
                    separator = ',';
                }
                self.out.write_char('}')
            }
            Kind::Pairs => {
                for at in (0..operand.place.width() / 2).rev() {
                    let name =
                        operand.field.and_then(|field| field.name_of(number >> (2 * at) & 3, set));
                    write!(self.out, "{}", name.unwrap_or(Name::Known("")))?;
                }
                Ok(())
            }
            Kind::Swap => {
                let (compare, swap) = swapped(number, operand.base.get(word));
                self.swap(compare)?;
                self.out.write_str(", ")?;
                self.swap(swap)
            }
        }
    }

    fn with_offset(&mut self, base: u64, offset: i64) -> fmt::Result {
        self.register(base)?;
        if offset == 0 {
            return Ok(());
        }
        self.out.write_char('+')?;
        self.signed(offset)
    }

    fn swap(&mut self, number: Option<u64>) -> fmt::Result {
        match number {
            Some(number) => self.register(number),
            None => self.out.write_str("???255"),
        }
    }
}
