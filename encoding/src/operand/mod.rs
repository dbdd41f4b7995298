//! What stands in the fields: registers, predicates, cache operators, sizes, addresses.

mod address;
mod cache;
mod named;
mod register;
mod size;

pub use address::{Address, ConstantMode, Immediate, MemorySpace, Offset, SignedImmediate};
pub use cache::{CacheOp, LocalCacheOp};
pub use register::{Pred, Reg};
pub(crate) use size::SizeField;
pub use size::{InvalidSize, LimitedSize, Size};
