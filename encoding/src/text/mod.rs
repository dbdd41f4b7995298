//! Text: the canonical writer and the parser, which follow the grammar of the table.
//!
//! `cursor` reads tokens; `names`, `operands` and `annotation` read the parts of a line, and `read` the whole line.
//! `write` prints the canonical text, and `scheduling` the annotations that nvdisasm 12.8 appends. `error` and `hint`
//! explain mistakes.

pub(crate) mod annotation;
pub(crate) mod cursor;
mod error;
mod examples;
mod format;
mod hint;
mod names;
mod operands;
mod read;
mod scheduling;
mod write;

pub(crate) use self::annotation::parse_annotations;
pub use self::annotation::parse_control_prefix;
pub use self::cursor::LineSpan;
pub use self::error::{Expected, ParseError, ParseErrorKind};
pub use self::examples::Addresses;
pub use self::format::Text;
pub use self::hint::{Hint, later_syntax};
pub use self::names::{Alias, Modifiers};
pub use self::read::{ParsedLine, parse_line, parse_line_like, parse_opcode};
pub use self::scheduling::SchedulingText;
