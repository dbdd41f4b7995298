//! Operations on registers: each lane computes its result from its own values.

use super::{Compiled, FunctionCompiler, NotExecuted, rows_of};
use crate::launch::lane_rules::{Request, lane_operation, truth};
use crate::syntax::load::{Keyword, Operand, OperandKind, PtxInstruction};
use warpload_machine::ScalarType as T;
use warpload_machine::code::{NONE, Slot};
use warpload_machine::lanes::integers::{Bitwise, bitwise, bitwise_by_table};
use warpload_machine::lanes::moves::{copy, extract_bits, join, select};
use warpload_machine::lanes::predicates::{Comparison, compare};

impl<'m> FunctionCompiler<'_, 'm> {
    /// Whether an operand is a register with fewer bits than the type, which ptxas refuses.
    fn is_too_narrow(&mut self, of: &PtxInstruction<'m>, place: usize, scalar: T) -> bool {
        let register =
            of.operands.get(place).and_then(|operand| self.single(of, operand.span).ok());
        register.is_some_and(|register| register.bits < scalar.bits())
    }

    /// Emits an instruction with a [`lane_operation`].
    pub(super) fn lanes(&mut self, of: &PtxInstruction<'m>, request: &Request<'_>) -> Compiled<()> {
        let operation = lane_operation(request).ok_or(NotExecuted)?;
        let mut sources = Vec::new();
        for (place, scalar) in operation.sources.iter().enumerate() {
            if self.is_too_narrow(of, place + 1, *scalar) {
                return Err(NotExecuted);
            }
            sources.push(self.operand_source(of, place + 1, *scalar)?);
        }
        if of.operands.len() > operation.sources.len() + 1 || !request.is_read() {
            return Err(NotExecuted);
        }
        let before = self.code.ops.len();
        self.write_first(of, Some(operation), &sources)?;
        if let Some(op) = self.code.ops.get_mut(before..).and_then(|ops| ops.first_mut()) {
            op.carries = request.has(Keyword::Cc);
        }
        Ok(())
    }

    pub(super) fn logic3(
        &mut self,
        of: &PtxInstruction<'m>,
        request: &Request<'_>,
    ) -> Compiled<()> {
        let mut sources = Vec::new();
        for place in 1..4 {
            sources.push(self.operand_source(of, place, T::B32)?);
        }
        let table = of.operands.get(4).and_then(Operand::integer).ok_or(NotExecuted)? as u32;
        let join = match (request.has(Keyword::And), request.has(Keyword::Or)) {
            (true, _) => Bitwise::And,
            (_, true) => Bitwise::Or,
            _ => return self.write_first(of, bitwise_by_table(table), &sources),
        };
        if !request.is_read() {
            return Err(NotExecuted);
        }
        // The predicate of `d|p` is `d != 0`, combined with another predicate.
        let joined = self.operand_source(of, 5, T::Pred)?;
        let (d, p) = self.pair(of, T::B32)?;
        self.emit_lanes(bitwise_by_table(table), d, &sources)?;
        if p != NONE {
            let is_set = compare(Comparison::NotEqual, T::U32, false);
            let is_set = self.compute(is_set, &[d, NONE])?;
            self.emit_lanes(bitwise(join, T::Pred), p, &[is_set, joined])?;
        }
        Ok(())
    }

    // Predicates.

    /// The two rows of `%p|%q`. The second is [`NONE`] if the operand is a single name.
    pub(super) fn pair(&mut self, of: &PtxInstruction<'m>, scalar: T) -> Compiled<(Slot, Slot)> {
        let operand = of.operands.first().ok_or(NotExecuted)?;
        let OperandKind::Pair(range) = operand.kind else {
            return match self.destination(of, operand, scalar)? {
                (slot, None) => Ok((slot, NONE)),
                // The operations with such results write no other width.
                (_, Some(_)) => Err(NotExecuted),
            };
        };
        let [first, second] = of.elements_in(range) else { return Err(NotExecuted) };
        let first = match self.element(of, first)? {
            Some(element) if element.bits == scalar.bits() => element.slot,
            Some(_) => return Err(NotExecuted),
            None => self.new_rows(rows_of(scalar)),
        };
        let second = match self.element(of, second)? {
            Some(element) if element.bits == 1 => element.slot,
            Some(_) => return Err(NotExecuted),
            None => NONE,
        };
        Ok((first, second))
    }

    /// Emits a comparison, combined with a predicate if there is one. The result is the row of the predicate and the
    /// row of its opposite.
    fn compared(
        &mut self,
        of: &PtxInstruction<'m>,
        scalar: T,
        request: &Request<'_>,
        with_opposite: bool,
    ) -> Compiled<(Slot, Slot)> {
        let sources = [self.operand_source(of, 1, scalar)?, self.operand_source(of, 2, scalar)?];
        self.compared_rows(of, scalar, request, sources, with_opposite)
    }

    /// [`Self::compared`] for sources that are already in rows.
    fn compared_rows(
        &mut self,
        of: &PtxInstruction<'m>,
        scalar: T,
        request: &Request<'_>,
        sources: [Slot; 2],
        with_opposite: bool,
    ) -> Compiled<(Slot, Slot)> {
        let comparison = request.comparison(scalar).ok_or(NotExecuted)?;
        let flush = matches!(scalar, T::F32 | T::F16) && request.has(Keyword::Ftz);
        let joined = match of.operands.get(3) {
            Some(operand) => Some(self.source(of, operand, T::Pred)?),
            None => None,
        };
        let result = self.compute(compare(comparison, scalar, flush), &sources)?;
        let mut opposite = NONE;
        if with_opposite {
            opposite = self.compute(bitwise(Bitwise::Not, T::Pred), &[result])?;
        }
        if let Some(joined) = joined {
            let words = [
                (Keyword::And, Bitwise::And),
                (Keyword::Or, Bitwise::Or),
                (Keyword::Xor, Bitwise::Xor),
            ];
            let join = request.among(&words).ok_or(NotExecuted)?;
            for slot in [result, opposite].into_iter().filter(|slot| *slot != NONE) {
                self.emit_lanes(bitwise(join, T::Pred), slot, &[slot, joined])?;
            }
        }
        if !request.is_read() {
            return Err(NotExecuted);
        }
        Ok((result, opposite))
    }

    pub(super) fn set_predicate(
        &mut self,
        of: &PtxInstruction<'m>,
        request: &Request<'_>,
    ) -> Compiled<()> {
        let scalar = *request.types.first().ok_or(NotExecuted)?;
        let pair = self.pair(of, T::Pred)?;
        // The second predicate is the opposite of the first one, or belongs to the high half.
        let results = match scalar {
            T::F16x2 | T::Bf16x2 => self.compared_halves(of, scalar, request)?,
            _ => self.compared(of, scalar, request, pair.1 != NONE)?.into(),
        };
        for (result, slot) in results.into_iter().zip([pair.0, pair.1]) {
            if slot != NONE {
                self.emit_lanes(copy(T::Pred), slot, &[result])?;
            }
        }
        Ok(())
    }

    /// The predicates of the low and the high half, each combined with a predicate if there is one.
    fn compared_halves(
        &mut self,
        of: &PtxInstruction<'m>,
        scalar: T,
        request: &Request<'_>,
    ) -> Compiled<[Slot; 2]> {
        let (a, b) = (self.operand_source(of, 1, T::B32)?, self.operand_source(of, 2, T::B32)?);
        let mut results = [NONE; 2];
        for (result, shift) in results.iter_mut().zip([0, 16]) {
            let half = || extract_bits(T::B32, shift, 16);
            let parts = [self.compute(half(), &[a])?, self.compute(half(), &[b])?];
            *result = self.compared_rows(of, scalar.parts().0, request, parts, false)?.0;
        }
        Ok(results)
    }

    pub(super) fn set(&mut self, of: &PtxInstruction<'m>, request: &Request<'_>) -> Compiled<()> {
        let (&to, &scalar) =
            (request.types.first().ok_or(NotExecuted)?, request.types.get(1).ok_or(NotExecuted)?);
        if !matches!(scalar, T::F16x2 | T::Bf16x2) {
            let truth = self.constant(truth(to).ok_or(NotExecuted)?, 1);
            let (result, _) = self.compared(of, scalar, request, false)?;
            return self.write_first(of, select(to), &[truth, NONE, result]);
        }
        // A result for each half, in the same half.
        let half = match to {
            T::U32 | T::S32 => T::U16,
            T::F16x2 | T::Bf16x2 => to.parts().0,
            _ => return Err(NotExecuted),
        };
        let truth = self.constant(truth(half).ok_or(NotExecuted)?, 1);
        let mut halves = [NONE; 2];
        for (slot, result) in halves.iter_mut().zip(self.compared_halves(of, scalar, request)?) {
            *slot = self.compute(select(half), &[truth, NONE, result])?;
        }
        self.write_first(of, join(16), &halves)
    }
}
