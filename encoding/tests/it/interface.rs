//! What generic code relies on.

use std::error::Error;
use std::fmt::Display;
use std::str::FromStr;

use warpload_encoding::control::Schedule;
use warpload_encoding::{
    CacheOp, ConstantMode, FieldOverflow, Instruction, InvalidPred, InvalidSize, Ld, LimitedSize,
    LocalCacheOp, ParseError, ParsedLine, Pred, Reg, Size, Word, WordLayout,
};

#[test]
fn errors_pass_through_threads_and_boxes() {
    fn check<E: Error + Send + Sync + 'static>() {}
    check::<ParseError>();
    check::<FieldOverflow>();
    check::<FieldOverflow<u128>>();
    check::<InvalidSize>();
    check::<InvalidPred>();
}

#[test]
fn an_invalid_size_is_an_error() -> Result<(), Box<dyn Error>> {
    fn size(word: u64) -> Result<Size, Box<dyn Error>> {
        Ok(Instruction::decode(word).ok_or("not a load")?.size()?)
    }
    assert_eq!(size(0xef90_0000_0000_0000)?, Size::U8);
    let error = size(0xef96_0000_0000_0000).map_err(|error| error.to_string());
    assert_eq!(error, Err("INVALIDSIZE6".to_owned()));
    Ok(())
}

#[test]
fn texts_and_numbers_convert_by_traits() -> Result<(), Box<dyn Error>> {
    fn check<T: FromStr<Err = ParseError>>() {}
    check::<Instruction>();
    check::<ParsedLine>();
    check::<Schedule>();
    fn displays<T: Display>() {}
    displays::<Instruction>();
    displays::<LimitedSize<7>>();
    displays::<LocalCacheOp>();

    assert_eq!("r12".parse::<Reg>()?, Reg::new(12));
    assert_eq!("PT".parse::<Pred>()?, Pred::PT);
    assert_eq!("u.128".parse::<Size>()?, Size::U128);
    assert_eq!(format!("{}{}{}", Size::S16, CacheOp::Cv, ConstantMode::Direct), "S16CV");

    assert_eq!(Reg::from(255), Reg::RZ);
    assert_eq!(Pred::try_from(7)?, Pred::PT);
    let error = Pred::try_from(8).map_err(|error| error.to_string());
    assert_eq!(error, Err("invalid predicate number 8; expected 0..=7".to_owned()));
    for (number, predicate) in (0..).zip(Pred::ALL) {
        assert_eq!(predicate.number(), number);
    }
    Ok(())
}

/// The word of a layout is at hand without its fields.
#[test]
fn a_word_of_a_layout_is_its_integer() {
    let fields = Ld { destination: Reg::new(4), ..Ld::default() };
    let word: <Ld as WordLayout>::Word = Word::from(fields).bits();
    assert_eq!(word, fields.pack());
}
