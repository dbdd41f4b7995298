//! Sums, comparisons and tests with the flags of machine code: zero, sign, carry and overflow. A row has them for each
//! lane, in the fourth operand.

use super::{LaneFunction, LaneOperation};
use crate::code::Op;
use crate::registers::{Origin, Registers};
use crate::scalar::ScalarType as T;
use warpload::lane::LANES;

/// The carry, 0 to 2, because a sum of three words has two bits of it.
const CARRY: u32 = 3;
const ZERO: u32 = 1 << 2;
const SIGN: u32 = 1 << 3;
const OVERFLOW: u32 = 1 << 4;

/// A sum of up to three words modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlagSum {
    /// Whether each source is inverted: `~x + 1` is `-x`.
    pub inverted: [bool; 3],
    /// Added to the sum, unless it takes the carry.
    pub ones: u32,
    /// Whether the carry is added.
    pub takes_carry: bool,
    /// Whether the flags are written. A sum that takes the carry, too, sets zero only where it was set.
    pub writes: bool,
    /// Whether the result is limited to the range of signed words.
    pub saturates: bool,
    /// The shift of the sum of the first two words.
    pub shift: SumShift,
}

/// The shift of the sum of two words, which has 33 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SumShift {
    /// None.
    #[default]
    None,
    /// Right by 16.
    Right,
    /// Left by 16.
    Left,
}

/// Adds words.
#[must_use]
pub fn sum_with_flags(sum: FlagSum) -> Option<LaneOperation> {
    let function = LaneFunction::new(move |r, o, e| add_each(r, o, e, sum));
    LaneOperation::new(T::U32, &[T::U32; 4], function)
}

fn add_each(r: &mut Registers, op: &Op, exec: u32, sum: FlagSum) {
    let [a, b, c, flags] = [op.a, op.b, op.c, op.e].map(|slot| *r.get::<u32>(slot));
    let mut written = flags;
    let invert = |at: usize| if sum.inverted[at] { u32::MAX } else { 0 };
    let out: [u32; LANES] = std::array::from_fn(|lane| {
        let [a, b, c] = [a[lane] ^ invert(0), b[lane] ^ invert(1), c[lane] ^ invert(2)];
        let one = if sum.takes_carry { flags[lane] & CARRY } else { sum.ones };
        let first = u64::from(a) + u64::from(b);
        let first = match sum.shift {
            SumShift::None => first,
            SumShift::Right => first >> 16,
            SumShift::Left => first << 16 & u64::from(u32::MAX),
        };
        let whole = first + u64::from(c) + u64::from(one);
        let result = whole as u32;
        let overflow = (a ^ result) & (b ^ result) & 1 << 31 != 0;
        let result = match overflow && sum.saturates {
            true if a >> 31 == 0 => i32::MAX as u32,
            true => i32::MIN as u32,
            false => result,
        };
        let was_zero = !(sum.takes_carry && flags[lane] & ZERO == 0);
        written[lane] = (whole >> 32) as u32 & CARRY | flags_of(result, was_zero, overflow);
        result
    });
    r.put(op.d, &out, exec);
    let sources = if sum.takes_carry { [op.a, op.b, op.c, op.e] } else { [op.a, op.b, op.c, op.c] };
    r.derive(op.d, &sources, exec);
    if sum.writes {
        r.put(op.e, &written, exec);
        r.derive(op.e, &sources, exec);
    }
}

fn flags_of(result: u32, was_zero: bool, overflow: bool) -> u32 {
    let zero = if result == 0 && was_zero { ZERO } else { 0 };
    let sign = if result >> 31 != 0 { SIGN } else { 0 };
    zero | sign | if overflow { OVERFLOW } else { 0 }
}

/// The flags of a result: no carry and no overflow.
#[must_use]
pub fn flags_of_result() -> Option<LaneOperation> {
    LaneOperation::uniform(T::U32, 1, each_lane!(map1, |a: u32| flags_of(a, true, false)))
}

/// A relation of two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagTest {
    /// Never.
    False,
    /// Less.
    Less,
    /// Equal.
    Equal,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Not equal.
    NotEqual,
    /// Greater or equal.
    GreaterOrEqual,
    /// Always.
    True,
    /// Unsigned: lower.
    Lower,
    /// Unsigned: lower or the same.
    LowerOrSame,
    /// Unsigned: higher.
    Higher,
    /// Unsigned: higher or the same.
    HigherOrSame,
    /// The sign is set.
    Sign,
    /// The sign is not set.
    NoSign,
    /// The overflow is set.
    Overflow,
    /// The overflow is not set.
    NoOverflow,
}

impl FlagTest {
    fn holds(self, flags: u32) -> bool {
        let [zero, sign, overflow] = [ZERO, SIGN, OVERFLOW].map(|flag| flags & flag != 0);
        // A difference without a borrow has a carry.
        let (less, lower) = (sign != overflow, flags & CARRY == 0);
        match self {
            Self::False => false,
            Self::Less => less,
            Self::Equal => zero,
            Self::LessOrEqual => less || zero,
            Self::Greater => !less && !zero,
            Self::NotEqual => !zero,
            Self::GreaterOrEqual => !less,
            Self::True => true,
            Self::Lower => lower,
            Self::LowerOrSame => lower || zero,
            Self::Higher => !lower && !zero,
            Self::HigherOrSame => !lower,
            Self::Sign => sign,
            Self::NoSign => !sign,
            Self::Overflow => overflow,
            Self::NoOverflow => !overflow,
        }
    }
}

