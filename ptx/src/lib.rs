//! PTX: what a module holds as far as its loads depend on it, and which loads are legal.
//!
//! [`read`] reads a module whole. [`Module::loads`] gives its loads as they are written, legal or
//! not; [`check`] judges them. Everything keeps its place in the text as a [`Span`], and names are
//! looked up with [`Module::find`] where they are written. docs/ptx.md lists the rules.
//!
//! ```
//! use warpload_ptx::{ScalarType, StateSpace, check, read};
//!
//! let source = ".version 8.8\n.target sm_90\n.address_size 64
//! .entry k(.param .u64 in) {
//!     .reg .pred %p<2>; .reg .b64 %rd<2>; .reg .b32 %r<9>;
//!     ld.param.u64 %rd1, [in];
//!     @!%p1 ld.global.v2.s16 {%r7, _}, [%rd1+-8];
//! }";
//! let module = read(source)?;
//! assert!(check(&module).all(|verdict| verdict.is_legal()));
//!
//! let load = module.loads().last().expect("a load");
//! assert_eq!(load.space(), Some((StateSpace::Global, None)));
//! assert_eq!((load.scalar(), load.elements()), (Some(ScalarType::S16), 2));
//! let address = load.address().expect("one");
//! assert_eq!(address.base.map(|base| module.text(base)), Some("%rd1"));
//! assert_eq!(address.displacement() as i64, -8);
//! let register = module.find(load.scope, "%r7").expect("declared");
//! assert_eq!(register.number, Some(7));
//! assert_eq!(register.declaration.scalar, ScalarType::B32);
//! # Ok::<(), warpload_ptx::ReadError>(())
//! ```

mod error;
mod expression;
mod initial;
mod layout;
mod lexer;
mod load;
mod lookup;
mod lower;
mod meaning;
mod module;
mod names;
mod operands;
mod reader;
mod rules;
mod run;
mod span;
mod special;
mod tensor;
pub mod tensor_memory;
mod types;
mod words;

pub use self::error::{ReadError, ReadErrorKind, SyntaxError};
pub use self::expression::{Constant, integer};
pub use self::initial::{InitialValue, Initializer, PlacedValue};
pub use self::layout::{Layout, LayoutError, MAX_SPACE};
pub use self::lexer::{Lexer, LexicalError, Token, TokenKind};
pub use self::load::{
    Address, AddressForm, CacheOp, Element, ElementKind, Eviction, Level, Load, Offset, Opcode,
    Operand, OperandKind, Order, Qualifier, QualifierKind, Scope as SyncScope, read_load,
};
pub use self::lower::{Binding, LowerError, LowerErrorKind, LoweredLoad, OptimizationLevel, lower};
pub use self::meaning::{
    Base, CONST_BANK, LoadSpace, Meaning, MeaningError, PARAMETER_BANK, PARAMETER_BASE, Place,
    Register,
};
pub use self::module::{
    AddressSize, Array, Declaration, DeclarationId, Function, FunctionId, FunctionKind, Guard,
    Instruction, Linkage, Module, Role, Scope, ScopeId, Statement, StatementKind, Symbol,
};
pub use self::reader::{MAX_DEPTH, read};
pub use self::rules::{Rule, Unit, Verdict, Violation, check, check_as};
pub use self::run::{
    Environment, Executed, GLOBAL_BASE, Placement, PlacementError, RegisterValue, Registers,
    RunError, RunErrorKind, Step, TensorExecuted, Undefined, ValueError, WarpTensorMemory, bits_of,
    lane_bits,
};
pub use self::span::{Lines, Position, Span};
pub use self::tensor::{TensorLoadError, TensorLoadErrorKind, WrittenTensorLoad};
use self::types::{KERNEL_PARAMETER_LISTS, LATEST};
pub use self::types::{Reach, ScalarType, StateSpace, Target, TypeClass, Version, Window};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
