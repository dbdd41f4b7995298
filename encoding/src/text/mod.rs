//! Text: the canonical formatter and the parser.

mod annotation;
mod error;
mod format;
mod later;
mod lexer;
pub(crate) mod modifier;
mod parse;

pub use annotation::parse_control_prefix;
pub use error::{Expected, Hint, ParseError, ParseErrorKind, Span};
pub(crate) use format::Modifier;
pub use format::Text;
pub use later::later_syntax;
pub use modifier::{Alias, Modifiers};
pub(crate) use parse::{Bare, Cursor};
pub use parse::{ParsedLine, parse_line, parse_opcode};
