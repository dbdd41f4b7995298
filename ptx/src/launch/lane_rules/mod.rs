//! [`lane_operation`]: the machine's row for each instruction of PTX that lanes execute independently.
//!
//! A row reads the qualifiers that the instruction honours. All others refuse it.

use std::cell::Cell;
use std::num::FpCategory;

use crate::syntax::load::{
    Comparison, Keyword as K, Opcode as O, PtxInstruction, QualifierKind, Rounding,
};
use warpload_machine::ScalarType as T;
use warpload_machine::lanes::LaneOperation;
use warpload_machine::lanes::floats::{
    change_sign, copy_sign, extreme, float, fma_out_of_bounds, mixed_float,
};
use warpload_machine::lanes::integers::{
    Bitwise, CarrySum, IntegerOp, Product, Shift, bit_mask, bitwise, count_ones, dot_product,
    extend_bits, extract_field, find_highest, find_nth_set, funnel_shift, insert_field, integer,
    leading_zeros, multiply, multiply_add, multiply_add24, multiply24, shift, sum_with_carry,
};
use warpload_machine::lanes::moves::{permute, permute_from};
use warpload_machine::lanes::predicates::{self, classify};
use warpload_machine::{Direction, Extreme, FloatOp, Modes};

pub(super) mod conversions;
pub(super) mod video;

/// The opcode, types and qualifiers of an instruction, to look up its row.
///
/// It remembers which qualifiers the lookup asked for. A qualifier that no row asks for would be ignored, so
/// [`Self::is_read`] refuses the instruction instead.
pub(super) struct Request<'a> {
    pub(super) opcode: O,
    pub(super) types: &'a [T],
    pub(super) instruction: &'a PtxInstruction<'a>,
    /// The qualifiers that have been asked for, a bit for each place.
    read: Cell<u64>,
}

impl<'a> Request<'a> {
    pub(super) fn new(types: &'a [T], instruction: &'a PtxInstruction<'a>) -> Self {
        Self { opcode: instruction.opcode, types, instruction, read: Cell::new(0) }
    }

    pub(super) fn has(&self, word: K) -> bool {
        self.has_kind(QualifierKind::Keyword(word))
    }

    pub(super) fn has_kind(&self, kind: QualifierKind) -> bool {
        self.find(|known| (known == kind).then_some(())).is_some()
    }

    /// Whether the instruction has the first of two words; `None` if it has both or neither.
    fn either(&self, first: K, second: K) -> Option<bool> {
        let (is_first, is_second) = (self.has(first), self.has(second));
        (is_first != is_second).then_some(is_first)
    }

