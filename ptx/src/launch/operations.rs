//! [`LaneRule::of`]: the instructions that each lane executes independently. Each has a row with the types of its
//! sources and result, and the operation. A new arithmetic instruction is a new row here.

use std::cell::Cell;

use super::conversions;
use crate::syntax::load::{Comparison, Keyword, Opcode, PtxInstruction, QualifierKind, Rounding};
use warpload::lane::LANES;
use warpload_machine::NumberType as T;
use warpload_machine::code::{Execute, Op};
use warpload_machine::float::{self, Direction, FloatOp, Modes};
use warpload_machine::integer;
use warpload_machine::registers::{CARRY, Lane, NONE, Registers};

/// The direction of a qualifier, for floats and for integers.
pub(super) fn direction(rounding: Option<Rounding>) -> Option<Direction> {
    Some(match rounding {
        None | Some(Rounding::Rn | Rounding::Rni) => Direction::Nearest,
        Some(Rounding::Rna) => Direction::Away,
        Some(Rounding::Rz | Rounding::Rzi) => Direction::Zero,
        Some(Rounding::Rm | Rounding::Rmi) => Direction::Down,
        Some(Rounding::Rp | Rounding::Rpi) => Direction::Up,
        Some(_) => return None,
    })
}

/// The computation of an instruction's first operand from the others.
pub(super) struct LaneRule {
    pub(super) execute: Execute,
    pub(super) result: T,
    pub(super) sources: Vec<T>,
    pub(super) immediate: u32,
}

/// The opcode, types and qualifiers of an instruction, to look up its rule.
///
/// It remembers which qualifiers the lookup asked for. A qualifier that no row asks for would be ignored, so
/// [`Self::is_read`] refuses the instruction instead.
pub(super) struct Request<'a> {
    pub(super) opcode: Opcode,
    pub(super) types: &'a [T],
    pub(super) instruction: &'a PtxInstruction<'a>,
    /// The qualifiers that have been asked for, a bit for each place.
    read: Cell<u64>,
}

impl<'a> Request<'a> {
    pub(super) fn new(types: &'a [T], instruction: &'a PtxInstruction<'a>) -> Self {
        Self { opcode: instruction.opcode, types, instruction, read: Cell::new(0) }
    }

    pub(super) fn has(&self, word: Keyword) -> bool {
        self.has_kind(QualifierKind::Keyword(word))
    }

    pub(super) fn has_kind(&self, kind: QualifierKind) -> bool {
        self.find(|known| (known == kind).then_some(())).is_some()
    }

    /// The first qualifier that `choose` accepts. All that it accepts count as read.
    fn find<V>(&self, choose: impl Fn(QualifierKind) -> Option<V>) -> Option<V> {
        let mut first = None;
        for (place, qualifier) in self.instruction.qualifiers().enumerate() {
            if let Some(found) = choose(qualifier.kind) {
                self.read.set(self.read.get() | 1_u64.checked_shl(place as u32).unwrap_or(0));
                first = first.or(Some(found));
            }
        }
        first
    }

    /// Whether every qualifier apart from types has been asked for.
    pub(super) fn is_read(&self) -> bool {
        self.instruction.qualifiers().enumerate().all(|(place, qualifier)| {
            let is_type = matches!(qualifier.kind, QualifierKind::Type(_));
            is_type || self.read.get().checked_shr(place as u32).is_some_and(|read| read & 1 != 0)
        })
    }

    pub(super) fn rounding(&self) -> Option<Rounding> {
        self.find(|kind| match kind {
            QualifierKind::Rounding(rounding) => Some(rounding),
            _ => None,
        })
    }

    pub(super) fn comparison(&self) -> Option<Comparison> {
        self.find(|kind| match kind {
            QualifierKind::Comparison(comparison) => Some(comparison),
            QualifierKind::Keyword(Keyword::Lo) => Some(Comparison::Lt),
            QualifierKind::Keyword(Keyword::Hi) => Some(Comparison::Gt),
            _ => None,
        })
    }
}

/// An operation of `map1` to `map3` on 16, 32 or 64 bits. Narrow results are zero-extended, because every register
/// takes whole rows.
macro_rules! by_width {
    ($map:ident, $bits:expr, $narrow:ty, $word:ty, $wide:ty, |$($x:ident),+| $result:expr) => {
        match $bits {
            16 => Some((|r, o, e| r.$map(o, e, |$($x: u32),+| {
                $(let $x = $x as $narrow;)+
                ($result) as u16 as u32
            })) as Execute),
            32 => Some((|r, o, e| r.$map(o, e, |$($x: u32),+| {
                $(let $x = $x as $word;)+
                ($result) as u32
            })) as Execute),
            64 => Some((|r, o, e| r.$map(o, e, |$($x: u64),+| {
                $(let $x = $x as $wide;)+
                ($result) as u64
            })) as Execute),
            _ => None,
        }
    };
}

/// `by_width!` for a signed or an unsigned type.
macro_rules! by_sign {
    ($map:ident, $scalar:expr, |$($x:ident),+| $result:expr) => {
        if $scalar.is_signed() {
            by_width!($map, $scalar.bits(), i16, i32, i64, |$($x),+| $result)
        } else {
            by_width!($map, $scalar.bits(), u16, u32, u64, |$($x),+| $result)
        }
    };
}

/// A comparison of two sources into a predicate.
macro_rules! compare {
    ($t:ty, |$a:ident, $b:ident: $as:ty| $test:expr) => {
        (|r: &mut Registers, o: &Op, e: u32| {
            let lanes = r.test2(o, |$a: $t, $b: $t| {
                let ($a, $b) = ($a as $as, $b as $as);
                $test
            });
            r.put_predicate(o.d, lanes, &[o.a, o.b], e);
        }) as Execute
    };
}

/// A shift. The amount has 32 bits, whatever the width of the value.
macro_rules! shift {
    ($bits:expr, $narrow:ty, $word:ty, $wide:ty, |$a:ident, $n:ident| $result:expr) => {
        match $bits {
            16 => Some(
                (|r, o, e| {
                    r.map2(o, e, |$a: u32, $n: u32| {
                        let $a = $a as $narrow;
                        ($result) as u16 as u32
                    })
                }) as Execute,
            ),
            32 => Some(
                (|r, o, e| {
                    r.map2(o, e, |$a: u32, $n: u32| {
                        let $a = $a as $word;
                        ($result) as u32
                    })
                }) as Execute,
            ),
            64 => Some(
                (|r, o, e| {
                    r.map2(o, e, |$a: u64, $n: u32| {
                        let $a = $a as $wide;
                        ($result) as u64
                    })
                }) as Execute,
            ),
            _ => None,
        }
    };
}

impl LaneRule {
    pub(super) fn new(execute: Option<Execute>, result: T, sources: &[T]) -> Option<Self> {
        Some(Self { execute: execute?, result, sources: sources.to_vec(), immediate: 0 })
    }

    /// The rule of an instruction; `None` if it is unsupported, or not computed lane by lane.
    pub(super) fn of(request: &Request<'_>) -> Option<Self> {
        let scalar = *request.types.first()?;
        // Only conversions, dot products and mixed sums of floats have further types.
        let has_second_type = match request.opcode {
            Opcode::Cvt => return conversions::rule(request),
            Opcode::Dp4a | Opcode::Dp2a => true,
            Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Fma => scalar.is_float(),
            _ => false,
        };
        if request.types.len() > 1 + usize::from(has_second_type) {
            return None;
        }
        match request.opcode {
            Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not | Opcode::Cnot => {
                return logic(request.opcode, scalar);
            }
            _ if scalar.is_float() => return floating(request, scalar),
            _ => {}
        }
        if matches!(scalar, T::U16x2 | T::S16x2 | T::U8x4 | T::S8x4) {
            return packed_integers(request, scalar);
        }
        let carries = request.has(Keyword::Cc);
        match request.opcode {
            Opcode::Addc | Opcode::Subc | Opcode::Madc => carry(request, scalar),
            Opcode::Add | Opcode::Sub | Opcode::Mad if carries => carry(request, scalar),
            Opcode::Mul | Opcode::Mad => product(request, scalar),
            _ => integers(request, scalar),
        }
    }
}

