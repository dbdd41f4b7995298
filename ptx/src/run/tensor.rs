//! Loads of tensor memory: what they read, and what they did.

use crate::tensor::{Issue, Rules, TensorFault, TensorLoad, TensorMemory};

/// Tensor memory as the warp finds it that executes loads.
///
/// ```
/// use warpload::machine::Machine;
/// use warpload_ptx::run::{Placement, RegisterFile, WarpTensorMemory};
/// use warpload_ptx::read;
/// use warpload_ptx::tensor::{Pattern, TensorMemory};
///
/// let module = read(".version 8.8\n.target sm_100a\n.address_size 64
///     .entry k() {
///         .reg .b32 %r<3>, taddr;
///         tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [taddr];
///     }")?;
/// let function = module.function("k").ok_or("no function")?;
/// let mut environment = Placement::for_function(&module, function)?.into_environment(Machine::default())?;
/// let memory = TensorMemory::filled(Pattern::LaneColumn);
/// environment.tensor = Some(WarpTensorMemory::new(memory, 1));
///
/// let [taddr, r2] = ["taddr", "%r2"].map(|name| module.registers_named(function, name)[0]);
/// let mut registers = RegisterFile::new();
/// registers.set(taddr, [32 << 16 | 8; 32]);
/// for step in environment.run(function, &mut registers) {
///     assert_eq!(step.result?.tensor.and_then(|tensor| tensor.fault), None);
/// }
/// // Thread 5 owns lane 37; its second register is the second column.
/// assert_eq!(registers.get(r2).map(|held| held.values[5]), Some(37 << 16 | 9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WarpTensorMemory {
    /// What it holds.
    pub memory: TensorMemory,
    /// The warp's number in its thread block, which decides which lanes of the memory it may read.
    pub warp: u32,
    /// What loads are checked against.
    pub rules: Rules,
}

impl WarpTensorMemory {
    /// Makes the tensor memory of a warp with the default rules.
    #[must_use]
    pub fn new(memory: TensorMemory, warp: u32) -> Self {
        Self { memory, warp, rules: Rules::default() }
    }

    /// Sets what loads are checked against.
    #[must_use]
    pub fn rules(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }
}

/// What a load of tensor memory did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorExecuted {
    /// What was to be loaded.
    pub load: TensorLoad,
    /// The warp, and the address that all lanes gave, offset included.
    pub issue: Issue,
    /// Why nothing was loaded: the registers are as before.
    pub fault: Option<TensorFault>,
}
