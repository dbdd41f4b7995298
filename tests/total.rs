//! Safe public functions of `memory`, `load` and `trace` that are given made-up values: whatever
//! these are, nothing panics. Tests are built with overflow checks.

#![allow(clippy::unwrap_used)]

use std::ops::RangeInclusive;

use proptest::prelude::*;
use warpload::encoding::Reg;
use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::{LaneAddresses, LoadOp, load};
use warpload::machine::Misaligned;
use warpload::memory::{
    Access, AddressMap, AddressSpace, Allocation, Arena, ConstantBank, Fill, FilledMemory,
    GenericAddress, LoadMemory, LocalPart, Memory, MemoryBuilder, OutsideWindow, Region, Regions,
    Space, Width, Window, Words,
};
use warpload::warp::Warp;

/// Numbers near the borders at which arithmetic goes wrong, and others.
fn number() -> impl Strategy<Value = u64> {
    let near = |border: u64| (0..130u64).prop_map(move |d| border.wrapping_add(d).wrapping_sub(65));
    prop_oneof![
        near(0),
        near(0x1000),
        near(0xfe00_0000),
        near(0xff00_0000),
        near(1 << 32),
        near(1 << 40),
        near(1 << 63),
        near(u64::MAX),
        near(u64::MAX / 31),
        any::<u64>(),
    ]
}

fn width() -> impl Strategy<Value = Width> {
    prop::sample::select(&Width::ALL[..])
}

fn address_space() -> impl Strategy<Value = AddressSpace> {
    prop_oneof![
        Just(AddressSpace::Generic),
        Just(AddressSpace::Global),
        Just(AddressSpace::Local),
        Just(AddressSpace::Shared),
        any::<u8>().prop_map(|bank| AddressSpace::Constant { bank }),
    ]
}

fn space() -> impl Strategy<Value = Space> {
    prop::sample::select(&[Space::Global, Space::Local, Space::Shared, Space::Constant][..])
}

/// Regions of whatever can be made.
fn region() -> impl Strategy<Value = Region> {
    let stride = prop_oneof![Just(0), number()];
    (space(), number(), number(), number(), stride).prop_filter_map(
        "no such region",
        |(space, one, other, start, stride)| {
            let addresses: RangeInclusive<u64> = one.min(other)..=one.max(other);
            Region::new(space, addresses, start, stride)
        },
    )
}

fn lane_addresses() -> impl Strategy<Value = [u64; LANES]> {
    prop_oneof![
        (number(), number()).prop_map(|(base, stride)| {
            std::array::from_fn(|lane| base.wrapping_add(stride.wrapping_mul(lane as u64)))
        }),
        prop::collection::vec(number(), LANES).prop_map(|list| list.try_into().unwrap()),
    ]
}

fn mask() -> impl Strategy<Value = LaneMask> {
    prop_oneof![Just(u32::MAX), any::<u32>()].prop_map(LaneMask::from_bits)
}

fn lanes() -> impl Strategy<Value = LaneAddresses> {
    (mask(), mask(), lane_addresses()).prop_map(|(executing, plg, addresses)| LaneAddresses {
        executing,
        plg,
        addresses,
    })
}

fn op() -> impl Strategy<Value = LoadOp> {
    (address_space(), width(), any::<bool>(), any::<bool>())
        .prop_map(|(space, width, signed, uniform)| LoadOp { space, width, signed, uniform })
}

fn window() -> impl Strategy<Value = Window> {
    (number(), number()).prop_map(|(base, size)| Window { base, size })
}

/// Arguments of functions that take any lane.
fn lane() -> impl Strategy<Value = usize> {
    prop_oneof![0..LANES, LANES..40, Just(usize::MAX)]
}

fn memory() -> Memory {
    let bytes: Vec<u8> = (0..64 * LANES).map(|i| i as u8).collect();
    MemoryBuilder::new(AddressMap::default())
        .global(0x1000, &bytes[..256])
        .global(0x1100, &bytes[..3])
        .shared(&bytes[..64])
        .local_low(64, &bytes)
        .local_high(64, &bytes)
        .constant(0, &bytes[..100])
        .build()
        .unwrap()
}

/// Someone else's memory, in which a made-up region is everywhere.
struct Foreign(AddressMap, Option<Region>);

impl LoadMemory for Foreign {
    fn map(&self) -> &AddressMap {
        &self.0
    }

    fn region(
        &self,
        _: AddressSpace,
        _: GenericAddress,
        plg: bool,
    ) -> Result<(Space, Option<Region>), OutsideWindow> {
        if plg { Ok((Space::Global, self.1)) } else { Err(OutsideWindow::ByPredicate) }
    }

    fn fetch(&self, _: Access, _: &Region, offset: u64, _: usize) -> Words {
        [offset as u32; Width::MAX_REGISTERS]
    }

    fn fetch_across(
        &self,
        _: Access,
        _: AddressSpace,
        _: Space,
        _: GenericAddress,
        _: usize,
    ) -> Option<Words> {
        None
    }
}

/// Calls everything that a memory offers for a region.
fn use_region<M: LoadMemory>(
    memory: &M,
    access: Access,
    region: &Region,
    (offset, lane): (u64, usize),
    lanes: &LaneAddresses,
    rows: &mut [LaneValues],
) {
    memory.fetch(access, region, offset, lane);
    memory.copy(access, region, offset, rows);
    memory.gather(access, region, &lanes.addresses, lanes.executing, rows);
    memory.fetch_across(access, AddressSpace::Local, Space::Local, GenericAddress(offset), lane);
    memory.fetch_across(access, AddressSpace::Generic, Space::Local, GenericAddress(offset), lane);
}

