//! Stub.
use super::code::Op;
use super::compile::FunctionCompiler;
use super::engine::{Engine, Stop};
use super::number::NumberType;
use super::warp::{Path, Warp};
use crate::syntax::load::PtxInstruction;

#[derive(Clone, Debug)]
pub(super) struct MatrixOp;

pub(super) fn decode<'m>(
    _: &mut FunctionCompiler<'_, 'm>,
    _: &PtxInstruction<'m>,
    _: &[NumberType],
) -> Option<MatrixOp> {
    None
}

pub(super) fn execute(
    _: &mut Warp,
    _: &Path,
    _: &Op,
    _: &MatrixOp,
    _: u32,
    _: &mut Engine<'_>,
) -> Result<(), Stop> {
    Ok(())
}
