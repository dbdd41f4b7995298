//! [`SassProgram`]: a cubin as a driver loads it, and the launch of its kernels.

use std::collections::BTreeMap;

use thiserror::Error;
use warpload::lane::{LaneMask, LaneValues};
use warpload::memory::AddressMap;
use warpload_binary::cubin::{CubinProgram, ProgramRelocation, ProgramSection, ProgramSymbol};
use warpload_encoding::{Bundle, Control, Group, Pred, Reg, Sm, Spa5Instruction};
use warpload_machine::{
    AllocationError, AllocationUse, DeviceMemory, InstructionPlace, KernelResult, LaunchEnd,
    LaunchOptions, LaunchWatch, MemoryObserver, PolledLine, ProgramTexts, Protection,
    TooMuchMemory, polls, run,
};

use crate::lower::lower;
use crate::texts::SassTexts;

/// The bytes of a word, and of the group of a control word and three words.
pub(crate) const WORD: u64 = 8;
pub(crate) const GROUP: u64 = 32;

/// The alignment of the code of functions.
const CODE_ALIGNMENT: u64 = 0x100;

/// The address of the first function that the driver provides. No program has code there.
const EXTERNAL_CODE: u64 = 0xf000_0000;

/// Local memory of a kernel whose stack is not known, beyond its frame: CUDA's default limit.
const DEFAULT_STACK: u64 = 1024;

/// The constant bank of a launch, which has the parameters.
const LAUNCH_BANK: u8 = 0;

/// The first byte of the parameters in a bank without attributes.
const PARAMETERS: u64 = 0x140;

/// Why a cubin cannot be loaded, or a kernel not be launched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SassError {
    /// The file is not a cubin that can be read.
    #[error(transparent)]
    Cubin(#[from] warpload_binary::sass::SassError),
    /// The machine code is of another SM.
    #[error("machine code of SM {0} is not executed: expected one from 50 to 62")]
    Sm(Sm),
    /// No function has the name of the kernel.
    #[error("no kernel `{name}`; the cubin has {}", listed(.kernels))]
    UnknownKernel {
        /// The name.
        name: String,
        /// The names of all kernels.
        kernels: Vec<String>,
    },
    /// The cubin has several kernels, and none is named.
    #[error("several kernels: {}", listed(.kernels))]
    SeveralKernels {
        /// Their names.
        kernels: Vec<String>,
    },
    /// The launch gives other parameters than the kernel has.
    #[error("the kernel has {expected} bytes of parameters, {given} are given")]
    Parameters {
        /// The bytes of the kernel's parameters.
        expected: u64,
        /// The bytes of the launch.
        given: u64,
    },
    /// Another thread has ended the launch.
    #[error("the launch was interrupted")]
    Interrupted,
    /// The launch reached its limit on warp instructions, or was given up.
    #[error(
        "{at}: {steps} warp instructions were executed, and the launch has not ended; it is at `{text}`{waits}"
    )]
    Steps {
        /// The warp instructions.
        steps: u64,
        /// The last backward jump, or the last instruction.
        at: InstructionPlace,
        /// Its text.
        text: String,
        /// What its loop waits for, as a part of the sentence; may be empty.
        waits: String,
        /// The results so far.
        result: Box<KernelResult>,
    },
    /// Variables and banks exceed the memory limit.
    #[error(transparent)]
    Memory(#[from] TooMuchMemory),
    /// The address of a variable or bank is invalid.
    #[error(transparent)]
    Place(#[from] AllocationError),
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelParameter {
    /// The offset of its first byte from that of the first parameter.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// A kernel of a program.
#[derive(Clone, Debug)]
pub struct SassKernel {
    /// The name.
    pub name: String,
    /// The parameters in order.
    pub parameters: Vec<KernelParameter>,
    /// The section of its code.
    section: usize,
    /// The address of its first byte in the code of the program.
    pub(crate) entry: u64,
    /// The offset of the parameters in constant bank 0.
    first_parameter: u64,
    /// The registers of a thread.
    pub(crate) registers: u32,
    /// The bytes of shared memory of a block, without its dynamic part.
    pub(crate) shared: u64,
    /// The bytes of local memory of a thread.
    pub(crate) local: u64,
}

/// What a launch of a kernel gives.
#[derive(Clone, Debug)]
pub struct SassLaunch {
    /// Grid, blocks, limits and checks.
    pub options: LaunchOptions,
    /// The bytes of each parameter, in order.
    pub parameters: Vec<Vec<u8>>,
    /// Registers with a value for each lane before the first instruction; all others have never been written.
    pub registers: Vec<(Reg, LaneValues)>,
    /// Predicates with a value before the first instruction.
    pub predicates: Vec<(Pred, LaneMask)>,
}

impl SassLaunch {
    /// Creates a launch of a grid, without parameters and values of registers.
    #[must_use]
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            options: LaunchOptions::new(grid, block),
            parameters: Vec::new(),
            registers: Vec::new(),
            predicates: Vec::new(),
        }
    }
}

/// A section of a cubin that is loaded, at an address of global memory.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    address: u64,
}