/// Bitwise operations, also on predicates.
fn logic(opcode: Opcode, scalar: T) -> Option<LaneRule> {
    if scalar == T::Pred {
        let count = if opcode == Opcode::Not { 1 } else { 2 };
        return LaneRule::new(predicate_logic(opcode), T::Pred, &[T::Pred; 2][..count]);
    }
    let bits = scalar.bits();
    let (execute, count) = match opcode {
        Opcode::And => (by_width!(decide2, bits, u16, u32, u64, |a, b| a & b), 2),
        Opcode::Or => (by_width!(decide2, bits, u16, u32, u64, |a, b| a | b), 2),
        Opcode::Xor => (by_width!(map2, bits, u16, u32, u64, |a, b| a ^ b), 2),
        Opcode::Not => (by_width!(map1, bits, u16, u32, u64, |a| !a), 1),
        _ => (by_width!(map1, bits, u16, u32, u64, |a| a == 0), 1),
    };
    LaneRule::new(execute, scalar, &[scalar; 2][..count])
}

/// `and`, `or`, `xor` or `not` of predicates.
pub(super) fn predicate_logic(opcode: Opcode) -> Option<Execute> {
    Some(match opcode {
        Opcode::And => |r, o, e| {
            let is_false = |slot| !r.predicate(slot) & !r.unknown(slot);
            let decided = is_false(o.a) | is_false(o.b);
            predicates(r, o, e, |a, b| a & b);
            r.decide(o.d, 0, decided & e);
        },
        Opcode::Or => |r, o, e| {
            let is_true = |slot| r.predicate(slot) & !r.unknown(slot);
            let decided = is_true(o.a) | is_true(o.b);
            predicates(r, o, e, |a, b| a | b);
            r.decide(o.d, u32::MAX, decided & e);
        },
        Opcode::Xor => |r, o, e| predicates(r, o, e, |a, b| a ^ b),
        Opcode::Not => |r, o, e| predicates(r, o, e, |a, _| !a),
        _ => return None,
    })
}

/// A bitwise operation on predicates. A predicate is one bit for each lane, so all lanes are computed at once.
fn predicates(r: &mut Registers, op: &Op, exec: u32, f: impl Fn(u32, u32) -> u32) {
    let lanes = f(r.predicate(op.a), r.predicate(op.b));
    r.put_predicate(op.d, lanes, &[op.a, op.b], exec);
}

fn integers(request: &Request<'_>, scalar: T) -> Option<LaneRule> {
    let bits = scalar.bits();
    let is_saturated = matches!(request.opcode, Opcode::Add | Opcode::Sub)
        && matches!(scalar, T::S32 | T::U32)
        && request.has(Keyword::Sat);
    let one = |execute| LaneRule::new(execute, scalar, &[scalar]);
    let two = |execute| LaneRule::new(execute, scalar, &[scalar; 2]);
    let three = |execute| LaneRule::new(execute, scalar, &[scalar; 3]);
    let relu = scalar.is_signed() && request.has(Keyword::Relu);
    match request.opcode {
        Opcode::Add if is_saturated && scalar == T::U32 => {
            two(Some(|r, o, e| r.map2(o, e, |a: u32, b: u32| a.saturating_add(b))))
        }
        Opcode::Sub if is_saturated && scalar == T::U32 => {
            two(Some(|r, o, e| r.map2(o, e, |a: u32, b: u32| a.saturating_sub(b))))
        }
        Opcode::Add if is_saturated => two(Some(|r, o, e| {
            r.map2(o, e, |a: u32, b: u32| (a as i32).saturating_add(b as i32) as u32)
        })),
        Opcode::Sub if is_saturated => two(Some(|r, o, e| {
            r.map2(o, e, |a: u32, b: u32| (a as i32).saturating_sub(b as i32) as u32)
        })),
        Opcode::Add => two(by_width!(map2, bits, u16, u32, u64, |a, b| a.wrapping_add(b))),
        Opcode::Sub => two(by_width!(map2, bits, u16, u32, u64, |a, b| a.wrapping_sub(b))),
        Opcode::Div if scalar == T::S32 => two(Some(|r, o, e| {
            r.map2(o, e, |a: u32, b: u32| integer::quotient((a as i32).into(), (b as i32).into()));
        })),
        Opcode::Div if scalar == T::U32 => two(Some(|r, o, e| {
            r.map2(o, e, |a: u32, b: u32| integer::quotient(a.into(), b.into()))
        })),
        Opcode::Div if scalar.is_signed() => two(by_width!(map2, bits, i16, i32, i64, |a, b| {
            if b == 0 { -1 } else { a.wrapping_div(b) }
        })),
        Opcode::Div => {
            two(by_width!(map2, bits, u16, u32, u64, |a, b| { a.checked_div(b).unwrap_or(!0) }))
        }
        Opcode::Rem => {
            two(by_sign!(map2, scalar, |a, b| { if b == 0 { a } else { a.wrapping_rem(b) } }))
        }
        Opcode::Abs => one(by_width!(map1, bits, i16, i32, i64, |a| a.wrapping_abs())),
        Opcode::Neg => one(by_width!(map1, bits, i16, i32, i64, |a| a.wrapping_neg())),
        Opcode::Min if relu => two(by_width!(map2, bits, i16, i32, i64, |a, b| a.min(b).max(0))),
        Opcode::Max if relu => two(by_width!(map2, bits, i16, i32, i64, |a, b| a.max(b).max(0))),
        Opcode::Min => two(by_sign!(map2, scalar, |a, b| a.min(b))),
        Opcode::Max => two(by_sign!(map2, scalar, |a, b| a.max(b))),
        Opcode::Sad => three(by_sign!(map3, scalar, |a, b, c| {
            c.wrapping_add(if a < b { b.wrapping_sub(a) } else { a.wrapping_sub(b) })
        })),
        Opcode::Shl => {
            let shifted = shift!(bits, u16, u32, u64, |a, n| a.checked_shl(n).unwrap_or(0));
            LaneRule::new(shifted, scalar, &[scalar, T::U32])
        }
        Opcode::Shr if scalar.is_signed() => {
            let shifted = shift!(bits, i16, i32, i64, |a, n| a >> n.min(bits_of(a) - 1));
            LaneRule::new(shifted, scalar, &[scalar, T::U32])
        }
        Opcode::Shr => {
            let shifted = shift!(bits, u16, u32, u64, |a, n| a.checked_shr(n).unwrap_or(0));
            LaneRule::new(shifted, scalar, &[scalar, T::U32])
        }
        Opcode::Shf => {
            let is_wrapped = request.has(Keyword::Wrap);
            if is_wrapped == request.has(Keyword::Clamp)
                || request.has(Keyword::L) == request.has(Keyword::R)
            {
                return None;
            }
            let execute: Execute = match (request.has(Keyword::L), is_wrapped) {
                (true, true) => |r, o, e| r.map3(o, e, |a, b, n: u32| funnel_left(a, b, n & 31)),
                (true, false) => {
                    |r, o, e| r.map3(o, e, |a, b, n: u32| funnel_left(a, b, n.min(32)))
                }
                (false, true) => |r, o, e| r.map3(o, e, |a, b, n: u32| funnel_right(a, b, n & 31)),
                (false, false) => {
                    |r, o, e| r.map3(o, e, |a, b, n: u32| funnel_right(a, b, n.min(32)))
                }
            };
            three(Some(execute))
        }
        Opcode::Popc => LaneRule::new(
            match bits {
                32 => Some(|r, o, e| r.map1(o, e, |a: u32| a.count_ones())),
                _ => Some(|r, o, e| r.map1(o, e, |a: u64| a.count_ones())),
            },
            T::U32,
            &[scalar],
        ),
        Opcode::Clz => LaneRule::new(
            match bits {
                32 => Some(|r, o, e| r.map1(o, e, |a: u32| a.leading_zeros())),
                _ => Some(|r, o, e| r.map1(o, e, |a: u64| a.leading_zeros())),
            },
            T::U32,
            &[scalar],
        ),
        Opcode::Brev => one(by_width!(map1, bits, u16, u32, u64, |a| a.reverse_bits())),
        Opcode::Bfind => {
            let flags =
                u32::from(scalar.is_signed()) | u32::from(request.has(Keyword::Shiftamt)) << 1;
            let execute: Execute = match bits {
                32 => |r, o, e| {
                    let flags = o.immediate;
                    r.map1(o, e, |a: u32| {
                        integer::highest(a.into(), 32, flags & 1 != 0, flags & 2 != 0)
                    });
                },
                _ => |r, o, e| {
                    let flags = o.immediate;
                    r.map1(o, e, |a: u64| integer::highest(a, 64, flags & 1 != 0, flags & 2 != 0));
                },
            };
            let rule = LaneRule::new(Some(execute), T::U32, &[scalar])?;
            Some(LaneRule { immediate: flags, ..rule })
        }
        Opcode::Bfe => {
            let execute: Execute = match (bits, scalar.is_signed()) {
                (32, false) => |r, o, e| {
                    r.map3(o, e, |a: u32, p, l| integer::extract(a.into(), p, l, 32, false) as u32);
                },
                (32, true) => |r, o, e| {
                    r.map3(o, e, |a: u32, p, l| integer::extract(a.into(), p, l, 32, true) as u32);
                },
                (_, false) => {
                    |r, o, e| r.map3(o, e, |a, p, l| integer::extract(a, p, l, 64, false))
                }
                _ => |r, o, e| r.map3(o, e, |a, p, l| integer::extract(a, p, l, 64, true)),
            };
            LaneRule::new(Some(execute), scalar, &[scalar, T::U32, T::U32])
        }
        Opcode::Bfi => {
            let execute: Execute = match bits {
                32 => |r, o, e| {
                    four(r, o, e, |a: u32, b: u32, p, l| {
                        integer::insert(a.into(), b.into(), p, l, 32) as u32
                    });
                },
                _ => |r, o, e| four(r, o, e, |a: u64, b, p, l| integer::insert(a, b, p, l, 64)),
            };
            LaneRule::new(Some(execute), scalar, &[scalar, scalar, T::U32, T::U32])
        }
        Opcode::Bmsk if request.has(Keyword::Wrap) == request.has(Keyword::Clamp) => None,
        Opcode::Bmsk => {
            let execute: Execute = if request.has(Keyword::Clamp) {
                |r, o, e| {
                    r.map2(o, e, |a: u32, b: u32| {
                        let high = u64::from(u32::MAX) >> (32 - b.min(32));
                        if a > 31 { 0 } else { (high << a) as u32 }
                    });
                }
            } else {
                |r, o, e| r.map2(o, e, |a: u32, b: u32| ((1_u32 << (b & 31)) - 1) << (a & 31))
            };
            two(Some(execute))
        }
        Opcode::Szext if request.has(Keyword::Wrap) == request.has(Keyword::Clamp) => None,
        Opcode::Szext => {
            let flags = u32::from(scalar.is_signed()) | u32::from(request.has(Keyword::Clamp)) << 1;
            let rule = two(Some(|r, o, e| {
                let flags = o.immediate;
                r.map2(o, e, |a: u32, n: u32| {
                    let length = if flags & 2 != 0 { n.min(32) } else { n & 31 };
                    integer::extract(a.into(), 0, length, 32, flags & 1 != 0) as u32
                });
            }))?;
            Some(LaneRule { immediate: flags, ..rule })
        }
        Opcode::Fns => LaneRule::new(
            Some(|r, o, e| {
                r.map3(o, e, |mask, base, n: u32| integer::nth_set(mask, base, n as i32))
            }),
            T::B32,
            &[T::B32, T::B32, T::S32],
        ),
        Opcode::Prmt => {
            let modes = [
                Keyword::F4e,
                Keyword::B4e,
                Keyword::Rc8,
                Keyword::Ecl,
                Keyword::Ecr,
                Keyword::Rc16,
            ];
            let mode = modes.iter().position(|mode| request.has(*mode)).map_or(0, |mode| mode + 1);
            let execute: Execute = if mode == 0 {
                permute
            } else {
                |r, o, e| {
                    let mode = o.immediate;
                    r.map3(o, e, |a, b, c| {
                        integer::permute(a, b, integer::permute_selectors(mode, c))
                    });
                }
            };
            Some(LaneRule { immediate: mode as u32, ..three(Some(execute))? })
        }
        Opcode::Dp4a | Opcode::Dp2a => {
            let second = *request.types.get(1)?;
            let is_four = request.opcode == Opcode::Dp4a;
            let first = if request.has(Keyword::Hi) { 2 } else { 0 };
            if is_four == (first != 0 || request.has(Keyword::Lo)) {
                return None;
            }
            let flags = u32::from(scalar.is_signed()) | u32::from(second.is_signed()) << 1;
            let execute: Execute = |r, o, e| {
                let (flags, first) = (o.immediate, o.immediate >> 4);
                let count = if flags & 4 != 0 { 4 } else { 2 };
                let (a_signed, b_signed) = (flags & 1 != 0, flags & 2 != 0);
                r.map3(o, e, |a, b, c| integer::dot((a, a_signed), (b, b_signed), c, count, first));
            };
            let rule = LaneRule::new(Some(execute), T::B32, &[T::B32; 3])?;
            Some(LaneRule { immediate: flags | u32::from(is_four) << 2 | first << 4, ..rule })
        }
        Opcode::Mul24 | Opcode::Mad24 => {
            let is_high = request.has(Keyword::Hi);
            if is_high == request.has(Keyword::Lo) {
                return None;
            }
            #[inline(always)]
            fn low24(value: u32, flags: u32) -> u32 {
                if flags != 0 { ((value << 8) as i32 >> 8) as u32 } else { value << 8 >> 8 }
            }
            let immediate = u32::from(scalar.is_signed());
            let execute: Execute = match (is_high, scalar.is_signed()) {
                (false, _) => |r, o, e| {
                    let flags = o.immediate;
                    r.map2(o, e, |a, b| low24(a, flags).wrapping_mul(low24(b, flags)));
                },
                (true, false) => |r, o, e| {
                    r.map2(o, e, |a: u32, b: u32| {
                        ((u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)) >> 16) as u32
                    });
                },
                (true, true) => |r, o, e| {
                    r.map2(o, e, |a: u32, b: u32| {
                        let low = |value: u32| i64::from((value << 8) as i32 >> 8);
                        ((low(a) * low(b)) >> 16) as u32
                    });
                },
            };
            if request.opcode == Opcode::Mul24 {
                return Some(LaneRule { immediate, ..two(Some(execute))? });
            }
            let is_saturated = is_high && scalar.is_signed() && request.has(Keyword::Sat);
            let immediate = immediate | u32::from(is_saturated) << 1;
            let rule = three(Some(if is_high {
                |r, o, e| {
                    let flags = o.immediate;
                    r.map3(o, e, |a, b, c: u32| {
                        let wide = |value: u32| i64::from(low24(value, flags & 1) as i32);
                        let high = ((wide(a) * wide(b)) >> 16) as u32;
                        match flags & 2 != 0 {
                            true => (high as i32).saturating_add(c as i32) as u32,
                            false => high.wrapping_add(c),
                        }
                    });
                }
            } else {
                |r, o, e| {
                    let flags = o.immediate;
                    r.map3(o, e, |a, b, c: u32| {
                        low24(a, flags).wrapping_mul(low24(b, flags)).wrapping_add(c)
                    });
                }
            }))?;
            Some(LaneRule { immediate, ..rule })
        }
        _ => None,
    }
}

