//! The information for replays beyond values and faults: the memory, and the lanes that loaded from it.

use warpload::encoding::{Instruction, Size, Sm};
use warpload::lane::{LANES, LaneMask};
use warpload::load::{LaneAddresses, LoadOp, Loaded, load};
use warpload::machine::Misaligned;
use warpload::memory::Space;
use warpload::warp::Warp;

use super::{LDS, SIBLINGS};
use crate::rules::{active, at, machine};

fn loaded(text: &str, warp: &Warp) -> Loaded {
    let instruction = Instruction::parse(text, Sm::SPA5).unwrap();
    let op = LoadOp::try_from(&instruction).unwrap();
    let machine = machine();
    let lanes = LaneAddresses::new(&instruction, &machine, warp);
    let mut rows = [[0; 32]; 4];
    load(op, &lanes, &machine.memory, Misaligned::Force, &mut rows)
}

/// The first executing lane's memory, even if it is not allocated at the address; and the lanes that loaded from global
/// memory. Lane 0 is outside, or lane 9, or none.
#[test]
fn the_memory_is_the_instructions_own() {
    for sibling in SIBLINGS {
        let text = sibling.text(Size::B32, "R4", "[R2]");
        for outside in [0, 9, LANES] {
            let from = |lane| if lane == outside { sibling.outside } else { sibling.allocated };
            let loaded = loaded(&text, &at(from));
            assert_eq!(loaded.first_space, Some(sibling.space), "{text}");
            let is_global = |lane| sibling.space == Space::Global && lane != outside;
            assert_eq!(loaded.global, LaneMask::from_fn(is_global), "{text}");
        }
        let nobody = loaded(&text, &active(at(|_| sibling.allocated), 0));
        assert_eq!((nobody.first_space, nobody.global.bits()), (None, 0), "{text}");
    }
}

#[test]
fn only_a_load_with_the_hint_is_broadcast() {
    for sibling in SIBLINGS {
        for size in sibling.sizes() {
            let text = sibling.text(*size, "R4", "[R2]");
            let is_broadcast = loaded(&text, &at(|_| sibling.allocated)).is_broadcast;
            assert_eq!(is_broadcast, *size == Size::U128, "{text}");
        }
    }
    assert!(!loaded("LDS.U.U8 R4, [R2]", &at(|_| LDS.allocated)).is_broadcast);
}
