//! [`LoadedModule`]: a module in a memory, whose kernels are compiled once and launched many times.

use std::collections::HashMap;

use super::compile::{
    Compilation, Surroundings, Windows, compile, function_address, named_by_initial_values,
    shared_by, shared_variables,
};
use super::kernel::{Kernel, KernelError, KernelLaunch, is_named_by_host, named_variables};
use super::written::{Shown, Written, shortened};
use crate::meaning::{CONST_BANK, CONSTANTS, PARAMETER_BANK, PARAMETERS};
use crate::module::{
    Declaration, DeclarationId, FunctionId, Linkage, Module, StatementId, VariableLayout,
    initial_bytes, variable_bytes,
};
use crate::syntax::StateSpace;
use warpload::memory::{AddressSpace, Space};
use warpload_machine::{
    AllocationUse, DeviceMemory, KernelResult, LaunchEnd, LaunchWatch, MemoryObserver, PolledLine,
    Protection, run,
};

/// The most shared memory of a block, in bytes. More than any GPU has.
pub(super) const MAX_SHARED: u64 = 1 << 20;

/// The address of the parameters of the kernel that is compiled first. They are below all other memory that the machine
/// places, so that buffers of later launches have the addresses that those of the first one had.
const FIRST_PARAMETERS: u64 = 0x4000_0000;

/// The distance to the parameters of the next kernel. Twice as much as PTX permits.
const PARAMETER_ROOM: u64 = 1 << 16;

/// The bank of parameters while another kernel runs.
const NO_BANK: u8 = u8::MAX;

/// The addresses of variables in their spaces.
type Addresses = HashMap<DeclarationId, (AddressSpace, u64)>;

/// A module in a [`DeviceMemory`]. Its `.global` variables keep their values from launch to launch, as `__device__`
/// variables of CUDA do, and each kernel is compiled at its first launch alone.
///
/// ```
/// use warpload_ptx::launch::{DeviceMemory, Kernel, KernelLaunch, LoadedModule};
///
/// let module = warpload_ptx::read(".version 8.0\n.target sm_80\n.address_size 64
///     .global .u32 launches;
///     .visible .entry count() {
///         .reg .b32 %r<3>;
///         ld.global.u32 %r1, [launches]; add.s32 %r2, %r1, 1; st.global.u32 [launches], %r2;
///         ret;
///     }")?;
/// let (mut memory, kernel) = (DeviceMemory::new(), Kernel::named(&module, "count")?);
/// let mut loaded = LoadedModule::new(&module, &mut memory)?;
/// let launch = KernelLaunch::new([1; 3], [1; 3]);
/// for _ in 0..3 {
///     loaded.launch(&kernel, &launch, &mut memory, None, None)?;
/// }
/// let launches = memory.variable("launches").ok_or("no variable")?;
/// assert_eq!(memory.bytes(launches), Some(&[3, 0, 0, 0][..]));
/// loaded.reset(&mut memory);
/// assert_eq!(memory.bytes(launches), Some(&[0; 4][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LoadedModule<'m> {
    module: &'m Module<'m>,
    /// The `.global` and `.const` variables, and the shared ones of `shared`.
    addresses: Addresses,
    /// The shared variables that initial values name: they have the same address in every kernel.
    shared: VariableLayout<'m>,
    /// The `.global` and `.const` variables with the address and the size of each in memory.
    placed: Vec<(DeclarationId, u64, u64)>,
    /// The caller's addresses of variables, in their spaces.
    places: HashMap<DeclarationId, u64>,
    windows: Windows,
    /// The bytes of an image for `.const` variables, which win over initial values, and the places where it has them.
    constants: Vec<u8>,
    layout: Option<VariableLayout<'m>>,
    kernels: HashMap<FunctionId, LoadedKernel>,
}

/// A kernel with the address of its parameters.
#[derive(Debug)]
struct LoadedKernel {
    compilation: Compilation,
    parameters: u64,
    shared: Vec<SharedVariable>,
}

/// A variable in shared memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedVariable {
    pub(super) id: DeclarationId,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

