//! [`Emulator`]: a third executor of loads, in steps that mutants replace. It shares only the decoder with the other
//! two.

use std::collections::BTreeMap;

use warpload::encoding::{
    LoadDestination, LoadParts, LoadSize, MemorySpace, Offset, Reg, Size, UniformReg,
};
use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::ByFaultKind;
use warpload::machine::Misaligned;
use warpload::memory::Space;
use warpload_suite::vector::{Final, Vector};

/// A load with the state before it.
pub(super) struct Load {
    pub(super) vector: Vector,
    pub(super) parts: LoadParts,
    pub(super) size: LoadSize,
    pub(super) bytes: u64,
    pub(super) sm: u32,
    /// The outcome of the correct emulator.
    pub(super) right: Final,
}

/// A warp fault by its name, `misaligned` or not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    Misaligned,
    OutOfRange,
}

/// The access of one lane.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub(super) address: u64,
    pub(super) rounded: u64,
    /// `None` outside of a window.
    pub(super) space: Option<Space>,
    /// `None` if not all bytes are allocated.
    pub(super) words: Option<[u32; 8]>,
}

/// A part of the bytes of a memory: the offset of the first one, and the bytes.
pub(super) type Block<'l> = (u64, &'l [u8]);

/// Reads `bytes` bytes from the blocks of a memory, if all of them are allocated.
type ReadBlocks = fn(&[Block<'_>], Space, offset: u64, bytes: u64) -> Option<[u8; 32]>;

/// The steps of a load.
#[derive(Clone)]
pub(super) struct Emulator {
    pub(super) executes: fn(&Load, lane: usize) -> bool,
    /// Whether rules are checked even if no lane executes.
    pub(super) checks_first: bool,
    /// The broken register rules. The first one is the fault.
    pub(super) rules: fn(&Load) -> Vec<Rule>,
    /// The value of a general register as part of an address.
    pub(super) register: fn(&Load, number: u8, lane: usize) -> u32,
    pub(super) uniform_register: fn(&Load, number: u8) -> u32,
    /// The summand from Ra; `None` without a base.
    pub(super) base: fn(&Emulator, &Load, lane: usize) -> Option<u64>,
    /// The summand from the uniform register.
    pub(super) uniform: fn(&Emulator, &Load) -> u64,
    pub(super) offset: fn(&Load, has_base: bool) -> i64,
    pub(super) sum: fn(&Load, base: u64, uniform: u64, offset: i64) -> u64,
    pub(super) round: fn(&Load, u64) -> u64,
    /// The memory of an address, and the offset into it.
    pub(super) place: fn(&Load, lane: usize, u64) -> Option<(Space, u64)>,
    /// The blocks of a memory, lowest first.
    pub(super) blocks: for<'l> fn(&'l Load, Space, lane: usize) -> Vec<Block<'l>>,
    pub(super) read: ReadBlocks,
    pub(super) words: fn(&Load, [u8; 32]) -> [u32; 8],
    /// The words of a lane outside the allocations.
    pub(super) outside: fn(&Load) -> Option<[u32; 8]>,
    pub(super) is_broadcast: fn(&Load, &[Access]) -> bool,
    /// The row and the column of each of the two elements that a lane gets of a matrix.
    pub(super) elements: fn(transposed: bool, lane: usize) -> [(usize, usize); 2],
    /// The register of each word.
    pub(super) registers: fn(&Load) -> Vec<u8>,
    /// Changes the outcome of the load.
    pub(super) finish: fn(&Load, &[Access], &mut Final),
}

pub(super) const RIGHT: Emulator = Emulator {
    executes,
    checks_first: false,
    rules,
    register: |load, number, lane| load.vector.warp.register(Reg::new(number))[lane],
    uniform_register: |load, number| load.vector.warp.uniform_register(UniformReg::new(number)),
    base,
    uniform,
    offset,
    sum,
    round: |load, address| address / load.bytes * load.bytes,
    place,
    blocks,
    read,
    words,
    outside: |_| Some([0; 8]),
    is_broadcast,
    elements: |transposed, lane| {
        let (one, two) = (lane / 4, 2 * (lane % 4));
        if transposed { [(two, one), (two + 1, one)] } else { [(one, two), (one, two + 1)] }
    },
    registers,
    finish: |_, _, _| {},
};

impl Load {
    pub(super) fn new(vector: Vector) -> Self {
        let parts = vector.instruction.parts();
        let size = parts.size.expect("a case that is executed");
        let sm = vector.instruction.sm().number();
        let right = Final::default();
        let mut load = Self { parts, size, bytes: size.bytes().into(), sm, right, vector };
        load.right = RIGHT.execute(&load);
        load
    }

    pub(super) fn limit(&self) -> u8 {
        self.vector.machine.register_limit.get()
    }

    pub(super) fn has_base(&self) -> bool {
        let base = self.parts.address.base.number();
        base != 255 && base < self.limit()
    }

    pub(super) fn fills_uniform(&self) -> bool {
        matches!(
            self.parts.destination,
            LoadDestination::Uniform(_) | LoadDestination::UniformHalves { .. }
        )
    }

    pub(super) fn is_matrix(&self) -> bool {
        matches!(self.size, LoadSize::Matrices { .. })
    }

    pub(super) fn is_wide(&self) -> bool {
        self.parts.address.extended || self.parts.address.uniform.is_some_and(|one| one.extended)
    }

    pub(super) fn is_signed(&self) -> bool {
        self.size.of_lane().is_some_and(Size::is_signed)
    }

    pub(super) fn is_uniform(&self) -> bool {
        self.size.of_lane().is_some_and(Size::is_uniform)
    }

    /// The windows: the base and the end of the shared and of the local one.
    pub(super) fn windows(&self) -> [(u64, u64); 2] {
        let map = self.vector.machine.memory.map();
        [map.shared(), map.local()].map(|window| (window.base, window.base + (window.size - 1)))
    }

    pub(super) fn plg(&self, lane: usize) -> Option<bool> {
        match self.parts.space {
            MemorySpace::Generic { plg } => Some(self.vector.warp.predicate(plg?).contains(lane)),
            _ => None,
        }
    }

    /// The groups of destination registers: first register and count.
    pub(super) fn groups(&self) -> Vec<(u8, u8)> {
        let count = self.size.registers() as u8;
        match self.parts.destination {
            LoadDestination::Registers(first) => vec![(first.number(), count)],
            LoadDestination::Halves { low, high } => vec![(low.number(), 4), (high.number(), 4)],
            LoadDestination::Uniform(first) => vec![(first.number(), count)],
            LoadDestination::UniformHalves { low, high } => {
                vec![(low.number(), 4), (high.number(), 4)]
            }
            _ => Vec::new(),
        }
    }
}

fn executes(load: &Load, lane: usize) -> bool {
    let (warp, guard) = (&load.vector.warp, load.parts.guard);
    let value = match load.parts.is_guard_uniform {
        true => warp.uniform_predicate(guard.pred),
        false => warp.predicate(guard.pred).contains(lane),
    };
    warp.active.contains(lane) && value != guard.negated
}

/// The broken rules of one group of registers with a limit.
pub(super) fn rules_of(first: u8, count: u8, limit: u8) -> Vec<Rule> {
    if first == 255 {
        return Vec::new();
    }
    let misaligned = (!first.is_multiple_of(count)).then_some(Rule::Misaligned);
    let out_of_range =
        (u32::from(first) + u32::from(count) > u32::from(limit)).then_some(Rule::OutOfRange);
    misaligned.into_iter().chain(out_of_range).collect()
}

/// The broken rules of the destination, of the pair of Ra, and of uniform registers.
pub(super) fn rules_by_operand(load: &Load) -> [Vec<Rule>; 3] {
    let (address, uniform_limit) = (&load.parts.address, load.parts.uniform_registers);
    let limit = if load.fills_uniform() { uniform_limit } else { load.limit() };
    let filled = load.groups().into_iter().flat_map(|(first, count)| rules_of(first, count, limit));
    let base = if address.extended && load.has_base() {
        rules_of(address.base.number(), 2, load.limit())
    } else {
        Vec::new()
    };
    let uniform = match address.uniform {
        Some(uniform) if uniform.extended && !uniform.register.is_zero() => {
            rules_of(uniform.register.number(), 2, uniform_limit)
        }
        _ => Vec::new(),
    };
    [filled.collect(), base, uniform]
}

fn rules(load: &Load) -> Vec<Rule> {
    rules_by_operand(load).concat()
}

fn base(emulator: &Emulator, load: &Load, lane: usize) -> Option<u64> {
    let address = &load.parts.address;
    if !load.has_base() {
        return None;
    }
    let number = address.base.number();
    let low = u64::from((emulator.register)(load, number, lane));
    let high = match address.extended {
        true => u64::from((emulator.register)(load, number + 1, lane)),
        false => 0,
    };
    Some((high << 32 | low) << address.scale())
}

fn uniform(emulator: &Emulator, load: &Load) -> u64 {
    let Some(uniform) = load.parts.address.uniform else { return 0 };
    if uniform.register.is_zero() {
        return 0;
    }
    let number = uniform.register.number();
    let low = u64::from((emulator.uniform_register)(load, number));
    let high = match uniform.extended {
        true => u64::from((emulator.uniform_register)(load, number + 1)),
        false => 0,
    };
    high << 32 | low
}

fn offset(load: &Load, has_base: bool) -> i64 {
    match load.parts.address.offset {
        Offset::ByBase { unsigned, .. } if !has_base => unsigned.into(),
        offset => offset.signed().into(),
    }
}

fn sum(load: &Load, base: u64, uniform: u64, offset: i64) -> u64 {
    let sum = base.wrapping_add(uniform).wrapping_add(offset as u64);
    if load.is_wide() { sum } else { sum & 0xffff_ffff }
}

fn place(load: &Load, lane: usize, address: u64) -> Option<(Space, u64)> {
    let space = match load.parts.space {
        MemorySpace::Generic { .. } => {
            let [shared, local] = load.windows();
            let is_in = |(base, last): (u64, u64)| base <= address && address <= last;
            let wants_shared = load.plg(lane).map_or(is_in(shared), |plg| !plg);
            return match (wants_shared, is_in(shared), is_in(local)) {
                (true, true, _) => Some((Space::Shared, address - shared.0)),
                (true, false, _) | (false, true, _) => None,
                (false, false, true) => Some((Space::Local, address - local.0)),
                (false, false, false) => {
                    let bits = load.vector.machine.memory.map().address_bits();
                    (address <= u64::MAX >> (64 - bits)).then_some((Space::Global, address))
                }
            };
        }
        MemorySpace::Local => Space::Local,
        MemorySpace::Shared => Space::Shared,
        MemorySpace::Constant { bank, .. } => Space::Constant { bank: bank.get() },
        _ => Space::Global,
    };
    Some((space, address))
}

fn blocks(load: &Load, space: Space, lane: usize) -> Vec<Block<'_>> {
    let memory = &load.vector.machine.memory;
    match space {
        Space::Global => {
            let known = memory.allocations().iter();
            known.map(|known| (known.base, memory.allocation_bytes(known))).collect()
        }
        Space::Shared => vec![(0, memory.shared_bytes())],
        Space::Local => {
            let high = memory.local_high_bytes(lane);
            let start = memory.map().local().size - high.len() as u64;
            vec![(0, memory.local_low_bytes(lane)), (start, high)]
        }
        Space::Constant { bank } => {
            memory.constant_bytes(bank).into_iter().map(|bytes| (0, bytes)).collect()
        }
    }
}

