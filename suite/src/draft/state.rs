//! [`State`]: all that a vector's `initial` says, as a machine and a warp and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use warpload_encoding::{Instruction, Pred, Reg, Sm, UniformReg};

use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::machine::{Machine, Misaligned, RegisterLimit};
use warpload::memory::{AddressMap, Memory, MemoryBuilder, Window};
use warpload::warp::Warp;

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
    /// Returns the state of a machine on which nothing is allocated and nothing set.
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

    /// Returns the machine; `None` if it is invalid.
    pub(crate) fn machine(&self) -> Option<Machine> {
        let register_limit = RegisterLimit::new(self.register_limit.into()).ok()?;
        let misaligned = if self.is_reporting { Misaligned::Report } else { Misaligned::Force };
        Some(Machine { register_limit, misaligned, memory: self.memory()? })
    }

    /// Fills a new warp; `None` if a predicate does not exist.
    pub(crate) fn fill(&self, warp: &mut Warp) -> Option<()> {
        warp.active = LaneMask::from_bits(self.active);
        for (number, values) in &self.registers {
            warp.set_register(Reg::new(*number), *values);
        }
        for (number, lanes) in &self.predicates {
            warp.set_predicate(Pred::try_from(*number).ok()?, LaneMask::from_bits(*lanes));
        }
        for (number, value) in &self.uniform_registers {
            warp.set_uniform_register(UniformReg::new(*number), *value);
        }
        for (number, value) in &self.uniform_predicates {
            warp.set_uniform_predicate(Pred::try_from(*number).ok()?, *value);
        }
        Some(())
    }

    fn memory(&self) -> Option<Memory> {
        let map = AddressMap::new(self.address_bits, self.shared_window, self.local_window).ok()?;
        let mut builder = MemoryBuilder::new(map);
        for (base, bytes) in &self.memory.global {
            builder = builder.global(*base, bytes);
        }
        let [low, high] = &self.memory.local;
        builder = builder.shared(&self.memory.shared);
        builder = builder.local_low(low.len() / LANES, low).local_high(high.len() / LANES, high);
        for (bank, bytes) in &self.memory.constant {
            builder = builder.constant(*bank, bytes);
        }
        builder.build().ok()
    }

    /// Writes `initial` without the defaults (docs/vectors.md).
    pub(crate) fn write_json(&self, to: &mut String) {
        let mut object = Object::open(to);
        if self.sm != Sm::SPA5 {
            object.key("sm").push_str(&format!("\"{}\"", self.sm));
        }
        if self.register_limit != 255 {
            object.key("register_limit").push_str(&self.register_limit.to_string());
        }
        if self.address_bits != default_address_bits(self.sm) {
            object.key("address_bits").push_str(&self.address_bits.to_string());
        }
        if self.is_reporting {
            object.key("misaligned").push_str("\"report\"");
        }
        self.write_windows(&mut object);
        self.memory.write_json(object.key("memory"));
        if self.active != u32::MAX {
            hex(self.active.into(), object.key("active"));
        }
        write_map(&self.registers, "registers", "R", &mut object, |values, to| {
            for (lane, value) in values.iter().enumerate() {
                to.push(if lane == 0 { '[' } else { ',' });
                hex((*value).into(), to);
            }
            to.push(']');
        });
        write_map(&self.predicates, "predicates", "P", &mut object, |lanes, to| {
            hex((*lanes).into(), to);
        });
        write_map(&self.uniform_registers, "uniform_registers", "UR", &mut object, |value, to| {
            hex((*value).into(), to);
        });
        write_map(
            &self.uniform_predicates,
            "uniform_predicates",
            "UP",
            &mut object,
            |value, to| {
                to.push_str(if *value { "true" } else { "false" });
            },
        );
        object.close();
    }

    fn write_windows(&self, object: &mut Object<'_>) {
        if self.has_default_windows() {
            return;
        }
        let mut windows = Object::open(object.key("windows"));
        for (key, window) in [("shared", self.shared_window), ("local", self.local_window)] {
            let mut object = Object::open(windows.key(key));
            hex(window.base, object.key("base"));
            hex(window.size, object.key("size"));
            object.close();
        }
        windows.close();
    }
}

/// Returns the address bits if a vector does not say otherwise.
pub(crate) fn default_address_bits(sm: Sm) -> u32 {
    if sm.has_wide_words() {
        crate::json::initial::WIDE_ADDRESS_BITS
    } else {
        AddressMap::default().address_bits()
    }
}

impl Contents {
    fn write_json(&self, to: &mut String) {
        let mut object = Object::open(to);
        if !self.global.is_empty() {
            write_list(&self.global, object.key("global"), |base, object| {
                hex(*base, object.key("base"));
            });
        }
        if !self.shared.is_empty() {
            let mut shared = Object::open(object.key("shared"));
            bytes(&self.shared, shared.key("hex"));
            shared.close();
        }
        let [low, high] = &self.local;
        let part = |held: &[u8], object: &mut Object<'_>| {
            object.key("bytes_per_lane").push_str(&(held.len() / LANES).to_string());
            bytes(held, object.key("hex"));
        };
        if !low.is_empty() || !high.is_empty() {
            let mut local = Object::open(object.key("local"));
            if !low.is_empty() {
                part(low, &mut local);
            }
            if !high.is_empty() {
                let mut object = Object::open(local.key("high"));
                part(high, &mut object);
                object.close();
            }
            local.close();
        }
        if !self.constant.is_empty() {
            write_list(&self.constant, object.key("constant"), |bank, object| {
                object.key("bank").push_str(&bank.to_string());
            });
        }
        object.close();
    }
}

/// Writes a list of objects with bytes.
fn write_list<K>(list: &[(K, Vec<u8>)], to: &mut String, key: impl Fn(&K, &mut Object<'_>)) {
    for (i, (held, contents)) in list.iter().enumerate() {
        to.push(if i == 0 { '[' } else { ',' });
        let mut object = Object::open(to);
        key(held, &mut object);
        bytes(contents, object.key("hex"));
        object.close();
    }
    to.push(']');
}

/// Writes a map of numbered registers, unless it is empty.
fn write_map<V>(
    map: &BTreeMap<u8, V>,
    key: &str,
    letter: &str,
    object: &mut Object<'_>,
    value: impl Fn(&V, &mut String),
) {
    if map.is_empty() {
        return;
    }
    let mut registers = Object::open(object.key(key));
    for (number, held) in map {
        value(held, registers.key(&format!("{letter}{number}")));
    }
    registers.close();
}

/// An object that is being written. Keys need no escapes.
pub(crate) struct Object<'t> {
    to: &'t mut String,
    is_empty: bool,
}

impl<'t> Object<'t> {
    pub(crate) fn open(to: &'t mut String) -> Self {
        to.push('{');
        Self { to, is_empty: true }
    }

    /// Writes a key; its value is to be written to what is returned.
    pub(crate) fn key(&mut self, key: &str) -> &mut String {
        if !self.is_empty {
            self.to.push(',');
        }
        self.is_empty = false;
        self.to.push('"');
        self.to.push_str(key);
        self.to.push_str("\":");
        self.to
    }

    pub(crate) fn close(self) {
        self.to.push('}');
    }
}

/// Writes a number in quotes.
pub(crate) fn hex(number: u64, to: &mut String) {
    // Writing to a string does not fail.
    let _ = write!(to, "\"{number:#x}\"");
}

fn bytes(held: &[u8], to: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    to.push('"');
    for byte in held {
        for digit in [byte >> 4, byte & 15] {
            to.push(DIGITS[usize::from(digit)].into());
        }
    }
    to.push('"');
}
