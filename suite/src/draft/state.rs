//! [`State`]: the contents of a vector's `initial`.

use std::collections::BTreeMap;

use warpload_encoding::{Instruction, Pred, Reg, Sm, UniformReg};

use crate::json::initial::{
    ConstantJson, GlobalJson, HighJson, Initial, LocalJson, MemoryJson, SharedJson, WindowJson,
    WindowsJson,
};
use crate::json::values::{
    Hex32, Hex64, HexBytes, Lanes, PredicateName, RegisterName, SmName, UniformName,
    UniformPredicateName, UniqueMap,
};
use warpload::lane::{LANES, LaneValues};
use warpload::machine::Misaligned;
use warpload::memory::{AddressMap, Window};

/// The state before a load.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) sm: Sm,
    pub(crate) register_limit: u8,
    pub(crate) address_bits: u32,
    pub(crate) is_reporting: bool,
    pub(crate) shared_window: Window,
    pub(crate) local_window: Window,
    pub(crate) memory: Contents,
    pub(crate) active: u32,
    pub(crate) registers: BTreeMap<u8, LaneValues>,
    pub(crate) predicates: BTreeMap<u8, u32>,
    pub(crate) uniform_registers: BTreeMap<u8, u32>,
    pub(crate) uniform_predicates: BTreeMap<u8, bool>,
}

/// A load and the state before it.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) load: Instruction,
    pub(crate) state: State,
}

/// The bytes of all memories.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// The allocations with their bases.
    pub(crate) global: Vec<(u64, Vec<u8>)>,
    pub(crate) shared: Vec<u8>,
    /// The low and the high part of local memory, lane 0's bytes first.
    pub(crate) local: [Vec<u8>; 2],
    pub(crate) constant: Vec<(u8, Vec<u8>)>,
}

impl State {
    /// The state of a machine without allocations, with all settings at their defaults.
    pub(crate) fn new(sm: Sm) -> Self {
        Self {
            sm,
            register_limit: 255,
            address_bits: default_address_bits(sm),
            is_reporting: false,
            shared_window: Window::DEFAULT_SHARED,
            local_window: Window::DEFAULT_LOCAL,
            memory: Contents::default(),
            active: u32::MAX,
            registers: BTreeMap::new(),
            predicates: BTreeMap::new(),
            uniform_registers: BTreeMap::new(),
            uniform_predicates: BTreeMap::new(),
        }
    }

    pub(crate) fn has_default_windows(&self) -> bool {
        (self.shared_window, self.local_window) == (Window::DEFAULT_SHARED, Window::DEFAULT_LOCAL)
    }

    /// The `initial` of a vector, without defaults; `None` if a predicate does not exist.
    pub(crate) fn initial(&self) -> Option<Initial> {
        let is_windows = !self.has_default_windows();
        let window = |Window { base, size }| WindowJson { base: Hex64(base), size: Hex64(size) };
        let window = |own| is_windows.then(|| window(own));
        let predicate = |number: &u8| Pred::try_from(*number).ok();
        let predicates = self
            .predicates
            .iter()
            .map(|(number, lanes)| Some((PredicateName(predicate(number)?), Hex32(*lanes))));
        let uniform_predicates = self
            .uniform_predicates
            .iter()
            .map(|(number, value)| Some((UniformPredicateName(predicate(number)?), *value)));
        let registers = self.registers.iter();
        let uniform_registers = self.uniform_registers.iter();
        let has_default_bits = self.address_bits == default_address_bits(self.sm);
        Some(Initial {
            sm: (self.sm != Sm::SPA5).then_some(SmName(self.sm)),
            register_limit: (self.register_limit != 255).then(|| self.register_limit.into()),
            address_bits: (!has_default_bits).then_some(self.address_bits),
            misaligned: if self.is_reporting { Misaligned::Report } else { Misaligned::Force },
            windows: WindowsJson {
                shared: window(self.shared_window),
                local: window(self.local_window),
            },
            memory: self.memory.json(),
            active: (self.active != u32::MAX).then_some(Hex32(self.active)),
            registers: unless_empty(
                registers.map(|(number, values)| (RegisterName(Reg::new(*number)), Lanes(*values))),
            ),
            predicates: unless_empty(predicates.collect::<Option<Vec<_>>>()?.into_iter()),
            uniform_registers: unless_empty(
                uniform_registers
                    .map(|(number, value)| (UniformName(UniformReg::new(*number)), Hex32(*value))),
            ),
            uniform_predicates: unless_empty(
                uniform_predicates.collect::<Option<Vec<_>>>()?.into_iter(),
            ),
        })
    }
}

fn unless_empty<K, V>(entries: impl Iterator<Item = (K, V)>) -> Option<UniqueMap<K, V>> {
    let entries: Vec<(K, V)> = entries.collect();
    (!entries.is_empty()).then_some(UniqueMap(entries))
}

/// The address bits of a vector that does not set them.
pub(crate) fn default_address_bits(sm: Sm) -> u32 {
    if sm.has_wide_words() {
        crate::json::initial::WIDE_ADDRESS_BITS
    } else {
        AddressMap::default().address_bits()
    }
}

impl Contents {
    fn json(&self) -> MemoryJson {
        let hex = |held: &[u8]| Some(HexBytes(held.to_vec()));
        let [low, high] = &self.local;
        let each = |held: &[u8]| Some(held.len() / LANES);
        let high = (!high.is_empty()).then(|| HighJson {
            bytes_per_lane: each(high),
            hex: hex(high),
            ..HighJson::default()
        });
        let local = match (low.is_empty(), high) {
            (true, None) => None,
            (true, high) => Some(LocalJson { high, ..LocalJson::default() }),
            (false, high) => Some(LocalJson {
                bytes_per_lane: each(low),
                hex: hex(low),
                high,
                ..LocalJson::default()
            }),
        };
        let global = self.global.iter().map(|(base, held)| GlobalJson {
            base: Some(Hex64(*base)),
            hex: hex(held),
            ..GlobalJson::default()
        });
        let constant = self.constant.iter().map(|(bank, held)| ConstantJson {
            bank: Some(u64::from(*bank)),
            hex: hex(held),
            ..ConstantJson::default()
        });
        let shared = SharedJson { hex: hex(&self.shared), ..SharedJson::default() };
        MemoryJson {
            global: global.collect(),
            shared: (!self.shared.is_empty()).then_some(shared),
            local,
            constant: constant.collect(),
        }
    }
}
