//! [`Effects`]: everything that a skipped instruction would write.

use super::compile::FunctionCompiler;
use crate::syntax::StateSpace;
use crate::syntax::load::{Keyword, Opcode, PtxInstruction, QualifierKind};
use warpload_machine::ScalarType as T;
use warpload_machine::code::{Effects, Extent, UnknownWrite};

/// The size of an mbarrier in bytes.
const MBARRIER: u64 = 8;

/// The size of a tensor map in bytes.
const TENSOR_MAP: u64 = 128;

/// The only size that `discard` has, in bytes.
const DISCARDED: u64 = 128;

/// The size of a row that a lane of `stmatrix` stores, in bytes.
const MATRIX_ROW: u64 = 16;

/// The effects of an instruction that is not executed.
pub(crate) fn of<'m>(compiler: &mut FunctionCompiler<'_, 'm>, of: &PtxInstruction<'m>) -> Effects {
    let writes = compiler.module.written_registers(of);
    let slots = writes.into_iter().map(|register| compiler.register(register).slot).collect();
    let is_discard = of.opcode == Opcode::Discard;
    let mut effects = Effects { slots, is_discard, ..Effects::default() };
    if of.opcode == Opcode::Call {
        let names = of.call().returns.iter().filter_map(|element| element.name());
        effects.locals = names.filter_map(|name| compiler.local(of, name)).collect();
        return effects;
    }
    let Some(written) = memory(compiler, of) else {
        // An address that cannot be understood may be any.
        effects.writes_global = true;
        return effects;
    };
    effects.writes = written.writes.into();
    (effects.writes_global, effects.writes_tensor) = (written.global, written.tensor);
    effects
}

/// The writes to memory of an instruction.
#[derive(Default)]
struct Written {
    writes: Vec<UnknownWrite>,
    global: bool,
    tensor: bool,
}

impl Written {
    /// Adds a write at an address operand; `None` if the operand is not an address that is understood.
    fn at<'m>(
        &mut self,
        compiler: &mut FunctionCompiler<'_, 'm>,
        of: &PtxInstruction<'m>,
        place: usize,
        space: Option<StateSpace>,
        extent: Extent,
    ) -> Option<()> {
        let address = of.address_in(of.operands.get(place)?)?;
        let (space, base, offset) = compiler.place(of, &address, space).ok()?;
        self.writes.push(UnknownWrite { space, base, offset, extent });
        Some(())
    }
}

/// The writes to memory of an instruction; `None` if an address is not understood. [PTX ISA, the syntax of each]
fn memory<'m>(compiler: &mut FunctionCompiler<'_, 'm>, of: &PtxInstruction<'m>) -> Option<Written> {
    let has = |word| of.has(QualifierKind::Keyword(word));
    let is_address =
        |place: usize| of.operands.get(place).is_some_and(|of_it| of.address_in(of_it).is_some());
    let space = of.space().map(|space| space.0);
    let shared = Some(StateSpace::Shared);
    let element_bytes = of.types().next().map_or(8, |scalar| scalar.bytes());
    let value = Extent::Bytes(u64::from(of.elements()) * u64::from(element_bytes));
    let mbarrier = Extent::Bytes(MBARRIER);
    let size_at = |compiler: &mut FunctionCompiler<'_, 'm>, place: usize| {
        let size = of.operands.get(place).and_then(|size| compiler.source(of, size, T::U64).ok());
        size.map_or(Extent::Rest, Extent::Register)
    };
    // Each row: an operand, its space, and the size of the write.
    let rows: Vec<(usize, Option<StateSpace>, Extent)> = match of.opcode {
        // `[dst], [map, coordinates], [mbarrier]`, or `[map, coordinates], [src]`.
        Opcode::Cp if has(Keyword::Tensor) && space == shared => {
            vec![(0, shared, Extent::Rest), (2, shared, mbarrier)]
        }
        Opcode::Cp if has(Keyword::Tensor) => {
            return Some(Written { global: true, ..Written::default() });
        }
        // `[dst], [src], size, [mbarrier]`. Copies to global memory have no mbarrier, but may have a cache policy.
        Opcode::Cp if has(Keyword::Bulk) => {
            let size = size_at(compiler, 2);
            let mut rows = vec![(0, space, size)];
            rows.extend(is_address(3).then_some((3, shared, mbarrier)));
            rows
        }
        Opcode::Cp => vec![(0, shared, Extent::Rest)],
        Opcode::St if has(Keyword::Bulk) => vec![(0, space, size_at(compiler, 1))],
        Opcode::St | Opcode::Red => {
            let mut rows = vec![(0, space, value)];
            rows.extend(is_address(2).then_some((2, space, mbarrier)));
            rows
        }
        Opcode::Atom => {
            let address = usize::from(!is_address(0));
            vec![(address, space, value)]
        }
        Opcode::Multimem if !has(Keyword::LdReduce) => vec![(0, space, value)],
        Opcode::Discard => vec![(0, space, Extent::Bytes(DISCARDED))],
        Opcode::StMatrix => vec![(0, space, Extent::Bytes(MATRIX_ROW))],
        Opcode::Wmma if has(Keyword::Store) => vec![(0, space, Extent::Rest)],
        Opcode::TensorMap => vec![(0, space, Extent::Bytes(TENSOR_MAP))],
        Opcode::ClusterLaunchControl if has(Keyword::TryCancel) => {
            vec![(0, shared, Extent::Bytes(16)), (1, shared, mbarrier)]
        }
        Opcode::Mbarrier => {
            let place = (0..of.operands.len()).find(|place| is_address(*place));
            place.map(|place| (place, space, mbarrier)).into_iter().collect()
        }
        Opcode::Tcgen05 if has(Keyword::Alloc) => vec![(0, space, Extent::Bytes(4))],
        Opcode::Tcgen05 if has(Keyword::Commit) => vec![(0, space, mbarrier)],
        Opcode::Tcgen05 => {
            let writers = [Keyword::St, Keyword::Cp, Keyword::Mma, Keyword::Shift];
            return Some(Written { tensor: writers.into_iter().any(has), ..Written::default() });
        }
        Opcode::Unknown => {
            let places = (0..of.operands.len()).filter(|place| is_address(*place));
            places.map(|place| (place, space, Extent::Rest)).collect()
        }
        _ => Vec::new(),
    };
    let mut written = Written::default();
    for (place, space, extent) in rows {
        written.at(compiler, of, place, space, extent)?;
    }
    Some(written)
}
