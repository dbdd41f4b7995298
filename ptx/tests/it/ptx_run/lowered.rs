//! A load of PTX executed as it is, and the SASS that it becomes: the same registers, the same faults.

use std::collections::HashMap;

use proptest::prelude::*;
use warpload::encoding::{Pred, Reg};
use warpload::lane::{LANES, LaneMask};
use warpload::load::execute;
use warpload::machine::{Machine, Misaligned};
use warpload::warp::Warp;
use warpload_ptx::lower::{Binding, LoweredLoad};
use warpload_ptx::meaning::{AddressBase, PARAMETER_BASE, Register, ResolvedAddress};
use warpload_ptx::run::{Executed, Launch};
use warpload_ptx::{Module, check, lower, read};

use crate::ptx_run::fixture::{elements, outcomes};
use crate::ptx_run::lowered_cases::{BETWEEN, Case, Part, case};
use crate::ptx_run::property::{Choices, address, each, machine, memories};
use crate::ptx_run::reference::Memories;

/// Where a warp keeps the guard until it is known which predicate the SASS wants.
const GUARD: Pred = Pred::P0;

/// The values of the address registers.
struct Places(HashMap<Register, [u64; LANES]>);

impl Places {
    /// The address that a place has in a lane. Each variable is the first one in its space.
    fn address(&self, place: ResolvedAddress, lane: usize) -> u64 {
        let base = match place.base {
            AddressBase::Zero | AddressBase::Variable(_) => 0,
            AddressBase::Register(register) => self.0[&register][lane],
            AddressBase::Indexed(..) => panic!("no case has an index"),
        };
        base.wrapping_add(place.offset as u64)
    }
}

/// What the SASS of one load did.
struct Loaded {
    executing: LaneMask,
    /// The names of each lane's faults.
    faults: Vec<Vec<&'static str>>,
    values: Vec<Element>,
}

/// An element that is kept.
struct Element {
    register: Register,
    /// Its bits, lane by lane.
    bits: [u64; LANES],
    /// Whether the instruction has extended it to 32 bits.
    is_extended: bool,
}

/// The warp with what the bindings say.
fn bound(lowered: &LoweredLoad, places: &Places, machine: &Machine, start: &Warp) -> Warp {
    let mut warp = start.clone();
    let shared = machine.memory.map().shared();
    let set = |warp: &mut Warp, register: u8, of: &dyn Fn(usize) -> u64| {
        warp.set_register(Reg::new(register), std::array::from_fn(|lane| of(lane) as u32));
    };
    for binding in &lowered.bindings {
        match binding {
            Binding::Address { register, is_wide, place } => {
                set(&mut warp, register.number(), &|lane| places.address(*place, lane));
                if *is_wide {
                    let high = |lane| places.address(*place, lane) >> 32;
                    set(&mut warp, register.number() + 1, &high);
                }
            }
            Binding::Plg { predicate, place } => {
                let is_outside = |lane| {
                    let address = places.address(*place, lane);
                    address.wrapping_sub(shared.base) >= shared.size
                };
                warp.set_predicate(*predicate, LaneMask::from_fn(is_outside));
            }
            Binding::Guard { predicate, .. } => {
                warp.set_predicate(*predicate, start.predicate(GUARD));
            }
            Binding::Frame { register } => set(&mut warp, register.number(), &|_| 0),
            Binding::Destination { .. } | Binding::Constant { .. } => {}
        }
    }
    warp
}

