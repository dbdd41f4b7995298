//! Random machines, with windows and allocations close to one another.

use warpload::lane::LANES;
use warpload::machine::{Machine, Misaligned, RegisterLimit};
use warpload::memory::{AddressMap, Memory, MemoryBuilder, Window};

use crate::executors::choices::{Choices, Random};

/// The constant banks of every machine.
pub(crate) const BANKS: [u8; 4] = [3, 0, 1, 31];

pub(crate) fn machine(choices: &mut Choices<'_>) -> Machine {
    let memory = memory(choices);
    let register_limit = match choices.below(4) {
        0 | 1 => 255,
        2 => 1 + choices.below(24),
        _ => 1 + choices.below(255),
    };
    Machine {
        register_limit: RegisterLimit::new(register_limit).unwrap(),
        misaligned: choices.pick(&Misaligned::ALL),
        memory,
    }
}

fn bytes(choices: &mut Choices<'_>, count: u64) -> Vec<u8> {
    let mut random = Random(choices.word());
    (0..count).map(|_| random.word() as u8).collect()
}

fn address_map(choices: &mut Choices<'_>) -> AddressMap {
    let any_bits = 32 + choices.below(33) as u32;
    let bits = choices.pick(&[40, 32, 33, 49, 63, 64, 64, any_bits]);
    let mut size = || match choices.below(4) {
        0 => 0x100_0000,
        1 => 16 * (1 + choices.below(3)),
        _ => 16 * (1 + choices.below(40)),
    };
    let (shared, local) = (size(), size());
    let top = ((1u128 << bits) - 1) as u64;
    // The base of a window of `size` at the end of the address space.
    let last = |size: u64| top - (size - 1);
    let any = |word: u64| (word & top) & !15;
    let (shared_base, local_base) = match choices.below(8) {
        0 => (0xfe00_0000, 0xff00_0000),
        1 => (0, shared),
        2 => (local, 0),
        3 => (last(shared), last(shared) - local),
        4 => (last(local) - shared, last(local)),
        5 => (0, last(local)),
        6 => (0x2000, 0x2000 + shared),
        _ => (any(choices.word()), any(choices.word())),
    };
    let shared = Window { base: shared_base, size: shared };
    let local = Window { base: local_base, size: local };
    AddressMap::new(bits, shared, local).unwrap_or_else(|_| {
        // Windows at random places may overlap.
        AddressMap::new(bits, Window::DEFAULT_SHARED, Window::DEFAULT_LOCAL).unwrap()
    })
}

/// Whether a range of addresses is below `top` and overlaps no taken range.
fn is_free(taken: &[Window], base: u64, size: u64, top: u128) -> bool {
    let end = |window: &Window| u128::from(window.base) + u128::from(window.size);
    let new = Window { base, size };
    end(&new) <= top
        && taken
            .iter()
            .all(|known| u128::from(base) >= end(known) || end(&new) <= u128::from(known.base))
}

fn memory(choices: &mut Choices<'_>) -> Memory {
    let map = address_map(choices);
    let top = 1u128 << map.address_bits();
    let (shared, local) = (map.shared(), map.local());
    let mut builder = MemoryBuilder::new(map);
    let mut taken = vec![shared, local];
    // The ends of everything so far, where an allocation may begin or end.
    let mut ends = vec![0x1000, 0, 1 << 32, (top - 1) as u64];
    for window in [shared, local] {
        ends.extend([window.base, window.base.wrapping_add(window.size)]);
    }
    for _ in 0..choices.below(7) {
        let size = match choices.below(4) {
            0 | 1 => 512 + choices.below(64),
            2 => 1 + choices.below(20),
            _ => 1 + choices.below(160),
        };
        let end = choices.pick(&ends);
        let gap = choices.pick(&[0, 0, 0, 1, 5, 16]);
        let base = match choices.below(5) {
            0..3 => end.wrapping_add(gap),
            3 => end.wrapping_sub(size).wrapping_sub(gap),
            _ => (choices.word() as u128 % top) as u64,
        };
        if is_free(&taken, base, size, top) {
            taken.push(Window { base, size });
            ends.extend([base, base.wrapping_add(size), base.wrapping_add(size)]);
            builder = builder.global(base, &bytes(choices, size));
        }
    }
    let shared_size = choices.below(shared.size.min(640) + 1);
    builder = builder.shared(&bytes(choices, shared_size));
    let (low, high) = if local.size <= 640 && !choices.one_in(3) {
        // The parts fill the window, so that they touch.
        let low = choices.below(local.size + 1);
        (low, local.size - low)
    } else {
        let limit = local.size.min(96) / 2 + 1;
        (choices.below(limit), choices.below(limit))
    };
    let lanes = LANES as u64;
    builder = builder
        .local_low(low as usize, &bytes(choices, low * lanes))
        .local_high(high as usize, &bytes(choices, high * lanes));
    for bank in BANKS {
        let size = match choices.below(12) {
            0 => 0,
            // In one bank only, because it is slow.
            1 if bank == BANKS[0] => 0x1_0000,
            2..5 => 1 + choices.below(20),
            _ => 1 + choices.below(640),
        };
        builder = builder.constant(bank, &bytes(choices, size));
    }
    builder.build().unwrap()
}
