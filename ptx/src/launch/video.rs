//! Video instructions: arithmetic on bytes, halves and words of registers, with saturation, a second operation, or a
//! merge. [PTX ISA, "Scalar Video Instructions", "SIMD Video Instructions"]
//!
//! Each is emitted as a selection of the parts, and one operation on them.

use super::compile::{FunctionCompiler, NotExecuted};
use super::operations::Request;
use crate::syntax::load::{
    Comparison, Keyword, Opcode, Operand, OperandKind, PtxInstruction, QualifierKind,
};
use warpload_machine::NumberType as T;
use warpload_machine::code::Op;
use warpload_machine::registers::{NONE, Registers, Slot};
use warpload_machine::tensor::ReductionOperation;

/// What a video instruction computes from its selected parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VideoOp {
    Add,
    Subtract,
    Average,
    Difference,
    Min,
    Max,
    ShiftLeft,
    ShiftRight,
    Multiply,
    Compare,
}

/// The operation, and the number of parts of a register: 1 for scalar instructions.
fn operation(opcode: Opcode) -> Option<(VideoOp, u32)> {
    use Opcode as O;
    use VideoOp as V;
    Some(match opcode {
        O::Vadd => (V::Add, 1),
        O::Vadd2 => (V::Add, 2),
        O::Vadd4 => (V::Add, 4),
        O::Vsub => (V::Subtract, 1),
        O::Vsub2 => (V::Subtract, 2),
        O::Vsub4 => (V::Subtract, 4),
        O::Vavrg2 => (V::Average, 2),
        O::Vavrg4 => (V::Average, 4),
        O::Vabsdiff => (V::Difference, 1),
        O::Vabsdiff2 => (V::Difference, 2),
        O::Vabsdiff4 => (V::Difference, 4),
        O::Vmin => (V::Min, 1),
        O::Vmin2 => (V::Min, 2),
        O::Vmin4 => (V::Min, 4),
        O::Vmax => (V::Max, 1),
        O::Vmax2 => (V::Max, 2),
        O::Vmax4 => (V::Max, 4),
        O::Vset => (V::Compare, 1),
        O::Vset2 => (V::Compare, 2),
        O::Vset4 => (V::Compare, 4),
        O::Vshl => (V::ShiftLeft, 1),
        O::Vshr => (V::ShiftRight, 1),
        O::Vmad => (V::Multiply, 1),
        _ => return None,
    })
}

pub(super) fn is_video(opcode: Opcode) -> bool {
    operation(opcode).is_some()
}

/// The second operation of a scalar instruction, with the last source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Second {
    None,
    Add,
    Min,
    Max,
}

/// A part of a register: its first bit and its width.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Part {
    shift: u32,
    width: u32,
}

const WORD: Part = Part { shift: 0, width: 32 };

/// A decoded instruction, packed into the immediate of its operation.
#[derive(Clone, Copy)]
struct Video {
    op: VideoOp,
    comparison: Comparison,
    /// Whether the result, the first and the second source are signed.
    signed: [bool; 3],
    is_saturated: bool,
    /// For shifts: the amount is taken modulo 32.
    is_wrapped: bool,
    second: Second,
    /// The part of the result that is written, if the rest comes from the last source.
    merged: Option<Part>,
}

const OPS: [VideoOp; 10] = [
    VideoOp::Add,
    VideoOp::Subtract,
    VideoOp::Average,
    VideoOp::Difference,
    VideoOp::Min,
    VideoOp::Max,
    VideoOp::ShiftLeft,
    VideoOp::ShiftRight,
    VideoOp::Multiply,
    VideoOp::Compare,
];
const COMPARISONS: [Comparison; 6] = [
    Comparison::Eq,
    Comparison::Ne,
    Comparison::Lt,
    Comparison::Le,
    Comparison::Gt,
    Comparison::Ge,
];
const SECONDS: [Second; 4] = [Second::None, Second::Add, Second::Min, Second::Max];
/// The parts that a selector names, and the absence of one.
const PARTS: [(&str, Option<Part>); 7] = {
    const fn part(shift: u32, width: u32) -> Option<Part> {
        Some(Part { shift, width })
    }
    [
        ("", None),
        ("b0", part(0, 8)),
        ("b1", part(8, 8)),
        ("b2", part(16, 8)),
        ("b3", part(24, 8)),
        ("h0", part(0, 16)),
        ("h1", part(16, 16)),
    ]
};