impl<'m> LoadedModule<'m> {
    /// Adds the variables of a module to a memory, with their initial values.
    ///
    /// # Errors
    /// Returns [`KernelError`] if the memory has no room for them.
    pub fn new(module: &'m Module<'m>, memory: &mut DeviceMemory) -> Result<Self, KernelError> {
        Self::at(module, memory, &[])
    }

    /// [`Self::new`] with the addresses of some variables, in their spaces. The machine places all others.
    ///
    /// # Errors
    /// Returns [`KernelError`] like [`Self::new`], and for an address where the variable cannot be.
    pub fn at(
        module: &'m Module<'m>,
        memory: &mut DeviceMemory,
        places: &[(DeclarationId, u64)],
    ) -> Result<Self, KernelError> {
        let places = places.iter().copied().collect();
        let named = named_by_initial_values(module);
        let shared = shared_layout(module, None, &places, |id| named.contains(&id))?;
        let constants = memory.take_bank(CONST_BANK);
        let mut loaded = Self {
            module,
            addresses: shared_addresses(module, &shared).collect(),
            shared,
            placed: Vec::new(),
            places,
            windows: Windows { map: *memory.map(), ..Windows::default() },
            layout: VariableLayout::new(module).ok().filter(|_| !constants.is_empty()),
            constants,
            kernels: HashMap::new(),
        };
        // Constants first, so that they are neighbours, and one range of addresses has all of them.
        loaded.place(StateSpace::Const, memory)?;
        if let Some(constants) = memory.bank_addresses(CONST_BANK) {
            loaded.windows.constants = constants;
        }
        loaded.place(StateSpace::Global, memory)?;
        memory.forget_variables();
        for (id, base, _) in &loaded.placed {
            if let Some(declared) = module.declaration(*id).filter(|known| is_named_by_host(known))
            {
                memory.name_variable(module.text(declared.name), *base);
            }
        }
        for (id, base, bytes) in &loaded.placed {
            loaded.initialize(*id, *base, *bytes, memory);
        }
        Ok(loaded)
    }

    /// Places the variables of a space in memory.
    fn place(&mut self, space: StateSpace, memory: &mut DeviceMemory) -> Result<(), KernelError> {
        let is_constant = space == StateSpace::Const;
        // The address of the byte with offset 0 of the space.
        let mut first = if is_constant { None } else { Some(0) };
        for (id, declared) in shared_variables(self.module) {
            if declared.space != space || declared.linkage == Linkage::Extern {
                continue;
            }
            let bytes = variable_bytes(self.module, declared);
            let name = shortened(self.module.text(declared.name)).into_owned();
            let purpose = AllocationUse::Variable(name);
            // Checks the size, because it comes from the module's text.
            let zeros = memory.zeros(bytes)?;
            let base = match self.places.get(&id) {
                Some(place) => {
                    let first = *first.get_or_insert_with(|| memory.next_address());
                    let base = first.wrapping_add(*place);
                    memory.allocate_at(base, zeros, purpose)?;
                    base
                }
                None => memory.allocate(zeros, purpose)?,
            };
            let first = *first.get_or_insert(base);
            if is_constant {
                memory.protect(base, Protection::Bank(CONST_BANK));
                memory.set_bank(CONST_BANK, first);
                self.addresses.insert(id, (CONSTANTS, base.wrapping_sub(first)));
            } else {
                self.addresses.insert(id, (AddressSpace::Global, base));
            }
            self.placed.push((id, base, bytes));
        }
        Ok(())
    }

    /// Returns the variables in memory that a host program can name, in the order of the text.
    pub fn variables(&self) -> impl Iterator<Item = (DeclarationId, &'m Declaration)> {
        named_variables(self.module)
    }

    /// Gives all `.global` and `.const` variables their initial values again.
    pub fn reset(&self, memory: &mut DeviceMemory) {
        for (id, base, bytes) in &self.placed {
            memory.clear(*base);
            self.initialize(*id, *base, *bytes, memory);
        }
    }

