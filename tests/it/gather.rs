//! Gathering: every access size, forced alignment, lanes with their own bytes, partial masks, and both ends of a region
//! that fills the arena.

#![allow(clippy::unwrap_used)]

use warpload::lane::{LANES, LaneMask, LaneValues};
use warpload::memory::{
    AddressMap, LaneAccess, LoadMemory, Memory, MemoryBuilder, Space, WarpAddresses, Width, Words,
};

/// The size of a region, or of one lane's part of local memory.
const BYTES: usize = 64;
const BASE: u64 = 0x1000;
const UNTOUCHED: u32 = 0xaaaa_aaaa;

fn byte(at: usize) -> u8 {
    (at * 167 + 11) as u8
}

/// Memories of a single region, and the address of its first byte.
fn memories() -> [(Space, u64, Memory); 4] {
    let new = || MemoryBuilder::new(AddressMap::default());
    let bytes: Vec<u8> = (0..BYTES * LANES).map(byte).collect();
    let constants = new().constant(3, &bytes[..BYTES]).build().unwrap();
    [
        (Space::Global, BASE, new().global(BASE, &bytes[..BYTES]).build().unwrap()),
        (Space::Shared, 0, new().shared(&bytes[..BYTES]).build().unwrap()),
        (Space::Local, 0, new().local_low(BYTES, &bytes).build().unwrap()),
        (Space::Constant { bank: 3 }, 0, constants),
    ]
}

/// The value of a lane, put together byte by byte.
fn expected(access: LaneAccess, place: usize) -> Words {
    let mut words = Words::default();
    for i in 0..access.width.bytes() as usize {
        words[i / 4] |= u32::from(byte(place + i)) << (8 * (i % 4));
    }
    match (access.signed, access.width) {
        (true, Width::Bytes1) => words[0] = words[0] as u8 as i8 as u32,
        (true, Width::Bytes2) => words[0] = words[0] as u16 as i16 as u32,
        _ => {}
    }
    words
}

/// Offsets by lane: the first and the last access in turn, all accesses, scattered ones, and only misaligned ones.
fn patterns(bytes: u64) -> [[u64; LANES]; 4] {
    let all = BYTES as u64;
    [
        std::array::from_fn(|lane| if lane % 2 == 0 { 0 } else { all - bytes }),
        std::array::from_fn(|lane| all - bytes - (lane as u64 * bytes) % all),
        std::array::from_fn(|lane| lane as u64 * 29 % all),
        [all - 1; LANES],
    ]
}

/// The list, and the stride if it is one.
fn shapes(list: [u64; LANES]) -> Vec<WarpAddresses> {
    let stride = WarpAddresses::Stride { base: list[0], stride: list[1].wrapping_sub(list[0]) };
    let is_stride = stride.to_array() == list;
    [WarpAddresses::Each(list)].into_iter().chain(is_stride.then_some(stride)).collect()
}

#[test]
fn gathers_what_lies_there_and_nothing_else() {
    let masks = [u32::MAX, 1, 1 << 31, 0x8000_0001, 0x5555_5555, 0];
    for (space, base, memory) in memories() {
        for (width, signed) in Width::ALL.into_iter().flat_map(|one| [(one, false), (one, true)]) {
            let access = LaneAccess { width, signed };
            let region = memory.region(space, base).unwrap();
            for offsets in patterns(u64::from(width.bytes())) {
                let addresses = shapes(offsets.map(|offset| base + offset));
                for (addresses, mask) in addresses
                    .iter()
                    .flat_map(|one| masks.map(|mask| (one, LaneMask::from_bits(mask))))
                {
                    // RZ has no rows; narrow loads have one.
                    for count in [0, width.registers() as usize] {
                        let mut rows: [LaneValues; Width::MAX_REGISTERS] =
                            [[UNTOUCHED; LANES]; Width::MAX_REGISTERS];
                        let rows_of = &mut rows[..count];
                        assert!(region.gather(access, addresses, mask, rows_of));
                        for lane in 0..LANES {
                            let offset = offsets[lane] as usize & !(width.bytes() as usize - 1);
                            let of_lane = lane * BYTES * usize::from(region.is_per_lane());
                            let expected = expected(access, of_lane + offset);
                            for (i, row) in rows.iter().enumerate() {
                                let loads = i < count && mask.contains(lane);
                                let wanted = if loads { expected[i] } else { UNTOUCHED };
                                assert_eq!(row[lane], wanted, "{space:?} {access:?} lane {lane}");
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn what_a_region_does_not_hold_is_not_gathered() {
    for (space, base, memory) in memories() {
        let region = memory.region(space, base).unwrap();
        for width in Width::ALL {
            let access = LaneAccess { width, signed: false };
            let (after, before) = (base + BYTES as u64, base.wrapping_sub(1));
            for outside in [after, before, 1 << 63, base.wrapping_add(1 << 63), u64::MAX] {
                for lane in [0, 1, LANES - 1] {
                    let mut addresses = [base; LANES];
                    addresses[lane] = outside;
                    let addresses = WarpAddresses::Each(addresses);
                    let mut rows = [[UNTOUCHED; LANES]; Width::MAX_REGISTERS];
                    for count in [0, width.registers() as usize] {
                        let rows = &mut rows[..count];
                        let held = region.gather(access, &addresses, LaneMask::ALL, rows);
                        assert!(!held, "{space:?} {width:?} at {outside:#x}");
                    }
                    // A lane that does not execute may be anywhere.
                    let others = LaneMask::from_fn(|other| other != lane);
                    let rows = &mut rows[..width.registers() as usize];
                    assert!(region.gather(access, &addresses, others, rows));
                }
            }
        }
    }
}
