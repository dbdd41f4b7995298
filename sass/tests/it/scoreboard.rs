//! What control words promise: right programs are quiet, and each twin without one promise is reported.

use warpload_encoding::{Bundle, Control, Reg, Sm, Spa5Instruction};
use warpload_machine::{
    AllocationUse, Checks, DeviceMemory, FaultKind, InstructionPlace, KernelResult, ScoreboardFault,
};
use warpload_sass::{SassLaunch, SassProgram};

/// The address of an instruction by its number.
fn address(number: usize) -> u64 {
    32 * (number as u64 / 3) + 8 * (number as u64 % 3 + 1)
}

/// A slot from words: `B02` the barriers to wait for, `R1` and `W2` those to set, `S6` the cycles. One cycle by default.
fn control(words: &str) -> Control {
    let mut control = Control { yield_bit: true, ..Control::default() };
    for word in words.split_whitespace() {
        let (kind, digits) = word.split_at(1);
        let number = digits.parse::<u8>().ok();
        let mut bits = control.pack();
        let mut put = |lowest: u32, width: u32, value: u64| {
            let mask = ((1 << width) - 1) << lowest;
            bits = bits & !mask | value << lowest;
        };
        match kind {
            "B" => put(11, 6, digits.bytes().fold(0, |mask, digit| mask | 1 << (digit - b'0'))),
            "R" => put(8, 3, number.expect("a barrier").into()),
            "W" => put(5, 3, number.expect("a barrier").into()),
            "S" => put(0, 4, number.expect("cycles").into()),
            _ => panic!("{word}"),
        }
        control = Control::unpack(bits);
    }
    control
}

/// A program from lines `control | instruction`. `<3>` is the address of the instruction in line 3, from 0 on.
fn program(lines: &[&str]) -> SassProgram {
    let sm: Sm = "61".parse().expect("an SM");
    let mut bundles: Vec<Bundle> = Vec::new();
    let all = lines.iter().copied().chain(["S15 | EXIT"]);
    for (number, line) in all.enumerate() {
        let (words, text) = line.split_once('|').expect("a control and an instruction");
        let mut text = text.trim().to_owned();
        for target in 0..=lines.len() {
            text = text.replace(&format!("<{target}>"), &format!("{:#x}", address(target)));
        }
        let instruction = Spa5Instruction::parse(&text, sm, address(number));
        let instruction = instruction.unwrap_or_else(|error| panic!("{text}: {error:?}"));
        if number % 3 == 0 {
            bundles.push(Bundle::nops());
        }
        let bundle = bundles.last_mut().expect("a bundle");
        bundle.words[number % 3] = instruction.word();
        bundle.control[number % 3] = control(words);
    }
    SassProgram::of_bundles(sm, &bundles).expect("a program")
}

/// Runs a program with the address of a buffer in R2 and R3, its lanes in R9, and zero in other registers.
fn run(lines: &[&str], checks: Checks) -> (KernelResult, Vec<u8>) {
    let program = program(lines);
    let mut memory = DeviceMemory::new();
    let buffer = memory.allocate(vec![0; 4096], AllocationUse::Argument(0)).expect("a buffer");
    let mut launch = SassLaunch::new([1, 1, 1], [32, 1, 1]);
    launch.options.checks = checks;
    launch.options.shared_bytes = 4096;
    for number in (0..32).filter(|number| ![2, 3, 9].contains(number)) {
        launch.registers.push((Reg::new(number), [0; 32]));
    }
    launch.registers.push((Reg::new(2), [buffer as u32; 32]));
    launch.registers.push((Reg::new(3), [(buffer >> 32) as u32; 32]));
    launch.registers.push((Reg::new(9), std::array::from_fn(|lane| lane as u32)));
    let kernel = program.kernel(None).expect("a kernel");
    let result = program.launch(kernel, &launch, &mut memory, None, None).expect("a launch");
    assert!(result.has_ended && result.skipped.is_empty(), "{lines:?}");
    (result, memory.bytes(buffer).expect("the buffer").to_vec())
}