    /// Writes the initial value of a variable to its memory.
    fn initialize(&self, id: DeclarationId, base: u64, bytes: u64, memory: &mut DeviceMemory) {
        let module = self.module;
        let Some(declared) = module.declaration(id) else { return };
        let windows = &self.windows;
        let address = |id: DeclarationId, is_generic: bool| {
            let (space, address) = *self.addresses.get(&id)?;
            Some(match space {
                _ if !is_generic => address,
                AddressSpace::Shared => windows.map.shared().base + address,
                CONSTANTS => windows.constants.start.wrapping_add(address),
                _ => address,
            })
        };
        let function = |id| Some(function_address(id));
        let initial = initial_bytes(module, declared, bytes, &address, function);
        memory.write(base, 0, &initial.bytes);
        for (unknown, _) in initial.unknown {
            memory.make_unknown(Space::Global, base + unknown.start..base + unknown.end);
        }
        let layout = self.layout.as_ref().filter(|_| declared.space == StateSpace::Const);
        let first = layout.and_then(|layout| layout.address(id));
        let of_image = first.and_then(|first| self.constants.get(first as usize..));
        memory.write(base, 0, of_image.unwrap_or_default());
    }

    /// Launches a kernel of the module. `memory` must be the one that the module is loaded in.
    ///
    /// # Errors
    /// Returns [`KernelError`] if the launch does not suit the kernel, or does not end. The memory then has all stores
    /// up to the error.
    pub fn launch(
        &mut self,
        kernel: &Kernel<'m>,
        launch: &KernelLaunch,
        memory: &mut DeviceMemory,
        observer: Option<&mut dyn MemoryObserver>,
        watch: Option<&LaunchWatch>,
    ) -> Result<KernelResult, KernelError> {
        kernel.check(launch)?;
        if !launch.registers.is_empty() {
            // The values are a part of the code, so it is of no use to other launches.
            let loaded = self.compiled(kernel, launch, memory)?;
            let result = self.run(kernel, &loaded, launch, memory, observer, watch);
            memory.release(loaded.parameters);
            return result;
        }
        let loaded = match self.kernels.remove(&kernel.id) {
            Some(loaded) => loaded,
            None => self.compiled(kernel, launch, memory)?,
        };
        let result = self.run(kernel, &loaded, launch, memory, observer, watch);
        self.kernels.insert(kernel.id, loaded);
        result
    }

    fn compiled(
        &self,
        kernel: &Kernel<'m>,
        launch: &KernelLaunch,
        memory: &mut DeviceMemory,
    ) -> Result<LoadedKernel, KernelError> {
        let module = self.module;
        let used = shared_by(module, kernel.id);
        let is_used = |id: DeclarationId| used.contains(&id) || self.places.contains_key(&id);
        let layout = shared_layout(module, Some(&self.shared), &self.places, is_used)?;
        let mut variables = self.addresses.clone();
        variables.extend(shared_addresses(module, &layout));
        let of_shared = variables.iter().filter(|(_, (space, _))| *space == AddressSpace::Shared);
        let mut shared: Vec<SharedVariable> = of_shared
            .filter_map(|(id, (_, offset))| {
                let bytes = variable_bytes(module, module.declaration(*id)?);
                Some(SharedVariable { id: *id, offset: *offset, bytes })
            })
            .collect();
        shared.sort_unstable_by_key(|variable| variable.offset);
        let (bytes, offsets) = kernel.parameters(launch);
        let in_bank = |(id, offset)| (id, (PARAMETERS, offset));
        variables.extend(offsets.into_iter().map(in_bank));
        let size = bytes.len() as u64;
        let parameters = FIRST_PARAMETERS + PARAMETER_ROOM * self.kernels.len() as u64;
        let purpose = AllocationUse::Parameters;
        let parameters = match memory.allocate_at(parameters, bytes.clone(), purpose.clone()) {
            Ok(()) => parameters,
            // An image of the caller's is there, or another module.
            Err(_) => memory.allocate(bytes, purpose)?,
        };
        memory.protect(parameters, Protection::Bank(NO_BANK));
        let windows = Windows { parameters: parameters..parameters + size, ..self.windows.clone() };
        let overrides = launch.registers.iter().cloned().collect();
        let around = Surroundings { variables, windows, overrides, is_of_loads: false };
        let mut compilation = compile(module, kernel.id, &around);
        if let Some(statement) = compilation.of_cluster {
            memory.release(parameters);
            let (line, text) = Written::new(module).line_and_text(statement);
            return Err(KernelError::Cluster { line, text });
        }
        let code = &mut compilation.code;
        (code.shared_bytes, code.shared_unit) = (layout.dynamic(), kernel.shared_unit());
        Ok(LoadedKernel { compilation, parameters, shared })
    }

