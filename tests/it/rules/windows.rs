//! Section 4, clause 5: Plg and the address select the window.

use warpload::load::{FaultCause, LaneFaultKind};
use warpload::machine::Machine;
use warpload::memory::{AddressMap, MemoryBuilder, OutsideWindow, Space, Window};

use crate::rules::{at, load, machine, with, word};

const BY_PLG: FaultCause = FaultCause::OutsideWindow(OutsideWindow::ByPredicate);
const BEYOND: FaultCause = FaultCause::OutsideWindow(OutsideWindow::BeyondAddressBits);

/// The memory that a byte load misses in, or the reason why it cannot access the address.
fn space(machine: &Machine, address: u64, plg: bool) -> Result<Space, FaultCause> {
    let loaded = load("LD.E.U8 R4, [R2], P0", machine, with(at(|_| address), 0, plg.into()));
    let fault = loaded.faults(0)[0];
    if fault.cause == FaultCause::OutsideAllocation {
        Ok(fault.space.unwrap())
    } else {
        assert_eq!(fault.space, None);
        Err(fault.cause)
    }
}

/// The first and the last byte of each part of the default space of 2^40 bytes: shared
/// 0xfe000000..0xff000000, local ..0x1_00000000.
const EDGES: [u64; 10] = [
    0,
    0xfdff_ffff,
    0xfe00_0000,
    0xfeff_ffff,
    0xff00_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0xff_ffff_ffff,
    0x100_0000_0000,
    u64::MAX,
];

#[test]
fn plg_true_reaches_local_and_global_memory() {
    let machine = Machine::default();
    let (global, local) = (Ok(Space::Global), Ok(Space::Local));
    assert_eq!(
        EDGES.map(|address| space(&machine, address, true)),
        [
            global,
            global,
            Err(BY_PLG),
            Err(BY_PLG),
            local,
            local,
            global,
            global,
            Err(BEYOND),
            Err(BEYOND)
        ]
    );
}

/// Addresses outside of the shared window are never shared, not even beyond 2^40.
#[test]
fn plg_false_reaches_shared_memory() {
    let machine = Machine::default();
    for address in EDGES {
        let expected = match address {
            0xfe00_0000..=0xfeff_ffff => Ok(Space::Shared),
            _ => Err(BY_PLG),
        };
        assert_eq!(space(&machine, address, false), expected, "{address:#x}");
    }
}

#[test]
fn pt_is_plg_true() {
    let loaded = load("LD R4, [R2]", &machine(), at(|_| 0x1000));
    assert_eq!(loaded.register(4, 0), word(0));
    let loaded = load("LD R4, [R2]", &machine(), at(|_| 0xfe00_0000));
    assert_eq!(loaded.causes(0), [BY_PLG]);
}

/// Lanes 0, 1 and 2 in global, shared and local memory; lane 3 outside, because its Plg is wrong.
#[test]
fn plg_is_read_lane_by_lane() {
    let address = |lane| [0x1004, 0xfe00_0004, 0xff00_0004, 0xfe00_0004][lane % 4];
    let loaded = load("LD R4, [R2], P5", &machine(), with(at(address), 5, 0xdddd_dddd));
    assert_eq!(loaded.registers::<1>(4, 4), [word(4)]);
    assert_eq!(loaded.registers::<1>(4, 5), [word(0x44)]);
    assert_eq!(loaded.registers::<1>(4, 6), [word(6 * 7 + 4)]);
    assert_eq!(loaded.registers::<1>(4, 7), [0]);
    assert_eq!(loaded.faulting(LaneFaultKind::OutsideWindow), 0x8888_8888);
}

/// The guard and Plg are different predicates.
#[test]
fn plg_does_not_guard() {
    let loaded = load("LD R4, [R2], P0", &machine(), with(at(|_| 0x1000), 0, 0));
    assert_eq!(loaded.outcome.executing.bits(), u32::MAX);
    assert_eq!(loaded.faulting(LaneFaultKind::OutsideWindow), u32::MAX);
}

#[test]
fn address_bits_bound_global_memory() {
    for bits in [32, 33, 40, 49, 63] {
        let map = AddressMap::new(bits, Window::DEFAULT_SHARED, Window::DEFAULT_LOCAL).unwrap();
        let machine = Machine::new(MemoryBuilder::new(map).build().unwrap());
        assert_eq!(space(&machine, 1 << bits, true), Err(BEYOND), "{bits}");
        let below = if bits == 32 { Space::Local } else { Space::Global };
        assert_eq!(space(&machine, (1 << bits) - 1, true), Ok(below), "{bits}");
    }
}

/// 2^64 - 1 is an address as any other, and an allocation may end with it.
#[test]
fn with_64_address_bits_nothing_is_beyond() {
    let map = AddressMap::new(64, Window::DEFAULT_SHARED, Window::DEFAULT_LOCAL).unwrap();
    let memory = MemoryBuilder::new(map).global(u64::MAX - 0x10, &crate::rules::bytes(0, 0x11));
    let machine = Machine::new(memory.build().unwrap());
    assert_eq!(space(&machine, u64::MAX - 0x11, true), Ok(Space::Global));
    let loaded = load("LD.E.128 R4, [R2]", &machine, at(|_| u64::MAX));
    assert!(loaded.is_clean());
    assert_eq!(loaded.registers(4, 0), [word(1), word(5), word(9), word(13)]);
    // The allocation's one byte before that.
    let loaded = load("LD.E.U8 R4, [R2]", &machine, at(|_| u64::MAX - 0x10));
    assert!(loaded.is_clean());
    let loaded = load("LD.E.U16 R4, [R2]", &machine, at(|_| u64::MAX - 0x10));
    assert_eq!(loaded.faulting(LaneFaultKind::OutsideAllocation), u32::MAX);
}

/// Shared 0..0x20, local the last 0x20 bytes of 2^64; the rest between them is global.
#[test]
fn windows_may_lie_at_both_ends() {
    let shared = Window { base: 0, size: 0x20 };
    let local = Window { base: 0xffff_ffff_ffff_ffe0, size: 0x20 };
    let map = AddressMap::new(64, shared, local).unwrap();
    let memory = MemoryBuilder::new(map)
        .shared(&crate::rules::bytes(0, 0x20))
        .local_high(0x10, &crate::rules::lane_bytes(0, 0x10));
    let machine = Machine::new(memory.build().unwrap());
    let loaded = load("LD.E.128 R4, [R2], P0", &machine, at(|_| 0x1f));
    assert_eq!(loaded.registers(4, 0), [word(0x10), word(0x14), word(0x18), word(0x1c)]);
    let loaded = load("LD.E.64 R4, [R2], PT", &machine, at(|_| u64::MAX));
    assert_eq!(loaded.registers(4, 3), [word(8 + 21), word(12 + 21)]);
    assert_eq!(space(&machine, 0x20, true), Ok(Space::Global));
    assert_eq!(space(&machine, local.base - 1, true), Ok(Space::Global));
    assert_eq!(space(&machine, local.base, true), Ok(Space::Local));
    assert_eq!(space(&machine, 0x1f, true), Err(BY_PLG));
}
