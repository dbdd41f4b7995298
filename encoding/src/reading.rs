//! [`FieldReading`]: one field of a word, for explanations.

use core::fmt;

use crate::control::Control;
use crate::field::Field;
use crate::table::row::{Kind, Row, Slot};
use crate::table::spa5::CONTROL;

/// One field of one word: its name and its bits. Displays as their meaning.
#[derive(Clone, Copy)]
pub struct FieldReading {
    pub(crate) row: &'static Row,
    pub(crate) mnemonic: &'static str,
    /// The value to look up in the field's name table. For a field split in two, the joined value.
    pub(crate) named: u64,
    /// The bits of the field, unsigned.
    pub raw: u64,
}

impl FieldReading {
    /// Returns the bits that the field occupies.
    #[must_use]
    pub fn field(&self) -> Field {
        self.row.field
    }

    /// Returns the role of the field in the instruction.
    #[must_use]
    pub fn slot(&self) -> Slot {
        self.row.slot
    }

    /// Returns the name of the field in the documents of the architecture; `-` for reserved bits.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.row.name
    }

    /// Returns the purpose of the field, in one line.
    #[must_use]
    pub fn purpose(&self) -> &'static str {
        self.row.purpose
    }

    /// Returns the value that is the same in every word of the form, if there is one.
    #[must_use]
    pub fn fixed(&self) -> Option<u64> {
        match self.row.kind {
            Kind::Opcode => Some(self.raw),
            _ => self.row.fixed,
        }
    }

    /// Returns the names of the values in numeric order, as in the text but without the dot; a name is empty if it is
    /// not printed. There are none if the values are numbers, registers or the like.
    #[must_use]
    pub fn value_names(&self) -> impl ExactSizeIterator<Item = &'static str> + use<> {
        let rows = match self.row.kind {
            Kind::Named(values) | Kind::NamedBeside(values, ..) => values.rows,
            _ => &[],
        };
        rows.iter().map(|value| value.name)
    }

    /// Returns the reading of another number in the whole field.
    #[must_use]
    pub fn of_value(self, number: u64) -> Self {
        Self { raw: number, named: number, ..self }
    }

    /// Returns whether the disassembler ignores these bits: they survive decoding and encoding, but no text shows them.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.row.slot == Slot::Reserved
    }
}

impl fmt::Debug for FieldReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]={:#x}", self.name(), self.field(), self.raw)
    }
}

impl fmt::Display for FieldReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = match self.row.kind {
            Kind::Opcode => return f.write_str(self.mnemonic),
            Kind::Named(_) | Kind::NamedBeside(..) => self.named,
            _ => self.raw,
        };
        self.row.kind.fmt_meaning(number, self.row.field.width(), f)
    }
}

impl Control {
    /// Returns the reading of every field of this slot of a control word, most significant first.
    pub fn describe(self) -> impl Iterator<Item = FieldReading> {
        let word = self.pack();
        CONTROL.iter().map(move |row| {
            let raw = row.field.get(word.into());
            FieldReading { row, mnemonic: "", named: raw, raw }
        })
    }
}