fn place<V: PartialEq>(table: &[V], value: &V) -> u32 {
    table.iter().position(|known| known == value).unwrap_or(0) as u32
}

fn at<V: Copy, const N: usize>(table: &[V; N], place: u32) -> V {
    table[place as usize % N]
}

impl Video {
    fn pack(self) -> u32 {
        let flags =
            [self.signed[0], self.signed[1], self.signed[2], self.is_saturated, self.is_wrapped];
        let flags = flags.iter().rev().fold(0, |bits, flag| bits << 1 | u32::from(*flag));
        let merged = PARTS.iter().position(|known| known.1 == self.merged).unwrap_or(0) as u32;
        place(&OPS, &self.op)
            | place(&COMPARISONS, &self.comparison) << 4
            | place(&SECONDS, &self.second) << 8
            | merged << 12
            | flags << 16
    }

    fn unpack(bits: u32) -> Self {
        let is_set = |bit: u32| bits >> bit & 1 != 0;
        Self {
            op: at(&OPS, bits & 15),
            comparison: at(&COMPARISONS, bits >> 4 & 15),
            second: at(&SECONDS, bits >> 8 & 15),
            merged: at(&PARTS, bits >> 12 & 15).1,
            signed: [is_set(16), is_set(17), is_set(18)],
            is_saturated: is_set(19),
            is_wrapped: is_set(20),
        }
    }

    /// The result of two parts, before saturation.
    fn apply(self, a: i64, b: i64) -> i128 {
        let (a, b) = (i128::from(a), i128::from(b));
        let amount = if self.is_wrapped { b & 31 } else { b.clamp(0, 32) };
        match self.op {
            VideoOp::Add | VideoOp::Multiply => a + b,
            VideoOp::Subtract => a - b,
            VideoOp::Average if a + b >= 0 => (a + b + 1) >> 1,
            VideoOp::Average => (a + b) >> 1,
            VideoOp::Difference => (a - b).abs(),
            VideoOp::Min => a.min(b),
            VideoOp::Max => a.max(b),
            VideoOp::ShiftLeft => a << amount,
            VideoOp::ShiftRight => a >> amount,
            VideoOp::Compare => i128::from(match self.comparison {
                Comparison::Eq => a == b,
                Comparison::Ne => a != b,
                Comparison::Lt => a < b,
                Comparison::Le => a <= b,
                Comparison::Gt => a > b,
                _ => a >= b,
            }),
        }
    }

    fn saturated(self, value: i128, width: u32) -> i128 {
        if self.is_saturated { clamp(value, width, self.signed[0]) } else { value }
    }
}

fn clamp(value: i128, width: u32, is_signed: bool) -> i128 {
    match is_signed {
        true => value.clamp(-1 << (width - 1), (1 << (width - 1)) - 1),
        false => value.clamp(0, (1 << width) - 1),
    }
}

/// The value of a part of a word, extended to 64 bits.
fn extended(word: u32, part: Part, is_signed: bool) -> i64 {
    let unused = 64 - part.width;
    let high = u64::from(word >> part.shift) << unused;
    if is_signed { high as i64 >> unused } else { (high >> unused) as i64 }
}