/// The width of a shifted value in bits.
#[inline(always)]
fn bits_of<V>(_: V) -> u32 {
    8 * size_of::<V>() as u32
}

#[inline(always)]
fn funnel_left(low: u32, high: u32, shift: u32) -> u32 {
    (((u64::from(high) << 32 | u64::from(low)) << shift) >> 32) as u32
}

#[inline(always)]
fn funnel_right(low: u32, high: u32, shift: u32) -> u32 {
    ((u64::from(high) << 32 | u64::from(low)) >> shift) as u32
}

/// `prmt`. The selectors are mostly a constant that replicates no signs: each byte then has one source.
fn permute(r: &mut Registers, op: &Op, exec: u32) {
    #[inline(always)]
    fn each(r: &mut Registers, op: &Op, exec: u32, selectors: u32) {
        let of = |place: u32| if selectors >> (4 * place) & 4 != 0 { op.b } else { op.a };
        let rows: [&[u32; LANES]; 4] = [r.get(of(0)), r.get(of(1)), r.get(of(2)), r.get(of(3))];
        let byte = |place: u32| 8 * (selectors >> (4 * place) & 3);
        let shifts = [byte(0), byte(1), byte(2), byte(3)];
        let mut out = [0; LANES];
        for lane in 0..LANES {
            out[lane] = rows[0][lane] >> shifts[0] & 0xff
                | (rows[1][lane] >> shifts[1] & 0xff) << 8
                | (rows[2][lane] >> shifts[2] & 0xff) << 16
                | rows[3][lane] >> shifts[3] << 24;
        }
        r.put(op.d, &out, exec);
    }
    let (selectors, first) = (r.get::<u32>(op.c), r.get::<u32>(op.c)[0]);
    let differences = selectors.iter().fold(0, |all, selector| all | selector ^ first);
    if differences | first & 0x8888 != 0 {
        return r.map3(op, exec, integer::permute);
    }
    warpload::simd::vectorized!(each(r, op, exec, first));
    r.derive(op.d, &[op.a, op.b, op.c], exec);
}

