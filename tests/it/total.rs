//! Public functions of `memory` and `load` never panic, whatever values they get. Tests are built with overflow checks.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use warpload::encoding::Reg;
use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::load::{LaneAddresses, LoadOp, load, load_many};
use warpload::machine::Misaligned;
use warpload::memory::{
    AddressMap, AddressSpace, Allocation, Arena, ConstantBank, Fill, FilledMemory, GenericAddress,
    LaneAccess, LoadMemory, LocalPart, Memory, MemoryBuilder, Region, Regions, Space,
    WarpAddresses, Width, Window,
};
use warpload::warp::Warp;

/// Numbers near the limits at which arithmetic overflows, and others.
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
    prop::sample::select(&Space::ALL[..])
}

/// The bytes of all regions.
static BYTES: [u8; 4096] = [0xa5; 4096];

/// Regions of every kind that can be created.
fn region() -> impl Strategy<Value = Region<'static>> {
    let bytes =
        (number(), 0..=BYTES.len()).prop_map(|(base, size)| Region::new(base, &BYTES[..size]));
    let of_each_lane = (number(), 0..=BYTES.len())
        .prop_map(|(base, size)| Region::of_each_lane(base, &BYTES[..size]));
    let filled = (space(), number(), number(), number()).prop_map(|(space, one, other, start)| {
        Region::filled(space, one.min(other)..=one.max(other), Fill::Address, start)
    });
    prop_oneof![bytes, of_each_lane, filled].prop_filter_map("no such region", |region| region)
}

/// Addresses of both shapes; strides also as a list.
fn lane_addresses() -> impl Strategy<Value = WarpAddresses> {
    let stride = (number(), number(), any::<bool>()).prop_map(|(base, stride, is_listed)| {
        let addresses = WarpAddresses::Stride { base, stride };
        if is_listed { WarpAddresses::Each(addresses.to_array()) } else { addresses }
    });
    let list = prop::collection::vec(number(), LANES);
    prop_oneof![stride, list.prop_map(|list| WarpAddresses::Each(list.try_into().unwrap()))]
}

fn mask() -> impl Strategy<Value = LaneMask> {
    prop_oneof![Just(u32::MAX), any::<u32>()].prop_map(LaneMask::from_bits)
}

