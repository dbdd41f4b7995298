//! Text: the canonical formatter and the parser.
//!
//! Below the instructions: [`cursor`] reads tokens, `operands`, `modifier` and `annotation` read the
//! parts of a line, `format` writes them. Above them: `parse` and `hint`.

pub(crate) mod annotation;
pub(crate) mod cursor;
mod error;
mod format;
mod hint;
pub(crate) mod modifier;
mod operands;
mod parse;

pub use annotation::parse_control_prefix;
pub(crate) use cursor::Cursor;
pub use cursor::LineSpan;
pub use error::{Expected, ParseError, ParseErrorKind};
pub use format::Text;
pub(crate) use format::registers;
pub use hint::{Hint, later_syntax};
pub use modifier::{Alias, Modifiers};
pub(crate) use operands::{Bare, predicate_named, register_named};
pub use parse::{ParsedLine, parse_line, parse_line_like, parse_opcode};
