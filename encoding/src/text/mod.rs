//! Text: the canonical formatter and the parser.

mod annotation;
mod error;
mod format;
mod lexer;
mod modifier;
mod parse;

pub use annotation::parse_control_prefix;
pub use error::{Expected, Hint, ParseError, ParseErrorKind, Span};
pub use format::Text;
pub use modifier::{Alias, ModifierKind};
pub(crate) use modifier::{CACHE_OPERATORS, EXTENDED, SIZES};
pub(crate) use parse::Cursor;
pub use parse::{ParsedLine, parse_line};