    fn run(
        &self,
        kernel: &Kernel<'m>,
        LoadedKernel { compilation, parameters, shared: variables }: &LoadedKernel,
        launch: &KernelLaunch,
        memory: &mut DeviceMemory,
        observer: Option<&mut dyn MemoryObserver>,
        watch: Option<&LaunchWatch>,
    ) -> Result<KernelResult, KernelError> {
        let Compilation { code, registers, .. } = compilation;
        let options = &launch.options;
        let shared = code.shared_bytes.saturating_add(options.shared_bytes);
        if shared > MAX_SHARED {
            return Err(KernelError::SharedSize(shared));
        }
        for (id, bytes) in &launch.variables {
            if let Some((_, base, _)) = self.placed.iter().find(|known| known.0 == *id) {
                memory.write(*base, 0, bytes);
            }
        }
        let (bytes, offsets) = kernel.parameters(launch);
        memory.write(*parameters, 0, &bytes);
        memory.protect(*parameters, Protection::Bank(PARAMETER_BANK));
        memory.set_bank(PARAMETER_BANK, *parameters);
        // A GPU does not say what it passes between parameters.
        let ends = offsets.iter().zip(&launch.parameters);
        let ends = ends.map(|((_, offset), bytes)| offset + bytes.len() as u64);
        for (end, (_, next)) in ends.zip(offsets.iter().skip(1)) {
            memory.make_unknown(Space::Global, parameters + end..parameters + next);
        }
        let outcome = run(code, options, memory, observer, watch);
        memory.protect(*parameters, Protection::Bank(NO_BANK));
        let end = outcome.end.clone();
        let mut shown =
            Shown::new(self.module, registers, variables, code.shared_bytes, kernel.function);
        let result = KernelResult::new(outcome, &mut shown);
        let (last, is_jump, polled, quiet) = match end {
            LaunchEnd::Interrupted => return Err(KernelError::Interrupted),
            LaunchEnd::Steps { last, is_jump, polled, quiet } => (last, is_jump, polled, quiet),
            LaunchEnd::Done | LaunchEnd::Trapped => return Ok(result),
        };
        let polled = polled.map(|polled| Box::new(PolledLine::new(polled, &mut shown)));
        let written = Written::new(self.module);
        let (line, text) = written.line_and_text(StatementId(last.0));
        let steps = quiet.map_or(options.steps, |_| result.counts.warp_instructions);
        let (blocks, result) = (options.block_count(), Box::new(result));
        Err(KernelError::Steps { steps, quiet, blocks, line, text, is_jump, polled, result })
    }
}

/// Lays out the shared variables of a kernel, behind those of another layout.
fn shared_layout<'l>(
    module: &Module<'_>,
    outer: Option<&'l VariableLayout<'l>>,
    places: &HashMap<DeclarationId, u64>,
    is_used: impl Fn(DeclarationId) -> bool,
) -> Result<VariableLayout<'l>, KernelError> {
    let is_laid_out = |id| outer.is_some_and(|outer| outer.address(id).is_some());
    let used = shared_variables(module).filter(|(id, declared)| {
        declared.space == StateSpace::Shared && is_used(*id) && !is_laid_out(*id)
    });
    let layout = VariableLayout::after(outer, module, used, places)?;
    match layout.size(StateSpace::Shared) {
        bytes if bytes > MAX_SHARED => Err(KernelError::SharedSize(bytes)),
        _ => Ok(layout),
    }
}

fn shared_addresses(
    module: &Module<'_>,
    layout: &VariableLayout<'_>,
) -> impl Iterator<Item = (DeclarationId, (AddressSpace, u64))> {
    let all = module.declarations_with_ids();
    all.filter_map(|(id, _)| Some((id, (AddressSpace::Shared, layout.address(id)?))))
}
