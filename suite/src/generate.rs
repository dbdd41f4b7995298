//! [`Generator`]: random vectors of one instruction, any number of them. Their expectations and flags come from the
//! literal executor. Nothing aims at a flag: draws that lack a wanted one are thrown away.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::{execute as fast, reference};
use warpload::machine::Misaligned;
use warpload_encoding::{
    Instruction, LoadDestination, LoadParts, LoadSize, MemorySpace, Offset, Pred, Reg, Slot, Sm,
    UniformReg,
};

use super::flags::{self, Flag, FlagSet, destinations, fills_uniform, flags_of};
use super::json::initial::{
    ConstantJson, GlobalJson, HighJson, Initial, LocalJson, SharedJson, WindowJson,
    default_address_bits,
};
use super::json::sources::Files;
use super::json::values::{
    Hex32, Hex64, HexBytes, Lanes, PredicateName, RegisterName, SmName, UniformName,
    UniformPredicateName, UniqueMap,
};
use super::random::Random;
use super::vector::Vector;
use warpload::memory::Window;

/// The most draws of a case. Flags that a draw in a thousand shows are found; their combinations may not be.
const MAX_DRAWS: u64 = 10_000;

/// Decoded, but not executed as loads into registers (docs/load-sm70.md section 10, 23).
const OF_OTHER_EXECUTORS: [&str; 2] = ["LDGSTS", "LDTM"];

/// Draws vectors of one instruction. Case N of a seed is always the same, on every platform, and does not depend on
/// earlier draws.
///
/// ```
/// use warpload::encoding::Sm;
/// use warpload_suite::generate::Generator;
///
/// let generator = Generator::new("LDG", Sm::SPA5, 7)?;
/// let line = generator.line(41)?;
/// assert!(line.starts_with(r#"{"id":"execute-ldg-seed7-0041","#));
/// assert_eq!(generator.line(41)?, line);
/// # Ok::<(), warpload_suite::generate::GenerateError>(())
/// ```
#[derive(Debug)]
pub struct Generator {
    instruction: &'static str,
    sm: Sm,
    seed: u64,
    forms: Vec<Instruction>,
    /// The flags that every case shows.
    wanted: FlagSet,
}

/// Returns the names of the instructions of an SM that have vectors.
pub fn instructions(sm: Sm) -> impl Iterator<Item = &'static str> {
    Instruction::mnemonics(sm).filter(|name| !OF_OTHER_EXECUTORS.contains(name))
}

impl Generator {
    /// Creates a generator of vectors of an instruction, named in either case.
    ///
    /// # Errors
    /// Returns [`GenerateError::UnknownInstruction`] if the SM has no such load that can be executed.
    pub fn new(instruction: &str, sm: Sm, seed: u64) -> Result<Self, GenerateError> {
        let known = instructions(sm).find(|known| known.eq_ignore_ascii_case(instruction));
        let unknown = || GenerateError::UnknownInstruction { name: instruction.to_owned(), sm };
        let instruction = known.ok_or_else(unknown)?;
        let forms = Instruction::forms(sm).filter(|form| form.mnemonic() == instruction).collect();
        Ok(Self { instruction, sm, seed, forms, wanted: FlagSet::default() })
    }