/// The byte at an offset, with the number of its block.
pub(super) fn byte(blocks: &[Block<'_>], offset: u64) -> Option<(usize, u8)> {
    blocks.iter().enumerate().find_map(|(number, (start, bytes))| {
        let at = usize::try_from(offset.checked_sub(*start)?).ok()?;
        Some((number, *bytes.get(at)?))
    })
}

fn read(blocks: &[Block<'_>], space: Space, offset: u64, bytes: u64) -> Option<[u8; 32]> {
    let (first, _) = byte(blocks, offset)?;
    let mut read = [0; 32];
    for (at, to) in (0..bytes).zip(&mut read) {
        let (block, byte) = byte(blocks, offset.checked_add(at)?)?;
        if block != first && space != Space::Local {
            return None;
        }
        *to = byte;
    }
    Some(read)
}

fn words(load: &Load, bytes: [u8; 32]) -> [u32; 8] {
    let mut words = std::array::from_fn(|word| {
        u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * word + byte]))
    });
    if load.is_signed() {
        let unread = 32 - 8 * load.bytes as u32;
        words[0] = ((words[0] << unread) as i32 >> unread) as u32;
    }
    words
}

fn is_broadcast(load: &Load, accesses: &[Access]) -> bool {
    let first = &accesses[0];
    load.is_uniform()
        && matches!(first.space, Some(Space::Global | Space::Shared))
        && accesses.iter().all(|access| {
            access.words.is_some() && access.rounded == first.rounded && access.space == first.space
        })
}