/// An operation with four sources.
fn four<V: Lane + Default>(r: &mut Registers, op: &Op, exec: u32, f: impl Fn(V, V, u32, u32) -> V) {
    let (a, b): (&[V; LANES], &[V; LANES]) = (r.get(op.a), r.get(op.b));
    let (c, e): (&[u32; LANES], &[u32; LANES]) = (r.get(op.c), r.get(op.e));
    let out = std::array::from_fn(|lane| f(a[lane], b[lane], c[lane], e[lane]));
    r.put(op.d, &out, exec);
    r.derive(op.d, &[op.a, op.b, op.c, op.e], exec);
}

/// Operations on two integers of 16 bits, or four of 8 bits, in one register.
fn packed_integers(request: &Request<'_>, scalar: T) -> Option<LaneRule> {
    macro_rules! parts {
        ($as:ty, |$a:ident, $b:ident| $result:expr) => {
            |r: &mut Registers, o: &Op, e: u32| {
                r.map2(o, e, |x: u32, y: u32| {
                    let mask = u32::MAX >> (32 - <$as>::BITS);
                    let mut packed = 0;
                    let mut shift = 0;
                    while shift < 32 {
                        let ($a, $b) = ((x >> shift) as $as, (y >> shift) as $as);
                        packed |= (($result) as u32 & mask) << shift;
                        shift += <$as>::BITS;
                    }
                    packed
                });
            }
        };
    }
    macro_rules! row {
        (|$a:ident, $b:ident| $result:expr) => {
            match scalar {
                T::U16x2 => parts!(u16, |$a, $b| $result),
                T::S16x2 => parts!(i16, |$a, $b| $result),
                T::U8x4 => parts!(u8, |$a, $b| $result),
                _ => parts!(i8, |$a, $b| $result),
            }
        };
    }
    let is_bytes = matches!(scalar, T::U8x4 | T::S8x4);
    let execute: Execute = match request.opcode {
        Opcode::Add if request.has(Keyword::Sat) => row!(|a, b| a.saturating_add(b)),
        Opcode::Add => row!(|a, b| a.wrapping_add(b)),
        Opcode::Sub if is_bytes && request.has(Keyword::Sat) => row!(|a, b| a.saturating_sub(b)),
        Opcode::Sub if is_bytes => row!(|a, b| a.wrapping_sub(b)),
        // The second source is a known zero.
        Opcode::Neg if scalar == T::S8x4 => parts!(i8, |a, b| b.wrapping_sub(a)),
        Opcode::Min | Opcode::Max if scalar.is_signed() && request.has(Keyword::Relu) => {
            match (request.opcode, is_bytes) {
                (Opcode::Min, false) => parts!(i16, |a, b| a.min(b).max(0)),
                (_, false) => parts!(i16, |a, b| a.max(b).max(0)),
                (Opcode::Min, true) => parts!(i8, |a, b| a.min(b).max(0)),
                _ => parts!(i8, |a, b| a.max(b).max(0)),
            }
        }
        Opcode::Min => row!(|a, b| a.min(b)),
        Opcode::Max => row!(|a, b| a.max(b)),
        _ => return None,
    };
    let count = if request.opcode == Opcode::Neg { 1 } else { 2 };
    LaneRule::new(Some(execute), scalar, &[scalar; 2][..count])
}

/// Products, and sums with products: the low half, the high half, or the full width.
fn product(request: &Request<'_>, scalar: T) -> Option<LaneRule> {
    let (bits, is_sum) = (scalar.bits(), request.opcode == Opcode::Mad);
    if request.has(Keyword::Wide) {
        let (wide, execute): (T, Execute) = match (scalar, is_sum) {
            (T::U16, false) => {
                (T::U32, |r, o, e| r.decide2(o, e, |a: u32, b: u32| a.wrapping_mul(b)))
            }
            (T::U16, true) => (T::U32, |r, o, e| {
                r.decide3(o, e, |a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c));
            }),
            (T::S16, false) => (T::S32, |r, o, e| {
                r.decide2(o, e, |a: u32, b: u32| {
                    (i32::from(a as i16) * i32::from(b as i16)) as u32
                });
            }),
            (T::S16, true) => (T::S32, |r, o, e| {
                r.decide3(o, e, |a: u32, b: u32, c: u32| {
                    ((i32::from(a as i16) * i32::from(b as i16)) as u32).wrapping_add(c)
                });
            }),
            (T::U32, false) => (T::U64, |r, o, e| {
                r.decide2(o, e, |a: u32, b: u32| u64::from(a) * u64::from(b));
            }),
            (T::U32, true) => (T::U64, |r, o, e| {
                r.decide3(o, e, |a: u32, b: u32, c: u64| {
                    (u64::from(a) * u64::from(b)).wrapping_add(c)
                });
            }),
            (T::S32, false) => (T::S64, |r, o, e| {
                r.decide2(o, e, |a: u32, b: u32| {
                    (i64::from(a as i32) * i64::from(b as i32)) as u64
                });
            }),
            (T::S32, true) => (T::S64, |r, o, e| {
                r.decide3(o, e, |a: u32, b: u32, c: u64| {
                    ((i64::from(a as i32) * i64::from(b as i32)) as u64).wrapping_add(c)
                });
            }),
            _ => return None,
        };
        return LaneRule::new(
            Some(execute),
            wide,
            &[scalar, scalar, wide][..2 + usize::from(is_sum)],
        );
    }
    let is_high = request.has(Keyword::Hi);
    if is_high == request.has(Keyword::Lo) {
        return None;
    }
    let execute = match (is_high, is_sum, scalar.is_signed()) {
        (false, false, _) => by_width!(decide2, bits, u16, u32, u64, |a, b| a.wrapping_mul(b)),
        (false, true, _) => {
            by_width!(decide3, bits, u16, u32, u64, |a, b, c| a.wrapping_mul(b).wrapping_add(c))
        }
        (true, false, false) => {
            by_width!(map2, bits, u16, u32, u64, |a, b| { (a as u128 * b as u128) >> bits_of(a) })
        }
        (true, false, true) => {
            by_width!(map2, bits, i16, i32, i64, |a, b| { (a as i128 * b as i128) >> bits_of(a) })
        }
        (true, true, true) if scalar == T::S32 && request.has(Keyword::Sat) => Some(
            (|r, o, e| {
                r.map3(o, e, |a: u32, b: u32, c: u32| {
                    let high = (i64::from(a as i32) * i64::from(b as i32)) >> 32;
                    (high as i32).saturating_add(c as i32) as u32
                });
            }) as Execute,
        ),
        (true, true, false) => by_width!(map3, bits, u16, u32, u64, |a, b, c| {
            ((a as u128 * b as u128) >> bits_of(a)).wrapping_add(c as u128)
        }),
        (true, true, true) => by_width!(map3, bits, i16, i32, i64, |a, b, c| {
            ((a as i128 * b as i128) >> bits_of(a)).wrapping_add(c as i128)
        }),
    };
    LaneRule::new(execute, scalar, &[scalar; 3][..2 + usize::from(is_sum)])
}

/// Sums and differences with the carry flag. A difference is the sum with the inverted subtrahend, so its carry is the
/// opposite of a borrow. [ptxas folds `sub.cc.u32 0, 1` with `addc.u32 0, 0` to 0]
fn carry(request: &Request<'_>, scalar: T) -> Option<LaneRule> {
    let reads = matches!(request.opcode, Opcode::Addc | Opcode::Subc | Opcode::Madc);
    let writes = request.has(Keyword::Cc);
    let is_high = request.has(Keyword::Hi);
    let is_product = matches!(request.opcode, Opcode::Mad | Opcode::Madc);
    if is_product && is_high == request.has(Keyword::Lo) {
        return None;
    }
    let kind = match request.opcode {
        Opcode::Add | Opcode::Addc => 0,
        Opcode::Sub | Opcode::Subc => 1,
        _ if is_high && scalar.is_signed() => 4,
        _ if is_high => 3,
        _ => 2,
    };
    let execute: Execute = match scalar.bits() {
        32 => |r, o, e| with_carry::<u32>(r, o, e),
        64 => |r, o, e| with_carry::<u64>(r, o, e),
        _ => return None,
    };
    let sources = if kind < 2 { 2 } else { 3 };
    let rule = LaneRule::new(Some(execute), scalar, &[scalar; 3][..sources])?;
    Some(LaneRule { immediate: kind | u32::from(reads) << 4 | u32::from(writes) << 5, ..rule })
}