    /// Restricts the cases to vectors that show all of these flags.
    #[must_use]
    pub fn with_flags(mut self, wanted: &[&'static Flag]) -> Self {
        let is_wanted = |flag: &Flag| wanted.iter().any(|wanted| wanted.name == flag.name);
        let numbers = (0..).zip(flags::all()).filter(|(_, flag)| is_wanted(flag));
        numbers.for_each(|(number, _)| self.wanted.insert(number));
        self
    }

    /// Draws a case: a vector as one line of JSON, without its end (docs/vectors.md).
    ///
    /// # Errors
    /// Returns [`GenerateError`] if no draw shows the wanted flags, or if the executors differ.
    pub fn line(&self, number: u64) -> Result<String, GenerateError> {
        (0..MAX_DRAWS).find_map(|draw| self.attempt(number, draw)).unwrap_or_else(|| {
            let flags = self.wanted.iter().map(|flag| flag.name).collect();
            let (instruction, sm) = (self.instruction, self.sm);
            Err(GenerateError::NotFound { instruction, sm, flags, draws: MAX_DRAWS })
        })
    }

    /// Makes one draw; `None` if it cannot be executed or lacks a wanted flag.
    fn attempt(&self, number: u64, draw: u64) -> Option<Result<String, GenerateError>> {
        let name = self.instruction.bytes().fold(0, |name, byte| name << 8 | u64::from(byte));
        let others = [name, self.sm.number().into(), number, draw];
        let draw = Draw::new(Random::new(self.seed, &others), &self.forms)?;
        let (instruction, initial) = draw.finish()?;
        // Written first, because the machine's memory takes the bytes.
        let initial_json = serde_json::to_string(&initial).ok()?;
        let (machine, warp) = initial.machine_and_warp(Files::Refused).ok()?;
        let name = instruction.text().to_string();
        let vector = Vector { name, instruction, machine, warp, expected: None };
        let mut after = vector.warp.clone();
        let outcome = reference(&instruction, &vector.machine, &mut after).ok()?;
        let flags = flags_of(&vector, &outcome);
        if !flags.is_superset(self.wanted) {
            return None;
        }
        let id = self.id(number);
        let mut again = vector.warp.clone();
        let same = fast(&instruction, &vector.machine, &mut again);
        if same.as_ref() != Ok(&outcome) || again != after {
            return Some(Err(GenerateError::ExecutorsDiffer { id }));
        }
        let expected = serde_json::to_string(&vector.observed(&after, &outcome)).ok()?;
        // Written without escapes: ids, texts of instructions and names of flags have no characters that need them.
        let names: Vec<String> = flags.iter().map(|flag| format!("\"{}\"", flag.name)).collect();
        let (name, names, word) = (vector.name, names.join(","), instruction.word());
        let is_decision = flags.is_decision(self.sm.has_wide_words());
        let decision = if is_decision { r#""decision":true,"# } else { "" };
        Some(Ok(format!(
            r#"{{"id":"{id}","name":"{name}","flags":[{names}],"source":"document",{decision}"instruction":"{word:#}","initial":{initial_json},"final":{expected}}}"#
        )))
    }

    fn id(&self, number: u64) -> String {
        let mut id = format!("execute-{}", self.instruction.to_ascii_lowercase());
        // The results are dropped, because writing to a string does not fail.
        if self.sm != Sm::SPA5 {
            let _ = write!(id, "-sm{}", self.sm);
        }
        if self.seed != 0 {
            let _ = write!(id, "-seed{}", self.seed);
        }
        let _ = write!(id, "-{number:04}");
        id
    }
}

/// The first address of a memory, and the one after its last.
type Extent = (u64, u64);

/// A vector while it is drawn.
struct Draw {
    random: Random,
    load: Instruction,
    size: LoadSize,
    initial: Initial,
    address_bits: u32,
    windows: [Window; 2],
    /// The allocations that addresses of the load can be in.
    allocations: Vec<Extent>,
    registers: BTreeMap<u8, LaneValues>,
    uniform_registers: BTreeMap<u8, u32>,
}

/// Modifiers of the size and of the address.
const STRUCTURAL: [Slot; 9] = [
    Slot::Size,
    Slot::Extended,
    Slot::Wide,
    Slot::Descriptor,
    Slot::UniformHint,
    Slot::Count,
    Slot::Shape,
    Slot::Scale,
    Slot::Bank,
];

/// Modifiers that change no value. All others keep their defaults.
const OF_CACHES: [Slot; 6] =
    [Slot::Cache, Slot::Evict, Slot::Policy, Slot::Prefetch, Slot::Order, Slot::Scope];

impl Draw {
    /// Draws a form and its modifiers; `None` if that load cannot be executed.
    fn new(mut random: Random, forms: &[Instruction]) -> Option<Self> {
        let mut load = random.pick(forms)?;
        // Some modifiers are invalid without registers.
        for slot in [Slot::Destination, Slot::HighDestination, Slot::Base, Slot::UniformBase] {
            load = load.with(slot, 4).unwrap_or(load);
        }
        for field in load.describe().filter(|field| field.fixed().is_none()) {
            let slot = field.slot();
            if STRUCTURAL.contains(&slot) || OF_CACHES.contains(&slot) && random.one_in(6) {
                let value = random.below(1 << field.field().width().min(63));
                load = load.with(slot, value).unwrap_or(load);
            }
        }
        let parts = load.parts();
        let is_elsewhere = parts.destination == LoadDestination::SharedMemory
            || matches!(parts.space, MemorySpace::Tensor | MemorySpace::Undocumented);
        let size = parts.size.ok().filter(|_| !is_elsewhere)?;
        Some(Self {
            random,
            load,
            size,
            initial: Initial::default(),
            address_bits: default_address_bits(load.sm()),
            windows: [Window::DEFAULT_SHARED, Window::DEFAULT_LOCAL],
            allocations: Vec::new(),
            registers: BTreeMap::new(),
            uniform_registers: BTreeMap::new(),
        })
    }

    /// Draws the operands and the state. `None` if the word is no load.
    fn finish(mut self) -> Option<(Instruction, Initial)> {
        self.draw_operands()?;
        self.draw_machine();
        self.draw_memory();
        self.draw_lanes()?;
        let (random, initial) = (&mut self.random, &mut self.initial);
        initial.sm = (self.load.sm() != Sm::SPA5).then_some(SmName(self.load.sm()));
        let named = |(number, values)| (RegisterName(Reg::new(number)), Lanes(values));
        initial.registers = unless_empty(self.registers.into_iter().map(named));
        let named = |(number, value)| (UniformName(UniformReg::new(number)), Hex32(value));
        initial.uniform_registers = unless_empty(self.uniform_registers.into_iter().map(named));
        if !random.one_in(6) {
            return Some((self.load, self.initial));
        }
        let bits = u128::from(random.next()) << 64 | u128::from(random.next());
        let word = self.load.bits() | self.load.reserved_bits() & bits;
        let decoded = match self.load.sm().has_wide_words() {
            true => Instruction::decode(word, self.load.sm()),
            false => Instruction::decode(word as u64, self.load.sm()),
        };
        Some((decoded.load()?, self.initial))
    }

    fn parts(&self) -> LoadParts {
        self.load.parts()
    }

    fn set(&mut self, slot: Slot, value: u64) {
        self.load = self.load.with(slot, value).unwrap_or(self.load);
    }

    /// Draws the first register of a group, mostly an aligned one. `none` is the number of `RZ` or `URZ`.
    fn register(&mut self, group: u64, none: u64) -> u64 {
        let random = &mut self.random;
        match random.below(16) {
            0 | 1 => random.below(none + 1),
            2 => none,
            // The group ends with `RZ`.
            3 => none + 1 - group,
            4..8 => group * random.below((none + 1) / group),
            _ => group * random.below(32 / group),
        }
    }

    fn draw_operands(&mut self) -> Option<()> {
        let parts = self.parts();
        let uniform_none = u64::from(parts.uniform_registers).max(63);
        let none = if fills_uniform(&parts) { uniform_none } else { 255 };
        let group = u64::from(self.size.registers().clamp(1, 4));
        for slot in [Slot::Destination, Slot::HighDestination] {
            let number = self.register(group, none);
            self.set(slot, number);
        }
        let is_narrow = !parts.address.extended && self.random.one_in(3);
        let base = self.register(if is_narrow { 1 } else { 2 }, 255);
        self.set(Slot::Base, base);
        let uniform = self.register(2, uniform_none);
        self.set(Slot::UniformBase, uniform);
        if self.random.one_in(3) {
            let (guard, negated) = (self.random.below(8), self.random.below(2));
            self.set(Slot::Guard, guard);
            self.set(Slot::GuardNegated, negated);
        }
        if matches!(parts.space, MemorySpace::Generic { plg: Some(_) }) && self.random.one_in(2) {
            let plg = self.random.below(8);
            self.set(Slot::PredicateIn, plg);
        }
        self.parts().size.ok().map(|_| ())
    }

    /// Draws the settings of the machine.
    fn draw_machine(&mut self) {
        let parts = self.parts();
        let random = &mut self.random;
        if random.one_in(4) {
            self.initial.misaligned = Misaligned::Report;
        }
        if random.one_in(3) {
            // Near the end of the registers, where the rules begin to be broken.
            let filled = destinations(&parts, self.size).first().map_or(0, |(n, count)| n + count);
            let filled = u64::from(filled);
            let base = u64::from(parts.address.base.number()) + 1;
            let near = random.pick(&[filled, base, filled.max(base)]).unwrap_or(255);
            let limit = (near + random.below(6)).saturating_sub(3);
            self.initial.register_limit = Some(limit.clamp(1, 255));
        }
        if random.one_in(6) {
            self.address_bits = 32 + random.below(33) as u32;
            self.initial.address_bits = Some(self.address_bits);
        }
        if random.one_in(3) {
            let mut sizes = [0, 1].map(|_| 16 << random.below(6));
            if random.one_in(2) {
                // Two parts of local memory can fill it.
                sizes[1] = 24;
            }
            let low = random.pick(&[0, 0x1000, 0x10_0000, 0x8000_0000]).unwrap_or(0);
            let apart = random.pick(&[0, 0, 0x100, 0x9_0000]).unwrap_or(0);
            let first = random.below(2) as usize;
            let base: [u64; 2] = [low, low + sizes[first] + apart];
            let window = |at: usize| Window { base: base[at ^ first], size: sizes[at] };
            self.windows = [window(0), window(1)];
            let [shared, local] = self.windows.map(|Window { base, size }| {
                Some(WindowJson { base: Hex64(base), size: Hex64(size) })
            });
            (self.initial.windows.shared, self.initial.windows.local) = (shared, local);
        }
    }

    /// Draws a size of memory: a few accesses, or one for each lane, and sometimes a part of one.
    fn some_size(&mut self, is_large: bool) -> u64 {
        let bytes = u64::from(self.size.bytes());
        let random = &mut self.random;
        let whole = if is_large && random.one_in(4) { 32 } else { 1 + random.below(4) };
        bytes * whole + if random.one_in(3) { random.below(bytes) } else { 0 }
    }

    fn some_bytes(&mut self, count: u64) -> Option<HexBytes> {
        Some(HexBytes((0..count).map(|_| self.random.next() as u8).collect()))
    }

    /// Draws a few small allocations: of the load's memory, and sometimes of others, which an emulator may take for it.
    fn draw_memory(&mut self) {
        let (space, [shared_window, local_window]) = (self.parts().space, self.windows);
        let is_generic = matches!(space, MemorySpace::Generic { .. });
        let is_global = is_generic || space == MemorySpace::Global;
        let base = |window: Window| if is_generic { window.base } else { 0 };
        for _ in 0..self.some_of(is_global, 3) {
            self.draw_allocation(is_global);
        }
        let is_shared = is_generic || space == MemorySpace::Shared;
        if self.some_of(is_shared, 1) > 0 {
            let size = self.some_size(true).min(shared_window.size);
            let hex = self.some_bytes(size);
            self.initial.memory.shared = Some(SharedJson { hex, ..SharedJson::default() });
            self.add(is_shared, base(shared_window), size);
        }
        let is_local = is_generic || space == MemorySpace::Local;
        if self.some_of(is_local, 1) > 0 {
            let window = local_window.size;
            let mut low = self.some_size(false).min(window);
            let mut high = if self.random.one_in(3) { 0 } else { self.some_size(false) };
            if window < 128 && self.random.one_in(2) {
                // The parts touch, often within an access.
                low = 1 + self.random.below(window - 1);
                high = window;
            }
            high = high.min(window - low);
            let [low_hex, hex] = [low, high].map(|size| self.some_bytes(LANES as u64 * size));
            let bytes_per_lane = Some(high as usize);
            let part = HighJson { bytes_per_lane, hex, ..HighJson::default() };
            self.initial.memory.local = Some(LocalJson {
                bytes_per_lane: Some(low as usize),
                hex: low_hex,
                high: (high > 0).then_some(part),
                ..LocalJson::default()
            });
            self.add(is_local, base(local_window), low);
            self.add(is_local, base(local_window).wrapping_add(window - high), high);
        }
        let MemorySpace::Constant { bank, .. } = space else { return };
        let size = if self.random.one_in(12) { 0 } else { self.some_size(true) };
        let other = if self.random.one_in(8) { 1 } else { 0 };
        let hex = self.some_bytes(size);
        let bank = Some(u64::from(bank.get() + other) % 32);
        self.initial.memory.constant.push(ConstantJson { bank, hex, ..ConstantJson::default() });
        self.add(true, 0, size);
    }

    /// Draws the number of allocations of a memory.
    fn some_of(&mut self, is_read: bool, most: u64) -> u64 {
        let is_there = if is_read { !self.random.one_in(12) } else { self.random.one_in(6) };
        if is_there { 1 + self.random.below(most) } else { 0 }
    }

    fn add(&mut self, is_read: bool, base: u64, size: u64) {
        if is_read && size > 0 {
            self.allocations.push((base, base.wrapping_add(size)));
        }
    }

    /// Draws an allocation of global memory: behind the last one, or beside a power of two.
    fn draw_allocation(&mut self, is_read: bool) {
        let size = self.some_size(true);
        let address = self.parts().address;
        let is_wide = address.extended || address.uniform.is_some_and(|uniform| uniform.extended);
        let bits = if is_wide { self.address_bits } else { 32 };
        let (random, before) = (&mut self.random, self.allocations.last());
        let base = match (random.below(12), before) {
            (0..6, Some((_, end))) => {
                end.wrapping_add(if random.one_in(3) { random.below(64) } else { 0 })
            }
            (6, _) => (u64::MAX >> (64 - bits)) - (size - 1),
            _ => {
                let place = 1u64 << (9 + random.below(u64::from(bits) - 9));
                let odd = if random.one_in(3) { random.below(16) } else { 0 };
                place - 128 + 16 * random.below(16) + odd
            }
        };
        let hex = self.some_bytes(size);
        let base_json = Some(Hex64(base));
        self.initial.memory.global.push(GlobalJson { base: base_json, hex, ..Default::default() });
        self.add(is_read, base, size);
    }

    /// Draws the lanes: who executes, and from which address.
    fn draw_lanes(&mut self) -> Option<()> {
        let active = if self.random.one_in(3) { self.some_mask() } else { u32::MAX };
        self.initial.active = (active != u32::MAX).then_some(Hex32(active));
        let addresses = self.draw_addresses();
        self.draw_bases(&addresses)?;
        self.draw_destinations();
        let guarded = self.some_mask();
        let parts = self.parts();
        let mut predicates = Vec::new();
        if parts.is_guard_uniform {
            let named = UniformPredicateName(parts.guard.pred);
            let is_set = !parts.guard.pred.is_true();
            let map = is_set.then(|| UniqueMap(vec![(named, guarded & 1 != 0)]));
            self.initial.uniform_predicates = map;
        } else {
            predicates.push((parts.guard.pred, guarded));
        }
        if let MemorySpace::Generic { plg: Some(plg) } = parts.space {
            let shared = self.windows[0];
            // True where the address is not in the shared window, so that the lane may load.
            let is_right = |lane: usize| addresses[lane].wrapping_sub(shared.base) >= shared.size;
            let right = LaneMask::from_fn(is_right).bits();
            let mask = if self.random.one_in(3) { self.some_mask() } else { right };
            predicates.retain(|(pred, _): &(Pred, u32)| *pred != plg);
            predicates.push((plg, mask));
        }
        predicates.retain(|(pred, _)| !pred.is_true());
        let named = predicates.into_iter().map(|(pred, mask)| (PredicateName(pred), Hex32(mask)));
        self.initial.predicates = unless_empty(named);
        Some(())
    }

    fn some_mask(&mut self) -> u32 {
        let random = &mut self.random;
        match random.below(4) {
            0 => u32::MAX,
            1 => 1 << random.below(32),
            2 if random.one_in(2) => 0,
            _ => random.next() as u32,
        }
    }

    /// Draws an aligned address in an extent, if it has one.
    fn inside(&mut self, (start, end): Extent) -> u64 {
        let bytes = u64::from(self.size.bytes());
        let first = start.wrapping_add(bytes - 1) & !(bytes - 1);
        first.wrapping_add(bytes * self.random.below(end.wrapping_sub(first) / bytes))
    }

    /// Draws an address at an end of an extent: of the access on one side of it, or of one across it.
    fn edge(&mut self, (start, end): Extent) -> u64 {
        let bytes = u64::from(self.size.bytes());
        let end = self.random.pick(&[start, end]).unwrap_or(end);
        let before = if self.random.one_in(2) { bytes } else { 0 };
        let across = if self.random.one_in(3) { self.random.below(bytes) } else { 0 };
        end.wrapping_sub(before).wrapping_add(across)
    }

    /// Draws the address of each lane: all in one place, side by side, or anywhere in the memories; and a misaligned
    /// one, or one at an edge or outside, in all lanes, one lane or no lane.
    fn draw_addresses(&mut self) -> [u64; LANES] {
        let mut extents = self.allocations.clone();
        let mut edges = extents.clone();
        let widths = [self.address_bits, default_address_bits(self.load.sm())];
        edges.extend(widths.map(|bits| 1u64.checked_shl(bits).unwrap_or(0)).map(|end| (end, end)));
        if matches!(self.parts().space, MemorySpace::Generic { .. }) {
            edges.extend(
                self.windows.map(|window| (window.base, window.base.wrapping_add(window.size))),
            );
        }
        if extents.is_empty() {
            extents.clone_from(&edges);
        }
        let bytes = u64::from(self.size.bytes());
        let main = self.random.pick(&extents).unwrap_or((0, 0));
        let place = if self.random.one_in(2) { self.inside(main) } else { self.edge(main) };
        let start = main.0.wrapping_add(bytes - 1) & !(bytes - 1);
        let (pattern, faults) = (self.random.below(8), self.random.below(8));
        let odd_lane = self.random.below(LANES as u64) as usize;
        std::array::from_fn(|lane| {
            let is_odd = match faults {
                0..4 => false,
                4 | 5 => lane == odd_lane,
                _ => self.random.one_in(2),
            };
            if is_odd {
                let extent = self.random.pick(&extents).unwrap_or(main);
                let edge = self.random.pick(&edges).unwrap_or(main);
                return match self.random.below(8) {
                    0..4 => self.inside(extent).wrapping_add(self.random.below(bytes)),
                    4..7 => self.edge(edge),
                    _ => self.random.next() >> self.random.below(64),
                };
            }
            match pattern {
                0 | 1 => place,
                // Equal after rounding, if the place is aligned.
                2 => place.wrapping_add(self.random.below(bytes)),
                3 | 4 => start.wrapping_add(bytes * lane as u64),
                5 | 6 => self.inside(main),
                _ => {
                    let extent = self.random.pick(&extents).unwrap_or(main);
                    self.inside(extent)
                }
            }
        })
    }

    /// Draws the offset, and sets the registers of the address so that the sums are the lanes' addresses.
    fn draw_bases(&mut self, addresses: &[u64; LANES]) -> Option<()> {
        let limit = self.initial.register_limit.unwrap_or(255);
        let LoadParts { address, .. } = self.parts();
        let has_base = !address.base.is_zero() && u64::from(address.base.number()) < limit;
        let uniform = address.uniform.filter(|uniform| !uniform.register.is_zero());
        let offset = self.draw_offset(has_base || uniform.is_some(), addresses[0]);
        self.load = self.load.with_offset(offset).unwrap_or(self.load);
        self.parts().size.ok()?;
        let LoadParts { address, uniform_registers: uniform_none, .. } = self.parts();
        let offset = match address.offset {
            Offset::ByBase { unsigned, .. } if !has_base => u64::from(unsigned),
            offset => i64::from(offset.signed()) as u64,
        };
        let rest = addresses.map(|address| address.wrapping_sub(offset));
        let random = &mut self.random;
        let mut added = 0;
        if let Some(uniform) = uniform {
            let high = if random.one_in(4) { 0x8000_0000 } else { 0 };
            let index = if has_base { high + 16 * random.below(64) } else { 0 };
            let value = rest[0].wrapping_sub(index);
            let number = uniform.register.number();
            added = if uniform.extended { value } else { u64::from(value as u32) };
            self.uniform_registers.insert(number, value as u32);
            if uniform.extended && number < 254 {
                self.uniform_registers.insert(number + 1, (value >> 32) as u32);
            }
        } else if self.load.field(Slot::Descriptor) == Some(1) {
            // Not part of the address.
            let number = self.load.field(Slot::UniformBase).unwrap_or(0) as u8;
            if number < uniform_none {
                self.uniform_registers.insert(number, random.next() as u32);
            }
        }
        let base = address.base.number();
        if base == 255 {
            return Some(());
        }
        let values = rest.map(|rest| rest.wrapping_sub(added));
        let low = values.map(|value| match address.extended {
            true => value as u32,
            false => value as u32 >> address.scale(),
        });
        self.registers.insert(base, low);
        // Of an address of 32 bits, the next register is no part.
        let is_stale = !address.extended && random.one_in(3);
        if base < 254 && (address.extended || is_stale) {
            let high = values.map(|value| if is_stale { 7 } else { (value >> 32) as u32 });
            self.registers.insert(base + 1, high);
        }
        Some(())
    }

    /// Draws the offset. Without a base, it is mostly the `address` itself.
    fn draw_offset(&mut self, has_base: bool, address: u64) -> i64 {
        let is_offset = |field: &warpload_encoding::FieldReading| field.slot() == Slot::Offset;
        let width: u32 =
            self.load.describe().filter(is_offset).map(|field| field.field().width()).sum();
        let random = &mut self.random;
        if !has_base && !random.one_in(8) {
            return address as i64;
        }
        let end = 1i64 << (width.clamp(1, 40) - 1);
        match random.below(8) {
            0 | 1 => 0,
            2 | 3 => 32 * random.below(16) as i64,
            4 => random.below(64) as i64,
            5 => -(random.below(64) as i64),
            6 => random.pick(&[-end, end - 1, end - 32]).unwrap_or(0),
            _ => (random.next() % (2 * end as u64)) as i64 - end,
        }
    }

    /// Fills the destination, so that zeros and registers that the load leaves unchanged are visible.
    fn draw_destinations(&mut self) {
        let parts = self.parts();
        for (first, count) in destinations(&parts, self.size) {
            for number in (first..first + count).filter(|number| *number < 255) {
                let (number, value) = (number as u8, 0xa5a5_a5a0 | self.random.next() as u32);
                if fills_uniform(&parts) {
                    self.uniform_registers.entry(number).or_insert(value);
                } else {
                    self.registers.entry(number).or_insert([value; LANES]);
                }
            }
        }
    }
}

fn unless_empty<K, V>(entries: impl Iterator<Item = (K, V)>) -> Option<UniqueMap<K, V>> {
    let entries: Vec<(K, V)> = entries.collect();
    (!entries.is_empty()).then_some(UniqueMap(entries))
}

/// The reason why no vector could be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The SM has no such load, or it is not one that a vector executes.
    #[error("no load {name:?} of sm_{sm} that a vector executes")]
    UnknownInstruction {
        /// The name that was given.
        name: String,
        /// The SM.
        sm: Sm,
    },
    /// No draw shows all of the flags; some never occur together, or in this instruction.
    #[error("no {instruction} of sm_{sm} with `{}` in {draws} draws", flags.join("`, `"))]
    NotFound {
        /// The instruction.
        instruction: &'static str,
        /// Its SM.
        sm: Sm,
        /// The flags.
        flags: Vec<&'static str>,
        /// The number of draws.
        draws: u64,
    },
    /// The fast executor disagrees with the literal one.
    #[error("{id}: the executors differ")]
    ExecutorsDiffer {
        /// The case.
        id: String,
    },
}
