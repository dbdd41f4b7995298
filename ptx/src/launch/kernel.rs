//! [`Kernel`]: an entry function. [`KernelLaunch`]: the grid, the parameters and the options to run it with.

use super::compile::shared_variables;
use super::loaded::{LoadedModule, MAX_SHARED};
use crate::meaning::Register;
use crate::module::{
    Declaration, DeclarationId, Function, FunctionId, FunctionKind, LaunchBounds, LayoutError,
    Linkage, Module, ScopeId, variable_bytes,
};
use crate::run::{LaunchValueError, elements};
use crate::syntax::{Span, StateSpace};
use warpload::lane::LANES;
use warpload_machine::{
    AllocationError, DeviceMemory, KernelResult, LaunchOptions, LaunchWatch, MAX_ALIGNMENT,
    MemoryObserver, PolledLine, TooMuchMemory, polls,
};

/// An entry function of a module.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'m> {
    pub(super) module: &'m Module<'m>,
    pub(super) id: FunctionId,
    pub(super) function: &'m Function,
}

/// The grid, the parameters and the options of a launch.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KernelLaunch {
    /// The sizes, the limits and the checks.
    pub options: LaunchOptions,
    /// The bytes of each parameter in order, little-endian.
    pub parameters: Vec<Vec<u8>>,
    /// Addresses of variables in their spaces. The machine places all others.
    pub places: Vec<(DeclarationId, u64)>,
    /// Bytes of `.global` and `.const` variables of the module, as `cudaMemcpyToSymbol` writes them: they replace the
    /// first bytes of the initial value. [`Kernel::variable`] finds a variable.
    pub variables: Vec<(DeclarationId, Vec<u8>)>,
    /// Values that replace the results of instructions that write these registers, lane 0 first.
    pub registers: Vec<RegisterLanes>,
}

impl KernelLaunch {
    /// Creates a launch of `grid` blocks of `block` threads along x, y and z, without parameters.
    #[must_use]
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            options: LaunchOptions::new(grid, block),
            parameters: Vec::new(),
            places: Vec::new(),
            variables: Vec::new(),
            registers: Vec::new(),
        }
    }

    /// Adds the next parameter as bytes, little-endian.
    #[must_use]
    pub fn parameter(mut self, bytes: &[u8]) -> Self {
        self.parameters.push(bytes.to_vec());
        self
    }

    /// Sets the first bytes of a variable of the module.
    #[must_use]
    pub fn variable(mut self, id: DeclarationId, bytes: &[u8]) -> Self {
        self.variables.push((id, bytes.to_vec()));
        self
    }

    /// Sets the dynamic shared memory of a block in bytes.
    #[must_use]
    pub fn shared_bytes(mut self, bytes: u64) -> Self {
        self.options.shared_bytes = bytes;
        self
    }
}

/// The product of sizes along x, y and z.
fn product(sizes: [u32; 3]) -> u64 {
    sizes.iter().fold(1, |all, size| all.saturating_mul((*size).into()))
}

/// A register and its value in each lane, lane 0 first. A predicate is 0 or 1.
pub type RegisterLanes = (Register, Box<[u128; LANES]>);

