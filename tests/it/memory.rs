//! Memory between loads: what can be written, and what a memory of one's own must say.

#![allow(clippy::unwrap_used)]

use warpload::encoding::{Instruction, Reg, Sm};
use warpload::lane::LANES;
use warpload::load::{Executor, LaneFaultKind};
use warpload::machine::Machine;
use warpload::memory::{
    AddressMap, AddressSpace, ConfigError, GenericAddress, LoadMemory, Memory, MemoryBuilder,
    OutsideWindow, Region, Space, Window, WriteError,
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

/// Two allocations that touch, shared memory, a bank, and local memory whose parts touch.
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
        // The next allocation follows, but is another one.
        (AddressSpace::Global, Space::Global, 0x1004, 8),
        (AddressSpace::Global, Space::Global, 0xfff, 1),
        (AddressSpace::Shared, Space::Shared, 12, 5),
        (AddressSpace::Constant { bank: 2 }, Space::Constant, 8, 1),
        (AddressSpace::Constant { bank: 3 }, Space::Constant, 0, 1),
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

/// Global memory of pages of 64 bytes, every other one of which exists.
struct Paged(AddressMap, Vec<[u8; 64]>);

impl LoadMemory for Paged {
    fn map(&self) -> &AddressMap {
        &self.0
    }

    fn region(
        &self,
        space: AddressSpace,
        address: GenericAddress,
        plg: bool,
    ) -> Result<(Space, Option<Region<'_>>), OutsideWindow> {
        let (found, offset) = self.0.locate(space, address, plg)?;
        let page = offset / 64;
        let exists = found == Space::Global && page % 2 == 0;
        let bytes = self.1.get(page as usize / 2).filter(|_| exists);
        Ok((found, bytes.and_then(|bytes| Region::new(found, page * 64, bytes))))
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