fn registers(load: &Load) -> Vec<u8> {
    let groups = load.groups().into_iter();
    groups
        .flat_map(|(first, count)| {
            (0..count).map(move |i| if first == 255 { 255 } else { first + i })
        })
        .collect()
}

impl Emulator {
    pub(super) fn execute(&self, load: &Load) -> Final {
        let mut after = Final { broadcast: Some(false), ..Final::default() };
        let lanes: Vec<usize> = (0..LANES).filter(|lane| (self.executes)(load, *lane)).collect();
        if lanes.is_empty() && !self.checks_first {
            return after;
        }
        if let Some(rule) = (self.rules)(load).first() {
            after.fault = Some(match rule {
                Rule::Misaligned => "misaligned_register",
                Rule::OutOfRange => "out_of_range_register",
            });
            return after;
        }
        if lanes.is_empty() {
            return after;
        }
        let count = match load.size {
            LoadSize::Matrices { count, .. } => 8 * usize::from(count),
            _ if load.fills_uniform() => 1,
            _ => lanes.len(),
        };
        let accesses: Vec<Access> =
            lanes.iter().take(count).map(|lane| self.access(load, *lane)).collect();
        let mut faults: ByFaultKind<u32> = ByFaultKind::default();
        for (lane, access) in lanes.iter().zip(&accesses) {
            let marked = if load.fills_uniform() {
                lanes.iter().fold(0, |mask, lane| mask | 1u32 << lane)
            } else {
                1 << lane
            };
            let is_reporting = load.vector.machine.misaligned == Misaligned::Report;
            if is_reporting && access.address % load.bytes != 0 {
                faults.misaligned_address |= marked;
            }
            match (access.space, access.words) {
                (None, _) => faults.outside_window |= marked,
                (_, None) => faults.outside_allocation |= marked,
                _ => {}
            }
        }
        after.lane_faults = ByFaultKind {
            outside_window: LaneMask::from_bits(faults.outside_window),
            outside_allocation: LaneMask::from_bits(faults.outside_allocation),
            misaligned_address: LaneMask::from_bits(faults.misaligned_address),
        };
        self.write(load, &lanes, &accesses, &mut after);
        after.broadcast = Some((self.is_broadcast)(load, &accesses));
        (self.finish)(load, &accesses, &mut after);
        after
    }

