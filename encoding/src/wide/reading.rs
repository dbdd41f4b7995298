//! [`FieldReading128`]: a field of a word, for explanations.

use core::fmt;

use super::row::{Kind, LayoutRow128};
use crate::field::Field;

/// One field of one word: what it is called, and its bits. Displays as what the bits mean.
#[derive(Clone, Copy)]
pub struct FieldReading128 {
    pub(super) row: &'static LayoutRow128,
    pub(super) mnemonic: &'static str,
    /// The number that has the name, if numbers have names: of a field in two parts, the whole.
    pub(super) named: u64,
    /// The bits of the field, unsigned.
    pub raw: u64,
}

impl FieldReading128 {
    /// Returns which bits of the word these are.
    #[must_use]
    pub fn field(&self) -> Field<u128> {
        self.row.field
    }

    /// Returns the name of the field in the documents of the architecture; `-` for bits that the
    /// disassembler does not read.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.row.name
    }

    /// Returns what the field decides, in one line.
    #[must_use]
    pub fn purpose(&self) -> &'static str {
        self.row.purpose
    }

    /// Returns the value that every word of the form has here, if there is one.
    #[must_use]
    pub fn fixed(&self) -> Option<u64> {
        match self.row.kind {
            Kind::Opcode => Some(self.raw),
            _ => self.row.fixed,
        }
    }

    /// Returns the names of the values in the order of their numbers, as the text has them but
    /// without the dot; a name is empty if it is not printed. There are none if the values are
    /// numbers, registers or the like.
    #[must_use]
    pub fn value_names(&self) -> impl ExactSizeIterator<Item = &'static str> + use<> {
        let rows = match self.row.kind {
            Kind::Named(values) => values.rows,
            _ => &[],
        };
        rows.iter().map(|value| value.name)
    }

    /// Returns the reading of another number in the whole field.
    #[must_use]
    pub fn of_value(self, number: u64) -> Self {
        Self { raw: number, named: number, ..self }
    }

    /// Returns whether the disassembler reads these bits.
    #[must_use]
    pub fn is_read(&self) -> bool {
        !matches!(self.row.kind, Kind::Unread)
    }
}

impl fmt::Display for FieldReading128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Kind::Opcode = self.row.kind {
            return f.write_str(self.mnemonic);
        }
        let number = if let Kind::Named(_) = self.row.kind { self.named } else { self.raw };
        self.row.kind.fmt_meaning(number, self.row.field.width(), f)
    }
}