/// The reason why a kernel cannot be launched, or did not end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// The module has no kernel with this name.
    #[error("no kernel `{name}`; the module has {}", kernels.join(", "))]
    NoKernel {
        /// The name.
        name: String,
        /// The kernels of the module.
        kernels: Vec<String>,
    },
    /// The module has several kernels, and no name was given.
    #[error("several kernels; expected the name of one: {}", kernels.join(", "))]
    SeveralKernels {
        /// Their names.
        kernels: Vec<String>,
    },
    /// The launch has more or fewer parameters than the kernel.
    #[error("the kernel has {expected} parameters, {given} are given")]
    ParameterCount {
        /// The parameters of the kernel.
        expected: usize,
        /// The parameters of the launch.
        given: usize,
    },
    /// A parameter has the wrong size.
    #[error("parameter {number} has {expected} bytes, {given} are given")]
    ParameterSize {
        /// Its number, counted from 0.
        number: usize,
        /// The size of its type in bytes.
        expected: u64,
        /// The size in the launch in bytes.
        given: usize,
    },
    /// The module has no `.global` or `.const` variable with this name.
    #[error("no variable `{name}`; the module has {}", listed(variables))]
    NoVariable {
        /// The name.
        name: String,
        /// The module's `.global` and `.const` variables.
        variables: Vec<String>,
    },
    /// A value has more bytes than its variable.
    #[error("`{name}` has {expected} bytes, {given} are given")]
    VariableSize {
        /// The variable.
        name: String,
        /// Its size in bytes.
        expected: u64,
        /// The size of the value in bytes.
        given: usize,
    },
    /// A block has no threads, or more than a GPU supports.
    #[error("a block of {x} x {y} x {z} threads: 1 to 1024 are possible", x = .0[0], y = .0[1], z = .0[2])]
    BlockSize([u32; 3]),
    /// A block has other sizes than the kernel requires.
    #[error(
        "a block of {gx} x {gy} x {gz} threads: `.reqntid` in line {line} requires {x} x {y} x {z}",
        gx = given[0], gy = given[1], gz = given[2], x = required[0], y = required[1], z = required[2]
    )]
    RequiredBlock {
        /// The line of the directive.
        line: u32,
        /// The sizes of the directive.
        required: [u32; 3],
        /// The sizes of the launch.
        given: [u32; 3],
    },
    /// A block has more threads than the kernel permits.
    #[error("a block of {given} threads: `.maxntid` in line {line} permits {max}")]
    MaxBlock {
        /// The line of the directive.
        line: u32,
        /// The product of the directive's sizes.
        max: u64,
        /// The threads of a block of the launch.
        given: u64,
    },
    /// The grid cannot be divided into the clusters that the kernel requires.
    #[error(
        "a grid of {gx} x {gy} x {gz} blocks is no multiple of the clusters of {x} x {y} x {z} that line {line} requires",
        gx = given[0], gy = given[1], gz = given[2], x = required[0], y = required[1], z = required[2]
    )]
    GridOfClusters {
        /// The line of the directive.
        line: u32,
        /// The sizes of a cluster.
        required: [u32; 3],
        /// The grid of the launch.
        given: [u32; 3],
    },
    /// The kernel needs clusters of several blocks, or an instruction names its cluster. Each block would run alone,
    /// and read its own memory in place of its neighbour's.
    #[error("line {line}: `{text}` needs a cluster, and launches with clusters are not executed")]
    Cluster {
        /// The line of the directive or of the instruction.
        line: u32,
        /// Its text.
        text: String,
    },
    /// The grid has no blocks.
    #[error("a grid of {x} x {y} x {z} blocks", x = .0[0], y = .0[1], z = .0[2])]
    GridSize([u32; 3]),
    /// The only block to run is not in the grid.
    #[error(
        "no block ({}, {}, {}): the grid has {} x {} x {}",
        block[0], block[1], block[2], grid[0], grid[1], grid[2]
    )]
    NoBlock {
        /// The block's index.
        block: [u32; 3],
        /// The grid.
        grid: [u32; 3],
    },
    /// A block has more shared memory than any GPU.
    #[error("{0} bytes of shared memory: a block has at most {MAX_SHARED}")]
    SharedSize(u64),
    /// Buffers and variables exceed the memory limit.
    #[error(transparent)]
    Memory(#[from] TooMuchMemory),
    /// The shared variables have no layout.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A variable's address is invalid.
    #[error(transparent)]
    Place(#[from] AllocationError),
    /// Another thread has ended the launch.
    #[error("the launch was interrupted")]
    Interrupted,
    /// The launch reached its limit on warp instructions.
    #[error(
        "line {line}: {steps} warp instructions were executed{}{}, and the launch has not ended; {} `{text}`{}",
        of_blocks(.result.counts.blocks, *.blocks),
        only_polls(*.quiet),
        if *.is_jump { "its last jump back is" } else { "it is at" },
        polls(.polled.as_deref())
    )]
    Steps {
        /// The limit, or the number of instructions after which the launch was given up.
        steps: u64,
        /// The last warp instructions that did nothing but poll memory, if it was given up because of these.
        quiet: Option<u64>,
        /// The blocks of the grid.
        blocks: u64,
        /// The line of the last backward jump in the last block, which is probably an endless loop; without a jump, of the
        /// last instruction.
        line: u32,
        /// The text of the jump or the instruction.
        text: String,
        /// Whether `text` is a backward jump.
        is_jump: bool,
        /// The bytes that its loop reads until another thread changes them.
        polled: Option<Box<PolledLine>>,
        /// The results so far.
        result: Box<KernelResult>,
    },
}

