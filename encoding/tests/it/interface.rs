//! The traits that generic code relies on.

use std::error::Error;
use std::fmt::Display;
use std::str::FromStr;

use warpload_encoding::control::Schedule;
use warpload_encoding::{
    ConstantMode, Illegal, Instruction, InvalidPred, NotExecutable, ParseError, Pred, Reg, Size,
    Slot,
};

use crate::common::{decode, parse};

#[test]
fn errors_pass_through_threads_and_boxes() {
    fn check<E: Error + Send + Sync + 'static>() {}
    check::<ParseError>();
    check::<Illegal>();
    check::<NotExecutable>();
    check::<InvalidPred>();
}

#[test]
fn an_invalid_size_is_an_error() {
    let size = |word| decode(word).expect("a load").parts().size;
    assert_eq!(size(0xef90_0000_0000_0000).map(|size| size.bytes()), Ok(1));
    let error = size(0xef96_0000_0000_0000).map_err(|error| error.to_string());
    assert_eq!(error, Err(".INVALIDSIZE6 is invalid".to_owned()));
}

#[test]
fn texts_and_numbers_convert_by_traits() -> Result<(), Box<dyn Error>> {
    fn check<T: FromStr<Err = ParseError>>() {}
    check::<Schedule>();
    fn displays<T: Display>() {}
    displays::<Instruction>();
    displays::<ConstantMode>();

    assert_eq!("r12".parse::<Reg>()?, Reg::new(12));
    assert_eq!("PT".parse::<Pred>()?, Pred::PT);
    assert_eq!("u.128".parse::<Size>()?, Size::U128);
    assert_eq!(format!("{}{}{}", Size::S16, ConstantMode::Is, ConstantMode::Direct), "S16IS");

    assert_eq!(Reg::from(255), Reg::RZ);
    assert_eq!(Pred::try_from(7)?, Pred::PT);
    let error = Pred::try_from(8).map_err(|error| error.to_string());
    assert_eq!(error, Err("invalid predicate number 8; expected 0..=7".to_owned()));
    for (number, predicate) in (0..).zip(Pred::ALL) {
        assert_eq!(predicate.number(), number);
    }
    Ok(())
}

/// A field is set if the number fits and the word stays one of the form.
#[test]
fn fields_are_set() {
    let load = parse("LDC.64 R4, c[0x3][R2+0x10]").expect("a load").instruction;
    let with = |slot, number| load.with(slot, number).map(|load| load.to_string());
    assert_eq!(with(Slot::Bank, 0x1f).as_deref(), Some("LDC.64 R4, c[0x1f][R2+0x10]"));
    assert_eq!(with(Slot::Offset, 0xfffc).as_deref(), Some("LDC.64 R4, c[0x3][R2+-0x4]"));
    assert_eq!(
        (with(Slot::Bank, 0x20), with(Slot::Cache, 0), with(Slot::Opcode, 0)),
        (None, None, None)
    );
    let sm = "80".parse().expect("an SM");
    let wide = warpload_encoding::parse_line("LDG.E R4, desc[UR4][R2.64]", sm).expect("a load");
    // A descriptor needs a 64-bit base.
    assert_eq!(wide.instruction.with(Slot::Wide, 0), None);
    let other = wide.instruction.with(Slot::HighDestination, 0);
    assert_eq!(other, None);
}
