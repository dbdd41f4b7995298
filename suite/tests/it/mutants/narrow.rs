//! [`NARROW`]: mistakes in one rule, form or place alone, which cases that are drawn at random hardly ever show.

use super::emulator::{Load, RIGHT, Rule, rules_of};
use super::table::{Mutant, mutant};

use Operand::{OtherHalf, Ra, Rd, Uniform};
use Rule::{Misaligned, OutOfRange};

/// The operands with register rules, in the order of the checks. Of 256 bits, the other half is the group of R1st.
#[derive(Clone, Copy, PartialEq)]
enum Operand {
    Rd,
    OtherHalf,
    Ra,
    Uniform,
}

/// The broken rules in the order of the checks, except that `first` comes before `second`.
fn reordered(load: &Load, first: (Rule, Operand), second: (Rule, Operand)) -> Vec<Rule> {
    let (address, uniform_limit) = (&load.parts.address, load.parts.uniform_registers);
    let limit = if load.fills_uniform() { uniform_limit } else { load.limit() };
    let filled = load.groups().into_iter().zip([Rd, OtherHalf]);
    let filled = filled.map(|((from, count), operand)| (operand, from, count, limit));
    let base =
        (address.extended && load.has_base()).then(|| (Ra, address.base.number(), 2, load.limit()));
    let uniform = address.uniform.filter(|one| one.extended && !one.register.is_zero());
    let uniform = uniform.map(|one| (Uniform, one.register.number(), 2, uniform_limit));
    let mut broken: Vec<(Rule, Operand)> = filled
        .chain(base)
        .chain(uniform)
        .flat_map(|(operand, from, count, limit)| {
            rules_of(from, count, limit).into_iter().map(move |rule| (rule, operand))
        })
        .collect();
    let place = |of| broken.iter().position(|one| *one == of);
    if let (Some(from), Some(to)) = (place(first), place(second)) {
        broken[to..=from].rotate_right(1);
    }
    broken.into_iter().map(|(rule, _)| rule).collect()
}

/// A mutant that checks one rule before another one.
macro_rules! order {
    ($name:literal, [$($says:literal),+], $first:expr, $second:expr) => {
        mutant($name, &[$($says),+], |e| e.rules = |load| reordered(load, $first, $second))
    };
}

/// Whether Ra is at or above the limit.
fn is_beyond(load: &Load) -> bool {
    !load.parts.address.base.is_zero() && !load.has_base()
}

/// A mutant in which an Ra at or above the limit stands for the register with another number.
macro_rules! beyond {
    ($name:literal, $says:literal, $number:expr) => {
        mutant($name, &[$says], |e| {
            e.base = |e, load, lane| {
                let number: fn(u8, u8) -> Option<u8> = $number;
                match number(load.parts.address.base.number(), load.limit()) {
                    Some(number) if is_beyond(load) => {
                        Some((e.register)(load, number, lane).into())
                    }
                    _ => (RIGHT.base)(e, load, lane),
                }
            }
        })
    };
}

/// A mutant that changes the offset of some loads. The last argument of `change` says whether a register is added.
macro_rules! offset {
    ($name:literal, $says:literal, $if:expr, $change:expr) => {
        mutant($name, &[$says], |e| {
            e.offset = |load, has_base| {
                let (right, uniform) = ((RIGHT.offset)(load, has_base), load.parts.address.uniform);
                let has_register = has_base || uniform.is_some_and(|one| !one.register.is_zero());
                let (is_of, change): (fn(&Load) -> bool, fn(i64, bool) -> i64) = ($if, $change);
                if is_of(load) { change(right, has_register) } else { right }
            }
        })
    };
}

