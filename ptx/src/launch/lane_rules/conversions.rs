//! `cvt`: the machine's conversion for types and qualifiers.

use super::{Request, direction};
use crate::launch::compile::{FunctionCompiler, NotExecuted};
use crate::syntax::load::{Keyword, PtxInstruction, Rounding};
use warpload_machine::ScalarType as T;
use warpload_machine::lanes::conversions::{
    convert, convert_pair, convert_scaled_pair, round_randomly, saturate_pair,
};
use warpload_machine::lanes::{LaneOperation, moves};
use warpload_machine::{Direction, Modes};

/// The operation of a conversion whose sources are single registers.
pub(super) fn operation(request: &Request<'_>) -> Option<LaneOperation> {
    let (to, from) = (*request.types.first()?, *request.types.get(1)?);
    if request.has(Keyword::Pack) {
        let expected: &[T] = if to.bits() < 16 { &[to, T::S32, T::B32] } else { &[to, T::S32] };
        let is_known = request.types == expected && request.has(Keyword::Sat);
        return saturate_pair(to).filter(|_| is_known);
    }
    if request.types.len() > 2 {
        return None;
    }
    if to.parts().1 > 1 {
        return pair(request, to, from);
    }
    // Qualifiers without effect for the types stay unread, and refuse the instruction.
    let is_narrowed = matches!(to, T::F16 | T::Bf16 | T::Tf32);
    let rounding = request.rounding();
    let modes = Modes {
        direction: direction(rounding)?,
        flush: (to == T::F32 || from == T::F32) && request.has(Keyword::Ftz),
        saturate: to != T::Tf32 && request.has(Keyword::Sat),
        relu: is_narrowed && request.has(Keyword::Relu),
        finite: is_narrowed && request.has(Keyword::Satfinite),
    };
    let is_integral =
        matches!(rounding, Some(Rounding::Rni | Rounding::Rzi | Rounding::Rmi | Rounding::Rpi));
    convert(from, to, modes, is_integral)
}

fn pair(request: &Request<'_>, to: T, from: T) -> Option<LaneOperation> {
    let ((part, 2), source) = (to.parts(), from.parts().0) else { return None };
    let rounding = request.rounding();
    let is_random = rounding == Some(Rounding::Rs);
    let modes = Modes {
        direction: if is_random { Direction::Nearest } else { direction(rounding)? },
        relu: part != T::Ue8m0 && request.has(Keyword::Relu),
        finite: request.has(Keyword::Satfinite),
        ..Modes::default()
    };
    if is_random {
        let is_known = from == T::F32 && matches!(part, T::F16 | T::Bf16);
        return round_randomly(part, modes, false).filter(|_| is_known);
    }
    let takes_scale = part == T::Bf16 && !matches!(source, T::F32 | T::Ue8m0);
    match takes_scale && request.has(Keyword::ScaledN2Ue8m0) {
        true => convert_scaled_pair(from, modes),
        false => convert_pair(from, to, modes),
    }
}

/// Emits a conversion of four f32 with stochastic rounding: two pairs, and their combination.
pub(in crate::launch) fn emit_four<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
    request: &Request<'_>,
) -> Result<(), NotExecuted> {
    let [to, T::F32] = *request.types else { return Err(NotExecuted) };
    let (part, 4) = to.parts() else { return Err(NotExecuted) };
    let is_known = request.rounding() == Some(Rounding::Rs) && request.has(Keyword::Satfinite);
    let modes = Modes { relu: request.has(Keyword::Relu), finite: true, ..Modes::default() };
    let [_, values, random] = of.operands else { return Err(NotExecuted) };
    if !is_known || !request.is_read() {
        return Err(NotExecuted);
    }
    let values = compiler.elements(of, values, T::F32)?;
    let [Some(a), Some(b), Some(c), Some(d)] = values[..] else { return Err(NotExecuted) };
    let random = compiler.source(of, random, T::B32)?;
    let lower = compiler.compute(round_randomly(part, modes, false), &[c.slot, d.slot, random])?;
    let upper = compiler.compute(round_randomly(part, modes, true), &[a.slot, b.slot, random])?;
    compiler.write_first(of, moves::join(2 * part.bits()), &[lower, upper])
}
