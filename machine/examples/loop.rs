//! A front end of a made-up instruction set, and a loop in it. Each lane counts its turns and stores the count: lane 0
//! leaves the loop after one turn, lane 31 after 32. In the first program, the front end knows where lanes join; the
//! second one says so itself.

use warpload_machine::code::*;
use warpload_machine::lanes::integers::{IntegerOp, integer};
use warpload_machine::lanes::predicates::{Comparison, compare};
use warpload_machine::{AllocationUse, DeviceMemory, LaunchOptions, ScalarType as T, Site, run};

const PROGRAM: [&str; 6] = ["add 0 0 1", "le 3 0 2", "back 3 0", "join", "store 4 0", "end"];

/// The loop is in a function, and its lanes join at instruction 8.
const WITH_SCOPES: [&str; 9] = [
    "call 3",
    "store 4 0",
    "end",
    "loop 8",
    "add 0 0 1",
    "le 3 0 2",
    "break 3",
    "back 6 4",
    "return",
];

/// The first row of a register. Each has 64 bits, two rows, because register 4 holds an address.
const fn row(register: u32) -> Slot {
    FIRST_ROW + 2 * register
}

/// Register 6 is a predicate that is always true.
const TRUE: u32 = 6;

fn decode(site: Site, text: &str) -> Option<Op> {
    let mut words = text.split(' ');
    let name = words.next()?;
    let numbers: Vec<u32> = words.map_while(|word| word.parse().ok()).collect();
    let guarded = |predicate, is_negated, action| {
        let guard = Some((row(predicate), is_negated));
        Some(Op { guard, ..Op::new(action, site) })
    };
    Some(match (name, &numbers[..]) {
        ("add", &[d, a, b]) => {
            Op::lanes(integer(IntegerOp::Add, T::U32)?, site, row(d), &[row(a), row(b)])
        }
        ("le", &[d, a, b]) => {
            let compare = compare(Comparison::LessOrEqual, T::U32, false)?;
            Op::lanes(compare, site, row(d), &[row(a), row(b)])
        }
        ("back", &[p, target]) => return guarded(p, false, Action::Branch(target)),
        ("join", []) => Op::new(Action::Rejoin(0), site),
        ("call", &[target]) => Op::new(Action::Enter(target), site),
        ("return", []) => Op::new(Action::Leave(JoinKind::Return), site),
        ("loop", &[end]) => Op::new(Action::Push(JoinKind::Break, end), site),
        ("break", &[p]) => return guarded(p, true, Action::Leave(JoinKind::Break)),
        ("store", &[address, value]) => {
            let base = Base::Register { slot: row(address), is_wide: true };
            let value = Some(Element { slot: row(value), rows: 1, bits: 32 });
            let op = MemoryOp::new(MemoryKind::Store, AddressSpace::Global, base, T::U32, &[value]);
            Op::new(Action::Memory(Box::new(op)), site)
        }
        ("end", []) => Op::new(Action::Exit, site),
        _ => return None,
    })
}

fn counts(program: &[&str], code: Code) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut memory = DeviceMemory::new();
    let out = memory.allocate(vec![0; 128], AllocationUse::Argument(0))?;
    let addresses = std::array::from_fn(|lane| u128::from(out) + 4 * lane as u128);
    let presets = vec![
        Preset::Constant(row(0), 0, 1),
        Preset::Constant(row(1), 1, 1),
        Preset::Special(row(2), Special::Lane),
        Preset::Lanes(row(4), 2, Box::new(addresses)),
        Preset::Constant(row(TRUE), u32::MAX.into(), 1),
    ];
    let ops = (0..).map(Site).zip(program).map(|(site, text)| decode(site, text));
    let code = Code {
        ops: ops.collect::<Option<_>>().ok_or("an unknown instruction")?,
        functions: vec![FunctionCode { rows: row(7) as usize, presets, ..Default::default() }],
        ..code
    };
    let outcome = run(&code, &LaunchOptions::new([1; 3], [32, 1, 1]), &mut memory, None, None);
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    // All lanes store together.
    assert_eq!(outcome.counts.stores, 1);
    Ok(memory.bytes(out).unwrap_or_default().to_vec())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let expected: Vec<u8> = (1..=32_u32).flat_map(u32::to_le_bytes).collect();
    // The loop is scope 0. The join is behind it, and waits for the lanes that are still inside.
    let inside = vec![0, 0, 0, NO_SCOPE, NO_SCOPE, NO_SCOPE];
    let computed = Code { inside, scopes: vec![(0, 0)], ..Code::default() };
    assert_eq!(counts(&PROGRAM, computed)?, expected);
    let inside = vec![NO_SCOPE; WITH_SCOPES.len()];
    let said = Code { has_scopes: true, inside, ..Code::default() };
    assert_eq!(counts(&WITH_SCOPES, said)?, expected);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn each_lane_stores_its_count() -> Result<(), Box<dyn std::error::Error>> {
        super::main()
    }
}