/// Emits a video instruction.
pub(super) fn emit<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
    request: &Request<'_>,
) -> Result<(), NotExecuted> {
    let (op, parts) = operation(of.opcode).ok_or(NotExecuted)?;
    let is_comparison = op == VideoOp::Compare;
    let is_shift = matches!(op, VideoOp::ShiftLeft | VideoOp::ShiftRight);
    if request.types.iter().any(|scalar| !matches!(scalar, T::U32 | T::S32)) {
        return Err(NotExecuted);
    }
    let signed: [bool; 3] =
        match request.types.iter().map(|scalar| scalar.is_signed()).collect::<Vec<_>>()[..] {
            [a, b] if is_comparison => [false, a, b],
            [d, a, b] if !is_comparison => [d, a, b],
            _ => return Err(NotExecuted),
        };
    let comparison = if is_comparison { request.comparison() } else { Some(Comparison::Eq) };
    let comparison = comparison.filter(|of| COMPARISONS.contains(of)).ok_or(NotExecuted)?;
    let reduction = |of| request.has_kind(QualifierKind::Reduction(of));
    let is_scalar = parts == 1 && op != VideoOp::Multiply;
    let second = match () {
        () if op != VideoOp::Multiply && request.has(Keyword::Add) => Second::Add,
        () if is_scalar && reduction(ReductionOperation::Min) => Second::Min,
        () if is_scalar && reduction(ReductionOperation::Max) => Second::Max,
        () => Second::None,
    };
    let is_wrapped = is_shift && request.has(Keyword::Wrap);
    if is_shift && is_wrapped == request.has(Keyword::Clamp) {
        return Err(NotExecuted);
    }
    let is_saturated = !is_comparison && request.has(Keyword::Sat);
    if is_saturated && parts > 1 && second == Second::Add {
        return Err(NotExecuted);
    }
    let video = Video { op, comparison, signed, is_saturated, is_wrapped, second, merged: None };
    match (op, parts) {
        (VideoOp::Multiply, _) => multiply(compiler, of, request, video),
        (_, 1) => scalar(compiler, of, request, video),
        _ => simd(compiler, of, request, video, parts),
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

fn part_named(selector: &str) -> Result<Option<Part>, NotExecuted> {
    PARTS.iter().find(|known| known.0 == selector).map(|known| known.1).ok_or(NotExecuted)
}

/// The two sources of a scalar instruction as numbers of 64 bits.
fn selected<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
    signed: [bool; 2],
) -> Result<[Slot; 2], NotExecuted> {
    let mut rows = [NONE; 2];
    for (place, (row, is_signed)) in rows.iter_mut().zip(signed).enumerate() {
        let operand = of.operands.get(place + 1).ok_or(NotExecuted)?;
        let (slot, selector) = source(compiler, of, operand)?;
        let part = part_named(selector)?.unwrap_or(WORD);
        *row = compiler.new_rows(2);
        let select = compiler.emit_lanes(
            |r, o, e| {
                let part = Part { shift: o.immediate & 31, width: o.immediate >> 8 & 63 };
                let is_signed = o.immediate >> 16 != 0;
                r.map1(o, e, |a: u32| extended(a, part, is_signed) as u64);
            },
            *row,
            &[slot],
        );
        select.immediate = part.shift | part.width << 8 | u32::from(is_signed) << 16;
    }
    Ok(rows)
}

fn scalar<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
    request: &Request<'_>,
    video: Video,
) -> Result<(), NotExecuted> {
    let first = of.operands.first().ok_or(NotExecuted)?;
    let (to, selector) = destination(compiler, first);
    let video = Video { merged: part_named(selector)?, ..video };
    // A last source is there exactly for a second operation or a merge, and they exclude each other.
    let is_second = video.second != Second::None;
    if is_second && video.merged.is_some()
        || (is_second || video.merged.is_some()) != (of.operands.len() == 4)
        || !request.is_read()
    {
        return Err(NotExecuted);
    }
    let last = match of.operands.get(3) {
        Some(operand) => compiler.source(of, operand, T::U32)?,
        None => NONE,
    };
    let [a, b] = selected(compiler, of, [video.signed[1], video.signed[2]])?;
    compiler.write(of, &to, scalar_operation, T::B32, &[a, b, last], video.pack())
}

fn scalar_operation(r: &mut Registers, op: &Op, exec: u32) {
    let video = Video::unpack(op.immediate);
    r.map3(op, exec, |a: u64, b: u64, c: u32| {
        let width = video.merged.map_or(32, |part| part.width);
        let value = video.saturated(video.apply(a as i64, b as i64), width) as u32;
        if let Some(part) = video.merged {
            let mask = (u32::MAX >> (32 - part.width)) << part.shift;
            return (c & !mask) | (value << part.shift & mask);
        }
        match (video.second, video.signed[0]) {
            (Second::None, _) => value,
            (Second::Add, _) => value.wrapping_add(c),
            (Second::Min, true) => (value as i32).min(c as i32) as u32,
            (Second::Max, true) => (value as i32).max(c as i32) as u32,
            (Second::Min, false) => value.min(c),
            (Second::Max, false) => value.max(c),
        }
    });
}

