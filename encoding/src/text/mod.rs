//! Text: the canonical formatter and the parser.
//!
//! Below the instructions: [`cursor`] reads tokens, `operands`, `read_modifiers` and `annotation`
//! read the parts of a line, `format` writes them. Above them: `parse`, `from_str` and `hint`.

pub(crate) mod annotation;
pub(crate) mod cursor;
mod error;
mod format;
mod from_str;
mod hint;
mod later;
pub(crate) mod lexer;
pub(crate) mod modifier;
mod operands;
mod parse;
mod read_modifiers;
mod span;

pub use annotation::parse_control_prefix;
pub(crate) use cursor::Cursor;
pub use error::{Expected, ParseError, ParseErrorKind};
pub use format::Text;
pub(crate) use format::registers;
pub use hint::Hint;
pub use later::later_syntax;
pub use modifier::{Alias, Modifiers};
pub(crate) use operands::{Bare, predicate_named, register_named};
pub use parse::{ParsedLine, parse_line, parse_line_like, parse_opcode};
pub use span::LineSpan;
