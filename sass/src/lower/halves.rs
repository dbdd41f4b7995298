//! Arithmetic of pairs of f16.

use warpload_encoding::Spa5Value;
use warpload_machine::code::{NONE, Slot};
use warpload_machine::lanes::conversions::convert;
use warpload_machine::lanes::floats::float;
use warpload_machine::lanes::integers::{Bitwise, bitwise};
use warpload_machine::lanes::moves::{copy, extract_bits, select};
use warpload_machine::lanes::video::gather;
use warpload_machine::{Direction, FloatOp, Modes, ScalarType as T};

use super::{Instruction, Lowerer, Lowering, NotExecuted};

impl Lowerer {
    pub(super) fn half(&mut self, of: &Instruction<'_>) -> Lowering {
        match of.name() {
            "HADD2" | "HADD2_32I" => self.half_arithmetic(of, FloatOp::Add, 2),
            "HMUL2" | "HMUL2_32I" => self.half_arithmetic(of, FloatOp::Mul, 2),
            "HFMA2" | "HFMA2_32I" => self.half_arithmetic(of, FloatOp::Fma, 3),
            _ => self.half_comparison(of),
        }
    }

    /// A pair of halves from the operands at a place, and the place of the next operand. Two numbers are one source.
    fn half_source(&mut self, of: &Instruction<'_>, at: usize) -> Lowering<(Slot, usize)> {
        let operand = *of.operand(at)?;
        if let Spa5Value::Half(high) = operand.value {
            let Spa5Value::Half(low) = of.operand(at + 1)?.value else { return Err(NotExecuted) };
            let pair = u32::from(high) << 16 | u32::from(low);
            return Ok((self.number(pair), at + 2));
        }
        let slot = self.plain_word(&operand)?;
        let slot = match operand.part() {
            "" => slot,
            "H0_H0" => self.temporary_of(gather(&[0, 0]), &[slot, slot])?,
            "H1_H1" => self.temporary_of(gather(&[1, 1]), &[slot, slot])?,
            "F32" => {
                // An f32 is cut to f16 first.
                let modes = Modes { direction: Direction::Zero, ..Modes::default() };
                let half = self.temporary_of(convert(T::F32, T::F16, modes, false), &[slot])?;
                self.temporary_of(gather(&[0, 0]), &[half, half])?
            }
            _ => return Err(NotExecuted),
        };
        Ok((self.signed(&operand, slot, T::F16x2)?, at + 1))
    }

    fn half_arithmetic(&mut self, of: &Instruction<'_>, op: FloatOp, count: usize) -> Lowering {
        let modes = Self::modes(of)?;
        let (mut sources, mut at) = (Vec::new(), 1);
        for _ in 0..count {
            let (slot, next) = self.half_source(of, at)?;
            sources.push(slot);
            at = next;
        }
        let d = of.operand(0)?;
        let operation = float(op, T::F16x2, modes);
        match of.modifier("result") {
            "" => self.put(operation, d, &sources),
            "F32" => {
                let result = self.temporary_of(operation, &sources)?;
                let low = self.half_of(result, false)?;
                self.put(convert(T::F16, T::F32, Modes::default(), false), d, &[low])
            }
            merged => {
                let result = self.temporary_of(operation, &sources)?;
                let old = self.plain_word(d)?;
                // The parts of the result are 0 and 1, those of the old value 2 and 3.
                let places = if merged == "MRG_H0" { [0, 3] } else { [2, 1] };
                self.put(gather(&places), d, &[result, old])
            }
        }
    }

    fn half_comparison(&mut self, of: &Instruction<'_>) -> Lowering {
        let is_set = of.name() == "HSET2";
        let (a, at) = self.half_source(of, if is_set { 1 } else { 2 })?;
        let (b, last) = self.half_source(of, at)?;
        let (name, flush) = (of.modifier("compare"), of.has("FTZ"));
        let mut results = [NONE; 2];
        for (half, result) in results.iter_mut().enumerate() {
            let [a, b] = [a, b].map(|slot| self.half_of(slot, half == 1));
            *result = self.floats_compared(name, T::F16, flush, a?, b?)?;
        }
        let other = self.predicate(of.operand(last)?)?;
        let combine = of.modifier("combine");
        if is_set {
            let truth = if of.has("BF") { 0x3c00 } else { 0xffff };
            let truth = self.number(truth);
            let mut parts = [NONE; 2];
            for (part, result) in parts.iter_mut().zip(results) {
                let result = self.combined(combine, result, other)?;
                *part = self.temporary_of(select(T::B32), &[truth, NONE, result])?;
            }
            return self.put(gather(&[0, 2]), of.operand(0)?, &parts);
        }
        let [low, high] = results;
        let (first, second) = match of.has("H_AND") {
            false => (low, high),
            true => {
                let both = self.temporary_of(bitwise(Bitwise::And, T::Pred), &[low, high])?;
                (both, self.temporary_of(bitwise(Bitwise::Not, T::Pred), &[both])?)
            }
        };
        let (first, second) =
            (self.combined(combine, first, other)?, self.combined(combine, second, other)?);
        let rows = [0, 1].map(|at| of.operand(at).and_then(|of| self.destination_predicate(of)));
        let [p, q] = rows;
        // The second one first, because the sources may be the first one.
        let (p, q) = (p?, q?);
        self.lanes(copy(T::Pred), q, &[second])?;
        self.lanes(copy(T::Pred), p, &[first])
    }

    /// The low 16 bits of a word.
    pub(super) fn low_half(&mut self, slot: Slot) -> Lowering<Slot> {
        self.temporary_of(extract_bits(T::B32, 0, 16), &[slot])
    }
}
