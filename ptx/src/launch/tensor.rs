//! `tcgen05.ld` and `tcgen05.ld.red`.

use super::compile::{Compiled, FunctionCompiler, NotExecuted};
use super::effects;
use crate::syntax::Span;
use crate::syntax::load::PtxInstruction;
use warpload_machine::code::{Element, TensorOp};

impl<'m> FunctionCompiler<'_, 'm> {
    /// Decodes a load of Tensor Memory, with registers of 32 bits.
    pub(super) fn tensor_load(&mut self, of: &PtxInstruction<'m>) -> Compiled<TensorOp> {
        let written = of.tensor_load(self.module.source()).map_err(|_| NotExecuted)?;
        let mut slot = |name: Span| {
            let Element { slot, rows, .. } = self.single(of, name)?;
            if rows == 1 { Ok(slot) } else { Err(NotExecuted) }
        };
        Ok(TensorOp {
            load: written.load,
            data: written.registers.iter().copied().map(&mut slot).collect::<Compiled<_>>()?,
            reduced: written.reduced.map(&mut slot).transpose()?,
            address: slot(written.address)?,
            offset: written.address_offset,
            effects: Box::new(effects::of(self, of)),
        })
    }
}