fn with_carry<V>(r: &mut Registers, op: &Op, exec: u32)
where
    V: Lane + Default + Into<u128> + TryFrom<u128>,
{
    let (kind, reads, writes) = (op.immediate & 15, op.immediate & 16 != 0, op.immediate & 32 != 0);
    let bits = bits_of(V::default());
    let mask = u128::MAX >> (128 - bits);
    let carry_in = if reads { r.predicate(CARRY) } else { 0 };
    let mut carry_out = 0;
    let (a, b, c): (&[V; LANES], &[V; LANES], &[V; LANES]) =
        (r.get(op.a), r.get(op.b), r.get(op.c));
    let signed = |value: u128| ((value << (128 - bits)) as i128) >> (128 - bits);
    let out: [V; LANES] = std::array::from_fn(|lane| {
        let (a, b, c): (u128, u128, u128) = (a[lane].into(), b[lane].into(), c[lane].into());
        // Without a carry to read, a difference is a + !b + 1.
        let carried = if reads { u128::from(carry_in >> lane & 1) } else { u128::from(kind == 1) };
        let (x, y) = match kind {
            0 => (a, b),
            1 => (a, b ^ mask),
            2 => ((a * b) & mask, c),
            3 => ((a * b) >> bits, c),
            _ => (((signed(a) * signed(b)) >> bits) as u128 & mask, c),
        };
        let result = x + y + carried;
        carry_out |= u32::from(result & !mask != 0) << lane;
        V::try_from(result & mask).unwrap_or_default()
    });
    r.put(op.d, &out, exec);
    let sources = [op.a, op.b, op.c, if reads { CARRY } else { NONE }];
    r.derive(op.d, &sources, exec);
    if writes {
        r.put_predicate(CARRY, carry_out, &sources, exec);
    }
}

/// An f32 operation that rounds to nearest, in the processor's own arithmetic, with `.ftz` and `.sat`. Other modes take
/// the slower path of [`general_float`].
macro_rules! plain_f32 {
    ($modes:expr, $map:ident, |$($x:ident),+| $result:expr) => {
        plain_f32!(@ $modes, $map, u32, [0], |$($x),+| $result)
    };
    (x2 $modes:expr, $map:ident, |$($x:ident),+| $result:expr) => {
        plain_f32!(@ $modes, $map, u64, [0, 32], |$($x),+| $result)
    };
    (@ $modes:expr, $map:ident, $t:ty, $shifts:expr, |$($x:ident),+| $result:expr) => {
        match ($modes.flush, $modes.saturate) {
            (false, false) => plain_f32!(@ false, false, $map, $t, $shifts, |$($x),+| $result),
            (false, true) => plain_f32!(@ false, true, $map, $t, $shifts, |$($x),+| $result),
            (true, false) => plain_f32!(@ true, false, $map, $t, $shifts, |$($x),+| $result),
            (true, true) => plain_f32!(@ true, true, $map, $t, $shifts, |$($x),+| $result),
        }
    };
    (@ $flush:expr, $saturate:expr, $map:ident, $t:ty, $shifts:expr, |$($x:ident),+| $result:expr) => {
        (|r: &mut Registers, o: &Op, e: u32| r.$map(o, e, #[inline(always)] |$($x: $t),+| {
            let mut all: $t = 0;
            for shift in $shifts {
                $(let $x = single::<$flush>(($x >> shift) as u32);)+
                all |= <$t>::from(single_bits::<$flush, $saturate>($result)) << shift;
            }
            all
        })) as Execute
    };
}

/// The value of an f32, zero if it is subnormal and flushed.
#[inline(always)]
fn single<const FLUSH: bool>(bits: u32) -> f32 {
    f32::from_bits(if FLUSH { float::flushed(bits, T::F32) } else { bits })
}

/// The bits of a result: flushed, and clamped to 0..=1.
#[inline(always)]
fn single_bits<const FLUSH: bool, const SATURATE: bool>(result: f32) -> u32 {
    let clamped = if result > 0.0 { result.min(1.0) } else { 0.0 };
    let result = if SATURATE { clamped } else { result };
    let bits = single::<FLUSH>(result.to_bits()).to_bits();
    // GPUs produce a single NaN of f32, whatever the payload of the sources.
    if result.is_nan() { 0x7fff_ffff } else { bits }
}

macro_rules! plain_f64 {
    ($op:expr, $map:ident, |$($x:ident),+| $result:expr) => {
        (|r: &mut Registers, o: &Op, e: u32| r.$map(o, e, |$($x: u64),+| {
            let mut sources = [0; 3];
            sources.iter_mut().zip([$($x),+]).for_each(|(source, bits)| *source = bits);
            $(let $x = f64::from_bits($x);)+
            let result: f64 = $result;
            // The processor's NaN may have another payload or sign.
            if result.is_nan() { float::wide_nan($op, sources) } else { result.to_bits() }
        })) as Execute
    };
}

fn floating(request: &Request<'_>, scalar: T) -> Option<LaneRule> {
    let rule = match request.opcode {
        Opcode::Neg | Opcode::Abs | Opcode::Copysign => return signs(request, scalar),
        Opcode::Min | Opcode::Max => return extremes(request, scalar),
        Opcode::Testp => return classes(request, scalar),
        Opcode::Add => (FloatOp::Add, 2),
        Opcode::Sub => (FloatOp::Sub, 2),
        Opcode::Mul => (FloatOp::Mul, 2),
        Opcode::Div if request.has(Keyword::Approx) => (FloatOp::DivApprox, 2),
        Opcode::Div if request.has(Keyword::Full) => (FloatOp::DivFull, 2),
        Opcode::Div => (FloatOp::Div, 2),
        Opcode::Fma | Opcode::Mad => (FloatOp::Fma, 3),
        Opcode::Sqrt => (FloatOp::Sqrt, 1),
        Opcode::Rcp => (FloatOp::Rcp, 1),
        Opcode::Rsqrt => (FloatOp::Rsqrt, 1),
        Opcode::Sin if request.has(Keyword::Turns) => (FloatOp::SinTurns, 1),
        Opcode::Cos if request.has(Keyword::Turns) => (FloatOp::CosTurns, 1),
        Opcode::Sin => (FloatOp::Sin, 1),
        Opcode::Cos => (FloatOp::Cos, 1),
        Opcode::Lg2 => (FloatOp::Lg2, 1),
        Opcode::Ex2 => (FloatOp::Ex2, 1),
        Opcode::Tanh => (FloatOp::Tanh, 1),
        _ => return None,
    };
    let (op, count) = rule;
    let modes = float_modes(request, op, scalar)?;
    let is_dead_zeroed =
        op == FloatOp::Fma && scalar.parts().0.bits() == 16 && request.has(Keyword::Oob);
    if is_dead_zeroed {
        let immediate = modes.pack();
        let rule = LaneRule::new(Some(out_of_bounds_fma(scalar)?), scalar, &[scalar; 3])?;
        return Some(LaneRule { immediate, ..rule });
    }
    let immediate = modes.pack() | (op as u32) << 8;
    if let Some(from) = request.types.get(1).copied().filter(|from| *from != scalar) {
        let is_sum = matches!(op, FloatOp::Add | FloatOp::Sub | FloatOp::Fma);
        let execute = mixed_float(from).filter(|_| is_sum && scalar == T::F32);
        let sources = [from, if count == 2 { T::F32 } else { from }, T::F32];
        let rule = LaneRule::new(execute, scalar, &sources[..count])?;
        return Some(LaneRule { immediate, ..rule });
    }
    let is_f32 = scalar.parts().0 == T::F32;
    let plain: Option<Execute> = match (op, scalar) {
        _ if modes.direction != Direction::Nearest || !is_f32 && !modes.is_plain() => None,
        (FloatOp::Add, T::F32) => Some(plain_f32!(modes, map2, |a, b| a + b)),
        (FloatOp::Sub, T::F32) => Some(plain_f32!(modes, map2, |a, b| a - b)),
        (FloatOp::Mul, T::F32) => Some(plain_f32!(modes, map2, |a, b| a * b)),
        (FloatOp::Div, T::F32) => Some(plain_f32!(modes, map2, |a, b| a / b)),
        (FloatOp::DivApprox, T::F32) => {
            Some(plain_f32!(modes, map2, |a, b| float::quotient(a, b, f32::INFINITY)))
        }
        (FloatOp::DivFull, T::F32) => {
            Some(plain_f32!(modes, map2, |a, b| float::quotient(a, b, float::LARGE)))
        }
        (FloatOp::Fma, T::F32) => Some(plain_f32!(modes, map3, |a, b, c| a.mul_add(b, c))),
        (FloatOp::Sqrt, T::F32) => Some(plain_f32!(modes, map1, |a| a.sqrt())),
        (FloatOp::Rcp, T::F32) => Some(plain_f32!(modes, map1, |a| 1.0 / a)),
        (FloatOp::Rsqrt, T::F32) => {
            Some(plain_f32!(modes, map1, |a| (1.0 / f64::from(a).sqrt()) as f32))
        }
        (FloatOp::Ex2, T::F32) => Some(plain_f32!(modes, map1, |a| float::exp2(a.into()) as f32)),
        (FloatOp::Add, T::F64) => Some(plain_f64!(FloatOp::Add, map2, |a, b| a + b)),
        (FloatOp::Sub, T::F64) => Some(plain_f64!(FloatOp::Sub, map2, |a, b| a - b)),
        (FloatOp::Mul, T::F64) => Some(plain_f64!(FloatOp::Mul, map2, |a, b| a * b)),
        (FloatOp::Div, T::F64) => Some(plain_f64!(FloatOp::Div, map2, |a, b| a / b)),
        (FloatOp::Fma, T::F64) => Some(plain_f64!(FloatOp::Fma, map3, |a, b, c| a.mul_add(b, c))),
        (FloatOp::Add, T::F32x2) => Some(plain_f32!(x2 modes, map2, |a, b| a + b)),
        (FloatOp::Sub, T::F32x2) => Some(plain_f32!(x2 modes, map2, |a, b| a - b)),
        (FloatOp::Mul, T::F32x2) => Some(plain_f32!(x2 modes, map2, |a, b| a * b)),
        (FloatOp::Fma, T::F32x2) => Some(plain_f32!(x2 modes, map3, |a, b, c| a.mul_add(b, c))),
        _ => None,
    };
    let execute = plain.or_else(|| general_float(op, modes, scalar));
    let rule = LaneRule::new(execute, scalar, &[scalar; 3][..count])?;
    Some(LaneRule { immediate, ..rule })
}

