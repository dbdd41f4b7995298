//! The fast executor gives what the literal one gives: the whole warp and the whole outcome.

#![allow(clippy::unwrap_used)]

mod choices;
mod coverage;
mod loads;
mod machines;

use proptest::prelude::*;
use warpload::load::{Outcome, execute, reference};
use warpload::warp::Warp;

use loads::{Case, NUMBERS};

/// What each executor makes of a case.
fn both(case: &Case) -> [(Warp, Outcome); 2] {
    [execute, reference].map(|executor| {
        let mut warp = case.warp.clone();
        let outcome = executor(&case.instruction(), &case.machine, &mut warp).unwrap();
        (warp, outcome)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 4000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn fast_is_literal(numbers in proptest::collection::vec(any::<u64>(), NUMBERS)) {
        let case = Case::new(&numbers);
        let [fast, literal] = both(&case);
        prop_assert_eq!(&fast.1, &literal.1, "{} on {:?}", case.instruction(), &case.machine);
        let differing: Vec<_> = fast.0.changed_since(&literal.0).collect();
        prop_assert_eq!(differing, [], "{} on {:?}", case.instruction(), &case.machine);
        prop_assert!(fast.0 == literal.0, "predicates or the active mask differ");
    }
}