/// Sets what the bindings say, executes the instructions, and returns each element's bytes.
fn execute_lowered(
    lowered: &LoweredLoad,
    part: &Part,
    places: &Places,
    machine: &Machine,
    start: &Warp,
) -> Loaded {
    let mut warp = bound(lowered, places, machine, start);
    let mut faults = vec![Vec::new(); LANES];
    let mut executing = LaneMask::NONE;
    for instruction in &lowered.instructions {
        let outcome = execute(instruction, machine, &mut warp).unwrap();
        assert_eq!(outcome.warp_fault, None, "{instruction}");
        executing = outcome.executing;
        for fault in &outcome.lane_faults {
            faults[fault.lane].push(fault.kind().name());
        }
    }
    let mut values = Vec::new();
    for binding in &lowered.bindings {
        let Binding::Destination { register, elements, .. } = binding else { continue };
        let is_extended = elements.len() == 1 && part.element_bytes < 4;
        let element = |i: usize, lane: usize| {
            if is_extended {
                // Extended by the instruction itself.
                return u64::from(warp.register(*register)[lane]);
            }
            // The bytes of the registers, side by side.
            let byte = |at: u64| {
                let word = warp.register(Reg::new(register.number() + (at / 4) as u8))[lane];
                u64::from(word >> (8 * (at % 4)) & 0xff)
            };
            let from = i as u64 * part.element_bytes;
            (0..part.element_bytes).fold(0, |value, n| value | byte(from + n) << (8 * n))
        };
        values.extend(elements.iter().enumerate().filter_map(|(i, register)| {
            let bits = std::array::from_fn(|lane| element(i, lane));
            Some(Element { register: (*register)?, bits, is_extended })
        }));
    }
    Loaded { executing, faults, values }
}

/// An element as a PTX register of that width holds it.
fn extended(element: &Element, lane: usize, part: &Part, register_bits: u32) -> u128 {
    let bits = element.bits[lane];
    let unused = 64 - if element.is_extended { 32 } else { 8 * part.element_bytes as u32 };
    let value = if part.is_signed { ((bits << unused) as i64 >> unused) as u64 } else { bits };
    u128::from(value & (u64::MAX >> (64 - register_bits)))
}

/// The lanes whose Plg does not depend on whether it is taken of the formed address or of the one
/// that is loaded from, which a displacement and rounding may bring into another window; and whose
/// address is not before the parameters, where the bank holds something else, nor misaligned
/// where the load becomes several instructions.
fn comparable_lanes(
    part: &Part,
    lowered: &LoweredLoad,
    places: &Places,
    addresses: &[u64; LANES],
    memories: &Memories,
) -> LaneMask {
    let (start, size) = memories.shared_window;
    let is_shared = |address: u64| address.wrapping_sub(start) < size;
    let formed = lowered.bindings.iter().find_map(|binding| match binding {
        Binding::Plg { place, .. } => Some(*place),
        _ => None,
    });
    LaneMask::from_fn(|lane| {
        let address = addresses[lane];
        match formed {
            Some(formed) => is_shared(places.address(formed, lane)) == is_shared(address & !15),
            None if part.may_be_split() && !address.is_multiple_of(16) => false,
            None if part.space == "param" => {
                (address as u32) < PARAMETER_BASE.wrapping_neg() as u32
            }
            None => true,
        }
    })
}