/// The modes that an operation honours for a type. Other qualifiers stay unread, and refuse the instruction.
fn float_modes(request: &Request<'_>, op: FloatOp, scalar: T) -> Option<Modes> {
    use FloatOp as F;
    let is_half = scalar.parts().0.bits() == 16;
    let is_sum = matches!(op, F::Add | F::Sub | F::Mul | F::Fma);
    let is_approximate = match op {
        F::Add | F::Sub | F::Mul | F::Fma | F::Div => false,
        F::DivApprox | F::DivFull => true,
        _ => request.has(Keyword::Approx),
    };
    let takes_rounding = is_sum || matches!(op, F::Div | F::Rcp | F::Sqrt) && !is_approximate;
    let rounding = if takes_rounding { request.rounding() } else { None };
    let direction = match rounding {
        None | Some(Rounding::Rn | Rounding::Rz | Rounding::Rm | Rounding::Rp) => {
            direction(rounding)?
        }
        _ => return None,
    };
    let is_mixed = request.types.len() > 1;
    let flushes = match scalar {
        T::F32 => !is_mixed,
        T::F32x2 | T::F16 | T::F16x2 => true,
        T::Bf16 | T::Bf16x2 => op == F::Ex2,
        T::F64 => matches!(op, F::Rcp | F::Rsqrt),
        _ => false,
    };
    // Exact reciprocals of f64 keep subnormal numbers; ptxas accepts `.ftz` there.
    let flush = flushes && request.has(Keyword::Ftz) && (scalar != T::F64 || is_approximate);
    let saturates = is_sum && matches!(scalar, T::F32 | T::F16 | T::F16x2);
    Some(Modes {
        direction,
        flush,
        saturate: saturates && request.has(Keyword::Sat),
        relu: op == F::Fma && is_half && request.has(Keyword::Relu),
        finite: false,
    })
}

const FLOAT_OPS: [FloatOp; 17] = [
    FloatOp::Add,
    FloatOp::Sub,
    FloatOp::Mul,
    FloatOp::Div,
    FloatOp::DivApprox,
    FloatOp::DivFull,
    FloatOp::Fma,
    FloatOp::Sqrt,
    FloatOp::Rcp,
    FloatOp::Rsqrt,
    FloatOp::Sin,
    FloatOp::Cos,
    FloatOp::Lg2,
    FloatOp::Ex2,
    FloatOp::Tanh,
    FloatOp::SinTurns,
    FloatOp::CosTurns,
];

fn float_op(immediate: u32) -> FloatOp {
    FLOAT_OPS.get((immediate >> 8 & 31) as usize).copied().unwrap_or(FloatOp::Add)
}

/// A sum of f32 with narrower terms or factors, which are converted first. [PTX ISA, "Mixed Precision"]
fn mixed_float(from: T) -> Option<Execute> {
    macro_rules! mixed {
        ($from:expr) => {
            |r, o, e| {
                let (op, modes) = (float_op(o.immediate), Modes::unpack(o.immediate));
                let wide = |bits: u32| (float::value(bits, $from) as f32).to_bits();
                r.map3(o, e, |a, b, c| {
                    let b = if op == FloatOp::Fma { wide(b) } else { b };
                    float::narrow_any(op, T::F32, modes, [wide(a), b, c])
                });
            }
        };
    }
    Some(match from {
        T::F16 => mixed!(T::F16),
        T::Bf16 => mixed!(T::Bf16),
        _ => return None,
    })
}

/// An operation with any rounding mode. The immediate selects operation and mode, except for the sums and products of 16
/// bits without modes, which are each compiled by themselves, so that the compiler vectorizes them.
fn general_float(op: FloatOp, modes: Modes, scalar: T) -> Option<Execute> {
    macro_rules! parts {
        ($scalar:expr, $t:ty, $first:literal $($shift:literal)?) => {
            match op {
                FloatOp::Add if modes.is_plain() => parts!(@ Add, $scalar, $first $($shift)?),
                FloatOp::Sub if modes.is_plain() => parts!(@ Sub, $scalar, $first $($shift)?),
                FloatOp::Mul if modes.is_plain() => parts!(@ Mul, $scalar, $first $($shift)?),
                FloatOp::Fma if modes.is_plain() => parts!(@ Fma, $scalar, $first $($shift)?),
                _ => parts!(any $scalar, $t, $first $($shift)?),
            }
        };
        (@ $op:ident, $scalar:expr, $($shift:literal)+) => {
            |r, o, e| r.map3(o, e, #[inline(always)] |a: u32, b: u32, c: u32| {
                let modes = Modes::default();
                0 $(| float::narrow(
                    FloatOp::$op, $scalar, modes, [a >> $shift, b >> $shift, c >> $shift],
                ) << $shift)+
            })
        };
        (any $scalar:expr, $t:ty, $($shift:literal)+) => {
            |r, o, e| {
                let (op, modes) = (float_op(o.immediate), Modes::unpack(o.immediate));
                r.map3(o, e, |a: $t, b: $t, c: $t| {
                    let part = |shift: u32| {
                        let sources = [a, b, c].map(|bits| (bits >> shift) as u32);
                        <$t>::from(float::narrow_any(op, $scalar, modes, sources)) << shift
                    };
                    0 $(| part($shift))+
                });
            }
        };
    }
    Some(match scalar {
        T::F32 => parts!(any T::F32, u32, 0),
        T::F16 => parts!(T::F16, u32, 0),
        T::Bf16 => parts!(T::Bf16, u32, 0),
        T::F16x2 => parts!(T::F16, u32, 0 16),
        T::Bf16x2 => parts!(T::Bf16, u32, 0 16),
        T::F32x2 => parts!(any T::F32, u64, 0 32),
        T::F64 => |r, o, e| {
            let (op, modes) = (float_op(o.immediate), Modes::unpack(o.immediate));
            r.map3(o, e, |a, b, c| float::wide(op, modes, [a, b, c]));
        },
        _ => return None,
    })
}

/// `fma.oob`: a product with a NaN is +0, so that padding with NaN drops out of sums. [ptxas folds it so]
fn out_of_bounds_fma(scalar: T) -> Option<Execute> {
    macro_rules! row {
        ($scalar:expr, $shifts:expr) => {
            |r, o, e| {
                let modes = Modes::unpack(o.immediate);
                r.map3(o, e, |a: u32, b: u32, c: u32| {
                    let part = |shift: &u32| {
                        let [a, b, c] = [a, b, c].map(|bits| bits >> shift & 0xffff);
                        let is_dead = |bits| float::value(bits, $scalar).is_nan();
                        let sources = if is_dead(a) || is_dead(b) { [0, 0, c] } else { [a, b, c] };
                        float::narrow_any(FloatOp::Fma, $scalar, modes, sources) << shift
                    };
                    $shifts.iter().fold(0, |all, shift| all | part(shift))
                });
            }
        };
    }
    Some(match scalar {
        T::F16 => row!(T::F16, [0]),
        T::Bf16 => row!(T::Bf16, [0]),
        T::F16x2 => row!(T::F16, [0, 16]),
        T::Bf16x2 => row!(T::Bf16, [0, 16]),
        _ => return None,
    })
}

