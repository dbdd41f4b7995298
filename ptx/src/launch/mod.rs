//! Runs kernels without a GPU: all blocks, threads and instructions of a grid.
//!
//! A [`Kernel`] is an entry function of a module. A [`KernelLaunch`] has the grid, the block size and the parameters.
//! [`Kernel::run`] first decodes the kernel and the functions that it calls (`compile.rs`), and then lets
//! `warpload-machine` execute them. A new arithmetic instruction is a row of `warpload_machine::lanes` and a row in
//! `lane_rules/`, which maps PTX to it.
//!
//! ```
//! use warpload_ptx::launch::{AllocationUse, DeviceMemory, Kernel, KernelLaunch};
//!
//! let module = warpload_ptx::read(".version 8.0\n.target sm_80\n.address_size 64
//!     .visible .entry twice(.param .u64 x) {
//!         .reg .b32 %r<4>; .reg .b64 %rd<4>;
//!         ld.param.u64 %rd1, [x];
//!         mov.u32 %r1, %tid.x;
//!         mul.wide.u32 %rd2, %r1, 4;
//!         add.s64 %rd3, %rd1, %rd2;
//!         ld.global.u32 %r2, [%rd3];
//!         shl.b32 %r3, %r2, 1;
//!         st.global.u32 [%rd3], %r3;
//!         ret;
//!     }")?;
//! let mut memory = DeviceMemory::new();
//! let bytes = (0..32_u32).flat_map(u32::to_le_bytes).collect();
//! let x = memory.allocate(bytes, AllocationUse::Argument(0))?;
//! let launch = KernelLaunch::new([1, 1, 1], [32, 1, 1]).parameter(&x.to_le_bytes());
//! let result = Kernel::named(&module, "twice")?.run(&launch, &mut memory, None)?;
//! assert!(result.faults.is_empty());
//! assert_eq!(memory.bytes(x).map(|bytes| bytes[4 * 31]), Some(62));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cluster;
mod compile;
mod effects;
mod kernel;
mod lane_rules;
mod loaded;
mod matrix;
mod tensor;
#[cfg(feature = "trace")]
mod trace;
mod written;

pub(crate) use self::compile::{Compilation, Surroundings, compile_loads, shared_elsewhere};
pub use self::kernel::{Kernel, KernelError, KernelLaunch, RegisterLanes};
pub use self::loaded::LoadedModule;
#[cfg(feature = "trace")]
pub use self::trace::{AccessLine, AccessStatement, AccessStatements, LaunchTrace, traced_kernel};
pub use warpload_machine::{
    AccessKind, AllocationError, AllocationOffset, AllocationSide, AllocationUse, Assertion,
    CheckedRaces, Checks, ChecksError, DeviceMemory, FaultKind, FaultLine, FaultPlace, FaultTotal,
    Fill, FillError, Hang, InstructionPlace, KernelFault, KernelFaultKind, KernelResult, LaneBytes,
    LaunchCounts, LaunchOptions, LaunchWatch, MbarrierFault, MemoryAccess, MemoryObserver,
    NearestAllocation, OtherAccess, PolledLine, PrintfFault, Site, SkippedInstruction, StackLimit,
    TensorLoadFault, TooMuchMemory, UnknownBytes, UnknownCause, Unordered, Wait, WarpTensorMemory,
};
