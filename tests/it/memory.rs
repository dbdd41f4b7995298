//! Writing to memory between loads, and executing loads on a memory of one's own.

#![allow(clippy::unwrap_used)]

use warpload::encoding::{Instruction, Pred, Reg, Sm};
use warpload::lane::{LANES, LaneMask};
use warpload::load::{Executor, LaneFaultKind};
use warpload::machine::Machine;
use warpload::memory::{
    AddressMap, AddressSpace, ConfigError, FilledMemory, GenericAddress, LoadMemory, Memory,
    MemoryBuilder, Region, Space, Window, WriteError,
};
use warpload::warp::Warp;

#[test]
fn what_is_set_twice_is_refused() {
    let bytes = [0; LANES];
    let build = |set: fn(MemoryBuilder, &[u8]) -> MemoryBuilder| {
        set(set(Memory::builder(), &bytes), &bytes).build().unwrap_err()
    };
    assert_eq!(build(|builder, bytes| builder.shared(bytes)), ConfigError::SharedTwice);
    assert_eq!(build(|builder, bytes| builder.local_low(1, bytes)), ConfigError::LocalLowTwice);
    assert_eq!(build(|builder, bytes| builder.local_high(1, bytes)), ConfigError::LocalHighTwice);
}

/// Two adjacent allocations, shared memory, a bank, and local memory with adjacent parts.
fn memory() -> Memory {
    let local = Window { base: 0x4000, size: 32 };
    let map = AddressMap::new(32, Window::DEFAULT_SHARED, local).unwrap();
    MemoryBuilder::new(map)
        .global(0x1000, &[0; 8])
        .global(0x1008, &[0; 8])
        .shared(&[0; 16])
        .local_low(20, &[0; 20 * LANES])
        .local_high(12, &[0; 12 * LANES])
        .constant(2, &[0; 8])
        .build()
        .unwrap()
}

#[test]
fn bytes_are_written_where_loads_read_them() {
    let mut memory = memory();
    let generic = AddressSpace::Generic;
    memory.write(generic, GenericAddress(0x1004), &[1, 2, 3, 4]).unwrap();
    memory.write(generic, GenericAddress(0xfe00_0004), &[5; 4]).unwrap();
    memory.write(AddressSpace::Shared, GenericAddress(8), &[6; 4]).unwrap();
    memory.write(AddressSpace::Constant { bank: 2 }, GenericAddress(4), &[7; 4]).unwrap();
    // Across both parts.
    memory.write_lane(9, generic, GenericAddress(0x4010), &[8; 16]).unwrap();
    memory.write_lane(31, AddressSpace::Local, GenericAddress(31), &[9]).unwrap();
    assert_eq!(memory.allocation_bytes(&memory.allocations()[0])[4..], [1, 2, 3, 4]);
    assert_eq!(memory.shared_bytes()[4..12], [5, 5, 5, 5, 6, 6, 6, 6]);
    assert_eq!(memory.constant_bytes(2).unwrap()[4..], [7; 4]);
    assert_eq!(memory.local_low_bytes(9)[16..], [8; 4]);
    assert_eq!(memory.local_high_bytes(9), [8; 12]);
    assert_eq!(memory.local_high_bytes(31)[11], 9);
    let set = memory.arena().bytes().iter().filter(|byte| **byte != 0).count();
    assert_eq!(set, 4 * 4 + 16 + 1);
}

#[test]
fn bytes_that_are_partly_outside_are_refused_whole() {
    let mut memory = memory();
    let before = memory.arena().bytes().to_vec();
    let outside = |space, address, size| WriteError::OutsideAllocation { space, address, size };
    let spaces = [
        (AddressSpace::Global, Space::Global, 0x100c, 5),
        // The next allocation follows directly, but is another one.
        (AddressSpace::Global, Space::Global, 0x1004, 8),
        (AddressSpace::Global, Space::Global, 0xfff, 1),
        (AddressSpace::Shared, Space::Shared, 12, 5),
        (AddressSpace::Constant { bank: 2 }, Space::Constant { bank: 2 }, 8, 1),
        (AddressSpace::Constant { bank: 3 }, Space::Constant { bank: 3 }, 0, 1),
        (AddressSpace::Local, Space::Local, 16, 17),
        (AddressSpace::Global, Space::Global, u64::MAX, 2),
    ];
    for (space, found, address, size) in spaces {
        let address = GenericAddress(address);
        let error = memory.write_lane(3, space, address, &vec![1; size]).unwrap_err();
        assert_eq!(error, outside(found, address, size), "{space:?}");
    }
    let address = GenericAddress(0x4000);
    let error = memory.write(AddressSpace::Generic, address, &[1]).unwrap_err();
    assert_eq!(error, WriteError::NoLane { address });
    let error = memory.write_lane(32, AddressSpace::Local, address, &[1]).unwrap_err();
    assert_eq!(error, WriteError::Lane { lane: 32 });
    let address = GenericAddress(1 << 32);
    let error = memory.write(AddressSpace::Generic, address, &[1]).unwrap_err();
    assert_eq!(error, WriteError::BeyondAddressBits { address, address_bits: 32 });
    assert_eq!(memory.arena().bytes(), before);
}

/// Global memory in pages of 64 bytes, of which only every other one exists.
struct Paged(AddressMap, Vec<[u8; 64]>);

impl LoadMemory for Paged {
    fn map(&self) -> &AddressMap {
        &self.0
    }

