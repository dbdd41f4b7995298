//! `tcgen05.ld` and `tcgen05.ld.red`: the loads of SM 10.x from Tensor Memory.
//!
//! Tensor Memory belongs to a thread block and has 128 lanes of 512 columns of 32-bit cells. A whole warp executes a
//! load. Its [`Shape`] and the repeats of `.num` determine the rectangle of cells, and the thread and register for each
//! cell. [`Shape::layout`] is the only table of that: [`execute`], the pictures of `warpload tmem map` and
//! docs/tensor-memory.md are made from it. docs/tensor-memory.md also lists the questions that the sources leave open,
//! with the answers chosen here. [`read_load`](crate::read_load) reads the text of a load, and [`SassTensorLoad`] an
//! instruction word.
//!
//! ```
//! use warpload_ptx::tensor::{
//!     Form, Issue, Pattern, Rules, Shape, TensorAddress, TensorLoad, TensorMemory, TensorRegisters,
//!     execute,
//! };
//!
//! let memory = TensorMemory::filled(Pattern::LaneColumn);
//! let load = TensorLoad::new(Form::plain(Shape::S16x128b, 4))?;
//! // Warp 1 may read lanes 32 to 63; here from lane 48 and column 256 on.
//! let issue = Issue::new(1, TensorAddress::new(48, 256));
//! let mut registers = TensorRegisters::new();
//! execute(&load, issue, &memory, &Rules::default(), &mut registers)?;
//! assert_eq!(registers.data().len(), 8);
//! // Thread 5 is in the second row of fours; odd registers are eight lanes further down.
//! assert_eq!(registers.data()[0][5], 49 << 16 | 257);
//! assert_eq!(registers.data()[1][5], 57 << 16 | 257);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod execute;
mod fault;
mod instruction;
pub(crate) mod judge;
mod memory;
mod reduction;
mod rules;
mod run;
mod sass;
mod shape;
mod written;

pub use execute::{TensorRegisters, execute};
pub use fault::{Half, TensorFault};
pub use instruction::TensorLoad;
pub use judge::IllegalLoadError;
pub use memory::{
    COLUMNS, LengthError, MEMORY_BYTES, Pattern, SLAB_LANES, TENSOR_LANES, TensorAddress,
    TensorMemory,
};
pub use reduction::{Reduction, ReductionOperation, ReductionType};
pub use rules::{AllocationError, Allocations, Issue, LaneMode, Rules};
pub use run::{TensorInstruction, TensorInstructionError, TensorRun};
pub use sass::{MissingRegisters, SassTensorError, SassTensorLoad, explain};
pub use shape::{CellOffset, CellStep, Form, MAX_REGISTERS, Repeat, Shape, ShapeLayout};
pub(crate) use written::fixed_operands;
pub use written::{TensorLoadError, TensorLoadErrorKind, WrittenTensorLoad};