/// `vmad`. The immediate of its operation has a flag for each of: negated product, negated addend, one more, saturation,
/// signed result; and the shift from bit 8 on.
fn multiply<'m>(
    compiler: &mut FunctionCompiler<'_, 'm>,
    of: &PtxInstruction<'m>,
    request: &Request<'_>,
    video: Video,
) -> Result<(), NotExecuted> {
    let [to, a, b, c] = of.operands else { return Err(NotExecuted) };
    let is_negated = |operand: &Operand| matches!(operand.kind, OperandKind::Negated(_));
    let is_product_negated = is_negated(a) != is_negated(b);
    let has_one_more = request.has(Keyword::Po);
    let shift = match (request.has(Keyword::Shr7), request.has(Keyword::Shr15)) {
        (false, false) => 0,
        (true, false) => 7,
        (false, true) => 15,
        _ => return Err(NotExecuted),
    };
    if !request.is_read() || has_one_more && [a, b, c].into_iter().any(is_negated) {
        return Err(NotExecuted);
    }
    let is_signed = video.signed[1] || video.signed[2] || is_product_negated || is_negated(c);
    let flags = [is_product_negated, is_negated(c), has_one_more, video.is_saturated, is_signed];
    let flags = flags.iter().rev().fold(0, |bits, flag| bits << 1 | u32::from(*flag));
    let (addend, selector) = source(compiler, of, c)?;
    if !selector.is_empty() {
        return Err(NotExecuted);
    }
    let [a, b] = selected(compiler, of, [video.signed[1], video.signed[2]])?;
    let sources = [a, b, addend];
    compiler.write(of, to, multiply_operation, T::B32, &sources, flags | shift << 8)
}

fn multiply_operation(r: &mut Registers, op: &Op, exec: u32) {
    let is_set = |bit: u32| op.immediate >> bit & 1 != 0;
    let (is_product_negated, is_addend_negated) = (is_set(0), is_set(1));
    let (has_one_more, is_saturated, is_signed) = (is_set(2), is_set(3), is_set(4));
    let shift = op.immediate >> 8;
    r.map3(op, exec, |a: u64, b: u64, c: u32| {
        let product = i128::from(a as i64) * i128::from(b as i64);
        let product = if is_product_negated { -product } else { product };
        // The addend is inverted as a word, and the one that makes it a negation is added after its extension.
        let c = if is_addend_negated { !c } else { c };
        let c = if is_signed { i128::from(c as i32) } else { i128::from(c) };
        let sum = product + c + i128::from(has_one_more || is_addend_negated);
        let result = sum >> shift;
        if is_saturated { clamp(result, 32, is_signed) as u32 } else { result as u32 }
    });
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
    let width = 32 / parts;
    let (a, b) = (source(compiler, of, a)?, source(compiler, of, b)?);
    let c = compiler.source(of, c, T::U32)?;
    let mut rows = [NONE; 2];
    for ((row, selector), first) in rows.iter_mut().zip([a.1, b.1]).zip([0, parts]) {
        let places = match selector {
            "" => (first..first + parts).collect(),
            written => digits(written, parts, 2 * parts).ok_or(NotExecuted)?,
        };
        if places.len() != parts as usize {
            return Err(NotExecuted);
        }
        *row = compiler.new_rows(1);
        let places = places.iter().rev().fold(0, |all, place| all << 3 | place);
        compiler.emit_lanes(gather, *row, &[a.0, b.0]).immediate = places | width << 16;
    }
    let immediate = video.pack() | mask << 24 | u32::from(parts == 4) << 28;
    compiler.write(of, &to, simd_operation, T::B32, &[rows[0], rows[1], c], immediate)
}

/// Selects parts of two words. The immediate has three bits for each, and their width from bit 16 on.
fn gather(r: &mut Registers, op: &Op, exec: u32) {
    let width = op.immediate >> 16;
    r.map2(op, exec, |a: u32, b: u32| {
        let both = u64::from(b) << 32 | u64::from(a);
        let mut packed = 0;
        for part in 0..32 / width {
            let place = op.immediate >> (3 * part) & 7;
            let value = (both >> (place * width)) as u32 & (u32::MAX >> (32 - width));
            packed |= value << (part * width);
        }
        packed
    });
}

fn simd_operation(r: &mut Registers, op: &Op, exec: u32) {
    let video = Video::unpack(op.immediate);
    let mask = op.immediate >> 24 & 15;
    let parts = if op.immediate >> 28 & 1 != 0 { 4 } else { 2 };
    let width = 32 / parts;
    r.map3(op, exec, |a: u32, b: u32, c: u32| {
        let (mut sum, mut merged) = (c, 0);
        for place in 0..parts {
            let part = Part { shift: place * width, width };
            let bits = (u32::MAX >> (32 - width)) << part.shift;
            if mask >> place & 1 == 0 {
                merged |= c & bits;
                continue;
            }
            let x = extended(a, part, video.signed[1]);
            let y = extended(b, part, video.signed[2]);
            let value = video.saturated(video.apply(x, y), width) as u32;
            sum = sum.wrapping_add(value);
            merged |= value << part.shift & bits;
        }
        if video.second == Second::Add { sum } else { merged }
    });
}
