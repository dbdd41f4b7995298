//! A front end of a made-up instruction set, and a loop in it. Each lane counts its turns and stores the count: lane 0
//! leaves the loop after one turn, lane 31 after 32.

use warpload_machine::code::*;
use warpload_machine::lanes::integers::{IntegerOp, integer};
use warpload_machine::lanes::predicates::{Comparison, compare};
use warpload_machine::{AllocationUse, DeviceMemory, LaunchOptions, ScalarType as T, Site, run};

const PROGRAM: [&str; 6] = ["add 0 0 1", "le 3 0 2", "back 3", "join", "store 4 0", "end"];

/// The first row of a register. Each has 64 bits, two rows, because register 4 holds an address.
const fn row(register: u32) -> Slot {
    FIRST_ROW + 2 * register
}

fn decode(site: Site, text: &str) -> Option<Op> {
    let mut words = text.split(' ');
    let name = words.next()?;
    let slots: Vec<Slot> = words.map_while(|word| word.parse().ok()).map(row).collect();
    Some(match (name, &slots[..]) {
        ("add", [d, a, b]) => Op::lanes(integer(IntegerOp::Add, T::U32)?, site, *d, &[*a, *b]),
        ("le", [d, a, b]) => {
            Op::lanes(compare(Comparison::LessOrEqual, T::U32, false)?, site, *d, &[*a, *b])
        }
        // To the first operation, in the lanes where the predicate is true.
        ("back", [p]) => Op { guard: Some((*p, false)), ..Op::new(Action::Branch(0), site) },
        ("join", []) => Op::new(Action::Rejoin(0), site),
        ("store", [address, value]) => {
            let base = Base::Register { slot: *address, is_wide: true };
            let value = Some(Element { slot: *value, rows: 1, bits: 32 });
            let op = MemoryOp::new(MemoryKind::Store, AddressSpace::Global, base, T::U32, &[value]);
            Op::new(Action::Memory(Box::new(op)), site)
        }
        ("end", []) => Op::new(Action::Exit, site),
        _ => return None,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut memory = DeviceMemory::new();
    let out = memory.allocate(vec![0; 128], AllocationUse::Argument(0))?;
    let addresses = std::array::from_fn(|lane| u128::from(out) + 4 * lane as u128);
    let presets = vec![
        Preset::Constant(row(0), 0, 1),
        Preset::Constant(row(1), 1, 1),
        Preset::Special(row(2), Special::Lane),
        Preset::Lanes(row(4), 2, Box::new(addresses)),
    ];
    let ops = (0..).map(Site).zip(PROGRAM).map(|(site, text)| decode(site, text));
    let code = Code {
        ops: ops.collect::<Option<_>>().ok_or("an unknown instruction")?,
        functions: vec![FunctionCode { rows: row(5) as usize, presets, ..Default::default() }],
        // The loop is scope 0. The join is behind it, and waits for the lanes that are still inside.
        inside: vec![0, 0, 0, NO_SCOPE, NO_SCOPE, NO_SCOPE],
        scopes: vec![(0, 0)],
        ..Code::default()
    };
    let outcome = run(&code, &LaunchOptions::new([1; 3], [32, 1, 1]), &mut memory, None, None);
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    let counts: Vec<u8> = (1..=32_u32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(memory.bytes(out), Some(&counts[..]));
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_lane_stores_its_count() -> Result<(), Box<dyn std::error::Error>> {
        super::main()
    }
}
