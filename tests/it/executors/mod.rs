//! The fast executor agrees with the literal one: the whole warp and the whole outcome.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod addresses;
mod choices;
mod coverage;
mod loads;
mod machines;
mod wide;

use proptest::prelude::*;
use warpload::encoding::{Instruction, Pred};
use warpload::lane::LaneMask;
use warpload::load::{ExecuteError, Outcome, execute, reference};
use warpload::machine::Machine;
use warpload::memory::Memory;
use warpload::warp::Warp;

use loads::{Case, NUMBERS, Opcode, SIBLINGS};

/// The results of both executors.
fn both(case: &Case) -> [(Warp, Result<Outcome, ExecuteError>); 2] {
    [execute, reference].map(|executor| {
        let mut warp = case.warp.clone();
        let outcome = executor(&case.instruction, &case.machine, &mut warp);
        (warp, outcome)
    })
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let Case { instruction, machine, .. } = case;
    let [fast, literal] = both(case);
    prop_assert_eq!(&fast.1, &literal.1, "{} on {:?}", instruction, machine);
    let differing: Vec<_> = fast.0.changed_since(&literal.0).collect();
    prop_assert_eq!(differing, [], "{} on {:?}", instruction, machine);
    let differing: Vec<_> = fast.0.uniform_changed_since(&literal.0).collect();
    prop_assert_eq!(differing, [], "{} on {:?}", instruction, machine);
    prop_assert!(fast.0 == literal.0, "predicates or the active mask differ");
    // An instruction that is refused leaves the warp unchanged.
    prop_assert!(literal.1.is_ok() || literal.0 == case.warp, "{}", instruction);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn fast_is_literal(numbers in proptest::collection::vec(any::<u64>(), NUMBERS)) {
        check(&Case::new(&numbers, &[Opcode::Ld]))?;
    }

    #[test]
    fn fast_is_literal_for_the_siblings(
        numbers in proptest::collection::vec(any::<u64>(), NUMBERS),
    ) {
        check(&Case::new(&numbers, SIBLINGS))?;
    }

    #[test]
    fn fast_is_literal_for_loads_of_128_bits(
        numbers in proptest::collection::vec(any::<u64>(), NUMBERS),
    ) {
        if let Some(case) = Case::wide(&numbers) {
            check(&case)?;
        }
    }
}

/// Matrices need all lanes. With fewer lanes the load is an error, even if the registers would fault
/// (docs/load-sm70.md, clause 14).
#[test]
fn matrices_of_a_part_of_the_warp_are_an_error() {
    for (text, predicate, active, is_partial) in [
        ("LDSM.16.M88.2 R1, [R4]", u32::MAX, u32::MAX - 1, true),
        ("LDSM.16.M88.2 R1, [R4]", u32::MAX, 1, true),
        ("LDSM.16.M88.4 R252, [R4]", u32::MAX, 1 << 31, true),
        ("@P0 LDSM.16.M88.2 R1, [R4]", 0xff, u32::MAX, true),
        ("LDSM.16.M88.2 R2, [R4]", u32::MAX, u32::MAX - 1, true),
        // All lanes, and none.
        ("LDSM.16.M88.2 R1, [R4]", u32::MAX, u32::MAX, false),
        ("LDSM.16.M88.2 R1, [R4]", u32::MAX, 0, false),
        ("@!P0 LDSM.16.M88.2 R1, [R4]", u32::MAX, 1, false),
    ] {
        let instruction = Instruction::parse(text, "80".parse().unwrap()).unwrap();
        let memory = Memory::builder().shared(&[0; 512]).build().unwrap();
        let mut warp = Warp::new();
        warp.active = LaneMask::from_bits(active);
        warp.set_predicate(Pred::try_from(0).unwrap(), LaneMask::from_bits(predicate));
        let case = Case { machine: Machine::new(memory), instruction, warp };
        let [fast, literal] = both(&case);
        assert_eq!(fast.1, literal.1, "{text} {active:#x}");
        let is_error = matches!(literal.1, Err(ExecuteError::PartialWarp("LDSM")));
        assert_eq!(is_error, is_partial, "{text} {active:#x}: {:?}", literal.1);
        assert!(fast.0 == case.warp && literal.0 == case.warp, "{text} {active:#x}");
    }
}
