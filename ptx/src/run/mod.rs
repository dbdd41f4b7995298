//! Executes the loads of a module on a memory. docs/ptx-run.md has the rules.
//!
//! A [`Placement`] holds the addresses of variables and the values of parameters. It becomes an [`Environment`], which
//! executes one load, or all loads of a function in the order of the text, on a [`RegisterFile`].

mod access;
mod error;
mod launch;
mod memory;
mod placement;
mod registers;
mod report;
mod tensor_load;
mod undefined;
mod value;

pub use self::error::{RunError, RunErrorKind};
pub(crate) use self::launch::elements;
pub use self::launch::{Launch, LaunchError, LaunchStep, LaunchValue, LaunchValueError, PtxRun};
pub use self::placement::{GLOBAL_BASE, Placement, PlacementError};
pub use self::registers::{RegisterFile, RegisterValue};
pub use self::report::{LoadReport, RegisterReport, TensorFaultReport};
pub use self::tensor_load::TensorExecuted;
pub use self::undefined::Undefined;
pub use self::value::{ValueError, bits_of, lane_bits};
use crate::meaning::{AddressBase, Meaning, MeaningError, PARAMETER_BASE, PARAMETERS, Register};
use crate::module::operands::RegisterOperands;
use crate::module::{Function, Module};
use crate::syntax::load::{Opcode, PtxInstruction, PtxLoad};
use crate::syntax::{LineIndex, Span, TypeClass};
use access::WarpAccess;
use memory::{Holes, Plan};
use value::low_bits;
use warpload::lane::{LANES, LaneMask};
use warpload::load::LaneFaults;
use warpload::machine::{Machine, Misaligned};
use warpload::memory::{AddressSpace, Memory, Space, Width};
pub use warpload_machine::WarpTensorMemory;

/// The memory that a module's loads execute on, including the module's variables.
#[derive(Debug)]
pub struct Environment<'m> {
    module: &'m Module<'m>,
    placement: Placement<'m>,
    memory: Memory,
    misaligned: Misaligned,
    holes: Holes,
    lines: LineIndex,
    /// The active lanes; all of them at first.
    pub active: LaneMask,
    /// Tensor Memory. Initially `None`, and loads of Tensor Memory are then errors.
    pub tensor: Option<WarpTensorMemory>,
}

/// The effects of one load.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Executed {
    /// The lanes that executed: active, with a true guard.
    pub executing: LaneMask,
    /// Each lane's address in bytes before rounding, lane 0 first; 0 for a lane that does not execute. For a load of
    /// Tensor Memory, the lane and the column; see [`TensorExecuted::issue`].
    pub addresses: [u64; LANES],
    /// The lanes with a misaligned address, which was rounded down to a multiple of the access size.
    pub rounded: LaneMask,
    /// The memory of each lane's address; `None` if the lane does not execute, or the address is in no memory.
    pub spaces: [Option<Space>; LANES],
    /// The destination registers with their new values, each once, in the order of the load's operands. Sinks are left
    /// out.
    pub written: Vec<(Register, RegisterValue)>,
    /// The faults of single lanes. A lane out of bounds loads zeros.
    pub faults: LaneFaults,
    /// The qualifiers of a generic load that are undefined for the memory of some lanes.
    pub undefined: Vec<Undefined>,
    /// Details of a load of Tensor Memory; `None` for others.
    pub tensor: Option<TensorExecuted>,
}

impl Executed {
    /// A load without effects.
    fn nothing(executing: LaneMask) -> Self {
        Self {
            executing,
            addresses: [0; LANES],
            rounded: LaneMask::NONE,
            spaces: [None; LANES],
            written: Vec::new(),
            faults: LaneFaults::default(),
            undefined: Vec::new(),
            tensor: None,
        }
    }
}

/// One load of a function and its result.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunStep<'m> {
    /// The load.
    pub load: PtxLoad<'m>,
    /// The effects, or an error. After an error, the destination registers have no value.
    pub result: Result<Executed, RunError>,
}

impl<'m> Placement<'m> {
    /// Adds the variables to a machine's memory, with their initial values, or zeros if they have none. Bytes that the
    /// machine's memory already has keep their value, so that a memory image wins over initializers; only parameters
    /// that were set replace it. `.extern` variables get no memory, because another module defines them, except in
    /// shared memory.
    ///
    /// Copies all memory if a variable is added.
    ///
    /// # Errors
    /// Returns [`PlacementError`] if two variables overlap, a variable's address is invalid, or the memory is invalid.
    pub fn into_environment(self, machine: Machine) -> Result<Environment<'m>, PlacementError> {
        let Machine { misaligned, memory, .. } = machine;
        self.check()?;
        let plan = Plan { placement: &self, map: *memory.map() };
        let (memory, holes) = plan.memory(memory)?;
        Ok(Environment::new(self, memory, misaligned, holes))
    }
}

