//! docs/load-family.md section 3: LDG, LDL, LDS and LDC. Where a rule is LD's, each of the four is
//! held to it.

mod broadcast;
mod constant;
mod execution;
mod faults;
mod gathered;
mod global;
mod local;
mod neighbours;
mod refused;
mod registers;
mod shared;
mod values;

use warpload::encoding::Size;
use warpload::load::{FaultCause, LaneFaultKind};
use warpload::memory::Space;

use crate::rules::{Loaded, word};

/// One of the four, and where the machine of the table has 16 bytes for it and where none.
#[derive(Clone, Copy, Debug)]
struct Sibling {
    mnemonic: &'static str,
    /// What comes before `[R2]`.
    bank: &'static str,
    /// How many of the sizes it has, in the order of their encoding.
    sizes: usize,
    space: Space,
    /// A multiple of 16 where 16 bytes are allocated.
    allocated: u64,
    /// The byte there in lane 0; the others ascend from it.
    first: u8,
    /// How much a byte grows from lane to lane.
    per_lane: u8,
    /// A multiple of 16 where nothing is allocated.
    outside: u64,
}

const LDG: Sibling = Sibling {
    mnemonic: "LDG",
    bank: "",
    sizes: 8,
    space: Space::Global,
    allocated: 0x1010,
    first: 0x10,
    per_lane: 0,
    outside: 0x2000,
};
const LDL: Sibling = Sibling {
    mnemonic: "LDL",
    sizes: 7,
    space: Space::Local,
    allocated: 0x10,
    per_lane: 7,
    outside: 0x40,
    ..LDG
};
const LDS: Sibling = Sibling {
    mnemonic: "LDS",
    sizes: 7,
    space: Space::Shared,
    allocated: 0x10,
    first: 0x50,
    outside: 0x30,
    ..LDG
};
const LDC: Sibling = Sibling {
    mnemonic: "LDC",
    bank: "c[0x3]",
    sizes: 6,
    space: Space::Constant { bank: 3 },
    allocated: 0x10,
    outside: 0x1_0000,
    ..LDG
};

const SIBLINGS: [Sibling; 4] = [LDG, LDL, LDS, LDC];

impl Sibling {
    fn sizes(&self) -> &'static [Size] {
        &Size::ALL[..self.sizes]
    }

    /// Returns the widest size that is not a hint: 128, or 64 for LDC.
    fn widest(&self) -> Size {
        if self.sizes > 6 { Size::B128 } else { Size::B64 }
    }

    /// `LDC.64 R4, c[0x3][R2]`.
    fn text(&self, size: Size, destination: &str, address: &str) -> String {
        format!("{}.{} {destination}, {}{address}", self.mnemonic, size.name(), self.bank)
    }

    /// The word `i` bytes from where the 16 bytes begin.
    fn word(&self, lane: usize, i: u8) -> u32 {
        word(self.first.wrapping_add(self.per_lane.wrapping_mul(lane as u8)).wrapping_add(i))
    }

    /// The lanes that find nothing allocated, with no other fault in any lane; their values are 0
    /// in R4, and the memory that they missed is the instruction's own.
    fn outside_lanes(&self, loaded: &Loaded) -> u32 {
        for fault in &loaded.outcome.lane_faults {
            assert_eq!(fault.cause, FaultCause::OutsideAllocation);
            assert_eq!(fault.space.map(Space::name), Some(self.space.name()));
            assert_eq!(loaded.register(4, fault.lane), 0);
        }
        loaded.faulting(LaneFaultKind::OutsideAllocation)
    }
}

/// Returns a lane's effective address, taken from its fault.
fn address(loaded: &Loaded, lane: usize) -> u64 {
    loaded.faults(lane)[0].address.0
}
