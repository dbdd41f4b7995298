//! Random loads on random memories load what the reference loads, lane by lane.

use std::fmt::Write as _;

use proptest::prelude::*;
use warpload::lane::{LANES, LaneMask};
use warpload::machine::{Machine, Misaligned};
use warpload::memory::{AddressMap, MemoryBuilder, Window};
use warpload_ptx::run::{Executed, Launch, RegisterValue};
use warpload_ptx::syntax::ScalarType;
use warpload_ptx::{check, read};

use crate::ptx_run::fixture::outcomes;
use crate::ptx_run::reference::{Load, Memories};

/// Numbers out of which a case is made.
pub(crate) struct Choices(pub(crate) Vec<u64>, pub(crate) usize);

impl Choices {
    pub(crate) fn number(&mut self) -> u64 {
        self.1 += 1;
        self.0[self.1 % self.0.len()].rotate_left(7 * self.1 as u32)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    pub(crate) fn bytes(&mut self, count: u64) -> Vec<u8> {
        let mut state = self.number();
        let mut byte = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 56) as u8
        };
        (0..count).map(|_| byte()).collect()
    }
}

/// Small memories with windows and allocations that touch.
pub(crate) fn memories(choices: &mut Choices) -> Memories {
    let shared_base = 0x8000 + 16 * choices.below(3);
    let shared_window = (shared_base, 0x40 + 16 * choices.below(3));
    let local_base = shared_window.0 + shared_window.1 + choices.pick(&[0, 16, 0x100]);
    let local_window = (local_base, 0x40 + 16 * choices.below(3));
    let first = choices.below(80) + 1;
    let second = 0x1000 + first + choices.pick(&[0, 0, 1, 16]);
    let after = local_window.0 + local_window.1;
    let sizes = [choices.below(64) + 1, choices.below(64) + 1];
    let low = choices.below(local_window.1 + 1);
    let high = choices.pick(&[local_window.1 - low, choices.1 as u64 % (local_window.1 - low + 1)]);
    let shared = choices.below(shared_window.1 + 1);
    let in_front = choices.below(64) + 1;
    let global = vec![
        (0x1000, choices.bytes(first)),
        (second, choices.bytes(sizes[0])),
        (after, choices.bytes(sizes[1])),
        (shared_base - in_front, choices.bytes(in_front)),
    ];
    let banks = [choices.below(100), 0x140 + choices.below(64)];
    Memories {
        address_bits: choices.pick(&[32, 40, 64]),
        shared_window,
        local_window,
        global,
        shared: choices.bytes(shared),
        local_low: (0..LANES).map(|_| choices.bytes(low)).collect(),
        local_high: (0..LANES).map(|_| choices.bytes(high)).collect(),
        bank3: choices.bytes(banks[0]),
        bank0: choices.bytes(banks[1]),
    }
}

pub(crate) fn machine(memories: &Memories, misaligned: Misaligned) -> Machine {
    let window = |(base, size)| Window { base, size };
    let (shared, local) = (window(memories.shared_window), window(memories.local_window));
    let map = AddressMap::new(memories.address_bits, shared, local).unwrap();
    let mut builder = MemoryBuilder::new(map);
    for (base, bytes) in &memories.global {
        builder = builder.global(*base, bytes);
    }
    let (low, high) = (&memories.local_low, &memories.local_high);
    let memory = builder
        .shared(&memories.shared)
        .local_low(low[0].len(), &low.concat())
        .local_high(high[0].len(), &high.concat())
        .constant(3, &memories.bank3)
        .constant(0, &memories.bank0)
        .build()
        .unwrap();
    Machine { misaligned, ..Machine::new(memory) }
}

