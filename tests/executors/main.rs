//! The fast executor agrees with the literal one: the whole warp and the whole outcome.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod addresses;
mod choices;
mod coverage;
mod loads;
mod machines;
mod wide;

use std::fmt::Display;

use proptest::prelude::*;
use warpload::encoding::LoadInstruction;
use warpload::load::{ExecuteError, Outcome, execute, reference};
use warpload::warp::Warp;

use loads::{Case, NUMBERS, Opcode, SIBLINGS};

/// What each executor makes of a case.
fn both<I: LoadInstruction>(case: &Case<I>) -> [(Warp, Result<Outcome, ExecuteError>); 2] {
    [execute, reference].map(|executor| {
        let mut warp = case.warp.clone();
        let outcome = executor(&case.instruction, &case.machine, &mut warp);
        (warp, outcome)
    })
}

fn check<I: LoadInstruction + Display>(case: &Case<I>) -> Result<(), TestCaseError> {
    let Case { instruction, machine, .. } = case;
    let [fast, literal] = both(case);
    prop_assert_eq!(&fast.1, &literal.1, "{} on {:?}", instruction, machine);
    let differing: Vec<_> = fast.0.changed_since(&literal.0).collect();
    prop_assert_eq!(differing, [], "{} on {:?}", instruction, machine);
    let differing: Vec<_> = fast.0.uniform_changed_since(&literal.0).collect();
    prop_assert_eq!(differing, [], "{} on {:?}", instruction, machine);
    prop_assert!(fast.0 == literal.0, "predicates or the active mask differ");
    // What is not executed leaves the warp as it was.
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