fn use_memory<M: LoadMemory>(
    memory: &M,
    op: LoadOp,
    lanes: &LaneAddresses,
    region: &Region,
    offset: (u64, usize),
    count: usize,
) {
    let mut rows = vec![[7; LANES]; count];
    for misaligned in [Misaligned::Report, Misaligned::Force] {
        let loaded = load(op, lanes, memory, misaligned, &mut rows);
        loaded.faults.iter().for_each(|fault| drop(fault.to_string()));
    }
    use_region(memory, op.access(), region, offset, lanes, &mut rows);
    let address = GenericAddress(lanes.addresses[0]);
    if let Ok((_, Some(own))) = memory.region(op.space, address, lanes.plg.contains(0)) {
        use_region(memory, op.access(), &own, offset, lanes, &mut rows);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn loads_of_anything_from_anywhere(
        op in op(),
        lanes in lanes(),
        region in region(),
        offset in (number(), lane()),
        count in 0..10usize,
        bits in 32..=64u32,
    ) {
        let default = AddressMap::default();
        use_memory(&memory(), op, &lanes, &region, offset, count);
        use_memory(&Memory::empty(default), op, &lanes, &region, offset, count);
        let map = AddressMap::new(bits, default.shared(), default.local()).unwrap();
        for fill in [Fill::Address, Fill::Zero] {
            use_memory(&FilledMemory { map, fill }, op, &lanes, &region, offset, count);
        }
        for region_there in [None, Some(region)] {
            use_memory(&Foreign(map, region_there), op, &lanes, &region, offset, count);
        }
    }

    #[test]
    fn regions_are_what_they_were_made_of(
        space in space(),
        first in number(),
        last in number(),
        start in number(),
        stride in number(),
        address in number(),
        bytes in number(),
    ) {
        let region = Region::new(space, first..=last, start, stride);
        let fits = last >= first
            && u128::from(stride) * 31 + u128::from(last - first) <= u128::from(u64::MAX);
        prop_assert_eq!(region.is_some(), fits);
        if let Some(region) = region {
            let made = (region.space(), region.base(), region.start(), region.lane_stride());
            prop_assert_eq!(made, (space, first, start, stride));
            prop_assert_eq!(region.base() + region.last(), last);
            let end = u128::from(address) + u128::from(bytes.max(1)) - 1;
            let is_held = address >= first && end <= u128::from(last);
            prop_assert_eq!(region.holds(GenericAddress(address), bytes), is_held);
        }
    }

    /// Rows that the operation does not have, or that the caller does not, change nothing for the
    /// others.
    #[test]
    fn rows_are_independent(op in op(), lanes in lanes(), count in 0..10usize) {
        let memory = memory();
        let mut all = [[7; LANES]; Width::MAX_REGISTERS];
        load(op, &lanes, &memory, Misaligned::Force, &mut all);
        let mut rows = vec![[7; LANES]; count];
        load(op, &lanes, &memory, Misaligned::Force, &mut rows);
        for (i, row) in rows.iter().enumerate() {
            let expected = all.get(i).filter(|_| i < op.registers() as usize);
            prop_assert_eq!(row, expected.unwrap_or(&[7; LANES]), "row {}", i);
        }
    }

    #[test]
    fn layouts_of_anything(
        bits in prop_oneof![32..=64u32, any::<u32>()],
        shared in window(),
        local in window(),
        global in prop::collection::vec((number(), number(), number()), 0..4),
        places in prop::collection::vec((number(), number()), 4),
        bank in any::<u8>(),
        op in op(),
        lanes in lanes(),
        region in region(),
        offset in (number(), lane()),
    ) {
        let map = AddressMap::new(bits, shared, local);
        let map = map.unwrap_or_default();
        map.is_beyond(GenericAddress(offset.0));
        let _ = map.resolve(GenericAddress(offset.0), true);
        let _ = shared.offset_of(GenericAddress(offset.0));
        let at = |number: u64| number as usize;
        let part = |(bytes, start): (u64, u64)| LocalPart {
            bytes_per_lane: at(bytes),
            start: at(start),
        };
        let range = |(start, end): (u64, u64)| at(start)..at(end);
        let _ = LocalPart::new(offset.1, range(places[0]));
        let made_up: Vec<Allocation> = global
            .into_iter()
            .map(|(base, size, start)| Allocation { base, size, start: at(start) })
            .collect();
        let regions = Regions {
            global: made_up.clone(),
            shared: range(places[0]),
            local_low: part(places[1]),
            local_high: part(places[2]),
            constant: vec![ConstantBank { bank, bytes: range(places[3]) }],
        };
        let arena = Arena::from(vec![1; 4096]);
        let memory = Memory::new(map, arena, regions).unwrap_or_else(|_| Memory::empty(map));
        for allocation in &made_up {
            memory.allocation_bytes(allocation);
        }
        memory.local_low_bytes(offset.1);
        memory.local_high_bytes(offset.1);
        memory.constant_bytes(bank);
        use_memory(&memory, op, &lanes, &region, offset, 4);
        use_memory(&FilledMemory { map, fill: Fill::Address }, op, &lanes, &region, offset, 8);
    }

    #[test]
    fn rows_of_a_warp(first in any::<u8>(), count in prop_oneof![0..300u32, any::<u32>()]) {
        let rows = Warp::new().rows_mut(Reg::new(first), count).len();
        prop_assert_eq!(rows as u64, u64::from(count).min(255u64.saturating_sub(first.into())));
    }

    #[test]
    fn fills(address in number(), width in width(), lane in number()) {
        Fill::Address.words(address, width, lane);
        Fill::Zero.words(address, width, lane);
    }
}
