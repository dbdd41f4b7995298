//! Random loads on a random machine: the instruction and the warp.

use warpload::encoding::{ConstantMode, Instruction, Pred, Reg, Size, Slot, Sm};
use warpload::lane::{LANES, LaneMask};
use warpload::machine::Machine;
use warpload::memory::{AddressSpace, GenericAddress};
use warpload::warp::Warp;

use crate::executors::addresses::addresses;
use crate::executors::choices::{Choices, Random};
use crate::executors::machines::{BANKS, machine};

/// A load, its machine and the state of its warp.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) machine: Machine,
    pub(crate) instruction: Instruction,
    pub(crate) warp: Warp,
}

/// The most numbers that decide about a case.
pub(crate) const NUMBERS: usize = 256;

/// The mnemonic of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opcode {
    Ld,
    Ldg,
    Ldl,
    Lds,
    Ldc,
}

/// The loads that name their memory.
pub(crate) const SIBLINGS: &[Opcode] = &[Opcode::Ldg, Opcode::Ldl, Opcode::Lds, Opcode::Ldc];

impl Opcode {
    /// The number of sizes; higher numbers encode none.
    fn sizes(self) -> u64 {
        match self {
            Self::Ld | Self::Ldg => 8,
            Self::Ldl | Self::Lds => 7,
            Self::Ldc => 6,
        }
    }

    fn immediate_bits(self) -> u32 {
        match self {
            Self::Ld => 32,
            Self::Ldg | Self::Ldl | Self::Lds => 24,
            Self::Ldc => 16,
        }
    }
}

impl Case {
    /// A load with one of these opcodes.
    pub(crate) fn new(numbers: &[u64], opcodes: &[Opcode]) -> Self {
        let choices = &mut Choices::new(numbers);
        let machine = machine(choices);
        let opcode = choices.pick(opcodes);
        let mut fields = Fields::new(choices, opcode, &machine);
        let mut warp = warp(choices);
        let addresses = addresses(choices, &machine, fields.space(), fields.size.bytes());
        aim(&mut fields, &mut warp, &machine, &addresses);
        if opcode == Opcode::Ld {
            let plg = plg(choices, &machine, &fields, &addresses);
            warp.set_predicate(fields.plg, plg);
        }
        warp.active = mask(choices);
        Self { machine, instruction: fields.instruction(choices), warp }
    }
}

pub(crate) fn mask(choices: &mut Choices<'_>) -> LaneMask {
    match choices.below(12) {
        0..7 => LaneMask::ALL,
        7 => LaneMask::from_bits(1 << choices.below(32)),
        8 => LaneMask::NONE,
        _ => LaneMask::from_bits(choices.word() as u32),
    }
}

pub(crate) fn warp(choices: &mut Choices<'_>) -> Warp {
    let mut random = Random(choices.word());
    let mut warp = Warp::new();
    for register in 0..=254 {
        warp.set_register(Reg::new(register), [random.word() as u32; LANES]);
    }
    for predicate in 0..7 {
        warp.set_predicate(Pred::try_from(predicate).unwrap(), mask(choices));
    }
    warp
}

/// The fields of an instruction of any opcode.
struct Fields {
    opcode: Opcode,
    plg: Pred,
    /// For a number that encodes no size, the size that it would be in order.
    size: Size,
    extended: bool,
    uniform: bool,
    bank: u8,
    mode: ConstantMode,
    immediate: u32,
    guard: Pred,
    guard_negated: bool,
    base: Reg,
    destination: Reg,
}

impl Fields {
    fn new(choices: &mut Choices<'_>, opcode: Opcode, machine: &Machine) -> Self {
        let size = match opcode {
            Opcode::Ld | Opcode::Ldg if choices.one_in(3) => Size::U128,
            Opcode::Ldl | Opcode::Lds | Opcode::Ldc if choices.one_in(24) => {
                // A size that the opcode lacks.
                let sizes = opcode.sizes();
                Size::ALL[(sizes + choices.below(8 - sizes)) as usize]
            }
            _ => Size::ALL[choices.below(opcode.sizes()) as usize],
        };
        let limit = u64::from(machine.register_limit.get());
        let extended = choices.below(3) > 0 && matches!(opcode, Opcode::Ld | Opcode::Ldg);
        let base = match choices.below(12) {
            0 => 255,
            1 => choices.below(256),
            2 => limit - choices.below(3).min(limit),
            3 => choices.below(limit),
            _ => 2 * choices.below((limit.min(16) / 2).max(1)),
        };
        let count = u64::from(size.registers());
        let destination = match choices.below(12) {
            0 => 255,
            1 => choices.below(256),
            2 => (limit.max(count) - count) & !(count - 1),
            3 => limit & !(count - 1),
            // A destination that overlaps the base.
            4..7 => base & !(count - 1),
            _ => count * choices.below((limit.min(24) / count).max(1)),
        };
        let immediate = match choices.below(5) {
            0 => 0,
            1 => choices.below(64) as u32,
            2 => (choices.below(64) as u32).wrapping_neg(),
            _ => choices.word() as u32,
        };
        let (guard, guard_negated) = match choices.below(8) {
            0..5 => (Pred::PT, false),
            5 => (Pred::PT, choices.one_in(4)),
            _ => (Pred::try_from(choices.below(7) as u8).unwrap(), choices.one_in(2)),
        };
        let plg = choices.pick(&[Pred::PT, Pred::P0, Pred::P1, Pred::P6]);
        let is_constant = opcode == Opcode::Ldc;
        let is_indexed = is_constant && choices.one_in(24);
        let any_bank = choices.below(32) as u8;
        Self {
            opcode,
            plg,
            size,
            extended,
            uniform: opcode == Opcode::Lds && choices.one_in(2),
            bank: if choices.one_in(12) { any_bank } else { choices.pick(&BANKS) },
            mode: if is_indexed { choices.pick(&ConstantMode::ALL) } else { ConstantMode::Direct },
            immediate,
            guard,
            guard_negated,
            base: Reg::new(base as u8),
            destination: Reg::new(destination as u8),
        }
    }

