//! Video instructions: arithmetic on bytes, halves and words of registers, with saturation, a second operation, or a
//! merge. [PTX ISA, "Scalar Video Instructions", "SIMD Video Instructions"]
//!
//! Each is emitted as a selection of the parts, and one operation on them.

use super::Request;
use crate::launch::compile::{FunctionCompiler, NotExecuted};
use crate::syntax::load::{Keyword, Opcode, Operand, OperandKind, PtxInstruction, QualifierKind};
use warpload_machine::ScalarType as T;
use warpload_machine::code::{NONE, Slot};
use warpload_machine::lanes::video::{
    Part, Second, Video, VideoOp, VideoProduct, extend_part, gather, multiply_parts, video,
    video_parts,
};
use warpload_machine::tensor::ReductionOperation;

/// The number of parts of a register that an instruction computes with: 1 for scalar instructions. `None` for other
/// instructions.
fn parts(opcode: Opcode) -> Option<u32> {
    use Opcode as O;
    Some(match opcode {
        O::Vadd | O::Vsub | O::Vabsdiff | O::Vmin | O::Vmax | O::Vset => 1,
        O::Vshl | O::Vshr | O::Vmad => 1,
        O::Vadd2 | O::Vsub2 | O::Vavrg2 | O::Vabsdiff2 | O::Vmin2 | O::Vmax2 | O::Vset2 => 2,
        O::Vadd4 | O::Vsub4 | O::Vavrg4 | O::Vabsdiff4 | O::Vmin4 | O::Vmax4 | O::Vset4 => 4,
        _ => return None,
    })
}

/// The operation of an instruction other than `vmad`.
fn operation(request: &Request<'_>) -> Option<VideoOp> {
    use Opcode as O;
    Some(match request.opcode {
        O::Vadd | O::Vadd2 | O::Vadd4 => VideoOp::Add,
        O::Vsub | O::Vsub2 | O::Vsub4 => VideoOp::Sub,
        O::Vavrg2 | O::Vavrg4 => VideoOp::Average,
        O::Vabsdiff | O::Vabsdiff2 | O::Vabsdiff4 => VideoOp::Distance,
        O::Vmin | O::Vmin2 | O::Vmin4 => VideoOp::Min,
        O::Vmax | O::Vmax2 | O::Vmax4 => VideoOp::Max,
        O::Vset | O::Vset2 | O::Vset4 => VideoOp::Compare(request.comparison(T::F32)?),
        O::Vshl => VideoOp::ShiftLeft { wraps: request.either(Keyword::Wrap, Keyword::Clamp)? },
        O::Vshr => VideoOp::ShiftRight { wraps: request.either(Keyword::Wrap, Keyword::Clamp)? },
        _ => return None,
    })
}

pub(in crate::launch) fn is_video(opcode: Opcode) -> bool {
    parts(opcode).is_some()
}

/// Emits a video instruction.
pub(in crate::launch) fn emit<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
    request: &Request<'_>,
) -> Result<(), NotExecuted> {
    let count = parts(of.opcode).ok_or(NotExecuted)?;
    if request.types.iter().any(|scalar| !matches!(scalar, T::U32 | T::S32)) {
        return Err(NotExecuted);
    }
    let is_comparison = matches!(of.opcode, Opcode::Vset | Opcode::Vset2 | Opcode::Vset4);
    let are_signed = match *request.types {
        [a, b] if is_comparison => [false, a.is_signed(), b.is_signed()],
        [d, a, b] if !is_comparison => [d, a, b].map(T::is_signed),
        _ => return Err(NotExecuted),
    };
    let saturates = !is_comparison && request.has(Keyword::Sat);
    if of.opcode == Opcode::Vmad {
        return multiply(compiler, of, request, are_signed, saturates);
    }
    let op = operation(request).ok_or(NotExecuted)?;
    let reduction = |of| count == 1 && request.has_kind(QualifierKind::Reduction(of));
    let second = match () {
        () if request.has(Keyword::Add) => Second::Add,
        () if reduction(ReductionOperation::Min) => Second::Min,
        () if reduction(ReductionOperation::Max) => Second::Max,
        () => Second::None,
    };
    if saturates && count > 1 && second == Second::Add {
        return Err(NotExecuted);
    }
    let video = Video { op, are_signed, saturates, second };
    match count {
        1 => scalar(compiler, of, request, video),
        _ => simd(compiler, of, request, video, count),
    }
}

/// The row of a source, and the text of its selector.
fn source<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
    operand: &Operand,
) -> Result<(Slot, &'m str), NotExecuted> {
    match operand.kind {
        OperandKind::Part(name) | OperandKind::Negated(name) => {
            let slot = compiler.named(of, name, T::U32)?;
            Ok((slot, selector(compiler, operand)))
        }
        _ => Ok((compiler.source(of, operand, T::U32)?, "")),
    }
}

/// The text after the dot of `%r1.b0`.
fn selector<'m>(compiler: &FunctionCompiler<'_, 'm>, operand: &Operand) -> &'m str {
    let text = compiler.module.text(operand.span);
    text.rsplit_once('.').map_or("", |(_, selector)| selector.trim())
}

