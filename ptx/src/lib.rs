//! Loads of PTX: legality, execution, and lowering to SM 5.x.
//!
//! [`read`] reads a whole module. [`Module::loads`] returns its loads as written, legal or not; [`check`] judges them,
//! [`run`] executes them and [`lower()`] lowers them. Every part keeps its position in the text as a
//! [`Span`](syntax::Span), and [`Module::find`] looks names up. [`launch`] executes whole kernels. docs/ptx.md lists
//! the rules.
//!
//! ```
//! use warpload_ptx::syntax::{ScalarType, StateSpace};
//! use warpload_ptx::{check, read};
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

#![warn(clippy::must_use_candidate)]

pub mod launch;
pub mod lower;
pub mod meaning;
pub mod module;
pub mod rules;
pub mod run;
pub mod syntax;
pub mod tensor;

pub use self::lower::lower;
pub use self::module::{Module, ReadError, read};
#[doc(hidden)]
pub use self::rules::initialize;
pub use self::rules::{StatementVerdict, check, check_as};
pub use self::syntax::load::{LoadText, PtxInstruction, PtxLoad, read_load};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