/// Names for a message.
fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The number of blocks that a launch has begun; an empty text if it has only one.
fn of_blocks(begun: u64, all: u64) -> String {
    if all > 1 { format!(" in {begun} of {all} blocks") } else { String::new() }
}

/// Why a launch was given up, for a message.
fn only_polls(quiet: Option<u64>) -> String {
    quiet.map_or(String::new(), |quiet| {
        format!(", the last {quiet} of them by loops that wait, while nothing has changed")
    })
}

impl<'m> Kernel<'m> {
    /// Returns the kernels of a module, in the order of the text: its entry functions with a body.
    pub fn all(module: &'m Module<'m>) -> impl Iterator<Item = Self> + Clone {
        (0..module.functions().len() as u32).filter_map(|id| Self::of(module, FunctionId(id)))
    }

    fn of(module: &'m Module<'m>, id: FunctionId) -> Option<Self> {
        let function = module.functions().get(id.index())?;
        let is_kernel = function.kind == FunctionKind::Entry && function.body.is_some();
        is_kernel.then_some(Self { module, id, function })
    }

    /// Returns the kernel with this name.
    ///
    /// # Errors
    /// Returns [`KernelError::NoKernel`] if the module has no entry function with this name and a body.
    pub fn named(module: &'m Module<'m>, name: &str) -> Result<Self, KernelError> {
        let found = module.function_id_of(name).and_then(|id| Self::of(module, id));
        found.ok_or_else(|| KernelError::NoKernel {
            name: name.to_owned(),
            kernels: Self::all(module).map(|kernel| kernel.name().to_owned()).collect(),
        })
    }

    /// Returns the kernel with this name, or the module's only kernel if there is no name.
    ///
    /// # Errors
    /// Returns [`KernelError`] if there is no such kernel, or several without a name to choose one.
    pub fn chosen(module: &'m Module<'m>, name: Option<&str>) -> Result<Self, KernelError> {
        let mut kernels = Self::all(module);
        let names = || kernels.clone().map(|kernel| kernel.name().to_owned()).collect();
        match (name, kernels.clone().count()) {
            (Some(name), _) => Self::named(module, name),
            (None, 2..) => Err(KernelError::SeveralKernels { kernels: names() }),
            (None, _) => Self::named(module, kernels.next().map_or("", |kernel| kernel.name())),
        }
    }

    /// Converts the value of a parameter to bytes. `text` is a constant expression of PTX.
    ///
    /// # Errors
    /// Returns [`LaunchValueError`] if the text is not a value of the parameter's type, or there is no such parameter.
    pub fn parameter_value(&self, number: usize, text: &str) -> Result<Vec<u8>, LaunchValueError> {
        let place = self.function.parameters.start + number;
        let found = Some(place).filter(|place| self.function.parameters.contains(place));
        let declared = found.and_then(|place| self.module.declaration(DeclarationId(place as u32)));
        let declared = declared.ok_or_else(|| LaunchValueError::NoVariable {
            name: format!("parameter {number}"),
            function: self.name().to_owned(),
        })?;
        elements(text, declared)
    }

    /// Returns the `.global` or `.const` variable of the module with this name: a `__device__` or `__constant__` variable
    /// of CUDA, by its mangled name.
    ///
    /// ```
    /// use warpload_ptx::launch::{DeviceMemory, Kernel, KernelLaunch};
    ///
    /// let module = warpload_ptx::read(".version 8.0\n.target sm_80\n.address_size 64
    ///     .const .u32 factor; .global .u32 result;
    ///     .visible .entry k() {
    ///         .reg .b32 %r<3>;
    ///         ld.const.u32 %r1, [factor]; mul.lo.u32 %r2, %r1, 3; st.global.u32 [result], %r2;
    ///         ret;
    ///     }")?;
    /// let kernel = Kernel::named(&module, "k")?;
    /// let factor = kernel.variable("factor")?;
    /// let bytes = kernel.variable_value(factor, "14")?;
    /// let launch = KernelLaunch::new([1; 3], [1; 3]).variable(factor, &bytes);
    /// let mut memory = DeviceMemory::new();
    /// kernel.run(&launch, &mut memory, None)?;
    /// let result = memory.variable("result").and_then(|base| memory.bytes(base));
    /// assert_eq!(result, Some(&42_u32.to_le_bytes()[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`KernelError::NoVariable`] if the module defines no such variable.
    pub fn variable(&self, name: &str) -> Result<DeclarationId, KernelError> {
        let module = self.module;
        let named = |(_, declared): &(_, &Declaration)| module.text(declared.name) == name;
        let found = self.variables().find(named).map(|(id, _)| id);
        found.ok_or_else(|| self.no_variable(name))
    }

