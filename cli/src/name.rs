//! Parts of text output: counts, and names from inputs. Such names can have any characters and any length, so they are
//! made fit for a terminal.

use std::fmt::{self, Display, Formatter};
use std::ops::Deref;

pub(crate) use warpload::text::plural;
pub(crate) use warpload_report::text_table::cell;
pub(crate) use warpload_suite::text::{escape, is_invisible, visible};

/// The name of a file. As the context of an error it also tells which file the error is about.
#[derive(Clone, Debug)]
pub(crate) struct Name(String);

impl Display for Name {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}