/// Tests the flags in the source.
#[must_use]
pub fn test_flags(test: FlagTest) -> Option<LaneOperation> {
    let function = LaneFunction::new(move |r, o, e| {
        let flags = r.get::<u32>(o.a);
        let lanes = (0..LANES).filter(|lane| test.holds(flags[*lane]));
        let lanes = lanes.fold(0, |lanes, lane| lanes | 1 << lane);
        r.put_predicate(o.d, lanes, &[o.a], e);
    });
    LaneOperation::new(T::Pred, &[T::U32], function)
}

/// Compares the high words of two numbers whose low words have been subtracted: the flags of that difference are the
/// third source.
#[must_use]
pub fn compare_with_flags(test: FlagTest) -> Option<LaneOperation> {
    let function = LaneFunction::new(move |r, o, e| {
        let [a, b, flags] = [o.a, o.b, o.c].map(|slot| *r.get::<u32>(slot));
        let lanes = (0..LANES).filter(|lane| {
            let (a, b) = (a[*lane], !b[*lane]);
            let whole = u64::from(a) + u64::from(b) + u64::from(flags[*lane] & CARRY);
            let result = whole as u32;
            let overflow = (a ^ result) & (b ^ result) & 1 << 31 != 0;
            let was_zero = flags[*lane] & ZERO != 0;
            test.holds((whole >> 32) as u32 & CARRY | flags_of(result, was_zero, overflow))
        });
        let lanes = lanes.fold(0, |lanes, lane| lanes | 1 << lane);
        r.put_predicate(o.d, lanes, &[o.a, o.b, o.c], e);
    });
    LaneOperation::new(T::Pred, &[T::U32; 3], function)
}

/// The step of a choice between two numbers of several words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WideChoice {
    /// Chooses the highest words, and notes the choice.
    High,
    /// Takes the choice that the higher words have made, or makes it where they were equal.
    Low,
}

/// Takes the smaller or the larger of two words, as a step for numbers of several words. The third source is a predicate:
/// the smaller one where it is true. The fourth one has the choice: 0 where the words were equal, else 1 for the first
/// number and 2 for the second.
#[must_use]
pub fn choose_wide(choice: WideChoice, is_signed: bool) -> Option<LaneOperation> {
    let function = LaneFunction::new(move |r, o, e| {
        let [a, b, made] = [o.a, o.b, o.e].map(|slot| *r.get::<u32>(slot));
        let smaller = r.predicate(o.c);
        let mut written = made;
        let out: [u32; LANES] = std::array::from_fn(|lane| {
            let (a, b) = (a[lane], b[lane]);
            let is_less = if is_signed { (a as i32) < b as i32 } else { a < b };
            let is_first = is_less == (smaller >> lane & 1 != 0);
            let own = if is_first { 1 } else { 2 };
            let chosen = match (choice, made[lane]) {
                (WideChoice::Low, chosen @ (1 | 2)) => chosen,
                _ => own,
            };
            written[lane] = if a == b { 0 } else { own };
            if chosen == 1 { a } else { b }
        });
        let sources = [o.a, o.b, o.c, if choice == WideChoice::Low { o.e } else { o.c }];
        r.put(o.d, &out, e);
        r.derive(o.d, &sources, e);
        if choice == WideChoice::High {
            r.put(o.e, &written, e);
            r.derive(o.e, &sources, e);
        }
    });
    LaneOperation::new(T::U32, &[T::U32, T::U32, T::Pred, T::U32], function)
}

/// The product of two halves of words, as machine code of SM 5.x and 6.x has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HalfProduct {
    /// Whether each factor is signed, and whether it is the high half of its word.
    pub signed: [bool; 2],
    /// Whether each factor is the high half.
    pub high: [bool; 2],
    /// Whether the product is shifted left by 16.
    pub shifts: bool,
    /// The addend made of the third source.
    pub addend: HalfAddend,
    /// Whether the high half of the result is the low half of the second factor's word.
    pub merges: bool,
    /// Whether the carry is added.
    pub takes_carry: bool,
    /// Whether the flags are written.
    pub writes: bool,
}

/// The addend of a [`HalfProduct`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HalfAddend {
    /// The word.
    #[default]
    Word,
    /// Its low half.
    Low,
    /// Its high half.
    High,
    /// The word less the correction of factors that are negative.
    Signs,
    /// The word, and the whole second source shifted left by 16.
    Factor,
}

/// Multiplies halves and adds.
#[must_use]
pub fn multiply_halves(of: HalfProduct) -> Option<LaneOperation> {
    let function = LaneFunction::new(move |r, o, e| multiply_each(r, o, e, of));
    LaneOperation::new(T::U32, &[T::U32; 4], function)
}

