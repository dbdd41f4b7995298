//! Matrix instructions: `mma`, `wmma`, `ldmatrix`, `stmatrix`, `movmatrix`. [PTX ISA, "Warp Level Matrix
//! Instructions"]

use super::compile::{Compiled, FunctionCompiler, NotExecuted};
use crate::syntax::load::{Keyword, Opcode, Operand, PtxInstruction, QualifierKind};
use warpload_machine::code::{Element, MemoryKind, MemoryOp, Slot};
use warpload_machine::matrix::{FragmentKind, MatrixOp, Product, RowLayout};
use warpload_machine::{Direction, ScalarType as T};

impl<'m> FunctionCompiler<'_, 'm> {
    /// Decodes a matrix instruction.
    pub(super) fn matrix(&mut self, of: &PtxInstruction<'m>, types: &[T]) -> Compiled<MatrixOp> {
        match of.opcode {
            Opcode::Mma => self.multiply(of, types, false),
            Opcode::Wmma if has(of, Keyword::Mma) => self.multiply(of, types, true),
            Opcode::Wmma => self.fragment(of, types),
            Opcode::MovMatrix => {
                let [to, from] = of.operands else { return Err(NotExecuted) };
                let mut single = |operand| match self.elements(of, operand, T::B32)?.first() {
                    Some(Some(element)) => Ok(element.slot),
                    _ => Err(NotExecuted),
                };
                Ok(MatrixOp::Transpose { to: single(to)?, from: single(from)? })
            }
            _ => self.matrix_rows(of, types),
        }
    }

    fn multiply(
        &mut self,
        of: &PtxInstruction<'m>,
        types: &[T],
        is_opaque: bool,
    ) -> Compiled<MatrixOp> {
        let size = shape(of)?;
        let unlike = [Keyword::Sp, Keyword::SpOrderedMetadata, Keyword::BlockScale];
        if unlike.into_iter().any(|word| has(of, word)) {
            return Err(NotExecuted);
        }
        let [d, a, b, c] = of.operands else { return Err(NotExecuted) };
        // `wmma` with f16 factors names only the accumulators' types. All other products name four types.
        let types: [T; 4] = match *types {
            [d, c] if is_opaque => [d, T::F16, T::F16, c],
            [d, a, b, c] => [d, a, b, c],
            _ => return Err(NotExecuted),
        };
        // The storage orders of A and B: by row or by column.
        let mut orders = of.qualifiers().filter_map(|qualifier| match qualifier.kind {
            QualifierKind::Keyword(Keyword::Row) => Some(true),
            QualifierKind::Keyword(Keyword::Col) => Some(false),
            _ => None,
        });
        let mut order = || orders.next().ok_or(NotExecuted);
        let by_row = [order()?, order()?];
        let rounding = of.first(|kind| match kind {
            QualifierKind::Rounding(rounding) => Some(rounding),
            _ => None,
        });
        if rounding.is_some() && types[1] != T::F64 {
            return Err(NotExecuted);
        }
        let direction = super::lane_rules::direction(rounding.map(|found| found.0));
        let registers = [
            self.matrix_registers(of, d, types[0], true)?,
            self.matrix_registers(of, a, types[1], false)?,
            self.matrix_registers(of, b, types[2], false)?,
            self.matrix_registers(of, c, types[3], false)?,
        ];
        let (is_and, is_saturated) = (has(of, Keyword::And), has(of, Keyword::Satfinite));
        let direction: Direction = direction.ok_or(NotExecuted)?;
        let product =
            Product { size, registers, types, by_row, is_opaque, is_and, is_saturated, direction };
        MatrixOp::multiply(product).ok_or(NotExecuted)
    }

    /// The registers of a matrix.
    fn matrix_registers(
        &mut self,
        of: &PtxInstruction<'m>,
        operand: &Operand,
        scalar: T,
        is_result: bool,
    ) -> Compiled<Box<[Slot]>> {
        let packed = if scalar == T::F64 { T::F64 } else { T::B32 };
        let elements = match is_result {
            true => self.results(of, operand, packed)?,
            false => self.elements(of, operand, packed)?,
        };
        let slot = |element: Option<Element>| Ok(element.ok_or(NotExecuted)?.slot);
        elements.into_iter().map(slot).collect()
    }

    /// `wmma.load` and `wmma.store`.
    fn fragment(&mut self, of: &PtxInstruction<'m>, types: &[T]) -> Compiled<MatrixOp> {
        let [m, n, k] = shape(of)?;
        let scalar = *types.first().ok_or(NotExecuted)?;
        let is_store = has(of, Keyword::Store);
        let (registers, stride) = match (is_store, of.operands) {
            (false, [registers, _, rest @ ..]) | (true, [_, registers, rest @ ..]) => {
                (registers, rest.first())
            }
            _ => return Err(NotExecuted),
        };
        let (size, kind) = if has(of, Keyword::A) {
            ((m, k), FragmentKind::A)
        } else if has(of, Keyword::B) {
            ((k, n), FragmentKind::B)
        } else {
            ((m, n), FragmentKind::Accumulator)
        };
        let registers = self.matrix_registers(of, registers, scalar, !is_store)?;
        let stride = match stride {
            Some(operand) => Some(self.source(of, operand, T::U32)?),
            None => None,
        };
        let access = self.matrix_access(of, is_store, scalar, 1)?;
        let is_row_major = has(of, Keyword::Row);
        let of = (kind, scalar, size);
        MatrixOp::fragment(of, registers, access, stride, is_row_major).ok_or(NotExecuted)
    }

    /// `ldmatrix` and `stmatrix`.
    fn matrix_rows(&mut self, of: &PtxInstruction<'m>, types: &[T]) -> Compiled<MatrixOp> {
        let is_store = of.opcode == Opcode::StMatrix;
        let is_transposed = has(of, Keyword::Trans);
        let bits = if has(of, Keyword::B6x16P32) {
            6
        } else if has(of, Keyword::B4x16P64) {
            4
        } else {
            types.first().ok_or(NotExecuted)?.bits()
        };
        let layout = match (shape(of)?, bits, is_store, is_transposed) {
            ([8, 8, 0], 16, _, false) => RowLayout::Rows { bits: 8 },
            ([8, 8, 0], 16, _, true) => RowLayout::Columns,
            ([8, 16, 0], 4 | 6, false, false) => RowLayout::Rows { bits },
            ([16, 16, 0], 4 | 6 | 8, false, true) => RowLayout::WideColumns { bits },
            ([16, 8, 0], 8, true, true) => RowLayout::Accumulators,
            _ => return Err(NotExecuted),
        };
        let operand = of.operands.get(usize::from(is_store)).ok_or(NotExecuted)?;
        let registers = self.matrix_registers(of, operand, T::B32, !is_store)?;
        let access = self.matrix_access(of, is_store, T::B8, 16)?;
        // "For .target sm_75 or below, all threads must contain valid addresses." [PTX ISA, ldmatrix]
        let needs_all = self.module.target.sm < 80;
        MatrixOp::rows(layout, registers, access, needs_all).ok_or(NotExecuted)
    }

    /// The access of a matrix, for its address and for observers.
    fn matrix_access(
        &mut self,
        of: &PtxInstruction<'m>,
        is_store: bool,
        scalar: T,
        count: usize,
    ) -> Compiled<MemoryOp> {
        let kind = if is_store { MemoryKind::Store } else { MemoryKind::Load };
        self.access(of, kind, scalar, vec![None; count])
    }
}

fn has(of: &PtxInstruction<'_>, word: Keyword) -> bool {
    of.has(QualifierKind::Keyword(word))
}

fn shape(of: &PtxInstruction<'_>) -> Compiled<[usize; 3]> {
    let found = of.first(|kind| match kind {
        QualifierKind::Matrix { m, n, k } => Some([m, n, k].map(usize::from)),
        _ => None,
    });
    Ok(found.ok_or(NotExecuted)?.0)
}
