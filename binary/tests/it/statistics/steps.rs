//! Effects and targets of instructions, compared with nvdisasm 12.8.

use warpload_binary::statistics::{BranchTarget, InstructionFacts};
use warpload_encoding::Sm;

const STEPS: &str = include_str!("../../../../tests/data/statistics/steps.tsv");
/// The offset of the instruction, far from both ends of the range, so that relative targets do not overflow.
const OFFSET: u64 = 1 << 60;

struct Row<'r> {
    text: &'r str,
    sm: Sm,
    step: InstructionFacts,
    mnemonic: &'r str,
    registers: Vec<u8>,
    predicates: bool,
    uniform: bool,
    target: &'r str,
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    STEPS.lines().map(|text| {
        let fields: Vec<&str> = text.split('\t').collect();
        let [sm, word, mnemonic, registers, predicates, uniform, target] = fields[..] else {
            panic!("{text}");
        };
        let sm: Sm = sm.parse().expect("an SM");
        let word = u128::from_str_radix(word.trim_start_matches("0x"), 16).expect("a word");
        let step = if sm.has_wide_words() {
            InstructionFacts::wide(Some(OFFSET), word, sm, None)
        } else {
            // The first slot of a bundle, which is at 8.
            InstructionFacts::narrow(Some(OFFSET + 8), word as u64)
        };
        let registers = registers.split(',').filter_map(|number| number.parse().ok()).collect();
        let (predicates, uniform) = (predicates == "P", uniform == "U");
        Row { text, sm, step, mnemonic, registers, predicates, uniform, target }
    })
}

#[test]
fn nothing_is_changed_that_is_not_said() {
    let mut exact = 0;
    for Row { text, step, registers, predicates, uniform, .. } in rows() {
        let effect = step.effect;
        if effect.memory {
            continue;
        }
        let written: Vec<u8> = effect.registers.into_iter().flat_map(|r| r.numbers()).collect();
        assert!(registers.iter().all(|register| written.contains(register)), "{text}: {written:?}");
        assert!(effect.predicates || !predicates, "{text}");
        assert!(effect.uniform || !uniform, "{text}");
        exact += usize::from(written == registers);
    }
    assert!(exact > 600, "{exact}");
}

#[test]
fn what_writes_memory_or_orders_accesses_says_so() {
    let mnemonics = [
        "ST", "STG", "STL", "STS", "ATOM", "ATOMG", "ATOMS", "RED", "REDG", "SUST", "SURED", "BAR",
        "MEMBAR", "CCTL", "CCTLL", "ERRBAR", "FENCE", "LDGSTS", "STSM", "SYNCS", "UTMASTG", "STTM",
        "EXIT", "RET", "CALL", "CAL", "BRA", "BRX", "BSYNC", "SYNC", "WARPSYNC", "HGMMA", "R2B",
    ];
    let mut seen = std::collections::BTreeSet::new();
    for row in rows().filter(|row| mnemonics.contains(&row.mnemonic)) {
        assert!(row.step.effect.memory, "{}", row.text);
        seen.insert(row.mnemonic);
    }
    // The sample has no SYNC and R2B of SM 5.0 that nvdisasm accepts as it is.
    assert!(seen.len() > mnemonics.len() - 4, "{seen:?}");
}

#[test]
fn targets_are_those_of_nvdisasm() {
    let mut targets = 0;
    for Row { text, sm, step, target, .. } in rows() {
        let next = OFFSET + 16;
        match target {
            "-" => {}
            "?" => assert_eq!(step.flow.target, BranchTarget::Unknown, "{text}"),
            _ => {
                let distance: i64 = target.parse().expect("a distance");
                let expected = next.checked_add_signed(distance).expect("an offset");
                assert_eq!(step.flow.target, BranchTarget::At(expected), "{text} of {sm:?}");
                targets += 1;
            }
        }
    }
    assert!(targets > 50, "{targets}");
}

#[test]
fn blocks_end_at_branches() {
    for Row { text, step, mnemonic, .. } in rows() {
        let is_branch = [
            "BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "CALL", "CAL", "JCAL", "RET", "EXIT",
            "KILL", "KIL", "BSYNC", "SYNC", "BRK", "CONT", "BREAK", "LONGJMP",
        ];
        if is_branch.contains(&mnemonic) {
            assert!(step.flow.ends_block, "{text}");
        }
        if ["SSY", "PBK", "PCNT", "BSSY", "MOV", "IADD", "IADD3"].contains(&mnemonic) {
            assert!(!step.flow.ends_block, "{text}");
        }
    }
}