fn multiply_each(r: &mut Registers, op: &Op, exec: u32, of: HalfProduct) {
    let [a, b, c, flags] = [op.a, op.b, op.c, op.e].map(|slot| *r.get::<u32>(slot));
    let mut written = flags;
    let half = |word: u32, at: usize| if of.high[at] { word >> 16 } else { word & 0xffff };
    let value = |half: u32, at: usize| {
        if of.signed[at] { i32::from(half as i16) } else { half as i32 }
    };
    let out: [u32; LANES] = std::array::from_fn(|lane| {
        let (a, b, c) = (a[lane], b[lane], c[lane]);
        let [first, second] = [half(a, 0), half(b, 1)];
        let product = value(first, 0).wrapping_mul(value(second, 1)) as u32;
        let product = if of.shifts { product << 16 } else { product };
        let addend = match of.addend {
            HalfAddend::Word => c,
            HalfAddend::Low => c & 0xffff,
            HalfAddend::High => c >> 16,
            HalfAddend::Factor => c.wrapping_add(b << 16),
            HalfAddend::Signs => {
                // Both documents that describe it are wrong: only this one gives the right high words of products.
                let is_negative = |half: u32| half >> 15 & 1 != 0;
                let first_counts = is_negative(first) && b & 0xffff != 0;
                let second_counts = is_negative(second) && a & 0xffff != 0;
                let count = u32::from(first_counts) + u32::from(second_counts);
                c.wrapping_sub(count << 16)
            }
        };
        let carry = if of.takes_carry { flags[lane] & CARRY } else { 0 };
        let whole = u64::from(product) + u64::from(addend) + u64::from(carry);
        let result = whole as u32;
        let was_zero = !(of.takes_carry && flags[lane] & ZERO == 0);
        let overflow = (product ^ result) & (addend ^ result) & 1 << 31 != 0;
        written[lane] = (whole >> 32) as u32 & CARRY | flags_of(result, was_zero, overflow);
        if of.merges { b << 16 | result & 0xffff } else { result }
    });
    r.put(op.d, &out, exec);
    let flags_in = if of.takes_carry { op.e } else { op.c };
    let sources = [op.a, op.b, op.c, flags_in];
    r.derive(op.d, &sources, exec);
    if of.writes {
        r.put(op.e, &written, exec);
        r.derive(op.e, &sources, exec);
    }
}

/// The low half of the first word below the high half of the second one. A second word that nothing has ever written is
/// known here: what a program makes of its bits, it does not use.
#[must_use]
pub fn insert_low_half() -> Option<LaneOperation> {
    let function = LaneFunction::new(move |r, o, e| {
        let is_unwritten = matches!(r.origin(o.b), Origin::NeverWritten { .. });
        let sources = if is_unwritten { [o.a, o.a] } else { [o.a, o.b] };
        let [low, high] = [o.a, o.b].map(|slot| *r.get::<u32>(slot));
        let out: [u32; LANES] =
            std::array::from_fn(|lane| high[lane] & !0xffff | low[lane] & 0xffff);
        r.put(o.d, &out, e);
        r.derive(o.d, &sources, e);
    });
    LaneOperation::uniform(T::U32, 2, function)
}

/// The predicates that a word has in bits: bit `bit` of the source is the predicate.
#[must_use]
pub fn predicate_of_bit(bit: u32) -> Option<LaneOperation> {
    let function = LaneFunction::new(move |r, o, e| {
        let word = r.get::<u32>(o.a);
        let lanes = (0..LANES).filter(|lane| word[*lane] >> bit & 1 != 0);
        let lanes = lanes.fold(0, |lanes, lane| lanes | 1 << lane);
        r.put_predicate(o.d, lanes, &[o.a], e);
    });
    LaneOperation::new(T::Pred, &[T::U32], function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_those_of_a_difference() {
        let flags = |a: u32, b: u32| {
            let (result, borrow) = a.overflowing_sub(b);
            let overflow = (a as i32).overflowing_sub(b as i32).1;
            u32::from(!borrow) | flags_of(result, true, overflow)
        };
        for a in [0, 1, 5, i32::MAX as u32, i32::MIN as u32, u32::MAX] {
            for b in [0, 1, 5, i32::MAX as u32, i32::MIN as u32, u32::MAX] {
                let flags = flags(a, b);
                let (x, y) = (a as i32, b as i32);
                let holds = |test: FlagTest| test.holds(flags);
                assert_eq!(holds(FlagTest::Less), x < y);
                assert_eq!(holds(FlagTest::LessOrEqual), x <= y);
                assert_eq!(holds(FlagTest::Greater), x > y);
                assert_eq!(holds(FlagTest::GreaterOrEqual), x >= y);
                assert_eq!([holds(FlagTest::Equal), holds(FlagTest::NotEqual)], [a == b, a != b]);
                assert_eq!([holds(FlagTest::Lower), holds(FlagTest::LowerOrSame)], [a < b, a <= b]);
                assert_eq!(
                    [holds(FlagTest::Higher), holds(FlagTest::HigherOrSame)],
                    [a > b, a >= b]
                );
            }
        }
    }
}