/// The numbers of the instructions that are reported, each with its text.
fn findings(lines: &[&str]) -> Vec<(usize, String)> {
    let checks: Checks = "scoreboard".parse().expect("a check");
    let (outcome, bytes) = run(lines, checks);
    // The check changes nothing.
    let (without, same) = run(lines, Checks::default());
    assert!(without.faults.is_empty() && bytes == same, "{lines:?}");
    assert_eq!(without.counts, outcome.counts, "{lines:?}");
    let mut findings: Vec<(usize, String)> = Vec::new();
    for fault in &outcome.faults {
        let FaultKind::Scoreboard { other, fault: what } = &fault.kind else {
            panic!("{lines:?}: {:?}", fault.kind)
        };
        let number = |place: InstructionPlace| {
            let offset = place.offset().expect("an offset");
            (0..lines.len()).find(|number| address(*number) == offset).expect("a line")
        };
        let place = format!("at {}", number(other.at));
        assert_eq!(fault.kind.name(), "scoreboard");
        assert_eq!(fault.kind.other(), Some(other));
        let finding = (number(fault.at), what.text(&place));
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    findings
}

/// A right program, and a line of it that breaks a promise: the number of the line, the line, and the instruction and
/// the text that are reported.
#[track_caller]
fn twins(right: &[&str], broken: &[(usize, &str, usize, &str)]) {
    assert_eq!(findings(right), [], "{right:?}");
    for (number, line, site, text) in broken {
        let mut lines = right.to_vec();
        lines[*number] = line;
        assert_eq!(findings(&lines), [(*site, (*text).to_owned())], "{lines:?}");
    }
}

#[test]
fn results_of_loads() {
    let unset = "R4 is read, but the LDG at 0 has not been waited for: it sets no barrier";
    let missing = "R4 is read, but the LDG at 0 has not been waited for: it sets barrier 2, and no wait for it lies between";
    let right = ["W2 S2 | LDG.E R4, [R2]", "B2 S6 | IADD R5, R4, 0x1", "S1 | STG.E [R2], R5"];
    twins(
        &right,
        &[
            (0, "S2 | LDG.E R4, [R2]", 1, unset),
            (1, "S6 | IADD R5, R4, 0x1", 1, missing),
            (1, "B0145 S6 | IADD R5, R4, 0x1", 1, missing),
            (
                0,
                "W2 S1 | LDG.E R4, [R2]",
                1,
                "barrier 2 is waited for 1 cycle after the LDG at 0, which it counts after 2",
            ),
        ],
    );
    // An earlier wait is enough, and all registers of a vector count.
    twins(
        &["W0 S2 | LDG.E.128 R4, [R2]", "B0 S6 | MOV R8, RZ", "S6 | IADD R8, R7, R8"],
        &[(
            1,
            "S6 | MOV R8, RZ",
            2,
            "R7 is read, but the LDG at 0 has not been waited for: it sets barrier 0, and no wait for it lies between",
        )],
    );
    // What is overwritten must have been written before.
    twins(
        &["W0 S2 | LDG.E R4, [R2]", "B0 S6 | MOV R4, RZ"],
        &[(
            1,
            "S6 | MOV R4, RZ",
            1,
            "R4 is overwritten, but the LDG at 0 has not been waited for: it sets barrier 0, and no wait for it lies between",
        )],
    );
}

#[test]
fn every_late_result() {
    for (producer, name, register) in [
        ("LD.E R4, [R2]", "LD", "R4"),
        ("LDS.U.32 R4, [0x10]", "LDS", "R4"),
        ("LDC R4, c[0x0][0x8]", "LDC", "R4"),
        ("MUFU.RCP R4, R0", "MUFU", "R4"),
        ("S2R R4, SR_TID.X", "S2R", "R4"),
        ("F2I.S32.F32.TRUNC R4, R0", "F2I", "R4"),
        ("I2F.F32.S32 R4, R0", "I2F", "R4"),
        ("F2F.F64.F32 R4, R0", "F2F", "R4"),
        ("I2I.S32.S8 R4, R0", "I2I", "R4"),
        ("POPC R4, R0", "POPC", "R4"),
        ("FLO.U32 R4, R0", "FLO", "R4"),
        ("DADD R4, R0, R6", "DADD", "R4"),
        ("DMUL R4, R0, R6", "DMUL", "R4"),
        ("DFMA R4, R0, R6, R10", "DFMA", "R4"),
        ("HADD2 R4, R0, R1", "HADD2", "R4"),
        ("IMUL R4, R0, R1", "IMUL", "R4"),
        ("SHFL.IDX PT, R4, R0, 0x0, 0x1f", "SHFL", "R4"),
        ("ATOM.E.ADD R4, [R2], R0", "ATOM", "R4"),
        ("ATOMS.ADD R4, [0x10], R0", "ATOMS", "R4"),
    ] {
        let zero = "W5 S2 | STS [0x10], RZ";
        let first = format!("W3 S2 | {producer}");
        let text = format!(
            "{register} is read, but the {name} at 1 has not been waited for: it sets barrier 3, and no wait for it lies \
             between"
        );
        let right = [zero, &first, "B3 S6 | IADD R5, R4, 0x1"];
        twins(&right, &[(2, "B5 S6 | IADD R5, R4, 0x1", 2, &text)]);
    }
    // Predicates, and the flags of products.
    twins(
        &["W3 S2 | DSETP.GT.AND P0, PT, R0, R6, PT", "B3 S6 | @P0 MOV R5, RZ"],
        &[(
            1,
            "S6 | @P0 MOV R5, RZ",
            1,
            "P0 is read, but the DSETP at 0 has not been waited for: it sets barrier 3, and no wait for it lies between",
        )],
    );
}

#[test]
fn sources_that_are_overwritten() {
    let text = |row: &str, name: &str, barrier: &str| {
        format!(
            "{row} is overwritten, but the {name} at 1, which reads it, has not been waited for: {barrier}"
        )
    };
    let waits = "it sets barrier 1, and no wait for it lies between";
    for (reader, name) in [
        ("STG.E [R2], R4", "STG"),
        ("ST.E [R2], R4", "ST"),
        ("STS [R0], R4", "STS"),
        ("RED.E.ADD [R2], R4", "RED"),
    ] {
        let reader = format!("R1 S2 | {reader}");
        let right = ["S6 | MOV R4, RZ", &reader, "B1 S6 | MOV R4, RZ"];
        twins(
            &right,
            &[
                (2, "S6 | MOV R4, RZ", 2, &text("R4", name, waits)),
                (2, "B0 S6 | MOV R4, RZ", 2, &text("R4", name, waits)),
            ],
        );
    }
    let right = ["S6 | MOV R4, RZ", "R1 S2 | STG.E [R2], R4", "B1 S6 | MOV R4, RZ"];
    twins(&right, &[(1, "S2 | STG.E [R2], R4", 2, &text("R4", "STG", "it sets no barrier"))]);
    // The address of a load. Its write barrier is enough.
    let right = [
        "S6 | MOV R4, R0",
        "R1 W0 S2 | LDS.U.32 R5, [R4]",
        "B1 S6 | MOV R4, RZ",
        "B0 S6 | MOV R5, R5",
    ];
    twins(&right, &[(2, "S6 | MOV R4, RZ", 2, &text("R4", "LDS", waits))]);
    let right = ["S6 | MOV R4, R0", "W0 S2 | LDS.U.32 R5, [R4]", "B0 S6 | MOV R4, R5"];
    assert_eq!(findings(&right), []);
    // A barrier of the block comes after the stores to shared memory before it.
    let right = ["S6 | MOV R4, RZ", "S12 | STS [R0], R4", "S5 | BAR.SYNC 0x0", "S6 | MOV R4, RZ"];
    twins(&right, &[(2, "S15 | NOP", 3, &text("R4", "STS", "it sets no barrier"))]);
    let other = ["S6 | MOV R4, RZ", "S12 | STG.E [R2], R4", "S5 | BAR.SYNC 0x0", "S6 | MOV R4, RZ"];
    assert_eq!(findings(&other), [(3, text("R4", "STG", "it sets no barrier"))]);
}

#[test]
fn counted_loads() {
    // The order of a barrier: two of three may be missing.
    let right = [
        "W5 S1 | LDG.E R4, [R2]",
        "W5 S1 | LDG.E R5, [R2]",
        "W5 S2 | LDG.E R6, [R2]",
        "S2 | DEPBAR.LE SB5, 0x2",
        "S6 | IADD R7, R4, 0x1",
        "S2 | DEPBAR.LE SB5, 0x1",
        "S6 | IADD R7, R5, 0x1",
        "S2 | DEPBAR {5}",
        "S6 | IADD R7, R6, 0x1",
    ];
    let text = |row: &str, at: u32| {
        format!(
            "{row} is read, but the LDG at {at} has not been waited for: it sets barrier 5, and no wait for it lies between"
        )
    };
    twins(
        &right,
        &[
            (3, "S2 | DEPBAR.LE SB5, 0x3", 4, &text("R4", 0)),
            (5, "S2 | DEPBAR.LE SB5, 0x2", 6, &text("R5", 1)),
            (7, "S2 | DEPBAR {4}", 8, &text("R6", 2)),
            (7, "S2 | DEPBAR.LE SB5, 0x1", 8, &text("R6", 2)),
            (7, "S2 | DEPBAR.LE SB5, 0x1, {4}", 8, &text("R6", 2)),
        ],
    );
    let both = [
        "W5 S1 | LDG.E R4, [R2]",
        "W4 S1 | LDS.U.32 R5, [RZ]",
        "S2 | DEPBAR.LE SB4, 0x0, {5}",
        "S6 | IADD R7, R4, R5",
    ];
    let text = text("R4", 0);
    twins(&both, &[(2, "S2 | DEPBAR.LE SB4, 0x0", 3, &text)]);
}

#[test]
fn loads_without_a_barrier_before_one_that_sets_it() {
    let right = ["S1 | LDG.E R4, [R2]", "W0 S2 | LDG.E R5, [R2+0x4]", "B0 S6 | IADD R6, R4, R5"];
    twins(
        &right,
        &[(
            2,
            "S6 | IADD R6, R4, RZ",
            2,
            "R4 is read, but the LDG at 0 has not been waited for: it sets no barrier",
        )],
    );
    // Sources are read in order, too.
    let right =
        ["S6 | MOV R4, R0", "S1 | STG.E [R2], R4", "R1 S2 | STG.E [R2], R0", "B1 S6 | MOV R4, RZ"];
    let text = "R4 is overwritten, but the STG at 1, which reads it, has not been waited for: it sets no barrier";
    twins(&right, &[(3, "S6 | MOV R4, RZ", 3, text)]);
    // A later one does not count, nor does another unit.
    let later = ["W0 S1 | LDG.E R5, [R2+0x4]", "S2 | LDG.E R4, [R2]", "B0 S6 | IADD R6, R4, R5"];
    let text = "R4 is read, but the LDG at 1 has not been waited for: it sets no barrier";
    assert_eq!(findings(&later), [(2, text.to_owned())]);
    let other = ["S1 | LDG.E R4, [R2]", "W0 S2 | MUFU.RCP R5, R0", "B0 S6 | IADD R6, R4, R5"];
    let text = "R4 is read, but the LDG at 0 has not been waited for: it sets no barrier";
    assert_eq!(findings(&other), [(2, text.to_owned())]);
}

#[test]
fn results_after_a_number_of_cycles() {
    let early = |row: &str, cycles: u32, name: &str, at: u32, needed: u32| {
        format!(
            "{row} is used {cycles} cycles after the {name} at {at}, whose result takes {needed}"
        )
    };
    for (producer, name) in [
        ("IADD R4, R0, 0x1", "IADD"),
        ("XMAD R4, R0, R1, RZ", "XMAD"),
        ("FFMA R4, R0, R1, R5", "FFMA"),
        ("SHL R4, R0, 0x1", "SHL"),
        ("MOV32I R4, 0x1", "MOV32I"),
        ("LOP3.LUT R4, R0, R1, R5, 0x96", "LOP3"),
        ("SEL R4, R0, R1, PT", "SEL"),
        ("ISET.GT.AND R4, R0, R1, PT", "ISET"),
        ("VOTE.ALL R4, PT, PT", "VOTE"),
    ] {
        let (right, broken) = (format!("S6 | {producer}"), format!("S5 | {producer}"));
        let lines = [&right[..], "S6 | FADD R5, R4, R0"];
        twins(&lines, &[(0, &broken, 1, &early("R4", 5, name, 0, 6))]);
    }
    // Stalls add up, and none is none.
    twins(
        &["S1 | IADD R4, R0, 0x1", "S5 | MOV R7, RZ", "S6 | IADD R5, R4, R0"],
        &[
            (1, "S4 | MOV R7, RZ", 2, &early("R4", 5, "IADD", 0, 6)),
            (0, "S0 | IADD R4, R0, 0x1", 2, &early("R4", 5, "IADD", 0, 6)),
        ],
    );
    // Memory and functions read their registers later.
    twins(
        &["S2 | IADD R4, R0, 0x1", "R0 S2 | STG.E [R2], R4"],
        &[(
            0,
            "S1 | IADD R4, R0, 0x1",
            1,
            "R4 is used 1 cycle after the IADD at 0, whose result takes 6",
        )],
    );
    twins(
        &["S4 | MOV R4, RZ", "R0 S2 | STS [R4], R0"],
        &[(0, "S3 | MOV R4, RZ", 1, &early("R4", 3, "MOV", 0, 6))],
    );
    let text = "R4 is used 1 cycle after the MOV at 0, whose result takes 6";
    twins(&["S2 | MOV R4, RZ", "W0 S2 | MUFU.RCP R5, R4"], &[(0, "S1 | MOV R4, RZ", 1, text)]);
    // Predicates, as guards and as sources.
    for user in [
        "@P0 MOV R5, RZ",
        "@!P0 MOV R5, RZ",
        "@P0 EXIT",
        "SEL R5, R0, R1, P0",
        "PSETP.AND.AND P1, PT, P0, PT, PT",
    ] {
        let user = format!("S6 | {user}");
        twins(
            &["S13 | ISETP.EQ.AND P0, PT, R0, RZ, PT", &user],
            &[(0, "S12 | ISETP.EQ.AND P0, PT, R0, RZ, PT", 1, &early("P0", 12, "ISETP", 0, 13))],
        );
    }
    // The condition code: sums give it as early as a register, other instructions as a predicate.
    twins(
        &["S6 | IADD R4.CC, R0, 0x1", "S6 | IADD.X R5, R0, RZ"],
        &[(0, "S5 | IADD R4.CC, R0, 0x1", 1, &early("CC", 5, "IADD", 0, 6))],
    );
    twins(
        &["S13 | ISET.GT.AND RZ.CC, R0, R1, PT", "S6 | BRA CC.NEU, <2>"],
        &[(0, "S12 | ISET.GT.AND RZ.CC, R0, R1, PT", 1, &early("CC", 12, "ISET", 0, 13))],
    );
    // The values of lanes, each with its own time.
    twins(
        &[
            "S13 | ISETP.GT.AND P0, PT, R9, 0xf, PT",
            "S6 | @P0 ISET.GT.AND RZ.CC, R0, R1, PT",
            "S7 | @!P0 IADD R4.CC, R0, 0x1",
            "S6 | IADD.X R5, R0, RZ",
        ],
        &[(2, "S6 | @!P0 IADD R4.CC, R0, 0x1", 3, &early("CC", 12, "ISET", 1, 13))],
    );
    // The flags and the predicates of a register.
    twins(
        &["S13 | R2P PR, R0, 0x7f", "S6 | P2R R4, PR, RZ, 0x7f"],
        &[(0, "S12 | R2P PR, R0, 0x40", 1, &early("P6", 12, "R2P", 0, 13))],
    );
}

#[test]
fn lanes_that_do_not_execute() {
    // P0 is false in all lanes, and no load begins.
    let lines = [
        "S13 | ISETP.NE.AND P0, PT, R0, RZ, PT",
        "W0 S2 | @P0 LDG.E R4, [R2]",
        "S6 | IADD R5, R4, 0x1",
    ];
    assert_eq!(findings(&lines), []);
    // Two halves of a warp have values of their own.
    let halves = [
        "S13 | ISETP.GT.AND P0, PT, R9, 0xf, PT",
        "W0 S2 | @P0 LDG.E R4, [R2]",
        "S6 | @!P0 MOV R4, RZ",
        "S6 | @!P0 IADD R5, R4, 0x1",
    ];
    assert_eq!(findings(&halves), []);
    let text = "R4 is read, but the LDG at 1 has not been waited for: it sets barrier 0, and no wait for it lies between";
    let mut both = halves.to_vec();
    both.push("S6 | IADD R5, R4, 0x1");
    assert_eq!(findings(&both), [(4, text.to_owned())]);
}

#[test]
fn loops() {
    // The load of the next round overwrites what this one loads.
    let right = [
        "S6 | MOV32I R8, 0x3",
        "W0 S1 | LDG.E R4, [R2]",
        "S6 | IADD32I R8, R8, -0x1",
        "S13 | ISETP.NE.AND P0, PT, R8, RZ, PT",
        "B0 S6 | IADD R5, R5, R4",
        "S5 | @P0 BRA <1>",
    ];
    let text = "R4 is read, but the LDG at 1 has not been waited for: it sets barrier 0, and no wait for it lies between";
    twins(&right, &[(4, "S6 | IADD R5, R5, R4", 4, text)]);
    // A store of one round, whose source the next one overwrites.
    let right = [
        "S6 | MOV32I R8, 0x3",
        "B1 S6 | IADD R4, R8, 0x7",
        "R1 S2 | STG.E [R2], R4",
        "S6 | IADD32I R8, R8, -0x1",
        "S13 | ISETP.NE.AND P0, PT, R8, RZ, PT",
        "S5 | @P0 BRA <1>",
    ];
    let text = "R4 is overwritten, but the STG at 2, which reads it, has not been waited for: it sets barrier 1, and no \
                wait for it lies between";
    twins(&right, &[(1, "S6 | IADD R4, R8, 0x7", 1, text)]);
    // How long a jump takes is not known, so that it is long enough for a sum.
    let jump = [
        "S6 | MOV R8, RZ",
        "S1 | IADD R4, R0, 0x1",
        "S1 | BRA <4>",
        "S1 | NOP",
        "S6 | IADD R5, R4, R8",
    ];
    assert_eq!(findings(&jump), []);
}

#[test]
fn divergent_code() {
    // One half loads, the other one computes in the same register. They join at 6.
    let right = [
        "S1 | SSY <7>",
        "S13 | ISETP.GT.AND P0, PT, R9, 0xf, PT",
        "S5 | @P0 BRA <5>",
        "W0 S2 | LDG.E R4, [R2]",
        "S5 | SYNC",
        "S6 | IADD R4, R0, 0x1",
        "S5 | SYNC",
        "B0 S6 | IADD R5, R4, 0x1",
    ];
    let text = "R4 is read, but the LDG at 3 has not been waited for: it sets barrier 0, and no wait for it lies between";
    twins(&right, &[(7, "S6 | IADD R5, R4, 0x1", 7, text)]);
    // Barriers are those of the warp: a wait of the other half is one.
    let mut other = right.to_vec();
    other[5] = "B0 S6 | IADD R4, R0, 0x1";
    other[7] = "S6 | IADD R5, R4, 0x1";
    assert_eq!(findings(&other), []);
}

#[test]
fn calls() {
    // The function loads, and the caller waits.
    let right = [
        "S5 | CAL <4>",
        "B0 S6 | IADD R5, R4, 0x1",
        "S5 | EXIT",
        "S1 | NOP",
        "W0 S2 | LDG.E R4, [R2]",
        "S5 | RET",
    ];
    let text = "R4 is read, but the LDG at 4 has not been waited for: it sets barrier 0, and no wait for it lies between";
    twins(&right, &[(1, "S6 | IADD R5, R4, 0x1", 1, text)]);
    // The caller loads, and the function waits.
    let right = [
        "W2 S2 | LDG.E R4, [R2]",
        "S5 | CAL <3>",
        "S5 | EXIT",
        "B2 S6 | IADD R5, R4, 0x1",
        "S5 | RET",
    ];
    let text = "R4 is read, but the LDG at 0 has not been waited for: it sets barrier 2, and no wait for it lies between";
    twins(&right, &[(3, "S6 | IADD R5, R4, 0x1", 3, text)]);
}

#[test]
fn each_register_is_reported_once() {
    let lines = ["S2 | LDG.E.64 R4, [R2]", "S6 | IADD R6, R4, R5", "S6 | IADD R7, R4, R5"];
    let text = "R4 is read, but the LDG at 0 has not been waited for: it sets no barrier";
    assert_eq!(findings(&lines), [(1, text.to_owned())]);
    let (outcome, ..) = run(&lines, Checks::ALL);
    assert_eq!(outcome.fault_count, 1);
    let FaultKind::Scoreboard { fault, .. } = &outcome.faults[0].kind else { panic!("a fault") };
    let expected = ScoreboardFault::NotAwaited {
        row: "R4".into(),
        is_written: false,
        earlier: "LDG",
        of_source: false,
        barrier: None,
    };
    assert_eq!(**fault, expected);
    // Many loads that nothing waits for, and that no one uses.
    let many = [
        "S6 | MOV32I R8, 0x1000",
        "W0 R1 S2 | LDG.E R4, [R2]",
        "S6 | IADD32I R8, R8, -0x1",
        "S13 | ISETP.NE.AND P0, PT, R8, RZ, PT",
        "S5 | @P0 BRA <1>",
    ];
    assert_eq!(findings(&many), []);
}

#[test]
fn what_compilers_rely_on() {
    let early = |row: &str, cycles: u32, name: &str, at: u32, needed: u32| {
        format!(
            "{row} is used {cycles} cycles after the {name} at {at}, whose result takes {needed}"
        )
    };
    // A wait takes as long as what it waits for, also if no lane executes that.
    for guard in ["", "@P1 "] {
        let load = format!("W0 S2 | {guard}LDS.U.32 R4, [RZ]");
        let right = [
            "S13 | PSETP.AND.AND P1, PT, !PT, PT, PT",
            "S1 | ISETP.EQ.AND P0, PT, R0, RZ, PT",
            &load,
            "B0 S1 | IADD R5, R0, 0x1",
            "S6 | @P0 MOV R6, RZ",
        ];
        let text = early("P0", 4, "ISETP", 1, 13);
        twins(&right, &[(3, "S1 | IADD R5, R0, 0x1", 4, &text)]);
    }
    // The result of a conversion that replaces its source comes soon after that is read.
    let right = ["S6 | MOV R4, RZ", "R1 S2 | F2F.F32.F16 R4, R4", "B1 S6 | IADD R5, R4, R0"];
    let text = "R4 is read, but the F2F at 1 has not been waited for: it sets barrier 1, and no wait for it lies between";
    twins(&right, &[(2, "S6 | IADD R5, R4, R0", 2, text)]);
    // Lanes whose guard has been cleared need not know.
    let right = [
        "S13 | PSETP.AND.AND P2, PT, !PT, PT, PT",
        "S2 | @!P2 R2P PR, RZ, 0x4",
        "S6 | @P2 MOV R6, RZ",
    ];
    let text = early("P2", 2, "R2P", 1, 13);
    twins(&right, &[(1, "S2 | @!P2 R2P PR, R9, 0x4", 2, &text)]);
    // Comparisons of doubles and products read their registers two cycles later than sums of doubles.
    for user in ["DSETP.GT.AND P0, PT, R4, R6, PT", "DMNMX R6, R4, R6, PT", "IMUL R6, R5, R7"] {
        let user = format!("W0 S2 | {user}");
        let text = early("R5", 3, "MOV", 0, 6);
        twins(&["S4 | MOV R5, RZ", &user], &[(0, "S3 | MOV R5, RZ", 1, &text)]);
    }
    let text = early("R5", 5, "MOV", 0, 6);
    let right = ["S6 | MOV R5, RZ", "W0 S2 | DADD R6, R4, R6"];
    twins(&right, &[(0, "S5 | MOV R5, RZ", 1, &text)]);
    let text = early("R5", 3, "MOV", 0, 6);
    let right = ["S4 | MOV R5, RZ", "S5 | BAR.SYNC R5"];
    twins(&right, &[(0, "S3 | MOV R5, RZ", 1, &text)]);
}
