//! A function around a few loads, and a machine with bytes in every memory.

use std::convert::Infallible;
use std::fmt;

use warpload::lane::{LANES, LaneMask};
use warpload::machine::{Machine, Misaligned};
use warpload::memory::{AddressMap, Memory, MemoryBuilder};
use warpload_ptx::read;
use warpload_ptx::run::{
    Executed, Launch, LaunchError, LaunchStep, PlacementError, RegisterValue, RunError,
    RunErrorKind, WarpTensorMemory,
};

/// Global memory begins here and has 256 bytes, byte i holding i.
pub(crate) const GLOBAL: u64 = 0x1000_0000;

/// Byte i of shared memory (256 bytes) holds 0xff - i.
pub(crate) fn shared(i: u64) -> u8 {
    0xff - i as u8
}

/// Byte i of a lane's local memory (64 bytes, low part) holds lane + 4 i; the high part (32
/// bytes) holds 0x80 + lane everywhere.
pub(crate) fn local(lane: usize, i: u64) -> u8 {
    (lane as u64 + 4 * i) as u8
}

/// All memories filled. Byte i of constant bank 3 (64 bytes) holds 3 i.
pub(crate) fn machine() -> Machine {
    let ascending: Vec<u8> = (0..=255).collect();
    let lanes = |bytes: u64, byte: fn(usize, u64) -> u8| {
        let lane = move |lane| (0..bytes).map(move |i| byte(lane, i));
        (0..LANES).flat_map(lane).collect::<Vec<u8>>()
    };
    let memory = MemoryBuilder::new(AddressMap::default())
        .global(GLOBAL, &ascending)
        .shared(&(0..256).map(shared).collect::<Vec<u8>>())
        .local_low(64, &lanes(64, local))
        .local_high(32, &lanes(32, |lane, _| 0x80 + lane as u8))
        .constant(3, &(0..64).map(|i| 3 * i).collect::<Vec<u8>>())
        .build()
        .unwrap();
    Machine::new(memory)
}

pub(crate) fn reporting() -> Machine {
    Machine { misaligned: Misaligned::Report, ..machine() }
}

/// The same machine again.
pub(crate) fn copy(Machine { memory, misaligned, .. }: &Machine) -> Machine {
    let mut builder = MemoryBuilder::new(*memory.map()).shared(memory.shared_bytes());
    for allocation in memory.allocations() {
        builder = builder.global(allocation.base, memory.allocation_bytes(allocation));
    }
    let lanes = |of: fn(&Memory, usize) -> &[u8]| (0..LANES).flat_map(move |lane| of(memory, lane));
    let low: Vec<u8> = lanes(Memory::local_low_bytes).copied().collect();
    let high: Vec<u8> = lanes(Memory::local_high_bytes).copied().collect();
    builder = builder.local_low(low.len() / LANES, &low).local_high(high.len() / LANES, &high);
    for (bank, bytes) in memory.constant_banks() {
        builder = builder.constant(bank, bytes);
    }
    Machine { misaligned: *misaligned, ..Machine::new(builder.build().unwrap()) }
}

/// A module with one kernel `k`.
#[derive(Clone)]
pub(crate) struct Case {
    variables: String,
    parameters: String,
    body: String,
    launch: Launch,
    given: Vec<(String, Vec<u8>)>,
}

/// Why a load was not executed.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    /// It breaks a rule, with this message.
    Illegal(String),
    Failed(RunError),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Illegal(message) => f.write_str(message),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl Refusal {
    pub(crate) fn kind(&self) -> &RunErrorKind {
        match self {
            Self::Illegal(message) => panic!("{message}"),
            Self::Failed(error) => &error.kind,
        }
    }
}

/// What every load did.
pub(crate) struct Ran {
    case: Case,
    machine: Machine,
    pub(crate) loads: Vec<Result<Executed, Refusal>>,
}

/// Registers that every case may use.
const REGISTERS: &str = "
    .reg .b16 %h<9>; .reg .s16 %hs<9>; .reg .u16 %hu<9>;
    .reg .b32 %r<9>; .reg .s32 %rs<9>; .reg .u32 %ru<9>;
    .reg .b64 %rd<9>; .reg .s64 %ds<9>; .reg .u64 %du<9>;
    .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b128 %q<9>;
    .reg .pred %p<4>; .reg .v4 .b32 Q; .reg .v2 .u32 D; .reg .b32 taddr, redVal;\n";

/// The outcomes of the loads of the kernel `k`.
pub(crate) fn outcomes(
    source: &str,
    launch: &Launch,
    machine: Machine,
) -> Result<Vec<Result<Executed, Refusal>>, LaunchError> {
    let module = read(source).unwrap();
    let mut loads = Vec::new();
    let each = launch.prepare(&module, machine)?.each(|step| {
        match step {
            LaunchStep::Executed { executed, .. } => loads.push(Ok(executed.clone())),
            LaunchStep::Failed { error, .. } => loads.push(Err(Refusal::Failed(error.clone()))),
            LaunchStep::Illegal { load: Some(_), verdict } => {
                let message = verdict.violations.first().unwrap().message.clone();
                loads.push(Err(Refusal::Illegal(message)));
            }
            _ => {}
        }
        Ok::<(), Infallible>(())
    });
    each.map(|()| loads).map_err(|never| match never {})
}