fn compare(choices: &mut Choices) -> Result<(), TestCaseError> {
    let mut memories = memories(choices);
    // The variables then fit.
    memories.local_high = vec![Vec::new(); LANES];
    let case = case(choices);
    let Case { parts, .. } = &case;
    let is_constant = matches!(parts[0].space, "const" | "param");
    let low_bits = if is_constant { 15 } else { 0 };
    let space = parts[0].space;
    let base: [u64; LANES] = match choices.below(3) {
        0 => [address(choices, &memories, space) & !low_bits; LANES],
        _ => std::array::from_fn(|_| {
            let near = address(choices, &memories, space) & !low_bits;
            near.wrapping_sub(parts[1].offset as u64 & !15)
        }),
    };
    let active = LaneMask::from_bits(choices.number() as u32);
    let predicate = LaneMask::from_bits(choices.number() as u32);
    let misaligned = choices.pick(&[Misaligned::Force, Misaligned::Report]);

    let module = read(&case.source).unwrap();
    for verdict in check(&module) {
        prop_assert!(verdict.is_legal(), "{} {:?}", case.source, verdict.violations);
    }
    let function = module.function("k").unwrap();
    let register = |name: &str| module.registers_named(function, name)[0];
    let parameter: [u8; 64] = std::array::from_fn(|i| 3 * i as u8);
    let first = [base, base.map(|a| a.wrapping_add(BETWEEN as u64))];
    let launch = Launch::default()
        .register("%a", each(&first[0]))
        .register("%b", each(&first[1]))
        .register("%p", format!("{:#x}", predicate.bits()))
        .parameter("q", elements(&parameter, 1));
    let outcomes = |active: LaneMask| {
        let mut launch = launch.clone();
        launch.active = active;
        outcomes(&case.source, &launch, machine(&memories, misaligned)).unwrap()
    };
    let sass = machine(&with_variables(&memories, &parameter), misaligned);

    let lowered: Vec<LoweredLoad> = lower(&module).map(Result::unwrap).collect();
    let mut places = Places([register("%a"), register("%b")].into_iter().zip(first).collect());
    for (number, (lowered, part)) in lowered.iter().zip(parts).enumerate() {
        let own = |lane: usize| match part.base.strip_prefix('%') {
            Some(_) => places.0[&register(part.base)][lane],
            None => 0,
        };
        let addresses = std::array::from_fn(|lane| own(lane).wrapping_add(part.offset as u64));
        let mut warp = Warp::new();
        warp.active = active & comparable_lanes(part, lowered, &places, &addresses, &memories);
        warp.set_predicate(GUARD, predicate);
        let loaded = execute_lowered(lowered, part, &places, &sass, &warp);
        let executed = outcomes(warp.active)[number].clone().unwrap();
        let instructions = &lowered.instructions;
        let context = format!("{instructions:?} in\n{}{memories:?} {base:x?}", case.source);
        same(&module, part, &loaded, &executed, &context)?;
        // The next load has the addresses that this one has loaded.
        for (register, held) in &outcomes(active)[number].as_ref().unwrap().written {
            if let Some(values) = places.0.get_mut(register) {
                *values = held.values.map(|value| value as u64);
            }
        }
    }
    Ok(())
}

/// The memories with the variables of a case: `s`, `l` and `q`.
fn with_variables(memories: &Memories, parameter: &[u8; 64]) -> Memories {
    let mut all = memories.clone();
    all.shared.resize(all.shared.len().max(48), 0);
    for local in &mut all.local_low {
        local.resize(local.len().max(32), 0);
    }
    let end = PARAMETER_BASE as usize + parameter.len();
    all.bank0.resize(all.bank0.len().max(end), 0);
    all.bank0[PARAMETER_BASE as usize..end].copy_from_slice(parameter);
    all
}

fn same(
    module: &Module<'_>,
    part: &Part,
    loaded: &Loaded,
    executed: &Executed,
    context: &str,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(loaded.executing, executed.executing, "{}", context);
    for lane in loaded.executing.lanes() {
        let of_lane = executed.faults.iter().filter(|fault| fault.lane == lane);
        let expected: Vec<&str> = of_lane.map(|fault| fault.kind().name()).collect();
        if part.may_be_split() && !expected.is_empty() {
            // One load is outside as a whole, of several instructions some are not.
            prop_assert!(!loaded.faults[lane].is_empty(), "lane {} of {}", lane, context);
            continue;
        }
        prop_assert_eq!(&loaded.faults[lane], &expected, "lane {} of {}", lane, context);
        for (register, held) in &executed.written {
            let element =
                loaded.values.iter().rev().find(|known| known.register == *register).unwrap();
            let declared = module.declaration(register.declaration).unwrap();
            let got = extended(element, lane, part, declared.scalar.bits());
            prop_assert_eq!(Some(got), held.lane(lane), "lane {} of {}", lane, context);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn lowered_loads_load_what_the_loads_load(numbers in proptest::collection::vec(any::<u64>(), 257)) {
        compare(&mut Choices(numbers, 0))?;
    }
}
