//! A load inside of a program does what it does alone: the literal executor against machine code, on random states.

use warpload::lane::{LANES, LaneValues};
use warpload::load::{Executor, LaneFaultKind};
use warpload::machine::Misaligned;
use warpload_encoding::{Guard, Pred, Reg, Slot, Sm, Spa5Instruction};
use warpload_machine::{AllocationUse, DeviceMemory};
use warpload_sass::{SassLaunch, SassProgram};
use warpload_suite::generate::Generator;
use warpload_suite::vector::Vector;

/// The text of a store of a register to the lane's place in the results.
fn store(pointer: u8, at: u32, register: Reg, sm: Sm) -> u64 {
    let text = format!("STG.E [R{pointer}+{:#x}], {register}", 4 * at).replace("+0x0]", "]");
    Spa5Instruction::parse(&text, sm, 8).unwrap_or_else(|error| panic!("{text}: {error}")).word()
}

/// Executes the instruction of a vector in a program that then stores its destination; returns the differences from the
/// literal executor. `None` if the registers of the load are illegal.
fn differences(vector: &Vector) -> Option<Vec<String>> {
    let (after, outcome) = vector.run(Executor::Reference).expect("a load that can be executed");
    let instruction = &vector.instruction;
    let sm = instruction.sm();
    let base = instruction.field(Slot::Base).map_or(255, |base| base as u8);
    // A register beyond the limit of the launch is no base; a kernel has no such one.
    let is_beyond = base < 255 && base >= vector.machine.register_limit.get();
    if outcome.warp_fault.is_some() || is_beyond {
        return None;
    }
    let first = Reg::new(instruction.field(Slot::Destination).expect("a destination") as u8);
    let count = instruction.lane_bits().expect("a size").div_ceil(32);
    let destinations: Vec<Reg> = match first {
        Reg::RZ => Vec::new(),
        // Without an executing lane, the last registers need not exist.
        first => (0..count as u8)
            .filter_map(|at| Some(Reg::new(first.number().checked_add(at)?)))
            .filter(|register| *register != Reg::RZ)
            .collect(),
    };
    let is_used = |register: u8| {
        destinations.iter().any(|of| of.number() == register)
            || base == register
            || base.wrapping_add(1) == register
    };
    let pointer = (0..250).step_by(2).find(|at| !is_used(*at) && !is_used(at + 1)).expect("a pair");
    let mut memory = DeviceMemory::of_image(&vector.machine.memory).expect("room");
    let results =
        memory.allocate(vec![0xcc; 16 * LANES], AllocationUse::Argument(0)).expect("room");
    let mut words = vec![vector.instruction.word().narrow().expect("64 bits")];
    words.extend((0..).zip(&destinations).map(|(at, register)| store(pointer, at, *register, sm)));
    words.push(Spa5Instruction::parse("EXIT", sm, 8).expect("an instruction").word());
    let program = SassProgram::of_words(sm, &words).expect("a program");
    let mut launch = SassLaunch::new([1; 3], [LANES as u32, 1, 1]);
    launch.options.misaligned = vector.machine.misaligned;
    launch.options.active = vector.warp.active;
    let place = |shift: u32| -> LaneValues {
        std::array::from_fn(|lane| ((results + 16 * lane as u64) >> shift) as u32)
    };
    let own = [(Reg::new(pointer), place(0)), (Reg::new(pointer + 1), place(32))];
    let others = (0..255).map(Reg::new).filter(|register| own.iter().all(|one| one.0 != *register));
    launch.registers =
        others.map(|register| (register, *vector.warp.register(register))).chain(own).collect();
    let predicates = (0..7).filter_map(|number| Pred::try_from(number).ok());
    launch.predicates =
        predicates.map(|predicate| (predicate, vector.warp.predicate(predicate))).collect();
    let kernel = program.kernel(None).expect("a kernel").clone();
    let launched = program.launch(&kernel, &launch, &mut memory, None, None);
    let ran = launched.expect("a launch");
    let mut differences = Vec::new();
    if !ran.skipped.is_empty() {
        differences.push(format!("not executed: {:?}", ran.skipped));
    }
    // The lanes with a fault of the load; of many, the machine keeps the first ones and their number.
    let faults = outcome.lane_faults.by_kind();
    let outside = faults[LaneFaultKind::OutsideWindow] | faults[LaneFaultKind::OutsideAllocation];
    for (name, lanes) in
        [("out_of_bounds", outside), ("misaligned", faults[LaneFaultKind::MisalignedAddress])]
    {
        let of_kind = ran.faults.iter().filter(|fault| fault.kind.name() == name);
        if let Some(fault) = of_kind.clone().find(|fault| !lanes.contains(fault.lane as usize)) {
            differences.push(format!("{name}: lane {}, expected {lanes:?}", fault.lane));
        }
        let totals = ran.fault_totals.iter().filter(|total| total.kind == name);
        let count: u64 = totals.map(|total| total.count).sum();
        if count != u64::from(lanes.count()) {
            differences.push(format!("{name}: {count} lanes, expected {lanes:?}"));
        }
    }
    for lane in (0..LANES).filter(|lane| vector.warp.active.contains(*lane)) {
        for (at, register) in destinations.iter().enumerate() {
            let bytes = memory.bytes(results).expect("results");
            let start = 16 * lane + 4 * at;
            let got = bytes[start..start + 4].try_into().map(u32::from_le_bytes).expect("a word");
            let expected = after.register(*register)[lane];
            if got != expected {
                differences
                    .push(format!("lane {lane}: {register} is {got:#x}, expected {expected:#x}"));
            }
        }
    }
    Some(differences)
}

#[test]
fn loads_in_programs_are_loads_alone() {
    let (mut count, mut failures, mut faults, mut guarded) = (0, Vec::new(), 0, 0);
    for (number, sm) in ["50", "52", "53", "60", "61", "62"].into_iter().enumerate() {
        let sm: Sm = sm.parse().expect("an SM");
        let generator = Generator::new("LD", sm, 49 + number as u64).expect("a load");
        for case in 0..2350 {
            let line = generator.line(case).expect("a vector");
            let vector = Vector::from_json(&line).expect("a vector");
            let Some(differences) = differences(&vector) else { continue };
            count += 1;
            let (_, outcome) = vector.run(Executor::Reference).expect("a load");
            faults += usize::from(outcome.lane_faults.iter().next().is_some());
            guarded += usize::from(vector.instruction.parts().guard != Guard::ALWAYS);
            if !differences.is_empty() && failures.len() < 10 {
                let mode = vector.machine.misaligned == Misaligned::Fault;
                failures.push(format!(
                    "{} (faults: {mode})\n{}",
                    vector.name,
                    differences.join("\n")
                ));
            }
        }
    }
    assert!(failures.is_empty(), "of {count}:\n{}", failures.join("\n"));
    assert!(count >= 10_000 && faults > 1000 && guarded > 1000, "{count} {faults} {guarded}");
}