/// An address near something.
pub(crate) fn address(choices: &mut Choices, memories: &Memories, space: &str) -> u64 {
    let (shared, local) = (memories.shared_window, memories.local_window);
    let near: &[u64] = match space {
        "" | "global" => &[
            0x1000,
            memories.global[1].0,
            memories.global[2].0,
            shared.0,
            shared.0 + shared.1,
            local.0,
            local.0 + memories.local_low[0].len() as u64,
            local.0 + local.1,
            1 << 40,
            u64::MAX,
        ],
        "local" => &[0, memories.local_low[0].len() as u64, local.1, u64::MAX],
        "param" => &[0, 0x20, 0x40, u64::MAX],
        _ => &[0, 0x30, 0x50, u64::MAX],
    };
    choices.pick(near).wrapping_add(choices.below(80)).wrapping_sub(40)
}

/// The types of loads.
const TYPES: [&str; 15] = [
    "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "f32", "f64", "s8", "s16", "s32",
    "s64",
];

/// A type that has at most so many bits, and its bytes.
pub(crate) fn a_type(choices: &mut Choices, bits: u32) -> (&'static str, u64) {
    let bytes = |name: &str| name.parse::<ScalarType>().unwrap().bytes();
    let types: Vec<_> = TYPES.into_iter().filter(|name| 8 * bytes(name) <= bits).collect();
    let name = choices.pick(&types);
    (name, u64::from(bytes(name)))
}

struct Case {
    source: String,
    load: Load,
    /// Which elements are kept; their registers are %d0, %d1, ..
    kept: Vec<bool>,
    guard: Option<bool>,
    address_bits: u32,
}

fn case(choices: &mut Choices) -> Case {
    let space = choices.pick(&["", "global", "shared", "local", "const", "param"]);
    let (scalar, element_bytes) = a_type(choices, 128);
    let widest = if matches!(space, "" | "global") && element_bytes >= 4 { 32 } else { 16 };
    // `.v8` is for 32-bit types, 256 bits for those and 64-bit ones.
    let is_length = |n: &u64| match n {
        1 => true,
        8 => element_bytes == 4 && widest == 32,
        n => n * element_bytes <= widest && element_bytes < 16,
    };
    let lengths: Vec<u64> = [1, 2, 4, 8].into_iter().filter(is_length).collect();
    let elements = choices.pick(&lengths);
    // Those of `.v8` are exactly as wide.
    let is_width =
        |bits: &u32| u64::from(*bits) >= 8 * element_bytes && (elements < 8 || *bits == 32);
    let widths: Vec<u32> = [16, 32, 64, 128].into_iter().filter(is_width).collect();
    let register_bits = choices.pick(&widths);
    let mut kept: Vec<bool> =
        (0..elements).map(|_| elements == 1 || choices.below(4) > 0).collect();
    kept[0] |= kept.iter().all(|kept| !kept);
    let offset = choices.pick(&[0, 4, -4, 1, 16, -16, 32, 0x7fff_fff0, -0x8000_0000]);
    let address_bits = match space {
        "" | "global" => 64,
        _ => choices.pick(&[16, 32, 64]),
    };
    let guard = choices.pick(&[None, Some(false), Some(true)]);
    let load = Load {
        space,
        element_bytes,
        elements,
        is_signed: scalar.starts_with('s'),
        offset,
        register_bits,
    };
    let mut case = Case { source: String::new(), load, kept, guard, address_bits };
    case.source = source(&case, scalar);
    case
}

fn source(case: &Case, scalar: &str) -> String {
    let Case { load, kept, guard, address_bits, .. } = case;
    let mut source = format!(
        ".version 8.8\n.target sm_100\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred %p;\n\
         .reg .b{} %d<8>; .reg .b{address_bits} %a;\n",
        load.register_bits
    );
    let guard = guard.map_or("", |is_negated| if is_negated { "@!%p " } else { "@%p " });
    let space = if load.space.is_empty() { String::new() } else { format!(".{}", load.space) };
    let vector = if load.elements == 1 { String::new() } else { format!(".v{}", load.elements) };
    let names: Vec<String> = (kept.iter().enumerate())
        .map(|(i, kept)| if *kept { format!("%d{i}") } else { "_".to_owned() })
        .collect();
    let _ = write!(
        source,
        "{guard}ld{space}{vector}.{scalar} {{{}}}, [%a+{}];\nret;\n}}\n",
        names.join(", "),
        load.offset
    );
    source
}

