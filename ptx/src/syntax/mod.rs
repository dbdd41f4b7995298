//! The text of PTX: words, places, types, constant expressions, and instructions as written.

pub(crate) mod expression;
pub(crate) mod lexer;
pub mod load;
pub(crate) mod opcode;
pub(crate) mod operand;
pub(crate) mod span;
pub(crate) mod special;
pub(crate) mod types;
pub(crate) mod words;

pub use self::expression::{Constant, integer};
pub use self::lexer::{Lexer, LexicalError, Token, TokenKind};
pub use self::opcode::Opcode;
pub use self::span::{LineIndex, Position, Span};
pub use self::types::{Reach, StateSpace, SubQualifier, Target, Version};
pub use self::words::SyntaxError;
pub use warpload_machine::{ParseNameError, ScalarType};