/// The value of a parameter of this type as text.
pub(crate) fn elements(bytes: &[u8], size: usize) -> String {
    let number =
        |bytes: &[u8]| bytes.iter().rev().fold(0, |all, byte| all << 8 | u128::from(*byte));
    let texts: Vec<String> =
        bytes.chunks(size).map(|part| format!("{:#x}", number(part))).collect();
    texts.join(",")
}

impl Case {
    /// Loads in a kernel without parameters.
    pub(crate) fn new(body: &str) -> Self {
        Self::with("", "", body)
    }

    /// Loads in a kernel with those parameters, in a module with those variables.
    pub(crate) fn with(variables: &str, parameters: &str, body: &str) -> Self {
        let mut launch = Launch::default();
        launch.function = Some("k".to_owned());
        let [variables, parameters, body] = [variables, parameters, body].map(str::to_owned);
        Self { variables, parameters, body, launch, given: Vec::new() }
    }

    pub(crate) fn source(&self) -> String {
        let Self { variables, parameters, body, .. } = self;
        format!(
            ".version 9.1\n.target sm_103a\n.address_size 64\n{variables}\n\
             .visible .entry k({parameters})\n{{{REGISTERS}{body}\n}}\n"
        )
    }

    pub(crate) fn set(mut self, register: &str, value: &str) -> Self {
        self.launch = self.launch.register(register, value);
        self
    }

    pub(crate) fn place(mut self, variable: &str, address: u64) -> Self {
        self.launch = self.launch.place(variable, address.to_string());
        self
    }

    pub(crate) fn parameter(mut self, parameter: &str, bytes: &[u8]) -> Self {
        self.given.push((parameter.to_owned(), bytes.to_vec()));
        self
    }

    pub(crate) fn active(mut self, lanes: u32) -> Self {
        self.launch.active = LaneMask::from_bits(lanes);
        self
    }

    pub(crate) fn tensor(mut self, tensor: Option<WarpTensorMemory>) -> Self {
        self.launch.tensor = tensor;
        self
    }

    /// Runs the kernel.
    pub(crate) fn on(self, machine: Machine) -> Ran {
        self.try_on(machine).unwrap()
    }

    pub(crate) fn try_on(self, machine: Machine) -> Result<Ran, PlacementError> {
        let loads = self.outcomes(copy(&machine))?;
        Ok(Ran { case: self, machine, loads })
    }

    /// The outcomes of its loads.
    pub(crate) fn outcomes(
        &self,
        machine: Machine,
    ) -> Result<Vec<Result<Executed, Refusal>>, PlacementError> {
        let source = self.source();
        let module = read(&source).unwrap();
        let mut launch = self.launch.clone();
        for (name, bytes) in &self.given {
            let id = module.variables_named(module.function("k"), name)[0];
            let size = module.declaration(id).unwrap().scalar.bytes();
            launch = launch.parameter(name, elements(bytes, size as usize));
        }
        outcomes(&source, &launch, machine).map_err(|error| match error {
            LaunchError::Placement(error) => error,
            error => panic!("{error:?}"),
        })
    }
}

impl Ran {
    /// The errors of those loads that were not executed.
    pub(crate) fn errors(&self) -> Vec<&Refusal> {
        self.loads.iter().filter_map(|load| load.as_ref().err()).collect()
    }

    /// A register's values; every load must have been executed.
    pub(crate) fn register(&self, name: &str) -> Option<RegisterValue> {
        assert!(self.errors().is_empty(), "{:?}", self.errors());
        self.held(name)
    }

    /// A register's values, whether loads failed or not: a load that no lane executes tells them.
    pub(crate) fn held(&self, name: &str) -> Option<RegisterValue> {
        let scalar = match name.split_at_checked(3) {
            Some(("%fd", _)) => "f64",
            _ if name.starts_with("%f") => "f32",
            _ => "b8",
        };
        let scalar = if name.starts_with(['Q', 'D']) { "b32" } else { scalar };
        let mut case = self.case.clone().set("%never", "0");
        case.body += &format!("\n.reg .pred %never; @%never ld.local.{scalar} {name}, [0];");
        let last = case.outcomes(copy(&self.machine)).unwrap().pop().unwrap();
        let executed = last.unwrap_or_else(|error| panic!("{name}: {error}"));
        executed.written.into_iter().next().map(|written| written.1)
    }

    /// A register's value in one lane.
    pub(crate) fn lane(&self, name: &str, lane: usize) -> Option<u128> {
        self.register(name)?.lane(lane)
    }

    /// A register's value, which is the same in all lanes.
    pub(crate) fn all(&self, name: &str) -> u128 {
        let held = self.register(name).unwrap_or_else(|| panic!("{name} has no value"));
        assert_eq!(held.known, LaneMask::ALL);
        assert_eq!(held.values, [held.values[0]; LANES]);
        held.values[0]
    }

    /// The faults of the only load, as text.
    pub(crate) fn faults(&self) -> Vec<String> {
        let [Ok(executed)] = self.loads.as_slice() else { panic!("not one load executed") };
        executed.faults.iter().map(ToString::to_string).collect()
    }
}
