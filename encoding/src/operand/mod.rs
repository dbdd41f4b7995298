//! The types of the fields: registers, predicates, cache operators, sizes, addresses, barriers.

mod address;
mod barrier;
mod named;
mod register;
mod size;

pub use address::{
    Address, ConstantMode, Immediate, MemorySpace, Offset, SignedImmediate, UniformBase,
};
pub(crate) use barrier::write_list;
pub use barrier::{Barrier, WaitMask};
pub use named::{CacheOp, LocalCacheOp};
pub use register::{Guard, InvalidPred, Pred, Reg, UniformReg};
pub(crate) use size::SizeField;
pub use size::{InvalidSize, LimitedSize, Size};
