//! [`run`]: executes one load on the 32 lanes of a warp.

use serde::{Deserialize, Serialize};
use warpload::encoding::{
    Instruction, LoadDestination, LoadParts, LoadSize, MemorySpace, Reg, UniformReg,
};
use warpload::lane::LANES;
use warpload::load::{LaneAddresses, LoadOp, Outcome, execute};
use warpload::machine::{Machine, Misaligned};
use warpload::memory::{
    AddressMap, AddressSpace, Fill, FilledMemory, GenericAddress, WarpAddresses,
};
use warpload::text::plural;
use warpload::warp::Warp;
use warpload_replay::{CountedAccess, LanePattern, SharedRules};

use crate::banks::{Access, answer, find, of_pattern, read_mask, read_values};
use crate::instruction::{Explained, read_either};
use crate::problem::{Problem, read_sm};

/// The form.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
#[serde(default)]
pub struct RunFields {
    /// The SM.
    pub sm: String,
    /// The word or text of the load.
    pub instruction: String,
    /// The value of the base register, a formula of `lane`.
    pub base: String,
    /// The values of other names in the formula.
    pub values: String,
    /// The lanes that are active with a true guard; all if empty.
    pub mask: String,
}

/// The result of a load.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct Run {
    /// The load, explained.
    pub load: Explained,
    /// The register that gets the values of the formula.
    pub base: String,
    /// The effective address of each lane; empty if the lane does not execute.
    pub addresses: Vec<String>,
    /// The destination registers.
    pub registers: Vec<Register>,
    /// Faults of the warp and of single lanes.
    pub faults: Vec<String>,
    /// The cost of the access; `None` if the load as a whole faults.
    pub access: Option<Access>,
    /// Errors in the form.
    pub problems: Vec<Problem>,
}

/// A register after the load.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(target_family = "wasm", derive(tsify::Tsify))]
pub struct Register {
    /// Its name.
    pub name: String,
    /// A value for each lane, empty if the lane does not execute; a single value for a uniform register.
    pub values: Vec<String>,
}

/// Executes one load on 32 lanes. Every address is allocated, and its contents follow a rule, so that any load has a
/// result.
#[must_use]
pub fn run(fields: &RunFields) -> Run {
    executed(fields).unwrap_or_else(|problem| Run { problems: vec![problem], ..Run::default() })
}

fn executed(fields: &RunFields) -> Result<Run, Problem> {
    let sm = read_sm(&fields.sm)?;
    let read = read_either("instruction", &fields.instruction, sm)?;
    let (load, control) = (read.instruction, read.control);
    let op = LoadOp::of(&load).map_err(|error| Problem::new("instruction", error))?;
    let values = read_values(&fields.values)?;
    let text = fields.base.trim();
    let base = LanePattern::parse(text)
        .and_then(|pattern| pattern.addresses(1, &|name| find(&values, name)))
        .map_err(|error| of_pattern("base", text, &error))?;
    let parts = load.parts();
    let mut warp = Warp::new();
    warp.active = read_mask(&fields.mask)? & base.executing;
    let name = set_base(&mut warp, &parts, &base.addresses);
    // Makes the guard true, because the mask alone selects the executing lanes.
    let guard = parts.guard;
    if parts.is_guard_uniform {
        warp.set_uniform_predicate(guard.pred, !guard.negated);
    } else {
        let all = warp.active;
        warp.set_predicate(guard.pred, if guard.negated { !all } else { all });
    }
    // Makes the address local or global, rather than shared.
    if let MemorySpace::Generic { plg: Some(plg) } = parts.space
        && (plg != guard.pred || parts.is_guard_uniform)
    {
        warp.set_predicate(plg, warp.active);
    }
    let memory = FilledMemory { map: AddressMap::default(), fill: Fill::Address };
    let machine = Machine { misaligned: Misaligned::Report, ..Machine::new(memory) };
    let lanes = LaneAddresses::new(&load, &machine, &warp);
    let outcome =
        execute(&load, &machine, &mut warp).map_err(|error| Problem::new("instruction", error))?;
    let faults = faults(&outcome);
    let is_loaded = outcome.warp_fault.is_none() && !lanes.executing.is_empty();
    Ok(Run {
        load: Explained::new(&load, control),
        base: name,
        addresses: crate::banks::addresses(&lanes),
        registers: if is_loaded { registers(&parts, &outcome, &warp) } else { Vec::new() },
        faults,
        access: is_loaded.then(|| accessed(&load, op, &parts, &machine, lanes)),
        problems: Vec::new(),
    })
}