/// `neg`, `abs` and `copysign`. `copysign` and the others of f64 change the sign bit alone; `neg` and `abs` of narrower
/// types replace a NaN.
fn signs(request: &Request<'_>, scalar: T) -> Option<LaneRule> {
    if request.opcode == Opcode::Copysign {
        let execute: Execute = match scalar {
            T::F32 => |r, o, e| r.map2(o, e, |a: u32, b: u32| a & 1 << 31 | b & !(1 << 31)),
            T::F64 => |r, o, e| r.map2(o, e, |a: u64, b: u64| a & 1 << 63 | b & !(1 << 63)),
            _ => return None,
        };
        return LaneRule::new(Some(execute), scalar, &[scalar; 2]);
    }
    let is_abs = request.opcode == Opcode::Abs;
    let flushes = matches!(scalar, T::F32 | T::F16 | T::F16x2);
    let flush = flushes && request.has(Keyword::Ftz);
    macro_rules! narrow {
        ($scalar:expr, $shifts:expr) => {
            |r, o, e| {
                let (is_abs, flush) = (o.immediate & 1 != 0, o.immediate & 2 != 0);
                let mask = u32::MAX >> (32 - $scalar.bits());
                r.map1(o, e, |a: u32| {
                    let part = |shift: &u32| {
                        float::with_sign(a >> shift & mask, $scalar, flush, is_abs) << shift
                    };
                    $shifts.iter().fold(0, |all, shift| all | part(shift))
                });
            }
        };
    }
    let execute: Execute = match scalar {
        T::F64 if is_abs => |r, o, e| r.map1(o, e, |a: u64| a & !(1 << 63)),
        T::F64 => |r, o, e| r.map1(o, e, |a: u64| a ^ 1 << 63),
        T::F32 => narrow!(T::F32, [0]),
        T::F16 => narrow!(T::F16, [0]),
        T::Bf16 => narrow!(T::Bf16, [0]),
        T::F16x2 => narrow!(T::F16, [0, 16]),
        T::Bf16x2 => narrow!(T::Bf16, [0, 16]),
        _ => return None,
    };
    let immediate = u32::from(is_abs) | u32::from(flush) << 1;
    Some(LaneRule { immediate, ..LaneRule::new(Some(execute), scalar, &[scalar])? })
}