/// Machine code of SM 5.0 to 6.2: a cubin, or a list of instructions.
#[derive(Debug)]
pub struct SassProgram {
    sm: Sm,
    /// `None` for a list of instructions.
    cubin: Option<CubinProgram>,
    kernels: Vec<SassKernel>,
    /// The addresses of the sections with code, in a space of their own.
    pub(crate) code: BTreeMap<usize, u64>,
    /// The words of the code, patched by relocations, by their addresses.
    pub(crate) words: BTreeMap<u64, u64>,
    /// The functions that the driver provides, by their addresses.
    pub(crate) externals: BTreeMap<u64, String>,
    /// The variables in global memory by section.
    loaded: BTreeMap<usize, Loaded>,
}

impl SassProgram {
    /// Reads a cubin and loads its code.
    ///
    /// # Errors
    /// Returns [`SassError`] if it is not a cubin of SM 5.0 to 6.2, or damaged.
    pub fn new(cubin: Vec<u8>) -> Result<Self, SassError> {
        let cubin = CubinProgram::read(cubin)?;
        if cubin.sm().group() != Group::Spa5 {
            return Err(SassError::Sm(cubin.sm()));
        }
        let mut program = Self {
            sm: cubin.sm(),
            kernels: Vec::new(),
            code: BTreeMap::new(),
            words: BTreeMap::new(),
            externals: BTreeMap::new(),
            loaded: BTreeMap::new(),
            cubin: Some(cubin),
        };
        program.place_code();
        program.kernels = program.find_kernels();
        Ok(program)
    }

    /// Creates a program of one kernel without parameters, from the words of its instructions without control words.
    ///
    /// # Errors
    /// Returns [`SassError::Sm`] for an SM with other words.
    pub fn of_words(sm: Sm, instructions: &[u64]) -> Result<Self, SassError> {
        let address = |at: usize| GROUP * (at as u64 / 3) + WORD * (at as u64 % 3 + 1);
        let words = instructions.iter().enumerate().map(|(at, word)| (address(at), *word));
        Self::of_places(sm, words.collect())
    }

    /// Creates a program of one kernel without parameters, from bundles with control words.
    ///
    /// # Errors
    /// Returns [`SassError::Sm`] for an SM with other words.
    pub fn of_bundles(sm: Sm, bundles: &[Bundle]) -> Result<Self, SassError> {
        let words = bundles.iter().flat_map(|bundle| bundle.to_words());
        Self::of_places(sm, (0..).step_by(WORD as usize).zip(words).collect())
    }

    /// A program of words by their addresses.
    fn of_places(sm: Sm, words: BTreeMap<u64, u64>) -> Result<Self, SassError> {
        if sm.group() != Group::Spa5 {
            return Err(SassError::Sm(sm));
        }
        let kernel = SassKernel {
            name: "kernel".to_owned(),
            parameters: Vec::new(),
            section: 0,
            entry: 0,
            first_parameter: PARAMETERS,
            registers: 255,
            shared: 0,
            local: 0,
        };
        Ok(Self {
            sm,
            cubin: None,
            kernels: vec![kernel],
            code: BTreeMap::from([(0, 0)]),
            words,
            externals: BTreeMap::new(),
            loaded: BTreeMap::new(),
        })
    }

