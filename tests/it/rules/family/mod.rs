//! docs/load-family.md section 3: LDG, LDL, LDS and LDC. Each of the four is also held to the rules that it shares with
//! LD.

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

/// One of the four, with addresses on the table's machine where 16 bytes are allocated and where none are.
#[derive(Clone, Copy, Debug)]
struct Sibling {
    mnemonic: &'static str,
    /// The text before `[R2]`.
    bank: &'static str,
    /// The number of its sizes, in encoding order.
    sizes: usize,
    space: Space,
    /// A multiple of 16 at which 16 bytes are allocated.
    allocated: u64,
    /// The byte there in lane 0; the others ascend from it.
    first: u8,
    /// The difference of a byte from lane to lane.
    per_lane: u8,
    /// A multiple of 16 at which no bytes are allocated.
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

    /// The widest size without a hint: 128, or 64 for LDC.
    fn widest(&self) -> Size {
        if self.sizes > 6 { Size::B128 } else { Size::B64 }
    }

    /// `LDC.64 R4, c[0x3][R2]`.
    fn text(&self, size: Size, destination: &str, address: &str) -> String {
        format!("{}.{} {destination}, {}{address}", self.mnemonic, size.name(), self.bank)
    }

    /// The word `i` bytes after the start of the 16 bytes.
    fn word(&self, lane: usize, i: u8) -> u32 {
        word(self.first.wrapping_add(self.per_lane.wrapping_mul(lane as u8)).wrapping_add(i))
    }

    /// The lanes without allocated bytes, given that no lane has another fault. Their values in R4 are 0, and they
    /// missed the instruction's own memory.
    fn outside_lanes(&self, loaded: &Loaded) -> u32 {
        for fault in &loaded.outcome.lane_faults {
            assert_eq!(fault.cause, FaultCause::OutsideAllocation);
            assert_eq!(fault.space.map(Space::name), Some(self.space.name()));
            assert_eq!(loaded.register(4, fault.lane), 0);
        }
        loaded.faulting(LaneFaultKind::OutsideAllocation)
    }
}

/// A lane's effective address, taken from its fault.
fn address(loaded: &Loaded, lane: usize) -> u64 {
    loaded.faults(lane)[0].address.0
}
