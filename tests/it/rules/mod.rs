//! The rules of docs/ld.md sections 3 and 4, one test each, on both executors; `family` has the rules of the other
//! loads, docs/load-family.md section 3.
//!
//! Most loads here are made on one machine:
//!
//! | memory | generic addresses | offsets | byte at i from the first |
//! |---|---|---|---|
//! | global | 0x1000..0x1100 | | i |
//! | global, touching it | 0x1100..0x1121 | | 0xa0 + i |
//! | shared | 0xfe000000..0xfe000028 | 0..0x28 | 0x40 + i |
//! | local, low part | 0xff000000..0xff000022 | 0..0x22 | 7 * lane + i |
//! | local, high part | 0xffffffec..0x100000000 | 0xffffec..0x1000000 | 7 * lane + 0x80 + i |
//! | constant bank 0 | | 0..0x48 | 0xc0 + i |
//! | constant bank 3 | | 0..0x10000 | i |
//! | constant bank 31 | | 0..6 | 0x30 + i |
//!
//! Constant bank 5 exists and is empty; the others do not exist.

#![allow(clippy::unwrap_used)]

mod addresses;
mod allocations;
mod broadcast;
mod execution;
mod family;
mod faults;
mod registers;
mod values;
mod windows;

use warpload::encoding::{Instruction, Pred, Reg, Sm};
use warpload::lane::{LANES, LaneMask};
use warpload::load::{FaultCause, LaneFault, LaneFaultKind, Outcome, execute, reference};
use warpload::machine::{Machine, Misaligned, RegisterLimit};
use warpload::memory::{AddressMap, MemoryBuilder};
use warpload::warp::Warp;

/// `count` bytes, ascending from `first` and around.
fn bytes(first: u8, count: usize) -> Vec<u8> {
    (0..count).map(|i| first.wrapping_add(i as u8)).collect()
}

/// `count` ascending bytes for each lane, lane n's from 7n + `first` on.
fn lane_bytes(first: u8, count: usize) -> Vec<u8> {
    (0..LANES as u8).flat_map(|lane| bytes(first.wrapping_add(7 * lane), count)).collect()
}

/// The little-endian word of four bytes that ascend from `first`.
fn word(first: u8) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| first.wrapping_add(i as u8)))
}

/// The machine of the table above.
fn machine() -> Machine {
    Machine::new(
        MemoryBuilder::new(AddressMap::default())
            .global(0x1000, &bytes(0, 0x100))
            .global(0x1100, &bytes(0xa0, 0x21))
            .shared(&bytes(0x40, 0x28))
            .local_low(0x22, &lane_bytes(0, 0x22))
            .local_high(0x14, &lane_bytes(0x80, 0x14))
            .constant(0, &bytes(0xc0, 0x48))
            .constant(31, &bytes(0x30, 6))
            .constant(5, &[])
            .constant(3, &bytes(0, 0x1_0000))
            .build()
            .unwrap(),
    )
}

fn limited(register_limit: u64) -> Machine {
    Machine { register_limit: RegisterLimit::new(register_limit).unwrap(), ..machine() }
}

fn reporting() -> Machine {
    Machine { misaligned: Misaligned::Report, ..machine() }
}

/// The contents of every register but R2 and R3 before a load.
const BEFORE: u32 = 0xdead_beef;

/// A warp with an address in {R3, R2}, lane by lane.
fn at(address: impl Fn(usize) -> u64) -> Warp {
    let mut warp = Warp::new();
    for register in 0..=254 {
        warp.set_register(Reg::new(register), [BEFORE; LANES]);
    }
    warp.set_register(Reg::new(2), std::array::from_fn(|lane| address(lane) as u32));
    warp.set_register(Reg::new(3), std::array::from_fn(|lane| (address(lane) >> 32) as u32));
    warp
}

/// The same warp with a predicate that is true in `lanes`.
fn with(mut warp: Warp, predicate: u8, lanes: u32) -> Warp {
    warp.set_predicate(Pred::try_from(predicate).unwrap(), LaneMask::from_bits(lanes));
    warp
}

fn active(mut warp: Warp, lanes: u32) -> Warp {
    warp.active = LaneMask::from_bits(lanes);
    warp
}

/// A warp after a load, and the load's outcome.
struct Loaded {
    before: Warp,
    warp: Warp,
    outcome: Outcome,
}

/// Makes a load with both executors.
fn load(text: &str, machine: &Machine, before: Warp) -> Loaded {
    load_instruction(Instruction::parse(text, Sm::SPA5).unwrap(), machine, before)
}

fn load_instruction(instruction: Instruction, machine: &Machine, before: Warp) -> Loaded {
    let [fast, literal] = [execute, reference].map(|executor| {
        let mut warp = before.clone();
        let outcome = executor(&instruction, machine, &mut warp).unwrap();
        (warp, outcome)
    });
    assert_eq!(fast, literal, "{instruction}");
    let (warp, outcome) = literal;
    Loaded { before, warp, outcome }
}

impl Loaded {
    fn register(&self, number: u8, lane: usize) -> u32 {
        self.warp.register(Reg::new(number))[lane]
    }

    fn registers<const N: usize>(&self, first: u8, lane: usize) -> [u32; N] {
        std::array::from_fn(|i| self.register(first + i as u8, lane))
    }

    /// The lanes with a fault of that kind.
    fn faulting(&self, kind: LaneFaultKind) -> u32 {
        self.outcome.lane_faults.lanes(kind).bits()
    }

    /// The causes of a lane's faults.
    fn causes(&self, lane: usize) -> Vec<FaultCause> {
        self.faults(lane).iter().map(|fault| fault.cause).collect()
    }

    fn faults(&self, lane: usize) -> Vec<LaneFault> {
        self.outcome.lane_faults.iter().filter(|fault| fault.lane == lane).copied().collect()
    }

    /// Neither a lane nor the warp faults.
    fn is_clean(&self) -> bool {
        self.outcome.warp_fault.is_none() && self.outcome.lane_faults.is_empty()
    }

    /// The registers that differ from before in some lane.
    fn changed(&self) -> Vec<u8> {
        self.warp.changed_since(&self.before).map(Reg::number).collect()
    }
}