fn lanes() -> impl Strategy<Value = LaneAddresses> {
    let plg = prop::option::of(mask());
    (mask(), plg, lane_addresses()).prop_map(|(executing, plg, addresses)| LaneAddresses {
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

/// For functions that take any lane.
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

/// A memory of another implementor, with one made-up region at every offset.
struct Foreign(AddressMap, Option<Region<'static>>);

impl LoadMemory for Foreign {
    fn map(&self) -> &AddressMap {
        &self.0
    }

    fn region(&self, _: Space, _: u64) -> Option<Region<'_>> {
        self.1
    }
}

/// Calls every function of a region.
fn use_region(
    access: LaneAccess,
    region: &Region<'_>,
    (address, lane): (u64, usize),
    lanes: &LaneAddresses,
    rows: &mut [LaneValues],
) {
    let address = GenericAddress(address);
    let is_held = region.holds(address, access.width.bytes().into());
    let fetched = region.fetch(access, address, lane);
    assert_eq!(fetched.is_some(), is_held && (lane < LANES || !region.is_per_lane()));
    let byte = LaneAccess { width: Width::Bytes1, signed: false };
    let fetched = region.fetch(byte, address, lane).map(|words| words[0]);
    assert_eq!(region.byte(address.0, lane).map(u32::from), fetched);
    let before = rows.to_vec();
    if !region.copy(access, address, rows) {
        assert_eq!(rows, before);
    }
    if region.gather(access, &lanes.addresses, lanes.executing, rows) {
        for lane in lanes.executing {
            let rounded = GenericAddress(lanes.addresses.of(lane)).align_down(access.width);
            let one = region.fetch(access, rounded, lane).unwrap();
            assert!(rows.iter().zip(one).all(|(row, value)| row[lane] == value));
        }
    }
    let _ = format!("{region:?} {:?}", region.offsets());
}

fn use_memory<M: LoadMemory>(
    memory: &M,
    op: LoadOp,
    lanes: &LaneAddresses,
    region: &Region<'_>,
    offset: (u64, usize),
    count: usize,
) {
    let mut rows = vec![[7; LANES]; count];
    for misaligned in Misaligned::ALL {
        let loaded = load(op, lanes, memory, misaligned, &mut rows);
        loaded.faults.iter().for_each(|fault| drop(fault.to_string()));
    }
    rows.truncate(op.registers() as usize);
    use_region(op.access(), region, offset, lanes, &mut rows);
    let address = GenericAddress(lanes.addresses.of(0));
    if let Ok(place) = memory.map().locate(op.space, address, lanes.plg_of(0)) {
        let own = memory.region(place.space, place.offset);
        own.iter().for_each(|own| use_region(op.access(), own, offset, lanes, &mut rows));
    }
    for space in Space::ALL {
        let own = memory.region(space, offset.0);
        own.iter().for_each(|own| use_region(op.access(), own, offset, lanes, &mut rows));
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
    fn many_warps_load_as_each_does(op in op(), warps in prop::collection::vec(lanes(), 0..5)) {
        let memory = memory();
        let (mut one, mut many) = ([[7; LANES]; 8], [[7; LANES]; 8]);
        let mut each = warps.iter().enumerate();
        load_many(op, &warps, &memory, Misaligned::Report, &mut many, |i, loaded, rows| {
            let (expected, lanes) = each.next().unwrap();
            assert_eq!(i, expected);
            assert_eq!(*loaded, load(op, lanes, &memory, Misaligned::Report, &mut one));
            assert_eq!(rows, one);
        });
        prop_assert!(each.next().is_none());
    }

    #[test]
    fn regions_are_what_they_were_made_of(
        space in space(),
        first in number(),
        last in number(),
        size in 0..=BYTES.len(),
        address in number(),
        bytes in number(),
    ) {
        let filled = Region::filled(space, first..=last, Fill::Zero, 0);
        prop_assert_eq!(filled.is_some(), last >= first);
        let fits = |size: usize| size > 0 && first.checked_add(size as u64 - 1).is_some();
        let held = Region::new(first, &BYTES[..size]);
        prop_assert_eq!(held.is_some(), fits(size));
        let own = Region::of_each_lane(first, &BYTES[..size]);
        prop_assert_eq!(own.is_some(), size % LANES == 0 && fits(size / LANES));
        prop_assert!(own.is_none_or(|own| own.is_per_lane()));
        let lasts = [last, first.wrapping_add(size as u64).wrapping_sub(1)];
        for (region, last) in [filled, held].into_iter().zip(lasts) {
            let Some(region) = region else { continue };
            prop_assert_eq!(region.offsets(), first..=last);
            let end = u128::from(address) + u128::from(bytes.max(1)) - 1;
            let is_held = address >= first && end <= u128::from(last);
            prop_assert_eq!(region.holds(GenericAddress(address), bytes), is_held);
        }
    }

    /// Missing rows, and rows beyond the operation's registers, do not affect the others.
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
        let _ = map.is_beyond(GenericAddress(offset.0));
        let _ = map.resolve(GenericAddress(offset.0), lanes.plg_of(0));
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
        let mut memory = Memory::new(map, arena, regions).unwrap_or_else(|_| Memory::empty(map));
        for allocation in &made_up {
            let _ = memory.allocation_bytes(allocation);
        }
        let _ = memory.local_low_bytes(offset.1);
        let _ = memory.local_high_bytes(offset.1);
        let _ = memory.constant_bytes(bank);
        let _ = memory.write(op.space, GenericAddress(offset.0), &BYTES[..op.width.bytes() as usize]);
        let _ = memory.write_lane(offset.1, op.space, GenericAddress(offset.0), &BYTES[..3]);
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
        let _ = Fill::Address.words(address, width, lane);
        let _ = Fill::Zero.words(address, width, lane);
    }
}
