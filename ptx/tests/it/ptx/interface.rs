//! Properties that callers rely on: errors implement `Error`, and names survive writing and reading.

use std::error::Error;
use std::fmt::{Debug, Display};
use std::str::FromStr;

use warpload_ptx::lower::{LowerError, LowerErrorKind};
use warpload_ptx::meaning::MeaningError;
use warpload_ptx::module::{LayoutError, ReadError, ReadErrorKind};
use warpload_ptx::rules::Rule;
use warpload_ptx::run::{PlacementError, RunError, RunErrorKind, ValueError};
use warpload_ptx::syntax::{
    LexicalError, ParseNameError, ScalarType, StateSpace, SyntaxError, Target, Version,
};
use warpload_ptx::tensor::{
    ColumnsError, IllegalLoadError, LaneMode, LengthError, Pattern, ReductionOperation,
    ReductionType, Repeat, Shape, TensorFault, TensorLoadError, TensorLoadErrorKind,
};

#[test]
fn errors_can_be_boxed_and_sent() {
    fn assert<E: Error + Send + Sync + 'static>() {}
    assert::<ColumnsError>();
    assert::<IllegalLoadError>();
    assert::<LayoutError>();
    assert::<LengthError>();
    assert::<LexicalError>();
    assert::<LowerError>();
    assert::<LowerErrorKind>();
    assert::<MeaningError>();
    assert::<ParseNameError>();
    assert::<PlacementError>();
    assert::<ReadError>();
    assert::<ReadErrorKind>();
    assert::<RunError>();
    assert::<RunErrorKind>();
    assert::<SyntaxError>();
    assert::<TensorFault>();
    assert::<TensorLoadError>();
    assert::<TensorLoadErrorKind>();
    assert::<ValueError>();
}

#[test]
fn causes_are_told_once() {
    let cause = warpload::memory::ConfigError::AddressBits { address_bits: 8 };
    let error = PlacementError::Memory { cause: cause.clone(), name: None };
    assert_eq!(error.to_string(), cause.to_string());
    assert!(error.source().is_none());
}

#[test]
fn names_are_read_and_written() {
    fn assert<T>(values: impl IntoIterator<Item = T>)
    where
        T: FromStr + Display + PartialEq + Debug,
        T::Err: Debug + PartialEq,
    {
        for value in values {
            assert_eq!(value.to_string().parse(), Ok(value));
        }
        assert!("nothing".parse::<T>().is_err());
        assert!("".parse::<T>().is_err());
    }
    assert(Rule::ALL.iter().copied());
    assert(StateSpace::ALL);
    assert([ScalarType::Pred, ScalarType::F16x2, ScalarType::B128]);
    assert([Version::new(1, 0), Version::new(9, 5)]);
    assert(["sm_90", "sm_90a", "sm_120f"].map(|name| name.parse::<Target>().unwrap()));
    assert(Shape::ALL);
    assert(Repeat::ALL);
    assert(Pattern::ALL);
    assert(ReductionOperation::ALL);
    assert(ReductionType::ALL);
    assert([LaneMode::Strict, LaneMode::Wrap]);
    for num in [0, 3, 256, u32::MAX] {
        assert!(Repeat::try_from(num).is_err(), "{num}");
    }
    let error = "sm_".parse::<Target>().unwrap_err();
    assert_eq!(error.to_string(), "expected a target such as `sm_90`, `sm_100a` or `sm_100f`");
}
