//! A function around a few loads, and a machine with bytes in every memory.

use warpload::lane::{LANES, LaneMask};
use warpload::machine::{Machine, Misaligned};
use warpload::memory::{AddressMap, MemoryBuilder};
use warpload_ptx::read;
use warpload_ptx::run::{
    Executed, Placement, PlacementError, RegisterFile, RegisterValue, RunError, WarpTensorMemory,
    lane_bits,
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

/// A module with one kernel `k`.
pub(crate) struct Case {
    source: String,
    pub(crate) active: LaneMask,
    sets: Vec<(String, String)>,
    places: Vec<(String, u64)>,
    parameters: Vec<(String, Vec<u8>)>,
    tensor: Option<WarpTensorMemory>,
}

/// What every load did, and the registers after the last one.
pub(crate) struct Ran {
    source: String,
    pub(crate) loads: Vec<Result<Executed, RunError>>,
    registers: RegisterFile,
}

/// Registers that every case may use.
const REGISTERS: &str = "
    .reg .b16 %h<9>; .reg .s16 %hs<9>; .reg .u16 %hu<9>;
    .reg .b32 %r<9>; .reg .s32 %rs<9>; .reg .u32 %ru<9>;
    .reg .b64 %rd<9>; .reg .s64 %ds<9>; .reg .u64 %du<9>;
    .reg .f32 %f<9>; .reg .f64 %fd<9>; .reg .b128 %q<9>;
    .reg .pred %p<4>; .reg .v4 .b32 Q; .reg .v2 .u32 D; .reg .b32 taddr, redVal;\n";

impl Case {
    /// Loads in a kernel without parameters.
    pub(crate) fn new(body: &str) -> Self {
        Self::with("", "", body)
    }

    /// Loads in a kernel with those parameters, in a module with those variables.
    pub(crate) fn with(variables: &str, parameters: &str, body: &str) -> Self {
        let source = format!(
            ".version 9.1\n.target sm_100\n.address_size 64\n{variables}\n\
             .visible .entry k({parameters})\n{{{REGISTERS}{body}\n}}\n"
        );
        let active = LaneMask::ALL;
        Self { source, active, sets: vec![], places: vec![], parameters: vec![], tensor: None }
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn set(mut self, register: &str, value: &str) -> Self {
        self.sets.push((register.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn place(mut self, variable: &str, address: u64) -> Self {
        self.places.push((variable.to_owned(), address));
        self
    }

    pub(crate) fn parameter(mut self, parameter: &str, bytes: &[u8]) -> Self {
        self.parameters.push((parameter.to_owned(), bytes.to_vec()));
        self
    }

    pub(crate) fn active(mut self, lanes: u32) -> Self {
        self.active = LaneMask::from_bits(lanes);
        self
    }

    pub(crate) fn tensor(mut self, tensor: Option<WarpTensorMemory>) -> Self {
        self.tensor = tensor;
        self
    }

    /// Runs the kernel.
    pub(crate) fn on(self, machine: Machine) -> Ran {
        self.try_on(machine).unwrap()
    }

    pub(crate) fn try_on(self, machine: Machine) -> Result<Ran, PlacementError> {
        let module = read(&self.source).unwrap();
        let function = module.function("k").unwrap();
        let mut placement = Placement::for_function(&module, function)?;
        let variable = |name: &str| module.variables_named(Some(function), name)[0];
        for (name, address) in &self.places {
            placement.place(variable(name), *address);
        }
        for (name, bytes) in &self.parameters {
            placement.set_parameter(variable(name), bytes);
        }
        let mut registers = RegisterFile::new();
        for (name, value) in &self.sets {
            let found = module.registers_named(function, name);
            assert!(!found.is_empty(), "{name}");
            for register in found {
                let scalar = module.declaration(register.declaration).unwrap().scalar;
                registers.set(register, lane_bits(value, scalar).unwrap());
            }
        }
        let mut environment = placement.into_environment(machine)?;
        environment.active = self.active;
        environment.tensor = self.tensor;
        let loads = environment.run(function, &mut registers).map(|step| step.result).collect();
        Ok(Ran { source: self.source, loads, registers })
    }
}

impl Ran {
    /// The errors of those loads that were not executed.
    pub(crate) fn errors(&self) -> Vec<&RunError> {
        self.loads.iter().filter_map(|load| load.as_ref().err()).collect()
    }

    /// A register's values; every load must have been executed.
    pub(crate) fn register(&self, name: &str) -> Option<RegisterValue> {
        assert_eq!(self.errors(), [] as [&RunError; 0]);
        self.held(name)
    }

    /// A register's values, whether loads failed or not.
    pub(crate) fn held(&self, name: &str) -> Option<RegisterValue> {
        let module = read(&self.source).unwrap();
        let found = module.registers_named(module.function("k").unwrap(), name);
        self.registers.get(found[0]).cloned()
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