    /// Returns the variables of the module that are in memory during a launch and that a host program can name.
    pub fn variables(&self) -> impl Iterator<Item = (DeclarationId, &'m Declaration)> {
        named_variables(self.module)
    }

    /// Returns the size of a variable in bytes; 0 if the module has no such declaration.
    #[must_use]
    pub fn variable_bytes(&self, id: DeclarationId) -> u64 {
        let declared = self.module.declaration(id);
        declared.map_or(0, |declared| variable_bytes(self.module, declared))
    }

    fn no_variable(&self, name: &str) -> KernelError {
        let names = self.variables().map(|(_, known)| self.module.text(known.name).to_owned());
        KernelError::NoVariable { name: name.to_owned(), variables: names.collect() }
    }

    /// Converts the value of a variable to bytes. `text` is a constant expression of PTX, or several for the elements of
    /// an array, separated by commas.
    ///
    /// # Errors
    /// Returns [`LaunchValueError`] if the text is not a value of the variable's type.
    pub fn variable_value(
        &self,
        id: DeclarationId,
        text: &str,
    ) -> Result<Vec<u8>, LaunchValueError> {
        let declared = self.module.declaration(id);
        let declared = declared.ok_or_else(|| LaunchValueError::NoVariable {
            name: format!("number {}", id.index()),
            function: self.name().to_owned(),
        })?;
        elements(text, declared)
    }