impl<'m> Environment<'m> {
    fn new(placement: Placement<'m>, memory: Memory, misaligned: Misaligned, holes: Holes) -> Self {
        let module = placement.module;
        let lines = LineIndex::new(module.source());
        let active = LaneMask::ALL;
        Self { module, placement, memory, misaligned, holes, lines, active, tensor: None }
    }

    /// Returns the memory, including all variables.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the machine for the module's SASS: the same memory, and all registers.
    #[must_use]
    pub fn into_machine(self) -> Machine {
        Machine { misaligned: self.misaligned, ..Machine::new(self.memory) }
    }

    /// Returns the addresses of the variables.
    #[must_use]
    pub fn placement(&self) -> &Placement<'m> {
        &self.placement
    }

    /// Executes the loads of a function in the order of the text, regardless of branches. Other instructions are
    /// skipped: their destination registers get the value from [`RegisterFile::set`], or become unknown. Execution
    /// continues after an error.
    pub fn run<'e>(
        &'e self,
        function: &Function,
        registers: &'e mut RegisterFile,
    ) -> impl Iterator<Item = RunStep<'m>> + use<'e, 'm> {
        let instructions = self.module.instructions(function);
        instructions.filter_map(move |instruction| {
            if !instruction.opcode.is_load() {
                self.pass(&instruction, registers);
                return None;
            }
            let result = self.load(&instruction, registers);
            if result.is_err() {
                self.pass(&instruction, registers);
            }
            Some(RunStep { load: instruction, result })
        })
    }

    /// Executes one load. Some illegal loads are accepted, because [`check`](crate::rules::check) finds them.
    ///
    /// # Errors
    /// Returns [`RunError`] if the load cannot be resolved, or a value that it needs is unknown. Registers are then
    /// unchanged.
    pub fn load(
        &self,
        load: &PtxLoad<'_>,
        registers: &mut RegisterFile,
    ) -> Result<Executed, RunError> {
        if load.opcode != Opcode::Ld {
            return self.tensor_load(load, registers);
        }
        let meaning = self.module.meaning(load).map_err(|error| {
            let span = error.span().unwrap_or(load.span);
            self.error(span, RunErrorKind::Meaning(error))
        })?;
        let executed = self.execute(load, &meaning, registers)?;
        let undefined = undefined::undefined(load, self.module.version, &executed.spaces);
        Ok(Executed { undefined, ..executed })
    }

    fn execute(
        &self,
        load: &PtxLoad<'_>,
        meaning: &Meaning,
        registers: &mut RegisterFile,
    ) -> Result<Executed, RunError> {
        let Some(width) = Width::from_bytes(meaning.bytes()) else {
            let illegal = MeaningError::Illegal(load.span);
            return Err(self.error(load.span, RunErrorKind::Meaning(illegal)));
        };
        let guard = load.guard.map_or(load.span, |guard| guard.register);
        let executing = self.executing(meaning.guard, guard, registers)?;
        let addresses = self.addresses(load, meaning, executing, registers)?;
        let access = WarpAccess { space: meaning.space, width, executing, addresses };
        self.check_known(&access, load)?;
        let from = if meaning.space == PARAMETERS { PARAMETER_BASE } else { 0 };
        let read = access.read(&self.memory, from, self.misaligned);
        let size = width.bytes() as usize / usize::from(meaning.elements.max(1));
        for (i, register) in meaning.destinations.iter().enumerate() {
            let Some(register) = register else { continue };
            let width = self.width(*register);
            let value = |lane: usize| {
                let from = &read.lanes[lane][i * size..(i + 1) * size];
                extend(from, meaning.scalar.class() == TypeClass::Signed, width)
            };
            registers.write(*register, executing, &std::array::from_fn(value));
        }
        let written = registers.held(meaning.destinations.iter().flatten());
        let space =
            |lane| executing.contains(lane).then(|| access.space_of(&self.memory, lane)).flatten();
        let spaces = std::array::from_fn(space);
        let is_rounded = |lane: usize| access.rounded(lane).0 != addresses[lane];
        let rounded = executing & LaneMask::from_fn(is_rounded);
        let done = Executed { addresses, rounded, spaces, ..Executed::nothing(executing) };
        Ok(Executed { written, faults: read.faults, ..done })
    }

    /// The active lanes with a true guard.
    fn executing(
        &self,
        guard: Option<(Register, bool)>,
        span: Span,
        registers: &RegisterFile,
    ) -> Result<LaneMask, RunError> {
        let Some((guard, is_negated)) = guard else { return Ok(self.active) };
        let held = self.value(registers, guard, self.active, span)?;
        let is_true = LaneMask::from_fn(|lane| held.map_or(0, |held| held.values[lane]) != 0);
        Ok(self.active & if is_negated { !is_true } else { is_true })
    }

    /// Each executing lane's address before rounding. Addresses have 32 bits and wrap, except for global and generic
    /// ones.
    fn addresses(
        &self,
        load: &PtxLoad<'_>,
        meaning: &Meaning,
        executing: LaneMask,
        registers: &RegisterFile,
    ) -> Result<[u64; LANES], RunError> {
        let place = meaning.address;
        let base_span = base_span(load);
        let index_span = load.address().and_then(|address| address.index).unwrap_or(load.span);
        let variable = |id| {
            let found = self.placement.address(id);
            let unplaced = || self.error(base_span, RunErrorKind::Unplaced(self.name(base_span)));
            found.ok_or_else(unplaced)
        };
        let (start, register, scale) = match place.base {
            AddressBase::Zero => (0, None, 0),
            AddressBase::Register(register) => (0, Some((register, base_span)), 1),
            AddressBase::Variable(id) => (variable(id)?, None, 0),
            AddressBase::Indexed(id, index) => {
                let declaration = self.module.declaration(id);
                let bytes = declaration.and_then(|known| known.element_bytes());
                debug_assert!(bytes.is_some(), "only variables of sized elements are indexed");
                let bytes = bytes.unwrap_or(1);
                (variable(id)?, Some((index, index_span)), bytes)
            }
        };
        let held = match register {
            Some((register, span)) => self.value(registers, register, executing, span)?,
            None => None,
        };
        let fixed = start.wrapping_add_signed(place.offset);
        let is_wide = matches!(meaning.space, AddressSpace::Generic | AddressSpace::Global);
        let mask = if is_wide { u64::MAX } else { u64::from(u32::MAX) };
        Ok(std::array::from_fn(|lane| {
            if !executing.contains(lane) {
                return 0;
            }
            // Registers hold zero-extended values, so a narrow one needs no mask.
            let own = held.map_or(0, |held| held.values[lane] as u64);
            fixed.wrapping_add(own.wrapping_mul(scale)) & mask
        }))
    }

    /// A register's values, or an error if they are unknown in one of `lanes`; `None` if there are no lanes and no
    /// values.
    fn value<'r>(
        &self,
        registers: &'r RegisterFile,
        register: Register,
        lanes: LaneMask,
        span: Span,
    ) -> Result<Option<&'r RegisterValue>, RunError> {
        let held = registers.get(register);
        let missing = lanes & !held.map_or(LaneMask::NONE, |held| held.known);
        if missing.is_empty() {
            return Ok(held);
        }
        let is_predicate = self.width(register) == 1;
        let register = self.name(span);
        Err(self.error(span, RunErrorKind::NoValue { register, lanes: missing, is_predicate }))
    }

    /// Reports a load of bytes with an unknown value.
    fn check_known(&self, access: &WarpAccess, load: &PtxLoad<'_>) -> Result<(), RunError> {
        let Some(hole) = self.holes.read_by(access, &self.memory) else { return Ok(()) };
        let declaration = self.module.declaration(hole.declaration);
        let name = declaration.map_or(String::new(), |known| self.name(known.name));
        let kind = match hole.value {
            None => RunErrorKind::NoParameter { parameter: name },
            Some(value) => RunErrorKind::NoInitialValue {
                variable: name,
                value: self.name(value),
                line: self.lines.position(value.start).line,
            },
        };
        Err(self.error(base_span(load), kind))
    }

    /// Skips an instruction. Its destination registers become unknown, except for registers with a value from
    /// [`RegisterFile::set`].
    pub fn pass(&self, instruction: &PtxInstruction<'_>, registers: &mut RegisterFile) {
        let mut lanes = self.active;
        if let Some(guard) = instruction.guard
            && let Some(symbol) = self.module.find_at(instruction.scope, guard.register)
            && let Some(held) = registers.get(Register::of(symbol))
        {
            let passes = |lane: usize| held.lane(lane) != Some(u128::from(guard.is_negated));
            lanes = lanes & LaneMask::from_fn(passes);
        }
        for register in RegisterOperands::of(self.module, instruction).writes {
            registers.overwrite(register, lanes);
        }
    }

    /// A register's width in bits.
    fn width(&self, register: Register) -> u32 {
        let declaration = self.module.declaration(register.declaration);
        // Registers of illegal modules can have types without a size.
        declaration.and_then(|known| known.scalar.bits()).unwrap_or(128)
    }

    fn name(&self, span: Span) -> String {
        self.module.text(span).to_owned()
    }

    fn error(&self, span: Span, kind: RunErrorKind) -> RunError {
        RunError { kind, span, position: self.lines.position(span.start) }
    }
}

/// The base of a load's address, or the whole load, for errors.
fn base_span(load: &PtxLoad<'_>) -> Span {
    load.address().and_then(|address| address.base).unwrap_or(load.span)
}

/// A number from little-endian bytes, extended to `width` bits.
fn extend(bytes: &[u8], is_signed: bool, width: u32) -> u128 {
    let value = bytes.iter().rev().fold(0, |value: u128, byte| value << 8 | u128::from(*byte));
    let unused = 128 - 8 * bytes.len() as u32;
    let extended = match unused {
        1..128 if is_signed => ((value << unused) as i128 >> unused) as u128,
        _ => value,
    };
    extended & low_bits(width)
}