    fn region(&self, space: Space, offset: u64) -> Option<Region<'_>> {
        let page = offset / 64;
        let exists = space == Space::Global && page.is_multiple_of(2);
        let bytes = self.1.get(page as usize / 2).filter(|_| exists)?;
        Region::new(page * 64, bytes)
    }
}

#[test]
fn a_paged_memory_executes_a_warp_with_both_executors() {
    let machine = Machine::new(Paged(AddressMap::default(), vec![[3; 64], [4; 64]]));
    let mut before = Warp::new();
    before.set_register(Reg::new(2), std::array::from_fn(|lane| 8 * lane as u32));
    let load = Instruction::parse("LD.64 R4, [R2]", Sm::SPA5).unwrap();
    let [fast, literal] = [Executor::Fast, Executor::Reference].map(|executor| {
        let mut warp = before.clone();
        let outcome = executor.execute(&load, &machine, &mut warp).unwrap();
        (warp, outcome)
    });
    assert_eq!(fast, literal);
    let (warp, outcome) = fast;
    // Lanes 0..=7 and 16..=23 are on the pages that exist.
    let outside = outcome.lane_faults.lanes(LaneFaultKind::OutsideAllocation);
    assert_eq!(outside.bits(), 0xff00_ff00);
    let values = warp.register(Reg::new(5));
    assert_eq!([values[7], values[8], values[16]], [0x0303_0303, 0, 0x0404_0404]);
}

/// A memory finds its bytes through regions. This test searches its lists for each byte instead.
#[test]
fn regions_have_the_bytes_of_the_lists() {
    let mut memory = memory();
    for (i, byte) in memory.bytes_mut().unwrap().iter_mut().enumerate() {
        *byte = (i * 167 + 11) as u8;
    }
    let byte = |held: &[u8], offset: u64| held.get(usize::try_from(offset).ok()?).copied();
    let searched = |space, offset: u64, lane| match space {
        Space::Global => memory.allocations().iter().find_map(|known| {
            byte(memory.allocation_bytes(known), offset.checked_sub(known.base)?)
        }),
        Space::Shared => byte(memory.shared_bytes(), offset),
        // The parts touch: 20 bytes and 12.
        Space::Local if offset < 20 => byte(memory.local_low_bytes(lane), offset),
        Space::Local => byte(memory.local_high_bytes(lane), offset - 20),
        Space::Constant { bank } => byte(memory.constant_bytes(bank)?, offset),
    };
    let spaces = [Space::Global, Space::Local, Space::Shared]
        .into_iter()
        .chain([1, 2].map(|bank| Space::Constant { bank }));
    for space in spaces {
        for offset in (0..40).chain(0xff8..0x1018).chain([1 << 32, u64::MAX]) {
            for lane in [0, 1, LANES - 1, LANES] {
                let read = memory.region(space, offset).and_then(|found| found.byte(offset, lane));
                let is_lane = lane < LANES || space != Space::Local;
                let expected = searched(space, offset, lane).filter(|_| is_lane);
                assert_eq!(read, expected, "{space:?} {offset:#x} lane {lane}");
            }
        }
    }
}

/// A memory with regions that ignore windows.
#[derive(Clone)]
struct Everywhere(AddressMap, Vec<u8>);

impl LoadMemory for Everywhere {
    fn map(&self) -> &AddressMap {
        &self.0
    }

    fn region(&self, space: Space, _: u64) -> Option<Region<'_>> {
        match space {
            Space::Local => Region::of_each_lane(0, &self.1),
            _ => Region::new(0, &self.1),
        }
    }
}

/// No access leaves its memory at the end of a window, even if the region goes on.
#[test]
fn regions_end_where_windows_do() {
    let bytes: Vec<u8> = (0..0x400 * LANES).map(|i| (i * 167 + 11) as u8).collect();
    let [shared, local] = [0x110, 0x210].map(|base| Window { base, size: 0x30 });
    let filled = FilledMemory {
        map: AddressMap::new(32, shared, local).unwrap(),
        fill: warpload::memory::Fill::Address,
    };
    let everywhere = Everywhere(filled.map, bytes);
    for text in ["LD.E R4, [R2], P0", "LD.E.U.128 R4, [R2], P0", "LD.E R4, [R2]"] {
        check_windows(text, Sm::SPA5, &everywhere);
        check_windows(text, Sm::SPA5, &filled);
    }
    for text in ["LD.E.U8 R4, [R2.64]", "LD.E.128 R4, [R2.64]"] {
        check_windows(text, Sm::new(80).unwrap(), &everywhere);
        check_windows(text, Sm::new(80).unwrap(), &filled);
    }
}

/// Compares the executors from each address on, for lanes that follow one another and lanes that do not.
fn check_windows(text: &str, sm: Sm, memory: &(impl LoadMemory + Clone)) {
    let load = Instruction::parse(text, sm).unwrap();
    for first in (0..0x300).step_by(8) {
        for (distance, plg) in
            [(0, 0), (0, u32::MAX), (4, 0), (4, u32::MAX), (16, u32::MAX), (16, 0x5555_5555)]
        {
            let mut before = Warp::new();
            let low = std::array::from_fn(|lane| first + distance * lane as u32);
            before.set_register(Reg::new(2), low);
            before.set_predicate(Pred::P0, LaneMask::from_bits(plg));
            let [fast, literal] = [Executor::Fast, Executor::Reference].map(|executor| {
                let mut warp = before.clone();
                let outcome = executor.execute(&load, &Machine::new(memory.clone()), &mut warp);
                (warp, outcome.unwrap())
            });
            assert_eq!(fast, literal, "{text} from {first:#x}, {distance} apart, Plg {plg:#x}");
        }
    }
}