    /// Returns the kernel's name.
    #[must_use]
    pub fn name(&self) -> &'m str {
        self.module.text(self.function.name)
    }

    /// Returns the module.
    #[must_use]
    pub fn module(&self) -> &'m Module<'m> {
        self.module
    }

    /// Returns the kernel's function.
    #[must_use]
    pub fn function(&self) -> &'m Function {
        self.function
    }

    /// Returns the size of each parameter in bytes, in order.
    #[must_use]
    pub fn parameter_bytes(&self) -> Vec<u64> {
        let all = self.function.parameters.clone();
        let declared = all.filter_map(|place| self.module.declaration(DeclarationId(place as u32)));
        declared.map(|declared| variable_bytes(self.module, declared)).collect()
    }

    /// Loads the module, and executes the kernel once. `memory` has the buffers; the variables of the module are added to
    /// it, with their initial values. [`LoadedModule`] is for several launches.
    ///
    /// # Errors
    /// Returns [`KernelError`] if the launch does not suit the kernel, or does not end. The memory then has all stores
    /// up to the error.
    pub fn run(
        &self,
        launch: &KernelLaunch,
        memory: &mut DeviceMemory,
        observer: Option<&mut dyn MemoryObserver>,
    ) -> Result<KernelResult, KernelError> {
        self.run_watched(launch, memory, observer, None)
    }

    /// Executes the kernel like [`Self::run`], while another thread watches, and can end it.
    ///
    /// # Errors
    /// Returns [`KernelError`] like [`Self::run`], and [`KernelError::Interrupted`] soon after the watch's `interrupt` is
    /// set.
    pub fn run_watched(
        &self,
        launch: &KernelLaunch,
        memory: &mut DeviceMemory,
        observer: Option<&mut dyn MemoryObserver>,
        watch: Option<&LaunchWatch>,
    ) -> Result<KernelResult, KernelError> {
        self.check(launch)?;
        LoadedModule::at(self.module, memory, &launch.places)?
            .launch(self, launch, memory, observer, watch)
    }

    /// The granularity of shared memory on the target, in bytes. [PTX ISA, "%total_smem_size"]
    pub(super) fn shared_unit(&self) -> u64 {
        match self.module.target.sm {
            30..80 => 256,
            _ => 128,
        }
    }

    /// The bytes of the parameters, and the offset of each.
    pub(super) fn parameters(&self, launch: &KernelLaunch) -> (Vec<u8>, Vec<(DeclarationId, u64)>) {
        let (mut bytes, mut offsets) = (Vec::new(), Vec::new());
        for (place, given) in self.function.parameters.clone().zip(&launch.parameters) {
            let id = DeclarationId(place as u32);
            let Some(declared) = self.module.declaration(id) else { continue };
            let alignment = declared.alignment().min(MAX_ALIGNMENT);
            let offset = (bytes.len() as u64).next_multiple_of(alignment);
            bytes.resize(offset as usize, 0);
            bytes.extend_from_slice(given);
            offsets.push((id, offset));
        }
        (bytes, offsets)
    }

    pub(super) fn check(&self, launch: &KernelLaunch) -> Result<(), KernelError> {
        let LaunchOptions { grid, block: sizes, only_block, .. } = launch.options;
        let threads = sizes.iter().try_fold(1_u32, |all, size| all.checked_mul(*size));
        if !threads.is_some_and(|threads| (1..=1024).contains(&threads)) {
            return Err(KernelError::BlockSize(sizes));
        }
        if grid.contains(&0) {
            return Err(KernelError::GridSize(grid));
        }
        if let Some(block) = only_block
            && block.iter().zip(grid).any(|(index, size)| *index >= size)
        {
            return Err(KernelError::NoBlock { block, grid });
        }
        self.check_bounds(launch)?;
        let sizes = self.parameter_bytes();
        let (expected, given) = (sizes.len(), launch.parameters.len());
        if expected != given {
            return Err(KernelError::ParameterCount { expected, given });
        }
        for (number, (expected, bytes)) in sizes.into_iter().zip(&launch.parameters).enumerate() {
            let given = bytes.len();
            if expected != given as u64 {
                return Err(KernelError::ParameterSize { number, expected, given });
            }
        }
        for (id, bytes) in &launch.variables {
            let declared = self.module.declaration(*id).filter(|known| is_named_by_host(known));
            let declared = declared.ok_or_else(|| {
                let known = self.module.declaration(*id);
                self.no_variable(known.map_or("", |known| self.module.text(known.name)))
            })?;
            let (expected, given) = (variable_bytes(self.module, declared), bytes.len());
            if given as u64 > expected {
                let name = self.module.text(declared.name).to_owned();
                return Err(KernelError::VariableSize { name, expected, given });
            }
        }
        Ok(())
    }

    /// Checks the sizes of a launch against the directives of the kernel.
    fn check_bounds(&self, launch: &KernelLaunch) -> Result<(), KernelError> {
        let LaunchBounds { required_block, max_block, required_cluster, explicit_cluster, .. } =
            self.function.bounds;
        let line = |place: Span| self.module.lines().position(place.start).line;
        let cluster = |place: Span| {
            let text = self.module.text(place).split_whitespace().collect::<Vec<_>>().join(" ");
            KernelError::Cluster { line: line(place), text }
        };
        if let Some((required, place)) = required_block.filter(|of| of.0 != launch.options.block) {
            let (line, given) = (line(place), launch.options.block);
            return Err(KernelError::RequiredBlock { line, required, given });
        }
        if let Some((sizes, place)) = max_block {
            let (max, given) = (product(sizes), product(launch.options.block));
            if given > max {
                return Err(KernelError::MaxBlock { line: line(place), max, given });
            }
        }
        match (required_cluster, explicit_cluster) {
            (Some((required, place)), _) if product(required) != 1 => {
                let given = launch.options.grid;
                let divides =
                    required.iter().zip(given).all(|(size, of)| of.checked_rem(*size) == Some(0));
                Err(match divides {
                    true => cluster(place),
                    false => KernelError::GridOfClusters { line: line(place), required, given },
                })
            }
            (None, Some(place)) => Err(cluster(place)),
            _ => Ok(()),
        }
    }
}

/// The variables of a module that a host program can name.
pub(super) fn named_variables<'m>(
    module: &'m Module<'_>,
) -> impl Iterator<Item = (DeclarationId, &'m Declaration)> {
    shared_variables(module).filter(|(_, declared)| is_named_by_host(declared))
}

/// Whether a host program can name a variable: it is in global or constant memory, and belongs to the whole module.
pub(super) fn is_named_by_host(declared: &Declaration) -> bool {
    matches!(declared.space, StateSpace::Global | StateSpace::Const)
        && declared.linkage != Linkage::Extern
        && declared.scope == ScopeId::MODULE
}