    /// Returns the SM of the code.
    #[must_use]
    pub fn sm(&self) -> Sm {
        self.sm
    }

    fn sections(&self) -> impl Iterator<Item = ProgramSection<'_>> {
        self.cubin.iter().flat_map(CubinProgram::sections)
    }

    fn section(&self, name: &str) -> Option<ProgramSection<'_>> {
        self.cubin.as_ref()?.section(name)
    }

    fn symbols(&self) -> &[ProgramSymbol] {
        self.cubin.as_ref().map_or(&[], |cubin| cubin.symbols())
    }

    fn relocations(&self, section: usize) -> Vec<ProgramRelocation> {
        self.cubin.as_ref().map_or_else(Vec::new, |cubin| cubin.relocations(section))
    }

    /// Returns the kernels in the order of the file.
    #[must_use]
    pub fn kernels(&self) -> &[SassKernel] {
        &self.kernels
    }

    /// Returns the kernel with a name, or the only one.
    ///
    /// # Errors
    /// Returns [`SassError`] if there is none, or several without a name.
    pub fn kernel(&self, name: Option<&str>) -> Result<&SassKernel, SassError> {
        let names = || self.kernels.iter().map(|kernel| kernel.name.clone()).collect();
        match (name, &self.kernels[..]) {
            (Some(name), kernels) => {
                kernels.iter().find(|kernel| kernel.name == name).ok_or_else(|| {
                    SassError::UnknownKernel { name: name.to_owned(), kernels: names() }
                })
            }
            (None, [kernel]) => Ok(kernel),
            (None, _) => Err(SassError::SeveralKernels { kernels: names() }),
        }
    }

    /// Returns the instruction at an address of the code; `None` for a control word, and for a word that is none.
    #[must_use]
    pub fn instruction(&self, address: u64) -> Option<Spa5Instruction> {
        let word = self.words.get(&address).filter(|_| !address.is_multiple_of(GROUP))?;
        Spa5Instruction::decode(*word, self.sm())
    }

    /// Returns the slot of the control word for an instruction at an address of the code.
    #[must_use]
    pub fn control(&self, address: u64) -> Option<Control> {
        let word = self.words.get(&(address / GROUP * GROUP))?;
        let slot = (address % GROUP / WORD).checked_sub(1)?;
        Control::slots(*word).get(slot as usize).copied()
    }

    /// Returns the name of the function with an address of the code, and the offset there.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<(String, u64)> {
        let found = self.code.iter().filter(|(_, base)| **base <= address);
        let (section, base) = found.max_by_key(|(_, base)| **base)?;
        let Some(section) = self.sections().nth(*section) else {
            return Some(("kernel".to_owned(), address - base));
        };
        let name = section.name.strip_prefix(".text.").unwrap_or(section.name);
        Some((name.to_owned(), address - base))
    }

    /// Gives each section with code an address, and reads its words.
    fn place_code(&mut self) {
        let mut next = 0;
        let (mut words, mut code) = (BTreeMap::new(), BTreeMap::new());
        for section in self.sections().filter(|section| section.name.starts_with(".text")) {
            code.insert(section.index, next);
            for (at, word) in section.bytes.chunks_exact(WORD as usize).enumerate() {
                let word = word.try_into().map_or(0, u64::from_le_bytes);
                words.insert(next + WORD * at as u64, word);
            }
            next = (next + section.size + 1).next_multiple_of(CODE_ALIGNMENT);
        }
        (self.words, self.code) = (words, code);
        let undefined = self
            .symbols()
            .iter()
            .enumerate()
            .filter(|(_, symbol)| symbol.place.is_none() && !symbol.name.is_empty());
        let address = |number: usize| EXTERNAL_CODE + CODE_ALIGNMENT * number as u64;
        self.externals =
            undefined.map(|(number, symbol)| (address(number), symbol.name.clone())).collect();
    }

    fn find_kernels(&self) -> Vec<SassKernel> {
        let of_program = self.section(".nv.info");
        let of_program = of_program.map(|section| CubinProgram::attributes(&section));
        let of_program = of_program.unwrap_or_default();
        let mut kernels = Vec::new();
        for text in self.sections() {
            let Some(name) = text.name.strip_prefix(".text.") else { continue };
            let Some(info) = self.section(&format!(".nv.info.{name}")) else { continue };
            let (mut parameters, mut first_parameter, mut is_kernel) =
                (Vec::new(), PARAMETERS, false);
            for attribute in CubinProgram::attributes(&info) {
                match (attribute.number, &attribute.words[..]) {
                    // The symbol; offset and size.
                    (0x0a, [_, place]) => {
                        first_parameter = u64::from(place & 0xffff);
                        is_kernel = true;
                    }
                    // An index; ordinal and offset; the size from bit 18 on.
                    (0x17, [_, place, size]) => parameters.push((
                        place & 0xffff,
                        KernelParameter { offset: (place >> 16).into(), size: (size >> 18).into() },
                    )),
                    _ => {}
                }
            }
            if !is_kernel {
                continue;
            }
            parameters.sort_by_key(|(ordinal, _)| *ordinal);
            let parameters = parameters.into_iter().map(|(_, parameter)| parameter).collect();
            let is_it = |symbol: &ProgramSymbol| {
                symbol.is_function && symbol.place == Some((text.index, 0))
            };
            let symbol = self.symbols().iter().position(is_it);
            // Of the frames that the attributes name, that of this kernel: the least stack of a thread.
            let stack = of_program.iter().find_map(|attribute| match attribute.words[..] {
                [of, bytes] if attribute.number == 0x12 && Some(of as usize) == symbol => {
                    Some(bytes)
                }
                _ => None,
            });
            let stack = match stack {
                Some(bytes) if bytes < 1 << 24 => u64::from(bytes),
                _ => 0,
            };
            let shared = self.section(&format!(".nv.shared.{name}"));
            let local = self.section(&format!(".nv.local.{name}"));
            let local = local.map_or(0, |section| section.size);
            let calls = self.code.len() > 1 || !self.externals.is_empty();
            let more = if calls { DEFAULT_STACK } else { 0 };
            kernels.push(SassKernel {
                name: name.to_owned(),
                parameters,
                section: text.index,
                entry: self.code.get(&text.index).copied().unwrap_or_default(),
                first_parameter,
                registers: text.registers.into(),
                shared: shared.map_or(0, |section| section.size),
                local: (stack.max(local) + more).next_multiple_of(16),
            });
        }
        // Functions of the program may use more registers than the kernel.
        let most = self.sections().filter(|section| section.name.starts_with(".text"));
        let most = most.map(|section| section.registers.into()).max().unwrap_or(255);
        for kernel in &mut kernels {
            kernel.registers = kernel.registers.max(most).min(255);
        }
        kernels
    }

    /// The address of a symbol: of code, of a variable, or of a function of the driver.
    fn address_of(&self, number: usize) -> u64 {
        let Some(symbol) = self.symbols().get(number) else { return 0 };
        match symbol.place {
            Some((section, offset)) => match (self.code.get(&section), self.loaded.get(&section)) {
                (Some(base), _) => base + offset,
                (None, Some(loaded)) => loaded.address + offset,
                (None, None) => offset,
            },
            None => EXTERNAL_CODE + CODE_ALIGNMENT * number as u64,
        }
    }

    /// Places variables and constant banks in memory, and fills in the addresses.
    ///
    /// # Errors
    /// Returns [`SassError`] if the memory has no room for them.
    pub fn load(&mut self, memory: &mut DeviceMemory) -> Result<(), SassError> {
        let is_variables = |section: &ProgramSection<'_>| {
            section.name.starts_with(".nv.global") || section.name == ".nv.constant3"
        };
        let mut placed = Vec::new();
        for section in self.sections().filter(is_variables) {
            let mut bytes = memory.zeros(section.size)?;
            bytes[..section.bytes.len()].copy_from_slice(section.bytes);
            let purpose = AllocationUse::Variable(section.name.to_owned());
            placed.push((section.index, memory.allocate(bytes, purpose)?, section.name.to_owned()));
        }
        for (section, address, name) in placed {
            self.loaded.insert(section, Loaded { address });
            if name == ".nv.constant3" {
                memory.protect(address, Protection::Bank(3));
                memory.set_bank(3, address);
            }
        }
        // Addresses in variables, after all of them have places.
        for (section, loaded) in &self.loaded {
            for (offset, bytes) in self.patches(*section) {
                memory.write(loaded.address, offset as usize, &bytes);
            }
        }
        if let Some(section) = self.section(".nv.constant4") {
            let address = self.bank(&section, memory)?;
            memory.set_bank(4, address);
        }
        for (section, base) in &self.code {
            for (offset, word) in self.code_patches(*section) {
                self.words.insert(base + offset, word);
            }
        }
        Ok(())
    }

    /// Places a section as a constant bank.
    fn bank(
        &self,
        section: &ProgramSection<'_>,
        memory: &mut DeviceMemory,
    ) -> Result<u64, SassError> {
        let mut bytes = memory.zeros(section.size)?;
        bytes[..section.bytes.len()].copy_from_slice(section.bytes);
        let address = memory.allocate(bytes, AllocationUse::Parameters)?;
        for (offset, bytes) in self.patches(section.index) {
            memory.write(address, offset as usize, &bytes);
        }
        let number = section.name.trim_start_matches(".nv.constant").bytes().next();
        let number = number.map_or(0, |digit| digit.wrapping_sub(b'0'));
        memory.protect(address, Protection::Bank(number));
        Ok(address)
    }

    /// The 64-bit and 32-bit addresses that relocations put into the data of a section.
    fn patches(&self, section: usize) -> Vec<(u64, Vec<u8>)> {
        let relocations = self.relocations(section);
        let patches = relocations.iter().filter_map(|relocation| {
            let address = self.address_of(relocation.symbol?);
            let address = address.wrapping_add_signed(relocation.addend.unwrap_or(0));
            match relocation.kind {
                0x02 => Some((relocation.place.1, address.to_le_bytes().to_vec())),
                0x01 => Some((relocation.place.1, (address as u32).to_le_bytes().to_vec())),
                _ => None,
            }
        });
        patches.collect()
    }

    /// The words of code with the addresses that relocations put into them.
    fn code_patches(&self, section: usize) -> Vec<(u64, u64)> {
        let Some(base) = self.code.get(&section) else { return Vec::new() };
        let relocations = self.relocations(section);
        let patches = relocations.iter().filter_map(|relocation| {
            let offset = relocation.place.1;
            let word = self.words.get(&(base + offset))?;
            let address = self.address_of(relocation.symbol?);
            // A code address, the low and the high word of an address: bits 51:20.
            let value = match relocation.kind {
                0x2a | 0x2b => address as u32,
                0x2c => (address >> 32) as u32,
                _ => return None,
            };
            let mask = u64::from(u32::MAX) << 20;
            let value =
                value.wrapping_add(relocation.addend.unwrap_or((word >> 20) as u32 as i64) as u32);
            Some((offset, word & !mask | u64::from(value) << 20))
        });
        patches.collect()
    }

    /// Launches a kernel. `memory` must be the one that the program is loaded in.
    ///
    /// # Errors
    /// Returns [`SassError`] if the parameters do not suit the kernel.
    pub fn launch(
        &self,
        kernel: &SassKernel,
        launch: &SassLaunch,
        memory: &mut DeviceMemory,
        observer: Option<&mut dyn MemoryObserver>,
        watch: Option<&LaunchWatch>,
    ) -> Result<KernelResult, SassError> {
        let bytes = self.launch_bank(kernel, launch, memory.map())?;
        let bank = memory.allocate(bytes, AllocationUse::Parameters)?;
        memory.protect(bank, Protection::Bank(LAUNCH_BANK));
        memory.set_bank(LAUNCH_BANK, bank);
        if let Some(section) = self.section(&format!(".nv.constant2.{}", kernel.name)) {
            let address = self.bank(&section, memory)?;
            memory.set_bank(2, address);
        }
        let mut lowered = lower(self, kernel, launch.options.checks.scoreboard);
        lowered.preset(&launch.registers, &launch.predicates);
        let outcome = run(&lowered.code, &launch.options, memory, observer, watch);
        memory.release(bank);
        let dynamic = kernel.shared;
        let mut texts = SassTexts { program: self, lowered: &lowered, dynamic };
        let end = outcome.end.clone();
        let result = KernelResult::new(outcome, &mut texts);
        match end {
            LaunchEnd::Done | LaunchEnd::Trapped => Ok(result),
            LaunchEnd::Interrupted => Err(SassError::Interrupted),
            LaunchEnd::Steps { last, polled, .. } => {
                let polled = polled.map(|polled| PolledLine::new(polled, &mut texts));
                let (at, text) = (texts.place(last), texts.text(last).to_string());
                let waits = polls(polled.as_ref());
                let steps = result.counts.warp_instructions;
                Err(SassError::Steps { steps, at, text, waits, result: Box::new(result) })
            }
        }
    }

    /// The bytes of constant bank 0.
    fn launch_bank(
        &self,
        kernel: &SassKernel,
        launch: &SassLaunch,
        map: &AddressMap,
    ) -> Result<Vec<u8>, SassError> {
        let end = |parameter: &KernelParameter| parameter.offset + parameter.size;
        let expected = kernel.parameters.iter().map(end).max().unwrap_or(0);
        let given: u64 = launch.parameters.iter().map(|bytes| bytes.len() as u64).sum();
        let sizes = kernel.parameters.iter().map(|parameter| parameter.size);
        let are_alike = launch.parameters.iter().map(|bytes| bytes.len() as u64).eq(sizes);
        if !are_alike {
            return Err(SassError::Parameters { expected, given });
        }
        let of_section = self.section(&format!(".nv.constant0.{}", kernel.name));
        let size = of_section.map_or(0, |section| section.size);
        let mut bank = vec![0; size.max(kernel.first_parameter + expected).max(0x160) as usize];
        if let Some(section) = of_section {
            bank[..section.bytes.len()].copy_from_slice(section.bytes);
        }
        let mut put = |offset: u64, value: u64| {
            let at = offset as usize;
            bank[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
        };
        let (shared, local) = (map.shared().base, map.local().base);
        put(0x0, shared);
        put(0x4, local);
        let LaunchOptions { grid, block, shared_bytes, .. } = launch.options;
        for axis in 0..3 {
            put(0x8 + 4 * axis as u64, block[axis].into());
            put(0x14 + 4 * axis as u64, grid[axis].into());
        }
        put(0x20, kernel.local);
        put(0xfc, shared_bytes);
        put(0x100, shared >> 32);
        put(0x104, local >> 32);
        put(0x10c, 1);
        if let Some(constants) = self.section(".nv.constant3")
            && let Some(loaded) = self.loaded.get(&constants.index)
        {
            put(0xd0, loaded.address);
            put(0xd4, loaded.address >> 32);
        }
        for (parameter, bytes) in kernel.parameters.iter().zip(&launch.parameters) {
            let at = (kernel.first_parameter + parameter.offset) as usize;
            bank[at..at + bytes.len()].copy_from_slice(bytes);
        }
        Ok(bank)
    }

    /// The addresses of the words of a kernel and of all functions that it may call: all functions that are no kernels.
    pub(crate) fn addresses_of(&self, kernel: &SassKernel) -> impl Iterator<Item = u64> {
        let is_other_kernel = |section: &usize| {
            *section != kernel.section && self.kernels.iter().any(|other| other.section == *section)
        };
        let sections = self.code.iter().filter(move |(section, _)| !is_other_kernel(section));
        let last = self.words.keys().next_back().map_or(0, |last| last + WORD);
        let ranges = sections.map(|(section, base)| {
            let size = self.sections().nth(*section).map_or(last, |section| section.size);
            *base..base + size
        });
        let ranges: Vec<_> = ranges.collect();
        ranges.into_iter().flat_map(|range| self.words.range(range).map(|(address, _)| *address))
    }
}