/// Sets the base of the load's address to the addresses, and returns the base's name. Without a general base register,
/// the uniform one gets lane 0's address. A 64-bit address takes two registers.
fn set_base(warp: &mut Warp, parts: &LoadParts, addresses: &WarpAddresses) -> String {
    let address = parts.address;
    let lanes = addresses.to_array();
    if !address.base.is_zero() {
        let base = address.base;
        warp.set_register(base, lanes.map(|address| address as u32));
        if address.extended && base.number() < 254 {
            let high = Reg::new(base.number() + 1);
            warp.set_register(high, lanes.map(|address| (address >> 32) as u32));
            return format!("{base} and {high}");
        }
        return base.to_string();
    }
    match address.uniform.filter(|uniform| !uniform.register.is_zero()) {
        Some(uniform) => {
            let base = uniform.register;
            warp.set_uniform_register(base, lanes[0] as u32);
            if uniform.extended && base.number() < 254 {
                let high = UniformReg::new(base.number() + 1);
                warp.set_uniform_register(high, (lanes[0] >> 32) as u32);
                return format!("{base} and {high}, from lane 0");
            }
            format!("{base}, from lane 0")
        }
        None => String::new(),
    }
}

fn faults(outcome: &Outcome) -> Vec<String> {
    let of_warp = outcome
        .warp_fault
        .map(|fault| format!("{}: {fault} ({}); no lane loads", fault.name(), fault.warp_error()));
    let of_lanes = outcome.lane_faults.iter().map(|fault| {
        let error = fault.warp_error();
        format!("{fault} ({}, {})", error.name, error.exception)
    });
    of_warp.into_iter().chain(of_lanes).collect()
}

fn registers(parts: &LoadParts, outcome: &Outcome, warp: &Warp) -> Vec<Register> {
    let count = parts.size.map_or(0, LoadSize::registers);
    let uniform = |first: UniformReg, count: u32| {
        let registers = (0..count as u8).filter_map(move |n| first.number().checked_add(n));
        registers.map(UniformReg::new).filter(|register| !register.is_zero())
    };
    let uniforms: Vec<UniformReg> = match parts.destination {
        LoadDestination::Uniform(first) => uniform(first, count).collect(),
        LoadDestination::UniformHalves { low, high } => {
            uniform(low, 4).chain(uniform(high, 4)).collect()
        }
        _ => Vec::new(),
    };
    let hexadecimal = |value: u32| format!("{value:#010x}");
    let of_lane = |register: Reg| Register {
        name: register.to_string(),
        values: (0..LANES)
            .map(|lane| match outcome.executing.contains(lane) {
                true => hexadecimal(warp.register(register)[lane]),
                false => String::new(),
            })
            .collect(),
    };
    let once = |register: UniformReg| Register {
        name: register.to_string(),
        values: vec![hexadecimal(warp.uniform_register(register))],
    };
    let written = outcome.destination.iter().chain(&outcome.other_half);
    let written = written.flat_map(|group| {
        (0..group.count as u8).filter_map(|n| group.first.number().checked_add(n)).map(Reg::new)
    });
    written.map(of_lane).chain(uniforms.into_iter().map(once)).collect()
}

/// The cost of the access. A generic load is counted only for the lanes in the first lane's memory, because each memory
/// has its own kind of cost.
fn accessed(
    load: &Instruction,
    op: LoadOp,
    parts: &LoadParts,
    machine: &Machine<FilledMemory>,
    mut lanes: LaneAddresses,
) -> Access {
    if let Ok(LoadSize::Matrices { count, .. }) = parts.size {
        let rows = warpload::lane::LaneMask::from_bits(u32::MAX >> (32 - 8 * u32::from(count)));
        lanes.executing = lanes.executing & rows;
    }
    let map = machine.memory.map;
    let place = |lane| {
        let address = GenericAddress(lanes.addresses.of(lane)).align_down(op.width);
        map.locate(op.space, address, lanes.plg_of(lane)).ok()
    };
    let first = lanes.executing.lanes().find_map(place);
    let Some(space) = first.map(|place| place.space) else { return Access::default() };
    if op.space == AddressSpace::Generic {
        let in_space = |lane: &usize| place(*lane).is_some_and(|place| place.space == space);
        let mut offsets = lanes.addresses.to_array();
        let mut executing = warpload::lane::LaneMask::NONE;
        for lane in lanes.executing.lanes().filter(in_space) {
            executing.insert(lane);
            offsets[lane] = place(lane).map_or(0, |place| place.offset);
        }
        lanes = LaneAddresses { executing, addresses: WarpAddresses::Each(offsets), ..lanes };
    }
    let counted = CountedAccess::new(space, op.width, SharedRules::default(), lanes);
    let accessed = format!("{} memory, {} a lane", space.name(), plural(op.width.bytes(), "byte"));
    answer(&counted, load.to_string(), &accessed)
}
