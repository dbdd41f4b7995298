//! The types of the fields: registers, predicates, sizes, addresses, scoreboards.

mod address;
mod register;
mod scoreboard;
mod size;

pub use address::{Address, ConstantMode, MemorySpace, Offset, UniformBase};
pub use register::{Guard, InvalidPred, Pred, Reg, UniformReg};
pub(crate) use scoreboard::write_list;
pub use scoreboard::{Scoreboard, WaitMask};
pub use size::Size;