/// `min` and `max` of two or three floats.
fn extremes(request: &Request<'_>, scalar: T) -> Option<LaneRule> {
    let has_three = request.instruction.operands.len() > 3;
    let is_absolute = scalar != T::F64 && request.has_kind(QualifierKind::Absolute);
    let flags = [
        request.opcode == Opcode::Max,
        scalar != T::F64 && request.has_kind(QualifierKind::Nan),
        matches!(scalar, T::F32 | T::F16 | T::F16x2) && request.has(Keyword::Ftz),
        is_absolute && !has_three && request.has(Keyword::Xorsign),
        has_three,
        is_absolute,
    ];
    // Of two sources, `.abs` needs `.xorsign`; only f32 has three.
    if is_absolute && !has_three && !flags[3] || has_three && scalar != T::F32 {
        return None;
    }
    let immediate = flags.iter().rev().fold(0, |bits, flag| bits << 1 | u32::from(*flag));
    macro_rules! of {
        ($map:ident, |$flags:ident, $($x:ident),+| $result:expr) => {
            |r: &mut Registers, o: &Op, e: u32| {
                let $flags = o.immediate;
                r.$map(o, e, #[inline(always)] |$($x),+| $result);
            }
        };
    }
    #[inline(always)]
    fn pair(flags: u32, scalar: T, a: u32, b: u32) -> u32 {
        let low = extreme(flags, scalar, a & 0xffff, b & 0xffff);
        low | extreme(flags, scalar, a >> 16, b >> 16) << 16
    }
    let execute: Execute = match scalar {
        T::F32 if flags[4] => {
            of!(map3, |f, a, b, c| extreme(f, T::F32, extreme(f, T::F32, a, b), c))
        }
        T::F32 if immediate == 0 => of!(map2, |_f, a, b| extreme(0, T::F32, a, b)),
        T::F32 if immediate == 1 => of!(map2, |_f, a, b| extreme(1, T::F32, a, b)),
        T::F32 if immediate == 4 => of!(map2, |_f, a, b| extreme(4, T::F32, a, b)),
        T::F32 if immediate == 5 => of!(map2, |_f, a, b| extreme(5, T::F32, a, b)),
        T::F32 => of!(map2, |f, a, b| extreme(f, T::F32, a, b)),
        T::F16 => of!(map2, |f, a, b| extreme(f, T::F16, a, b)),
        T::Bf16 => of!(map2, |f, a, b| extreme(f, T::Bf16, a, b)),
        T::F16x2 => of!(map2, |f, a, b| pair(f, T::F16, a, b)),
        T::Bf16x2 => of!(map2, |f, a, b| pair(f, T::Bf16, a, b)),
        T::F64 => of!(map2, |f, a, b| { float::select_wide(f & 1 != 0, a, b) }),
        _ => return None,
    };
    let rule = LaneRule::new(Some(execute), scalar, &[scalar; 3][..2 + usize::from(flags[4])])?;
    Some(LaneRule { immediate, ..rule })
}

/// The minimum or maximum of two floats of up to 32 bits, without branches, so that the compiler vectorizes it.
#[inline(always)]
fn extreme(flags: u32, scalar: T, a: u32, b: u32) -> u32 {
    let Some((nan, sign)) = float::nan_and_sign(scalar) else { return 0 };
    let is_max = flags & 1 != 0;
    let flush = |bits| if flags & 4 != 0 { float::flushed(bits, scalar) } else { bits };
    let (a, b) = (flush(a), flush(b));
    let flipped = if flags & 8 != 0 { (a ^ b) & sign } else { 0 };
    let (a, b) = if flags & 32 != 0 { (a & !sign, b & !sign) } else { (a, b) };
    let (x, y) = (float::value(a, scalar) as f32, float::value(b, scalar) as f32);
    // +0 and -0 are equal, so their sign bits decide.
    let equal = if is_max { a & b } else { a | b };
    let chosen = if (x < y) == is_max { b } else { a };
    let of_numbers = if x == y { equal } else { chosen };
    let is_any_nan = x.is_nan() | y.is_nan();
    let is_nan = if flags & 2 != 0 { is_any_nan } else { x.is_nan() & y.is_nan() };
    let result = if x.is_nan() { b } else { a };
    let result = if is_any_nan { result } else { of_numbers };
    if is_nan { nan } else { result ^ flipped }
}

/// `testp`: a predicate for a class of floats.
fn classes(request: &Request<'_>, scalar: T) -> Option<LaneRule> {
    let words = [
        Keyword::Finite,
        Keyword::Infinite,
        Keyword::Number,
        Keyword::Notanumber,
        Keyword::Normal,
        Keyword::Subnormal,
    ];
    let class = words.iter().position(|word| request.has(*word))?;
    fn is_in(class: u32, value: f64, is_subnormal: bool) -> bool {
        match class {
            0 => value.is_finite(),
            1 => value.is_infinite(),
            2 => !value.is_nan(),
            3 => value.is_nan(),
            // Zeros are normal. [PTX ISA, testp]
            4 => value.is_finite() && !is_subnormal,
            _ => is_subnormal,
        }
    }
    let execute: Execute = match scalar {
        T::F32 => |r, o, e| {
            let class = o.immediate;
            let lanes = r.test2(o, |a: u32, _| {
                is_in(class, f32::from_bits(a).into(), f32::from_bits(a).is_subnormal())
            });
            r.put_predicate(o.d, lanes, &[o.a], e);
        },
        T::F64 => |r, o, e| {
            let class = o.immediate;
            let lanes = r.test2(o, |a: u64, _| {
                is_in(class, f64::from_bits(a), f64::from_bits(a).is_subnormal())
            });
            r.put_predicate(o.d, lanes, &[o.a], e);
        },
        _ => return None,
    };
    Some(LaneRule { immediate: class as u32, ..LaneRule::new(Some(execute), T::Pred, &[scalar])? })
}

/// The operation that compares two values of a type, and writes a predicate.
pub(super) fn comparison(scalar: T, of: Comparison, flush: bool) -> Option<Execute> {
    use Comparison as C;
    macro_rules! ordered {
        ($t:ty, $as:ty) => {
            Some(match of {
                C::Eq => compare!($t, |a, b: $as| a == b),
                C::Ne => compare!($t, |a, b: $as| a != b),
                C::Lt => compare!($t, |a, b: $as| a < b),
                C::Le | C::Ls => compare!($t, |a, b: $as| a <= b),
                C::Gt => compare!($t, |a, b: $as| a > b),
                C::Ge | C::Hs => compare!($t, |a, b: $as| a >= b),
                _ => return None,
            })
        };
    }
    macro_rules! floats {
        ($t:ty, |$x:ident| $value:expr) => {
            Some(match of {
                C::Eq => floats!(@ $t, |$x| $value, |a, b| a == b),
                C::Ne => floats!(@ $t, |$x| $value, |a, b| a != b && !a.is_nan() && !b.is_nan()),
                C::Lt => floats!(@ $t, |$x| $value, |a, b| a < b),
                C::Le => floats!(@ $t, |$x| $value, |a, b| a <= b),
                C::Gt => floats!(@ $t, |$x| $value, |a, b| a > b),
                C::Ge => floats!(@ $t, |$x| $value, |a, b| a >= b),
                C::Equ => floats!(@ $t, |$x| $value, |a, b| a == b || a.is_nan() || b.is_nan()),
                C::Neu => floats!(@ $t, |$x| $value, |a, b| a != b),
                C::Ltu => floats!(@ $t, |$x| $value, |a, b| a < b || a.is_nan() || b.is_nan()),
                C::Leu => floats!(@ $t, |$x| $value, |a, b| a <= b || a.is_nan() || b.is_nan()),
                C::Gtu => floats!(@ $t, |$x| $value, |a, b| a > b || a.is_nan() || b.is_nan()),
                C::Geu => floats!(@ $t, |$x| $value, |a, b| a >= b || a.is_nan() || b.is_nan()),
                C::Num => floats!(@ $t, |$x| $value, |a, b| !a.is_nan() && !b.is_nan()),
                C::Nan => floats!(@ $t, |$x| $value, |a, b| a.is_nan() || b.is_nan()),
                _ => return None,
            })
        };
        (@ $t:ty, |$x:ident| $value:expr, |$a:ident, $b:ident| $test:expr) => {
            (|r: &mut Registers, o: &Op, e: u32| {
                let lanes = r.test2(o, |x: $t, y: $t| {
                    let value = |$x: $t| $value;
                    let ($a, $b) = (value(x), value(y));
                    $test
                });
                r.put_predicate(o.d, lanes, &[o.a, o.b], e);
            }) as Execute
        };
    }
    match (scalar, flush) {
        (T::F32, false) => floats!(u32, |x| f32::from_bits(x)),
        (T::F32, true) => floats!(u32, |x| f32::from_bits(float::flushed(x, T::F32))),
        (T::F64, _) => floats!(u64, |x| f64::from_bits(x)),
        (T::F16, false) => floats!(u32, |x| float::value(x, T::F16)),
        (T::F16, true) => floats!(u32, |x| float::value(float::flushed(x, T::F16), T::F16)),
        (T::Bf16, _) => floats!(u32, |x| float::value(x, T::Bf16)),
        _ => match (scalar.bits(), scalar.is_signed()) {
            (16, true) => ordered!(u32, i16),
            (16 | 32, false) => ordered!(u32, u32),
            (32, true) => ordered!(u32, i32),
            (64, false) => ordered!(u64, u64),
            (64, true) => ordered!(u64, i64),
            _ => None,
        },
    }
}

/// Copies a register.
pub(super) fn copy(scalar: T) -> Option<Execute> {
    Some(match scalar.bits() {
        1 => |r, o, e| {
            let lanes = r.predicate(o.a);
            r.put_predicate(o.d, lanes, &[o.a], e);
        },
        64 => |r, o, e| r.map1(o, e, |a: u64| a),
        128 => return None,
        _ => |r, o, e| r.map1(o, e, |a: u32| a),
    })
}

/// Truncates 64 bits to 32, or extends 32 bits to 64.
pub(super) fn fit(is_wide: bool, is_signed: bool) -> Execute {
    match (is_wide, is_signed) {
        (false, _) => |r, o, e| r.map1(o, e, |a: u64| a as u32),
        (true, false) => |r, o, e| r.map1(o, e, |a: u32| u64::from(a)),
        (true, true) => |r, o, e| r.map1(o, e, |a: u32| a as i32 as u64),
    }
}

/// Sign-extends 16 bits to 32 or 64.
pub(super) fn extend_halves(is_wide: bool) -> Execute {
    match is_wide {
        false => |r, o, e| r.map1(o, e, |a: u32| a as i16 as u32),
        true => |r, o, e| r.map1(o, e, |a: u32| a as i16 as u64),
    }
}

/// Packs two parts into a register of twice the width. The immediate is the width of a part.
pub(super) fn pack(part_bits: u32) -> Execute {
    match part_bits {
        32 => |r, o, e| r.map2(o, e, |low: u32, high: u32| u64::from(high) << 32 | u64::from(low)),
        _ => |r, o, e| {
            let (width, mask) = (o.immediate, (1 << o.immediate) - 1);
            r.map2(o, e, |low: u32, high: u32| high << width | low & mask);
        },
    }
}

/// Extracts a part of a register. The low byte of the immediate is the first bit, the rest is the width.
pub(super) fn unpack(is_wide: bool) -> Execute {
    if is_wide {
        |r, o, e| {
            let (shift, width) = (o.immediate & 0xff, o.immediate >> 8);
            r.map1(o, e, |a: u64| (a >> shift) as u32 & (u32::MAX >> (32 - width)));
        }
    } else {
        |r, o, e| {
            let (shift, width) = (o.immediate & 0xff, o.immediate >> 8);
            r.map1(o, e, |a: u32| a >> shift & (u32::MAX >> (32 - width)));
        }
    }
}

/// `selp`: `a` if the predicate is true, otherwise `b`.
pub(super) fn select(is_wide: bool) -> Execute {
    fn by<V: Lane + Default>(r: &mut Registers, op: &Op, exec: u32) {
        let chosen = r.predicate(op.c);
        r.choose::<V>(op, exec, chosen);
        let unknown = r.unknown(op.c) | (r.unknown(op.a) & chosen) | (r.unknown(op.b) & !chosen);
        if unknown & exec == 0 {
            r.know(op.d, exec);
        } else {
            r.derive(op.d, &[op.c, op.a, op.b], exec & unknown);
            r.know(op.d, exec & !unknown);
        }
    }
    if is_wide { by::<u64> } else { by::<u32> }
}

/// What `set` writes for true: all ones, or 1.0.
pub(super) fn truth(result: T) -> Option<u32> {
    Some(match result {
        T::U32 | T::S32 => u32::MAX,
        T::U16 | T::S16 => 0xffff,
        T::F32 => 1_f32.to_bits(),
        T::F16 => 0x3c00,
        T::Bf16 => 0x3f80,
        _ => return None,
    })
}

/// `set`: the immediate if the predicate `a` is true, otherwise 0.
pub(super) fn indicate(r: &mut Registers, op: &Op, exec: u32) {
    let value = op.immediate;
    let lanes = r.predicate(op.a);
    let out: [u32; LANES] =
        std::array::from_fn(|lane| if lanes >> lane & 1 != 0 { value } else { 0 });
    r.put(op.d, &out, exec);
    r.derive(op.d, &[op.a], exec);
}

/// `slct`: `a` if `c` is not negative, otherwise `b`.
pub(super) fn choose(is_wide: bool, is_float: bool, flush: bool) -> Execute {
    fn is_chosen(c: u32) -> bool {
        f32::from_bits(float::flushed(c, T::F32)) >= 0.0
    }
    match (is_wide, is_float) {
        (false, true) if flush => |r, o, e| {
            r.map3(o, e, |a: u32, b: u32, c: u32| if is_chosen(c) { a } else { b });
        },
        (true, true) if flush => |r, o, e| {
            r.map3(o, e, |a: u64, b: u64, c: u32| if is_chosen(c) { a } else { b });
        },
        (false, false) => |r, o, e| {
            r.map3(o, e, |a: u32, b: u32, c: u32| if c as i32 >= 0 { a } else { b });
        },
        (false, true) => |r, o, e| {
            r.map3(o, e, |a: u32, b: u32, c: u32| if f32::from_bits(c) >= 0.0 { a } else { b });
        },
        (true, false) => |r, o, e| {
            r.map3(o, e, |a: u64, b: u64, c: u32| if c as i32 >= 0 { a } else { b });
        },
        (true, true) => |r, o, e| {
            r.map3(o, e, |a: u64, b: u64, c: u32| if f32::from_bits(c) >= 0.0 { a } else { b });
        },
    }
}
