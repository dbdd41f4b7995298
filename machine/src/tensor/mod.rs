//! Tensor Memory of SM 10.x, and `tcgen05.ld` and `tcgen05.ld.red`, which load from it.
//!
//! Tensor Memory belongs to a thread block and has 128 lanes of 512 columns of 32-bit cells. A whole warp executes a
//! load. Its [`Shape`] and the repeats of `.num` determine the rectangle of cells, and the thread and register for each
//! cell. [`Shape::layout`] is the only table of that: [`execute`], the pictures of `warpload tmem map` and
//! docs/tensor-memory.md are made from it. docs/tensor-memory.md also lists the questions that the sources leave open,
//! with the answers chosen here.
//!
//! ```
//! use warpload_machine::tensor::{
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
mod judge;
mod memory;
mod reduction;
mod rules;
mod shape;

pub use self::execute::{TensorRegisters, execute};
pub use self::fault::{Half, TensorFault};
pub use self::instruction::TensorLoad;
pub use self::judge::{IllegalLoadError, PartialForm};
pub use self::memory::{
    COLUMNS, LengthError, MEMORY_BYTES, Pattern, SLAB_LANES, TENSOR_LANES, TensorAddress,
    TensorMemory,
};
pub use self::reduction::{Reduction, ReductionOperation, ReductionType};
pub use self::rules::{Allocations, ColumnsError, Issue, LaneMode, Rules};
pub use self::shape::{CellOffset, CellStep, Form, MAX_REGISTERS, Repeat, Shape, ShapeLayout};