    fn access(&self, load: &Load, lane: usize) -> Access {
        let base = (self.base)(self, load, lane);
        let offset = (self.offset)(load, base.is_some());
        let address = (self.sum)(load, base.unwrap_or(0), (self.uniform)(self, load), offset);
        let rounded = (self.round)(load, address);
        let placed = (self.place)(load, lane, rounded);
        let read = placed.and_then(|(space, offset)| {
            (self.read)(&(self.blocks)(load, space, lane), space, offset, load.bytes)
        });
        let words = read.map(|read| (self.words)(load, read));
        Access { address, rounded, space: placed.map(|(space, _)| space), words }
    }

    fn write(&self, load: &Load, lanes: &[usize], accesses: &[Access], after: &mut Final) {
        let registers = (self.registers)(load);
        let written = registers.into_iter().enumerate().filter(|(_, number)| *number != 255);
        if let LoadSize::Matrices { transposed, .. } = load.size {
            for (matrix, number) in written {
                let rows: Vec<[u32; 8]> = accesses[8 * matrix..8 * matrix + 8]
                    .iter()
                    .map(|access| access.words.unwrap_or_default())
                    .collect();
                let element = |(row, column): (usize, usize)| {
                    rows[row][column / 2] >> (16 * (column % 2)) & 0xffff
                };
                let values: LaneValues = std::array::from_fn(|lane| {
                    let [low, high] = (self.elements)(transposed, lane);
                    element(high) << 16 | element(low)
                });
                after.registers.insert(Reg::new(number), values);
            }
        } else if load.fills_uniform() {
            let words = accesses[0].words.or((self.outside)(load));
            for (word, number) in written {
                if let Some(words) = words {
                    after.uniform_registers.insert(UniformReg::new(number), words[word]);
                }
            }
        } else {
            let mut registers: BTreeMap<Reg, LaneValues> = BTreeMap::new();
            for (word, number) in written {
                let register = Reg::new(number);
                let held =
                    registers.entry(register).or_insert(*load.vector.warp.register(register));
                for (lane, access) in lanes.iter().zip(accesses) {
                    if let Some(words) = access.words.or((self.outside)(load)) {
                        held[*lane] = words[word];
                    }
                }
            }
            after.registers = registers;
        }
    }
}