    /// The value of the first word in a table that the instruction has.
    pub(super) fn among<V: Copy>(&self, table: &[(K, V)]) -> Option<V> {
        table.iter().find(|(word, _)| self.has(*word)).map(|found| found.1)
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

    /// The comparison of two numbers of a type.
    pub(super) fn comparison(&self, scalar: T) -> Option<predicates::Comparison> {
        use predicates::Comparison as M;
        let written = self.find(|kind| match kind {
            QualifierKind::Comparison(comparison) => Some(comparison),
            QualifierKind::Keyword(K::Lo) => Some(Comparison::Lt),
            QualifierKind::Keyword(K::Hi) => Some(Comparison::Gt),
            _ => None,
        })?;
        Some(match written {
            Comparison::Eq => M::Equal,
            Comparison::Ne => M::NotEqual,
            Comparison::Lt => M::Less,
            Comparison::Le => M::LessOrEqual,
            Comparison::Gt => M::Greater,
            Comparison::Ge => M::GreaterOrEqual,
            Comparison::Ls | Comparison::Hs if scalar.is_float() => return None,
            Comparison::Ls => M::LessOrEqual,
            Comparison::Hs => M::GreaterOrEqual,
            Comparison::Equ => M::EqualOrUnordered,
            Comparison::Neu => M::NotEqualOrUnordered,
            Comparison::Ltu => M::LessOrUnordered,
            Comparison::Leu => M::LessOrEqualOrUnordered,
            Comparison::Gtu => M::GreaterOrUnordered,
            Comparison::Geu => M::GreaterOrEqualOrUnordered,
            Comparison::Num => M::Ordered,
            Comparison::Nan => M::Unordered,
        })
    }
}

/// The direction of a rounding, for floats and for integers.
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

/// The operation of an instruction; `None` if it is unsupported, or not computed lane by lane.
pub(super) fn lane_operation(request: &Request<'_>) -> Option<LaneOperation> {
    let scalar = *request.types.first()?;
    // Only conversions, dot products and mixed sums of floats have further types.
    let has_second_type = match request.opcode {
        O::Cvt => return conversions::operation(request),
        O::Dp4a | O::Dp2a => true,
        O::Add | O::Sub | O::Mul | O::Fma => scalar.is_float(),
        _ => false,
    };
    if request.types.len() > 1 + usize::from(has_second_type) {
        return None;
    }
    match request.opcode {
        O::And => bitwise(Bitwise::And, scalar),
        O::Or => bitwise(Bitwise::Or, scalar),
        O::Xor => bitwise(Bitwise::Xor, scalar),
        O::Not => bitwise(Bitwise::Not, scalar),
        O::Cnot => bitwise(Bitwise::IsZero, scalar),
        _ if scalar.is_float() => floats(request, scalar),
        _ if matches!(scalar, T::U16x2 | T::S16x2 | T::U8x4 | T::S8x4) => packed(request, scalar),
        _ => integers(request, scalar),
    }
}

fn packed(request: &Request<'_>, scalar: T) -> Option<LaneOperation> {
    use IntegerOp as I;
    let relu = || scalar.is_signed() && request.has(K::Relu);
    let op = match request.opcode {
        O::Add if request.has(K::Sat) => I::SaturatingAdd,
        O::Add => I::Add,
        O::Sub if request.has(K::Sat) => I::SaturatingSub,
        O::Sub => I::Sub,
        O::Neg => I::Neg,
        O::Min if relu() => I::ReluMin,
        O::Min => I::Min,
        O::Max if relu() => I::ReluMax,
        O::Max => I::Max,
        _ => return None,
    };
    integer(op, scalar)
}

fn integers(request: &Request<'_>, scalar: T) -> Option<LaneOperation> {
    use IntegerOp as I;
    let has = |word| request.has(word);
    let carries = has(K::Cc);
    let is_product = matches!(request.opcode, O::Mul | O::Mad);
    match request.opcode {
        O::Addc | O::Subc | O::Madc => return carry(request, scalar, true, carries),
        O::Add | O::Sub | O::Mad if carries => return carry(request, scalar, false, true),
        _ => {}
    }
    let is_word = scalar.bits() == 32;
    let relu = !is_product && scalar.is_signed() && has(K::Relu);
    let saturates = || matches!(scalar, T::S32 | T::U32) && has(K::Sat);
    match request.opcode {
        O::Add if saturates() => integer(I::SaturatingAdd, scalar),
        O::Add => integer(I::Add, scalar),
        O::Sub if saturates() => integer(I::SaturatingSub, scalar),
        O::Sub => integer(I::Sub, scalar),
        O::Div => integer(I::Div, scalar),
        O::Rem => integer(I::Rem, scalar),
        O::Abs => integer(I::Abs, scalar),
        O::Neg => integer(I::Neg, scalar),
        O::Min => integer(if relu { I::ReluMin } else { I::Min }, scalar),
        O::Max => integer(if relu { I::ReluMax } else { I::Max }, scalar),
        O::Sad => integer(I::AddDistance, scalar),
        O::Brev => integer(I::ReverseBits, scalar),
        O::Mul => multiply(product(request)?, scalar),
        O::Mad => {
            let product = product(request)?;
            let saturates = product == Product::High && scalar == T::S32 && has(K::Sat);
            multiply_add(product, scalar, saturates)
        }
        O::Mul24 if is_word => multiply24(scalar, request.either(K::Hi, K::Lo)?),
        O::Mad24 if is_word => {
            let is_high = request.either(K::Hi, K::Lo)?;
            multiply_add24(scalar, is_high, is_high && scalar.is_signed() && has(K::Sat))
        }
        O::Shl => shift(Shift::Left, scalar),
        O::Shr => shift(Shift::Right, scalar),
        O::Shf if is_word => {
            let wraps = request.either(K::Wrap, K::Clamp)?;
            funnel_shift(
                if request.either(K::L, K::R)? { Shift::Left } else { Shift::Right },
                wraps,
            )
        }
        O::Popc => count_ones(scalar),
        O::Clz => leading_zeros(scalar),
        O::Bfind => find_highest(scalar, has(K::Shiftamt)),
        O::Bfe => extract_field(scalar),
        O::Bfi => insert_field(scalar),
        O::Bmsk if is_word => bit_mask(request.either(K::Wrap, K::Clamp)?),
        O::Szext if is_word => extend_bits(scalar, request.either(K::Wrap, K::Clamp)?),
        O::Fns => find_nth_set(),
        O::Prmt if is_word => {
            // The selectors of each byte, by the two low bits of the third source.
            let modes: [(K, [u32; 4]); 6] = [
                (K::F4e, [0x3210, 0x4321, 0x5432, 0x6543]),
                (K::B4e, [0x5670, 0x6701, 0x7012, 0x0123]),
                (K::Rc8, [0x0000, 0x1111, 0x2222, 0x3333]),
                (K::Ecl, [0x3210, 0x3211, 0x3222, 0x3333]),
                (K::Ecr, [0x0000, 0x1110, 0x2210, 0x3210]),
                (K::Rc16, [0x1010, 0x3232, 0x1010, 0x3232]),
            ];
            request.among(&modes).map_or_else(permute, permute_from)
        }
        O::Dp4a | O::Dp2a => {
            let are_signed = [scalar, *request.types.get(1)?].map(T::is_signed);
            match request.opcode {
                O::Dp4a => dot_product(are_signed, 4, 0),
                _ => dot_product(are_signed, 2, if request.either(K::Hi, K::Lo)? { 2 } else { 0 }),
            }
        }
        _ => None,
    }
}

fn product(request: &Request<'_>) -> Option<Product> {
    if request.has(K::Wide) {
        return Some(Product::Wide);
    }
    Some(if request.either(K::Hi, K::Lo)? { Product::High } else { Product::Low })
}

fn carry(request: &Request<'_>, scalar: T, reads: bool, writes: bool) -> Option<LaneOperation> {
    let is_high = request.has(K::Hi);
    let sum = match request.opcode {
        O::Add | O::Addc => CarrySum::Add,
        O::Sub | O::Subc => CarrySum::Sub,
        _ if is_high == request.has(K::Lo) => return None,
        _ if is_high && scalar.is_signed() => CarrySum::SignedHighProduct,
        _ if is_high => CarrySum::HighProduct,
        _ => CarrySum::LowProduct,
    };
    sum_with_carry(sum, scalar, reads, writes)
}

fn floats(request: &Request<'_>, scalar: T) -> Option<LaneOperation> {
    let has = |word| request.has(word);
    let op = match request.opcode {
        O::Neg | O::Abs => {
            let flush = matches!(scalar, T::F32 | T::F16 | T::F16x2) && has(K::Ftz);
            return change_sign(scalar, request.opcode == O::Abs, flush);
        }
        O::Copysign => return copy_sign(scalar),
        O::Min | O::Max => return extremes(request, scalar),
        O::Testp => {
            use FpCategory::{Infinite, Nan, Normal, Subnormal, Zero};
            let categories: [(K, &[FpCategory]); 6] = [
                (K::Finite, &[Zero, Subnormal, Normal]),
                (K::Infinite, &[Infinite]),
                (K::Number, &[Zero, Subnormal, Normal, Infinite]),
                (K::Notanumber, &[Nan]),
                // Zeros are normal. [PTX ISA, testp]
                (K::Normal, &[Zero, Normal]),
                (K::Subnormal, &[Subnormal]),
            ];
            return classify(request.among(&categories)?, scalar);
        }
        O::Add => FloatOp::Add,
        O::Sub => FloatOp::Sub,
        O::Mul => FloatOp::Mul,
        O::Div if has(K::Approx) => FloatOp::DivApprox,
        O::Div if has(K::Full) => FloatOp::DivFull,
        O::Div => FloatOp::Div,
        O::Fma | O::Mad => FloatOp::Fma,
        O::Sqrt => FloatOp::Sqrt,
        O::Rcp => FloatOp::Rcp,
        O::Rsqrt => FloatOp::Rsqrt,
        O::Sin if has(K::Turns) => FloatOp::SinTurns,
        O::Cos if has(K::Turns) => FloatOp::CosTurns,
        O::Sin => FloatOp::Sin,
        O::Cos => FloatOp::Cos,
        O::Lg2 => FloatOp::Lg2,
        O::Ex2 => FloatOp::Ex2,
        O::Tanh => FloatOp::Tanh,
        _ => return None,
    };
    let modes = float_modes(request, op, scalar)?;
    if op == FloatOp::Fma && scalar.parts().0.bits() == 16 && has(K::Oob) {
        return fma_out_of_bounds(scalar, modes);
    }
    match request.types.get(1).filter(|from| **from != scalar) {
        Some(from) if scalar == T::F32 => mixed_float(op, *from, modes),
        Some(_) => None,
        None => float(op, scalar, modes),
    }
}

/// The modes that an operation honours for a type. Other qualifiers stay unread, and refuse the instruction.
fn float_modes(request: &Request<'_>, op: FloatOp, scalar: T) -> Option<Modes> {
    use FloatOp as F;
    let is_half = scalar.parts().0.bits() == 16;
    let is_sum = matches!(op, F::Add | F::Sub | F::Mul | F::Fma);
    let is_approximate = match op {
        F::Add | F::Sub | F::Mul | F::Fma | F::Div => false,
        F::DivApprox | F::DivFull => true,
        _ => request.has(K::Approx),
    };
    let takes_rounding = is_sum || matches!(op, F::Div | F::Rcp | F::Sqrt) && !is_approximate;
    let direction = match if takes_rounding { request.rounding() } else { None } {
        rounding @ (None | Some(Rounding::Rn | Rounding::Rz | Rounding::Rm | Rounding::Rp)) => {
            direction(rounding)?
        }
        _ => return None,
    };
    let flushes = match scalar {
        T::F32 => request.types.len() < 2,
        T::F32x2 | T::F16 | T::F16x2 => true,
        T::Bf16 | T::Bf16x2 => op == F::Ex2,
        T::F64 => matches!(op, F::Rcp | F::Rsqrt),
        _ => false,
    };
    let saturates = is_sum && matches!(scalar, T::F32 | T::F16 | T::F16x2);
    Some(Modes {
        direction,
        // Exact reciprocals of f64 keep subnormal numbers; ptxas accepts `.ftz` there.
        flush: flushes && request.has(K::Ftz) && (scalar != T::F64 || is_approximate),
        saturate: saturates && request.has(K::Sat),
        relu: op == F::Fma && is_half && request.has(K::Relu),
        finite: false,
    })
}

fn extremes(request: &Request<'_>, scalar: T) -> Option<LaneOperation> {
    let count = if request.instruction.operands.len() > 3 { 3 } else { 2 };
    let is_absolute = scalar != T::F64 && request.has_kind(QualifierKind::Absolute);
    let of = Extreme {
        is_max: request.opcode == O::Max,
        keeps_nan: scalar != T::F64 && request.has_kind(QualifierKind::Nan),
        flush: matches!(scalar, T::F32 | T::F16 | T::F16x2) && request.has(K::Ftz),
        xors_signs: is_absolute && count == 2 && request.has(K::Xorsign),
        is_absolute,
    };
    // Of two sources, `.abs` needs `.xorsign`.
    if is_absolute && count == 2 && !of.xors_signs {
        return None;
    }
    extreme(of, scalar, count)
}

/// The value that `set` writes for true: all ones, or 1.0.
pub(super) fn truth(result: T) -> Option<u64> {
    Some(match result {
        T::U32 | T::S32 => 0xffff_ffff,
        T::U16 | T::S16 => 0xffff,
        T::F32 => 0x3f80_0000,
        T::F16 => 0x3c00,
        T::Bf16 => 0x3f80,
        _ => return None,
    })
}
