//! PTX: what a module holds as far as its loads depend on it, and which loads are legal.
//!
//! [`read`] reads a module whole; [`Module::loads`] gives its loads as they are written.

mod error;
mod expression;
mod layout;
mod lexer;
mod load;
mod meaning;
mod module;
mod names;
mod reader;
mod rules;
mod run;
mod span;
mod types;
mod words;

pub use self::error::{ReadError, ReadErrorKind, SyntaxError};
pub use self::expression::{Constant, integer};
pub use self::layout::{Layout, LayoutError, MAX_SPACE};
pub use self::lexer::{Lexer, LexicalError, Token, TokenKind};
pub use self::load::{
    Address, AddressForm, CacheOp, Element, ElementKind, Eviction, Level, Load, Offset, Opcode,
    Operand, OperandKind, Order, Qualifier, QualifierKind, Reduction, Scope as SyncScope, Shape,
};
pub use self::meaning::{Base, LoadSpace, Meaning, MeaningError, Place, Register};
pub use self::module::{
    AddressSize, Array, Declaration, DeclarationId, Function, FunctionId, FunctionKind, Guard,
    Instruction, Linkage, Module, Role, Scope, ScopeId, Statement, StatementKind, Symbol,
};
pub use self::reader::{MAX_DEPTH, read};
pub use self::rules::{Rule, Unit, Verdict, Violation, check, check_as};
pub use self::run::{
    CONST_BANK, Environment, Executed, GLOBAL_BASE, PARAMETER_BANK, PARAMETER_BASE, Placement,
    PlacementError, RegisterValue, Registers, RunError, RunErrorKind, Step, ValueError, bits_of,
    lane_bits,
};
pub use self::span::{Lines, Position, Span};
pub use self::types::{Reach, ScalarType, StateSpace, Target, TypeClass, Version, Window};