/// A case with everything that it executes on.
struct Setting {
    case: Case,
    memories: Memories,
    misaligned: Misaligned,
    active: u32,
    predicate: u32,
    /// The address register.
    bases: [u64; LANES],
    /// What the destinations hold before, if anything.
    before: Option<u128>,
}

fn setting(choices: &mut Choices) -> Setting {
    let memories = memories(choices);
    let case = case(choices);
    let mask = u64::MAX >> (64 - case.address_bits);
    let bases = std::array::from_fn(|_| {
        let near = address(choices, &memories, case.load.space);
        near.wrapping_sub(case.load.offset as u64) & mask
    });
    let active = choices.number() as u32;
    Setting {
        misaligned: choices.pick(&Misaligned::ALL),
        active: if choices.below(2) == 0 { u32::MAX } else { active },
        predicate: choices.number() as u32,
        before: choices.pick(&[None, Some(77)]),
        case,
        memories,
        bases,
    }
}

/// What the library makes of it: the load, and the values of the kept elements.
fn executed(setting: &Setting) -> (Executed, Vec<(usize, Option<RegisterValue>)>) {
    let Setting { case, memories, .. } = setting;
    let module = read(&case.source).unwrap();
    for verdict in check(&module) {
        assert!(verdict.is_legal(), "{} {:?}", case.source, verdict.violations);
    }
    let mut launch = Launch::default()
        .register("%a", each(&setting.bases))
        .register("%p", setting.predicate.to_string());
    launch.active = LaneMask::from_bits(setting.active);
    let kept: Vec<usize> = (0..case.kept.len()).filter(|i| case.kept[*i]).collect();
    for i in &kept {
        if let Some(before) = setting.before {
            launch = launch.register(format!("%d{i}"), before.to_string());
        }
    }
    let mut loads = outcomes(&case.source, &launch, machine(memories, setting.misaligned)).unwrap();
    let executed = loads.remove(0).unwrap();
    let function = module.function("k");
    let held = |i: &usize| {
        let register = module.registers_named(function.unwrap(), &format!("%d{i}"))[0];
        let written = executed.written.iter().find(|written| written.0 == register);
        (*i, written.map(|written| written.1.clone()))
    };
    let values = kept.iter().map(held).collect();
    (executed, values)
}

/// The value of each lane as text.
pub(crate) fn each(values: &[u64; LANES]) -> String {
    values.map(|value| format!("{value:#x}")).join(",")
}

/// Compares the library with the reference, lane by lane.
fn compare(setting: &Setting) -> Result<(), TestCaseError> {
    let Setting { case, memories, misaligned, active, predicate, bases, before } = setting;
    let (executed, registers) = executed(setting);
    let passes = |lane: usize| {
        case.guard.is_none_or(|is_negated| (predicate >> lane & 1 != 0) != is_negated)
    };
    for (lane, base) in bases.iter().enumerate() {
        let executes = active >> lane & 1 != 0 && passes(lane);
        prop_assert_eq!(executed.executing.contains(lane), executes);
        let expected = memories.load(&case.load, *base, lane, misaligned.name());
        let of_lane = executed.faults.iter().filter(|fault| fault.lane == lane);
        let faults: Vec<&str> = of_lane.map(|fault| fault.kind().name()).collect();
        let context = format!("lane {lane} of {} {memories:?}", case.source);
        if executes {
            prop_assert_eq!(executed.addresses[lane], expected.address, "{}", &context);
        }
        prop_assert_eq!(&faults, if executes { &expected.faults } else { &[][..] }, "{}", &context);
        for (i, held) in &registers {
            let held = held.as_ref().and_then(|held| held.lane(lane));
            let expected = if executes { Some(expected.values[*i]) } else { *before };
            prop_assert_eq!(held, expected, "%d{} {}", i, &context);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn loads_are_the_references(numbers in proptest::collection::vec(any::<u64>(), 257)) {
        compare(&setting(&mut Choices(numbers, 0)))?;
    }
}
