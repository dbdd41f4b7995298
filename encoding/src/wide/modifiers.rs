//! [`Modifiers128`]: the modifiers of a load of 128 bits, for messages.

use core::fmt;

use super::decode::Instruction128;
use super::form::Modifier;
use super::values::is_invalid_name;

/// The modifiers that a load of 128 bits takes. Displays as their names, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modifiers128 {
    load: Instruction128,
}

impl Modifiers128 {
    pub(super) const fn of(load: Instruction128) -> Self {
        Self { load }
    }

    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        self.load.form().modifiers.iter().flat_map(move |modifier| {
            let (always, values) = match *modifier {
                Modifier::Always(name) => (Some(name), None),
                Modifier::Slot(slot) => (None, self.load.values(slot)),
            };
            let rows = values.map_or(&[][..], |values| values.rows);
            let names = rows.iter().map(|value| value.name);
            always
                .into_iter()
                .chain(names.filter(|name| !name.is_empty() && !is_invalid_name(name)))
        })
    }
}

impl fmt::Display for Modifiers128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for modifier in self.load.form().modifiers {
            match *modifier {
                Modifier::Always(name) => write!(f, "{separator}`.{name}`")?,
                Modifier::Slot(slot) => {
                    let Some(values) = self.load.values(slot) else { continue };
                    write!(f, "{separator}")?;
                    let names = values.rows.iter().map(|value| value.name);
                    let mut names = names.filter(|name| !name.is_empty() && !is_invalid_name(name));
                    let first = names.next().unwrap_or_default();
                    match names.next() {
                        None => write!(f, "`.{first}`")?,
                        Some(second) => {
                            write!(f, "{}, `.{first} .{second}", values.kind)?;
                            names.try_for_each(|name| write!(f, " .{name}"))?;
                            f.write_str("`")?;
                        }
                    }
                }
            }
            separator = "; ";
        }
        Ok(())
    }
}
