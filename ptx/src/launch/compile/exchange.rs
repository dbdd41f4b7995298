//! Instructions in which the lanes of a warp or the warps of a block meet.

use super::memory::atomic_operation;
use super::{Compiled, FunctionCompiler, NotExecuted, rows_of};
use crate::launch::lane_rules::Request;
use crate::syntax::load::{Keyword, Opcode, PtxInstruction, QualifierKind};
use warpload_machine::ScalarType as T;
use warpload_machine::code::{
    Action, Atomic, BarrierKind, BarrierOp, ExchangeKind, ExchangeOp, NONE, Shuffle, Slot, Vote,
};

impl<'m> FunctionCompiler<'_, 'm> {
    pub(super) fn exchange(
        &mut self,
        kind: ExchangeKind,
        members: Option<Slot>,
        d: Slot,
        [a, b, c]: [Slot; 3],
        e: Slot,
    ) -> Compiled<()> {
        let op = self.emit(Action::Exchange(ExchangeOp { kind, members }));
        (op.d, op.a, op.b, op.c, op.e) = (d, a, b, c, e);
        Ok(())
    }

    pub(super) fn shuffle(
        &mut self,
        of: &PtxInstruction<'m>,
        request: &Request<'_>,
    ) -> Compiled<()> {
        let words = [
            (Keyword::Up, Shuffle::Up),
            (Keyword::Down, Shuffle::Down),
            (Keyword::Bfly, Shuffle::Butterfly),
            (Keyword::Idx, Shuffle::Index),
        ];
        let mode = words.iter().find(|(word, _)| request.has(*word)).ok_or(NotExecuted)?.1;
        let mut sources = [NONE; 3];
        for (place, source) in sources.iter_mut().enumerate() {
            *source = self.operand_source(of, place + 1, T::B32)?;
        }
        let members = match of.has(QualifierKind::Sync) {
            true => Some(self.operand_source(of, 4, T::B32)?),
            false => None,
        };
        let (d, e) = self.pair(of, T::B32)?;
        self.exchange(ExchangeKind::Shuffle(mode), members, d, sources, e)
    }

    pub(super) fn vote(&mut self, of: &PtxInstruction<'m>, request: &Request<'_>) -> Compiled<()> {
        let words = [
            (Keyword::All, Vote::All),
            (Keyword::Any, Vote::Any),
            (Keyword::Uni, Vote::Uniform),
            (Keyword::Ballot, Vote::Ballot),
        ];
        let vote = words.iter().find(|(word, _)| request.has(*word)).ok_or(NotExecuted)?.1;
        let source = self.operand_source(of, 1, T::Pred)?;
        let members = match of.has(QualifierKind::Sync) {
            true => Some(self.operand_source(of, 2, T::B32)?),
            false => None,
        };
        let result = if vote == Vote::Ballot { T::B32 } else { T::Pred };
        let (d, _) = self.pair(of, result)?;
        self.exchange(ExchangeKind::Vote(vote), members, d, [source, NONE, NONE], NONE)
    }

    pub(super) fn match_values(
        &mut self,
        of: &PtxInstruction<'m>,
        request: &Request<'_>,
    ) -> Compiled<()> {
        let scalar = *request.types.first().ok_or(NotExecuted)?;
        let source = self.operand_source(of, 1, scalar)?;
        let members = self.operand_source(of, 2, T::B32)?;
        let (d, e) = self.pair(of, T::B32)?;
        let is_wide = rows_of(scalar) == 2;
        let kind = ExchangeKind::Match { is_all: request.has(Keyword::All), is_wide };
        self.exchange(kind, Some(members), d, [source, NONE, NONE], e)
    }

    pub(super) fn reduce(
        &mut self,
        of: &PtxInstruction<'m>,
        request: &Request<'_>,
    ) -> Compiled<()> {
        let scalar = *request.types.first().ok_or(NotExecuted)?;
        let operation = atomic_operation(of, request).ok_or(NotExecuted)?;
        let is_extreme = matches!(operation, Atomic::Min | Atomic::Max);
        if scalar.is_float() && !(scalar == T::F32 && is_extreme) {
            return Err(NotExecuted);
        }
        let source = self.operand_source(of, 1, scalar)?;
        let members = self.operand_source(of, 2, T::B32)?;
        let (d, _) = self.pair(of, scalar)?;
        let is_absolute = of.has(QualifierKind::Absolute);
        let keeps_nan = of.has(QualifierKind::Nan);
        let kind = ExchangeKind::Reduce { operation, scalar, is_absolute, keeps_nan };
        self.exchange(kind, Some(members), d, [source, NONE, NONE], NONE)
    }

    pub(super) fn barrier(
        &mut self,
        of: &PtxInstruction<'m>,
        request: &Request<'_>,
    ) -> Compiled<()> {
        let has = |word| request.has(word);
        if has(Keyword::Warp) {
            let members = Some(self.operand_source(of, 0, T::B32)?);
            return self.exchange(ExchangeKind::Sync, members, NONE, [NONE; 3], NONE);
        }
        let is_reduced = has(Keyword::Red);
        let kind = match (is_reduced, has(Keyword::Arrive)) {
            (true, _) if has(Keyword::And) => BarrierKind::And,
            (true, _) if has(Keyword::Or) => BarrierKind::Or,
            (true, _) => BarrierKind::Popc,
            (_, true) => BarrierKind::Arrive,
            _ => BarrierKind::Sync,
        };
        let first = usize::from(is_reduced);
        let id = self.operand_source(of, first, T::B32)?;
        let has_threads = of.operands.len() > first + 1 + usize::from(is_reduced);
        let threads = match has_threads {
            true => Some(self.operand_source(of, first + 1, T::B32)?),
            false => None,
        };
        let (mut d, mut a) = (NONE, NONE);
        if is_reduced {
            a = self.operand_source(of, of.operands.len() - 1, T::Pred)?;
            let result = if kind == BarrierKind::Popc { T::B32 } else { T::Pred };
            d = self.pair(of, result)?.0;
        }
        let is_aligned = of.opcode == Opcode::Bar || of.has(QualifierKind::Aligned);
        let op = self.emit(Action::Barrier(BarrierOp {
            kind,
            id,
            threads,
            is_aligned,
            counts_warps: false,
        }));
        (op.d, op.a) = (d, a);
        Ok(())
    }
}

/// Whether the instruction only groups, orders or waits for others that are not executed. It has no results, so there is
/// nothing to make unknown: the results of the others already are.
pub(super) fn waits_for_skipped(request: &Request<'_>) -> bool {
    use Keyword as K;
    let words: &[Keyword] = match request.opcode {
        Opcode::Cp if request.has(K::Bulk) => &[K::CommitGroup, K::WaitGroup, K::Prefetch],
        Opcode::Wgmma => &[K::Fence, K::CommitGroup, K::WaitGroup],
        Opcode::Tcgen05 => &[
            K::WaitLd,
            K::WaitSt,
            K::FenceBeforeThreadSync,
            K::FenceAfterThreadSync,
            K::Dealloc,
            K::RelinquishAllocPermit,
        ],
        _ => return false,
    };
    words.iter().any(|word| request.has(*word))
}