#[rustfmt::skip]
pub(super) const NARROW: &[Mutant] = &[
    // The order of register rules.
    order!("the range of Ra is checked before the alignment of Rd", ["`order-destination-base`"], (OutOfRange, Ra), (Misaligned, Rd)),
    order!("the alignment of Ra is checked before the range of Rd", ["`order-destination-base`", "`order-operands`"], (Misaligned, Ra), (OutOfRange, Rd)),
    order!("the range of the other half is checked before the alignment of Rd", ["`order-halves`"], (OutOfRange, OtherHalf), (Misaligned, Rd)),
    order!("the alignment of the other half is checked before the range of Rd", ["`order-halves`"], (Misaligned, OtherHalf), (OutOfRange, Rd)),
    order!("the range of the other half is checked before its alignment", ["`order-half`"], (OutOfRange, OtherHalf), (Misaligned, OtherHalf)),
    order!("the range of Ra is checked before the alignment of the other half", ["`order-half-base`"], (OutOfRange, Ra), (Misaligned, OtherHalf)),
    order!("the alignment of Ra is checked before the range of the other half", ["`order-half-base`"], (Misaligned, Ra), (OutOfRange, OtherHalf)),
    order!("the range of uniform registers is checked before the alignment of Rd", ["`order-destination-uniform`"], (OutOfRange, Uniform), (Misaligned, Rd)),
    order!("the alignment of uniform registers is checked before the range of Rd", ["`order-destination-uniform`"], (Misaligned, Uniform), (OutOfRange, Rd)),
    order!("the range of uniform registers is checked before the alignment of the other half", ["`order-half-uniform`"], (OutOfRange, Uniform), (Misaligned, OtherHalf)),
    order!("the alignment of uniform registers is checked before the range of the other half", ["`order-half-uniform`"], (Misaligned, Uniform), (OutOfRange, OtherHalf)),
    order!("the range of uniform registers is checked before the alignment of Ra", ["`order-base-uniform`"], (OutOfRange, Uniform), (Misaligned, Ra)),
    order!("the alignment of uniform registers is checked before the range of Ra", ["`order-base-uniform`"], (Misaligned, Uniform), (OutOfRange, Ra)),

    // An Ra at or above the limit, and the last register.
    beyond!("an Ra at the limit is a base", "`base-at-limit`", |ra, limit| (ra == limit).then_some(ra)),
    beyond!("an Ra beyond the limit is the last register", "`beyond-limit-decoys`", |_, limit| Some(limit - 1)),
    beyond!("an Ra beyond the limit is the register at the limit", "`beyond-limit-decoys`", |_, limit| Some(limit)),
    beyond!("an Ra beyond the limit starts anew from R0", "`beyond-limit-decoys`", |ra, limit| ra.checked_sub(limit)),
    beyond!("an Ra beyond the limit is R0", "`beyond-limit-decoys`", |_, _| Some(0)),
    mutant("the limit is the base instead of an Ra beyond it", &["`base-beyond-limit`", "`beyond-limit-decoys`"], |e| e.base = |e, load, lane| {
        if is_beyond(load) { Some(load.limit().into()) } else { (RIGHT.base)(e, load, lane) }
    }),
    mutant("only the high register of a pair has a limit", &["`base-at-limit`", "`beyond-limit-decoys`"], |e| e.base = |e, load, lane| {
        let address = &load.parts.address;
        match address.extended && is_beyond(load) {
            true => Some((e.register)(load, address.base.number(), lane).into()),
            false => (RIGHT.base)(e, load, lane),
        }
    }),
    mutant("beside an Ra beyond the limit the uniform register is ignored", &["`beyond-limit-decoys`", "`beyond-limit-sign`"], |e| e.uniform = |e, load| {
        if is_beyond(load) { 0 } else { (RIGHT.uniform)(e, load) }
    }),
    mutant("an offset beside an Ra beyond the limit is signed", &["`beyond-limit-sign`", "`offset-unsigned`"], |e| e.offset = |load, has_base| {
        if is_beyond(load) { load.parts.address.offset.signed().into() } else { (RIGHT.offset)(load, has_base) }
    }),
    offset!("every offset beside an Ra beyond the limit is unsigned", "`beyond-limit-sign`", |load| is_beyond(load) && !load.is_wide(), |right, _| right & 0xff_ffff),
    mutant("R254 is no base", &["`highest-base`"], |e| e.base = |e, load, lane| {
        (RIGHT.base)(e, load, lane).filter(|_| load.parts.address.base.number() != 254)
    }),
];