    fn space(&self) -> AddressSpace {
        match self.opcode {
            Opcode::Ld => AddressSpace::Generic,
            Opcode::Ldg => AddressSpace::Global,
            Opcode::Ldl => AddressSpace::Local,
            Opcode::Lds => AddressSpace::Shared,
            Opcode::Ldc => AddressSpace::Constant { bank: self.bank },
        }
    }

    /// The immediate, sign-extended.
    fn offset(&self) -> i32 {
        let unused = 32 - self.opcode.immediate_bits();
        (self.immediate << unused) as i32 >> unused
    }

    /// The instruction, with random numbers in the bits that are not read.
    fn instruction(&self, choices: &mut Choices<'_>) -> Instruction {
        let &Self { plg, size, extended, uniform, mode, .. } = self;
        let &Self { guard, guard_negated, base, destination, .. } = self;
        let reserved = if choices.one_in(2) { choices.word() } else { 0 };
        let cache = choices.below(4);
        let mnemonic = match self.opcode {
            Opcode::Ld => "LD",
            Opcode::Ldg => "LDG",
            Opcode::Ldl => "LDL",
            Opcode::Lds => "LDS",
            Opcode::Ldc => "LDC",
        };
        let blank = Instruction::new(mnemonic, Sm::SPA5).unwrap();
        let word = blank.describe().fold(blank.bits(), |word, reading| {
            let number = match reading.slot() {
                Slot::PredicateIn => plg.number().into(),
                Slot::Cache => cache,
                Slot::Size => size as u64,
                Slot::Extended => extended.into(),
                Slot::UniformHint => uniform.into(),
                Slot::Mode => mode as u64,
                Slot::Bank => self.bank.into(),
                Slot::Offset => self.immediate.into(),
                Slot::Reserved if reading.field().low() == 41 => reserved >> 8,
                Slot::Reserved => reserved,
                Slot::Guard => guard.number().into(),
                Slot::GuardNegated => guard_negated.into(),
                Slot::Base => base.number().into(),
                Slot::Destination => destination.number().into(),
                _ => return word,
            };
            reading.field().with(word, number)
        });
        Instruction::decode(word as u64, Sm::SPA5).load().unwrap()
    }
}

/// Sets the registers so that the lanes get these addresses, as far as the load can form them.
fn aim(fields: &mut Fields, warp: &mut Warp, machine: &Machine, addresses: &[u64; LANES]) {
    if fields.base.number() >= machine.register_limit.get() {
        let bits = fields.opcode.immediate_bits();
        fields.immediate = (addresses[0] & ((1 << bits) - 1)) as u32;
    }
    let offset = fields.offset() as u64;
    let bases = addresses.map(|address| address.wrapping_sub(offset));
    warp.set_register(fields.base, bases.map(|base| base as u32));
    if fields.extended && !fields.base.is_zero() {
        let high = Reg::new(fields.base.number() + 1);
        warp.set_register(high, bases.map(|base| (base >> 32) as u32));
    }
}

/// The lanes with a true Plg: mostly the lanes outside of the shared window.
fn plg(
    choices: &mut Choices<'_>,
    machine: &Machine,
    fields: &Fields,
    addresses: &[u64; LANES],
) -> LaneMask {
    let shared = machine.memory.map().shared();
    let right = LaneMask::from_fn(|lane| {
        let address = GenericAddress(addresses[lane]).align_down(fields.size.into());
        shared.offset_of(address).is_none()
    });
    match choices.below(8) {
        0..5 => right,
        5 => !right,
        6 => right & LaneMask::from_bits(choices.word() as u32),
        _ => LaneMask::from_bits(choices.word() as u32),
    }
}