/// The register that is written, without its selector, and the selector.
fn destination<'m>(compiler: &FunctionCompiler<'_, 'm>, operand: &Operand) -> (Operand, &'m str) {
    match operand.kind {
        OperandKind::Part(name) => {
            (Operand { kind: OperandKind::Name, span: name }, selector(compiler, operand))
        }
        _ => (*operand, ""),
    }
}

/// The part that a selector names; `None` without a selector.
fn part_named(selector: &str) -> Result<Option<Part>, NotExecuted> {
    let width = match selector.as_bytes() {
        [] => return Ok(None),
        [b'b', b'0'..=b'3'] => 8,
        [b'h', b'0' | b'1'] => 16,
        _ => return Err(NotExecuted),
    };
    let place = selector[1..].parse::<u32>().map_err(|_| NotExecuted)?;
    Ok(Some(Part { shift: place * width, width }))
}

/// The first two sources of a scalar instruction as numbers of 64 bits.
fn selected<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
    [_, a, b]: [bool; 3],
) -> Result<[Slot; 2], NotExecuted> {
    let mut rows = [NONE; 2];
    for (place, (row, is_signed)) in rows.iter_mut().zip([a, b]).enumerate() {
        let operand = of.operands.get(place + 1).ok_or(NotExecuted)?;
        let (slot, selector) = source(compiler, of, operand)?;
        let part = part_named(selector)?.unwrap_or(Part::WORD);
        *row = compiler.compute(extend_part(part, is_signed), &[slot])?;
    }
    Ok(rows)
}

fn scalar<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
    request: &Request<'_>,
    operation: Video,
) -> Result<(), NotExecuted> {
    let first = of.operands.first().ok_or(NotExecuted)?;
    let (to, selector) = destination(compiler, first);
    let second = match (operation.second, part_named(selector)?) {
        (second, None) => second,
        (Second::None, Some(part)) => Second::Merge(part),
        _ => return Err(NotExecuted),
    };
    if (second != Second::None) != (of.operands.len() == 4) || !request.is_read() {
        return Err(NotExecuted);
    }
    let last = match of.operands.get(3) {
        Some(operand) => compiler.source(of, operand, T::U32)?,
        None => NONE,
    };
    let [a, b] = selected(compiler, of, operation.are_signed)?;
    compiler.write(of, &to, video(Video { second, ..operation }), &[a, b, last])
}

/// Emits `vmad`.
fn multiply<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
    request: &Request<'_>,
    are_signed: [bool; 3],
    saturates: bool,
) -> Result<(), NotExecuted> {
    let [to, a, b, c] = of.operands else { return Err(NotExecuted) };
    let is_negated = |operand: &Operand| matches!(operand.kind, OperandKind::Negated(_));
    let negates_product = is_negated(a) != is_negated(b);
    let adds_one = request.has(Keyword::Po);
    let shift = match (request.has(Keyword::Shr7), request.has(Keyword::Shr15)) {
        (false, false) => 0,
        (true, false) => 7,
        (false, true) => 15,
        _ => return Err(NotExecuted),
    };
    if !request.is_read() || adds_one && [a, b, c].into_iter().any(is_negated) {
        return Err(NotExecuted);
    }
    let negates_addend = is_negated(c);
    let is_signed = are_signed[1] || are_signed[2] || negates_product || negates_addend;
    let (addend, selector) = source(compiler, of, c)?;
    if !selector.is_empty() {
        return Err(NotExecuted);
    }
    let [a, b] = selected(compiler, of, are_signed)?;
    let product =
        VideoProduct { negates_product, negates_addend, adds_one, saturates, is_signed, shift };
    compiler.write(of, to, multiply_parts(product), &[a, b, addend])
}

/// The parts that a selector such as `b7610` or `h10` names, lowest first.
fn digits(selector: &str, parts: u32, most: u32) -> Option<Vec<u32>> {
    let letter = if parts == 2 { 'h' } else { 'b' };
    let digits = selector.strip_prefix(letter)?;
    let places = digits.chars().rev().map(|digit| digit.to_digit(10).filter(|place| *place < most));
    places.collect()
}

fn simd<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
    request: &Request<'_>,
    video: Video,
    parts: u32,
) -> Result<(), NotExecuted> {
    let [to, a, b, c] = of.operands else { return Err(NotExecuted) };
    let (to, mask) = destination(compiler, to);
    let mask = match mask {
        "" => (1 << parts) - 1,
        written => {
            let places = digits(written, parts, parts).ok_or(NotExecuted)?;
            places.into_iter().fold(0, |mask, place| mask | 1 << place)
        }
    };
    if !request.is_read() {
        return Err(NotExecuted);
    }
    let (a, b) = (source(compiler, of, a)?, source(compiler, of, b)?);
    let c = compiler.source(of, c, T::U32)?;
    let mut rows = [NONE; 2];
    for ((row, selector), first) in rows.iter_mut().zip([a.1, b.1]).zip([0, parts]) {
        let places: Vec<u32> = match selector {
            "" => (first..first + parts).collect(),
            written => digits(written, parts, 2 * parts).ok_or(NotExecuted)?,
        };
        if places.len() != parts as usize {
            return Err(NotExecuted);
        }
        *row = compiler.compute(gather(&places), &[a.0, b.0])?;
    }
    compiler.write(of, &to, video_parts(video, parts, mask), &[rows[0], rows[1], c])
}
